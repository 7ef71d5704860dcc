#include "metal/cpu/executor/debugger_entry.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unistd.h>
#include <utility>

// The names and layouts that gdb's manual gives under "JIT Compilation Interface".
extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};

struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag; // 0 nothing, 1 registered, 2 unregistered
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

// gdb puts a breakpoint here.
[[gnu::noinline, gnu::used]] void __jit_debug_register_code() { asm volatile("" ::: "memory"); }

[[gnu::used]] jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
}

namespace bessemer::metal::cpu {

struct DebuggerEntry::Entry : jit_code_entry {
  std::vector<uint8_t> image;
};

static std::mutex& debugger_mutex() {
  static std::mutex* mutex = new std::mutex; // code may be unloaded while the process ends
  return *mutex;
}

static void tell_debugger(uint32_t action, jit_code_entry* entry) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_register_code();
}

DebuggerEntry::DebuggerEntry(std::vector<uint8_t> image) : entry_(new Entry) {
  entry_->image = std::move(image);
  entry_->symfile_addr = reinterpret_cast<const char*>(entry_->image.data());
  entry_->symfile_size = entry_->image.size();
  std::lock_guard lock(debugger_mutex());
  entry_->prev_entry = nullptr;
  entry_->next_entry = __jit_debug_descriptor.first_entry;
  if (entry_->next_entry)
    entry_->next_entry->prev_entry = entry_;
  __jit_debug_descriptor.first_entry = entry_;
  tell_debugger(1, entry_);
}

DebuggerEntry::~DebuggerEntry() {
  std::lock_guard lock(debugger_mutex());
  (entry_->prev_entry ? entry_->prev_entry->next_entry : __jit_debug_descriptor.first_entry) =
      entry_->next_entry;
  if (entry_->next_entry)
    entry_->next_entry->prev_entry = entry_->prev_entry;
  tell_debugger(2, entry_);
  delete entry_;
}

static bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value && std::strcmp(value, "1") == 0;
}

bool line_tables_wanted() {
  static const bool wanted = is_on("BESSEMER_DEBUG");
  return wanted;
}

bool perf_map_wanted() {
  static const bool wanted = is_on("BESSEMER_PERF");
  return wanted;
}

void add_to_perf_map(uint64_t address, uint64_t size, std::string_view name) {
  static std::FILE* file =
      std::fopen(("/tmp/perf-" + std::to_string(getpid()) + ".map").c_str(), "we");
  if (!file)
    return;
  // One call, so that lines of several threads do not mix; perf reads the file when it has ended.
  std::fprintf(file, "%zx %zx %.*s\n", static_cast<size_t>(address), static_cast<size_t>(size),
               static_cast<int>(name.size()), name.data());
  std::fflush(file);
}

} // namespace bessemer::metal::cpu

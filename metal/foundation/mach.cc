// The few calls of Mach, libSystem and Core Foundation that Metal clients make.
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include "metal/foundation/date.h"
#include "metal/objc/object.h"

namespace ns {
namespace {

enum : int { kSuccess = 0, kNoSpace = 3, kInvalidArgument = 4 };

uintptr_t page_size() { return static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)); }

uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (size_t at = line.find(": "); at != std::string::npos)
        return line.substr(at + 2);
  return "unknown";
}

/// The answer to sysctlbyname, as bytes.
std::string system_value(std::string_view name) {
  auto number = [](auto value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  auto text = [](const std::string& value) { return value + '\0'; };
  uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page_size();
  if (name == "hw.memsize")
    return number(memory);
  if (name == "hw.ncpu" || name == "hw.activecpu" || name == "hw.physicalcpu" ||
      name == "hw.logicalcpu" || name == "hw.logicalcpu_max" || name == "hw.physicalcpu_max")
    return number(static_cast<int>(std::thread::hardware_concurrency()));
  if (name == "hw.pagesize")
    return number(static_cast<uint64_t>(page_size()));
  if (name == "hw.model")
    return text("Bessemer1,1");
  if (name == "machdep.cpu.brand_string")
    return text(processor_name());
  if (name == "kern.osproductversion")
    return text("15.0");
  if (name == "iogpu.rsrc_limit")
    return number(uint64_t{499000});
  if (name == "iogpu.wired_limit_mb")
    return number(int{0});
  return {};
}

} // namespace

extern "C" {

uintptr_t vm_page_size = page_size();
uintptr_t vm_page_mask = vm_page_size - 1;
int vm_page_shift = std::countr_zero(vm_page_size);
uintptr_t vm_kernel_page_size = vm_page_size;

unsigned mach_task_self() { return 1; }

int vm_allocate(unsigned, uintptr_t* address, uintptr_t size, int flags) {
  bool anywhere = flags & 1;
  void* wanted = anywhere ? nullptr : reinterpret_cast<void*>(*address);
  void* memory = mmap(wanted, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | (anywhere ? 0 : MAP_FIXED_NOREPLACE), -1, 0);
  if (memory == MAP_FAILED)
    return size ? kNoSpace : kInvalidArgument;
  *address = reinterpret_cast<uintptr_t>(memory);
  return kSuccess;
}

int vm_deallocate(unsigned, uintptr_t address, uintptr_t size) {
  return munmap(reinterpret_cast<void*>(address), size) == 0 ? kSuccess : kInvalidArgument;
}

const char* mach_error_string(int error) {
  switch (error) {
  case kSuccess:
    return "(os/kern) successful";
  case kNoSpace:
    return "(os/kern) no space available";
  case kInvalidArgument:
    return "(os/kern) invalid argument";
  default:
    return "(os/kern) failure";
  }
}

uint64_t mach_absolute_time() { return nanoseconds(CLOCK_MONOTONIC); }
uint64_t mach_continuous_time() { return nanoseconds(CLOCK_BOOTTIME); }
int mach_timebase_info(uint32_t* numerator_and_denominator) {
  numerator_and_denominator[0] = numerator_and_denominator[1] = 1;
  return kSuccess;
}

int sysctlbyname(const char* name, void* old_value, size_t* old_size, void* new_value, size_t) {
  if (new_value) {
    errno = EPERM;
    return -1;
  }
  std::string value = system_value(name ? name : "");
  if (value.empty()) {
    errno = ENOENT;
    return -1;
  }
  if (!old_size)
    return 0;
  size_t capacity = *old_size;
  *old_size = value.size();
  if (!old_value)
    return 0;
  if (capacity < value.size()) {
    // A number may be asked for with fewer bytes: the low ones.
    bool is_number = value.size() == 8 && capacity == 4;
    if (!is_number) {
      errno = ENOMEM;
      return -1;
    }
    *old_size = capacity;
  }
  std::memcpy(old_value, value.data(), *old_size);
  return 0;
}

// os_unfair_lock is one word: 0 free, 1 held, 2 held and waited for.
void os_unfair_lock_lock(uint32_t* word) {
  std::atomic_ref<uint32_t> lock(*word);
  uint32_t state = 0;
  if (lock.compare_exchange_strong(state, 1, std::memory_order_acquire))
    return;
  while (lock.exchange(2, std::memory_order_acquire) != 0)
    lock.wait(2, std::memory_order_relaxed);
}
bool os_unfair_lock_trylock(uint32_t* word) {
  uint32_t state = 0;
  return std::atomic_ref<uint32_t>(*word).compare_exchange_strong(state, 1,
                                                                  std::memory_order_acquire);
}
void os_unfair_lock_unlock(uint32_t* word) {
  std::atomic_ref<uint32_t> lock(*word);
  if (lock.exchange(0, std::memory_order_release) == 2)
    lock.notify_one();
}

void* os_log_create(const char*, const char*) { return nullptr; }
[[gnu::format(printf, 3, 4)]] void bessemer_os_log(void* log, unsigned char type,
                                                   const char* format, ...) {
  bool quiet = type == 1 || type == 2; // info, debug
  if (log == reinterpret_cast<void*>(1) || (quiet && !std::getenv("BESSEMER_LOG")))
    return;
  va_list arguments;
  va_start(arguments, format);
  std::string line(1024, '\0');
  int size = std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
  line.resize(std::min<size_t>(size < 0 ? 0 : static_cast<size_t>(size), line.size() - 1));
  std::fprintf(stderr, "%s\n", line.c_str());
}

const void* CFRetain(const void* object) {
  return objc::objc_retain(static_cast<Object*>(const_cast<void*>(object)));
}
void CFRelease(const void* object) {
  objc::objc_release(static_cast<Object*>(const_cast<void*>(object)));
}
double CFAbsoluteTimeGetCurrent() { return Date::now(); }
}

} // namespace ns

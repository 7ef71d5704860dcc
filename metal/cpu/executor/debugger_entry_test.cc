// What gdb and perf read.
#include "metal/cpu/executor/debugger_entry.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <string>
#include <unistd.h>

#include "metal/cpu/executor/object_loader.h"
#include "metal/cpu/executor/testing/fake_compiler.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};
extern jit_descriptor __jit_debug_descriptor;
}

namespace bessemer::metal::cpu {
namespace {

int registered() {
  int count = 0;
  for (auto* entry = __jit_debug_descriptor.first_entry; entry; entry = entry->next_entry)
    ++count;
  return count;
}

TEST(DebuggerEntryTest, DebuggerFindsTheLoadedSectionsAsLongAsTheyAreLoaded) {
  const int before = registered();
  {
    auto object = LoadedObject::load(testing::kernel_object(), "empty", "test");
    ASSERT_TRUE(object);
    auto other = LoadedObject::load(testing::kernel_object(), "mix", "test");
    EXPECT_EQ(registered(), before + 2);
    EXPECT_EQ(__jit_debug_descriptor.version, 1u);
    // The newest is first; some section of the older one holds its entry.
    const jit_code_entry* entry = __jit_debug_descriptor.first_entry->next_entry;
    Elf64_Ehdr header;
    std::memcpy(&header, entry->symfile_addr, sizeof header);
    bool found = false;
    for (int i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      std::memcpy(&section, entry->symfile_addr + header.e_shoff + i * sizeof section,
                  sizeof section);
      const auto address = reinterpret_cast<uint64_t>(object->entry());
      found |= section.sh_addr <= address && address < section.sh_addr + section.sh_size;
    }
    EXPECT_TRUE(found);
  }
  EXPECT_EQ(registered(), before);
}

TEST(DebuggerEntryTest, PerfMapNamesKernelsWhenAskedFor) {
  // In a process of its own: the variable is read once.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("BESSEMER_PERF", "1", 1);
        auto object = LoadedObject::load(testing::kernel_object(), "saxpy", "test");
        const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
        std::ifstream file(path);
        bool found = false;
        for (std::string line; std::getline(file, line);) {
          uint64_t address = 0;
          uint64_t size = 0;
          char name[64];
          if (std::sscanf(line.c_str(), "%zx %zx %63s", &address, &size, name) == 3 &&
              std::string(name) == "saxpy")
            found = address == reinterpret_cast<uint64_t>(object->entry()) && size > 16;
        }
        unlink(path.c_str());
        _exit(found ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace bessemer::metal::cpu

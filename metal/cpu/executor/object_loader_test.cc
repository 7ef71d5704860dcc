#include "metal/cpu/executor/object_loader.h"

#include <cmath>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/executor/kernel_symbols.h"
#include "metal/cpu/executor/testing/fake_compiler.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

using ::testing::HasSubstr;
using testing::kernel_object;

void call(const LoadedObject& object, std::vector<void*> buffers, uint32_t threads) {
  bessemer_dispatch_t dispatch = {};
  std::copy(buffers.begin(), buffers.end(), dispatch.buffers);
  const uint32_t grid[3] = {threads, 1, 1}, one[3] = {1, 1, 1};
  std::memcpy(dispatch.threads_per_grid, grid, sizeof grid);
  std::memcpy(dispatch.threads_per_threadgroup, grid, sizeof grid);
  std::memcpy(dispatch.threadgroups_per_grid, one, sizeof one);
  std::memcpy(dispatch.region_size, one, sizeof one);
  reinterpret_cast<bessemer_kernel_entry_t>(object.entry())(&dispatch, 0, 1, nullptr, nullptr);
}

TEST(ObjectLoaderTest, TablesConstantsCallsAndJumpTablesWork) {
  auto object = LoadedObject::load(kernel_object(), "uses_constants", "test");
  ASSERT_TRUE(object) << object.error().message;
  std::vector<float> in = {10.3f, 1.0f / 3, 2, 3, 4, 5, 6, 7, 8}, out(9);
  call(*object, {out.data(), in.data()}, 9);
  // 1/3 as a half is 0x3555, which is 0.333251953125.
  const std::vector<float> expected = {
      std::fmod(10.3f, 3.5f), 0.333251953125f, 2 * 1.5f + 8, 3 / 7.25f, -4, 5 - 32, 36, 42, 42};
  EXPECT_EQ(out, expected);
}

TEST(ObjectLoaderTest, MemoryIsNeverWritableAndExecutable) {
  auto object = LoadedObject::load(kernel_object(), "empty", "test");
  ASSERT_TRUE(object);
  const uintptr_t start = reinterpret_cast<uintptr_t>(object->memory().data());
  const uintptr_t end = start + object->memory().size();
  std::ifstream maps("/proc/self/maps");
  bool executable = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t from, to;
    char permissions[5];
    ASSERT_EQ(std::sscanf(line.c_str(), "%zx-%zx %4s", &from, &to, permissions), 3);
    if (to <= start || from >= end)
      continue;
    EXPECT_FALSE(permissions[1] == 'w' && permissions[2] == 'x') << line;
    executable |= permissions[2] == 'x';
  }
  EXPECT_TRUE(executable);
}

TEST(ObjectLoaderTest, UnknownEntriesAndSymbolsAreErrors) {
  const auto message = [](std::span<const uint8_t> object, const char* entry) {
    auto loaded = LoadedObject::load(object, entry, "'k'");
    return loaded ? std::string("loaded") : loaded.error().message;
  };
  EXPECT_EQ(message(kernel_object(), "missing"), "object of 'k': has no function 'missing'");
  EXPECT_EQ(message(kernel_object(), "kTable"), "object of 'k': 'kTable' is not a function");
  EXPECT_EQ(message(kernel_object(true), "empty"),
            "object of 'k': a call to 'not_allowed', which kernels may not call");
  EXPECT_EQ(message({}, "empty"), "object of 'k': too short for an ELF header");
  std::vector<uint8_t> other(kernel_object().begin(), kernel_object().end());
  other[offsetof(Elf64_Ehdr, e_machine)] = EM_RISCV;
  EXPECT_THAT(message(other, "empty"), HasSubstr("another processor"));
}

TEST(ObjectLoaderTest, TruncatedObjectsAreErrors) {
  const std::span<const uint8_t> whole = kernel_object();
  for (size_t size = 0; size < whole.size(); size += 7) {
    // In memory of its own, so that AddressSanitizer sees a byte too many being read.
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(LoadedObject::load(part, "empty", "test")) << size;
  }
}

TEST(ObjectLoaderTest, DamagedObjectsNeverCrashTheLoader) {
  std::mt19937 random(1);
  const std::span<const uint8_t> whole = kernel_object();
  const auto header = [&] {
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof header);
    return header;
  }();
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<uint8_t> damaged(whole.begin(), whole.end());
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      // Mostly where the structure is: the header and the section table.
      size_t at = random() % damaged.size();
      if (random() % 4 != 0)
        at = random() % 2 ? random() % sizeof(Elf64_Ehdr)
                          : header.e_shoff + random() % (header.e_shnum * sizeof(Elf64_Shdr));
      damaged[at] = static_cast<uint8_t>(random() % 3 ? random() : 0xff);
    }
    refused += !LoadedObject::load(damaged, "empty", "test");
  }
  EXPECT_GT(refused, 2'000);
}

TEST(KernelSymbolsTest, BfloatConversionsRoundToNearestEven) {
  using FromFloat = _Float16(float); // passed as a bfloat is
  using FromDouble = _Float16(double);
  auto from_float =
      reinterpret_cast<FromFloat*>(reinterpret_cast<uintptr_t>(find_kernel_symbol("__truncsfbf2")));
  auto from_double = reinterpret_cast<FromDouble*>(
      reinterpret_cast<uintptr_t>(find_kernel_symbol("__truncdfbf2")));
  const auto bits = [](_Float16 value) {
    uint16_t result;
    std::memcpy(&result, &value, 2);
    return result;
  };
  // 0x3f80 is 1, 0x3f81 the next bfloat: 1 + 2^-7.
  EXPECT_EQ(bits(from_float(1.0f)), 0x3f80);
  EXPECT_EQ(bits(from_float(1.0f + 0x1p-8f)), 0x3f80);            // half-way: to even
  EXPECT_EQ(bits(from_float(1.0f + 0x1p-8f + 0x1p-23f)), 0x3f81); // above half-way
  EXPECT_EQ(bits(from_float(1.0f + 0x3p-8f)), 0x3f82);            // half-way: to even, upwards
  EXPECT_EQ(bits(from_float(-INFINITY)), 0xff80);
  EXPECT_EQ(bits(from_float(3.4e38f)), 0x7f80); // overflows
  EXPECT_GT(bits(from_float(NAN)) & 0x7fff, 0x7f80);
  const uint32_t small_nan = 0x7f800001; // all that makes it one is in the bits that are cut off
  float value;
  std::memcpy(&value, &small_nan, 4);
  EXPECT_GT(bits(from_float(value)) & 0x7fff, 0x7f80);
  // Above half-way by less than a float can tell: rounding twice would lose it.
  EXPECT_EQ(bits(from_double(1.0 + 0x1p-8 + 0x1p-50)), 0x3f81);
  EXPECT_EQ(bits(from_double(1.0 + 0x1p-8 - 0x1p-50)), 0x3f80);
  EXPECT_EQ(bits(from_double(-(1.0 + 0x1p-8 + 0x1p-50))), 0xbf81);
}

} // namespace
} // namespace bessemer::metal::cpu

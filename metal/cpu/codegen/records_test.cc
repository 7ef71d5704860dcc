// Records of words that each thread reads whole, and sums of products of their bytes: the same
// functions compiled as C++ and as kernels.
#include "metal/cpu/codegen/testing/kernel.h"

#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

using testing::Kernel;
using testing::random_words;
using testing::Threads;
using uint = unsigned int;

#define IN const uint*
#define SHARED(...)                                                                                \
  __VA_ARGS__                                                                                      \
  const char* const shared_text = #__VA_ARGS__;

SHARED(
    uint nibbles_by_bytes(uint g, IN in) {
      IN w = in + g * 5;
      IN a = in + g * 9 + 3;
      int sum = 0;
      for (int q = 0; q < 4; ++q) {
        uint v = w[1 + q];
        int lo = (int)a[1 + q];
        int hi = (int)a[5 + q];
        for (int k = 0; k < 4; ++k) {
          sum += ((int)((v >> (8 * k)) & 15u) - 8) * ((int)((uint)lo << (24 - 8 * k)) >> 24);
          sum += ((int)((v >> (8 * k + 4)) & 15u) - 8) * ((int)((uint)hi << (24 - 8 * k)) >> 24);
        }
      }
      return (uint)sum * (w[0] ^ a[0]);
    } uint signed_by_signed(uint g, IN in) {
      int a = (int)in[g * 2];
      int b = (int)in[g * 2 + 1];
      int sum = (int)g;
      for (int k = 0; k < 4; ++k)
        sum += (int)(signed char)(a >> (8 * k)) * (int)(signed char)(b >> (8 * k));
      return (uint)sum;
    } uint unsigned_by_signed(uint g, IN in) {
      uint a = in[g];
      int b = (int)in[g + 1];
      int sum = -3;
      for (int k = 0; k < 4; ++k)
        sum += (int)(unsigned char)(a >> (8 * k)) * (int)(signed char)(b >> (8 * k));
      return (uint)sum;
    } uint three_bits_by_unsigned(uint g, IN in) {
      uint a = in[g];
      uint b = in[g + 1];
      uint sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += ((a >> (8 * k + 5)) & 7) * ((b >> (8 * k)) & 127);
      for (int k = 0; k < 4; ++k)
        sum += ((a >> (8 * k)) & 31) * ((b >> (8 * k + 1)) & 127);
      return sum;
    } uint bytes_that_do_not_fit(uint g, IN in) {
      uint a = in[g];
      uint b = in[g + 1];
      uint sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += ((a >> (8 * k)) & 255) * ((b >> (8 * k)) & 255);
      for (int k = 0; k < 3; ++k)
        sum += ((a >> (8 * k)) & 255) * ((b >> (24 - 8 * k)) & 127);
      return sum;
    } uint some_bytes_and_constants(uint g, IN in) {
      uint a = in[g];
      int b = (int)in[g + 1];
      int sum = 0;
      sum += ((int)(a & 255) + 255) * ((int)((uint)b << 24) >> 24);
      sum += ((int)((a >> 16) & 255) + 255) * ((int)((uint)b << 8) >> 24);
      sum += ((int)(a >> 24) - 255) * (b >> 24);
      sum += ((int)((a >> 8) & 255) - 255) * ((int)((uint)b << 16) >> 24);
      sum += ((int)((a >> 8) & 255) - 256) * ((int)((uint)b << 16) >> 24);
      sum += ((int)(a & 255) - 256) * ((int)((uint)b << 24) >> 24);
      return (uint)sum;
    } uint the_same_products_twice(uint g, IN in) {
      uint a = in[g];
      int b = (int)in[g + 1];
      int sum = 0;
      for (int n = 0; n < 2; ++n)
        for (int k = 0; k < 4; ++k)
          sum += (int)((a >> (8 * k)) & 127) * ((int)((uint)b << (24 - 8 * k)) >> 24) + n;
      return (uint)sum;
    } uint records_backwards(uint g, IN in) {
      IN r = in + (300 - g) * 7;
      uint sum = 0;
      for (uint i = 0; i < 6; ++i)
        sum = sum * 31 + r[i];
      return sum;
    } uint records_under_a_branch(uint g, IN in) {
      IN r = in + g * 8;
      uint sum = r[7];
      if (g % 3)
        sum = r[0] * 3 + r[1] * 5 + r[2] * 7 + r[3] * 11;
      for (uint i = 0; i < (g & 3); ++i)
        sum += r[4] ^ (r[5] + i) ^ (r[6] << i) ^ r[7];
      return sum;
    })
#undef IN

struct Function {
  const char* name;
  uint (*scalar)(uint, const uint*);
};
const Function functions[] = {{"nibbles_by_bytes", nibbles_by_bytes},
                              {"signed_by_signed", signed_by_signed},
                              {"unsigned_by_signed", unsigned_by_signed},
                              {"three_bits_by_unsigned", three_bits_by_unsigned},
                              {"bytes_that_do_not_fit", bytes_that_do_not_fit},
                              {"some_bytes_and_constants", some_bytes_and_constants},
                              {"the_same_products_twice", the_same_products_twice},
                              {"records_backwards", records_backwards},
                              {"records_under_a_branch", records_under_a_branch}};

std::string kernel_source(const char* function) {
  return "#include <metal_stdlib>\nusing namespace metal;\n#define IN device const uint*\n" +
         std::string(shared_text) +
         "\nkernel void test(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],"
         " uint g [[thread_position_in_grid]]) { out[g] = " +
         function + "(g, in); }\n";
}

class Records : public ::testing::TestWithParam<const char*> {};

TEST_P(Records, SumsAreThoseOfTheSameTextAsCpp) {
  std::vector<uint> in = random_words(4096);
  for (const Function& function : functions)
    for (Threads threads : {Threads{96, 1, 1}, Threads{24, 1, 1}}) {
      Kernel kernel(kernel_source(function.name), "test", threads, 0, GetParam(), "");
      uint count = threads[0] * 3;
      std::vector<uint> out(count);
      kernel.run({in.data(), out.data()}, {3, 1, 1}, threads);
      for (uint g = 0; g < count; ++g)
        ASSERT_EQ(out[g], function.scalar(g, in.data())) << function.name << ", thread " << g;
    }
}

#if defined(__x86_64__)
INSTANTIATE_TEST_SUITE_P(Processors, Records, ::testing::Values("", "haswell"),
                         [](const auto& info) {
                           return *info.param ? std::string(info.param) : std::string("This");
                         });
#else
INSTANTIATE_TEST_SUITE_P(Processors, Records, ::testing::Values(""));
#endif

size_t dot_products(const char* function, const char* cpu) {
  return testing::count_instructions(kernel_source(function), {32, 1, 1}, cpu, "vpdpbusd", 32);
}

TEST(DotProducts, AreOneInstructionForARegisterOfWords) {
  // Two registers of 16 words; each sum with what is not below zero, and with the constant.
  EXPECT_EQ(dot_products("unsigned_by_signed", "znver4"), 2u);
  EXPECT_EQ(dot_products("signed_by_signed", "znver4"), 4u);
  EXPECT_EQ(dot_products("nibbles_by_bytes", "znver4"), 32u);
  EXPECT_EQ(dot_products("unsigned_by_signed", "alderlake"), 4u);
  EXPECT_EQ(dot_products("unsigned_by_signed", "haswell"), 0u);
}

} // namespace
} // namespace bessemer::metal::cpu

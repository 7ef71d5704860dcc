// Stores past the caches: where they are made, and that they store the same.
#include "metal/cpu/codegen/testing/kernel.h"

#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

using testing::Kernel;
using testing::Threads;

std::string kernel_text(const std::string& body) {
  return "#include <metal_stdlib>\nusing namespace metal;\n"
         "kernel void test(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],\n"
         "                 device atomic_uint* flag [[buffer(2)]], constant uint& n "
         "[[buffer(3)]],\n"
         "                 uint i [[thread_position_in_grid]],\n"
         "                 uint l [[thread_position_in_threadgroup]],\n"
         "                 uint t [[threadgroup_position_in_grid]]) {\n" +
         body + "\n}\n";
}

// 2^23 threads write 32 MiB, which is past the caches; half as many are not.
TEST(StreamingStores, StoreWhatOtherStoresDo) {
  Kernel kernel(kernel_text("if (i < n) out[i] = in[i & 1023] * 3 + i;"), "test", {256, 1, 1});
  std::vector<uint32_t> in = testing::random_words(1024);
  for (uint32_t groups : {1u << 15, 1u << 14})
    for (size_t shift : {0, 5}) { // lines, and words that do not begin one
      const uint32_t count = groups * 256, limit = count - 37;
      std::vector<uint32_t> memory(count + 64, 0xcccccccc);
      uint32_t* out = memory.data();
      while (reinterpret_cast<uintptr_t>(out) % 64)
        ++out;
      out += shift;
      uint32_t flag = 0, n = limit;
      kernel.run({in.data(), out, &flag, &n}, {groups, 1, 1}, {256, 1, 1});
      for (uint32_t i = 0; i < limit; ++i)
        ASSERT_EQ(out[i], in[i & 1023] * 3 + i) << i;
      ASSERT_EQ(out[limit], 0xcccccccc);
    }
}

#if defined(__x86_64__)
size_t streaming_stores(const char* body) {
  auto count = [&](const char* instruction) {
    return testing::count_instructions(kernel_text(body), {256, 1, 1}, "znver4", instruction);
  };
  const size_t stores = count("vmovnt");
  EXPECT_EQ(stores != 0, count("sfence") != 0);
  return stores;
}

TEST(StreamingStores, AreMadeForWholeLinesThatTheKernelDoesNotRead) {
  EXPECT_GT(streaming_stores("out[i] = in[i] + 1;"), 0u);
  EXPECT_GT(streaming_stores("for (uint k = 0; k < n; k += 256) out[t * n + l + k] = in[k];"), 0u);
  // Read again; part of a line; the same for all threadgroups; a flag that must come after.
  EXPECT_EQ(streaming_stores("out[i] = out[i] + in[i];"), 0u);
  EXPECT_EQ(streaming_stores("out[2 * i] = in[i];"), 0u);
  EXPECT_EQ(streaming_stores("out[l] = in[i];"), 0u);
  EXPECT_EQ(streaming_stores("out[i] = in[i]; atomic_store_explicit(flag, i, "
                             "memory_order_relaxed);"),
            0u);
}
#endif

} // namespace
} // namespace bessemer::metal::cpu

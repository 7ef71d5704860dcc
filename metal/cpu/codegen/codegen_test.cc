// Kernels compiled and run, against the same text compiled as C++ or a plain loop over threads.
#include "metal/cpu/codegen/testing/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace bessemer::metal::cpu {
namespace {

using uint = unsigned int;
using testing::Kernel;
using testing::random_words;
using testing::Threads;

// The same functions as C++ and as MSL text.
#define IN const uint*
#define SHARED(...)                                                                                \
  __VA_ARGS__                                                                                      \
  const char* const shared_text = #__VA_ARGS__;

SHARED(
    uint nested_loops(uint g, IN in) {
      uint r = 0;
      for (uint i = 0; i < (g & 15); ++i) {
        if (i == ((g >> 3) & 7))
          continue;
        r += in[(g + i) & 1023];
        if (r & 0x80)
          break;
        for (uint j = 0; j < (r & 3); ++j) {
          r ^= in[(r + j) & 1023] << 1;
          if ((r & 31) == 7)
            return r * 3 + g;
        }
      }
      return r * 5 + g;
    } uint switches(uint g, IN in) {
      uint r = g;
      switch (in[g & 1023] & 7) {
      case 0:
        r += 5;
        break;
      case 1:
        r *= 3;
      case 2:
        r ^= 0x55;
        break;
      case 5:
        return 77;
      case 6:
        while (r > 100)
          r = (in[r & 1023] & 1) ? r / 2 : r / 3 + 1;
        break;
      default:
        r -= 9;
      }
      return r;
    } uint greatest_divisor(uint g, IN in) {
      uint a = in[g & 1023];
      uint b = in[(g * 7) & 1023] | 1;
      uint n = 0;
      while (b) {
        uint t = a % b;
        a = b;
        b = t;
        if (++n > 50)
          return 0xdead;
      }
      return a + n;
    } uint private_array(uint g, IN in) {
      uint table[8];
      for (uint i = 0; i < 8; ++i)
        table[i] = in[(g * 8 + i) & 1023];
      for (uint i = 0; i < 12; ++i)
        table[table[i & 7] & 7] += table[(i + g) & 7] ^ i;
      uint r = 0;
      for (uint i = 0; i < 8; ++i)
        r = r * 31 + table[i];
      return r;
    } uint byte_array(uint g, IN in) {
      unsigned char text[12];
      for (uint i = 0; i < 12; ++i)
        text[i] = (unsigned char)(in[(g + i) & 1023] >> (i & 7));
      for (uint i = 0; i < 20; ++i)
        text[text[(i + g) % 12] % 12] ^= (unsigned char)(i * 7);
      uint r = g;
      for (uint i = 0; i < 12; ++i)
        r = r * 17 + text[i];
      return r;
    } uint uniform_and_divergent(uint g, IN in) {
      uint r = in[0];
      uint n = in[1] & 15;
      for (uint i = 0; i < n; ++i) {
        if (in[i] & 1) {
          r += in[(g + i) & 1023];
        } else if (g & 4) {
          r ^= i;
        } else {
          uint k = i;
          while (k < (g & 31)) {
            k += 3;
            r += k;
          }
        }
      }
      if (g & 1)
        for (uint i = 0; i < n; ++i)
          r = r * 5 + in[i + 2];
      return r;
    } uint leaves_two_loops(uint g, IN in) {
      uint r = 0;
      for (uint i = 0; i < 8; ++i) {
        for (uint j = i; j < 8; ++j) {
          if (((g >> i) ^ j) % 5 == 0) {
            r += 1;
            if (r > (g & 7))
              return r + 1000;
            continue;
          }
          r += in[(i * 8 + j + g) & 1023] & 3;
        }
        if (r > 40)
          break;
      }
      return r;
    } uint bottom_tested(uint g, IN in) {
      uint s = g;
      uint r = 0;
      do {
        s = s * 1664525u + 1013904223u;
        if ((s >> 28) < 3) {
          r += s & 15;
        } else if ((s >> 28) < 6) {
          uint t = s;
          do {
            t >>= 1;
            ++r;
          } while ((t & 3) != 0 && t > 1000);
        } else {
          r ^= in[s >> 22];
        }
      } while ((s >> 24) > 40);
      return r;
    } uint signed_division(uint g, IN in) {
      int a = (int)in[g & 1023];
      int b = (int)(in[(g + 1) & 1023] >> (g & 31)) - 3;
      uint r = 0;
      if (b != 0 && b != -1)
        r = (uint)(a / b) * 3u + (uint)(a % b);
      short c = (short)a;
      short d = (short)((b & 63) + 1);
      return r + (uint)(int)(short)(c / d) + (uint)(a / 7) + in[g & 1023] / 10;
    })
#undef IN

struct Function {
  const char* name;
  uint (*scalar)(uint, const uint*);
};
const Function functions[] = {{"nested_loops", nested_loops},
                              {"switches", switches},
                              {"greatest_divisor", greatest_divisor},
                              {"private_array", private_array},
                              {"byte_array", byte_array},
                              {"uniform_and_divergent", uniform_and_divergent},
                              {"leaves_two_loops", leaves_two_loops},
                              {"bottom_tested", bottom_tested},
                              {"signed_division", signed_division}};

std::string kernel_source(const std::string& function) {
  return "#include <metal_stdlib>\nusing namespace metal;\n#define IN device const uint*\n" +
         std::string(shared_text) +
         "\nkernel void test(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],"
         " constant uint& n [[buffer(2)]], uint g [[thread_position_in_grid]]) {\n"
         "  if (g < n) out[g] = " +
         function + "(g, in);\n}\n";
}

void expect_function(const Function& function, Kernel& kernel, Threads threads) {
  std::vector<uint> in = random_words(1024), out(2048, 0xcccccccc);
  uint groups = 3, limit = groups * threads[0] - 5;
  kernel.run({in.data(), out.data(), &limit}, {groups, 1, 1}, threads);
  for (uint g = 0; g < out.size(); ++g)
    ASSERT_EQ(out[g], g < limit ? function.scalar(g, in.data()) : 0xcccccccc)
        << function.name << ", thread " << g << ", lanes " << kernel.info().lanes;
}

TEST(Codegen, DivergentControlFlowIsThatOfEachThreadAlone) {
  // Widths below, at and above a simdgroup; whole vectors and lanes without a thread.
  const std::pair<uint32_t, uint32_t> cases[] = {{16, 256}, {32, 100}, {64, 192}};
  for (const Function& function : functions)
    for (auto [lanes, threads] : cases) {
      Kernel kernel(kernel_source(function.name), "test", {threads, 1, 1}, lanes);
      EXPECT_EQ(kernel.info().lanes, lanes);
      expect_function(function, kernel, {threads, 1, 1});
    }
}

TEST(Codegen, AVariantOfAnySizeTakesEverySize) {
  for (const Function& function : functions) {
    Kernel kernel(kernel_source(function.name), "test", {0, 0, 0});
    for (Threads threads : {Threads{256, 1, 1}, Threads{33, 1, 1}, Threads{7, 1, 1}})
      expect_function(function, kernel, threads);
  }
}

#if defined(__x86_64__)
TEST(Codegen, MachinesWithAvx2GiveTheSameResults) {
  for (const Function& function : functions) {
    Kernel kernel(kernel_source(function.name), "test", {96, 1, 1}, 0, "haswell", "");
    expect_function(function, kernel, {96, 1, 1});
  }
}
#endif

TEST(Codegen, PositionsFollowTheShapeOfTheThreadgroup) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void test(device uint* out [[buffer(0)]], uint3 t [[thread_position_in_threadgroup]],
                 uint3 g [[threadgroup_position_in_grid]], uint3 p [[thread_position_in_grid]],
                 uint i [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                 uint s [[simdgroup_index_in_threadgroup]], uint3 n [[threads_per_grid]]) {
  device uint* o = out + ((p.z * n.y + p.y) * n.x + p.x) * 4;
  o[0] = t.x | t.y << 8 | t.z << 16;
  o[1] = g.x | g.y << 8 | g.z << 16;
  o[2] = i;
  o[3] = lane | s << 8;
})";
  for (Threads threads : {Threads{8, 4, 2}, Threads{24, 2, 1}, Threads{5, 3, 3}, Threads{1, 1, 1},
                          Threads{16, 16, 1}})
    for (Threads variant : {threads, Threads{0, 0, 0}}) {
      Kernel kernel(source, "test", variant);
      // The variant of any size also takes grids that do not end with a whole threadgroup.
      Threads groups = {3, 2, 2}, grid;
      for (size_t d = 0; d < 3; ++d)
        grid[d] = groups[d] * threads[d] - (variant[0] || threads[d] == 1 ? 0 : 1);
      std::vector<uint> out(grid[0] * grid[1] * grid[2] * 4 + 4, 0xcccccccc);
      kernel.run({out.data()}, groups, threads, grid);
      for (uint z = 0; z < grid[2]; ++z)
        for (uint y = 0; y < grid[1]; ++y)
          for (uint x = 0; x < grid[0]; ++x) {
            const uint* o = &out[((z * grid[1] + y) * grid[0] + x) * 4];
            uint g[3] = {x / threads[0], y / threads[1], z / threads[2]};
            uint t[3] = {x % threads[0], y % threads[1], z % threads[2]}, size[3];
            for (size_t d = 0; d < 3; ++d)
              size[d] = std::min(threads[d], grid[d] - g[d] * threads[d]);
            uint index = (t[2] * size[1] + t[1]) * size[0] + t[0];
            ASSERT_EQ(o[0], t[0] | t[1] << 8 | t[2] << 16);
            ASSERT_EQ(o[1], g[0] | g[1] << 8 | g[2] << 16);
            ASSERT_EQ(o[2], index);
            ASSERT_EQ(o[3], index % 32 | (index / 32) << 8);
          }
      ASSERT_EQ(out.back(), 0xcccccccc);
    }
}

TEST(Codegen, SimdgroupOperationsSeeOnlyTheActiveLanes) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void test(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                 uint i [[thread_index_in_threadgroup]]) {
  uint x = in[i];
  device uint* o = out + i * 8;
  for (int k = 0; k < 8; ++k) o[k] = 0;
  if (x & 1) {
    o[0] = simd_sum(x & 0xffff);
    o[1] = simd_max(x);
    o[2] = simd_min(x);
    o[3] = simd_prefix_exclusive_sum(x & 0xff);
    o[4] = uint(ulong(simd_ballot(x & 2)));
    o[5] = simd_any(x & 4) | simd_all(x & 8) << 1;
    o[6] = simd_broadcast_first(x);
  }
  o[7] = simd_shuffle_xor(x, 5) ^ simd_shuffle(x, ushort(x & 3));
})";
  for (uint32_t count : {128u, 100u}) {
    std::vector<uint> in = random_words(128), out(128 * 8);
    for (Threads variant : {Threads{count, 1, 1}, Threads{0, 0, 0}}) {
      Kernel kernel(source, "test", variant);
      kernel.run({in.data(), out.data()}, {1, 1, 1}, {count, 1, 1});
      for (uint first = 0; first < count; first += 32) {
        uint end = std::min(first + 32, count), sum = 0, max = 0, min = ~0u, ballot = 0, any = 0,
             all = 1, leader = ~0u;
        for (uint i = first; i < end; ++i) {
          if (!(in[i] & 1))
            continue;
          sum += in[i] & 0xffff;
          max = std::max(max, in[i]);
          min = std::min(min, in[i]);
          ballot |= uint((in[i] & 2) != 0) << (i - first);
          any |= (in[i] & 4) != 0;
          all &= (in[i] & 8) != 0;
          leader = leader == ~0u ? i : leader;
        }
        uint prefix = 0;
        for (uint i = first; i < end; ++i) {
          const uint* o = &out[i * 8];
          if (in[i] & 1) {
            ASSERT_EQ(o[0], sum);
            ASSERT_EQ(o[1], max);
            ASSERT_EQ(o[2], min);
            ASSERT_EQ(o[3], prefix);
            ASSERT_EQ(o[4], ballot);
            ASSERT_EQ(o[5], any | all << 1);
            ASSERT_EQ(o[6], in[leader]);
            prefix += in[i] & 0xff;
          } else {
            ASSERT_EQ(o[0] | o[1] | o[2] | o[3] | o[4] | o[5] | o[6], 0u);
          }
          if ((i ^ 5) < end)
            ASSERT_EQ(o[7], in[first + ((i - first) ^ 5)] ^ in[first + (in[i] & 3)]);
        }
      }
    }
  }
}

TEST(Codegen, ValuesLiveAcrossBarriersInLoops) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void test(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                 uint i [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]],
                 uint n [[threads_per_threadgroup]]) {
  threadgroup uint shared[256];
  uint own = in[g * n + i], history[4] = {0, 0, 0, 0};
  for (uint round = 0; round < 6; ++round) {
    shared[i] = own + round;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint other = shared[(i + 37 * round + 1) % n];
    if (other & 1) own = own * 3 + other; else own ^= other;
    history[own & 3] += other;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[g * n + i] = own + history[i & 3];
})";
  for (uint32_t n : {256u, 96u, 50u, 20u})
    for (Threads variant : {Threads{n, 1, 1}, Threads{0, 0, 0}}) {
      std::vector<uint> in = random_words(1024), out(1024);
      Kernel kernel(source, "test", variant);
      kernel.run({in.data(), out.data()}, {3, 1, 1}, {n, 1, 1});
      for (uint g = 0; g < 3; ++g) {
        std::vector<uint> own(in.begin() + g * n, in.begin() + (g + 1) * n), shared(n);
        std::vector<std::array<uint, 4>> history(n, {0, 0, 0, 0});
        for (uint round = 0; round < 6; ++round) {
          for (uint i = 0; i < n; ++i)
            shared[i] = own[i] + round;
          for (uint i = 0; i < n; ++i) {
            uint other = shared[(i + 37 * round + 1) % n];
            own[i] = other & 1 ? own[i] * 3 + other : own[i] ^ other;
            history[i][own[i] & 3] += other;
          }
        }
        for (uint i = 0; i < n; ++i)
          ASSERT_EQ(out[g * n + i], own[i] + history[i][i & 3]) << "thread " << i << " of " << n;
      }
    }
}

TEST(Codegen, AtomicsCountEveryActiveLane) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void test(device const uint* in [[buffer(0)]], device atomic_uint* bins [[buffer(1)]],
                 uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint local[16];
  if (t < 16) atomic_store_explicit(&local[t], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (in[i] & 3) atomic_fetch_add_explicit(&local[in[i] >> 28], in[i] & 7, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 16)
    atomic_fetch_add_explicit(&bins[t], atomic_load_explicit(&local[t], memory_order_relaxed), memory_order_relaxed);
  atomic_fetch_max_explicit(&bins[16], in[i], memory_order_relaxed);
})";
  std::vector<uint> in = random_words(512), bins(17), expected(17);
  Kernel kernel(source, "test", {128, 1, 1});
  kernel.run({in.data(), bins.data()}, {4, 1, 1}, {128, 1, 1});
  for (uint x : in) {
    if (x & 3)
      expected[x >> 28] += x & 7;
    expected[16] = std::max(expected[16], x);
  }
  EXPECT_EQ(bins, expected);
}

TEST(Codegen, SimdgroupMatricesMultiplyAsWholeMatrices) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void test(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                 device float* c [[buffer(2)]], uint s [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.5f);
  for (int k = 0; k < 16; k += 8) {
    simdgroup_float8x8 x, y;
    simdgroup_load(x, a + s * 8 * 16 + k, 16);
    simdgroup_load(y, b + k, 16, ulong2(0, 0), true);
    simdgroup_multiply_accumulate(sum, x, y, sum);
  }
  simdgroup_store(sum, c + s * 64, 8);
})";
  // a: 16 x 16, rows of which each simdgroup takes 8; b: 8 x 16, transposed.
  std::vector<float> a(256), b(128), c(128);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = float(int(i * 7 % 23) - 11);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = float(int(i * 5 % 19) - 9);
  for (const char* cpu : {"", "haswell"}) {
    Kernel kernel(source, "test", {64, 1, 1}, 0, cpu);
    kernel.run({a.data(), b.data(), c.data()}, {1, 1, 1}, {64, 1, 1});
    for (size_t row = 0; row < 16; ++row)
      for (size_t column = 0; column < 8; ++column) {
        float expected = 0.5f;
        for (size_t k = 0; k < 16; ++k)
          expected += a[row * 16 + k] * b[column * 16 + k];
        ASSERT_EQ(c[row * 8 + column], expected) << row << ", " << column;
      }
  }
}

TEST(Codegen, NarrowFloatsRoundToTheNearest) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void test(device const float* in [[buffer(0)]], device ushort* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i * 2] = as_type<ushort>(bfloat(in[i]));
  out[i * 2 + 1] = as_type<ushort>(bfloat(in[i]) * bfloat(3.0f));
})";
  std::vector<uint> bits = random_words(256);
  for (uint& word : bits)
    word = (word & 0x807fffff) | (0x30000000 + (word % 64 << 23)); // no NaN, nothing subnormal
  bits[0] = 0x3f808000, bits[1] = 0x3f818000;                      // ties
  auto round = [](float value) {
    uint word;
    std::memcpy(&word, &value, 4);
    return uint16_t((word + 0x7fff + (word >> 16 & 1)) >> 16);
  };
  auto widen = [](uint16_t value) {
    uint word = uint(value) << 16;
    float result;
    std::memcpy(&result, &word, 4);
    return result;
  };
  for (const char* cpu : {"", "haswell"}) {
    std::vector<uint16_t> out(512);
    Kernel kernel(source, "test", {64, 1, 1}, 0, cpu);
    kernel.run({bits.data(), out.data()}, {4, 1, 1}, {64, 1, 1});
    for (size_t i = 0; i < 256; ++i) {
      float value;
      std::memcpy(&value, &bits[i], 4);
      ASSERT_EQ(out[i * 2], round(value)) << i << cpu;
      ASSERT_EQ(out[i * 2 + 1], round(widen(round(value)) * 3.0f)) << i << cpu;
    }
  }
}

TEST(Codegen, BitsOfConstantsMeetPositions) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void test(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  out[i] = in[(i | 0x51u) & 0xffu] + in[(i ^ 0x47u) & 0xffu];
})";
  std::vector<uint> in = random_words(256), out(256);
  Kernel kernel(source, "test", {64, 1, 1});
  kernel.run({in.data(), out.data()}, {4, 1, 1}, {64, 1, 1});
  for (uint i = 0; i < 256; ++i)
    ASSERT_EQ(out[i], in[i | 0x51] + in[i ^ 0x47]) << i;
}

TEST(Codegen, ConversionsToIntegersSaturateInEveryLane) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void test(device const float* in [[buffer(0)]], device int* s [[buffer(1)]],
                 device uint* u [[buffer(2)]], device long* l [[buffer(3)]],
                 uint i [[thread_position_in_grid]]) {
  s[i] = int(in[i]);
  u[i] = uint(in[i]);
  l[i] = long(in[i]);
})";
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> in = {0,
                           -0.0f,
                           0.99f,
                           -0.99f,
                           1.5f,
                           -2.5f,
                           2147483520.,
                           2147483648.,
                           4294967040.,
                           4294967296.,
                           1e10f,
                           -2147483648.,
                           -2147483904.,
                           -1e10f,
                           infinity,
                           -infinity,
                           9e18f,
                           -1e19f,
                           std::numeric_limits<float>::quiet_NaN(),
                           1e-40f};
  std::vector<uint> words = random_words(64);
  in.resize(64);
  std::memcpy(in.data() + 20, words.data() + 20, 44 * sizeof(float));
  auto saturated = [](double value, double low, double high) {
    return value != value ? 0.0 : std::trunc(std::clamp(value, low, high));
  };
  for (const char* cpu : {"", "haswell"}) {
    std::vector<int> s(64);
    std::vector<uint> u(64);
    std::vector<int64_t> l(64);
    Kernel kernel(source, "test", {64, 1, 1}, 0, cpu);
    kernel.run({in.data(), s.data(), u.data(), l.data()}, {1, 1, 1}, {64, 1, 1});
    for (size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(s[i], int(saturated(in[i], -0x1p31, 0x1p31 - 1))) << in[i] << cpu;
      EXPECT_EQ(u[i], uint(saturated(in[i], 0, 0x1p32 - 1))) << in[i] << cpu;
      EXPECT_EQ(l[i], in[i] >= 0x1p63f ? INT64_MAX : int64_t(saturated(in[i], -0x1p63, 0x1p63)))
          << in[i] << cpu;
    }
  }
}

TEST(Codegen, UnknownKernelsAndSizesAreErrors) {
  llvm::LLVMContext context;
  auto compile = [&](KernelOptions options) {
    msl::Compilation compiled =
        msl::compile("kernel void test(device int* p [[buffer(0)]]) { *p = 1; }", {}, context);
    EXPECT_TRUE(compiled.module) << compiled.diagnostics;
    return llvm::toString(compile_kernel(std::move(compiled.module), options).takeError());
  };
  KernelOptions options;
  options.function = "absent";
  EXPECT_NE(compile(options).find("absent"), std::string::npos);
  options.function = "test";
  options.threads = {4096, 1, 1};
  EXPECT_NE(compile(options).find("4096"), std::string::npos);
}

TEST(Codegen, CodeForOtherProcessorsIsMadeHere) {
  llvm::LLVMContext context;
  msl::Compilation compiled = msl::compile(kernel_source("nested_loops"), {}, context);
  ASSERT_TRUE(compiled.module) << compiled.diagnostics;
  KernelOptions options;
  options.function = "test";
  options.threads = {64, 1, 1};
  options.triple = "aarch64-unknown-linux-gnu";
  options.cpu = "cortex-a76";
  auto kernel = compile_kernel(std::move(compiled.module), options);
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  ASSERT_GT(kernel->bytes.size(), 20u);
  EXPECT_EQ(kernel->bytes[18], 183); // e_machine: EM_AARCH64
}

// A lane whose constant shift has no value, and another value in its place.
TEST(Codegen, ExtractingNoBitsGivesZeroWhereTheCountIsKnownForEachLane) {
  const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void f(device const int* in [[buffer(0)]], constant uint& at [[buffer(1)]],
              device int* out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  int bits = extract_bits(in[(i * 10u - 1u) & 63u], at & 15u, i & 15u);
  out[i] = bits;
  if (i + 7u < uint(bits))
    out[i] = 1;
}
)";
  std::vector<int> in(64);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = int(0x80000000u | i * 0x01010101u);
  uint at = 3;
  for (uint32_t lanes : {0u, 8u, 16u, 32u, 64u}) {
    std::vector<int> out(128, -5);
    Kernel(source, "f", {128, 1, 1}, lanes)
        .run({in.data(), &at, out.data()}, {1, 1, 1}, {128, 1, 1});
    for (uint i = 0; i < 128; ++i) {
      const uint count = i & 15;
      const uint word = uint(in[(i * 10 - 1) & 63]) >> at;
      const int sign = count && (word >> (count - 1) & 1) ? -1 : 0;
      const int bits = count ? int((word & ((1u << count) - 1)) | (uint(sign) << count)) : 0;
      EXPECT_EQ(out[i], i + 7 < uint(bits) ? 1 : bits) << "lanes " << lanes << ", thread " << i;
    }
  }
}

} // namespace
} // namespace bessemer::metal::cpu

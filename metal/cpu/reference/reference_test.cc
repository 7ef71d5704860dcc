#include "metal/cpu/reference/reference.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"

namespace bessemer::metal::cpu::reference {
namespace {

// A kernel `k` with buffers 0 and 1 of device memory and the built-ins that tests use.
constexpr const char* kHead = R"(
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %gid, i32 %lane, i32 %lid, i32 %size) {
)";
constexpr const char* kTail = R"(
}
!air.kernel = !{!0}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5, !6, !7, !8}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_name", !"in"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_name", !"out"}
!5 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_name", !"gid"}
!6 = !{i32 3, !"air.thread_index_in_simdgroup", !"air.arg_name", !"lane"}
!7 = !{i32 4, !"air.thread_index_in_threadgroup", !"air.arg_name", !"lid"}
!8 = !{i32 5, !"air.threads_per_threadgroup", !"air.arg_name", !"size"}
)";

std::unique_ptr<Kernel> compile(const std::string& body, const std::string& declarations = "",
                                Schedule schedule = Schedule::Independent) {
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  auto module =
      llvm::parseAssemblyString(declarations + kHead + body + kTail, diagnostic, *context);
  if (!module) {
    ADD_FAILURE() << diagnostic.getMessage().str() << " in line " << diagnostic.getLineNo();
    return nullptr;
  }
  auto kernel = Kernel::create(std::move(context), std::move(module), "k", schedule);
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return nullptr;
  }
  return std::move(*kernel);
}

template <class T>
std::vector<T> run(Kernel& kernel, std::vector<T> in, uint32_t threads, uint32_t group) {
  std::vector<T> out(in.size(), T(-1));
  std::vector<void*> buffers = {in.data(), out.data()};
  auto error = kernel.run({{threads, 1, 1}, {group, 1, 1}}, buffers);
  EXPECT_FALSE(error) << llvm::toString(std::move(error));
  return out;
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

// Loads in[gid] into %x; the body ends by storing %y.
constexpr const char* kLoad = R"(
entry:
  %i = zext i32 %gid to i64
  %p = getelementptr float, ptr addrspace(1) %in, i64 %i
  %q = getelementptr float, ptr addrspace(1) %out, i64 %i
  %x = load float, ptr addrspace(1) %p
)";
constexpr const char* kStore = R"(
  store float %y, ptr addrspace(1) %q
  ret void
)";
constexpr const char* kSum = "declare float @air.simd_sum.f32(float)\n";

TEST(Reference, MathsIsThatOfTheLibrary) {
  auto kernel = compile(std::string(kLoad) + "%y = call float @air.exp2.f32(float %x)" + kStore,
                        "declare float @air.exp2.f32(float)\n");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->usedBuffers(), 3u);
  auto out = run(*kernel, ramp(10), 10, 4);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(out[i], std::ldexp(1.0f, i));
}

TEST(Reference, SumsOfASimdgroupSeeItsLanesOnly) {
  auto kernel =
      compile(std::string(kLoad) + "%y = call float @air.simd_sum.f32(float %x)" + kStore, kSum);
  ASSERT_TRUE(kernel);
  // Threadgroups of 40: simdgroups of 32 and 8 threads; the last threadgroup has 20 threads.
  auto out = run(*kernel, ramp(100), 100, 40);
  for (int i = 0; i < 100; ++i) {
    const int first = i / 40 * 40 + (i % 40) / 32 * 32;
    const int last = std::min({first + 32, i / 40 * 40 + 40, 100});
    float sum = 0;
    for (int j = first; j < last; ++j)
      sum += static_cast<float>(j);
    EXPECT_EQ(out[i], sum) << i;
  }
}

TEST(Reference, DivergentSumsExcludeLanesOfTheOtherBranch) {
  auto kernel = compile(std::string(kLoad) + R"(
  %odd = trunc i32 %gid to i1
  br i1 %odd, label %a, label %b
a:
  %ya = call float @air.simd_sum.f32(float %x)
  br label %join
b:
  %yb = call float @air.simd_sum.f32(float %x)
  br label %join
join:
  %z = phi float [ %ya, %a ], [ %yb, %b ]
  %w = call float @air.simd_sum.f32(float 1.0)
  %y = fadd float %z, %w
)" + kStore,
                        kSum);
  ASSERT_TRUE(kernel);
  auto out = run(*kernel, ramp(32), 32, 32);
  // Even lanes sum to 240, odd ones to 256; all 32 meet again at the join.
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (i % 2 ? 256.0f : 240.0f) + 32.0f) << i;
}

TEST(Reference, LanesThatLeaveALoopEarlyWaitBehindIt) {
  // Lane i goes round i times, counting how many lanes do so with it.
  auto kernel = compile(std::string(kLoad) + R"(
  br label %head
head:
  %n = phi i32 [ 0, %entry ], [ %n1, %body ]
  %acc = phi float [ 0.0, %entry ], [ %acc1, %body ]
  %go = icmp ult i32 %n, %lane
  br i1 %go, label %body, label %exit
body:
  %c = call float @air.simd_sum.f32(float 1.0)
  %acc1 = fadd float %acc, %c
  %n1 = add i32 %n, 1
  br label %head
exit:
  %all = call float @air.simd_sum.f32(float 1.0)
  %s = fmul float %all, 1000.0
  %y = fadd float %acc, %s
)" + kStore,
                        kSum);
  ASSERT_TRUE(kernel);
  auto out = run(*kernel, ramp(32), 32, 32);
  for (int i = 0; i < 32; ++i) {
    float rounds = 0;
    for (int n = 0; n < i; ++n)
      rounds += static_cast<float>(31 - n); // lanes n+1 ... 31 are in round n
    EXPECT_EQ(out[i], rounds + 32000.0f) << i;
  }
}

TEST(Reference, LanesThatSkipPartOfALoopsBodyMeetInItsNextRound) {
  // Odd lanes skip the sum in round 0: even ones must not be overtaken.
  auto kernel = compile(std::string(kLoad) + R"(
  %odd = trunc i32 %lane to i1
  br label %head
head:
  %n = phi i32 [ 0, %entry ], [ 1, %latch ]
  %acc = phi float [ 0.0, %entry ], [ %acc1, %latch ]
  %here = call float @air.simd_sum.f32(float 1.0)
  %first = icmp eq i32 %n, 0
  %skip = and i1 %odd, %first
  br i1 %skip, label %latch, label %body
body:
  %c = call float @air.simd_sum.f32(float 100.0)
  br label %latch
latch:
  %d = phi float [ 0.0, %head ], [ %c, %body ]
  %e = fadd float %d, %here
  %acc1 = fadd float %acc, %e
  br i1 %first, label %head, label %exit
exit:
  %y = fadd float %acc1, 0.0
)" + kStore,
                        kSum);
  ASSERT_TRUE(kernel);
  auto out = run(*kernel, ramp(32), 32, 32);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 32.0f + 32.0f + 3200.0f + (i % 2 ? 0.0f : 1600.0f)) << i;
}

TEST(Reference, BarriersOrderThreadgroupMemory) {
  auto kernel = compile(std::string(kLoad) + R"(
  %l = zext i32 %lid to i64
  %mine = getelementptr [100 x float], ptr addrspace(3) @shared, i64 0, i64 %l
  store float %x, ptr addrspace(3) %mine
  call void @air.wg.barrier(i32 2, i32 1)
  %last = sub i32 %size, 1
  %other = sub i32 %last, %lid
  %o = zext i32 %other to i64
  %theirs = getelementptr [100 x float], ptr addrspace(3) @shared, i64 0, i64 %o
  %y = load float, ptr addrspace(3) %theirs
)" + kStore,
                        "@shared = internal addrspace(3) global [100 x float] undef\n"
                        "declare void @air.wg.barrier(i32, i32)\n");
  ASSERT_TRUE(kernel);
  auto out = run(*kernel, ramp(250), 250, 100);
  for (int i = 0; i < 250; ++i) {
    const int first = i / 100 * 100, size = std::min(100, 250 - first);
    EXPECT_EQ(out[i], static_cast<float>(first + size - 1 - (i - first))) << i;
  }
}

TEST(Reference, ThreadsAtDifferentBarriersAreAnError) {
  auto kernel = compile(std::string(kLoad) + R"(
  %odd = trunc i32 %lane to i1
  br i1 %odd, label %a, label %b
a:
  call void @air.wg.barrier(i32 2, i32 1)
  ret void
b:
  call void @air.wg.barrier(i32 1, i32 1)
  ret void
)",
                        "declare void @air.wg.barrier(i32, i32)\n");
  ASSERT_TRUE(kernel);
  std::vector<float> memory(64);
  std::vector<void*> buffers = {memory.data(), memory.data()};
  auto error = kernel->run({{32, 1, 1}, {32, 1, 1}}, buffers);
  EXPECT_EQ(llvm::toString(std::move(error)),
            "threads of one threadgroup wait at different barriers");
}

TEST(Reference, ShufflesAndPrefixes) {
  struct Case {
    const char* call;
    float (*expected)(int);
  };
  const Case cases[] = {
      {"@air.simd_shuffle_xor.f32(float %x, i16 5)", [](int i) { return float(i ^ 5); }},
      {"@air.simd_shuffle.f32(float %x, i16 7)", [](int) { return 7.0f; }},
      {"@air.simd_shuffle_rotate_down.f32(float %x, i16 3)",
       [](int i) { return float((i + 3) % 32); }},
      {"@air.simd_shuffle_and_fill_up.f32(float %x, float -5.0, i16 2, i16 8)",
       [](int i) { return i % 8 < 2 ? -5.0f : float(i - 2); }},
      {"@air.simd_prefix_exclusive_sum.f32(float %x)", [](int i) { return i * (i - 1) / 2.0f; }},
      {"@air.quad_max.f32(float %x)", [](int i) { return float(i | 3); }},
      {"@air.simd_broadcast_first.f32(float %x)", [](int) { return 0.0f; }},
  };
  for (const Case& c : cases) {
    std::string call = c.call;
    std::string declaration = "declare float " + call.substr(0, call.find('(')) + "(";
    const bool fills = call.find("fill") != call.npos, indexed = call.find("i16") != call.npos;
    declaration += fills ? "float, float, i16, i16)\n" : indexed ? "float, i16)\n" : "float)\n";
    auto kernel =
        compile(std::string(kLoad) + "%y = call float " + call + "\n" + kStore, declaration);
    ASSERT_TRUE(kernel) << call;
    auto out = run(*kernel, ramp(32), 32, 32);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], c.expected(i)) << call << " " << i;
  }
}

TEST(Reference, IntegersFollowTheSpecification) {
  struct Case {
    const char* name;
    const char* operands;
    int32_t in, expected;
  };
  const Case cases[] = {
      {"air.abs.s.i32", "i32 %x", -7, 7},
      {"air.clz.i32", "i32 %x, i1 false", 1, 31},
      {"air.ctz.i32", "i32 %x, i1 false", 0, 32},
      {"air.popcount.i32", "i32 %x", -1, 32},
      {"air.reverse_bits.i32", "i32 %x", 1, INT32_MIN},
      {"air.mul_hi.u.i32", "i32 %x, i32 %x", -1, -2},
      {"air.mul_hi.s.i32", "i32 %x, i32 %x", -1, 0},
      {"air.add_sat.s.i32", "i32 %x, i32 %x", INT32_MAX, INT32_MAX},
      {"air.sub_sat.u.i32", "i32 1, i32 %x", 2, 0},
      {"air.rotate.i32", "i32 %x, i32 4", 0x12345678, 0x23456781},
      {"air.extract_bits.s.i32", "i32 %x, i32 4, i32 4", 0x80, -8},
      {"air.insert_bits.u.i32", "i32 %x, i32 15, i32 8, i32 4", 0, 0xF00},
      {"air.max.u.i32", "i32 %x, i32 5", -1, -1},
      {"air.max.s.i32", "i32 %x, i32 5", -1, 5},
  };
  for (const Case& c : cases) {
    std::string types;
    for (const char* at = c.operands; *at; ++at) {
      if (at == c.operands || at[-1] == ' ') {
        if (std::string_view(at).starts_with("i32"))
          types += types.empty() ? "i32" : ", i32";
        else if (std::string_view(at).starts_with("i1 "))
          types += ", i1";
      }
    }
    auto kernel = compile(std::string(R"(
  %x = load i32, ptr addrspace(1) %in
  %y = call i32 @)") + c.name +
                              "(" + c.operands +
                              ")\n  store i32 %y, ptr addrspace(1) %out\n  ret void",
                          std::string("declare i32 @") + c.name + "(" + types + ")\n");
    ASSERT_TRUE(kernel) << c.name;
    EXPECT_EQ(run<int32_t>(*kernel, {c.in}, 1, 1)[0], c.expected) << c.name;
  }
}

TEST(Reference, ConversionsSaturateAtThirtyTwoBits) {
  auto kernel = compile(R"(
  %x = load float, ptr addrspace(1) %in
  %y = call i8 @air.convert.u.i8.f.f32(float %x)
  %z = zext i8 %y to i32
  %f = call float @air.convert.f.f32.s.i32(i32 %z)
  store float %f, ptr addrspace(1) %out
  ret void)",
                        "declare i8 @air.convert.u.i8.f.f32(float)\n"
                        "declare float @air.convert.f.f32.s.i32(i32)\n");
  ASSERT_TRUE(kernel);
  for (auto [in, expected] : {std::pair(300.7f, 44.0f),
                              {-3.0f, 253.0f},
                              {17.9f, 17.0f},
                              {1e20f, 255.0f},
                              {std::nanf(""), 0.0f}})
    EXPECT_EQ(run<float>(*kernel, {in}, 1, 1)[0], expected) << in;
}

TEST(Reference, MatrixProductOfASimdgroup) {
  auto kernel = compile(R"(
  %b = getelementptr float, ptr addrspace(1) %in, i64 64
  %ma = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %in, i64 8, <2 x i64> zeroinitializer, i1 false)
  %mb = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %b, i64 8, <2 x i64> zeroinitializer, i1 true)
  %mc = call <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float 1.0)
  %md = call <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float> %ma, <64 x float> %mb, <64 x float> %mc)
  call void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float> %md, ptr addrspace(1) %out, i64 8, <2 x i64> zeroinitializer, i1 false)
  ret void)",
                        R"(
declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1), i64, <2 x i64>, i1)
declare <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float)
declare <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float>, <64 x float>, <64 x float>)
declare void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float>, ptr addrspace(1), i64, <2 x i64>, i1)
)");
  ASSERT_TRUE(kernel);
  std::vector<float> in(128);
  for (int i = 0; i < 128; ++i)
    in[i] = static_cast<float>(i % 7 - 3);
  auto out = run(*kernel, in, 32, 32);
  for (int r = 0; r < 8; ++r) {
    for (int c = 0; c < 8; ++c) {
      float sum = 1;
      for (int k = 0; k < 8; ++k)
        sum += in[r * 8 + k] * in[64 + c * 8 + k];
      EXPECT_EQ(out[r * 8 + c], sum) << r << " " << c;
    }
  }
}

TEST(Reference, InLockstepAllLanesReadBeforeAnyWrites) {
  // Every thread adds one to the same element.
  const std::string body = R"(
  %x = load float, ptr addrspace(1) %out
  %y = fadd float %x, 1.0
  store float %y, ptr addrspace(1) %out
  ret void)";
  for (auto [schedule, expected] :
       {std::pair(Schedule::Independent, 31.0f), {Schedule::Lockstep, 0.0f}}) {
    auto kernel = compile(body, "", schedule);
    ASSERT_TRUE(kernel);
    EXPECT_EQ(run<float>(*kernel, {0.0f}, 32, 32)[0], expected); // from -1
  }
}

TEST(Reference, AnUnknownOperationIsNamed) {
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(
      std::string("declare float @air.blur.f32(float)\n") + kHead + kLoad +
          "%y = call float @air.blur.f32(float %x)" + kStore + kTail,
      diagnostic, *context);
  ASSERT_TRUE(module);
  auto kernel = Kernel::create(std::move(context), std::move(module), "k");
  ASSERT_FALSE(kernel);
  EXPECT_NE(llvm::toString(kernel.takeError()).find("air.blur.f32"), std::string::npos);
}

} // namespace
} // namespace bessemer::metal::cpu::reference

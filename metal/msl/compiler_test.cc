// Diagnostics, options, and what the compiler writes into AIR.
#include "metal/msl/compiler.h"

#include "metal/air/function_constants.h"
#include "metal/air/intrinsic.h"
#include "metal/air/signature.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bessemer::msl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

constexpr char kHeader[] = "#include <metal_stdlib>\nusing namespace metal;\n";

TEST(Compiler, ErrorsNameTheUsersOwnLine) {
  llvm::LLVMContext context;
  Options options;
  options.macros = {{"A", "1"}, {"B(x)", "(x)"}};
  Compilation compilation =
      compile("#include <metal_stdlib>\n\nkernel void k(device int* o [[buffer(0)]]) {\n"
              "  o[0] = unknown + A;\n}\n",
              options, context);
  EXPECT_FALSE(compilation.module);
  EXPECT_THAT(compilation.diagnostics,
              StartsWith("program_source:4:10: error: use of undeclared identifier 'unknown'"));
}

TEST(Compiler, WarningsDoNotFailAndAreApart) {
  llvm::LLVMContext context;
  Compilation compilation =
      compile("kernel void k(device int* o [[buffer(0)]]) {\n  o[0] = 1 / 0;\n}\n", {}, context);
  EXPECT_TRUE(compilation.module);
  EXPECT_THAT(compilation.diagnostics, HasSubstr("program_source:2:12: warning: "));
}

TEST(Compiler, CleanSourcesGiveNoDiagnostics) {
  llvm::LLVMContext context;
  Compilation compilation = compile(std::string(kHeader) + R"(
[[kernel]] void a(device float4* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i].xy = x[i].y > 1 ? x[i].zw : x[i + 1].xx;
}
template <typename T> kernel void b(device T* x) { x[0] = x[1] * T(2); }
template [[host_name("b_float")]] kernel void b<float>(device float*);
template [[host_name("b_half")]] [[kernel]] void b<half>(device half*);
)",
                                    {}, context);
  ASSERT_TRUE(compilation.module) << compilation.diagnostics;
  EXPECT_EQ(compilation.diagnostics, "");
  EXPECT_TRUE(compilation.module->getFunction("b_float"));
  EXPECT_TRUE(compilation.module->getFunction("b_half"));
}

TEST(Compiler, BadKernelsAreNamedInTheError) {
  struct Case {
    const char* source;
    const char* message;
  };
  for (const Case& c : {
           Case{"kernel int k() { return 1; }", "kernel 'k' must return void"},
           Case{"kernel void k(float x [[thread_position_in_grid]]) {}",
                "argument 'x': 'thread_position_in_grid' must be"},
           Case{"kernel void k(float x) {}", "argument 'x': type 'float' needs an attribute"},
           Case{"kernel void k(float* x [[buffer(0)]]) {}", "a pointer to thread memory"},
           Case{"kernel void k(device float* x [[buffer(31)]]) {}", "an index from 0 to 30"},
           Case{"#include <metal_stdlib>\nkernel void k(metal::texture2d<float> t [[texture(0)]]) "
                "{}",
                "textures and samplers are not supported"},
           Case{
               "constant int a [[function_constant(0)]];\nconstant int b [[function_constant(0)]];",
               "index 0 is used by another constant"},
           Case{"kernel void k(device float* x, constant uint& n) {\n  x[0] = y;\n}",
                "program_source:2:10: error"},
           Case{"#include <stdio.h>", "'stdio.h' file not found"},
           Case{"kernel void k(", "error: expected"},
           Case{"}", "error: extraneous closing brace"},
       }) {
    llvm::LLVMContext context;
    Compilation compilation = compile(c.source, {}, context);
    EXPECT_FALSE(compilation.module) << c.source;
    EXPECT_THAT(compilation.diagnostics, HasSubstr(c.message));
    EXPECT_THAT(compilation.diagnostics, HasSubstr("program_source:"));
  }
}

TEST(Compiler, MacrosAndLanguageVersionReachTheSource) {
  for (auto [version, number] : {std::pair{2u << 16 | 4, "240"}, std::pair{3u << 16, "300"},
                                 std::pair{3u << 16 | 1, "310"}, std::pair{3u << 16 | 2, "320"}}) {
    llvm::LLVMContext context;
    Options options;
    options.language_version = version;
    options.macros = {{"SIZE", "12"}, {"EMPTY", ""}};
    std::string source =
        std::string("static_assert(__METAL_VERSION__ == ") + number +
        " && SIZE == 12, \"\"); EMPTY\n#ifndef __METAL__\n#error\n#endif\n"
        "#if defined(__HAVE_BFLOAT__) != (__METAL_VERSION__ >= 310)\n#error bfloat\n#endif\n";
    Compilation compilation = compile(source, options, context);
    EXPECT_TRUE(compilation.module) << compilation.diagnostics;
  }
}

TEST(Compiler, MathModeChoosesFunctionsAndFlags) {
  const std::string source = std::string(kHeader) + R"(
kernel void k(device float* x [[buffer(0)]]) {
  x[0] = sin(x[1]); x[1] = fast::exp(x[2]); x[2] = precise::log(x[3]); x[4] = x[5] * x[6] + x[7];
})";
  struct Case {
    MathMode mode;
    const char* sine;
    const char* flags;
  };
  for (const Case& c : {Case{MathMode::Fast, "@air.fast_sin.f32", "reassoc nsz arcp contract afn"},
                        Case{MathMode::Relaxed, "@air.sin.f32", "reassoc nsz arcp contract afn"},
                        Case{MathMode::Safe, "@air.sin.f32", nullptr}}) {
    llvm::LLVMContext context;
    Options options;
    options.math_mode = c.mode;
    Compilation compilation = compile(source, options, context);
    ASSERT_TRUE(compilation.module) << compilation.diagnostics;
    std::string text = text_of(*compilation.module);
    EXPECT_THAT(text, HasSubstr(c.sine));
    EXPECT_THAT(text, HasSubstr("@air.fast_exp.f32"));
    EXPECT_THAT(text, HasSubstr("@air.log.f32"));
    EXPECT_THAT(text, Not(HasSubstr("maybe_fast")));
    EXPECT_THAT(text, Not(HasSubstr(" nnan ")));
    EXPECT_THAT(text, Not(HasSubstr(" ninf ")));
    if (c.flags)
      EXPECT_THAT(text, HasSubstr(c.flags));
    else
      EXPECT_THAT(text, Not(HasSubstr("reassoc")));
  }
}

TEST(Compiler, NaNIsHonouredInFastMath) {
  llvm::LLVMContext context;
  Compilation compilation = compile(std::string(kHeader) + R"(
kernel void k(device float* x [[buffer(0)]]) { x[0] = isnan(x[1]) ? 1.0 : isinf(x[1]) ? 2.0 : 3.0; })",
                                    {}, context);
  ASSERT_TRUE(compilation.module) << compilation.diagnostics;
  std::string text = text_of(*compilation.module);
  EXPECT_THAT(text, HasSubstr("fcmp"));
  EXPECT_THAT(text, HasSubstr(" uno float"));
}

TEST(Compiler, KernelArgumentsAreDescribedAndPassedAsAirHasThem) {
  llvm::LLVMContext context;
  Compilation compilation = compile(std::string(kHeader) + R"(
struct Params { uint n; float w[3]; float4 v; };
struct Set { device float* a [[id(0)]]; const device uint* b [[id(3)]]; constant float4* c; };
[[max_total_threads_per_threadgroup(128)]]
kernel void k(constant Set& set [[buffer(0)]], constant Params& p [[buffer(3)]],
              const device half* h, device atomic_uint* counter, threadgroup float* shared [[threadgroup(1)]],
              threadgroup float* other, uint3 gid [[thread_position_in_grid]],
              ushort2 lid [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  set.a[gid.x] = p.w[1] + float(h[lid.x]) + shared[lane] + set.c[0].x + float(set.b[1]);
})",
                                    {}, context);
  ASSERT_TRUE(compilation.module) << compilation.diagnostics;
  auto signature = air::read_signature(*compilation.module, "k");
  ASSERT_TRUE(static_cast<bool>(signature)) << llvm::toString(signature.takeError());
  EXPECT_EQ(signature->max_threads_per_threadgroup, 128u);
  const auto& arguments = signature->arguments;
  ASSERT_EQ(arguments.size(), 9u);
  EXPECT_EQ(arguments[0].kind, air::ArgumentKind::ArgumentBuffer);
  EXPECT_EQ(arguments[0].size, 24u);
  ASSERT_EQ(arguments[0].members.size(), 3u);
  EXPECT_EQ(arguments[0].members[1].argument_index, 3);
  EXPECT_EQ(arguments[0].members[1].access, air::Access::Read);
  EXPECT_EQ(arguments[0].members[1].address_space, 1u);
  EXPECT_EQ(arguments[0].members[2].argument_index, 4) << "the next after its neighbour's";
  EXPECT_EQ(arguments[0].members[2].address_space, 2u);
  EXPECT_EQ(arguments[1].kind, air::ArgumentKind::Buffer);
  EXPECT_EQ(arguments[1].index, 3u);
  EXPECT_EQ(arguments[1].size, 32u);
  EXPECT_EQ(arguments[1].alignment, 16u);
  ASSERT_EQ(arguments[1].members.size(), 3u);
  EXPECT_EQ(arguments[1].members[1].offset, 4u);
  EXPECT_EQ(arguments[1].members[1].array_length, 3u);
  EXPECT_EQ(arguments[1].members[2].type_name, "float4");
  EXPECT_EQ(arguments[2].index, 1u) << "the lowest free index";
  EXPECT_EQ(arguments[2].access, air::Access::Read);
  EXPECT_EQ(arguments[2].type_name, "half");
  EXPECT_EQ(arguments[3].index, 2u);
  EXPECT_FALSE(arguments[3].used);
  EXPECT_EQ(arguments[4].kind, air::ArgumentKind::Threadgroup);
  EXPECT_EQ(arguments[4].index, 1u);
  EXPECT_EQ(arguments[5].index, 0u);
  EXPECT_EQ(arguments[6].builtin, air::Builtin::ThreadPositionInGrid);
  llvm::FunctionType* type = signature->function->getFunctionType();
  EXPECT_EQ(type->getParamType(0), llvm::PointerType::get(context, 2));
  EXPECT_EQ(type->getParamType(2), llvm::PointerType::get(context, 1));
  EXPECT_EQ(type->getParamType(4), llvm::PointerType::get(context, 3));
  EXPECT_EQ(type->getParamType(6), llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), 3));
  EXPECT_EQ(type->getParamType(7), llvm::FixedVectorType::get(llvm::Type::getInt16Ty(context), 2));
  EXPECT_EQ(type->getParamType(8), llvm::Type::getInt32Ty(context));
}

// clang would hand the module to the machine code side of its own base target, where that is known.
TEST(Compiler, OtherTargetsInTheProcessDoNotMatter) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::LLVMContext context;
  Compilation compilation =
      compile("kernel void k(device int* o [[buffer(0)]]) { o[0] = 1; }", {}, context);
  ASSERT_TRUE(compilation.module) << compilation.diagnostics;
  EXPECT_EQ(compilation.diagnostics, "");
}

TEST(Compiler, IndicesMayBeConstantsAndTemplateArguments) {
  llvm::LLVMContext context;
  Compilation compilation = compile(R"(
constant constexpr int kFirst = 4;
enum { kSecond = 6 };
template <int N> kernel void k(device int* a [[buffer(kFirst)]], device int* b [[buffer(kSecond)]],
                               device int* c [[buffer(N)]], device int* d [[buffer(N + 1)]]) {
  a[0] = b[0] + c[0] + d[0];
}
template [[host_name("k")]] kernel void k<9>(device int*, device int*, device int*, device int*);
)",
                                    {}, context);
  ASSERT_TRUE(compilation.module) << compilation.diagnostics;
  auto signature = air::read_signature(*compilation.module, "k");
  ASSERT_TRUE(static_cast<bool>(signature)) << llvm::toString(signature.takeError());
  for (auto [position, index] : {std::pair{0, 4u}, {1, 6u}, {2, 9u}, {3, 10u}})
    EXPECT_EQ(signature->arguments[position].index, index);
}

TEST(Compiler, SimplifiedKernelsHaveNoMemoryOfTheirOwnNorCasts) {
  llvm::LLVMContext context;
  Compilation compilation = compile(std::string(kHeader) + R"(
struct P { float4 a; uint n; };
float4 helper(thread const float4& x, P p) { return x * p.a; }
kernel void k(device float4* d [[buffer(0)]], constant P& p [[buffer(1)]], uint3 gid [[thread_position_in_grid]]) {
  threadgroup float4 t[32];
  t[gid.x] = d[gid.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float acc[4] = {0, 0, 0, 0};
  for (int i = 0; i < 4; ++i) acc[i] += t[i].x;
  P q = p;
  float4 r = helper(t[gid.y], q);
  d[gid.x].yz = r.xy + float2(acc[0], acc[3]);
})",
                                    {}, context);
  ASSERT_TRUE(compilation.module) << compilation.diagnostics;
  for (llvm::Instruction& instruction : llvm::instructions(compilation.module->getFunction("k"))) {
    EXPECT_FALSE((llvm::isa<llvm::AllocaInst, llvm::AddrSpaceCastInst>(instruction)));
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      EXPECT_TRUE(call->getCalledFunction()->isDeclaration());
  }
}

TEST(Compiler, FunctionConstantsFollowAir) {
  llvm::LLVMContext context;
  Compilation compilation = compile(std::string(kHeader) + R"(
constant bool flag [[function_constant(3)]];
constant uint raw [[function_constant(7)]];
constant uint size = is_function_constant_defined(raw) ? raw : 5u;
constant bool both = flag && size > 5;
kernel void k(device uint* o [[buffer(0)]], device uint* x [[buffer(1), function_constant(flag)]],
              device uint* y [[buffer(2), function_constant(both)]]) {
  o[0] = size;
  if (flag) o[1] = x[0];
  if (both) o[2] = y[0];
})",
                                    {}, context);
  ASSERT_TRUE(compilation.module) << compilation.diagnostics;
  auto constants = air::read_function_constants(*compilation.module);
  ASSERT_TRUE(static_cast<bool>(constants));
  ASSERT_EQ(constants->size(), 2u);
  EXPECT_EQ((*constants)[0].name, "flag");
  EXPECT_EQ((*constants)[0].data_type, 53u);
  EXPECT_TRUE((*constants)[0].required);
  EXPECT_EQ((*constants)[1].index, 7u);
  EXPECT_FALSE((*constants)[1].required);
  const uint8_t yes[] = {1}, nine[] = {9, 0, 0, 0};
  air::ConstantValue values[] = {{3, 53, yes}, {7, 33, nine}};
  llvm::Error error = air::specialise(*compilation.module, values);
  ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
  EXPECT_THAT(text_of(*compilation.module), HasSubstr("store i32 9"));
  auto signature = air::read_signature(*compilation.module, "k");
  ASSERT_TRUE(static_cast<bool>(signature)) << llvm::toString(signature.takeError());
  EXPECT_TRUE(signature->arguments[1].present);
  EXPECT_TRUE(signature->arguments[2].present);
}

TEST(Compiler, AbsentFunctionConstantsRemoveArguments) {
  llvm::LLVMContext context;
  Compilation compilation = compile(std::string(kHeader) + R"(
constant bool flag [[function_constant(3)]];
constant bool has_flag = is_function_constant_defined(flag) && flag;
kernel void k(device uint* o [[buffer(0)]], device uint* x [[buffer(1), function_constant(has_flag)]]) {
  o[0] = has_flag ? x[0] : 1;
})",
                                    {}, context);
  ASSERT_TRUE(compilation.module) << compilation.diagnostics;
  llvm::Error error = air::specialise(*compilation.module, {});
  ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
  auto signature = air::read_signature(*compilation.module, "k");
  ASSERT_TRUE(static_cast<bool>(signature)) << llvm::toString(signature.takeError());
  EXPECT_FALSE(signature->arguments[1].present);
}

// Every function that the headers declare has a name that back ends can take apart.
TEST(Compiler, CalledFunctionsHaveNamesThatAirKnows) {
  llvm::LLVMContext context;
  Compilation compilation = compile(std::string(kHeader) + R"(
kernel void k(device float4* f [[buffer(0)]], device uint* u [[buffer(1)]], device half* h [[buffer(2)]],
              device atomic_uint* a [[buffer(3)]], device bfloat* b [[buffer(4)]],
              device atomic_float* af [[buffer(5)]], threadgroup atomic_int* ta [[threadgroup(0)]]) {
  f[0] = sin(f[1]) + pow(f[2], f[3]) + fma(f[0], f[1], f[2]) + fmod(f[1], f[2]) + precise::exp(f[4]);
  f[1].x = simd_sum(f[1].x) + simd_shuffle_and_fill_up(f[2].x, f[3].x, 1) + quad_sum(f[1].y);
  f[2] = simd_shuffle_xor(f[2], 3) + simd_prefix_inclusive_sum(f[3]);
  u[0] = simd_or(u[1]) + simd_broadcast_first(u[2]) + uint(ulong(simd_ballot(u[3] > 1)));
  u[1] = simd_all(u[1] > 2) || quad_any(u[2] < 3) || simd_is_first();
  h[0] = simd_max(h[1]) + simd_shuffle_rotate_up(h[2], 4) + sqrt(h[3]);
  b[0] = simd_min(b[1]) + exp(b[2]);
  atomic_fetch_add_explicit(a, 1u, memory_order_relaxed);
  uint expected = 3;
  u[2] = atomic_compare_exchange_weak_explicit(a, &expected, 4u, memory_order_relaxed, memory_order_relaxed);
  u[3] = atomic_load_explicit(a + 1, memory_order_relaxed) + expected;
  atomic_fetch_add_explicit(af, 1.0f, memory_order_relaxed);
  atomic_fetch_max_explicit(ta, 3, memory_order_relaxed);
  simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8>(1.0f);
  simdgroup_float8x8 n(2.0f);
  simdgroup_half8x8 p;
  simdgroup_load(p, h, 8);
  simdgroup_multiply_accumulate(m, p, p, n);
  simdgroup_store(m, (device float*)f, 8);
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  simdgroup_barrier(mem_flags::mem_none);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
})",
                                    {}, context);
  ASSERT_TRUE(compilation.module) << compilation.diagnostics;
  unsigned count = 0;
  for (const llvm::Function& function : *compilation.module)
    if (function.getName().starts_with("air.")) {
      ++count;
      EXPECT_TRUE(air::parse_intrinsic(function.getName())) << function.getName().str();
    }
  EXPECT_GE(count, 30u);
  EXPECT_TRUE(compilation.module->getFunction(
      "air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f16.v64f16.v64f32"));
  EXPECT_TRUE(compilation.module->getFunction("air.atomic.global.cmpxchg.weak.i32"));
  llvm::Function* load =
      compilation.module->getFunction("air.simdgroup_matrix_8x8_load.v64f16.p1f16");
  ASSERT_TRUE(load);
  EXPECT_EQ(load->getFunctionType()->getNumParams(), 4u)
      << "AIR 2.6: pointer, stride, origin, transpose";
  EXPECT_TRUE(load->getReturnType()->isVectorTy());
}

} // namespace
} // namespace bessemer::msl

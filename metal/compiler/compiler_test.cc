// The C interface from end to end: what libMetal calls.
#include "metal/compiler/compiler.h"

#include "kernel_generated.h"
#include "library_generated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace bessemer {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const bessemer_compiler_t& compiler() { return *bessemer_compiler_get(BESSEMER_COMPILER_ABI); }

struct Outcome {
  int code = -1;
  std::string bytes;
  std::string diagnostics;
};

std::string take(bessemer_bytes_t& bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data), bytes.size);
  compiler().release(&bytes);
  EXPECT_EQ(bytes.data, nullptr);
  return text;
}

Outcome compile_source(const std::string& source,
                       bessemer_source_options_t options = {.math_mode = BESSEMER_MATH_FAST}) {
  bessemer_bytes_t out, diagnostics;
  Outcome outcome;
  outcome.code =
      compiler().compile_source(source.data(), source.size(), &options, &out, &diagnostics);
  outcome.bytes = take(out);
  outcome.diagnostics = take(diagnostics);
  return outcome;
}

const metal::Library* library_of(const Outcome& outcome) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(outcome.bytes.data()),
                                 outcome.bytes.size());
  if (!metal::VerifyLibraryBuffer(verifier))
    return nullptr;
  return metal::GetLibrary(outcome.bytes.data());
}

// The same library whenever the same source was compiled: all but how long that took.
std::string without_times(const Outcome& outcome) {
  const metal::Library* library = library_of(outcome);
  if (!library)
    return {};
  metal::LibraryT copy;
  library->UnPackTo(&copy);
  EXPECT_FALSE(copy.stages.empty());
  copy.stages.clear();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(metal::Library::Pack(builder, &copy), metal::LibraryIdentifier());
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

Outcome compile_kernel(const metal::Library& library, const char* function,
                       bessemer_output_t output = BESSEMER_OUTPUT_KERNEL,
                       std::vector<bessemer_constant_t> constants = {}) {
  const metal::Function* entry = library.functions()->LookupByKey(function);
  const auto* bitcode = library.modules()->Get(entry ? entry->module_() : 0)->bitcode();
  bessemer_kernel_request_t request{};
  request.bitcode = bitcode->data();
  request.bitcode_size = bitcode->size();
  request.function = function;
  request.constant_count = static_cast<uint32_t>(constants.size());
  request.constants = constants.data();
  request.threads[0] = 32;
  request.threads[1] = request.threads[2] = 1;
  request.output = output;
  bessemer_bytes_t out, diagnostics;
  Outcome outcome;
  outcome.code = compiler().compile_kernel(&request, &out, &diagnostics);
  outcome.bytes = take(out);
  outcome.diagnostics = take(diagnostics);
  return outcome;
}

constexpr char kScale[] = R"(
#include <metal_stdlib>
using namespace metal;
constant uint factor [[function_constant(4)]];
kernel void scale(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= factor; }
kernel void half_it(device float* x [[buffer(1)]], uint i [[thread_position_in_grid]]) { x[i] *= 0.5; }
)";

TEST(CompilerInterface, OtherVersionsAreRefused) {
  EXPECT_EQ(bessemer_compiler_get(BESSEMER_COMPILER_ABI + 1), nullptr);
  ASSERT_NE(bessemer_compiler_get(BESSEMER_COMPILER_ABI), nullptr);
  EXPECT_THAT(compiler().build_id, HasSubstr("-llvm22"));
  EXPECT_GT(std::strlen(compiler().build_id), 20u) << "the linker's id must be in it";
}

TEST(CompilerInterface, SourceToKernelAndBackToSource) {
  Outcome source = compile_source(kScale);
  ASSERT_EQ(source.code, 0) << source.diagnostics;
  const metal::Library* library = library_of(source);
  ASSERT_TRUE(library);
  ASSERT_EQ(library->functions()->size(), 2u);
  const metal::Function* scale = library->functions()->LookupByKey("scale");
  ASSERT_TRUE(scale);
  ASSERT_EQ(scale->constants()->size(), 1u);
  EXPECT_EQ(scale->constants()->Get(0)->name()->str(), "factor");
  EXPECT_EQ(scale->constants()->Get(0)->index(), 4u);
  EXPECT_EQ(scale->constants()->Get(0)->type(), 33u);
  const metal::Function* half_it = library->functions()->LookupByKey("half_it");
  ASSERT_TRUE(half_it);
  EXPECT_TRUE(!half_it->constants() || half_it->constants()->size() == 0);
  EXPECT_EQ(half_it->arguments()->Get(0)->index(), 1u);

  Outcome kernel = compile_kernel(*library, "half_it");
  ASSERT_EQ(kernel.code, 0) << kernel.diagnostics;
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(kernel.bytes.data()),
                                 kernel.bytes.size());
  ASSERT_TRUE(metal::VerifyKernelBuffer(verifier));
  const metal::Kernel* table = metal::GetKernel(kernel.bytes.data());
  EXPECT_EQ(table->threads_x(), 32u);
  EXPECT_EQ(table->used_buffers(), 2u);
  EXPECT_TRUE(table->flush_denormals());
  ASSERT_GT(table->object()->size(), 4u);
  EXPECT_EQ(std::memcmp(table->object()->data(),
                        "\x7f"
                        "ELF",
                        4),
            0);

  // Making machine code must not change what the front end does afterwards.
  Outcome again = compile_source(kScale);
  EXPECT_EQ(again.code, 0) << again.diagnostics;
  EXPECT_EQ(without_times(again), without_times(source));
}

TEST(CompilerInterface, SafeMathematicsKeepsDenormals) {
  Outcome source = compile_source(kScale, {.math_mode = BESSEMER_MATH_SAFE});
  ASSERT_EQ(source.code, 0) << source.diagnostics;
  Outcome kernel = compile_kernel(*library_of(source), "half_it");
  ASSERT_EQ(kernel.code, 0) << kernel.diagnostics;
  EXPECT_FALSE(metal::GetKernel(kernel.bytes.data())->flush_denormals());
}

TEST(CompilerInterface, ConstantsAreSetOrAskedFor) {
  Outcome source = compile_source(kScale);
  ASSERT_EQ(source.code, 0) << source.diagnostics;
  const metal::Library* library = library_of(source);
  uint32_t seven = 7;
  Outcome air = compile_kernel(*library, "scale", BESSEMER_OUTPUT_AIR, {{4, 33, &seven}});
  ASSERT_EQ(air.code, 0) << air.diagnostics;
  EXPECT_THAT(air.bytes, HasSubstr("7.000000e+00"));
  Outcome missing = compile_kernel(*library, "scale");
  EXPECT_NE(missing.code, 0);
  EXPECT_EQ(missing.bytes, "");
  EXPECT_EQ(missing.diagnostics, "function constant 'factor' (index 4) has no value");
  Outcome wrong = compile_kernel(*library, "scale", BESSEMER_OUTPUT_KERNEL, {{4, 3, &seven}});
  EXPECT_NE(wrong.code, 0);
  EXPECT_THAT(wrong.diagnostics, HasSubstr("'factor' (index 4) is uint"));
  Outcome unknown = compile_kernel(*library, "absent");
  EXPECT_NE(unknown.code, 0);
  EXPECT_EQ(unknown.diagnostics, "no function 'absent' in this AIR module");
}

TEST(CompilerInterface, ErrorsComeInClangsForm) {
  Outcome outcome = compile_source("kernel void k(device int* x) {\n  x[0] = y;\n}\n");
  EXPECT_NE(outcome.code, 0);
  EXPECT_EQ(outcome.bytes, "");
  EXPECT_THAT(outcome.diagnostics, StartsWith("program_source:2:10: error: "));
}

TEST(CompilerInterface, LibrariesTravelAsMetallib) {
  Outcome source = compile_source(kScale);
  ASSERT_EQ(source.code, 0) << source.diagnostics;
  bessemer_bytes_t out, diagnostics;
  ASSERT_EQ(compiler().write_metallib(reinterpret_cast<const uint8_t*>(source.bytes.data()),
                                      source.bytes.size(), &out, &diagnostics),
            0)
      << take(diagnostics);
  std::string file = take(out);
  EXPECT_THAT(file, StartsWith("MTLB"));
  Outcome loaded;
  loaded.code = compiler().load_metallib(reinterpret_cast<const uint8_t*>(file.data()), file.size(),
                                         &out, &diagnostics);
  loaded.bytes = take(out);
  loaded.diagnostics = take(diagnostics);
  ASSERT_EQ(loaded.code, 0) << loaded.diagnostics;
  const metal::Library* library = library_of(loaded);
  ASSERT_TRUE(library);
  ASSERT_EQ(library->functions()->size(), 2u);
  EXPECT_EQ(library->modules()->size(), 2u) << "one for each function, as the container has them";
  const metal::Function* scale = library->functions()->LookupByKey("scale");
  ASSERT_TRUE(scale);
  EXPECT_EQ(scale->constants()->Get(0)->name()->str(), "factor");
  EXPECT_EQ(scale->arguments()->Get(0)->name()->str(), "x");
  uint32_t three = 3;
  EXPECT_EQ(compile_kernel(*library, "scale", BESSEMER_OUTPUT_KERNEL, {{4, 33, &three}}).code, 0);

  file.resize(file.size() / 2);
  EXPECT_NE(compiler().load_metallib(reinterpret_cast<const uint8_t*>(file.data()), file.size(),
                                     &out, &diagnostics),
            0);
  EXPECT_THAT(take(diagnostics), StartsWith("metallib: truncated"));
  take(out);
}

TEST(CompilerInterface, ThreadsCompileAtOnce) {
  std::vector<Outcome> outcomes(4);
  std::vector<std::thread> threads;
  for (Outcome& outcome : outcomes)
    threads.emplace_back([&outcome] {
      outcome = compile_source(kScale);
      if (outcome.code == 0)
        outcome.code = compile_kernel(*library_of(outcome), "half_it").code;
    });
  for (std::thread& thread : threads)
    thread.join();
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, 0) << outcome.diagnostics;
    EXPECT_EQ(without_times(outcome), without_times(outcomes[0]));
  }
}

} // namespace
} // namespace bessemer

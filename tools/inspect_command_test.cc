#include <unistd.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/testing/process.h"

namespace bessemer::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kModule = "{corpus}/simple_mul/model.metal.vmfb";
constexpr const char* kKernel = "main_dispatch_0_elementwise_4_f32";

TEST(InspectTest, ModuleReportShowsInterfaceAndExecutables) {
  ProcessResult result = runBessemer({"inspect", kModule});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  // As the model's MLIR and iree-dump-module tell.
  EXPECT_THAT(result.out, HasSubstr("module jit_simple_mul, version 0"));
  EXPECT_THAT(result.out, HasSubstr("needs hal of version 7 or newer"));
  EXPECT_THAT(result.out, HasSubstr("main(ref, ref) -> (ref)"));
  EXPECT_THAT(result.out,
              HasSubstr("sync func @main(%input0: tensor<4xf32>, %input1: tensor<4xf32>) -> "
                        "(%output0: tensor<4xf32>)"));
  EXPECT_THAT(result.out, HasSubstr("hal.buffer_view.assert(ref, ref, i32, i32, i64...)"));
  EXPECT_THAT(result.out,
              HasSubstr(std::string(kKernel) + ": threadgroup 32x1x1, 3 bindings, 0 constants"));
}

TEST(InspectTest, JsonHasTheSameFacts) {
  ProcessResult result = runBessemer({"inspect", "--json", kModule});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  auto root = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(root.is_discarded()) << result.out;
  EXPECT_EQ(root["module"], "jit_simple_mul");
  EXPECT_EQ(root["dependencies"][0]["minimum_version"], 7);
  EXPECT_EQ(root["exports"][0]["calling_convention"], "0rr_r");
  EXPECT_EQ(root["imports"].size(), 18u);
  const auto& executable = root["executables"][0];
  EXPECT_EQ(executable["format"], "metal-msl-fb");
  EXPECT_EQ(executable["libraries"][0]["language_version"], "3.0");
  EXPECT_EQ(executable["functions"][0]["threadgroup_size"], (std::vector<int>{32, 1, 1}));
  EXPECT_EQ(executable["functions"][0]["bindings"], 3);
}

TEST(InspectTest, MslTextIsTheKernels) {
  ProcessResult result = runBessemer({"inspect", "--msl", kModule});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("// executable #4: " + std::string(kKernel)));
  EXPECT_THAT(result.out, HasSubstr("kernel void " + std::string(kKernel)));
}

TEST(InspectTest, OutputsOfDumpModule) {
  ProcessResult metadata = runBessemer({"inspect", "--output=metadata", kModule});
  ProcessResult all = runBessemer({"inspect", "--output=all", kModule});
  ProcessResult one = runBessemer({"inspect", "--function=main", kModule});
  EXPECT_EQ(metadata.out, runBessemer({"inspect", kModule}).out);
  EXPECT_EQ(all.out, runBessemer({"inspect", "--disassemble", kModule}).out + metadata.out);
  EXPECT_THAT(one.out, AllOf(HasSubstr("(main) 0rr_r"), ::testing::Not(HasSubstr("__init"))));
  ProcessResult none = runBessemer({"inspect", "--function=nothing", kModule});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("there is no function nothing"));
}

TEST(InspectTest, DisassemblyNamesImports) {
  ProcessResult result = runBessemer({"inspect", "--disassemble", kModule});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("(main) 0rr_r"), HasSubstr("call @hal.executable.lookup.function")));
}

TEST(InspectTest, StagesOfAKernel) {
  ProcessResult times = runBessemer({"inspect", "--time", kModule});
  ASSERT_EQ(times.exit_code, 0) << times.err;
  EXPECT_THAT(times.out, AllOf(HasSubstr("vectorize"), HasSubstr("emit"), HasSubstr("1 kernel")));
  ProcessResult air = runBessemer({"inspect", "--air", "--kernel", kKernel, kModule});
  ASSERT_EQ(air.exit_code, 0) << air.err;
  EXPECT_THAT(air.out, HasSubstr("!air.kernel"));
  ProcessResult vector = runBessemer({"inspect", "--vector-ir", kModule});
  ASSERT_EQ(vector.exit_code, 0) << vector.err;
  EXPECT_THAT(vector.out, HasSubstr("fmul"));
  ProcessResult assembly = runBessemer({"inspect", "--asm", kModule});
  ASSERT_EQ(assembly.exit_code, 0) << assembly.err;
  EXPECT_THAT(assembly.out, HasSubstr(".text"));
}

TEST(InspectTest, MslFileShowsArguments) {
  std::string path = ::testing::TempDir() + "/" + std::to_string(getpid()) + "-inspect.metal";
  std::ofstream(path) << "#include <metal_stdlib>\nusing namespace metal;\n"
                         "constant int scale [[function_constant(7)]];\n"
                         "kernel void twice(device float* out [[buffer(2)]],\n"
                         "                  constant uint& count [[buffer(5)]],\n"
                         "                  uint i [[thread_position_in_grid]]) {\n"
                         "  if (i < count) out[i] *= scale;\n}\n";
  ProcessResult result = runBessemer({"inspect", path});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("kernel twice"));
  EXPECT_THAT(result.out, HasSubstr("buffer(2) float out, 4 bytes, read-write"));
  EXPECT_THAT(result.out, HasSubstr("buffer(5) uint count, 4 bytes, read"));
  EXPECT_THAT(result.out, HasSubstr("constant(7) int scale"));
}

TEST(InspectTest, ErrorsNameTheFileAndWhatIsWrong) {
  std::string bad = ::testing::TempDir() + "/" + std::to_string(getpid()) + "-bad.metal";
  std::ofstream(bad) << "kernel void f(device float* a [[buffer(0)]]) {\n  a[0] = b;\n}\n";
  ProcessResult result = runBessemer({"inspect", bad});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr(":2:10: error: use of undeclared identifier 'b'"));

  result = runBessemer({"inspect", "/nonexistent.vmfb"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lineCount(result.err), 1u) << result.err;
  EXPECT_THAT(result.err, HasSubstr("cannot read /nonexistent.vmfb: No such file"));

  result = runBessemer({"inspect", "--time", "--kernel=other", kModule});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("there is no kernel other; the file has: " + std::string(kKernel)));

  result = runBessemer({"inspect", "--kernel=other", kModule});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("--kernel goes with"));
}

} // namespace
} // namespace bessemer::tools

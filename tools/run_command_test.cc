#include <unistd.h>

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/testing/process.h"

namespace bessemer::tools {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// result = input0 * input1, four floats.
const std::string kModule = corpus() + "/simple_mul/model.metal.vmfb";
// State: step(x) -> average, steps_done() -> count, reset().
const std::string kStateful = corpus() + "/stateful_ema/model.metal.vmfb";

std::vector<std::string> runArguments(std::vector<std::string> more,
                                      const std::string& module = kModule) {
  more.insert(more.begin(), {"run", "--module=" + module});
  return more;
}

const std::vector<std::string> kInputs = {"--input=4xf32=1,2,3,4", "--input=4xf32=2"};

std::vector<std::string> withInputs(std::vector<std::string> more) {
  more.insert(more.begin(), kInputs.begin(), kInputs.end());
  return runArguments(more);
}

std::string scratch(const std::string& name) {
  return ::testing::TempDir() + "/" + std::to_string(getpid()) + "-" + name;
}

std::string readFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string writeFile(const std::string& name, const std::string& bytes) {
  std::string path = scratch(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// A failed run: exit code 1, nothing but one line on stderr (and the program's stack, where it
// ran).
void expectOneClearLine(const ProcessResult& result, const std::string& text) {
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.err, AllOf(StartsWith("bessemer: "), HasSubstr(text)));
  std::string first = result.err.substr(0, result.err.find('\n'));
  for (size_t at = first.size() + 1; at < result.err.size(); at = result.err.find('\n', at) + 1)
    EXPECT_THAT(result.err.substr(at), StartsWith("  [ ")) << result.err;
}

TEST(RunTest, PrintsResultsAsIreeRunModule) {
  ProcessResult result = runBessemer(withInputs({"--function=main"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "EXEC @main\nresult[0]: hal.buffer_view\n4xf32=2 4 6 8\n");
  EXPECT_EQ(result.err, "");
}

TEST(RunTest, ExpectedOutputs) {
  ProcessResult right = runBessemer(withInputs({"--expected_output=4xf32=2,4,6,8"}));
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.out,
              HasSubstr("[SUCCESS] all function outputs matched their expected values."));
  ProcessResult wrong = runBessemer(withInputs({"--expected_output=4xf32=2,4,7,8"}));
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out,
              HasSubstr("[FAILED] result[0]: element at index 2 (6) does not match the expected "
                        "(7)"));
}

TEST(RunTest, WritesArraysAndReadsThemBack) {
  const std::string path = scratch("out.npy");
  ProcessResult result = runBessemer(withInputs({"--output=@" + path}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  result = runBessemer(
      runArguments({"--input=@" + path, "--input=@" + path, "--expected_output=4xf32=4,16,36,64"}));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(RunTest, SeveralCallsShareTheProgramsState) {
  ProcessResult result = runBessemer(runArguments(
      {"--function=step", "--input=10xf32=1", "--function=step", "--input=10xf32=4",
       "--function=steps_done", "--expected_output=2", "--function=reset", "--function=steps_done"},
      kStateful));
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("EXEC @steps_done\n[SUCCESS]"));
  EXPECT_THAT(result.out, HasSubstr("EXEC @reset\nEXEC @steps_done\nresult[0]: i32=0\n"));
}

TEST(RunTest, JsonResults) {
  ProcessResult result = runBessemer(withInputs({"--json", "--output_max_element_count=3"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  json root = json::parse(result.out, nullptr, false);
  ASSERT_FALSE(root.is_discarded()) << result.out;
  EXPECT_EQ(root["calls"][0]["function"], "main");
  const json& tensor = root["calls"][0]["results"][0];
  EXPECT_EQ(tensor["type"], "f32");
  EXPECT_EQ(tensor["shape"], json({4}));
  EXPECT_EQ(tensor["data"], json({2.0, 4.0, 6.0}));
  EXPECT_EQ(tensor["truncated"], true);
}

TEST(RunTest, ParametersByScope) {
  const std::string folder = corpus() + "/params_irpa";
  json description = json::parse(readFile(folder + "/case.json"), nullptr, false);
  ASSERT_FALSE(description.is_discarded());
  std::vector<std::string> flags;
  for (const json& input : description["inputs"])
    flags.push_back("--input=@" + folder + "/" + input["file"].get<std::string>());
  for (const json& output : description["outputs"])
    flags.push_back("--expected_output=@" + folder + "/" + output["file"].get<std::string>());
  ProcessResult without = runBessemer(runArguments(flags, folder + "/model.metal.vmfb"));
  expectOneClearLine(without, "NOT_FOUND");
  flags.push_back("--parameters=model=" + folder + "/model.irpa");
  ProcessResult result = runBessemer(runArguments(flags, folder + "/model.metal.vmfb"));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("[SUCCESS]"));
}

TEST(RunTest, TracedOperationsGoToStderr) {
  ProcessResult result = runBessemer(withInputs({"--trace_execution"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("[jit_simple_mul.main+"));
  EXPECT_THAT(result.err, HasSubstr("call @hal.buffer_view.buffer, %R0"));
  EXPECT_THAT(result.out, Not(HasSubstr("[jit_simple_mul")));
}

TEST(RunTest, StatisticsGoToStderr) {
  ProcessResult result = runBessemer(withInputs({"--print_statistics"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("@main: "), HasSubstr("DEVICE_LOCAL:")));
}

TEST(RunTest, ModuleFromStandardInput) {
  std::vector<std::string> arguments = kInputs;
  arguments.insert(arguments.begin(), {"run", "--module=-"});
  ProcessResult result = runBessemer(arguments, readFile(kModule));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("4xf32=2 4 6 8"));
}

TEST(RunTest, FlagFiles) {
  const std::string inner = writeFile("inner.flags", "--input=4xf32=2\n");
  const std::string outer =
      writeFile("outer.flags", "# inputs\n\n  --input=4xf32=1,2,3,4 \n--flagfile=" + inner + "\n");
  ProcessResult result = runBessemer(runArguments({"--flagfile=" + outer}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("4xf32=2 4 6 8"));
  const std::string loop = scratch("loop.flags");
  writeFile("loop.flags", "--flagfile=" + loop + "\n");
  expectOneClearLine(runBessemer({"run", "--flagfile=" + loop}), "too deeply");
  expectOneClearLine(runBessemer({"run", "--flagfile=/nonexistent"}), "cannot open the file");
}

TEST(RunTest, DevicesAndDrivers) {
  EXPECT_THAT(runBessemer({"run", "--list_drivers"}).out, HasSubstr("metal: Metal"));
  EXPECT_THAT(runBessemer({"run", "--list_devices"}).out, StartsWith("metal://"));
  EXPECT_THAT(runBessemer({"run", "--list_devices=metal"}).out, StartsWith("metal://"));
  EXPECT_THAT(runBessemer({"run", "--dump_devices=metal"}).out, HasSubstr("registry id"));
  EXPECT_THAT(runBessemer({"devices"}).out, StartsWith("metal://"));
  expectOneClearLine(runBessemer({"run", "--list_devices=cuda"}), "no driver 'cuda'");
}

struct BadInput {
  const char* name;
  std::vector<std::string> arguments;
  const char* text;
};

class BadInputTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, GivesOneClearLine) {
  expectOneClearLine(runBessemer(GetParam().arguments), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Run, BadInputTest,
    ::testing::ValuesIn(std::vector<BadInput>{
        {"NoModule", {"run"}, "no module; give --module="},
        {"MissingFile", {"run", "--module=/nonexistent.vmfb"}, "/nonexistent.vmfb: No such file"},
        {"Directory", {"run", "--module=/tmp"}, "/tmp"},
        {"NotAModule", {"run", "--module=/bin/sh"}, "/bin/sh: not a compiled module"},
        {"UnknownDevice", withInputs({"--device=vulkan"}), "driver 'vulkan' (there are: metal"},
        {"UnknownDevicePath", withInputs({"--device=metal://77"}), "--device=metal://77"},
        {"MissingFunction", runArguments({"--function=other"}),
         "there is no function other; the program has: main"},
        {"SeveralFunctions", runArguments({}, kStateful),
         "the program has several functions, name one: reset, step, steps_done"},
        {"TooFewInputs", runArguments({"--input=4xf32=1"}),
         "the function takes 2 inputs, and 1 were given"},
        {"TooManyInputs", withInputs({"--input=4xf32=1"}), "too many inputs"},
        {"WrongShape", runArguments({"--input=5xf32=1", "--input=4xf32=2"}), "input0"},
        {"WrongType", runArguments({"--input=4xf32=1", "--input=4xi32=2"}), "input1"},
        {"TooFewElements", runArguments({"--input=4xf32=1,2", "--input=4xf32=2"}),
         "--input=4xf32=1,2"},
        {"NotANumber", runArguments({"--input=4xf32=1,2,x,4", "--input=4xf32=2"}),
         "--input=4xf32=1,2,x,4"},
        {"UnknownType", runArguments({"--input=4xq32=1", "--input=4xf32=2"}), "--input=4xq32=1"},
        {"HugeShape", runArguments({"--input=4000000000x4000000000x4000000000xf32"}),
         "--input=4000000000x"},
        {"MissingArray", runArguments({"--input=@/nonexistent.npy"}),
         "cannot open '/nonexistent.npy'"},
        {"NotAnArray", runArguments({"--input=@/bin/sh"}), "/bin/sh"},
        {"UnwritableOutput", withInputs({"--output=@/nonexistent/y.npy"}),
         "cannot write '/nonexistent/y.npy'"},
        {"UnreadableExpectation", withInputs({"--expected_output=4xf32=1,2"}),
         "--expected_output=4xf32=1,2"},
        {"UnwritableTrace", withInputs({"--trace=/nonexistent/t.json"}),
         "cannot write '/nonexistent/t.json'"},
        {"MissingParameters", withInputs({"--parameters=weights=/nonexistent.irpa"}),
         "/nonexistent.irpa"},
    }),
    [](const auto& info) { return info.param.name; });

TEST(RunTest, FilesMayBeReadAtOnce) {
  for (const char* mode : {"mmap", "preload"})
    EXPECT_THAT(runBessemer(withInputs({std::string("--module_mode=") + mode})).out,
                HasSubstr("4xf32=2 4 6 8"));
  const std::string folder = corpus() + "/params_irpa";
  for (const char* mode : {"file", "preload"}) {
    ProcessResult result = runBessemer(runArguments(
        {std::string("--parameter_mode=") + mode, "--parameters=model=" + folder + "/model.irpa",
         "--input=@" + folder + "/inputs/input_00.npy",
         "--expected_output=@" + folder + "/expected/output_00.npy"},
        folder + "/model.metal.vmfb"));
    EXPECT_THAT(result.out, HasSubstr("[SUCCESS]")) << result.err;
  }
  EXPECT_EQ(runBessemer(withInputs({"--module_mode=never"})).exit_code, 1);
}

// Scripts written for IREE's tools are told what there is in place of what they ask for.
TEST(RunTest, FlagsOfOtherDriversSayWhatToDo) {
  expectOneClearLine(runBessemer(withInputs({"--cuda_use_streams=true"})),
                     "--cuda_use_streams is not taken: there is no CUDA driver here");
  expectOneClearLine(runBessemer(withInputs({"--device_profiling_mode=queue-events"})),
                     "use `run --trace=FILE`");
}

TEST(RunTest, UnknownFlagsAndCommands) {
  ProcessResult result = runBessemer({"run", "--frobnicate"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("--frobnicate"));
  expectOneClearLine(result, "`bessemer run --help` tells more");
  expectOneClearLine(runBessemer({"frobnicate"}), "there is no command 'frobnicate'");
  expectOneClearLine(runBessemer({}), "`bessemer --help` tells more");
  expectOneClearLine(runBessemer({"run", "--flagfile"}), "--flagfile wants a file after it");
  expectOneClearLine(runBessemer({"inspect"}), "file is required");
  result = runBessemer({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("inspect"));
}

TEST(RunTest, MslErrorTellsTheLine) {
  std::string bytes = readFile(kModule);
  const size_t at = bytes.find("kernel void");
  ASSERT_NE(at, bytes.npos);
  bytes.replace(at, 11, "kernel v0id");
  const std::string path = writeFile("broken-msl.vmfb", bytes);
  std::vector<std::string> arguments = kInputs;
  arguments.insert(arguments.begin(), {"run", "--module=" + path});
  ProcessResult result = runBessemer(arguments);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("error: unknown type name 'v0id'"));
}

// Whatever is cut off or flipped, the end is an error or a result, never a crash.
TEST(RunTest, DamagedModulesNeverCrash) {
  const std::string bytes = readFile(kModule);
  std::vector<std::string> arguments = kInputs;
  arguments.insert(arguments.begin(), {"run", "--module=-"});
  // The archive's directory, at the end, is not needed.
  const size_t needed = bytes.find("PK\x01\x02");
  ASSERT_NE(needed, bytes.npos);
  for (size_t size = 0; size < needed - 300; size += needed / 13) {
    ProcessResult result = runBessemer(arguments, bytes.substr(0, size));
    expectOneClearLine(result, "standard input");
  }
  for (size_t at = 40; at < bytes.size(); at += bytes.size() / 41) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    ProcessResult result = runBessemer(arguments, damaged);
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1)
        << "byte " << at << ": " << result.exit_code << "\n"
        << result.err;
    EXPECT_EQ(result.err.empty(), result.exit_code == 0) << "byte " << at;
  }
}

} // namespace
} // namespace bessemer::tools

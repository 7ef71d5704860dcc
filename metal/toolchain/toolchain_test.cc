// The three programs as builds call them; what they make is loaded by libMetal, and runs.
#include "metal/runtime/client_test.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/wait.h>

namespace metal_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Shell {
  int exit_code = -1;
  std::string output; // both streams
};

constexpr char kScale[] = R"(
#include <metal_stdlib>
#include "parts/factor.h"
using namespace metal;
constant bool negative [[function_constant(3)]];
kernel void scale(device float* data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  data[i] = data[i] * FACTOR + OFFSET;
  if (negative)
    data[i] = -data[i];
}
)";

constexpr char kFill[] = R"(
#include <metal_stdlib>
kernel void fill(device uint* data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  data[i] = i * 3u;
}
)";

class ToolchainTest : public ClientTest {
protected:
  ToolchainTest()
      : folder_(testing::TempDir() + "toolchain-" + std::to_string(getpid()) + "-" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_ + "/parts");
    write("parts/factor.h", "// A factor.\n#include \"deeper.h\"\n#define FACTOR kFactor\n");
    write("parts/deeper.h", "constant float kFactor = 2.5;\n");
    write("scale.metal", kScale);
    write("fill.metal", kFill);
  }
  ~ToolchainTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string read(const std::string& name) {
    std::ifstream stream(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Runs `command` in the folder, with the toolchain first on PATH.
  Shell shell(const std::string& command) {
    const std::string line =
        "cd '" + folder_ + "' && PATH='" TOOLCHAIN_TEST_FOLDER "':$PATH; { " + command + "; } 2>&1";
    Shell result;
    FILE* pipe = popen(line.c_str(), "r");
    char bytes[4096];
    for (size_t count; (count = fread(bytes, 1, sizeof(bytes), pipe)) > 0;)
      result.output.append(bytes, count);
    const int status = pclose(pipe);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return result;
  }
  void expectQuiet(const std::string& command) {
    Shell result = shell(command);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_THAT(result.output, IsEmpty());
  }

  NS::SharedPtr<MTL::Library> load(const std::string& name) {
    NS::Error* error = nullptr;
    auto* url = NS::URL::fileURLWithPath(text((folder_ + "/" + name).c_str()));
    auto library = own(device->newLibrary(url, &error));
    EXPECT_TRUE(library) << message(error);
    return library;
  }
  std::vector<std::string> functionsOf(MTL::Library* library) {
    std::vector<std::string> names;
    NS::Array* list = library->functionNames();
    for (NS::UInteger i = 0; i < list->count(); ++i)
      names.push_back(list->object<NS::String>(i)->utf8String());
    std::ranges::sort(names);
    return names;
  }
  // Runs a function over a buffer of eight words.
  void runOver(MTL::Function* function, MTL::Buffer* data) {
    NS::Error* error = nullptr;
    auto pipeline = own(device->newComputePipelineState(function, &error));
    ASSERT_TRUE(pipeline) << message(error);
    auto* commands = queue->commandBuffer();
    auto* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline.get());
    encoder->setBuffer(data, 0, 0);
    encoder->dispatchThreads(MTL::Size(8, 1, 1), MTL::Size(8, 1, 1));
    encoder->endEncoding();
    run(commands);
  }

  std::string folder_;
};

TEST_F(ToolchainTest, SourcesToAirToALibraryThatRuns) {
  expectQuiet("xcrun -sdk macosx metal -Wall -Wextra -fno-fast-math -std=metal3.1 "
              "-mmacosx-version-min=14.0 -I . -DOFFSET=1.0f -c scale.metal -o scale.air && "
              "xcrun -sdk macosx metal -O3 -c fill.metal -o fill.air && "
              "xcrun -sdk macosx metallib scale.air fill.air -o both.metallib");
  EXPECT_EQ(read("both.metallib").substr(0, 4), "MTLB");
  auto library = load("both.metallib");
  ASSERT_TRUE(library);
  EXPECT_THAT(functionsOf(library.get()), testing::ElementsAre("fill", "scale"));

  auto data = buffer(32);
  runOver(own(library->newFunction(text("fill"))).get(), data.get());
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(contents<uint32_t>(data)[i], i * 3);

  // The function constant is in the container.
  for (bool negative : {false, true}) {
    auto values = own(MTL::FunctionConstantValues::alloc()->init());
    values->setConstantValue(&negative, MTL::DataTypeBool, NS::UInteger(3));
    NS::Error* error = nullptr;
    auto function = own(library->newFunction(text("scale"), values.get(), &error));
    ASSERT_TRUE(function) << message(error);
    for (uint32_t i = 0; i < 8; ++i)
      contents<float>(data)[i] = static_cast<float>(i);
    runOver(function.get(), data.get());
    for (uint32_t i = 0; i < 8; ++i)
      EXPECT_EQ(contents<float>(data)[i], (negative ? -1 : 1) * (static_cast<float>(i) * 2.5f + 1));
  }
}

TEST_F(ToolchainTest, OneStepPipesAndDataLoadTheSame) {
  expectQuiet("metal fill.metal -o one.metallib && "
              "xcrun metal -x metal -c - -o - < fill.metal | xcrun metallib - -o piped.metallib && "
              "metal fill.metal");
  EXPECT_THAT(functionsOf(load("piped.metallib").get()), testing::ElementsAre("fill"));
  EXPECT_EQ(read("one.metallib"), read("default.metallib"));
  const std::string bytes = read("one.metallib");
  auto* data =
      dispatch_data_create(bytes.data(), bytes.size(), nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  NS::Error* error = nullptr;
  auto library = own(device->newLibrary(data, &error));
  dispatch_release(data);
  ASSERT_TRUE(library) << message(error);
  EXPECT_THAT(functionsOf(library.get()), testing::ElementsAre("fill"));
}

TEST_F(ToolchainTest, FilesThatCallEachOtherAreJoined) {
  write("user.metal", "#include <metal_stdlib>\nextern float twice(float x);\n"
                      "kernel void doubled(device float* data [[buffer(0)]],\n"
                      "                    uint i [[thread_position_in_grid]]) {\n"
                      "  data[i] = twice(float(i));\n}\n");
  write("helper.metal", "float twice(float x) { return x + x; }\n");
  expectQuiet("metal -c user.metal && metal -c helper.metal && "
              "metallib user.air helper.air -o joined.metallib");
  auto library = load("joined.metallib");
  ASSERT_TRUE(library);
  auto data = buffer(32);
  runOver(own(library->newFunction(text("doubled"))).get(), data.get());
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(contents<float>(data)[i], 2.0f * static_cast<float>(i));

  Shell alone = shell("metallib user.air -o alone.metallib");
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_THAT(alone.output, AllOf(HasSubstr("metallib: error: "), HasSubstr("twice")));
  Shell two = shell("cp fill.metal again.metal && metal fill.metal again.metal -o two.metallib");
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_THAT(two.output,
              AllOf(HasSubstr("'fill'"), HasSubstr("fill.metal"), HasSubstr("again.metal")));
}

TEST_F(ToolchainTest, DependencyFilesAreWhatMakeReads) {
  expectQuiet("metal -DOFFSET=0 -MD -MP -MF scale.d -MT 'out put.air' -c scale.metal -o scale.air");
  EXPECT_EQ(read("scale.d"), "out put.air: \\\n  scale.metal \\\n  ./parts/factor.h \\\n"
                             "  ./parts/deeper.h\n\n./parts/factor.h:\n\n./parts/deeper.h:\n");
  expectQuiet("metal -DOFFSET=0 -MMD -c scale.metal -o other.air");
  EXPECT_THAT(read("other.d"), testing::StartsWith("other.air: \\\n  scale.metal \\\n"));
  // By make itself: a touched header makes the file anew, and only then.
  write("Makefile", "all: m.air\nm.air: scale.metal\n\tmetal -DOFFSET=0 -MD -MP -MF m.d -MT m.air "
                    "-c $< -o $@\n-include m.d\n");
  EXPECT_THAT(shell("make").output, HasSubstr("metal -DOFFSET"));
  EXPECT_THAT(shell("make").output, Not(HasSubstr("metal -DOFFSET")));
  EXPECT_THAT(shell("touch -d '+5 seconds' parts/deeper.h && make").output,
              HasSubstr("metal -DOFFSET"));
  EXPECT_THAT(shell("metal -DOFFSET=0 -MM scale.metal").output,
              testing::StartsWith("scale.air: \\\n  scale.metal"));
}

TEST_F(ToolchainTest, HeaderListsAndPreprocessedText) {
  // A build that embeds its headers asks for the list alone: nothing else may be on stderr.
  Shell list = shell("xcrun -sdk macosx metal -x metal -I. -DOFFSET=4 -E -P -CC -C -H scale.metal "
                     "-w 2>&1 1>/dev/null");
  EXPECT_EQ(list.output, ". ./parts/factor.h\n.. ./parts/deeper.h\n");
  Shell source = shell("metal -DOFFSET=4 -E -P scale.metal");
  EXPECT_THAT(source.output, AllOf(HasSubstr("data[i] = data[i] * kFactor + 4;"),
                                   HasSubstr("constant float kFactor = 2.5;"),
                                   Not(HasSubstr("bessemer")), Not(HasSubstr("A factor"))));
  EXPECT_THAT(shell("metal -DOFFSET=4 -E -C scale.metal").output,
              AllOf(HasSubstr("// A factor."), HasSubstr("# 1 \"./parts/deeper.h\"")));
}

TEST_F(ToolchainTest, LanguageFlagsReachTheCompiler) {
  write("flags.metal",
        "#include <metal_stdlib>\n"
        "#if __METAL_VERSION__ != WANTED\n#error wrong version\n#endif\n"
        "#ifdef GONE\n#error still there\n#endif\n"
        "kernel void k(device float* a [[buffer(0)]]) { float unused; a[0] = BY; }\n");
  write("by.h", "#define BY 1\n");
  expectQuiet("metal -std=macos-metal2.4 -D WANTED=240 -DGONE -UGONE -include by.h "
              "-fsyntax-only flags.metal");
  expectQuiet("metal -std=metal3.1 -DWANTED=310 -include by.h -fsyntax-only -Wno-all flags.metal");
  Shell wrong = shell("metal -std=metal3.0 -DWANTED=310 -include by.h -c flags.metal");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.output, HasSubstr("flags.metal:3:2: error: wrong version"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/flags.air"));
  // __FAST_MATH__ tells the mode. The library's names for its own variants are there in each.
  write("variants.metal", "#include <metal_stdlib>\n"
                          "#ifdef __FAST_MATH__\n#error fast\n#endif\n"
                          "kernel void k(device float* a [[buffer(0)]]) {\n"
                          "  a[0] = __metal_exp(a[0], __METAL_MAYBE_FAST_MATH__) +\n"
                          "         __metal_exp(a[1], __METAL_FAST_MATH__) +\n"
                          "         __metal_exp(a[2], __METAL_PRECISE_MATH__);\n}\n");
  expectQuiet("metal -fno-fast-math -fsyntax-only variants.metal");
  EXPECT_THAT(shell("metal -fsyntax-only variants.metal").output, HasSubstr("error: fast"));
  // Fast arithmetic is said in the AIR, exact is not.
  EXPECT_THAT(shell("metal -S -o - fill.metal").output, HasSubstr("air.compile.fast_math_enable"));
  EXPECT_THAT(shell("metal -fno-fast-math -S -o - fill.metal").output,
              HasSubstr("air.compile.fast_math_disable"));
}

TEST_F(ToolchainTest, BadCommandLinesSayWhatIsWrong) {
  for (auto [command, words] :
       {std::pair("metal", "metal: error: no input files"), std::pair("metal -c", "no input files"),
        std::pair("metal -c missing.metal", "cannot read 'missing.metal'"),
        std::pair("metal -frobnicate fill.metal", "unknown flag '-frobnicate'"),
        std::pair("metal -std=c++14x fill.metal", "-std takes metal1.0"),
        std::pair("metal fill.metal -o", "'-o' wants a value after it"),
        std::pair("metal -c fill.metal scale.metal -o x.air", "-o names one file"),
        std::pair("metal fill.metal -o /nonexistent/x.metallib", "cannot write '/nonexistent/"),
        std::pair("metallib", "metallib: error: no input files"),
        std::pair("metallib fill.metal -o x.metallib", "'fill.metal' is not AIR"),
        std::pair("metallib --frob x.air", "unknown flag '--frob'"),
        std::pair("xcrun", "xcrun: error: no tool to run"),
        std::pair("xcrun -sdk macosx swiftc x.swift", "unable to find utility 'swiftc'"),
        std::pair("xcrun --show-sdk-path", "there is no SDK here")}) {
    Shell result = shell(command);
    EXPECT_EQ(result.exit_code, 1) << command << "\n" << result.output;
    EXPECT_THAT(result.output, HasSubstr(words)) << command;
    EXPECT_EQ(std::ranges::count(result.output, '\n'), 1) << command << "\n" << result.output;
  }
  EXPECT_EQ(shell("xcrun -sdk macosx --find metal").output,
            std::string(TOOLCHAIN_TEST_FOLDER) + "/metal\n");
  EXPECT_THAT(
      shell("metal --help && metallib --help && xcrun --help").output,
      AllOf(HasSubstr("Usage: metal "), HasSubstr("Usage: metallib"), HasSubstr("Usage: xcrun")));
}

} // namespace
} // namespace metal_test

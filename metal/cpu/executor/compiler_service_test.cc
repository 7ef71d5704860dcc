#include "metal/cpu/executor/compiler_service.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <thread>

#include "metal/cpu/executor/pipeline.h"
#include "metal/cpu/executor/testing/fake_compiler.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

namespace fs = std::filesystem;
using testing::fake_compiler;
using ::testing::HasSubstr;
using testing::kernels_compiled;
using testing::sources_compiled;

class CompilerServiceTest : public ::testing::Test {
protected:
  void SetUp() override {
    directory = fs::path(::testing::TempDir()) /
                (std::string("compiler_service_") +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(directory);
  }
  void TearDown() override { fs::remove_all(directory); }

  CompilerService::Options options() const {
    return {.compiler = fake_compiler, .cache_directory = directory};
  }

  fs::path directory;
};

TEST_F(CompilerServiceTest, SecondProcessFindsWhatTheFirstCompiled) {
  const uint32_t sources = sources_compiled, kernels = kernels_compiled;
  for (int process = 0; process < 2; ++process) {
    CompilerService service(options());
    auto library = service.compile_source("mix saxpy", {});
    ASSERT_TRUE(library);
    EXPECT_EQ((*library)->functions()->size(), 2u);
    EXPECT_EQ((*library)->functions()->Get(1)->name()->string_view(), "saxpy");
    const uint8_t bitcode[] = {1, 2, 3};
    auto kernel = service.compile_kernel(
        {.bitcode = bitcode, .function = "mix", .constants = {}, .threads = {8, 4, 1}});
    ASSERT_TRUE(kernel);
    EXPECT_EQ((*kernel)->threads_y(), 4u);
  }
  EXPECT_EQ(sources_compiled, sources + 1);
  EXPECT_EQ(kernels_compiled, kernels + 1);
}

TEST_F(CompilerServiceTest, EverythingThatDecidesTheCodeIsInTheKey) {
  CompilerService service(options());
  const uint8_t bitcode[] = {1, 2, 3}, other_bitcode[] = {1, 2, 4};
  const std::vector<ConstantValue> one = {{0, 29, {1, 0, 0, 0}}}, two = {{0, 29, {2, 0, 0, 0}}},
                                   moved = {{1, 29, {1, 0, 0, 0}}}, typed = {{0, 33, {1, 0, 0, 0}}},
                                   both = {{0, 29, {1, 0, 0, 0}}, {1, 29, {2, 0, 0, 0}}},
                                   swapped = {{1, 29, {2, 0, 0, 0}}, {0, 29, {1, 0, 0, 0}}};
  const KernelRequest base = {
      .bitcode = bitcode, .function = "mix", .constants = {}, .threads = {8, 4, 1}};
  std::vector<KernelRequest> requests(10, base);
  requests[1].bitcode = other_bitcode;
  requests[2].function = "saxpy";
  requests[3].threads = {4, 8, 1};
  requests[4].distinct_buffers = true;
  requests[5].constants = one;
  requests[6].constants = two;
  requests[7].constants = moved;
  requests[8].constants = typed;
  requests[9].constants = both;
  const uint32_t before = kernels_compiled;
  for (int round = 0; round < 2; ++round)
    for (const KernelRequest& request : requests)
      EXPECT_TRUE(service.compile_kernel(request));
  EXPECT_EQ(kernels_compiled, before + requests.size());
  KernelRequest reordered = base;
  reordered.constants = swapped;
  EXPECT_TRUE(service.compile_kernel(reordered));
  EXPECT_EQ(kernels_compiled, before + requests.size());

  const uint32_t sources = sources_compiled;
  std::vector<SourceOptions> sets(5);
  sets[1].language_version = 3 << 16;
  sets[2].math_mode = BESSEMER_MATH_SAFE;
  sets[3].preserve_invariance = true;
  sets[4].macros = {{"A", "1"}};
  for (int round = 0; round < 2; ++round)
    for (const SourceOptions& set : sets)
      EXPECT_TRUE(service.compile_source("mix", set));
  EXPECT_EQ(sources_compiled, sources + sets.size());
}

TEST_F(CompilerServiceTest, DamagedEntryIsCompiledAgain) {
  const uint32_t before = sources_compiled;
  EXPECT_TRUE(CompilerService(options()).compile_source("mix", {}));
  for (const auto& item : fs::directory_iterator(directory)) {
    std::ofstream file(item.path(), std::ios::binary | std::ios::app);
    file << "x";
  }
  EXPECT_TRUE(CompilerService(options()).compile_source("mix", {}));
  EXPECT_EQ(sources_compiled, before + 2);
  EXPECT_TRUE(CompilerService(options()).compile_source("mix", {}));
  EXPECT_EQ(sources_compiled, before + 2);
}

TEST_F(CompilerServiceTest, ErrorsAreTheCompilersText) {
  CompilerService service(options());
  auto library = service.compile_source("nonsense", {});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().message, "program_source:1:1: error: no kernel 'nonsense'");
}

TEST_F(CompilerServiceTest, MissingCompilerIsOneClearLine) {
  CompilerService service(
      {.compiler_path = "/nowhere/libMetalCompiler.so", .cache_directory = directory});
  auto library = service.compile_source("mix", {});
  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message, HasSubstr("/nowhere/libMetalCompiler.so"));
  EXPECT_THAT(library.error().message, HasSubstr("BESSEMER_COMPILER"));
  EXPECT_EQ(library.error().message.find('\n'), std::string::npos);
}

TEST_F(CompilerServiceTest, CompilerOfAnotherVersionIsRefused) {
  auto options = this->options();
  options.compiler = [](uint32_t) -> const bessemer_compiler_t* { return nullptr; };
  CompilerService service(options);
  EXPECT_THAT(service.compile_source("mix", {}).error().message, HasSubstr("another version"));
}

TEST_F(CompilerServiceTest, CachedCodeNeedsNoCompiler) {
  // A library that counts how often it was opened: its constructor writes a byte.
  const fs::path opened = directory.string() + ".opened";
  fs::remove(opened);
  setenv("EXECUTOR_TEST_OPENED", opened.c_str(), 1);
  const auto times_opened = [&] { return fs::exists(opened) ? fs::file_size(opened) : 0; };
  const auto compile = [&](const fs::path& path) {
    CompilerService service({.compiler_path = path, .cache_directory = directory});
    auto library = service.compile_source("anything", {});
    EXPECT_TRUE(library) << library.error().message;
    // As when the process ends: the reference taken here and the service's.
    if (void* library_handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
      dlclose(library_handle);
      dlclose(library_handle);
    }
    return library ? (*library)->install_name()->str() : "";
  };
  const fs::path copy = directory.string() + ".so";
  fs::copy_file(EXECUTOR_TEST_COMPILER, copy, fs::copy_options::overwrite_existing);
  EXPECT_EQ(compile(copy), "compiled");
  EXPECT_EQ(times_opened(), 1u);
  EXPECT_EQ(compile(copy), "compiled"); // a fresh service: from the cache, nothing opened again
  EXPECT_EQ(times_opened(), 1u);
  // Replaced by a newer file: it has to be asked who it is.
  const fs::path newer = directory.string() + ".new.so";
  fs::copy_file(EXECUTOR_TEST_COMPILER, newer, fs::copy_options::overwrite_existing);
  fs::rename(newer, copy);
  compile(copy);
  EXPECT_EQ(times_opened(), 2u);
  fs::remove(copy);
  fs::remove(opened);
}

TEST_F(CompilerServiceTest, CompileThreadsRunAllThatIsGiven) {
  std::atomic<int> done{0};
  {
    auto options = this->options();
    options.threads = 3;
    CompilerService service(options);
    for (int i = 0; i < 100; ++i)
      service.run_on_compile_thread([&] { ++done; });
    while (done < 100)
      std::this_thread::yield();
  }
  EXPECT_EQ(done, 100);
}

// What compiles may be about to open the compiler, whose objects would go while it uses them.
TEST_F(CompilerServiceTest, ProcessThatEndsWaitsForWhatCompiles) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::atomic<bool> begun{false};
        CompilerService::shared().run_on_compile_thread([&] {
          begun = true;
          begun.notify_one();
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          std::fputs("compiled", stderr);
        });
        begun.wait(false);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "compiled");
}

TEST_F(CompilerServiceTest, TablesThatDoNotVerifyAreRefused) {
  const std::vector<uint8_t> junk(100, 0xff);
  auto table = LibraryTable::create(junk, "BSML", "a library");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message, "a library: not a valid BSML table (100 bytes)");
  EXPECT_FALSE(LibraryTable::create({}, "BSML", "a library"));
}

} // namespace
} // namespace bessemer::metal::cpu

#include "bessemer/bessemer.hpp"

#include <fstream>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bessemer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kCorpus = EMBED_TEST_CORPUS;
const std::string kMultiply = kCorpus + "/simple_mul/model.metal.vmfb";

std::string messageOf(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(EmbedTest, LoadsAndCalls) {
  Program program = Program::load(kMultiply);
  EXPECT_THAT(program.functions(), ElementsAre("main"));
  EXPECT_THAT(bessemer_function_declaration(program.get(), 0), HasSubstr("tensor<4xf32>"));
  auto results =
      program("main", {Tensor({4}, {1.f, 2.f, 3.f, 4.f}), Tensor({4}, {2.f, 2.f, 2.f, -1.f})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0].tensor().shape(), ElementsAre(4));
  EXPECT_THAT(results[0].tensor().as<float>(), ElementsAre(2.f, 4.f, 6.f, -4.f));
}

TEST(EmbedTest, ProgramsKeepTheirState) {
  Program program = Program::load(kCorpus + "/stateful_ema/model.metal.vmfb");
  std::vector<float> ones(10, 1.f), fours(10, 4.f);
  program("step", {Tensor({10}, ones)});
  program("step", {Tensor({10}, fours)});
  EXPECT_EQ(program("steps_done", {})[0].get<int32_t>(), 2);
  program("reset", {});
  EXPECT_EQ(program("steps_done", {})[0].get<int32_t>(), 0);
  // Another program from the same file has a state of its own.
  program("step", {Tensor({10}, ones)});
  EXPECT_EQ(
      Program::load(kCorpus + "/stateful_ema/model.metal.vmfb")("steps_done", {})[0].get<int32_t>(),
      0);
}

TEST(EmbedTest, LoadsFromMemory) {
  std::ifstream stream(kMultiply, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  Program program = Program::load(std::as_bytes(std::span(text)));
  text.assign(text.size(), '\0'); // the program has its own copy
  auto results =
      program("", {Tensor({4}, {1.f, 2.f, 3.f, 4.f}), Tensor({4}, {1.f, 1.f, 1.f, 1.f})});
  EXPECT_THAT(results[0].tensor().as<float>(), ElementsAre(1.f, 2.f, 3.f, 4.f));
}

TEST(EmbedTest, Parameters) {
  Options options;
  options.parameters = {"model=" + kCorpus + "/params_irpa/model.irpa"};
  EXPECT_THAT(Program::load(kCorpus + "/params_irpa/model.metal.vmfb", options).functions(),
              ElementsAre("main"));
}

TEST(EmbedTest, ErrorsAreExceptionsWithACode) {
  EXPECT_THAT(messageOf([] { Program::load("/nonexistent.vmfb"); }),
              HasSubstr("cannot read /nonexistent.vmfb"));
  Options elsewhere;
  elsewhere.device = "cuda";
  EXPECT_THAT(messageOf([&] { Program::load(kMultiply, elsewhere); }), HasSubstr("driver 'cuda'"));
  Program program = Program::load(kMultiply);
  const Tensor four({4}, {1.f, 2.f, 3.f, 4.f}), five({5}, {1.f, 2.f, 3.f, 4.f, 5.f});
  EXPECT_THAT(messageOf([&] { program("other", {}); }), HasSubstr("there is no function other"));
  EXPECT_THAT(messageOf([&] { program("main", {four}); }),
              HasSubstr("main takes 2 inputs, and 1 were given"));
  EXPECT_THAT(messageOf([&] { program("main", {five, four}); }), HasSubstr("input0"));
  EXPECT_THAT(messageOf([&] { program("main", {four, 1.f}); }),
              HasSubstr("input 1: a number where the function takes a tensor"));
  EXPECT_THAT(messageOf([&] { program("main", {four, Tensor({3}, {1.f, 2.f, 3.f, 4.f})}); }),
              HasSubstr("input 1: its shape needs 12 bytes of data, and 16 are there"));
  EXPECT_THAT(messageOf([&] { four.as<int32_t>(); }), HasSubstr("are f32, not i32"));
  try {
    program("other", {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), 5);
  }
  // The program is as good as before.
  EXPECT_EQ(program("main", {four, four}).size(), 1u);
}

TEST(EmbedTest, ThreadsShareAProgram) {
  Program program = Program::load(kMultiply);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto x = static_cast<float>(t * 100 + i);
        auto results =
            program("main", {Tensor({4}, {x, x, x, x}), Tensor({4}, {2.f, 2.f, 2.f, 2.f})});
        wrong[static_cast<size_t>(t)] += results[0].tensor().as<float>()[3] != 2 * x;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

TEST(EmbedTest, Devices) {
  std::vector<std::string> devices;
  bessemer_error_t* error = nullptr;
  bessemer_devices(
      [](const char* device, const char* name, void* data) {
        EXPECT_STRNE(name, "");
        static_cast<std::vector<std::string>*>(data)->push_back(device);
      },
      &devices, &error);
  ASSERT_EQ(error, nullptr);
  ASSERT_FALSE(devices.empty());
  // Each can be opened by the name that was told.
  for (const std::string& device : devices) {
    Options options;
    options.device = device;
    EXPECT_EQ(Program::load(kMultiply, options).functions().size(), 1u);
  }
}

TEST(EmbedTest, TypesHaveSizes) {
  EXPECT_EQ(bessemer_type_size(typeOf<uint16_t>()), 2u);
  EXPECT_STREQ(bessemer_type_name(typeOf<int64_t>()), "i64");
  EXPECT_STREQ(bessemer_type_name(typeOf<bool>()), "bool");
  EXPECT_EQ(bessemer_type_size(BESSEMER_BFLOAT16), 2u);
  EXPECT_STREQ(bessemer_type_name(static_cast<bessemer_type_t>(99)), "unknown");
}

} // namespace
} // namespace bessemer

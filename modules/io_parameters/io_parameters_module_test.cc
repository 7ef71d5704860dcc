// Loading, gathering and scattering parameters on the host device.
#include "modules/io_parameters/io_parameters_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "modules/testing/host_session.h"
#include "vm/buffer.h"
#include "vm/list.h"

namespace bessemer::modules {
namespace {

using testing::contents;
using ::testing::HasSubstr;
using testing::HostDevice;
using vm::Buffer;
using vm::Ref;
using vm::RefPtr;
using vm::Value;
namespace fs = std::filesystem;

struct Span {
  std::string key;
  uint64_t parameter_offset, buffer_offset, length;
};

class Parameters : public ::testing::Test {
protected:
  Parameters()
      : folder_(fs::temp_directory_path() /
                ("bessemer_parameters_test_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    group_ = *Session::create({.devices = {device_}});
  }
  ~Parameters() override { fs::remove_all(folder_); }

  std::string safetensors(const std::string& name, const std::string& key,
                          const std::string& data) {
    std::string json =
        "{\"" + key + "\":{\"data_offsets\":[0," + std::to_string(data.size()) + "]}}";
    uint64_t size = json.size();
    fs::path path = folder_ / name;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&size), 8) << json << data;
    return path.string();
  }
  // One splat "s" of `length` bytes.
  std::string splat(uint64_t length, const std::string& pattern) {
    std::string file(96 + 96 + 1, '\0');
    auto put = [&](size_t at, auto value) { std::memcpy(&file[at], &value, sizeof(value)); };
    std::memcpy(&file[0], "IRPA", 4);
    put(8, uint64_t{88});
    put(32, uint64_t{1});
    put(40, uint64_t{96}), put(48, uint64_t{96});
    put(56, uint64_t{192}), put(64, uint64_t{1});
    put(72, uint64_t{193}), put(80, uint64_t{0});
    put(96, uint64_t{85}), put(104, uint32_t{1});
    put(116, uint64_t{0}), put(124, uint64_t{1});
    put(156, length);
    std::memcpy(&file[164], pattern.data(), pattern.size());
    file[180] = static_cast<char>(pattern.size());
    file[192] = 's';
    fs::path path = folder_ / "splat.irpa";
    std::ofstream(path, std::ios::binary) << file;
    return path.string();
  }

  void open(std::vector<ParameterFile> files) {
    auto module = createParametersModule(files);
    ASSERT_TRUE(module) << module.error().toString();
    std::shared_ptr<const vm::Module> modules[] = {
        *createHalModule(std::array<iree_hal_device_t*, 1>{device_}), *module};
    context_ = *vm::Context::create(modules);
  }

  vm::Result<std::vector<Value>> call(std::string_view name, std::vector<Value> arguments) {
    std::vector<Value> results;
    BESSEMER_ASSIGN_OR_RETURN(vm::Function function, context_->lookup(name));
    BESSEMER_RETURN_IF_ERROR(vm::call(function, arguments, results));
    return results;
  }

  static void addTables(std::vector<Value>& arguments, const std::vector<Span>& spans) {
    std::string table, data, ranges;
    auto put = [](std::string& text, auto value) {
      text.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    for (const Span& span : spans) {
      put(table, static_cast<uint32_t>(data.size()));
      put(table, static_cast<uint32_t>(span.key.size()));
      data += span.key;
      put(ranges, span.parameter_offset);
      put(ranges, span.buffer_offset);
      put(ranges, span.length);
    }
    for (const std::string& text : {table, data, ranges})
      arguments.push_back(Buffer::fromText(text));
  }

  Value device() { return RefPtr<iree_hal_device_t>::share(device_); }
  Value fence() { return (*call("hal.fence.create", {device(), int64_t{0}}))[0]; }
  static Value scope(std::string_view name) { return Buffer::fromText(name); }

  // Loads and waits; each buffer as text.
  vm::Result<std::vector<std::string>> load(Value scope_name, const std::vector<Span>& spans) {
    Value done = fence();
    std::vector<Value> arguments = {device(),   int64_t{-1}, Ref(),  done,
                                    scope_name, int64_t{-1}, 48 | 2, 0x3000C03};
    addTables(arguments, spans);
    BESSEMER_ASSIGN_OR_RETURN(std::vector<Value> results,
                              call("io_parameters.load", std::move(arguments)));
    BESSEMER_RETURN_IF_ERROR(
        fromStatus(iree_hal_fence_wait(done.as<iree_hal_fence_t>(), iree_infinite_timeout(), 0)));
    std::vector<std::string> texts;
    auto* list = results[0].as<vm::List>();
    for (uint32_t k = 0; k < list->size(); ++k) {
      auto bytes = contents<char>(list->get(k)->as<iree_hal_buffer_t>());
      texts.emplace_back(bytes.begin(), bytes.end());
    }
    return texts;
  }

  Value buffer(const std::string& text) {
    return RefPtr<iree_hal_buffer_t>::share(iree_hal_buffer_view_buffer(
        testing::makeView(device_, {text.size()}, IREE_HAL_ELEMENT_TYPE_UINT_8, text.data(),
                          text.size())
            .get()));
  }

  HostDevice device_;
  std::unique_ptr<Session> group_;
  fs::path folder_;
  std::unique_ptr<vm::Context> context_;
};

TEST_F(Parameters, AreLoadedByScopeAndKey) {
  open({{"model", safetensors("a.safetensors", "w", "0123456789")},
        {"model", safetensors("b.safetensors", "v", "abcdef")},
        {"", safetensors("c.safetensors", "w", "rest")}});
  auto loaded = load(scope("model"), {{"w", 2, 0, 5}, {"v", 0, 0, 6}, {"w", 0, 0, 10}});
  ASSERT_TRUE(loaded) << loaded.error().toString();
  EXPECT_EQ(*loaded, (std::vector<std::string>{"23456", "abcdef", "0123456789"}));
  // A scope that is not named, and no scope: the files without one.
  EXPECT_EQ(*load(scope("other"), {{"w", 0, 0, 4}}), std::vector<std::string>{"rest"});
  EXPECT_EQ(*load(Ref(), {{"w", 0, 0, 4}}), std::vector<std::string>{"rest"});
  EXPECT_EQ(*load(Ref(), {}), std::vector<std::string>{});
}

TEST_F(Parameters, WhatIsMissingIsNamed) {
  open({{"model", safetensors("a.safetensors", "w", "0123456789")}});
  auto scope_missing = load(scope("other"), {{"w", 0, 0, 1}});
  ASSERT_FALSE(scope_missing);
  EXPECT_EQ(scope_missing.error().code(), vm::StatusCode::NotFound);
  EXPECT_THAT(scope_missing.error().message(), HasSubstr("--parameters=other=FILE"));
  auto key = load(scope("model"), {{"nope", 0, 0, 1}});
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().message(), HasSubstr("no parameter 'nope' in the scope 'model'"));
  auto range = load(scope("model"), {{"w", 8, 0, 3}});
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code(), vm::StatusCode::OutOfRange);
  EXPECT_FALSE(load(scope("model"), {{"w", UINT64_MAX, 0, 3}}));
  ParameterFile missing[] = {{"m", "/nowhere/x.irpa"}};
  EXPECT_THAT(createParametersModule(missing).error().message(), HasSubstr("/nowhere/x.irpa"));
}

TEST_F(Parameters, SplatsOfEveryLengthRepeat) {
  for (std::string pattern :
       {"a", "ab", "abcd", "abab", "abcdefgh", "abcabc", "0123456789abcdef"}) {
    std::string whole;
    while (whole.size() < 96)
      whole += pattern;
    open({{"", splat(96, pattern)}});
    // Offsets inside of the pattern too.
    auto loaded = load(Ref(), {{"s", 0, 0, 96}, {"s", 5, 0, 30}});
    ASSERT_TRUE(loaded) << loaded.error().toString();
    EXPECT_EQ((*loaded)[0], whole.substr(0, 96)) << pattern;
    EXPECT_EQ((*loaded)[1].substr(0, 30), whole.substr(5, 30)) << pattern;
  }
}

TEST_F(Parameters, GatherAndScatterMoveParts) {
  std::string path = safetensors("a.safetensors", "w", "0123456789");
  open({{"model", path}});
  Value target = buffer(std::string(12, '.'));
  Value done = fence();
  std::vector<Value> arguments = {device(), int64_t{-1}, Ref(), done, scope("model"), target};
  addTables(arguments, {{"w", 0, 1, 3}, {"w", 7, 8, 2}});
  auto gathered = call("io_parameters.gather", arguments);
  ASSERT_TRUE(gathered) << gathered.error().toString();
  testing::require(iree_hal_fence_wait(done.as<iree_hal_fence_t>(), iree_infinite_timeout(), 0));
  auto bytes = contents<char>(target.as<iree_hal_buffer_t>());
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), ".012....78..");

  auto scatter = [&] {
    done = fence();
    std::vector<Value> all = {device(), int64_t{-1}, Ref(), done, buffer("WXYZ"), scope("model")};
    addTables(all, {{"w", 4, 1, 2}});
    return call("io_parameters.scatter", all);
  };
  auto refused = scatter();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), vm::StatusCode::PermissionDenied);
  open({{"model", path, true}});
  ASSERT_TRUE(scatter());
  testing::require(iree_hal_fence_wait(done.as<iree_hal_fence_t>(), iree_infinite_timeout(), 0));
  EXPECT_EQ(*load(scope("model"), {{"w", 0, 0, 10}}), std::vector<std::string>{"0123XY6789"});
  context_.reset();
  std::ifstream file(path, std::ios::binary);
  std::string all((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(all.substr(all.size() - 10), "0123XY6789");
}

} // namespace
} // namespace bessemer::modules

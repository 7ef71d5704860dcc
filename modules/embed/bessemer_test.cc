#include "modules/embed/bessemer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "modules/tensors.h"
#include "modules/testing/host_session.h"

extern "C" int run_c_client(const char* device, const char* path, float* out_values,
                            int32_t* out_number);

namespace bessemer::modules {
namespace {

using namespace vm::testing;
using ::testing::HasSubstr;
using testing::HostDevice;

class Embed : public ::testing::Test {
protected:
  Embed()
      : path_(std::filesystem::temp_directory_path() /
              ("bessemer_embed_test_" + std::to_string(getpid()) + ".vmfb")) {
    // scale(view, n): the view as it came and n + n.
    FunctionBuilder scale("0ri_ri", 4, 1);
    scale.block();
    scale.emit(Op::AddI32, {i(0), i(0), i(1)});
    scale.emit(Op::Return, {list({moved(0), i(1)})});
    FunctionBuilder wide("0IFf_IFf", 6, 0);
    wide.block();
    wide.emit(Op::Return, {list({i(0), i(2), i(4)})});
    ModuleBuilder module("program");
    module.function("scale", scale);
    module.function("wide", wide);
    std::vector<std::byte> bytes = module.finish();
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  ~Embed() override { std::filesystem::remove(path_); }

  HostDevice registered_; // registers the driver
  std::filesystem::path path_;
};

TEST_F(Embed, ACProgramCallsWithArraysAndNumbers) {
  float values[6] = {};
  int32_t number = 0;
  ASSERT_EQ(run_c_client("host", path_.c_str(), values, &number), 0) << bessemer_error();
  EXPECT_THAT(values, ::testing::ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(number, 40);
}

TEST_F(Embed, NumbersOfEveryTypeKeepTheirBits) {
  bessemer_session_t* session = bessemer_session_create(nullptr);
  ASSERT_EQ(bessemer_session_load(session, path_.c_str()), 0);
  bessemer_value_t* arguments[] = {bessemer_int64(INT64_MIN + 3), bessemer_float64(-2.5e300),
                                   bessemer_float32(0.1f)};
  bessemer_value_t* results[3] = {};
  ASSERT_EQ(bessemer_call(session, "wide", 3, arguments, 3, results, nullptr), 0)
      << bessemer_error();
  int64_t a = 0;
  double b = 0;
  float c = 0;
  EXPECT_EQ(bessemer_read(results[0], &a, sizeof(a)), 0);
  EXPECT_EQ(bessemer_read(results[1], &b, sizeof(b)), 0);
  EXPECT_EQ(bessemer_read(results[2], &c, sizeof(c)), 0);
  EXPECT_EQ(a, INT64_MIN + 3);
  EXPECT_EQ(b, -2.5e300);
  EXPECT_EQ(c, 0.1f);
  EXPECT_EQ(bessemer_type(results[1]), BESSEMER_FLOAT64);
  for (int k = 0; k < 3; ++k) {
    bessemer_value_free(arguments[k]);
    bessemer_value_free(results[k]);
  }
  bessemer_session_destroy(session);
}

TEST_F(Embed, FailuresHaveCodesAndTexts) {
  EXPECT_EQ(bessemer_session_create("nonsense"), nullptr);
  EXPECT_THAT(bessemer_error(), HasSubstr("nonsense"));
  bessemer_session_t* session = bessemer_session_create(nullptr);
  EXPECT_STREQ(bessemer_error(), "");
  EXPECT_EQ(bessemer_session_load(session, "/nowhere.vmfb"), 5);
  EXPECT_THAT(bessemer_error(), HasSubstr("NOT_FOUND; cannot read /nowhere.vmfb"));
  ASSERT_EQ(bessemer_session_load(session, path_.c_str()), 0);
  bessemer_value_t* result = nullptr;
  EXPECT_EQ(bessemer_call(session, "absent", 0, nullptr, 1, &result, nullptr), 5);
  EXPECT_EQ(bessemer_call(session, "scale", 0, nullptr, 1, &result, nullptr), 11);
  EXPECT_THAT(bessemer_error(), HasSubstr("scale has 2 results, there is room for 1"));
  EXPECT_EQ(bessemer_call(session, nullptr, 0, nullptr, 1, &result, nullptr), 3);
  EXPECT_EQ(bessemer_array(session, BESSEMER_INT8, 0, nullptr, "x"), nullptr);
  EXPECT_NE(bessemer_session_parameters(session, "m", "w.irpa"), 0);
  bessemer_session_destroy(session);
}

TEST_F(Embed, TensorsGoToTheDeviceAndBack) {
  auto session = Session::create({.devices = {registered_}});
  ASSERT_TRUE(session);
  std::vector<int16_t> values = {1, -2, 3, -4, 5, -6};
  auto value = toDevice<int16_t>(registered_, {3, 2}, values);
  ASSERT_TRUE(value) << value.error().toString();
  auto back = toHost(registered_, *value);
  ASSERT_TRUE(back) << back.error().toString();
  EXPECT_EQ(back->element_type, static_cast<uint32_t>(IREE_HAL_ELEMENT_TYPE_SINT_16));
  EXPECT_EQ(back->shape, (std::vector<iree_hal_dim_t>{3, 2}));
  EXPECT_EQ(std::memcmp(back->bytes.data(), values.data(), 12), 0);
  EXPECT_FALSE(toDevice<int16_t>(registered_, {4, 2}, values));
  auto empty = toDevice<float>(registered_, {0, 4}, {});
  ASSERT_TRUE(empty) << empty.error().toString();
  EXPECT_TRUE(toHost(registered_, *empty)->bytes.empty());
  EXPECT_FALSE(toHost(registered_, vm::Value(3)));
  EXPECT_EQ(elementTypeOf<float>(), static_cast<uint32_t>(IREE_HAL_ELEMENT_TYPE_FLOAT_32));
  EXPECT_EQ(elementTypeOf<uint64_t>(), static_cast<uint32_t>(IREE_HAL_ELEMENT_TYPE_UINT_64));
  EXPECT_EQ(elementTypeOf<bool>(), static_cast<uint32_t>(IREE_HAL_ELEMENT_TYPE_BOOL_8));
}

} // namespace
} // namespace bessemer::modules

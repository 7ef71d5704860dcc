#include "modules/check/check_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "modules/testing/host_session.h"

namespace bessemer::modules {
namespace {

using ::testing::HasSubstr;
using testing::HostDevice;
using testing::makeView;
using vm::RefPtr;
using vm::Value;

class Check : public ::testing::Test {
protected:
  Check() {
    group_ = *Session::create({.devices = {device_}});
    std::shared_ptr<const vm::Module> modules[] = {*createCheckModule()};
    context_ = *vm::Context::create(modules);
  }

  // The message of a failed expectation, or "".
  std::string call(std::string_view name, std::vector<Value> arguments) {
    std::vector<Value> results;
    auto result = vm::call(*context_->lookup(name), arguments, results);
    if (result)
      return "";
    EXPECT_EQ(result.error().code(), vm::StatusCode::FailedPrecondition);
    return result.error().message();
  }
  template <class T>
  Value view(iree_hal_element_type_t type, std::vector<T> values,
             std::vector<iree_hal_dim_t> shape = {}) {
    if (shape.empty())
      shape = {values.size()};
    return makeView(device_, shape, type, values.data(), values.size() * sizeof(T));
  }
  Value floats(std::vector<float> values) { return view(IREE_HAL_ELEMENT_TYPE_FLOAT_32, values); }
  Value halves(std::vector<uint16_t> bits) { return view(IREE_HAL_ELEMENT_TYPE_FLOAT_16, bits); }
  Value device() { return RefPtr<iree_hal_device_t>::share(device_); }

  HostDevice device_;
  std::unique_ptr<Session> group_;
  std::unique_ptr<vm::Context> context_;
};

TEST_F(Check, SignaturesAreThoseThatProgramsImport) {
  auto module = *createCheckModule();
  for (auto [name, signature] : {std::pair{"expect_true", "0i_v"},
                                 {"expect_false", "0i_v"},
                                 {"expect_all_true", "0rr_v"},
                                 {"expect_eq", "0rrr_v"},
                                 {"expect_almost_eq", "0rrrff_v"}}) {
    auto index = module->findExport(name);
    ASSERT_TRUE(index);
    EXPECT_EQ(module->exports()[*index].signature->text, signature);
  }
}

TEST_F(Check, Booleans) {
  EXPECT_EQ(call("expect_true", {1}), "");
  EXPECT_NE(call("expect_true", {0}), "");
  EXPECT_EQ(call("expect_false", {0}), "");
  EXPECT_NE(call("expect_false", {2}), "");
  EXPECT_EQ(
      call("expect_all_true", {device(), view<int32_t>(IREE_HAL_ELEMENT_TYPE_SINT_32, {256, 1})}),
      "");
  EXPECT_THAT(
      call("expect_all_true", {device(), view<int32_t>(IREE_HAL_ELEMENT_TYPE_SINT_32, {1, 0, 3})}),
      HasSubstr("element 1 is 0"));
}

TEST_F(Check, EqualityIsExact) {
  EXPECT_EQ(call("expect_eq", {device(), floats({1, 2}), floats({1, 2})}), "");
  EXPECT_THAT(call("expect_eq", {device(), floats({1, 2}), floats({1, 2.0000002f})}),
              HasSubstr("element 1 differs"));
  EXPECT_THAT(call("expect_eq", {device(), floats({1, 2}), floats({1, 2, 3})}),
              HasSubstr("shapes or types differ"));
  EXPECT_THAT(call("expect_eq", {device(), floats({1, 2}),
                                 view<float>(IREE_HAL_ELEMENT_TYPE_FLOAT_32, {1, 2}, {2, 1})}),
              HasSubstr("shapes or types differ"));
}

TEST_F(Check, AlmostEqualTakesBothTolerances) {
  auto almost = [&](Value a, Value b, float absolute, float relative) {
    return call("expect_almost_eq", {device(), a, b, absolute, relative});
  };
  EXPECT_EQ(almost(floats({1, 100}), floats({1.05f, 100}), 0.1f, 0), "");
  EXPECT_NE(almost(floats({1, 100}), floats({1.2f, 100}), 0.1f, 0), "");
  EXPECT_EQ(almost(floats({101}), floats({100}), 0, 0.011f), "");
  EXPECT_NE(almost(floats({102}), floats({100}), 0, 0.011f), "");
  EXPECT_EQ(almost(floats({NAN, INFINITY}), floats({NAN, INFINITY}), 0, 0), "");
  EXPECT_NE(almost(floats({NAN}), floats({1}), 1, 1), "");
  EXPECT_NE(almost(floats({INFINITY}), floats({-INFINITY}), 1, 0), "");
  // 1.0, 0.5 and the smallest subnormal as halves; 1.0 and next above.
  EXPECT_EQ(almost(halves({0x3C00, 0x3800, 0x0001}), halves({0x3C01, 0x3800, 0x0000}), 0.001f, 0),
            "");
  EXPECT_THAT(almost(halves({0x3C00}), halves({0x4000}), 0.5f, 0),
              HasSubstr("element 0 is 1, expected 2"));
  EXPECT_EQ(almost(view<uint16_t>(IREE_HAL_ELEMENT_TYPE_BFLOAT_16, {0x3F80}),
                   view<uint16_t>(IREE_HAL_ELEMENT_TYPE_BFLOAT_16, {0x3F81}), 0.01f, 0),
            "");
  EXPECT_NE(almost(view<int32_t>(IREE_HAL_ELEMENT_TYPE_SINT_32, {1}),
                   view<int32_t>(IREE_HAL_ELEMENT_TYPE_SINT_32, {2}), 5, 0),
            "");
}

} // namespace
} // namespace bessemer::modules

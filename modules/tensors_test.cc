#include "modules/tensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "modules/session.h"
#include "modules/testing/host_session.h"

namespace bessemer::modules {
namespace {

using testing::HostDevice;

TEST(Tensors, GoToTheDeviceAndBack) {
  HostDevice device;
  auto session = Session::create({.devices = {device}});
  ASSERT_TRUE(session);
  std::vector<int16_t> values = {1, -2, 3, -4, 5, -6};
  auto value = toDevice<int16_t>(device, {3, 2}, values);
  ASSERT_TRUE(value) << value.error().toString();
  auto back = toHost(device, *value);
  ASSERT_TRUE(back) << back.error().toString();
  EXPECT_EQ(back->element_type, static_cast<uint32_t>(IREE_HAL_ELEMENT_TYPE_SINT_16));
  EXPECT_EQ(back->shape, (std::vector<iree_hal_dim_t>{3, 2}));
  EXPECT_EQ(std::memcmp(back->bytes.data(), values.data(), 12), 0);
  EXPECT_FALSE(toDevice<int16_t>(device, {4, 2}, values));
  auto empty = toDevice<float>(device, {0, 4}, {});
  ASSERT_TRUE(empty) << empty.error().toString();
  EXPECT_TRUE(toHost(device, *empty)->bytes.empty());
  EXPECT_FALSE(toHost(device, vm::Value(3)));
  EXPECT_EQ(elementTypeOf<float>(), static_cast<uint32_t>(IREE_HAL_ELEMENT_TYPE_FLOAT_32));
  EXPECT_EQ(elementTypeOf<uint64_t>(), static_cast<uint32_t>(IREE_HAL_ELEMENT_TYPE_UINT_64));
  EXPECT_EQ(elementTypeOf<bool>(), static_cast<uint32_t>(IREE_HAL_ELEMENT_TYPE_BOOL_8));
}

} // namespace
} // namespace bessemer::modules

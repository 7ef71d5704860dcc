#include "modules/check/check_module.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "hal/hal/small_float.h"
#include "modules/hal/status.h"
#include "modules/hal/types.h"
#include "vm/native_function.h"

namespace bessemer::modules {

namespace {

using vm::fail;
using vm::Required;
using vm::Result;
using vm::StatusCode;

struct State final : vm::NativeState {};

using View = Required<iree_hal_buffer_view_t>;
using Device = Required<iree_hal_device_t>;

std::string describe(iree_hal_buffer_view_t* view) {
  constexpr iree_host_size_t kMaxElements = 64;
  std::vector<char> text(4096);
  iree_host_size_t length = 0;
  iree_status_t status =
      iree_hal_buffer_view_format(view, kMaxElements, text.size(), text.data(), &length);
  if (iree_status_is_ok(status))
    return std::string(text.data(), length);
  iree_status_ignore(status);
  return "a tensor";
}

Result<std::vector<std::byte>> read(iree_hal_device_t* device, iree_hal_buffer_view_t* view) {
  std::vector<std::byte> bytes(iree_hal_buffer_view_byte_length(view));
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_device_transfer_d2h(
      device, iree_hal_buffer_view_buffer(view), 0, bytes.data(), bytes.size(),
      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout())));
  return bytes;
}

template <class T>
T loadAs(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// A reader of one element as a number; null for types without a numerical meaning here.
using ElementReader = double (*)(const std::byte* element);
ElementReader floatReader(iree_hal_element_type_t type) {
  switch (type) {
  case IREE_HAL_ELEMENT_TYPE_FLOAT_16:
    return [](const std::byte* e) { return hal::Float16::decode(loadAs<uint16_t>(e)); };
  case IREE_HAL_ELEMENT_TYPE_BFLOAT_16:
    return [](const std::byte* e) { return hal::BFloat16::decode(loadAs<uint16_t>(e)); };
  case IREE_HAL_ELEMENT_TYPE_FLOAT_32:
    return [](const std::byte* e) -> double { return loadAs<float>(e); };
  case IREE_HAL_ELEMENT_TYPE_FLOAT_64:
    return [](const std::byte* e) { return loadAs<double>(e); };
  default:
    return nullptr;
  }
}

Result<void> checkShapes(iree_hal_buffer_view_t* left, iree_hal_buffer_view_t* right) {
  size_t rank = iree_hal_buffer_view_shape_rank(left);
  bool equal = rank == iree_hal_buffer_view_shape_rank(right) &&
               iree_hal_buffer_view_element_type(left) == iree_hal_buffer_view_element_type(right);
  for (size_t i = 0; equal && i < rank; ++i)
    equal = iree_hal_buffer_view_shape_dim(left, i) == iree_hal_buffer_view_shape_dim(right, i);
  if (equal)
    return {};
  return fail(StatusCode::FailedPrecondition, "shapes or types differ: ", describe(left),
              ", expected ", describe(right));
}

Result<void> expectTrue(State&, int32_t value) {
  if (value)
    return {};
  return fail(StatusCode::FailedPrecondition, "expected true, got 0");
}

Result<void> expectFalse(State&, int32_t value) {
  if (!value)
    return {};
  return fail(StatusCode::FailedPrecondition, "expected false, got ", value);
}

Result<void> expectAllTrue(State&, Device device, View view) {
  BESSEMER_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, read(device, view));
  size_t width = iree_hal_buffer_view_element_size(view);
  for (size_t at = 0; width && at + width <= bytes.size(); at += width) {
    bool any = false;
    for (size_t k = 0; k < width; ++k)
      any |= bytes[at + k] != std::byte(0);
    if (!any)
      return fail(StatusCode::FailedPrecondition, "expected all true: element ", at / width,
                  " is 0 in ", describe(view));
  }
  return {};
}

Result<void> expectEqual(State&, Device device, View left, View right) {
  BESSEMER_RETURN_IF_ERROR(checkShapes(left, right));
  BESSEMER_ASSIGN_OR_RETURN(std::vector<std::byte> a, read(device, left));
  BESSEMER_ASSIGN_OR_RETURN(std::vector<std::byte> b, read(device, right));
  if (a == b)
    return {};
  size_t at = 0;
  while (a[at] == b[at])
    ++at;
  return fail(StatusCode::FailedPrecondition, "element ",
              at / iree_hal_buffer_view_element_size(left), " differs: ", describe(left),
              ", expected ", describe(right));
}

// |a - b| ≤ absolute + relative × |b|; NaN agrees with NaN. Integers must be equal.
Result<void> expectAlmostEqual(State& state, Device device, View left, View right, float absolute,
                               float relative) {
  ElementReader element = floatReader(iree_hal_buffer_view_element_type(left));
  if (!element)
    return expectEqual(state, device, left, right);
  BESSEMER_RETURN_IF_ERROR(checkShapes(left, right));
  BESSEMER_ASSIGN_OR_RETURN(std::vector<std::byte> a, read(device, left));
  BESSEMER_ASSIGN_OR_RETURN(std::vector<std::byte> b, read(device, right));
  size_t width = iree_hal_buffer_view_element_size(left);
  for (size_t at = 0; at + width <= a.size(); at += width) {
    double x = element(&a[at]);
    double y = element(&b[at]);
    bool close = x == y || (std::isnan(x) && std::isnan(y)) ||
                 std::abs(x - y) <= absolute + relative * std::abs(y);
    if (!close)
      return fail(StatusCode::FailedPrecondition, "element ", at / width, " is ", x, ", expected ",
                  y, " (tolerance ", absolute, " + ", relative, " of it): ", describe(left),
                  ", expected ", describe(right));
  }
  return {};
}

class CheckModule final : public vm::NativeModule {
public:
  CheckModule() : NativeModule("check", 0, functions()) {}
  Result<std::unique_ptr<vm::NativeState>> createState() const override {
    return std::make_unique<State>();
  }

private:
  static std::span<const vm::NativeFunction> functions() {
    static constexpr vm::NativeFunction all[] = {
        vm::bind<expectTrue>("expect_true"), vm::bind<expectFalse>("expect_false"),
        vm::bind<expectAllTrue>("expect_all_true"), vm::bind<expectEqual>("expect_eq"),
        vm::bind<expectAlmostEqual>("expect_almost_eq")};
    return all;
  }
};

} // namespace

vm::Result<std::shared_ptr<const vm::NativeModule>> createCheckModule() {
  return std::make_shared<const CheckModule>();
}

} // namespace bessemer::modules

// Arrays between the host and a device.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "iree/hal/api.h"
#include "modules/hal/types.h"
#include "vm/value.h"

namespace bessemer::modules {

// A dense row-major array in host memory.
struct HostTensor {
  iree_hal_element_type_t element_type = IREE_HAL_ELEMENT_TYPE_NONE;
  std::vector<iree_hal_dim_t> shape;
  std::vector<std::byte> bytes;
};

// A copy of `bytes` in the memory of `device`, as a value that functions take. The bytes are as
// many as shape and type say, else INVALID_ARGUMENT.
vm::Result<vm::Value> toDevice(iree_hal_device_t* device, iree_hal_element_type_t element_type,
                               std::span<const iree_hal_dim_t> shape,
                               std::span<const std::byte> bytes);

// A copy in host memory of a value that a function returned; INVALID_ARGUMENT when it is no array.
vm::Result<HostTensor> toHost(iree_hal_device_t* device, const vm::Value& value);

// The element type of a C++ number.
template <class T>
constexpr iree_hal_element_type_t elementTypeOf() {
  constexpr auto bits = static_cast<uint32_t>(sizeof(T) * 8);
  if constexpr (std::is_same_v<T, bool>)
    return IREE_HAL_ELEMENT_TYPE_BOOL_8;
  else if constexpr (std::is_floating_point_v<T>)
    return IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_FLOAT_IEEE, bits);
  else
    return IREE_HAL_ELEMENT_TYPE_VALUE(std::is_signed_v<T>
                                           ? IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED
                                           : IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED,
                                       bits);
}

template <class T>
vm::Result<vm::Value> toDevice(iree_hal_device_t* device, std::vector<iree_hal_dim_t> shape,
                               std::span<const T> values) {
  return toDevice(device, elementTypeOf<T>(), shape, std::as_bytes(values));
}

} // namespace bessemer::modules

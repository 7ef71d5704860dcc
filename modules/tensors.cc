#include "modules/tensors.h"

#include "modules/hal/status.h"

namespace bessemer::modules {

using vm::fail;
using vm::StatusCode;

vm::Result<vm::Value> toDevice(iree_hal_device_t* device, iree_hal_element_type_t element_type,
                               std::span<const iree_hal_dim_t> shape,
                               std::span<const std::byte> bytes) {
  iree_device_size_t needed = 0;
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_buffer_compute_view_size(
      shape.size(), shape.data(), element_type, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, &needed)));
  if (needed != bytes.size())
    return fail(StatusCode::InvalidArgument, "the array has ", needed, " bytes, ", bytes.size(),
                " are given");
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT;
  vm::RefPtr<iree_hal_buffer_view_t> view;
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_buffer_view_allocate_buffer_copy(
      device, iree_hal_device_allocator(device), shape.size(), shape.data(), element_type,
      IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
      iree_make_const_byte_span(bytes.data(), bytes.size()), view.put())));
  return vm::Value(std::move(view));
}

vm::Result<HostTensor> toHost(iree_hal_device_t* device, const vm::Value& value) {
  auto* view = value.as<iree_hal_buffer_view_t>();
  if (!view)
    return fail(StatusCode::InvalidArgument, "the value is no array but a ",
                value.isRef() ? value.ref().typeName() : vm::valueTypeName(value.type()));
  HostTensor tensor;
  tensor.element_type = iree_hal_buffer_view_element_type(view);
  const iree_hal_dim_t* dims = iree_hal_buffer_view_shape_dims(view);
  tensor.shape.assign(dims, dims + iree_hal_buffer_view_shape_rank(view));
  tensor.bytes.resize(iree_hal_buffer_view_byte_length(view));
  if (!tensor.bytes.empty())
    BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_device_transfer_d2h(
        device, iree_hal_buffer_view_buffer(view), 0, tensor.bytes.data(), tensor.bytes.size(),
        IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout())));
  return tensor;
}

} // namespace bessemer::modules

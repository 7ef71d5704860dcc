// hal.buffer.*
#include "modules/hal/state.h"

namespace bessemer::modules::hal {

namespace {

Result<void> assertBuffer(State&, Required<iree_hal_buffer_t> buffer, vm::Buffer* name,
                          iree_hal_allocator_t*, int64_t minimum_length, uint32_t memory_types,
                          uint32_t usage) {
  std::string_view label = name ? name->text() : std::string_view("buffer");
  iree_hal_memory_type_t types = iree_hal_buffer_memory_type(buffer);
  if ((types & memory_types) != memory_types) {
    iree_bitfield_string_temp_t found, wanted;
    iree_string_view_t found_text = iree_hal_memory_type_format(types, &found);
    iree_string_view_t wanted_text = iree_hal_memory_type_format(memory_types, &wanted);
    return vm::fail(StatusCode::PermissionDenied, label, ": memory is ",
                    std::string_view(found_text.data, found_text.size), ", the program needs ",
                    std::string_view(wanted_text.data, wanted_text.size));
  }
  iree_hal_buffer_usage_t allowed = iree_hal_buffer_allowed_usage(buffer);
  if ((allowed & usage) != usage) {
    iree_bitfield_string_temp_t found, wanted;
    iree_string_view_t found_text = iree_hal_buffer_usage_format(allowed, &found);
    iree_string_view_t wanted_text = iree_hal_buffer_usage_format(usage, &wanted);
    return vm::fail(StatusCode::PermissionDenied, label, ": the buffer allows ",
                    std::string_view(found_text.data, found_text.size), ", the program needs ",
                    std::string_view(wanted_text.data, wanted_text.size));
  }
  uint64_t length = iree_hal_buffer_byte_length(buffer);
  if (minimum_length > 0 && length < static_cast<uint64_t>(minimum_length))
    return vm::fail(StatusCode::InvalidArgument, label, ": the buffer has ", length,
                    " bytes, the program needs ", minimum_length);
  return {};
}

Result<int64_t> length(State&, Required<iree_hal_buffer_t> buffer) {
  return static_cast<int64_t>(iree_hal_buffer_byte_length(buffer));
}

Result<RefPtr<iree_hal_buffer_t>> subspan(State& state, Required<iree_hal_buffer_t> buffer,
                                          uint64_t offset, uint64_t length) {
  RefPtr<iree_hal_buffer_t> view;
  iree_status_t status =
      iree_hal_buffer_subspan(buffer, offset, length, state.options.host_allocator, view.put());
  return made(status, std::move(view));
}

Result<void> checkElementLength(int32_t length) {
  if (length == 1 || length == 2 || length == 4)
    return {};
  return vm::fail(StatusCode::InvalidArgument, "an element of ", length, " bytes");
}

// The program has waited for whoever wrote the buffer. Bytes are zero-extended.
Result<int32_t> load(State&, Required<iree_hal_buffer_t> buffer, uint64_t offset, int32_t length) {
  BESSEMER_RETURN_IF_ERROR(checkElementLength(length));
  uint32_t value = 0;
  BESSEMER_RETURN_IF_ERROR(
      fromStatus(iree_hal_buffer_map_read(buffer, offset, &value, static_cast<size_t>(length))));
  return static_cast<int32_t>(value);
}

Result<void> store(State&, int32_t value, Required<iree_hal_buffer_t> buffer, uint64_t offset,
                   int32_t length) {
  BESSEMER_RETURN_IF_ERROR(checkElementLength(length));
  return fromStatus(iree_hal_buffer_map_write(buffer, offset, &value, static_cast<size_t>(length)));
}

Result<void> preserve(State&, Required<iree_hal_buffer_t> buffer) {
  iree_hal_buffer_allocation_preserve(buffer);
  return {};
}

Result<int32_t> discard(State&, Required<iree_hal_buffer_t> buffer) {
  return static_cast<int32_t>(iree_hal_buffer_allocation_discard(buffer));
}

Result<int32_t> isTerminal(State&, Required<iree_hal_buffer_t> buffer) {
  return static_cast<int32_t>(iree_hal_buffer_allocation_is_terminal(buffer));
}

} // namespace

std::span<const vm::NativeFunction> bufferFunctions() {
  static constexpr vm::NativeFunction functions[] = {
      vm::bind<discard>("buffer.allocation.discard"),
      vm::bind<isTerminal>("buffer.allocation.is_terminal"),
      vm::bind<preserve>("buffer.allocation.preserve"),
      vm::bind<assertBuffer>("buffer.assert"),
      vm::bind<length>("buffer.length"),
      vm::bind<load>("buffer.load"),
      vm::bind<store>("buffer.store"),
      vm::bind<subspan>("buffer.subspan"),
  };
  return functions;
}

} // namespace bessemer::modules::hal

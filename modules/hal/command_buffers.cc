// hal.command_buffer.*: recording. A buffer argument that is null stands for a slot of the binding
// table given at execution.
#include "modules/hal/state.h"

namespace bessemer::modules::hal {

namespace {

iree_hal_buffer_ref_t refTo(iree_hal_buffer_t* buffer, uint32_t slot, uint64_t offset,
                            uint64_t length) {
  return buffer ? iree_hal_make_buffer_ref(buffer, offset, length)
                : iree_hal_make_indirect_buffer_ref(slot, offset, length);
}

// Begins recording too.
Result<RefPtr<iree_hal_command_buffer_t>> create(State&, Required<iree_hal_device_t> device,
                                                 uint32_t mode, uint32_t categories,
                                                 int64_t affinity, uint32_t binding_capacity) {
  RefPtr<iree_hal_command_buffer_t> commands;
  iree_status_t status = iree_hal_command_buffer_create(
      device, mode, categories, static_cast<iree_hal_queue_affinity_t>(affinity), binding_capacity,
      commands.put());
  if (iree_status_is_ok(status))
    status = iree_hal_command_buffer_begin(commands.get());
  return made(status, std::move(commands));
}

Result<void> finalize(State&, Required<iree_hal_command_buffer_t> commands) {
  return fromStatus(iree_hal_command_buffer_end(commands));
}

Result<void> beginDebugGroup(State&, Required<iree_hal_command_buffer_t> commands,
                             vm::Buffer* label) {
  return fromStatus(iree_hal_command_buffer_begin_debug_group(
      commands, textOf(label), iree_hal_label_color_unspecified(), nullptr));
}

Result<void> endDebugGroup(State&, Required<iree_hal_command_buffer_t> commands) {
  return fromStatus(iree_hal_command_buffer_end_debug_group(commands));
}

// Everything before is visible to everything after.
Result<void> executionBarrier(State&, Required<iree_hal_command_buffer_t> commands,
                              uint32_t source_stages, uint32_t target_stages, uint64_t flags) {
  constexpr iree_hal_access_scope_t kWrites =
      IREE_HAL_ACCESS_SCOPE_DISPATCH_WRITE | IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE;
  constexpr iree_hal_access_scope_t kAccesses =
      IREE_HAL_ACCESS_SCOPE_INDIRECT_COMMAND_READ | IREE_HAL_ACCESS_SCOPE_CONSTANT_READ |
      IREE_HAL_ACCESS_SCOPE_DISPATCH_READ | IREE_HAL_ACCESS_SCOPE_DISPATCH_WRITE |
      IREE_HAL_ACCESS_SCOPE_TRANSFER_READ | IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE;
  iree_hal_memory_barrier_t barrier = {kWrites, kAccesses};
  return fromStatus(iree_hal_command_buffer_execution_barrier(
      commands, source_stages, target_stages, flags, 1, &barrier, 0, nullptr));
}

Result<void> adviseBuffer(State&, Required<iree_hal_command_buffer_t> commands,
                          iree_hal_buffer_t* buffer, uint64_t flags, uint64_t first,
                          uint64_t second, uint32_t slot) {
  return fromStatus(iree_hal_command_buffer_advise_buffer(
      commands, refTo(buffer, slot, 0, IREE_HAL_WHOLE_BUFFER), flags, first, second));
}

Result<void> fillBuffer(State&, Required<iree_hal_command_buffer_t> commands,
                        iree_hal_buffer_t* target, uint64_t offset, uint64_t length, uint32_t slot,
                        uint64_t pattern, uint32_t pattern_length, uint64_t flags) {
  return fromStatus(iree_hal_command_buffer_fill_buffer(
      commands, refTo(target, slot, offset, length), &pattern, pattern_length, flags));
}

Result<void> updateBuffer(State&, Required<iree_hal_command_buffer_t> commands,
                          Required<vm::Buffer> source, uint64_t source_offset,
                          iree_hal_buffer_t* target, uint64_t target_offset, uint64_t length,
                          uint32_t target_slot, uint64_t flags) {
  BESSEMER_RETURN_IF_ERROR(source->range(source_offset, length));
  return fromStatus(iree_hal_command_buffer_update_buffer(
      commands, source->data(), source_offset, refTo(target, target_slot, target_offset, length),
      flags));
}

Result<void> copyBuffer(State&, Required<iree_hal_command_buffer_t> commands, uint32_t source_slot,
                        uint32_t target_slot, iree_hal_buffer_t* source, uint64_t source_offset,
                        iree_hal_buffer_t* target, uint64_t target_offset, uint64_t length,
                        uint64_t flags) {
  return fromStatus(iree_hal_command_buffer_copy_buffer(
      commands, refTo(source, source_slot, source_offset, length),
      refTo(target, target_slot, target_offset, length), flags));
}

Result<void> collective(State&, Required<iree_hal_command_buffer_t> commands,
                        Required<iree_hal_channel_t> channel, uint32_t op, uint32_t param,
                        uint32_t send_slot, uint32_t receive_slot, iree_hal_buffer_t* send,
                        iree_hal_buffer_t* receive, uint64_t send_offset, uint64_t send_length,
                        uint64_t receive_offset, uint64_t receive_length, uint64_t element_count) {
  iree_hal_collective_op_t operation = {};
  operation.packed = op;
  // Sends only receive nothing, and the other way round.
  auto optional = [](iree_hal_buffer_t* buffer, uint32_t slot, uint64_t offset, uint64_t length) {
    return buffer || length ? refTo(buffer, slot, offset, length) : iree_hal_buffer_ref_t{};
  };
  return fromStatus(iree_hal_command_buffer_collective(
      commands, channel, operation, param, optional(send, send_slot, send_offset, send_length),
      optional(receive, receive_slot, receive_offset, receive_length), element_count));
}

using Binding = Span<uint32_t, uint32_t, iree_hal_buffer_t*, uint64_t, uint64_t>;

// Constants and bindings of a dispatch as the HAL takes them.
class DispatchArguments {
public:
  DispatchArguments(Span<uint32_t> constants, Binding bindings) {
    constants_.reserve(constants.size());
    for (size_t i = 0; i < constants.size(); ++i)
      constants_.push_back(constants[i]);
    bindings_.reserve(bindings.size());
    for (size_t i = 0; i < bindings.size(); ++i) {
      auto [reserved, slot, buffer, offset, length] = bindings[i];
      bindings_.push_back(refTo(buffer, slot, offset, length));
    }
  }
  iree_const_byte_span_t constants() const {
    return iree_make_const_byte_span(constants_.data(), constants_.size() * sizeof(uint32_t));
  }
  iree_hal_buffer_ref_list_t bindings() const { return {bindings_.size(), bindings_.data()}; }

private:
  std::vector<uint32_t> constants_;
  std::vector<iree_hal_buffer_ref_t> bindings_;
};

Result<void> dispatch(State&, Required<iree_hal_command_buffer_t> commands,
                      Required<iree_hal_executable_t> executable, uint64_t function, uint32_t x,
                      uint32_t y, uint32_t z, uint64_t flags, Span<uint32_t> constants,
                      Binding bindings) {
  DispatchArguments arguments(constants, bindings);
  return fromStatus(iree_hal_command_buffer_dispatch(
      commands, executable, iree_hal_executable_function_from_value(function),
      iree_hal_make_static_dispatch_config(x, y, z), arguments.constants(), arguments.bindings(),
      flags));
}

// The number of workgroups is read from a buffer.
Result<void> dispatchIndirect(State&, Required<iree_hal_command_buffer_t> commands,
                              Required<iree_hal_executable_t> executable, uint64_t function,
                              uint32_t count_slot, iree_hal_buffer_t* count_buffer,
                              uint64_t count_offset, uint64_t flags, Span<uint32_t> constants,
                              Binding bindings) {
  DispatchArguments arguments(constants, bindings);
  iree_hal_dispatch_config_t config = {};
  config.workgroup_count_ref = refTo(count_buffer, count_slot, count_offset, 3 * sizeof(uint32_t));
  if (!iree_hal_dispatch_uses_indirect_parameters(flags))
    flags |= IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS;
  return fromStatus(iree_hal_command_buffer_dispatch(
      commands, executable, iree_hal_executable_function_from_value(function), config,
      arguments.constants(), arguments.bindings(), flags));
}

} // namespace

std::span<const vm::NativeFunction> commandBufferFunctions() {
  static constexpr vm::NativeFunction functions[] = {
      vm::bind<adviseBuffer>("command_buffer.advise_buffer"),
      vm::bind<beginDebugGroup>("command_buffer.begin_debug_group"),
      vm::bind<collective>("command_buffer.collective"),
      vm::bind<copyBuffer>("command_buffer.copy_buffer"),
      vm::bind<create>("command_buffer.create"),
      vm::bind<dispatch>("command_buffer.dispatch"),
      vm::bind<dispatchIndirect>("command_buffer.dispatch.indirect"),
      vm::bind<endDebugGroup>("command_buffer.end_debug_group"),
      vm::bind<executionBarrier>("command_buffer.execution_barrier"),
      vm::bind<fillBuffer>("command_buffer.fill_buffer"),
      vm::bind<finalize>("command_buffer.finalize"),
      vm::bind<updateBuffer>("command_buffer.update_buffer"),
  };
  return functions;
}

} // namespace bessemer::modules::hal

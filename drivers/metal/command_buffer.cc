#include "drivers/metal/command_buffer.h"

#include <new>

namespace bessemer::metal_driver {
namespace {

struct CommandBuffer {
  iree_hal_command_buffer_t base;
  iree_allocator_t host_allocator;
  std::shared_ptr<CommandList> list;

  static CommandBuffer* From(iree_hal_command_buffer_t* base) {
    return reinterpret_cast<CommandBuffer*>(base);
  }
};

CommandList& ListOf(iree_hal_command_buffer_t* base) { return *CommandBuffer::From(base)->list; }

void Destroy(iree_hal_command_buffer_t* base) {
  CommandBuffer* command_buffer = CommandBuffer::From(base);
  iree_allocator_t host_allocator = command_buffer->host_allocator;
  command_buffer->~CommandBuffer();
  iree_allocator_free(host_allocator, command_buffer);
}

iree_status_t Begin(iree_hal_command_buffer_t*) { return iree_ok_status(); }

iree_status_t End(iree_hal_command_buffer_t* base) { return ListOf(base).Finish(); }

iree_status_t BeginDebugGroup(iree_hal_command_buffer_t* base, iree_string_view_t label,
                              iree_hal_label_color_t, const iree_hal_label_location_t*) {
  return ListOf(base).PushDebugGroup(label);
}

iree_status_t EndDebugGroup(iree_hal_command_buffer_t* base) {
  return ListOf(base).PopDebugGroup();
}

iree_status_t ExecutionBarrier(iree_hal_command_buffer_t* base, iree_hal_execution_stage_t,
                               iree_hal_execution_stage_t, iree_hal_execution_barrier_flags_t flags,
                               iree_host_size_t, const iree_hal_memory_barrier_t*, iree_host_size_t,
                               const iree_hal_buffer_barrier_t*) {
  if (flags != IREE_HAL_EXECUTION_BARRIER_FLAG_NONE) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "unknown flags of a barrier: 0x%" PRIx64,
                            flags);
  }
  // Memory is coherent within a device, so that every barrier is one between commands. The stage of
  // the host orders nothing here: the host sees effects when the submission signals.
  return ListOf(base).Barrier();
}

iree_status_t SignalEvent(iree_hal_command_buffer_t* base, iree_hal_event_t* event,
                          iree_hal_execution_stage_t) {
  return ListOf(base).SignalEvent(event);
}

iree_status_t ResetEvent(iree_hal_command_buffer_t* base, iree_hal_event_t* event,
                         iree_hal_execution_stage_t) {
  return ListOf(base).ResetEvent(event);
}

iree_status_t WaitEvents(iree_hal_command_buffer_t* base, iree_host_size_t event_count,
                         const iree_hal_event_t** events, iree_hal_execution_stage_t,
                         iree_hal_execution_stage_t, iree_host_size_t,
                         const iree_hal_memory_barrier_t*, iree_host_size_t,
                         const iree_hal_buffer_barrier_t*) {
  return ListOf(base).WaitEvents(event_count, events);
}

// Hints on memory have no effect on Metal.
iree_status_t AdviseBuffer(iree_hal_command_buffer_t*, iree_hal_buffer_ref_t,
                           iree_hal_memory_advise_flags_t, uint64_t, uint64_t) {
  return iree_ok_status();
}

iree_status_t FillBuffer(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t target_ref,
                         const void* pattern, iree_host_size_t pattern_length,
                         iree_hal_fill_flags_t) {
  return ListOf(base).Fill(target_ref, pattern, pattern_length);
}

iree_status_t UpdateBuffer(iree_hal_command_buffer_t* base, const void* source_buffer,
                           iree_host_size_t source_offset, iree_hal_buffer_ref_t target_ref,
                           iree_hal_update_flags_t) {
  return ListOf(base).Update(static_cast<const uint8_t*>(source_buffer) + source_offset,
                             target_ref);
}

iree_status_t CopyBuffer(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t source_ref,
                         iree_hal_buffer_ref_t target_ref, iree_hal_copy_flags_t) {
  return ListOf(base).Copy(source_ref, target_ref);
}

iree_status_t Collective(iree_hal_command_buffer_t*, iree_hal_channel_t*, iree_hal_collective_op_t,
                         uint32_t, iree_hal_buffer_ref_t, iree_hal_buffer_ref_t,
                         iree_device_size_t) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "collectives between Metal devices");
}

iree_status_t Dispatch(iree_hal_command_buffer_t* base, iree_hal_executable_t* executable,
                       iree_hal_executable_function_t function,
                       const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                       iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  return ListOf(base).Dispatch(executable, function, config, constants, bindings, flags);
}

constexpr iree_hal_command_buffer_vtable_t kVtable = {
    .destroy = Destroy,
    .begin = Begin,
    .end = End,
    .begin_debug_group = BeginDebugGroup,
    .end_debug_group = EndDebugGroup,
    .execution_barrier = ExecutionBarrier,
    .signal_event = SignalEvent,
    .reset_event = ResetEvent,
    .wait_events = WaitEvents,
    .advise_buffer = AdviseBuffer,
    .fill_buffer = FillBuffer,
    .update_buffer = UpdateBuffer,
    .copy_buffer = CopyBuffer,
    .collective = Collective,
    .dispatch = Dispatch,
};

} // namespace

iree_status_t
CreateCommandBuffer(iree_hal_allocator_t* device_allocator, iree_hal_command_buffer_mode_t mode,
                    iree_hal_command_category_t command_categories,
                    iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                    std::unique_ptr<CommandList> list, iree_allocator_t host_allocator,
                    iree_hal_command_buffer_t** out_command_buffer) {
  static_assert(offsetof(CommandBuffer, base) == 0);
  *out_command_buffer = nullptr;
  iree_host_size_t state_size =
      iree_hal_command_buffer_validation_state_size(mode, binding_capacity);
  iree_host_size_t state_offset = iree_sizeof_struct(CommandBuffer);
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_with_trailing(host_allocator, state_offset, state_size, &storage));
  auto* command_buffer = new (storage) CommandBuffer{};
  iree_hal_command_buffer_initialize(
      device_allocator, mode, command_categories, queue_affinity, binding_capacity,
      state_size ? static_cast<uint8_t*>(storage) + state_offset : nullptr, &kVtable,
      &command_buffer->base);
  command_buffer->host_allocator = host_allocator;
  command_buffer->list = std::move(list);
  *out_command_buffer = &command_buffer->base;
  return iree_ok_status();
}

const CommandList* CommandListOf(iree_hal_command_buffer_t* command_buffer) {
  return iree_hal_resource_is(command_buffer, &kVtable)
             ? CommandBuffer::From(command_buffer)->list.get()
             : nullptr;
}

} // namespace bessemer::metal_driver

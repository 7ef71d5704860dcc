#include "iree/hal/command_buffer.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "hal/hal/command_buffer_validation.h"
#include "hal/hal/object.h"
#include "iree/hal/device.h"

using bessemer::hal::CommandBufferValidation;
using bessemer::hal::vtableOf;
using Vtable = iree_hal_command_buffer_vtable_t;

//===--- references and tables ----------------------------------------------------------------===//

iree_status_t iree_hal_buffer_ref_normalize(iree_hal_buffer_ref_t* buffer_ref) {
  if (!buffer_ref->buffer)
    return iree_ok_status();
  iree_hal_buffer_binding_t binding = {buffer_ref->buffer, buffer_ref->offset, buffer_ref->length};
  IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_normalize(&binding));
  buffer_ref->buffer = binding.buffer;
  buffer_ref->offset = binding.offset;
  buffer_ref->length = binding.length;
  return iree_ok_status();
}

iree_status_t iree_hal_buffer_binding_normalize(iree_hal_buffer_binding_t* binding) {
  iree_hal_buffer_t* buffer = binding->buffer;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(
      iree_hal_buffer_byte_offset(buffer), iree_hal_buffer_byte_length(buffer), binding->offset,
      binding->length, &binding->offset, &binding->length));
  binding->buffer = iree_hal_buffer_allocated_buffer(buffer);
  return iree_ok_status();
}

//===--- text ---------------------------------------------------------------------------------===//

iree_string_view_t iree_hal_collective_op_format(const iree_hal_collective_op_t* op,
                                                 iree_bitfield_string_temp_t* out_temp) {
  static constexpr const char* kKinds[] = {"all_gather", "all_reduce", "all_to_all",
                                           "broadcast",  "reduce",     "reduce_scatter",
                                           "send",       "recv",       "send_recv"};
  static constexpr const char* kReductions[] = {nullptr,   "sum",     "product",
                                                "minimum", "maximum", "average"};
  static constexpr const char* kElementTypes[] = {"si8",  "ui8",  "si16", "ui16", "si32", "ui32",
                                                  "si64", "ui64", "f16",  "f32",  "f64",  "bf16"};
  auto nameOf = [](auto& names, unsigned i) { return i < std::size(names) ? names[i] : "?"; };
  const char* reduction = nameOf(kReductions, op->reduction);
  const int length = std::snprintf(
      out_temp->buffer, sizeof(out_temp->buffer), "%s%s%s %s", nameOf(kKinds, op->kind),
      reduction ? " " : "", reduction ? reduction : "", nameOf(kElementTypes, op->element_type));
  return iree_make_string_view(out_temp->buffer, length);
}

iree_device_size_t
iree_hal_collective_element_byte_count(iree_hal_collective_element_type_t element_type) {
  static constexpr uint8_t kByteCounts[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return element_type < std::size(kByteCounts) ? kByteCounts[element_type] : 0;
}

//===--- objects ------------------------------------------------------------------------------===//

iree_status_t iree_hal_command_buffer_create(iree_hal_device_t* device,
                                             iree_hal_command_buffer_mode_t mode,
                                             iree_hal_command_category_t command_categories,
                                             iree_hal_queue_affinity_t queue_affinity,
                                             iree_host_size_t binding_capacity,
                                             iree_hal_command_buffer_t** out_command_buffer) {
  *out_command_buffer = nullptr;
  if (iree_any_bit_set(mode, IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION)) {
    if (!iree_any_bit_set(mode, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "only one-shot command buffers may execute while recording");
    }
    if (binding_capacity > 0) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "command buffers with binding tables cannot execute while recording");
    }
  }
  return vtableOf<iree_hal_device_vtable_t>(device).create_command_buffer(
      device, mode, command_categories, queue_affinity, binding_capacity, out_command_buffer);
}

iree_host_size_t iree_hal_command_buffer_validation_state_size(iree_hal_command_buffer_mode_t mode,
                                                               iree_host_size_t binding_capacity) {
#if IREE_HAL_COMMAND_BUFFER_VALIDATION_ENABLE
  if (!iree_any_bit_set(mode, IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED)) {
    return CommandBufferValidation::sizeFor(binding_capacity);
  }
#else
  (void)mode;
  (void)binding_capacity;
#endif
  return 0;
}

void iree_hal_command_buffer_initialize(iree_hal_allocator_t* device_allocator,
                                        iree_hal_command_buffer_mode_t mode,
                                        iree_hal_command_category_t command_categories,
                                        iree_hal_queue_affinity_t queue_affinity,
                                        iree_host_size_t binding_capacity, void* validation_state,
                                        const iree_hal_command_buffer_vtable_t* vtable,
                                        iree_hal_command_buffer_t* command_buffer) {
  static std::atomic<uint64_t> nextProfileId{1};
#if !IREE_HAL_COMMAND_BUFFER_VALIDATION_ENABLE
  mode |= IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED;
#endif
  iree_hal_resource_initialize(vtable, &command_buffer->resource);
  command_buffer->mode = mode;
  command_buffer->allowed_categories = command_categories;
  command_buffer->queue_affinity = queue_affinity;
  command_buffer->profile_id = nextProfileId.fetch_add(1, std::memory_order_relaxed);
  command_buffer->binding_capacity = static_cast<uint32_t>(binding_capacity);
  command_buffer->binding_count = 0;
  command_buffer->validation_state = nullptr;
  if (validation_state && !iree_any_bit_set(mode, IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED)) {
    command_buffer->validation_state =
        CommandBufferValidation::createAt(validation_state, device_allocator, binding_capacity);
  }
}

void iree_hal_command_buffer_retain(iree_hal_command_buffer_t* command_buffer) {
  iree_hal_resource_retain(command_buffer);
}

void iree_hal_command_buffer_release(iree_hal_command_buffer_t* command_buffer) {
  iree_hal_resource_release(command_buffer);
}

void iree_hal_command_buffer_destroy(iree_hal_command_buffer_t* command_buffer) {
  if (command_buffer)
    vtableOf<Vtable>(command_buffer).destroy(command_buffer);
}

iree_hal_command_buffer_mode_t
iree_hal_command_buffer_mode(const iree_hal_command_buffer_t* command_buffer) {
  return command_buffer->mode;
}

iree_hal_command_category_t
iree_hal_command_buffer_allowed_categories(const iree_hal_command_buffer_t* command_buffer) {
  return command_buffer->allowed_categories;
}

iree_hal_queue_affinity_t
iree_hal_command_buffer_queue_affinity(const iree_hal_command_buffer_t* command_buffer) {
  return command_buffer->queue_affinity;
}

uint64_t iree_hal_command_buffer_profile_id(const iree_hal_command_buffer_t* command_buffer) {
  return command_buffer->profile_id;
}

//===--- recording ----------------------------------------------------------------------------===//

namespace {

/// Runs `check` on the command buffer's validation when it has one.
template <typename Check>
iree_status_t validate(iree_hal_command_buffer_t* commandBuffer, Check check) {
  CommandBufferValidation* validation = CommandBufferValidation::of(commandBuffer);
  return validation ? check(*validation) : iree_ok_status();
}

/// Notes that a table with room for `ref`'s slot will be needed.
void countSlot(iree_hal_command_buffer_t* commandBuffer, iree_hal_buffer_ref_t ref) {
  if (ref.buffer || commandBuffer->binding_capacity == 0)
    return;
  commandBuffer->binding_count =
      std::max(commandBuffer->binding_count, static_cast<uint32_t>(ref.buffer_slot) + 1);
}

} // namespace

iree_status_t iree_hal_command_buffer_begin(iree_hal_command_buffer_t* command_buffer) {
  IREE_RETURN_IF_ERROR(validate(command_buffer, [](auto& state) { return state.begin(); }));
  return vtableOf<Vtable>(command_buffer).begin(command_buffer);
}

iree_status_t iree_hal_command_buffer_end(iree_hal_command_buffer_t* command_buffer) {
  IREE_RETURN_IF_ERROR(validate(command_buffer, [](auto& state) { return state.end(); }));
  return vtableOf<Vtable>(command_buffer).end(command_buffer);
}

iree_status_t iree_hal_command_buffer_begin_debug_group(iree_hal_command_buffer_t* command_buffer,
                                                        iree_string_view_t label,
                                                        iree_hal_label_color_t label_color,
                                                        const iree_hal_label_location_t* location) {
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    iree_status_t status = state.recording(command_buffer, 0);
    return iree_status_is_ok(status) ? state.beginDebugGroup() : status;
  }));
  return vtableOf<Vtable>(command_buffer)
      .begin_debug_group(command_buffer, label, label_color, location);
}

iree_status_t iree_hal_command_buffer_end_debug_group(iree_hal_command_buffer_t* command_buffer) {
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    iree_status_t status = state.recording(command_buffer, 0);
    return iree_status_is_ok(status) ? state.endDebugGroup() : status;
  }));
  return vtableOf<Vtable>(command_buffer).end_debug_group(command_buffer);
}

iree_status_t iree_hal_command_buffer_execution_barrier(
    iree_hal_command_buffer_t* command_buffer, iree_hal_execution_stage_t source_stage_mask,
    iree_hal_execution_stage_t target_stage_mask, iree_hal_execution_barrier_flags_t flags,
    iree_host_size_t memory_barrier_count, const iree_hal_memory_barrier_t* memory_barriers,
    iree_host_size_t buffer_barrier_count, const iree_hal_buffer_barrier_t* buffer_barriers) {
  IREE_RETURN_IF_ERROR(
      validate(command_buffer, [&](auto& state) { return state.recording(command_buffer, 0); }));
  return vtableOf<Vtable>(command_buffer)
      .execution_barrier(command_buffer, source_stage_mask, target_stage_mask, flags,
                         memory_barrier_count, memory_barriers, buffer_barrier_count,
                         buffer_barriers);
}

iree_status_t iree_hal_command_buffer_signal_event(iree_hal_command_buffer_t* command_buffer,
                                                   iree_hal_event_t* event,
                                                   iree_hal_execution_stage_t source_stage_mask) {
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    return state.recording(command_buffer, IREE_HAL_COMMAND_CATEGORY_DISPATCH);
  }));
  return vtableOf<Vtable>(command_buffer).signal_event(command_buffer, event, source_stage_mask);
}

iree_status_t iree_hal_command_buffer_reset_event(iree_hal_command_buffer_t* command_buffer,
                                                  iree_hal_event_t* event,
                                                  iree_hal_execution_stage_t source_stage_mask) {
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    return state.recording(command_buffer, IREE_HAL_COMMAND_CATEGORY_DISPATCH);
  }));
  return vtableOf<Vtable>(command_buffer).reset_event(command_buffer, event, source_stage_mask);
}

iree_status_t iree_hal_command_buffer_wait_events(
    iree_hal_command_buffer_t* command_buffer, iree_host_size_t event_count,
    const iree_hal_event_t** events, iree_hal_execution_stage_t source_stage_mask,
    iree_hal_execution_stage_t target_stage_mask, iree_host_size_t memory_barrier_count,
    const iree_hal_memory_barrier_t* memory_barriers, iree_host_size_t buffer_barrier_count,
    const iree_hal_buffer_barrier_t* buffer_barriers) {
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    return state.recording(command_buffer, IREE_HAL_COMMAND_CATEGORY_DISPATCH);
  }));
  return vtableOf<Vtable>(command_buffer)
      .wait_events(command_buffer, event_count, events, source_stage_mask, target_stage_mask,
                   memory_barrier_count, memory_barriers, buffer_barrier_count, buffer_barriers);
}

iree_status_t iree_hal_command_buffer_advise_buffer(iree_hal_command_buffer_t* command_buffer,
                                                    iree_hal_buffer_ref_t buffer_ref,
                                                    iree_hal_memory_advise_flags_t flags,
                                                    uint64_t arg0, uint64_t arg1) {
  IREE_RETURN_IF_ERROR(validate(
      command_buffer, [&](auto& state) { return state.advise(command_buffer, buffer_ref); }));
  countSlot(command_buffer, buffer_ref);
  return vtableOf<Vtable>(command_buffer)
      .advise_buffer(command_buffer, buffer_ref, flags, arg0, arg1);
}

iree_status_t iree_hal_command_buffer_fill_buffer(iree_hal_command_buffer_t* command_buffer,
                                                  iree_hal_buffer_ref_t target_ref,
                                                  const void* pattern,
                                                  iree_host_size_t pattern_length,
                                                  iree_hal_fill_flags_t flags) {
  if (target_ref.length == 0)
    return iree_ok_status();
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    return state.fill(command_buffer, target_ref, pattern_length);
  }));
  countSlot(command_buffer, target_ref);
  return vtableOf<Vtable>(command_buffer)
      .fill_buffer(command_buffer, target_ref, pattern, pattern_length, flags);
}

iree_status_t iree_hal_command_buffer_update_buffer(iree_hal_command_buffer_t* command_buffer,
                                                    const void* source_buffer,
                                                    iree_host_size_t source_offset,
                                                    iree_hal_buffer_ref_t target_ref,
                                                    iree_hal_update_flags_t flags) {
  if (target_ref.length == 0)
    return iree_ok_status();
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    return state.update(command_buffer, source_buffer, target_ref);
  }));
  countSlot(command_buffer, target_ref);
  return vtableOf<Vtable>(command_buffer)
      .update_buffer(command_buffer, source_buffer, source_offset, target_ref, flags);
}

iree_status_t iree_hal_command_buffer_copy_buffer(iree_hal_command_buffer_t* command_buffer,
                                                  iree_hal_buffer_ref_t source_ref,
                                                  iree_hal_buffer_ref_t target_ref,
                                                  iree_hal_copy_flags_t flags) {
  if (target_ref.length == 0)
    return iree_ok_status();
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    return state.copy(command_buffer, source_ref, target_ref);
  }));
  countSlot(command_buffer, source_ref);
  countSlot(command_buffer, target_ref);
  return vtableOf<Vtable>(command_buffer)
      .copy_buffer(command_buffer, source_ref, target_ref, flags);
}

iree_status_t iree_hal_command_buffer_collective(iree_hal_command_buffer_t* command_buffer,
                                                 iree_hal_channel_t* channel,
                                                 iree_hal_collective_op_t op, uint32_t param,
                                                 iree_hal_buffer_ref_t send_ref,
                                                 iree_hal_buffer_ref_t recv_ref,
                                                 iree_device_size_t element_count) {
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    return state.collective(command_buffer, op, send_ref, recv_ref, element_count);
  }));
  if (op.kind != IREE_HAL_COLLECTIVE_KIND_RECV)
    countSlot(command_buffer, send_ref);
  if (op.kind != IREE_HAL_COLLECTIVE_KIND_SEND)
    countSlot(command_buffer, recv_ref);
  return vtableOf<Vtable>(command_buffer)
      .collective(command_buffer, channel, op, param, send_ref, recv_ref, element_count);
}

iree_status_t iree_hal_command_buffer_dispatch(iree_hal_command_buffer_t* command_buffer,
                                               iree_hal_executable_t* executable,
                                               iree_hal_executable_function_t function,
                                               const iree_hal_dispatch_config_t config,
                                               iree_const_byte_span_t constants,
                                               const iree_hal_buffer_ref_list_t bindings,
                                               iree_hal_dispatch_flags_t flags) {
  const bool indirect = iree_hal_dispatch_uses_indirect_parameters(flags);
  // An empty grid does nothing, whatever else it names.
  if (!indirect &&
      (config.workgroup_count[0] | config.workgroup_count[1] | config.workgroup_count[2]) == 0) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(validate(command_buffer, [&](auto& state) {
    return state.dispatch(command_buffer, config, constants, bindings, flags);
  }));
  if (indirect)
    countSlot(command_buffer, config.workgroup_count_ref);
  for (iree_host_size_t i = 0; i < bindings.count; ++i) {
    countSlot(command_buffer, bindings.values[i]);
  }
  return vtableOf<Vtable>(command_buffer)
      .dispatch(command_buffer, executable, function, config, constants, bindings, flags);
}

//===--- submission ---------------------------------------------------------------------------===//

iree_status_t
iree_hal_command_buffer_validate_submission(iree_hal_command_buffer_t* command_buffer,
                                            iree_hal_buffer_binding_table_t binding_table) {
  const iree_host_size_t needed = command_buffer->binding_count;
  if (needed > 0 && binding_table.count == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "command buffer uses %" PRIhsz " binding slots; no table is given",
                            needed);
  }
  if (binding_table.count < needed) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "command buffer uses %" PRIhsz " binding slots; the table has %" PRIhsz,
                            needed, binding_table.count);
  }
  return validate(command_buffer,
                  [&](auto& state) { return state.submission(command_buffer, binding_table); });
}

iree_status_t iree_hal_create_transfer_command_buffer(
    iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode,
    iree_hal_queue_affinity_t queue_affinity, iree_host_size_t transfer_count,
    const iree_hal_transfer_command_t* transfer_commands,
    iree_hal_command_buffer_t** out_command_buffer) {
  *out_command_buffer = nullptr;
  iree_hal_command_buffer_t* commandBuffer = nullptr;
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_create(
      device, mode, IREE_HAL_COMMAND_CATEGORY_TRANSFER, queue_affinity, 0, &commandBuffer));

  auto record = [&](const iree_hal_transfer_command_t& command) -> iree_status_t {
    switch (command.type) {
    case IREE_HAL_TRANSFER_COMMAND_TYPE_FILL: {
      const auto& fill = command.fill;
      return iree_hal_command_buffer_fill_buffer(
          commandBuffer,
          iree_hal_make_buffer_ref(fill.target_buffer, fill.target_offset, fill.length),
          fill.pattern, fill.pattern_length, IREE_HAL_FILL_FLAG_NONE);
    }
    case IREE_HAL_TRANSFER_COMMAND_TYPE_UPDATE: {
      const auto& update = command.update;
      return iree_hal_command_buffer_update_buffer(
          commandBuffer, update.source_buffer, update.source_offset,
          iree_hal_make_buffer_ref(update.target_buffer, update.target_offset, update.length),
          IREE_HAL_UPDATE_FLAG_NONE);
    }
    case IREE_HAL_TRANSFER_COMMAND_TYPE_COPY: {
      const auto& copy = command.copy;
      return iree_hal_command_buffer_copy_buffer(
          commandBuffer,
          iree_hal_make_buffer_ref(copy.source_buffer, copy.source_offset, copy.length),
          iree_hal_make_buffer_ref(copy.target_buffer, copy.target_offset, copy.length),
          IREE_HAL_COPY_FLAG_NONE);
    }
    }
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "transfer command of unknown type %d",
                            (int)command.type);
  };

  iree_status_t status = iree_hal_command_buffer_begin(commandBuffer);
  for (iree_host_size_t i = 0; i < transfer_count && iree_status_is_ok(status); ++i) {
    status = record(transfer_commands[i]);
  }
  if (iree_status_is_ok(status))
    status = iree_hal_command_buffer_end(commandBuffer);
  if (iree_status_is_ok(status)) {
    *out_command_buffer = commandBuffer;
  } else {
    iree_hal_command_buffer_release(commandBuffer);
  }
  return status;
}

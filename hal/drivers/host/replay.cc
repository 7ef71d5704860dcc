// A command buffer that does at once what it is told: the target that recorded commands are
// replayed into. Commands run in order, so barriers only matter to the hazard checker.

#include "hal/drivers/host/replay.h"

#include <cstring>

#include "hal/drivers/host/event.h"
#include "hal/drivers/host/hazard_checker.h"
#include "hal/drivers/host/host_memory.h"
#include "hal/hal/fill_pattern.h"
#include "iree/hal/utils/deferred_command_buffer.h"

namespace bessemer::hal::host {
namespace {

using Ref = iree_hal_buffer_ref_t;

struct ImmediateCommandBuffer {
  iree_hal_command_buffer_t base;
  /// Null when hazards are not looked for.
  HazardChecker* hazards;
};

HazardChecker* hazardsOf(iree_hal_command_buffer_t* base) {
  return reinterpret_cast<ImmediateCommandBuffer*>(base)->hazards;
}

iree_status_t noteAccess(iree_hal_command_buffer_t* base, const HostMemory& memory, bool writes) {
  HazardChecker* hazards = hazardsOf(base);
  return hazards ? hazards->access(memory.bytes, writes) : iree_ok_status();
}

void nextCommand(iree_hal_command_buffer_t* base) {
  if (HazardChecker* hazards = hazardsOf(base))
    hazards->nextCommand();
}

/// What a barrier or an event wait orders: everything, or the ranges when it names nothing else.
iree_status_t noteBarrier(iree_hal_command_buffer_t* base, iree_host_size_t memoryCount,
                          iree_host_size_t bufferCount, const iree_hal_buffer_barrier_t* buffers) {
  HazardChecker* hazards = hazardsOf(base);
  if (!hazards)
    return iree_ok_status();
  if (memoryCount > 0 || bufferCount == 0) {
    hazards->barrier();
    return iree_ok_status();
  }
  for (iree_host_size_t i = 0; i < bufferCount; ++i) {
    const Ref& ref = buffers[i].buffer_ref;
    HostMemory memory;
    IREE_RETURN_IF_ERROR(resolveHostMemory(ref.buffer, ref.offset, ref.length, &memory));
    hazards->barrier(memory.bytes);
  }
  return iree_ok_status();
}

iree_status_t begin(iree_hal_command_buffer_t*) { return iree_ok_status(); }

iree_status_t end(iree_hal_command_buffer_t*) { return iree_ok_status(); }

iree_status_t beginDebugGroup(iree_hal_command_buffer_t*, iree_string_view_t,
                              iree_hal_label_color_t, const iree_hal_label_location_t*) {
  return iree_ok_status();
}

iree_status_t endDebugGroup(iree_hal_command_buffer_t*) { return iree_ok_status(); }

iree_status_t executionBarrier(iree_hal_command_buffer_t* base, iree_hal_execution_stage_t,
                               iree_hal_execution_stage_t, iree_hal_execution_barrier_flags_t,
                               iree_host_size_t memoryCount, const iree_hal_memory_barrier_t*,
                               iree_host_size_t bufferCount,
                               const iree_hal_buffer_barrier_t* buffers) {
  return noteBarrier(base, memoryCount, bufferCount, buffers);
}

iree_status_t signalEvent(iree_hal_command_buffer_t*, iree_hal_event_t* event,
                          iree_hal_execution_stage_t) {
  setEvent(event, true);
  return iree_ok_status();
}

iree_status_t resetEvent(iree_hal_command_buffer_t*, iree_hal_event_t* event,
                         iree_hal_execution_stage_t) {
  setEvent(event, false);
  return iree_ok_status();
}

iree_status_t waitEvents(iree_hal_command_buffer_t* base, iree_host_size_t count,
                         const iree_hal_event_t** events, iree_hal_execution_stage_t,
                         iree_hal_execution_stage_t, iree_host_size_t memoryCount,
                         const iree_hal_memory_barrier_t*, iree_host_size_t bufferCount,
                         const iree_hal_buffer_barrier_t* buffers) {
  for (iree_host_size_t i = 0; i < count; ++i) {
    // In order, an event is signaled before it is waited for, or it never is.
    if (!isEventSet(events[i])) {
      return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                              "event %" PRIhsz " of a wait was not signaled by an earlier command",
                              i);
    }
  }
  return noteBarrier(base, memoryCount, bufferCount, buffers);
}

iree_status_t adviseBuffer(iree_hal_command_buffer_t*, Ref, iree_hal_memory_advise_flags_t,
                           uint64_t, uint64_t) {
  return iree_ok_status();
}

iree_status_t fillBuffer(iree_hal_command_buffer_t* base, Ref target, const void* pattern,
                         iree_host_size_t patternLength, iree_hal_fill_flags_t) {
  HostMemory memory;
  IREE_RETURN_IF_ERROR(resolveHostMemory(target.buffer, target.offset, target.length, &memory));
  if (memory.bytes.size() % patternLength != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a fill of %" PRIhsz " bytes is no multiple of its %" PRIhsz
                            "-byte pattern",
                            memory.bytes.size(), patternLength);
  }
  nextCommand(base);
  IREE_RETURN_IF_ERROR(noteAccess(base, memory, /*writes=*/true));
  fillPattern(memory.bytes.data(), memory.bytes.size(), pattern, patternLength);
  return iree_ok_status();
}

iree_status_t updateBuffer(iree_hal_command_buffer_t* base, const void* source,
                           iree_host_size_t sourceOffset, Ref target, iree_hal_update_flags_t) {
  HostMemory memory;
  IREE_RETURN_IF_ERROR(resolveHostMemory(target.buffer, target.offset, target.length, &memory));
  nextCommand(base);
  IREE_RETURN_IF_ERROR(noteAccess(base, memory, /*writes=*/true));
  std::memcpy(memory.bytes.data(), static_cast<const uint8_t*>(source) + sourceOffset,
              memory.bytes.size());
  return iree_ok_status();
}

iree_status_t copyBuffer(iree_hal_command_buffer_t* base, Ref source, Ref target,
                         iree_hal_copy_flags_t) {
  HostMemory from, to;
  IREE_RETURN_IF_ERROR(resolveHostMemory(source.buffer, source.offset, source.length, &from));
  IREE_RETURN_IF_ERROR(resolveHostMemory(target.buffer, target.offset, target.length, &to));
  if (from.bytes.size() != to.bytes.size()) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a copy from %" PRIhsz " bytes to %" PRIhsz " bytes", from.bytes.size(),
                            to.bytes.size());
  }
  nextCommand(base);
  IREE_RETURN_IF_ERROR(noteAccess(base, from, /*writes=*/false));
  IREE_RETURN_IF_ERROR(noteAccess(base, to, /*writes=*/true));
  std::memmove(to.bytes.data(), from.bytes.data(), to.bytes.size());
  return iree_ok_status();
}

iree_status_t collective(iree_hal_command_buffer_t*, iree_hal_channel_t*, iree_hal_collective_op_t,
                         uint32_t, Ref, Ref, iree_device_size_t) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "the host device has no collectives");
}

iree_status_t dispatch(iree_hal_command_buffer_t*, iree_hal_executable_t*,
                       iree_hal_executable_function_t, const iree_hal_dispatch_config_t,
                       iree_const_byte_span_t, iree_hal_buffer_ref_list_t,
                       iree_hal_dispatch_flags_t) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "the host device runs no executables");
}

const iree_hal_command_buffer_vtable_t kVtable = {
    // Lives on the stack and is never released for the last time.
    .destroy = [](iree_hal_command_buffer_t*) {},
    .begin = begin,
    .end = end,
    .begin_debug_group = beginDebugGroup,
    .end_debug_group = endDebugGroup,
    .execution_barrier = executionBarrier,
    .signal_event = signalEvent,
    .reset_event = resetEvent,
    .wait_events = waitEvents,
    .advise_buffer = adviseBuffer,
    .fill_buffer = fillBuffer,
    .update_buffer = updateBuffer,
    .copy_buffer = copyBuffer,
    .collective = collective,
    .dispatch = dispatch,
};

} // namespace

iree_status_t replay(iree_hal_command_buffer_t* recorded, iree_hal_buffer_binding_table_t table,
                     bool findHazards) {
  HazardChecker hazards;
  ImmediateCommandBuffer immediate;
  iree_hal_command_buffer_initialize(
      nullptr, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT | IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED,
      IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0, nullptr, &kVtable,
      &immediate.base);
  immediate.hazards = findHazards ? &hazards : nullptr;
  return iree_hal_deferred_command_buffer_apply(recorded, &immediate.base, table);
}

} // namespace bessemer::hal::host

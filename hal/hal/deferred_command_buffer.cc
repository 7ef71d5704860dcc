// A command buffer that keeps its commands in memory and replays them into others. References to
// binding table slots are resolved at each replay.

#include "iree/hal/utils/deferred_command_buffer.h"

#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "hal/hal/object.h"
#include "iree/base/internal/arena.h"
#include "iree/hal/utils/resource_set.h"

namespace {

using Table = iree_hal_buffer_binding_table_t;
using Ref = iree_hal_buffer_ref_t;

/// A recorded command; `apply` issues it to `target`.
struct Command {
  Command* next;
  iree_status_t (*apply)(const Command& command, iree_hal_command_buffer_t* target,
                         const Table& table);
};

struct DeferredCommandBuffer {
  iree_hal_command_buffer_t base;
  iree_allocator_t hostAllocator;
  iree_arena_allocator_t arena;
  /// Null in UNRETAINED mode.
  iree_hal_resource_set_t* resources;
  Command* head;
  Command* tail;
};

extern const iree_hal_command_buffer_vtable_t kVtable;

DeferredCommandBuffer* cast(iree_hal_command_buffer_t* base) {
  return reinterpret_cast<DeferredCommandBuffer*>(base);
}

//===--- storage ------------------------------------------------------------------------------===//

/// Appends a `T`, which derives from Command and has a static `issue`, to the list.
template <typename T>
iree_status_t append(DeferredCommandBuffer* buffer, T** out_command) {
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_arena_allocate(&buffer->arena, sizeof(T), &storage));
  T* command = new (storage) T();
  command->apply = [](const Command& command, iree_hal_command_buffer_t* target,
                      const Table& table) {
    return T::issue(static_cast<const T&>(command), target, table);
  };
  command->next = nullptr;
  (buffer->tail ? buffer->tail->next : buffer->head) = command;
  buffer->tail = command;
  *out_command = command;
  return iree_ok_status();
}

template <typename T>
iree_status_t copyArray(DeferredCommandBuffer* buffer, const T* source, iree_host_size_t count,
                        const T** out_copy) {
  *out_copy = nullptr;
  if (count == 0)
    return iree_ok_status();
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_arena_allocate(&buffer->arena, count * sizeof(T), &storage));
  std::memcpy(storage, source, count * sizeof(T));
  *out_copy = static_cast<const T*>(storage);
  return iree_ok_status();
}

iree_status_t retain(DeferredCommandBuffer* buffer, const void* resource) {
  return iree_hal_resource_set_insert(buffer->resources, 1, &resource);
}

/// Resolved references of one replay, on the stack for the usual few.
class ResolvedRefs {
public:
  ~ResolvedRefs() {
    if (refs_ != inline_)
      delete[] refs_;
  }
  iree_status_t resolve(std::span<const Ref> refs, const Table& table) {
    if (refs.size() > std::size(inline_))
      refs_ = new Ref[refs.size()];
    for (size_t i = 0; i < refs.size(); ++i) {
      IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(table, refs[i], &refs_[i]));
    }
    return iree_ok_status();
  }
  const Ref* data() const { return refs_; }

private:
  Ref inline_[16];
  Ref* refs_ = inline_;
};

//===--- commands -----------------------------------------------------------------------------===//

struct DebugGroupBegin : Command {
  iree_string_view_t label;
  iree_hal_label_color_t color;
  iree_hal_label_location_t location;
  bool hasLocation;

  static iree_status_t issue(const DebugGroupBegin& c, iree_hal_command_buffer_t* target,
                             const Table&) {
    return iree_hal_command_buffer_begin_debug_group(target, c.label, c.color,
                                                     c.hasLocation ? &c.location : nullptr);
  }
};

struct DebugGroupEnd : Command {
  static iree_status_t issue(const DebugGroupEnd&, iree_hal_command_buffer_t* target,
                             const Table&) {
    return iree_hal_command_buffer_end_debug_group(target);
  }
};

/// Memory and buffer barriers, as barriers and event waits have them.
struct BarrierLists {
  std::span<const iree_hal_memory_barrier_t> memory;
  std::span<const iree_hal_buffer_barrier_t> buffers;

  iree_status_t record(DeferredCommandBuffer* buffer, iree_host_size_t memoryCount,
                       const iree_hal_memory_barrier_t* memoryBarriers,
                       iree_host_size_t bufferCount,
                       const iree_hal_buffer_barrier_t* bufferBarriers) {
    const iree_hal_memory_barrier_t* memoryCopy = nullptr;
    const iree_hal_buffer_barrier_t* bufferCopy = nullptr;
    IREE_RETURN_IF_ERROR(copyArray(buffer, memoryBarriers, memoryCount, &memoryCopy));
    IREE_RETURN_IF_ERROR(copyArray(buffer, bufferBarriers, bufferCount, &bufferCopy));
    IREE_RETURN_IF_ERROR(iree_hal_resource_set_insert_strided(
        buffer->resources, bufferCount, bufferBarriers,
        offsetof(iree_hal_buffer_barrier_t, buffer_ref) + offsetof(Ref, buffer),
        sizeof(iree_hal_buffer_barrier_t)));
    memory = {memoryCopy, memoryCount};
    buffers = {bufferCopy, bufferCount};
    return iree_ok_status();
  }

  /// Calls `use` with the buffer barriers resolved.
  template <typename Use>
  iree_status_t withResolved(const Table& table, Use use) const {
    constexpr size_t kInline = 8;
    iree_hal_buffer_barrier_t few[kInline];
    iree_hal_buffer_barrier_t* resolved =
        buffers.size() > kInline ? new iree_hal_buffer_barrier_t[buffers.size()] : few;
    iree_status_t status = iree_ok_status();
    for (size_t i = 0; i < buffers.size() && iree_status_is_ok(status); ++i) {
      resolved[i] = buffers[i];
      status = iree_hal_buffer_binding_table_resolve_ref(table, buffers[i].buffer_ref,
                                                         &resolved[i].buffer_ref);
    }
    if (iree_status_is_ok(status))
      status = use(resolved);
    if (resolved != few)
      delete[] resolved;
    return status;
  }
};

struct ExecutionBarrier : Command {
  iree_hal_execution_stage_t source, target;
  iree_hal_execution_barrier_flags_t flags;
  BarrierLists barriers;

  static iree_status_t issue(const ExecutionBarrier& c, iree_hal_command_buffer_t* target,
                             const Table& table) {
    return c.barriers.withResolved(table, [&](const iree_hal_buffer_barrier_t* buffers) {
      return iree_hal_command_buffer_execution_barrier(
          target, c.source, c.target, c.flags, c.barriers.memory.size(), c.barriers.memory.data(),
          c.barriers.buffers.size(), buffers);
    });
  }
};

struct SignalEvent : Command {
  iree_hal_event_t* event;
  iree_hal_execution_stage_t source;

  static iree_status_t issue(const SignalEvent& c, iree_hal_command_buffer_t* target,
                             const Table&) {
    return iree_hal_command_buffer_signal_event(target, c.event, c.source);
  }
};

struct ResetEvent : Command {
  iree_hal_event_t* event;
  iree_hal_execution_stage_t source;

  static iree_status_t issue(const ResetEvent& c, iree_hal_command_buffer_t* target, const Table&) {
    return iree_hal_command_buffer_reset_event(target, c.event, c.source);
  }
};

struct WaitEvents : Command {
  std::span<const iree_hal_event_t* const> events;
  iree_hal_execution_stage_t source, target;
  BarrierLists barriers;

  static iree_status_t issue(const WaitEvents& c, iree_hal_command_buffer_t* target,
                             const Table& table) {
    return c.barriers.withResolved(table, [&](const iree_hal_buffer_barrier_t* buffers) {
      return iree_hal_command_buffer_wait_events(
          target, c.events.size(), const_cast<const iree_hal_event_t**>(c.events.data()), c.source,
          c.target, c.barriers.memory.size(), c.barriers.memory.data(), c.barriers.buffers.size(),
          buffers);
    });
  }
};

struct AdviseBuffer : Command {
  Ref ref;
  iree_hal_memory_advise_flags_t flags;
  uint64_t arg0, arg1;

  static iree_status_t issue(const AdviseBuffer& c, iree_hal_command_buffer_t* target,
                             const Table& table) {
    Ref ref;
    IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(table, c.ref, &ref));
    return iree_hal_command_buffer_advise_buffer(target, ref, c.flags, c.arg0, c.arg1);
  }
};

struct FillBuffer : Command {
  Ref target;
  uint8_t pattern[4];
  uint8_t patternLength;
  iree_hal_fill_flags_t flags;

  static iree_status_t issue(const FillBuffer& c, iree_hal_command_buffer_t* target,
                             const Table& table) {
    Ref ref;
    IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(table, c.target, &ref));
    return iree_hal_command_buffer_fill_buffer(target, ref, c.pattern, c.patternLength, c.flags);
  }
};

struct UpdateBuffer : Command {
  const uint8_t* source;
  Ref target;
  iree_hal_update_flags_t flags;

  static iree_status_t issue(const UpdateBuffer& c, iree_hal_command_buffer_t* target,
                             const Table& table) {
    Ref ref;
    IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(table, c.target, &ref));
    return iree_hal_command_buffer_update_buffer(target, c.source, 0, ref, c.flags);
  }
};

struct CopyBuffer : Command {
  Ref source, target;
  iree_hal_copy_flags_t flags;

  static iree_status_t issue(const CopyBuffer& c, iree_hal_command_buffer_t* target,
                             const Table& table) {
    Ref source, destination;
    IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(table, c.source, &source));
    IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(table, c.target, &destination));
    return iree_hal_command_buffer_copy_buffer(target, source, destination, c.flags);
  }
};

struct Collective : Command {
  iree_hal_channel_t* channel;
  iree_hal_collective_op_t op;
  uint32_t param;
  Ref send, recv;
  iree_device_size_t elementCount;

  static iree_status_t issue(const Collective& c, iree_hal_command_buffer_t* target,
                             const Table& table) {
    Ref send, recv;
    IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(table, c.send, &send));
    IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(table, c.recv, &recv));
    return iree_hal_command_buffer_collective(target, c.channel, c.op, c.param, send, recv,
                                              c.elementCount);
  }
};

struct Dispatch : Command {
  iree_hal_executable_t* executable;
  iree_hal_executable_function_t function;
  iree_hal_dispatch_config_t config;
  iree_const_byte_span_t constants;
  std::span<const Ref> bindings;
  iree_hal_dispatch_flags_t flags;

  static iree_status_t issue(const Dispatch& c, iree_hal_command_buffer_t* target,
                             const Table& table) {
    iree_hal_dispatch_config_t config = c.config;
    if (iree_hal_dispatch_uses_indirect_parameters(c.flags)) {
      IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(
          table, c.config.workgroup_count_ref, &config.workgroup_count_ref));
    }
    ResolvedRefs bindings;
    IREE_RETURN_IF_ERROR(bindings.resolve(c.bindings, table));
    const iree_hal_buffer_ref_list_t list = {c.bindings.size(), bindings.data()};
    return iree_hal_command_buffer_dispatch(target, c.executable, c.function, config, c.constants,
                                            list, c.flags);
  }
};

//===--- vtable -------------------------------------------------------------------------------===//

void destroy(iree_hal_command_buffer_t* base) {
  DeferredCommandBuffer* buffer = cast(base);
  iree_allocator_t hostAllocator = buffer->hostAllocator;
  iree_hal_resource_set_free(buffer->resources);
  iree_arena_deinitialize(&buffer->arena);
  iree_allocator_free(hostAllocator, buffer);
}

iree_status_t begin(iree_hal_command_buffer_t* base) {
  DeferredCommandBuffer* buffer = cast(base);
  if (buffer->head) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "command buffer was recorded before; it can be recorded once");
  }
  return iree_ok_status();
}

iree_status_t end(iree_hal_command_buffer_t* base) {
  iree_hal_resource_set_freeze(cast(base)->resources);
  return iree_ok_status();
}

iree_status_t beginDebugGroup(iree_hal_command_buffer_t* base, iree_string_view_t label,
                              iree_hal_label_color_t color,
                              const iree_hal_label_location_t* location) {
  DeferredCommandBuffer* buffer = cast(base);
  const char* labelCopy = nullptr;
  const char* fileCopy = nullptr;
  IREE_RETURN_IF_ERROR(copyArray(buffer, label.data, label.size, &labelCopy));
  if (location) {
    IREE_RETURN_IF_ERROR(copyArray(buffer, location->file.data, location->file.size, &fileCopy));
  }
  DebugGroupBegin* command = nullptr;
  IREE_RETURN_IF_ERROR(append(buffer, &command));
  command->label = iree_make_string_view(labelCopy, label.size);
  command->color = color;
  command->hasLocation = location != nullptr;
  if (location) {
    command->location.file = iree_make_string_view(fileCopy, location->file.size);
    command->location.line = location->line;
  }
  return iree_ok_status();
}

iree_status_t endDebugGroup(iree_hal_command_buffer_t* base) {
  DebugGroupEnd* command = nullptr;
  return append(cast(base), &command);
}

iree_status_t
executionBarrier(iree_hal_command_buffer_t* base, iree_hal_execution_stage_t source,
                 iree_hal_execution_stage_t target, iree_hal_execution_barrier_flags_t flags,
                 iree_host_size_t memoryCount, const iree_hal_memory_barrier_t* memoryBarriers,
                 iree_host_size_t bufferCount, const iree_hal_buffer_barrier_t* bufferBarriers) {
  DeferredCommandBuffer* buffer = cast(base);
  BarrierLists barriers;
  IREE_RETURN_IF_ERROR(
      barriers.record(buffer, memoryCount, memoryBarriers, bufferCount, bufferBarriers));
  ExecutionBarrier* command = nullptr;
  IREE_RETURN_IF_ERROR(append(buffer, &command));
  command->source = source;
  command->target = target;
  command->flags = flags;
  command->barriers = barriers;
  return iree_ok_status();
}

iree_status_t signalEvent(iree_hal_command_buffer_t* base, iree_hal_event_t* event,
                          iree_hal_execution_stage_t source) {
  IREE_RETURN_IF_ERROR(retain(cast(base), event));
  SignalEvent* command = nullptr;
  IREE_RETURN_IF_ERROR(append(cast(base), &command));
  command->event = event;
  command->source = source;
  return iree_ok_status();
}

iree_status_t resetEvent(iree_hal_command_buffer_t* base, iree_hal_event_t* event,
                         iree_hal_execution_stage_t source) {
  IREE_RETURN_IF_ERROR(retain(cast(base), event));
  ResetEvent* command = nullptr;
  IREE_RETURN_IF_ERROR(append(cast(base), &command));
  command->event = event;
  command->source = source;
  return iree_ok_status();
}

iree_status_t waitEvents(iree_hal_command_buffer_t* base, iree_host_size_t eventCount,
                         const iree_hal_event_t** events, iree_hal_execution_stage_t source,
                         iree_hal_execution_stage_t target, iree_host_size_t memoryCount,
                         const iree_hal_memory_barrier_t* memoryBarriers,
                         iree_host_size_t bufferCount,
                         const iree_hal_buffer_barrier_t* bufferBarriers) {
  DeferredCommandBuffer* buffer = cast(base);
  IREE_RETURN_IF_ERROR(iree_hal_resource_set_insert(buffer->resources, eventCount, events));
  const iree_hal_event_t* const* eventCopy = nullptr;
  IREE_RETURN_IF_ERROR(copyArray<const iree_hal_event_t*>(buffer, events, eventCount, &eventCopy));
  BarrierLists barriers;
  IREE_RETURN_IF_ERROR(
      barriers.record(buffer, memoryCount, memoryBarriers, bufferCount, bufferBarriers));
  WaitEvents* command = nullptr;
  IREE_RETURN_IF_ERROR(append(buffer, &command));
  command->events = {eventCopy, eventCount};
  command->source = source;
  command->target = target;
  command->barriers = barriers;
  return iree_ok_status();
}

iree_status_t adviseBuffer(iree_hal_command_buffer_t* base, Ref ref,
                           iree_hal_memory_advise_flags_t flags, uint64_t arg0, uint64_t arg1) {
  IREE_RETURN_IF_ERROR(retain(cast(base), ref.buffer));
  AdviseBuffer* command = nullptr;
  IREE_RETURN_IF_ERROR(append(cast(base), &command));
  command->ref = ref;
  command->flags = flags;
  command->arg0 = arg0;
  command->arg1 = arg1;
  return iree_ok_status();
}

iree_status_t fillBuffer(iree_hal_command_buffer_t* base, Ref target, const void* pattern,
                         iree_host_size_t patternLength, iree_hal_fill_flags_t flags) {
  if (patternLength > sizeof(FillBuffer::pattern)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "fill patterns are 1, 2 or 4 bytes; this one is %" PRIhsz,
                            patternLength);
  }
  IREE_RETURN_IF_ERROR(retain(cast(base), target.buffer));
  FillBuffer* command = nullptr;
  IREE_RETURN_IF_ERROR(append(cast(base), &command));
  command->target = target;
  std::memcpy(command->pattern, pattern, patternLength);
  command->patternLength = static_cast<uint8_t>(patternLength);
  command->flags = flags;
  return iree_ok_status();
}

iree_status_t updateBuffer(iree_hal_command_buffer_t* base, const void* source,
                           iree_host_size_t sourceOffset, Ref target,
                           iree_hal_update_flags_t flags) {
  DeferredCommandBuffer* buffer = cast(base);
  IREE_RETURN_IF_ERROR(retain(buffer, target.buffer));
  const uint8_t* copy = nullptr;
  IREE_RETURN_IF_ERROR(copyArray(buffer, static_cast<const uint8_t*>(source) + sourceOffset,
                                 (iree_host_size_t)target.length, &copy));
  UpdateBuffer* command = nullptr;
  IREE_RETURN_IF_ERROR(append(buffer, &command));
  command->source = copy;
  command->target = target;
  command->flags = flags;
  return iree_ok_status();
}

iree_status_t copyBuffer(iree_hal_command_buffer_t* base, Ref source, Ref target,
                         iree_hal_copy_flags_t flags) {
  IREE_RETURN_IF_ERROR(retain(cast(base), source.buffer));
  IREE_RETURN_IF_ERROR(retain(cast(base), target.buffer));
  CopyBuffer* command = nullptr;
  IREE_RETURN_IF_ERROR(append(cast(base), &command));
  command->source = source;
  command->target = target;
  command->flags = flags;
  return iree_ok_status();
}

iree_status_t collective(iree_hal_command_buffer_t* base, iree_hal_channel_t* channel,
                         iree_hal_collective_op_t op, uint32_t param, Ref send, Ref recv,
                         iree_device_size_t elementCount) {
  for (const void* resource :
       std::initializer_list<const void*>{channel, send.buffer, recv.buffer}) {
    IREE_RETURN_IF_ERROR(retain(cast(base), resource));
  }
  Collective* command = nullptr;
  IREE_RETURN_IF_ERROR(append(cast(base), &command));
  command->channel = channel;
  command->op = op;
  command->param = param;
  command->send = send;
  command->recv = recv;
  command->elementCount = elementCount;
  return iree_ok_status();
}

iree_status_t dispatch(iree_hal_command_buffer_t* base, iree_hal_executable_t* executable,
                       iree_hal_executable_function_t function,
                       const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                       iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  DeferredCommandBuffer* buffer = cast(base);
  if (!iree_any_bit_set(flags, IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES)) {
    IREE_RETURN_IF_ERROR(retain(buffer, executable));
    if (iree_hal_dispatch_uses_indirect_parameters(flags)) {
      IREE_RETURN_IF_ERROR(retain(buffer, config.workgroup_count_ref.buffer));
    }
    IREE_RETURN_IF_ERROR(iree_hal_resource_set_insert_strided(
        buffer->resources, bindings.count, bindings.values, offsetof(Ref, buffer), sizeof(Ref)));
  }
  const uint8_t* constantCopy = nullptr;
  const Ref* bindingCopy = nullptr;
  IREE_RETURN_IF_ERROR(copyArray(buffer, constants.data, constants.data_length, &constantCopy));
  IREE_RETURN_IF_ERROR(copyArray(buffer, bindings.values, bindings.count, &bindingCopy));
  Dispatch* command = nullptr;
  IREE_RETURN_IF_ERROR(append(buffer, &command));
  command->executable = executable;
  command->function = function;
  command->config = config;
  command->constants = iree_make_const_byte_span(constantCopy, constants.data_length);
  command->bindings = {bindingCopy, bindings.count};
  command->flags = flags;
  return iree_ok_status();
}

const iree_hal_command_buffer_vtable_t kVtable = {
    .destroy = destroy,
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

iree_status_t iree_hal_deferred_command_buffer_create(
    iree_hal_allocator_t* device_allocator, iree_hal_command_buffer_mode_t mode,
    iree_hal_command_category_t command_categories, iree_hal_queue_affinity_t queue_affinity,
    iree_host_size_t binding_capacity, iree_arena_block_pool_t* block_pool,
    iree_allocator_t host_allocator, iree_hal_command_buffer_t** out_command_buffer) {
  *out_command_buffer = nullptr;
  DeferredCommandBuffer* buffer = nullptr;
  IREE_RETURN_IF_ERROR(bessemer::hal::allocateObject(
      host_allocator, iree_hal_command_buffer_validation_state_size(mode, binding_capacity),
      &buffer));
  static_assert(sizeof(DeferredCommandBuffer) % alignof(std::max_align_t) == 0 ||
                sizeof(DeferredCommandBuffer) % alignof(void*) == 0);
  iree_hal_command_buffer_initialize(device_allocator, mode, command_categories, queue_affinity,
                                     binding_capacity, buffer + 1, &kVtable, &buffer->base);
  buffer->hostAllocator = host_allocator;
  iree_arena_initialize(block_pool, &buffer->arena);
  if (!iree_any_bit_set(mode, IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED)) {
    iree_status_t status = iree_hal_resource_set_allocate(block_pool, &buffer->resources);
    if (!iree_status_is_ok(status)) {
      destroy(&buffer->base);
      return status;
    }
  }
  *out_command_buffer = &buffer->base;
  return iree_ok_status();
}

bool iree_hal_deferred_command_buffer_isa(iree_hal_command_buffer_t* command_buffer) {
  return iree_hal_resource_is(command_buffer, &kVtable);
}

iree_status_t
iree_hal_deferred_command_buffer_apply(iree_hal_command_buffer_t* command_buffer,
                                       iree_hal_command_buffer_t* target_command_buffer,
                                       iree_hal_buffer_binding_table_t binding_table) {
  IREE_RETURN_IF_ERROR(iree_hal_command_buffer_begin(target_command_buffer));
  for (const Command* command = cast(command_buffer)->head; command; command = command->next) {
    IREE_RETURN_IF_ERROR(command->apply(*command, target_command_buffer, binding_table));
  }
  return iree_hal_command_buffer_end(target_command_buffer);
}

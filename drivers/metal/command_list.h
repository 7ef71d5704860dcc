// Recorded commands in a compact form that is replayed any number of times, at one time or another.
//
// Buffers are named, not resolved: storage of queue-allocated buffers and bindings of tables are
// looked up at each replay.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "drivers/metal/builtin_kernels.h"
#include "drivers/metal/device_memory.h"
#include "drivers/metal/executable.h"
#include "iree/base/internal/arena.h"

namespace bessemer::metal_driver {

/// A range of a root buffer, or, with no buffer, of what a slot of the binding table holds.
struct RecordedRef {
  iree_hal_buffer_t* buffer = nullptr;
  uint32_t slot = 0;
  iree_device_size_t offset = 0;
  iree_device_size_t length = 0;

  bool is_indirect() const { return !buffer; }
};

enum class CommandType : uint8_t {
  kBarrier,
  kFill,
  kUpdate,
  kCopy,
  kDispatch,
  kSignalEvent,
  kResetEvent,
  kWaitEvents,
  kPushDebugGroup,
  kPopDebugGroup,
};

struct Command {
  Command* next;
  /// Among all commands of the list.
  uint32_t index;
  CommandType type;
};

struct FillCommand : Command {
  RecordedRef target;
  /// Repeated to 4 bytes.
  uint32_t pattern;
};

struct UpdateCommand : Command {
  RecordedRef target;
  /// In the list's update buffer.
  iree_device_size_t source_offset;
};

struct CopyCommand : Command {
  RecordedRef source;
  RecordedRef target;
};

struct DispatchCommand : Command {
  const ExecutableFunction* function;
  uint32_t threadgroup_size[3];
  uint32_t threadgroup_count[3];
  /// When `is_indirect` the counts are read from here.
  RecordedRef count;
  bool is_indirect;
  uint16_t binding_count;
  uint16_t constant_length;
  /// In the block of a replay.
  uint32_t argument_offset;
  iree_hal_executable_t* executable;
  uint64_t executable_id;
  uint32_t function_ordinal;

  std::span<const RecordedRef> bindings() const {
    return {reinterpret_cast<const RecordedRef*>(this + 1), binding_count};
  }
  const void* constants() const { return bindings().data() + binding_count; }
};

struct EventCommand : Command {
  iree_hal_event_t* event;
};

struct WaitEventsCommand : Command {
  uint32_t count;
  const iree_hal_event_t* const* events() const {
    return reinterpret_cast<const iree_hal_event_t* const*>(this + 1);
  }
};

struct DebugGroupCommand : Command {
  uint32_t length;
  std::string_view label() const { return {reinterpret_cast<const char*>(this + 1), length}; }
};

class CommandList {
public:
  /// `is_retaining`: the list keeps what its commands name alive.
  CommandList(iree_arena_block_pool_t* block_pool, std::shared_ptr<DeviceMemory> memory,
              BuiltinKernels* builtins, bool is_retaining);
  ~CommandList();
  CommandList(const CommandList&) = delete;
  CommandList& operator=(const CommandList&) = delete;

  iree_status_t Barrier();
  iree_status_t Fill(iree_hal_buffer_ref_t target, const void* pattern,
                     iree_host_size_t pattern_length);
  /// Copies the data.
  iree_status_t Update(const void* source, iree_hal_buffer_ref_t target);
  iree_status_t Copy(iree_hal_buffer_ref_t source, iree_hal_buffer_ref_t target);
  iree_status_t Dispatch(iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                         const iree_hal_dispatch_config_t& config, iree_const_byte_span_t constants,
                         iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags);
  iree_status_t SignalEvent(iree_hal_event_t* event);
  iree_status_t ResetEvent(iree_hal_event_t* event);
  iree_status_t WaitEvents(iree_host_size_t count, const iree_hal_event_t** events);
  iree_status_t PushDebugGroup(iree_string_view_t label);
  iree_status_t PopDebugGroup();

  /// After the last command: makes the data of updates available to the device.
  iree_status_t Finish();

  const Command* first() const { return first_; }
  bool empty() const { return !first_; }
  /// Bytes of argument buffers that one replay needs.
  iree_device_size_t argument_bytes() const { return argument_bytes_; }
  MTL::Buffer* update_buffer() const { return update_buffer_.get(); }
  /// What must be compiled before the list can be replayed.
  std::span<const std::shared_ptr<Pipeline>> pipelines() const { return pipelines_; }
  uint32_t command_count() const { return command_count_; }
  uint32_t dispatch_count() const { return dispatch_count_; }
  /// Whether it ends only with what others do: there are waits for events.
  bool waits_for_events() const { return waits_for_events_; }
  bool is_retaining() const { return is_retaining_; }
  /// NULL unless a fill or copy may need them.
  Pipeline* fill_kernel() const { return fill_kernel_.get(); }
  Pipeline* copy_kernel() const { return copy_kernel_.get(); }

private:
  template <class T>
  iree_status_t Append(CommandType type, iree_host_size_t trailing_bytes, T** out_command);
  iree_status_t Record(iree_hal_buffer_ref_t ref, RecordedRef* out_ref);
  void Retain(const void* resource);
  void Need(std::shared_ptr<Pipeline> pipeline);
  iree_status_t NeedCopyKernel();

  iree_arena_allocator_t arena_;
  std::shared_ptr<DeviceMemory> memory_;
  BuiltinKernels* builtins_;
  Command* first_ = nullptr;
  Command** tail_ = &first_;
  std::vector<iree_hal_resource_t*> retained_;
  std::vector<std::shared_ptr<Pipeline>> pipelines_;
  std::shared_ptr<Pipeline> fill_kernel_;
  std::shared_ptr<Pipeline> copy_kernel_;
  std::vector<uint8_t> update_data_;
  MetalPtr<MTL::Buffer> update_buffer_;
  iree_device_size_t argument_bytes_ = 0;
  uint32_t command_count_ = 0;
  uint32_t dispatch_count_ = 0;
  bool is_retaining_;
  bool waits_for_events_ = false;
};

} // namespace bessemer::metal_driver

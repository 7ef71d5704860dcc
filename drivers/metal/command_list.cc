#include "drivers/metal/command_list.h"

#include <algorithm>
#include <cstring>

namespace bessemer::metal_driver {
namespace {

constexpr iree_hal_memory_type_t kUpdateMemory =
    IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;

/// Alignment of argument buffers and of update data.
constexpr iree_device_size_t kArgumentAlignment = 16;

bool IsWordAligned(const RecordedRef& ref) {
  return !ref.is_indirect() && ref.offset % 4 == 0 && ref.length % 4 == 0;
}

/// A pattern of 1, 2 or 4 bytes, repeated to 4.
uint32_t RepeatPattern(const void* pattern, iree_host_size_t length) {
  uint32_t word = 0;
  for (iree_host_size_t i = 0; i < 4; ++i)
    word |= static_cast<uint32_t>(static_cast<const uint8_t*>(pattern)[i % length]) << (8 * i);
  return word;
}

} // namespace

CommandList::CommandList(iree_arena_block_pool_t* block_pool, std::shared_ptr<DeviceMemory> memory,
                         BuiltinKernels* builtins, bool is_retaining)
    : memory_(std::move(memory)), builtins_(builtins), is_retaining_(is_retaining) {
  iree_arena_initialize(block_pool, &arena_);
}

CommandList::~CommandList() {
  if (update_buffer_)
    memory_->Forget(update_buffer_.get(), kUpdateMemory, /*is_owned=*/false);
  for (iree_hal_resource_t* resource : retained_)
    iree_hal_resource_release(resource);
  iree_arena_deinitialize(&arena_);
}

template <class T>
iree_status_t CommandList::Append(CommandType type, iree_host_size_t trailing_bytes,
                                  T** out_command) {
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_arena_allocate(&arena_, sizeof(T) + trailing_bytes, &storage));
  T* command = new (storage) T{};
  command->type = type;
  command->index = command_count_++;
  *tail_ = command;
  tail_ = &command->next;
  *out_command = command;
  return iree_ok_status();
}

void CommandList::Retain(const void* resource) {
  if (!is_retaining_ || !resource)
    return;
  auto* object =
      const_cast<iree_hal_resource_t*>(static_cast<const iree_hal_resource_t*>(resource));
  // Commands that follow one another name the same few things.
  constexpr size_t kWindow = 16;
  size_t begin = retained_.size() > kWindow ? retained_.size() - kWindow : 0;
  if (std::find(retained_.begin() + static_cast<ptrdiff_t>(begin), retained_.end(), object) !=
      retained_.end())
    return;
  iree_hal_resource_retain(object);
  retained_.push_back(object);
}

void CommandList::Need(std::shared_ptr<Pipeline> pipeline) {
  if (std::find(pipelines_.begin(), pipelines_.end(), pipeline) == pipelines_.end())
    pipelines_.push_back(std::move(pipeline));
}

iree_status_t CommandList::NeedCopyKernel() {
  if (!copy_kernel_) {
    copy_kernel_ = builtins_->copy();
    Need(copy_kernel_);
  }
  return iree_ok_status();
}

iree_status_t CommandList::Record(iree_hal_buffer_ref_t ref, RecordedRef* out_ref) {
  if (!ref.buffer) {
    *out_ref = {nullptr, ref.buffer_slot, ref.offset, ref.length};
    return iree_ok_status();
  }
  Retain(ref.buffer);
  IREE_RETURN_IF_ERROR(iree_hal_buffer_ref_normalize(&ref));
  *out_ref = {ref.buffer, 0, ref.offset, ref.length};
  return iree_ok_status();
}

iree_status_t CommandList::Barrier() {
  Command* command = nullptr;
  return Append(CommandType::kBarrier, 0, &command);
}

iree_status_t CommandList::Fill(iree_hal_buffer_ref_t target, const void* pattern,
                                iree_host_size_t pattern_length) {
  if (pattern_length != 1 && pattern_length != 2 && pattern_length != 4) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "fill patterns have 1, 2 or 4 bytes; %" PRIhsz " were given",
                            pattern_length);
  }
  FillCommand* command = nullptr;
  IREE_RETURN_IF_ERROR(Append(CommandType::kFill, 0, &command));
  IREE_RETURN_IF_ERROR(Record(target, &command->target));
  command->pattern = RepeatPattern(pattern, pattern_length);
  bool one_byte = command->pattern == (command->pattern & 0xFF) * 0x01010101u;
  if ((!one_byte || !IsWordAligned(command->target)) && !fill_kernel_) {
    fill_kernel_ = builtins_->fill();
    Need(fill_kernel_);
  }
  return iree_ok_status();
}

iree_status_t CommandList::Update(const void* source, iree_hal_buffer_ref_t target) {
  UpdateCommand* command = nullptr;
  IREE_RETURN_IF_ERROR(Append(CommandType::kUpdate, 0, &command));
  iree_device_size_t length = target.length;
  IREE_RETURN_IF_ERROR(Record(target, &command->target));
  if (length == IREE_HAL_WHOLE_BUFFER)
    length = command->target.length;
  if (length == IREE_HAL_WHOLE_BUFFER) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "an update of a binding table's slot has a length of its own");
  }
  command->target.length = length;
  command->source_offset = iree_device_align(update_data_.size(), kArgumentAlignment);
  update_data_.resize(command->source_offset + length);
  std::memcpy(update_data_.data() + command->source_offset, source, length);
  return IsWordAligned(command->target) ? iree_ok_status() : NeedCopyKernel();
}

iree_status_t CommandList::Copy(iree_hal_buffer_ref_t source, iree_hal_buffer_ref_t target) {
  CopyCommand* command = nullptr;
  IREE_RETURN_IF_ERROR(Append(CommandType::kCopy, 0, &command));
  IREE_RETURN_IF_ERROR(Record(source, &command->source));
  IREE_RETURN_IF_ERROR(Record(target, &command->target));
  bool blits = IsWordAligned(command->source) && IsWordAligned(command->target);
  return blits ? iree_ok_status() : NeedCopyKernel();
}

iree_status_t
CommandList::Dispatch(iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                      const iree_hal_dispatch_config_t& config, iree_const_byte_span_t constants,
                      iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  const ExecutableFunction* found = nullptr;
  IREE_RETURN_IF_ERROR(FunctionOf(executable, function, &found));
  if (iree_hal_dispatch_uses_custom_arguments(flags) ||
      iree_hal_dispatch_uses_indirect_arguments(flags)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "functions of Metal executables take bindings and constants only");
  }
  if (bindings.count < found->binding_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function '%s' takes %u bindings; %" PRIhsz " were given",
                            found->name.c_str(), found->binding_count, bindings.count);
  }
  if (constants.data_length != found->constant_count * sizeof(uint32_t)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function '%s' takes %u constants; %" PRIhsz " bytes were given",
                            found->name.c_str(), found->constant_count, constants.data_length);
  }
  uint16_t binding_count = found->binding_count;
  DispatchCommand* command = nullptr;
  IREE_RETURN_IF_ERROR(Append(CommandType::kDispatch,
                              binding_count * sizeof(RecordedRef) + constants.data_length,
                              &command));
  command->function = found;
  const uint32_t* size = config.workgroup_size[0] ? config.workgroup_size : found->threadgroup_size;
  std::copy_n(size, 3, command->threadgroup_size);
  for (uint32_t& extent : command->threadgroup_size)
    extent = std::max(extent, 1u);
  std::copy_n(config.workgroup_count, 3, command->threadgroup_count);
  command->is_indirect = iree_hal_dispatch_uses_indirect_parameters(flags);
  if (command->is_indirect) {
    IREE_RETURN_IF_ERROR(Record(config.workgroup_count_ref, &command->count));
  }
  command->binding_count = binding_count;
  command->constant_length = static_cast<uint16_t>(constants.data_length);
  ++dispatch_count_;
  command->executable = executable;
  command->executable_id = ExecutableId(executable);
  command->function_ordinal = iree_hal_executable_function_index(function);
  auto* refs = const_cast<RecordedRef*>(command->bindings().data());
  for (uint16_t i = 0; i < binding_count; ++i) {
    new (&refs[i]) RecordedRef;
    IREE_RETURN_IF_ERROR(Record(bindings.values[i], &refs[i]));
  }
  if (constants.data_length)
    std::memcpy(const_cast<void*>(command->constants()), constants.data, constants.data_length);
  // An address each is the most that the function's argument buffer can hold.
  command->argument_offset = static_cast<uint32_t>(argument_bytes_);
  argument_bytes_ += iree_device_align(binding_count * sizeof(uint64_t), kArgumentAlignment);
  Retain(executable);
  Need(found->pipeline);
  return iree_ok_status();
}

iree_status_t CommandList::SignalEvent(iree_hal_event_t* event) {
  EventCommand* command = nullptr;
  IREE_RETURN_IF_ERROR(Append(CommandType::kSignalEvent, 0, &command));
  command->event = event;
  Retain(event);
  return iree_ok_status();
}

iree_status_t CommandList::ResetEvent(iree_hal_event_t* event) {
  EventCommand* command = nullptr;
  IREE_RETURN_IF_ERROR(Append(CommandType::kResetEvent, 0, &command));
  command->event = event;
  Retain(event);
  return iree_ok_status();
}

iree_status_t CommandList::WaitEvents(iree_host_size_t count, const iree_hal_event_t** events) {
  WaitEventsCommand* command = nullptr;
  IREE_RETURN_IF_ERROR(
      Append(CommandType::kWaitEvents, count * sizeof(iree_hal_event_t*), &command));
  command->count = static_cast<uint32_t>(count);
  waits_for_events_ = true;
  std::copy_n(events, count, const_cast<const iree_hal_event_t**>(command->events()));
  for (iree_host_size_t i = 0; i < count; ++i)
    Retain(events[i]);
  return iree_ok_status();
}

iree_status_t CommandList::PushDebugGroup(iree_string_view_t label) {
  DebugGroupCommand* command = nullptr;
  IREE_RETURN_IF_ERROR(Append(CommandType::kPushDebugGroup, label.size, &command));
  command->length = static_cast<uint32_t>(label.size);
  if (label.size)
    std::memcpy(command + 1, label.data, label.size);
  return iree_ok_status();
}

iree_status_t CommandList::PopDebugGroup() {
  Command* command = nullptr;
  return Append(CommandType::kPopDebugGroup, 0, &command);
}

iree_status_t CommandList::Finish() {
  if (update_data_.empty())
    return iree_ok_status();
  AutoreleaseScope pool;
  iree_hal_buffer_params_t params = {};
  params.type = kUpdateMemory;
  iree_device_size_t size = iree_device_align(update_data_.size(), 4);
  IREE_RETURN_IF_ERROR(memory_->Allocate(params, size, &update_buffer_), "for update data");
  memory_->Adopt(update_buffer_.get(), kUpdateMemory, /*is_owned=*/false);
  std::memcpy(update_buffer_->contents(), update_data_.data(), update_data_.size());
  update_data_ = {};
  return iree_ok_status();
}

} // namespace bessemer::metal_driver

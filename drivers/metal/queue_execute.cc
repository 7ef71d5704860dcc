// Work for the device: command buffers, dispatches and transfers.
#include <cstring>
#include <vector>

#include "drivers/metal/buffer.h"
#include "drivers/metal/command_buffer.h"
#include "drivers/metal/dispatch_profile.h"
#include "drivers/metal/queue_operations.h"
#include "drivers/metal/replay.h"
#include "drivers/metal/submission.h"
#include "drivers/metal/submission_profile.h"

namespace bessemer::metal_driver {
namespace {

/// A command list on its way through the device.
class DeviceWork : public Submission {
public:
  DeviceWork(Device* device, Queue* queue, OperationInfo info)
      : Submission(device, queue), info_(info) {}

  /// One of these: a recorded command buffer, or commands of its own.
  HalPtr<iree_hal_command_buffer_t> command_buffer;
  std::unique_ptr<CommandList> own_list;

  /// Copies the table, and keeps what it names unless the caller does.
  void SetBindingTable(iree_hal_buffer_binding_table_t table, bool is_borrowed) {
    bindings_.assign(table.bindings, table.bindings + table.count);
    if (is_borrowed)
      return;
    bound_.reserve(table.count);
    for (const iree_hal_buffer_binding_t& binding : bindings_)
      bound_.push_back(HalPtr<iree_hal_buffer_t>::Retain(binding.buffer));
  }

  const CommandList& list() const {
    return own_list ? *own_list : *CommandListOf(command_buffer.get());
  }

  std::vector<iree_async_semaphore_t*> Pending() const {
    std::vector<iree_async_semaphore_t*> pending;
    for (const auto& pipeline : list().pipelines())
      pending.push_back(pipeline->ready());
    return pending;
  }

private:
  bool WaitsOnDevice() const override { return !list().empty(); }
  bool KeepsWhatItUses() const override {
    return list().is_retaining() && bound_.size() == bindings_.size();
  }

  void Run() override {
    if (list().empty()) {
      Complete(iree_ok_status());
      return;
    }
    iree_status_t status = device()->arguments->Acquire(list().argument_bytes(), &arguments_);
    MTL::CommandBuffer* commands = nullptr;
    if (iree_status_is_ok(status)) {
      // What commands use is kept by this.
      commands = queue()->handle->commandBufferWithUnretainedReferences();
      ForEachPromise(
          [&](MTL::SharedEvent* event, uint64_t value) { commands->encodeWait(event, value); });
      Encoder encoder(commands, queue()->fence.get(), device()->memory->NeedsUseResource());
      status =
          Replay(list(), {bindings_.size(), bindings_.data()}, arguments_, encoder, BeginProfile());
    }
    if (!iree_status_is_ok(status)) {
      Complete(status);
      return;
    }
    if (signals().count && EndsByItself()) {
      done_ = device()->events->Acquire();
      commands->encodeSignalEvent(done_.event.get(), done_.value);
    }
    device()->memory->CommitResidency();
    commands->addCompletedHandler(^(MTL::CommandBuffer* completed) {
      AutoreleaseScope pool;
      OnCompleted(completed);
    });
    Promise promise = {0, done_.event, done_.value, RetainMetal(commands)};
    if (list().waits_for_events())
      ++queue()->open_ended;
    // Nothing may be promised before the commit: what goes behind it in the queue would be before
    // it. After the commit this may complete at any time.
    Hold();
    commands->commit();
    if (promise.event)
      PromiseSignals(promise);
    Release();
  }

  /// Whether the work ends once it is committed, whatever else is or is not.
  bool EndsByItself() const { return !list().waits_for_events() && queue()->open_ended == 0; }

  void OnCompleted(MTL::CommandBuffer* completed) {
    if (profiler())
      EndProfile(completed);
    if (list().waits_for_events())
      --queue()->open_ended;
    bool is_ok = completed->status() == MTL::CommandBufferStatusCompleted;
    if (done_.event) {
      // What waits behind work that was given up would wait for ever.
      if (!is_ok && done_.event->signaledValue() < done_.value)
        done_.event->setSignaledValue(done_.value);
      device()->events->Release(std::move(done_));
    }
    Complete(is_ok
                 ? iree_ok_status()
                 : StatusFromError(IREE_STATUS_INTERNAL, "the device failed", completed->error()));
  }

  OperationInfo Info() const override { return info_; }

  /// What times the dispatches, if they are to be timed.
  DispatchTimer* BeginProfile() {
    if (!profiler())
      return nullptr;
    profiler()->Describe(list(), command_buffer.get());
    if (profiler()->TimesDispatches() && list().dispatch_count())
      dispatches_ = std::make_unique<DispatchProfile>(profiler(), profile().operation, list());
    return dispatches_.get();
  }

  void EndProfile(MTL::CommandBuffer* completed) {
    profiler()->RecordDeviceTime(profile().operation, completed->GPUStartTime(),
                                 completed->GPUEndTime());
    if (dispatches_)
      dispatches_->Record(completed);
  }

  void Retire() override {
    device()->arguments->Release(std::move(arguments_));
    own_list.reset();
    command_buffer = {};
    bound_.clear();
  }

  std::vector<iree_hal_buffer_binding_t> bindings_;
  std::vector<HalPtr<iree_hal_buffer_t>> bound_;
  ArgumentArena::Block arguments_;
  EventPool::Slot done_;
  OperationInfo info_;
  std::unique_ptr<DispatchProfile> dispatches_;
};

iree_status_t StartWork(std::unique_ptr<DeviceWork> work, const iree_hal_semaphore_list_t& waits,
                        const iree_hal_semaphore_list_t& signals) {
  std::vector<iree_async_semaphore_t*> pending = work->Pending();
  return Submission::Start(std::move(work), waits, pending, signals);
}

/// Work with commands of its own, to be recorded by `record`.
template <class Record>
iree_status_t SubmitCommands(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                             const iree_hal_semaphore_list_t& waits,
                             const iree_hal_semaphore_list_t& signals, bool is_retaining,
                             const OperationInfo& info, Record record) {
  Device* device = Device::From(base);
  Queue* queue = nullptr;
  IREE_RETURN_IF_ERROR(device->SelectQueue(queue_affinity, &queue));
  auto work = std::make_unique<DeviceWork>(device, queue, info);
  work->own_list = std::make_unique<CommandList>(&device->block_pool, device->memory,
                                                 device->builtins.get(), is_retaining);
  IREE_RETURN_IF_ERROR(record(*work->own_list));
  IREE_RETURN_IF_ERROR(work->own_list->Finish());
  return StartWork(std::move(work), waits, signals);
}

/// Checks of direct operations, as command buffers have them from their validation.
iree_status_t CheckRange(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                         iree_device_size_t length, iree_hal_buffer_usage_t usage,
                         iree_hal_memory_access_t access) {
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_usage(iree_hal_buffer_allowed_usage(buffer), usage));
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_access(iree_hal_buffer_allowed_access(buffer), access));
  return iree_hal_buffer_validate_range(buffer, offset, length);
}

iree_status_t ResolveLength(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                            iree_device_size_t* length) {
  iree_device_size_t adjusted = 0;
  return iree_hal_buffer_calculate_range(0, iree_hal_buffer_byte_length(buffer), offset, *length,
                                         &adjusted, length);
}

} // namespace

iree_status_t QueueExecute(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                           const iree_hal_semaphore_list_t waits,
                           const iree_hal_semaphore_list_t signals,
                           iree_hal_command_buffer_t* command_buffer,
                           iree_hal_buffer_binding_table_t binding_table,
                           iree_hal_execute_flags_t flags) {
  Device* device = Device::From(base);
  Queue* queue = nullptr;
  IREE_RETURN_IF_ERROR(device->SelectQueue(queue_affinity, &queue));
  OperationInfo info;
  if (command_buffer) {
    info.type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE;
    info.command_buffer_id = iree_hal_command_buffer_profile_id(command_buffer);
    if (const CommandList* list = CommandListOf(command_buffer))
      info.operation_count = list->command_count();
  }
  auto work = std::make_unique<DeviceWork>(device, queue, info);
  if (!command_buffer) {
    // A barrier is work without commands.
    work->own_list = std::make_unique<CommandList>(&device->block_pool, device->memory,
                                                   device->builtins.get(), /*is_retaining=*/false);
    return StartWork(std::move(work), waits, signals);
  }
  if (!CommandListOf(command_buffer)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the command buffer is not of this driver");
  }
  work->command_buffer = HalPtr<iree_hal_command_buffer_t>::Retain(command_buffer);
  work->SetBindingTable(
      binding_table, iree_any_bit_set(flags, IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME));
  return StartWork(std::move(work), waits, signals);
}

iree_status_t
QueueDispatch(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
              const iree_hal_semaphore_list_t waits, const iree_hal_semaphore_list_t signals,
              iree_hal_executable_t* executable, iree_hal_executable_function_t function,
              const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
              const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  bool is_retaining = !iree_any_bit_set(flags, IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES);
  bool is_noop =
      !iree_hal_dispatch_uses_indirect_parameters(flags) &&
      (config.workgroup_count[0] | config.workgroup_count[1] | config.workgroup_count[2]) == 0;
  OperationInfo info;
  info.type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH;
  if (IsMetalExecutable(executable))
    info.executable_id = ExecutableId(executable);
  info.function_ordinal = iree_hal_executable_function_index(function);
  return SubmitCommands(base, queue_affinity, waits, signals, is_retaining, info,
                        [&](CommandList& list) -> iree_status_t {
                          if (is_noop)
                            return iree_ok_status();
                          return list.Dispatch(executable, function, config, constants, bindings,
                                               flags);
                        });
}

iree_status_t QueueFill(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                        const iree_hal_semaphore_list_t waits,
                        const iree_hal_semaphore_list_t signals, iree_hal_buffer_t* target_buffer,
                        iree_device_size_t target_offset, iree_device_size_t length,
                        const void* pattern, iree_host_size_t pattern_length,
                        iree_hal_fill_flags_t) {
  IREE_RETURN_IF_ERROR(ResolveLength(target_buffer, target_offset, &length));
  IREE_RETURN_IF_ERROR(CheckRange(target_buffer, target_offset, length,
                                  IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET,
                                  IREE_HAL_MEMORY_ACCESS_WRITE));
  if (pattern_length && (target_offset % pattern_length || length % pattern_length)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a fill of %" PRIdsz " bytes at %" PRIdsz
                            " does not hold whole patterns of %" PRIhsz,
                            length, target_offset, pattern_length);
  }
  OperationInfo info;
  info.type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL;
  info.payload_length = length;
  return SubmitCommands(base, queue_affinity, waits, signals, /*is_retaining=*/true, info,
                        [&](CommandList& list) -> iree_status_t {
                          if (length == 0)
                            return iree_ok_status();
                          return list.Fill(
                              iree_hal_make_buffer_ref(target_buffer, target_offset, length),
                              pattern, pattern_length);
                        });
}

iree_status_t QueueUpdate(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                          const iree_hal_semaphore_list_t waits,
                          const iree_hal_semaphore_list_t signals, const void* source_buffer,
                          iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
                          iree_device_size_t target_offset, iree_device_size_t length,
                          iree_hal_update_flags_t) {
  IREE_RETURN_IF_ERROR(ResolveLength(target_buffer, target_offset, &length));
  IREE_RETURN_IF_ERROR(CheckRange(target_buffer, target_offset, length,
                                  IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET,
                                  IREE_HAL_MEMORY_ACCESS_WRITE));
  OperationInfo info;
  info.type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_UPDATE;
  info.payload_length = length;
  return SubmitCommands(base, queue_affinity, waits, signals, /*is_retaining=*/true, info,
                        [&](CommandList& list) -> iree_status_t {
                          if (length == 0)
                            return iree_ok_status();
                          return list.Update(
                              static_cast<const uint8_t*>(source_buffer) + source_offset,
                              iree_hal_make_buffer_ref(target_buffer, target_offset, length));
                        });
}

iree_status_t QueueCopy(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                        const iree_hal_semaphore_list_t waits,
                        const iree_hal_semaphore_list_t signals, iree_hal_buffer_t* source_buffer,
                        iree_device_size_t source_offset, iree_hal_buffer_t* target_buffer,
                        iree_device_size_t target_offset, iree_device_size_t length,
                        iree_hal_copy_flags_t) {
  if (length == IREE_HAL_WHOLE_BUFFER) {
    iree_device_size_t source_length = length;
    IREE_RETURN_IF_ERROR(ResolveLength(source_buffer, source_offset, &source_length));
    IREE_RETURN_IF_ERROR(ResolveLength(target_buffer, target_offset, &length));
    length = iree_min(length, source_length);
  }
  IREE_RETURN_IF_ERROR(CheckRange(source_buffer, source_offset, length,
                                  IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE,
                                  IREE_HAL_MEMORY_ACCESS_READ));
  IREE_RETURN_IF_ERROR(CheckRange(target_buffer, target_offset, length,
                                  IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET,
                                  IREE_HAL_MEMORY_ACCESS_WRITE));
  if (iree_hal_buffer_test_overlap(source_buffer, source_offset, length, target_buffer,
                                   target_offset, length) != IREE_HAL_BUFFER_OVERLAP_DISJOINT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "source and target of a copy overlap");
  }
  OperationInfo info;
  info.type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY;
  info.payload_length = length;
  return SubmitCommands(base, queue_affinity, waits, signals, /*is_retaining=*/true, info,
                        [&](CommandList& list) -> iree_status_t {
                          if (length == 0)
                            return iree_ok_status();
                          return list.Copy(
                              iree_hal_make_buffer_ref(source_buffer, source_offset, length),
                              iree_hal_make_buffer_ref(target_buffer, target_offset, length));
                        });
}

} // namespace bessemer::metal_driver

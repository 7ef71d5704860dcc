// Operations that the host carries out in the order of the queue: calls and files.
#include <algorithm>
#include <cstring>

#include "drivers/metal/queue_operations.h"
#include "drivers/metal/submission.h"

namespace bessemer::metal_driver {
namespace {

class HostCall : public Submission {
public:
  HostCall(Device* device, Queue* queue, iree_hal_host_call_t call, const uint64_t args[4],
           iree_hal_host_call_flags_t flags, iree_hal_queue_affinity_t affinity)
      : Submission(device, queue), call_(call), affinity_(affinity),
        is_blocking_(!iree_any_bit_set(flags, IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING)) {
    std::copy_n(args, 4, args_);
  }

private:
  OperationInfo Info() const override {
    OperationInfo info;
    info.type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_HOST_CALL;
    return info;
  }

  void Run() override {
    device()->workers->Post([this] { is_blocking_ ? CallAndComplete() : CompleteAndCall(); });
  }

  void CallAndComplete() {
    iree_hal_host_call_context_t context = {device()->base(), affinity_, signals()};
    iree_status_t status = call_.fn(call_.user_data, args_, &context);
    if (iree_status_is_deferred(status)) {
      // The callee has a list of its own and signals it when it is done.
      iree_status_free(status);
      Drop();
      return;
    }
    Complete(status);
  }

  void CompleteAndCall() {
    auto device_kept = HalPtr<Device>::Retain(device());
    iree_hal_host_call_t call = call_;
    uint64_t args[4];
    std::copy_n(args_, 4, args);
    iree_hal_host_call_context_t context = {device()->base(), affinity_,
                                            iree_hal_semaphore_list_empty()};
    Complete(iree_ok_status());
    // No one waits for the call, so that no one hears of its failure.
    iree_status_free(call.fn(call.user_data, args, &context));
  }

  iree_hal_host_call_t call_;
  uint64_t args_[4];
  iree_hal_queue_affinity_t affinity_;
  bool is_blocking_;
};

/// A read of a file into a buffer or a write of a buffer to a file.
class FileTransfer : public Submission {
public:
  enum class Direction { kRead, kWrite };

  FileTransfer(Device* device, Queue* queue, Direction direction, iree_hal_file_t* file,
               uint64_t file_offset, iree_hal_buffer_t* buffer, iree_device_size_t buffer_offset,
               iree_device_size_t length)
      : Submission(device, queue), file_(HalPtr<iree_hal_file_t>::Retain(file)),
        buffer_(HalPtr<iree_hal_buffer_t>::Retain(buffer)), file_offset_(file_offset),
        buffer_offset_(buffer_offset), length_(length), direction_(direction) {}

private:
  OperationInfo Info() const override {
    OperationInfo info;
    info.type = direction_ == Direction::kRead ? IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_READ
                                               : IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_WRITE;
    info.payload_length = length_;
    return info;
  }

  void Run() override {
    if (length_ == 0) {
      Complete(iree_ok_status());
      return;
    }
    device()->workers->Post([this] { Complete(Transfer()); });
  }

  iree_status_t Transfer() {
    bool is_read = direction_ == Direction::kRead;
    // Files in memory are copied from buffer to buffer.
    if (iree_hal_buffer_t* storage = iree_hal_file_storage_buffer(file_.get())) {
      return is_read ? CopyMapped(storage, file_offset_, buffer_.get(), buffer_offset_)
                     : CopyMapped(buffer_.get(), buffer_offset_, storage, file_offset_);
    }
    return is_read ? iree_hal_file_read(file_.get(), file_offset_, buffer_.get(), buffer_offset_,
                                        length_)
                   : iree_hal_file_write(file_.get(), file_offset_, buffer_.get(), buffer_offset_,
                                         length_);
  }

  iree_status_t CopyMapped(iree_hal_buffer_t* source, iree_device_size_t source_offset,
                           iree_hal_buffer_t* target, iree_device_size_t target_offset) {
    iree_hal_buffer_mapping_t from = {}, to = {};
    IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(source, IREE_HAL_MAPPING_MODE_SCOPED,
                                                   IREE_HAL_MEMORY_ACCESS_READ, source_offset,
                                                   length_, &from));
    iree_status_t status =
        iree_hal_buffer_map_range(target, IREE_HAL_MAPPING_MODE_SCOPED,
                                  IREE_HAL_MEMORY_ACCESS_WRITE, target_offset, length_, &to);
    if (iree_status_is_ok(status)) {
      std::memmove(to.contents.data, from.contents.data, length_);
      status = iree_hal_buffer_unmap_range(&to);
    }
    return iree_status_join(status, iree_hal_buffer_unmap_range(&from));
  }

  void Retire() override {
    file_ = {};
    buffer_ = {};
  }

  HalPtr<iree_hal_file_t> file_;
  HalPtr<iree_hal_buffer_t> buffer_;
  uint64_t file_offset_;
  iree_device_size_t buffer_offset_;
  iree_device_size_t length_;
  Direction direction_;
};

iree_status_t StartTransfer(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                            const iree_hal_semaphore_list_t& waits,
                            const iree_hal_semaphore_list_t& signals,
                            FileTransfer::Direction direction, iree_hal_file_t* file,
                            uint64_t file_offset, iree_hal_buffer_t* buffer,
                            iree_device_size_t buffer_offset, iree_device_size_t length) {
  Device* device = Device::From(base);
  Queue* queue = nullptr;
  IREE_RETURN_IF_ERROR(device->SelectQueue(queue_affinity, &queue));
  bool is_read = direction == FileTransfer::Direction::kRead;
  IREE_RETURN_IF_ERROR(iree_hal_file_validate_access(file, is_read ? IREE_HAL_MEMORY_ACCESS_READ
                                                                   : IREE_HAL_MEMORY_ACCESS_WRITE));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_usage(
      iree_hal_buffer_allowed_usage(buffer),
      is_read ? IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET : IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_range(buffer, buffer_offset, length));
  return Submission::Start(std::make_unique<FileTransfer>(device, queue, direction, file,
                                                          file_offset, buffer, buffer_offset,
                                                          length),
                           waits, {}, signals);
}

} // namespace

iree_status_t QueueHostCall(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                            const iree_hal_semaphore_list_t waits,
                            const iree_hal_semaphore_list_t signals, iree_hal_host_call_t call,
                            const uint64_t args[4], iree_hal_host_call_flags_t flags) {
  Device* device = Device::From(base);
  Queue* queue = nullptr;
  IREE_RETURN_IF_ERROR(device->SelectQueue(queue_affinity, &queue));
  return Submission::Start(
      std::make_unique<HostCall>(device, queue, call, args, flags,
                                 iree_hal_queue_affinity_t{1} << queue->ordinal),
      waits, {}, signals);
}

iree_status_t QueueRead(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                        const iree_hal_semaphore_list_t waits,
                        const iree_hal_semaphore_list_t signals, iree_hal_file_t* source_file,
                        uint64_t source_offset, iree_hal_buffer_t* target_buffer,
                        iree_device_size_t target_offset, iree_device_size_t length,
                        iree_hal_read_flags_t) {
  return StartTransfer(base, queue_affinity, waits, signals, FileTransfer::Direction::kRead,
                       source_file, source_offset, target_buffer, target_offset, length);
}

iree_status_t QueueWrite(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                         const iree_hal_semaphore_list_t waits,
                         const iree_hal_semaphore_list_t signals, iree_hal_buffer_t* source_buffer,
                         iree_device_size_t source_offset, iree_hal_file_t* target_file,
                         uint64_t target_offset, iree_device_size_t length,
                         iree_hal_write_flags_t) {
  return StartTransfer(base, queue_affinity, waits, signals, FileTransfer::Direction::kWrite,
                       target_file, target_offset, source_buffer, source_offset, length);
}

} // namespace bessemer::metal_driver

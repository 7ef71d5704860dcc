#pragma once

// Checks on commands while they are recorded, and on the binding table when they are submitted.
// They live behind the command buffer in memory that its driver provides, and are left out when the
// command buffer's mode says UNVALIDATED.

#include <cstdint>
#include <span>

#include "iree/hal/command_buffer.h"

namespace bessemer::hal {

/// What a command needs of a buffer it touches.
struct BufferRequirement {
  iree_hal_buffer_compatibility_t compatibility = 0;
  iree_hal_buffer_usage_t usage = 0;
  iree_hal_memory_access_t access = 0;
  iree_hal_memory_type_t type = 0;
  /// One past the last byte used, from the start of the bound range.
  iree_device_size_t end = 0;
  iree_device_size_t alignment = 1;

  /// Widens this requirement so that it covers `other` as well.
  void merge(const BufferRequirement& other);
};

/// The recording state of one command buffer. `slots()` follow the object in memory.
class CommandBufferValidation {
public:
  static iree_host_size_t sizeFor(iree_host_size_t bindingCapacity) {
    return sizeof(CommandBufferValidation) + bindingCapacity * sizeof(BufferRequirement);
  }
  static CommandBufferValidation* createAt(void* storage, iree_hal_allocator_t* allocator,
                                           iree_host_size_t bindingCapacity);
  /// Null when `commandBuffer` is not validated.
  static CommandBufferValidation* of(const iree_hal_command_buffer_t* commandBuffer) {
    return static_cast<CommandBufferValidation*>(commandBuffer->validation_state);
  }

  iree_status_t begin();
  iree_status_t end();
  iree_status_t beginDebugGroup();
  iree_status_t endDebugGroup();
  /// Checks that commands of `category` (none of them: any) may be recorded now.
  iree_status_t recording(const iree_hal_command_buffer_t* commandBuffer,
                          iree_hal_command_category_t category) const;
  iree_status_t fill(const iree_hal_command_buffer_t* commandBuffer, iree_hal_buffer_ref_t target,
                     iree_host_size_t patternLength);
  iree_status_t update(const iree_hal_command_buffer_t* commandBuffer, const void* source,
                       iree_hal_buffer_ref_t target);
  iree_status_t copy(const iree_hal_command_buffer_t* commandBuffer, iree_hal_buffer_ref_t source,
                     iree_hal_buffer_ref_t target);
  iree_status_t advise(const iree_hal_command_buffer_t* commandBuffer, iree_hal_buffer_ref_t ref);
  iree_status_t collective(const iree_hal_command_buffer_t* commandBuffer,
                           iree_hal_collective_op_t op, iree_hal_buffer_ref_t send,
                           iree_hal_buffer_ref_t recv, iree_device_size_t elementCount);
  iree_status_t dispatch(const iree_hal_command_buffer_t* commandBuffer,
                         const iree_hal_dispatch_config_t& config, iree_const_byte_span_t constants,
                         iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags);
  iree_status_t submission(const iree_hal_command_buffer_t* commandBuffer,
                           iree_hal_buffer_binding_table_t table) const;

private:
  iree_status_t require(const iree_hal_command_buffer_t* commandBuffer, iree_hal_buffer_ref_t ref,
                        BufferRequirement requirement);
  iree_status_t check(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                      iree_device_size_t length, const BufferRequirement& requirement) const;
  std::span<BufferRequirement> slots() const;

  iree_hal_allocator_t* allocator_;
  iree_host_size_t slotCount_;
  uint32_t debugDepth_;
  bool begun_;
  bool ended_;
};

} // namespace bessemer::hal

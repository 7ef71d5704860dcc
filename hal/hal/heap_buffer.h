#pragma once

// Buffers in host memory, as the heap allocator makes them.

#include <memory>
#include <mutex>

#include "iree/hal/allocator.h"

namespace bessemer::hal {

/// Bytes allocated and freed by one allocator. Buffers share it, since they may outlive theirs.
class AllocationStatistics {
public:
  void recordAllocation(iree_hal_memory_type_t type, iree_device_size_t size) {
    std::lock_guard lock(mutex_);
    iree_hal_allocator_statistics_record_alloc(&totals_, type, size);
  }
  void recordFree(iree_hal_memory_type_t type, iree_device_size_t size) {
    std::lock_guard lock(mutex_);
    iree_hal_allocator_statistics_record_free(&totals_, type, size);
  }
  iree_hal_allocator_statistics_t totals() const {
    std::lock_guard lock(mutex_);
    return totals_;
  }

private:
  mutable std::mutex mutex_;
  iree_hal_allocator_statistics_t totals_ = {};
};

/// Makes a buffer of `size` zero-initialised bytes from `dataAllocator`, aligned to
/// `params.min_alignment` and at least a cache line. `statistics` may be null.
iree_status_t createHeapBuffer(std::shared_ptr<AllocationStatistics> statistics,
                               iree_hal_buffer_placement_t placement,
                               const iree_hal_buffer_params_t& params, iree_device_size_t size,
                               iree_allocator_t dataAllocator, iree_allocator_t hostAllocator,
                               iree_hal_buffer_t** out_buffer);

/// The bytes of `buffer` when it is a heap buffer, empty otherwise.
iree_byte_span_t heapBufferContents(iree_hal_buffer_t* buffer);

} // namespace bessemer::hal

#include "hal/drivers/host/host_memory.h"

#include "hal/drivers/host/transient_buffer.h"
#include "hal/hal/heap_buffer.h"

namespace bessemer::hal::host {

iree_status_t resolveHostMemory(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                                iree_device_size_t length, HostMemory* out_memory) {
  if (!buffer)
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no buffer is bound");
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(iree_hal_buffer_byte_offset(buffer),
                                                       iree_hal_buffer_byte_length(buffer), offset,
                                                       length, &offset, &length));
  if (TransientBuffer* transient = TransientBuffer::from(buffer)) {
    IREE_RETURN_IF_ERROR(transient->storage(&out_memory->owner));
  } else {
    out_memory->owner = Retained(iree_hal_buffer_allocated_buffer(buffer));
  }
  const iree_byte_span_t contents = heapBufferContents(out_memory->owner.get());
  if (!contents.data) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the buffer is not in memory that the host device knows");
  }
  out_memory->bytes = {contents.data + offset, static_cast<size_t>(length)};
  return iree_ok_status();
}

} // namespace bessemer::hal::host

#include "iree/hal/semaphore.h"

#include <cstring>

#include "hal/hal/object.h"
#include "iree/hal/device.h"

using bessemer::hal::vtableOf;

namespace {

const iree_hal_semaphore_vtable_t& vtableOfSemaphore(iree_hal_semaphore_t* semaphore) {
  return vtableOf<iree_hal_semaphore_vtable_t>(semaphore);
}

// A HAL semaphore begins with an async semaphore.
iree_async_semaphore_t* asAsync(iree_hal_semaphore_t* semaphore) {
  return reinterpret_cast<iree_async_semaphore_t*>(semaphore);
}

iree_status_t resolveWaitSource(iree_wait_source_t source, iree_timeout_t timeout,
                                iree_wait_source_resolve_callback_t callback, void* user_data) {
  auto* semaphore = static_cast<iree_hal_semaphore_t*>(source.self);
  if (!callback) {
    return iree_hal_semaphore_wait(semaphore, source.data, timeout, IREE_ASYNC_WAIT_FLAG_NONE);
  }
  return iree_async_semaphore_resolve(asAsync(semaphore), source.data, timeout, callback,
                                      user_data);
}

} // namespace

iree_status_t iree_hal_semaphore_create(iree_hal_device_t* device,
                                        iree_hal_queue_affinity_t queue_affinity,
                                        uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                        iree_hal_semaphore_t** out_semaphore) {
  *out_semaphore = nullptr;
  return vtableOf<iree_hal_device_vtable_t>(device).create_semaphore(
      device, queue_affinity, initial_value, flags, out_semaphore);
}

void iree_hal_semaphore_retain(iree_hal_semaphore_t* semaphore) {
  iree_hal_resource_retain(semaphore);
}

void iree_hal_semaphore_release(iree_hal_semaphore_t* semaphore) {
  iree_hal_resource_release(semaphore);
}

void iree_hal_semaphore_destroy(iree_hal_semaphore_t* semaphore) {
  if (semaphore)
    vtableOfSemaphore(semaphore).async.destroy(asAsync(semaphore));
}

iree_status_t iree_hal_semaphore_query(iree_hal_semaphore_t* semaphore, uint64_t* out_value) {
  const uint64_t value = vtableOfSemaphore(semaphore).async.query(asAsync(semaphore));
  if (value < IREE_HAL_SEMAPHORE_FAILURE_VALUE) {
    *out_value = value;
    return iree_ok_status();
  }
  *out_value = IREE_HAL_SEMAPHORE_FAILURE_VALUE;
  return iree_hal_semaphore_failure_as_status(value);
}

iree_status_t iree_hal_semaphore_signal(iree_hal_semaphore_t* semaphore, uint64_t new_value,
                                        const iree_async_frontier_t* frontier) {
  // Larger values mean failure.
  if (new_value > IREE_HAL_SEMAPHORE_MAX_VALUE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "value %" PRIu64 " is beyond the largest of a timeline, %" PRIu64,
                            new_value, (uint64_t)IREE_HAL_SEMAPHORE_MAX_VALUE);
  }
  return vtableOfSemaphore(semaphore).async.signal(asAsync(semaphore), new_value, frontier);
}

void iree_hal_semaphore_fail(iree_hal_semaphore_t* semaphore, iree_status_t status) {
  iree_async_semaphore_fail(asAsync(semaphore), status);
}

iree_status_t iree_hal_semaphore_wait(iree_hal_semaphore_t* semaphore, uint64_t value,
                                      iree_timeout_t timeout, iree_async_wait_flags_t flags) {
  return vtableOfSemaphore(semaphore).wait(semaphore, value, timeout, flags);
}

iree_wait_source_t iree_hal_semaphore_await(iree_hal_semaphore_t* semaphore, uint64_t value) {
  iree_wait_source_t source = {};
  source.self = semaphore;
  source.data = value;
  source.resolve = resolveWaitSource;
  return source;
}

iree_status_t
iree_hal_semaphore_import_timepoint(iree_hal_semaphore_t* semaphore, uint64_t value,
                                    iree_hal_queue_affinity_t queue_affinity,
                                    iree_hal_external_timepoint_t external_timepoint) {
  if (external_timepoint.type != IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE) {
    return vtableOfSemaphore(semaphore).import_timepoint(semaphore, value, queue_affinity,
                                                         external_timepoint);
  }
  return iree_async_semaphore_import_fence(asAsync(semaphore)->proactor,
                                           external_timepoint.handle.async_primitive,
                                           asAsync(semaphore), value);
}

iree_status_t iree_hal_semaphore_export_timepoint(
    iree_hal_semaphore_t* semaphore, uint64_t value, iree_hal_queue_affinity_t queue_affinity,
    iree_hal_external_timepoint_type_t requested_type,
    iree_hal_external_timepoint_flags_t requested_flags,
    iree_hal_external_timepoint_t* IREE_RESTRICT out_external_timepoint) {
  std::memset(out_external_timepoint, 0, sizeof(*out_external_timepoint));
  if (requested_type != IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE) {
    return vtableOfSemaphore(semaphore).export_timepoint(
        semaphore, value, queue_affinity, requested_type, requested_flags, out_external_timepoint);
  }
  iree_async_primitive_t primitive = iree_async_primitive_none();
  IREE_RETURN_IF_ERROR(iree_async_semaphore_export_fence(asAsync(semaphore)->proactor,
                                                         asAsync(semaphore), value, &primitive));
  out_external_timepoint->type = requested_type;
  out_external_timepoint->flags = requested_flags;
  out_external_timepoint->compatibility = IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_ONLY;
  out_external_timepoint->handle.async_primitive = primitive;
  return iree_ok_status();
}

//===--- lists --------------------------------------------------------------------------------===//

void iree_hal_semaphore_list_retain(iree_hal_semaphore_list_t semaphore_list) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    iree_hal_semaphore_retain(semaphore_list.semaphores[i]);
  }
}

void iree_hal_semaphore_list_release(iree_hal_semaphore_list_t semaphore_list) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    iree_hal_semaphore_release(semaphore_list.semaphores[i]);
  }
}

iree_status_t iree_hal_semaphore_list_clone(const iree_hal_semaphore_list_t* source_list,
                                            iree_allocator_t host_allocator,
                                            iree_hal_semaphore_list_t* out_list) {
  *out_list = iree_hal_semaphore_list_empty();
  const iree_host_size_t count = source_list->count;
  if (count == 0)
    return iree_ok_status();
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array_uninitialized(
      host_allocator, count, sizeof(uint64_t) + sizeof(iree_hal_semaphore_t*), &storage));
  out_list->count = count;
  // One block, freed by its first pointer, which is therefore the semaphores' array.
  out_list->semaphores = static_cast<iree_hal_semaphore_t**>(storage);
  out_list->payload_values = reinterpret_cast<uint64_t*>(out_list->semaphores + count);
  static_assert(sizeof(iree_hal_semaphore_t*) % alignof(uint64_t) == 0);
  std::memcpy(out_list->semaphores, source_list->semaphores, count * sizeof(iree_hal_semaphore_t*));
  std::memcpy(out_list->payload_values, source_list->payload_values, count * sizeof(uint64_t));
  iree_hal_semaphore_list_retain(*out_list);
  return iree_ok_status();
}

void iree_hal_semaphore_list_free(iree_hal_semaphore_list_t list, iree_allocator_t host_allocator) {
  iree_hal_semaphore_list_release(list);
  iree_allocator_free(host_allocator, list.semaphores);
}

bool iree_hal_semaphore_list_poll(iree_hal_semaphore_list_t semaphore_list) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    const uint64_t value = vtableOfSemaphore(semaphore_list.semaphores[i])
                               .async.query(asAsync(semaphore_list.semaphores[i]));
    if (value >= IREE_HAL_SEMAPHORE_FAILURE_VALUE)
      return false;
    if (value < semaphore_list.payload_values[i])
      return false;
  }
  return true;
}

iree_status_t iree_hal_semaphore_list_signal(iree_hal_semaphore_list_t semaphore_list,
                                             const iree_async_frontier_t* frontier) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_semaphore_signal(semaphore_list.semaphores[i],
                                                   semaphore_list.payload_values[i], frontier));
  }
  return iree_ok_status();
}

void iree_hal_semaphore_list_fail(iree_hal_semaphore_list_t semaphore_list,
                                  iree_status_t signal_status) {
  for (iree_host_size_t i = 0; i < semaphore_list.count; ++i) {
    const bool isLast = i + 1 == semaphore_list.count;
    iree_hal_semaphore_fail(semaphore_list.semaphores[i],
                            isLast ? signal_status : iree_status_clone(signal_status));
  }
  if (semaphore_list.count == 0)
    iree_status_ignore(signal_status);
}

iree_status_t iree_hal_semaphore_list_wait(iree_hal_semaphore_list_t semaphore_list,
                                           iree_timeout_t timeout, iree_async_wait_flags_t flags) {
  if (semaphore_list.count == 0)
    return iree_ok_status();
  // The driver's own wait may know what it waits for.
  if (semaphore_list.count == 1)
    return iree_hal_semaphore_wait(semaphore_list.semaphores[0], semaphore_list.payload_values[0],
                                   timeout, flags);
  return iree_async_semaphore_multi_wait(
      IREE_ASYNC_WAIT_MODE_ALL,
      reinterpret_cast<iree_async_semaphore_t**>(semaphore_list.semaphores),
      semaphore_list.payload_values, semaphore_list.count, timeout, flags, iree_allocator_system());
}

void iree_hal_semaphore_list_erase(iree_hal_semaphore_list_t* semaphore_list, iree_host_size_t i) {
  const iree_host_size_t last = --semaphore_list->count;
  semaphore_list->semaphores[i] = semaphore_list->semaphores[last];
  semaphore_list->payload_values[i] = semaphore_list->payload_values[last];
}

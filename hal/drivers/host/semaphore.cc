#include "hal/drivers/host/semaphore.h"

#include "iree/async/semaphore.h"

namespace bessemer::hal::host {
namespace {

struct HostSemaphore {
  iree_async_semaphore_t async;
  iree_allocator_t hostAllocator;
};

void destroy(iree_async_semaphore_t* base) {
  auto* semaphore = reinterpret_cast<HostSemaphore*>(base);
  iree_allocator_t hostAllocator = semaphore->hostAllocator;
  iree_async_semaphore_deinitialize(base);
  iree_allocator_free(hostAllocator, semaphore);
}

iree_status_t failureOf(iree_async_semaphore_t* semaphore) {
  return reinterpret_cast<iree_status_t>(
      iree_atomic_load(&semaphore->failure_status, iree_memory_order_acquire));
}

uint64_t query(iree_async_semaphore_t* semaphore) {
  iree_status_t failure = failureOf(semaphore);
  if (!iree_status_is_ok(failure))
    return iree_hal_status_as_semaphore_failure(failure);
  return static_cast<uint64_t>(
      iree_atomic_load(&semaphore->timeline_value, iree_memory_order_acquire));
}

iree_status_t signal(iree_async_semaphore_t* semaphore, uint64_t value,
                     const iree_async_frontier_t* frontier) {
  iree_status_t failure = failureOf(semaphore);
  if (!iree_status_is_ok(failure))
    return iree_status_clone(failure);
  IREE_RETURN_IF_ERROR(iree_async_semaphore_advance_timeline(semaphore, value, frontier));
  iree_async_semaphore_dispatch_timepoints(semaphore, value);
  return iree_ok_status();
}

void onFail(iree_async_semaphore_t*, iree_status_code_t) {}

iree_status_t wait(iree_hal_semaphore_t* base, uint64_t value, iree_timeout_t timeout,
                   iree_async_wait_flags_t flags) {
  auto* semaphore = reinterpret_cast<iree_async_semaphore_t*>(base);
  return iree_async_semaphore_multi_wait(IREE_ASYNC_WAIT_MODE_ALL, &semaphore, &value, 1, timeout,
                                         flags,
                                         reinterpret_cast<HostSemaphore*>(base)->hostAllocator);
}

iree_status_t importTimepoint(iree_hal_semaphore_t*, uint64_t, iree_hal_queue_affinity_t,
                              iree_hal_external_timepoint_t timepoint) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "timepoints of type %d cannot be imported",
                          (int)timepoint.type);
}

iree_status_t exportTimepoint(iree_hal_semaphore_t*, uint64_t, iree_hal_queue_affinity_t,
                              iree_hal_external_timepoint_type_t type,
                              iree_hal_external_timepoint_flags_t,
                              iree_hal_external_timepoint_t* IREE_RESTRICT) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "timepoints cannot be exported as type %d",
                          (int)type);
}

const iree_hal_semaphore_vtable_t kVtable = {
    .async = {.destroy = destroy, .query = query, .signal = signal, .on_fail = onFail},
    .wait = wait,
    .import_timepoint = importTimepoint,
    .export_timepoint = exportTimepoint,
};

} // namespace

iree_status_t createSemaphore(iree_async_proactor_t* proactor, uint64_t initialValue,
                              iree_allocator_t hostAllocator,
                              iree_hal_semaphore_t** out_semaphore) {
  *out_semaphore = nullptr;
  if (initialValue > IREE_HAL_SEMAPHORE_MAX_VALUE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "initial value %" PRIu64 " is beyond the largest, %" PRIu64,
                            initialValue, (uint64_t)IREE_HAL_SEMAPHORE_MAX_VALUE);
  }
  iree_host_size_t frontierOffset = 0, size = 0;
  IREE_RETURN_IF_ERROR(iree_async_semaphore_layout(sizeof(HostSemaphore),
                                                   IREE_ASYNC_SEMAPHORE_DEFAULT_FRONTIER_CAPACITY,
                                                   &frontierOffset, &size));
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(hostAllocator, size, &storage));
  auto* semaphore = static_cast<HostSemaphore*>(storage);
  iree_async_semaphore_initialize(&kVtable.async, proactor, initialValue, frontierOffset,
                                  IREE_ASYNC_SEMAPHORE_DEFAULT_FRONTIER_CAPACITY,
                                  &semaphore->async);
  semaphore->hostAllocator = hostAllocator;
  *out_semaphore = iree_hal_semaphore_cast(&semaphore->async);
  return iree_ok_status();
}

bool isSemaphore(iree_hal_semaphore_t* semaphore) {
  return iree_hal_resource_is(semaphore, &kVtable);
}

} // namespace bessemer::hal::host

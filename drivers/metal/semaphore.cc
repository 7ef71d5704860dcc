#include "drivers/metal/semaphore.h"

#include <mutex>
#include <new>

#include "iree/async/semaphore.h"

namespace bessemer::metal_driver {
namespace {

/// What another semaphore holds up.
struct Expectation {
  uint64_t value = 0; // 0: nothing is expected
  HalPtr<iree_hal_semaphore_t> earlier;
  uint64_t earlier_value = 0;
};

struct Semaphore {
  iree_async_semaphore_t async;
  iree_allocator_t host_allocator;
  MetalPtr<MTL::Device> device;
  std::mutex event_mutex;
  MetalPtr<MTL::SharedEvent> event;
  iree_atomic_int32_t has_event;
  Promises promises;
  std::mutex expectation_mutex;
  Expectation expectation;

  static Semaphore* From(iree_async_semaphore_t* base) {
    return reinterpret_cast<Semaphore*>(base);
  }
  static Semaphore* From(iree_hal_semaphore_t* base) { return reinterpret_cast<Semaphore*>(base); }
};

void Destroy(iree_async_semaphore_t* base) {
  Semaphore* semaphore = Semaphore::From(base);
  iree_allocator_t host_allocator = semaphore->host_allocator;
  iree_async_semaphore_deinitialize(base);
  semaphore->~Semaphore();
  iree_allocator_free(host_allocator, semaphore);
}

uint64_t Query(iree_async_semaphore_t* base) {
  auto failure = reinterpret_cast<iree_status_t>(
      iree_atomic_load(&base->failure_status, iree_memory_order_acquire));
  if (!iree_status_is_ok(failure))
    return iree_hal_status_as_semaphore_failure(failure); // whoever decodes it makes the copy
  return static_cast<uint64_t>(iree_atomic_load(&base->timeline_value, iree_memory_order_acquire));
}

iree_status_t Signal(iree_async_semaphore_t* base, uint64_t value,
                     const iree_async_frontier_t* frontier) {
  Semaphore* semaphore = Semaphore::From(base);
  IREE_RETURN_IF_ERROR(iree_async_semaphore_advance_timeline(base, value, frontier));
  if (iree_atomic_load(&semaphore->has_event, iree_memory_order_acquire)) {
    // Two signals may arrive here in either order; the event's value only grows.
    std::lock_guard lock(semaphore->event_mutex);
    if (semaphore->event->signaledValue() < value)
      semaphore->event->setSignaledValue(value);
  }
  semaphore->promises.Keep(value);
  iree_async_semaphore_dispatch_timepoints(base, value);
  return iree_ok_status();
}

// What waits on the device goes on, as it always does; that it waited in vain it learns from its
// timepoint here, so that it does not signal.
void OnFail(iree_async_semaphore_t* base, iree_status_code_t) {
  Semaphore::From(base)->promises.KeepAll();
}

/// Waits for the work that leads to `value` as long as that is known; what comes then is for a wait
/// on the semaphore. Metal knows best how to wait for its work, and may lend a hand with it;
/// operations of the host behind that work run within its completion.
void WaitForWork(iree_hal_semaphore_t* base, uint64_t value) {
  const auto is_over = [](iree_hal_semaphore_t* semaphore, uint64_t value) {
    return Query(&Semaphore::From(semaphore)->async) >= value; // failed ones, too
  };
  auto target = HalPtr<iree_hal_semaphore_t>::Retain(base);
  uint64_t target_value = value;
  MetalPtr<MTL::CommandBuffer> before;
  while (!is_over(base, value)) {
    Semaphore* semaphore = Semaphore::From(target.get());
    if (MetalPtr<MTL::CommandBuffer> work = semaphore->promises.WorkTowards(target_value)) {
      // The same again: its handler is yet to return.
      if (work.get() == before.get())
        return;
      work->waitUntilCompleted();
      before = std::move(work);
      target = HalPtr<iree_hal_semaphore_t>::Retain(base);
      target_value = value;
      continue;
    }
    Expectation expected;
    {
      std::lock_guard lock(semaphore->expectation_mutex);
      if (semaphore->expectation.value < target_value)
        return;
      expected = semaphore->expectation;
    }
    // Only the last expectation is known: on one timeline it may lead back to itself.
    if (expected.earlier.get() == target.get() && expected.earlier_value >= target_value)
      return;
    target = std::move(expected.earlier);
    target_value = expected.earlier_value;
    if (is_over(target.get(), target_value))
      return; // about to go on, in another thread
  }
}

iree_status_t Wait(iree_hal_semaphore_t* base, uint64_t value, iree_timeout_t timeout,
                   iree_async_wait_flags_t flags) {
  auto* async = reinterpret_cast<iree_async_semaphore_t*>(base);
  // Metal's wait knows no time limit.
  if (iree_timeout_is_infinite(timeout))
    WaitForWork(base, value);
  return iree_async_semaphore_multi_wait(IREE_ASYNC_WAIT_MODE_ALL, &async, &value, 1, timeout,
                                         flags, Semaphore::From(base)->host_allocator);
}

iree_status_t ImportTimepoint(iree_hal_semaphore_t*, uint64_t, iree_hal_queue_affinity_t,
                              iree_hal_external_timepoint_t external_timepoint) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "Metal cannot import timepoints of type %d",
                          static_cast<int>(external_timepoint.type));
}

iree_status_t ExportTimepoint(iree_hal_semaphore_t*, uint64_t, iree_hal_queue_affinity_t,
                              iree_hal_external_timepoint_type_t requested_type,
                              iree_hal_external_timepoint_flags_t, iree_hal_external_timepoint_t*) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "Metal cannot export timepoints of type %d",
                          static_cast<int>(requested_type));
}

constexpr iree_hal_semaphore_vtable_t kVtable = {
    {Destroy, Query, Signal, OnFail},
    Wait,
    ImportTimepoint,
    ExportTimepoint,
};

} // namespace

iree_status_t CreateSemaphore(MTL::Device* device, iree_async_proactor_t* proactor,
                              uint64_t initial_value, iree_allocator_t host_allocator,
                              iree_hal_semaphore_t** out_semaphore) {
  static_assert(offsetof(Semaphore, async) == 0);
  *out_semaphore = nullptr;
  if (initial_value > IREE_HAL_SEMAPHORE_MAX_VALUE) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "semaphores go up to %" PRIu64 "; initial value %" PRIu64,
                            static_cast<uint64_t>(IREE_HAL_SEMAPHORE_MAX_VALUE), initial_value);
  }
  iree_host_size_t frontier_offset = 0, total_size = 0;
  IREE_RETURN_IF_ERROR(iree_async_semaphore_layout(sizeof(Semaphore),
                                                   IREE_ASYNC_SEMAPHORE_DEFAULT_FRONTIER_CAPACITY,
                                                   &frontier_offset, &total_size));
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, total_size, &storage));
  auto* semaphore = new (storage) Semaphore{};
  iree_async_semaphore_initialize(&kVtable.async, proactor, initial_value, frontier_offset,
                                  IREE_ASYNC_SEMAPHORE_DEFAULT_FRONTIER_CAPACITY,
                                  &semaphore->async);
  semaphore->host_allocator = host_allocator;
  semaphore->device = RetainMetal(device);
  *out_semaphore = iree_hal_semaphore_cast(&semaphore->async);
  return iree_ok_status();
}

bool IsMetalSemaphore(iree_hal_semaphore_t* semaphore) {
  return iree_hal_resource_is(semaphore, &kVtable);
}

namespace {

/// Lets go of what it held outside the lock: that may be the last reference.
void Replace(Semaphore* semaphore, Expectation&& expectation) {
  std::lock_guard lock(semaphore->expectation_mutex);
  std::swap(semaphore->expectation, expectation);
}

} // namespace

void ExpectSignalAfter(iree_hal_semaphore_t* base, uint64_t value, iree_hal_semaphore_t* earlier,
                       uint64_t earlier_value) {
  Expectation expectation{.value = value,
                          .earlier = HalPtr<iree_hal_semaphore_t>::Retain(earlier),
                          .earlier_value = earlier_value};
  Replace(Semaphore::From(base), std::move(expectation));
}

void WithdrawSignal(iree_hal_semaphore_t* base, uint64_t value) {
  Semaphore* semaphore = Semaphore::From(base);
  Expectation over;
  std::lock_guard lock(semaphore->expectation_mutex);
  if (semaphore->expectation.value == value)
    std::swap(semaphore->expectation, over);
}

Promises* PromisesOf(iree_hal_semaphore_t* base, MTL::Device* device) {
  if (!IsMetalSemaphore(base) || Semaphore::From(base)->device.get() != device)
    return nullptr;
  return &Semaphore::From(base)->promises;
}

MTL::SharedEvent* SharedEventOf(iree_hal_semaphore_t* base) {
  Semaphore* semaphore = Semaphore::From(base);
  std::lock_guard lock(semaphore->event_mutex);
  if (!semaphore->event) {
    AutoreleaseScope pool;
    semaphore->event = TakeMetal(semaphore->device->newSharedEvent());
    iree_atomic_store(&semaphore->has_event, 1, iree_memory_order_release);
    // Signals that came before they could see the event.
    semaphore->event->setSignaledValue(static_cast<uint64_t>(
        iree_atomic_load(&semaphore->async.timeline_value, iree_memory_order_acquire)));
  }
  return semaphore->event.get();
}

} // namespace bessemer::metal_driver

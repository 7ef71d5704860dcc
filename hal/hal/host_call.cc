#include "hal/hal/host_call.h"

#include <algorithm>
#include <array>
#include <memory>
#include <thread>

#include "hal/hal/semaphore_wait.h"
#include "iree/hal/utils/queue_host_call_emulation.h"

namespace bessemer::hal {

void runHostCall(iree_hal_device_t* device, iree_hal_queue_affinity_t affinity,
                 iree_hal_semaphore_list_t signals, iree_hal_host_call_t call,
                 const uint64_t args[4], iree_hal_host_call_flags_t flags,
                 const iree_async_frontier_t* frontier) {
  const bool nonBlocking = iree_any_bit_set(flags, IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING);
  auto signal = [&] {
    iree_status_t status = iree_hal_semaphore_list_signal(signals, frontier);
    if (!iree_status_is_ok(status))
      iree_hal_semaphore_list_fail(signals, status);
  };
  if (nonBlocking)
    signal();
  iree_hal_host_call_context_t context = {};
  context.device = device;
  context.queue_affinity = affinity;
  if (!nonBlocking)
    context.signal_semaphore_list = signals;
  iree_status_t status = call.fn(call.user_data, args, &context);
  if (nonBlocking || iree_status_is_deferred(status)) {
    iree_status_ignore(status);
  } else if (iree_status_is_ok(status)) {
    signal();
  } else {
    iree_hal_semaphore_list_fail(signals, status);
  }
}

} // namespace bessemer::hal

iree_status_t iree_hal_device_queue_emulated_host_call(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_host_call_t call,
    const uint64_t args[4], iree_hal_host_call_flags_t flags) {
  using namespace bessemer::hal;
  iree_allocator_t hostAllocator = iree_hal_device_host_allocator(device);
  iree_hal_semaphore_list_t signals;
  IREE_RETURN_IF_ERROR(
      iree_hal_semaphore_list_clone(&signal_semaphore_list, hostAllocator, &signals));
  std::array<uint64_t, 4> arguments;
  std::copy_n(args, 4, arguments.begin());
  iree_hal_device_retain(device);

  auto finish = [=] {
    iree_hal_semaphore_list_free(signals, hostAllocator);
    iree_hal_device_release(device);
  };
  auto run = [=] {
    runHostCall(device, queue_affinity, signals, call, arguments.data(), flags, nullptr);
    finish();
  };
  if (iree_hal_semaphore_list_poll(wait_semaphore_list)) {
    run();
    return iree_ok_status();
  }
  iree_status_t status =
      whenReached(wait_semaphore_list, hostAllocator, [=](iree_status_t waitStatus) {
        if (!iree_status_is_ok(waitStatus)) {
          iree_hal_semaphore_list_fail(signals, waitStatus);
          finish();
          return;
        }
        // The call may take its time; the thread that signaled is someone else's.
        std::thread(run).detach();
      });
  if (!iree_status_is_ok(status))
    finish();
  return status;
}

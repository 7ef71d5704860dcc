// hal.fence.*: points in time. A null fence has been reached.
#include "modules/hal/state.h"

namespace bessemer::modules::hal {

namespace {

// A new point that nothing has reached: a semaphore at 0 that is to become 1.
Result<RefPtr<iree_hal_fence_t>> create(State& state, Required<iree_hal_device_t> device,
                                        uint64_t flags) {
  RefPtr<iree_hal_semaphore_t> semaphore;
  (void)flags; // says how the fence may be shared; one process's semaphores serve all
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_semaphore_create(
      device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, semaphore.put())));
  RefPtr<iree_hal_fence_t> fence;
  iree_status_t status =
      iree_hal_fence_create_at(semaphore.get(), 1, state.options.host_allocator, fence.put());
  return made(status, std::move(fence));
}

Result<RefPtr<iree_hal_fence_t>> joinAll(State& state, Span<iree_hal_fence_t*> fences) {
  std::vector<iree_hal_fence_t*> list;
  for (size_t i = 0; i < fences.size(); ++i)
    if (fences[i])
      list.push_back(fences[i]);
  if (list.empty())
    return RefPtr<iree_hal_fence_t>();
  if (list.size() == 1)
    return RefPtr<iree_hal_fence_t>::share(list[0]);
  RefPtr<iree_hal_fence_t> fence;
  iree_status_t status =
      iree_hal_fence_join(list.size(), list.data(), state.options.host_allocator, fence.put());
  return made(status, std::move(fence));
}

Result<RefPtr<iree_hal_fence_t>> join(State& state, uint64_t, Span<iree_hal_fence_t*> fences) {
  return joinAll(state, fences);
}

Result<uint32_t> query(State&, Required<iree_hal_fence_t> fence) {
  return static_cast<uint32_t>(iree_status_consume_code(iree_hal_fence_query(fence)));
}

Result<void> signal(State&, Required<iree_hal_fence_t> fence) {
  return fromStatus(iree_hal_fence_signal(fence));
}

Result<void> failFence(State&, Required<iree_hal_fence_t> fence, uint32_t code) {
  iree_hal_fence_fail(
      fence, iree_make_status(static_cast<iree_status_code_t>(code), "failed by the program"));
  return {};
}

class FenceWait final : public vm::WaitSource {
public:
  FenceWait(RefPtr<iree_hal_fence_t> fence, iree_time_t deadline)
      : fence_(std::move(fence)), deadline_(deadline) {}

  bool wait(Clock::time_point deadline) override {
    iree_time_t until = deadline_;
    if (deadline != Clock::time_point::max()) {
      auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now());
      until = std::min(
          until, iree_relative_timeout_to_deadline_ns(std::max<iree_duration_t>(left.count(), 0)));
    }
    iree_status_t status =
        iree_hal_fence_wait(fence_.get(), iree_make_deadline(until), IREE_ASYNC_WAIT_FLAG_NONE);
    // The program's own deadline ends the wait as well as the fence does.
    bool early = iree_status_is_deadline_exceeded(status) && until < deadline_;
    iree_status_ignore(status);
    return !early;
  }

private:
  RefPtr<iree_hal_fence_t> fence_;
  iree_time_t deadline_;
};

// What a wait on `fence` came to: 0, DEADLINE_EXCEEDED as a result, or the fence's failure.
Result<vm::Yielding<uint32_t>> waitResult(iree_hal_fence_t* fence, iree_status_t waited) {
  if (iree_status_is_ok(waited))
    return vm::Yielding<uint32_t>(0u);
  if (iree_status_is_deadline_exceeded(waited)) {
    iree_status_ignore(waited);
    return vm::Yielding<uint32_t>(static_cast<uint32_t>(IREE_STATUS_DEADLINE_EXCEEDED));
  }
  // A wait tells only the code; the query has the message.
  iree_status_t full = iree_hal_fence_query(fence);
  if (!iree_status_is_ok(full) && !iree_status_is_deferred(full)) {
    iree_status_ignore(waited);
    waited = full;
  } else {
    iree_status_ignore(full);
  }
  return vm::propagate(fromStatus(waited));
}

Result<vm::Yielding<uint32_t>> await(State& state, vm::NativeCall& call, int32_t timeout_ms,
                                     uint64_t, Span<iree_hal_fence_t*> fences) {
  BESSEMER_ASSIGN_OR_RETURN(RefPtr<iree_hal_fence_t> fence, joinAll(state, fences));
  if (!fence)
    return vm::Yielding<uint32_t>(0u);
  // The deadline counts from the first attempt.
  if (!call.resumed)
    call.scratch = static_cast<uint64_t>(
        timeout_ms < 0 ? IREE_TIME_INFINITE_FUTURE
                       : iree_relative_timeout_to_deadline_ns(iree_make_duration_ms(timeout_ms)));
  auto deadline = static_cast<iree_time_t>(call.scratch);
  if (call.may_block)
    return waitResult(fence.get(), iree_hal_fence_wait(fence.get(), iree_make_deadline(deadline),
                                                       IREE_ASYNC_WAIT_FLAG_NONE));
  iree_status_t status = iree_hal_fence_query(fence.get());
  if (!iree_status_is_deferred(status))
    return waitResult(fence.get(), status);
  iree_status_ignore(status);
  if (deadline != IREE_TIME_INFINITE_FUTURE && iree_time_now() >= deadline)
    return vm::Yielding<uint32_t>(static_cast<uint32_t>(IREE_STATUS_DEADLINE_EXCEEDED));
  call.wait_source = std::make_unique<FenceWait>(std::move(fence), deadline);
  return vm::Yielding<uint32_t>(vm::Outcome::Deferred);
}

} // namespace

std::span<const vm::NativeFunction> fenceFunctions() {
  static constexpr vm::NativeFunction functions[] = {
      vm::bind<await>("fence.await"),    vm::bind<create>("fence.create"),
      vm::bind<failFence>("fence.fail"), vm::bind<join>("fence.join"),
      vm::bind<query>("fence.query"),    vm::bind<signal>("fence.signal"),
  };
  return functions;
}

} // namespace bessemer::modules::hal

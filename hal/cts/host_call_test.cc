// Host functions on a queue's timeline.

#include <atomic>
#include <thread>

#include "hal/cts/device_test.h"

namespace bessemer::hal::cts {
namespace {

class HostCallTest : public DeviceTest {
protected:
  /// What a call sees and does.
  struct Call {
    std::atomic<int> count{0};
    uint64_t args[4] = {};
    size_t signalCount = 0;
    iree_hal_queue_affinity_t queues = 0;
    iree_hal_device_t* device = nullptr;
    iree_status_code_t result = IREE_STATUS_OK;
    iree_hal_semaphore_list_t kept = {};
    Semaphore entered;
  };

  static iree_status_t callback(void* user_data, const uint64_t args[4],
                                iree_hal_host_call_context_t* context) {
    auto* call = static_cast<Call*>(user_data);
    std::copy_n(args, 4, call->args);
    call->signalCount = context->signal_semaphore_list.count;
    call->queues = context->queue_affinity;
    call->device = context->device;
    if (call->result == IREE_STATUS_DEFERRED) {
      IREE_RETURN_IF_ERROR(iree_hal_semaphore_list_clone(&context->signal_semaphore_list,
                                                         iree_allocator_system(), &call->kept));
    }
    const iree_status_code_t result = call->result;
    Semaphore entered = call->entered;
    ++call->count;
    if (entered.get())
      IREE_RETURN_IF_ERROR(iree_hal_semaphore_signal(entered, 1, nullptr));
    return iree_status_from_code(result);
  }

  iree_status_t submit(Call& call, const Timepoints& waits, const Timepoints& signals,
                       iree_hal_host_call_flags_t flags = IREE_HAL_HOST_CALL_FLAG_NONE) {
    const uint64_t args[4] = {1, UINT64_MAX, 0, 0x123456789ABCDEF0};
    return iree_hal_device_queue_host_call(device(), IREE_HAL_QUEUE_AFFINITY_ANY, waits, signals,
                                           iree_hal_make_host_call(callback, &call), args, flags);
  }
};

TEST_P(HostCallTest, RunsBetweenItsWaitsAndItsSignals) {
  Semaphore go = semaphore(), a = semaphore(), b = semaphore();
  Call call;
  IREE_ASSERT_OK(submit(call, {{go, 1}}, {{a, 1}, {b, 5}}));
  EXPECT_EQ(call.count, 0);
  IREE_ASSERT_OK(iree_hal_semaphore_signal(go, 1, nullptr));
  IREE_ASSERT_OK(wait(a, 1));
  IREE_ASSERT_OK(wait(b, 5));
  EXPECT_EQ(call.count, 1);
  EXPECT_EQ(call.args[1], UINT64_MAX);
  EXPECT_EQ(call.args[3], 0x123456789ABCDEF0u);
  EXPECT_EQ(call.signalCount, 2u);
  EXPECT_EQ(call.device, device());
  EXPECT_NE(call.queues, 0u);
}

TEST_P(HostCallTest, ErrorsFailTheSignals) {
  for (bool waits : {false, true}) {
    Semaphore go = semaphore(), a = semaphore(), b = semaphore();
    Call call;
    call.result = IREE_STATUS_PERMISSION_DENIED;
    Timepoints waitList;
    if (waits)
      waitList.add(go, 1);
    IREE_ASSERT_OK(submit(call, waitList, {{a, 1}, {b, 1}}));
    if (waits)
      IREE_ASSERT_OK(iree_hal_semaphore_signal(go, 1, nullptr));
    EXPECT_THAT(Status(wait(a, 1)), StatusIs(StatusCode::kPermissionDenied));
    EXPECT_THAT(Status(wait(b, 1)), StatusIs(StatusCode::kPermissionDenied));
  }
}

TEST_P(HostCallTest, DeferredCallsSignalWhenTheyPlease) {
  Semaphore a = semaphore(), b = semaphore(), entered = semaphore();
  Call call;
  call.result = IREE_STATUS_DEFERRED;
  call.entered = entered;
  IREE_ASSERT_OK(submit(call, {}, {{a, 1}, {b, 2}}));
  IREE_ASSERT_OK(wait(entered, 1));
  EXPECT_EQ(value(a), 0u);
  IREE_ASSERT_OK(iree_hal_semaphore_list_signal(call.kept, nullptr));
  iree_hal_semaphore_list_free(call.kept, iree_allocator_system());
  IREE_EXPECT_OK(wait(a, 1));
  IREE_EXPECT_OK(wait(b, 2));
}

TEST_P(HostCallTest, NonBlockingCallsDoNotMatterToTheTimeline) {
  Semaphore done = semaphore(), entered = semaphore();
  Call call;
  call.result = IREE_STATUS_ABORTED;
  call.entered = entered;
  IREE_ASSERT_OK(submit(call, {}, {{done, 1}}, IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING));
  IREE_EXPECT_OK(wait(done, 1));
  IREE_EXPECT_OK(wait(entered, 1));
  EXPECT_EQ(call.signalCount, 0u);
}

TEST_P(HostCallTest, SeesTheWorkBeforeItAndIsSeenByTheWorkAfterIt) {
  Buffer target = buffer(16);
  Semaphore timeline = semaphore();
  struct Shared {
    iree_hal_buffer_t* buffer;
    uint8_t seen;
  } shared = {target, 0};
  const uint8_t before = 0x12;
  const uint64_t args[4] = {};
  IREE_ASSERT_OK(iree_hal_device_queue_fill(device(), IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{},
                                            Timepoints{{timeline, 1}}, target, 0, 16, &before, 1,
                                            IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_device_queue_host_call(
      device(), IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{{timeline, 1}}, Timepoints{{timeline, 2}},
      iree_hal_make_host_call(
          [](void* user_data, const uint64_t*, iree_hal_host_call_context_t*) -> iree_status_t {
            auto* shared = static_cast<Shared*>(user_data);
            IREE_RETURN_IF_ERROR(iree_hal_buffer_map_read(shared->buffer, 3, &shared->seen, 1));
            const uint8_t after = 0x34;
            return iree_hal_buffer_map_write(shared->buffer, 3, &after, 1);
          },
          &shared),
      args, IREE_HAL_HOST_CALL_FLAG_NONE));
  Buffer copy = buffer(16);
  IREE_ASSERT_OK(iree_hal_device_queue_copy(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                            Timepoints{{timeline, 2}}, Timepoints{{timeline, 3}},
                                            target, 0, copy, 0, 16, IREE_HAL_COPY_FLAG_NONE));
  IREE_ASSERT_OK(wait(timeline, 3));
  EXPECT_EQ(shared.seen, before);
  std::vector<uint8_t> expected(16, before);
  expected[3] = 0x34;
  EXPECT_EQ(contents(copy), expected);
}

BESSEMER_HAL_CTS(HostCallTest);

} // namespace
} // namespace bessemer::hal::cts

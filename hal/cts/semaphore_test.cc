// Timelines: order, failure, waits of every kind.

#include <atomic>
#include <thread>

#include "hal/cts/device_test.h"

namespace bessemer::hal::cts {
namespace {

class SemaphoreTest : public DeviceTest {
protected:
  Status waitFor(iree_hal_semaphore_t* semaphore, uint64_t value, iree_timeout_t timeout) {
    return iree_hal_semaphore_wait(semaphore, value, timeout, IREE_ASYNC_WAIT_FLAG_NONE);
  }
  Status waitAny(const Timepoints& points, iree_timeout_t timeout) {
    return iree_hal_device_wait_semaphores(device(), IREE_ASYNC_WAIT_MODE_ANY, points, timeout,
                                           IREE_ASYNC_WAIT_FLAG_NONE);
  }
  Status waitAll(const Timepoints& points, iree_timeout_t timeout) {
    return iree_hal_device_wait_semaphores(device(), IREE_ASYNC_WAIT_MODE_ALL, points, timeout,
                                           IREE_ASYNC_WAIT_FLAG_NONE);
  }
  iree_status_t makeFailure(iree_status_code_t code) {
    return iree_make_status(code, "failed by the test");
  }
};

TEST_P(SemaphoreTest, OnlyGrows) {
  Semaphore timeline = semaphore(5);
  EXPECT_EQ(value(timeline), 5u);
  IREE_EXPECT_OK(iree_hal_semaphore_signal(timeline, 6, nullptr));
  IREE_EXPECT_OK(iree_hal_semaphore_signal(timeline, 100, nullptr));
  EXPECT_EQ(value(timeline), 100u);
  EXPECT_THAT(Status(iree_hal_semaphore_signal(timeline, 100, nullptr)),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(Status(iree_hal_semaphore_signal(timeline, 7, nullptr)),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_EQ(value(timeline), 100u);
  // The last value that does not mean failure.
  EXPECT_THAT(
      Status(iree_hal_semaphore_signal(timeline, IREE_HAL_SEMAPHORE_FAILURE_VALUE, nullptr)),
      StatusIs(StatusCode::kInvalidArgument));
  IREE_EXPECT_OK(iree_hal_semaphore_signal(timeline, IREE_HAL_SEMAPHORE_MAX_VALUE, nullptr));
  EXPECT_EQ(value(timeline), IREE_HAL_SEMAPHORE_MAX_VALUE);
}

TEST_P(SemaphoreTest, PollsAndTimesOut) {
  Semaphore timeline = semaphore(1);
  EXPECT_THAT(waitFor(timeline, 1, iree_immediate_timeout()), StatusIs(StatusCode::kOk));
  EXPECT_THAT(waitFor(timeline, 2, iree_immediate_timeout()),
              StatusIs(StatusCode::kDeadlineExceeded));
  EXPECT_THAT(waitFor(timeline, 2, iree_make_timeout_ms(2)),
              StatusIs(StatusCode::kDeadlineExceeded));
  EXPECT_THAT(waitFor(timeline, 2, iree_make_deadline(IREE_TIME_INFINITE_PAST)),
              StatusIs(StatusCode::kDeadlineExceeded));
}

TEST_P(SemaphoreTest, FailsForGoodWithItsFirstFailure) {
  Semaphore timeline = semaphore();
  IREE_ASSERT_OK(iree_hal_semaphore_signal(timeline, 5, nullptr));
  iree_hal_semaphore_fail(timeline, makeFailure(IREE_STATUS_DATA_LOSS));
  iree_hal_semaphore_fail(timeline, makeFailure(IREE_STATUS_ABORTED));
  uint64_t reached = 0;
  Status status(iree_hal_semaphore_query(timeline, &reached));
  EXPECT_THAT(status, StatusIs(StatusCode::kDataLoss));
  EXPECT_EQ(reached, IREE_HAL_SEMAPHORE_FAILURE_VALUE);
  // Failure counts for values that had been reached as well.
  EXPECT_THAT(waitFor(timeline, 1, iree_infinite_timeout()), StatusIs(StatusCode::kDataLoss));
  EXPECT_THAT(waitFor(timeline, 9, iree_infinite_timeout()), StatusIs(StatusCode::kDataLoss));
  const Timepoints points{{timeline, 5}};
  EXPECT_FALSE(iree_hal_semaphore_list_poll(points));
}

TEST_P(SemaphoreTest, WaitsForAnyAndForAll) {
  Semaphore a = semaphore(), b = semaphore(), c = semaphore();
  const Timepoints points{{a, 1}, {b, 2}, {c, 3}};
  EXPECT_THAT(waitAny(points, iree_immediate_timeout()), StatusIs(StatusCode::kDeadlineExceeded));
  IREE_ASSERT_OK(iree_hal_semaphore_signal(b, 5, nullptr));
  EXPECT_THAT(waitAny(points, iree_infinite_timeout()), StatusIs(StatusCode::kOk));
  EXPECT_THAT(waitAll(points, iree_make_timeout_ms(2)), StatusIs(StatusCode::kDeadlineExceeded));
  IREE_ASSERT_OK(iree_hal_semaphore_signal(a, 1, nullptr));
  EXPECT_FALSE(iree_hal_semaphore_list_poll(points));
  IREE_ASSERT_OK(iree_hal_semaphore_signal(c, 3, nullptr));
  EXPECT_TRUE(iree_hal_semaphore_list_poll(points));
  EXPECT_THAT(waitAll(points, iree_infinite_timeout()), StatusIs(StatusCode::kOk));
  EXPECT_THAT(waitAll({}, iree_immediate_timeout()), StatusIs(StatusCode::kOk));
  EXPECT_THAT(waitAny({}, iree_immediate_timeout()), StatusIs(StatusCode::kOk));
}

TEST_P(SemaphoreTest, OneFailureEndsWaitsOfBothModes) {
  for (auto mode : {IREE_ASYNC_WAIT_MODE_ALL, IREE_ASYNC_WAIT_MODE_ANY}) {
    Semaphore a = semaphore(), b = semaphore();
    std::thread failing([&] { iree_hal_semaphore_fail(b, makeFailure(IREE_STATUS_CANCELLED)); });
    EXPECT_THAT(
        Status(iree_hal_device_wait_semaphores(device(), mode, Timepoints{{a, 1}, {b, 1}},
                                               iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE)),
        StatusIs(StatusCode::kCancelled));
    failing.join();
  }
}

TEST_P(SemaphoreTest, WakesEveryWaiter) {
  Semaphore timeline = semaphore();
  constexpr int kThreads = 8;
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      // Half of them wait for a value that is jumped over.
      iree_status_t status = iree_hal_semaphore_wait(timeline, 1 + i % 2, iree_infinite_timeout(),
                                                     IREE_ASYNC_WAIT_FLAG_NONE);
      if (iree_status_is_ok(status))
        ++woken;
      iree_status_ignore(status);
    });
  }
  IREE_ASSERT_OK(iree_hal_semaphore_signal(timeline, 7, nullptr));
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(woken, kThreads);
}

TEST_P(SemaphoreTest, PlaysPingPong) {
  Semaphore ping = semaphore(), pong = semaphore();
  constexpr uint64_t kRounds = 200;
  std::thread other([&] {
    for (uint64_t i = 1; i <= kRounds; ++i) {
      IREE_ASSERT_OK(wait(ping, i));
      IREE_ASSERT_OK(iree_hal_semaphore_signal(pong, i, nullptr));
    }
  });
  for (uint64_t i = 1; i <= kRounds; ++i) {
    IREE_ASSERT_OK(iree_hal_semaphore_signal(ping, i, nullptr));
    IREE_ASSERT_OK(wait(pong, i));
  }
  other.join();
}

TEST_P(SemaphoreTest, ResolvesWaitSources) {
  Semaphore timeline = semaphore();
  iree_wait_source_t source = iree_hal_semaphore_await(timeline, 3);
  iree_status_code_t code = IREE_STATUS_OK;
  IREE_ASSERT_OK(iree_wait_source_query(source, &code));
  EXPECT_EQ(code, IREE_STATUS_DEFERRED);
  IREE_ASSERT_OK(iree_hal_semaphore_signal(timeline, 3, nullptr));
  IREE_EXPECT_OK(iree_wait_source_wait_one(source, iree_infinite_timeout()));
}

TEST_P(SemaphoreTest, FencesCollectTimepoints) {
  Semaphore a = semaphore(), b = semaphore();
  iree_hal_fence_t* first = nullptr;
  iree_hal_fence_t* second = nullptr;
  iree_hal_fence_t* both = nullptr;
  IREE_ASSERT_OK(iree_hal_fence_create(2, iree_allocator_system(), &first));
  IREE_ASSERT_OK(iree_hal_fence_insert(first, a, 3));
  IREE_ASSERT_OK(iree_hal_fence_insert(first, a, 1));
  EXPECT_EQ(iree_hal_fence_timepoint_count(first), 1u);
  IREE_ASSERT_OK(iree_hal_fence_create_at(b, 2, iree_allocator_system(), &second));
  EXPECT_THAT(Status(iree_hal_fence_insert(second, a, 1)),
              StatusIs(StatusCode::kResourceExhausted));
  iree_hal_fence_t* sources[] = {first, nullptr, second};
  IREE_ASSERT_OK(iree_hal_fence_join(3, sources, iree_allocator_system(), &both));
  EXPECT_EQ(iree_hal_fence_timepoint_count(both), 2u);
  EXPECT_THAT(Status(iree_hal_fence_query(both)), StatusIs(StatusCode::kDeferred));
  IREE_ASSERT_OK(iree_hal_fence_signal(second));
  IREE_ASSERT_OK(iree_hal_semaphore_signal(a, 2, nullptr));
  EXPECT_THAT(Status(iree_hal_fence_query(both)), StatusIs(StatusCode::kDeferred));
  IREE_ASSERT_OK(iree_hal_fence_signal(first));
  IREE_EXPECT_OK(iree_hal_fence_query(both));
  IREE_EXPECT_OK(iree_hal_fence_wait(both, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_fence_fail(first, makeFailure(IREE_STATUS_ABORTED));
  EXPECT_THAT(Status(iree_hal_fence_query(both)), StatusIs(StatusCode::kAborted));
  IREE_EXPECT_OK(iree_hal_fence_query(nullptr));
  iree_hal_fence_t* none = first;
  IREE_EXPECT_OK(iree_hal_fence_join(0, nullptr, iree_allocator_system(), &none));
  EXPECT_EQ(none, nullptr);
  for (auto* fence : {first, second, both})
    iree_hal_fence_release(fence);
}

BESSEMER_HAL_CTS(SemaphoreTest);

} // namespace
} // namespace bessemer::hal::cts

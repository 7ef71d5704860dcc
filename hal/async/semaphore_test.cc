#include "iree/async/semaphore.h"

#include <atomic>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

struct SemaphoreDeleter {
  void operator()(iree_async_semaphore_t* semaphore) const {
    iree_async_semaphore_release(semaphore);
  }
};
using SemaphorePtr = std::unique_ptr<iree_async_semaphore_t, SemaphoreDeleter>;

SemaphorePtr Make(uint64_t value, uint8_t frontier_capacity = 0) {
  iree_async_semaphore_t* semaphore = nullptr;
  IREE_CHECK_OK(iree_async_semaphore_create(nullptr, value, frontier_capacity,
                                            iree_allocator_system(), &semaphore));
  return SemaphorePtr(semaphore);
}

// A timepoint that notes what it was told.
struct Noted {
  iree_async_semaphore_timepoint_t timepoint = {};
  std::atomic<int> code{-1};

  Noted() {
    timepoint.user_data = this;
    timepoint.callback = +[](void* self, iree_async_semaphore_timepoint_t*, iree_status_t status) {
      static_cast<Noted*>(self)->code = static_cast<int>(iree_status_consume_code(status));
    };
  }
};

iree_status_t Wait(iree_async_semaphore_t* semaphore, uint64_t value, iree_timeout_t timeout) {
  return iree_async_semaphore_multi_wait(IREE_ASYNC_WAIT_MODE_ALL, &semaphore, &value, 1, timeout,
                                         IREE_ASYNC_WAIT_FLAG_NONE, iree_allocator_system());
}

TEST(AsyncSemaphoreTest, LayoutOfTheStructIsPartOfTheContract) {
#if !defined(IREE_SANITIZER_THREAD) && defined(IREE_PLATFORM_LINUX)
  EXPECT_EQ(sizeof(iree_async_semaphore_t), 96u);
#endif
  EXPECT_EQ(offsetof(iree_async_semaphore_t, vtable), sizeof(void*));
}

TEST(AsyncSemaphoreTest, ValuesOnlyGrow) {
  auto semaphore = Make(5);
  EXPECT_EQ(iree_async_semaphore_query(semaphore.get()), 5u);
  IREE_EXPECT_OK(iree_async_semaphore_signal(semaphore.get(), 7, nullptr));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_async_semaphore_signal(semaphore.get(), 7, nullptr));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_async_semaphore_signal(semaphore.get(), 6, nullptr));
  EXPECT_EQ(iree_async_semaphore_query(semaphore.get()), 7u);
}

TEST(AsyncSemaphoreTest, TimepointsFireUpToTheValue) {
  auto semaphore = Make(0);
  Noted past, at, above;
  IREE_ASSERT_OK(iree_async_semaphore_acquire_timepoint(semaphore.get(), 0, &past.timepoint));
  EXPECT_EQ(past.code, IREE_STATUS_OK);
  IREE_ASSERT_OK(iree_async_semaphore_acquire_timepoint(semaphore.get(), 3, &at.timepoint));
  IREE_ASSERT_OK(iree_async_semaphore_acquire_timepoint(semaphore.get(), 4, &above.timepoint));
  IREE_EXPECT_OK(iree_async_semaphore_signal(semaphore.get(), 3, nullptr));
  EXPECT_EQ(at.code, IREE_STATUS_OK);
  EXPECT_EQ(above.code, -1);
  EXPECT_FALSE(iree_async_semaphore_cancel_timepoint(semaphore.get(), &at.timepoint));
  EXPECT_TRUE(iree_async_semaphore_cancel_timepoint(semaphore.get(), &above.timepoint));
  IREE_EXPECT_OK(iree_async_semaphore_signal(semaphore.get(), 9, nullptr));
  EXPECT_EQ(above.code, -1);
}

TEST(AsyncSemaphoreTest, TimepointsEndInOrderOfValuesWhateverTheOrderOfWaits) {
  struct Recorder {
    std::vector<uint64_t> ended;
    static void Note(void* self, iree_async_semaphore_timepoint_t* timepoint,
                     iree_status_t status) {
      iree_status_free(status);
      static_cast<Recorder*>(self)->ended.push_back(timepoint->minimum_value);
    }
  } recorder;
  auto semaphore = Make(0);
  const uint64_t kValues[] = {5, 2, 9, 2, 7, 1, 9, 4};
  std::vector<iree_async_semaphore_timepoint_t> timepoints(std::size(kValues));
  for (size_t i = 0; i < std::size(kValues); ++i) {
    timepoints[i].callback = Recorder::Note;
    timepoints[i].user_data = &recorder;
    IREE_ASSERT_OK(
        iree_async_semaphore_acquire_timepoint(semaphore.get(), kValues[i], &timepoints[i]));
  }
  // First, last and middle of the list.
  EXPECT_TRUE(iree_async_semaphore_cancel_timepoint(semaphore.get(), &timepoints[5]));
  EXPECT_TRUE(iree_async_semaphore_cancel_timepoint(semaphore.get(), &timepoints[6]));
  EXPECT_TRUE(iree_async_semaphore_cancel_timepoint(semaphore.get(), &timepoints[0]));
  IREE_ASSERT_OK(iree_async_semaphore_signal(semaphore.get(), 4, nullptr));
  EXPECT_THAT(recorder.ended, ::testing::ElementsAre(2, 2, 4));
  IREE_ASSERT_OK(iree_async_semaphore_signal(semaphore.get(), 100, nullptr));
  EXPECT_THAT(recorder.ended, ::testing::ElementsAre(2, 2, 4, 7, 9));
}

TEST(AsyncSemaphoreTest, FirstFailureStaysAndBeatsReachedValues) {
  auto semaphore = Make(5);
  Noted pending;
  IREE_ASSERT_OK(iree_async_semaphore_acquire_timepoint(semaphore.get(), 9, &pending.timepoint));
  iree_async_semaphore_fail(semaphore.get(), iree_make_status(IREE_STATUS_CANCELLED, "first"));
  iree_async_semaphore_fail(semaphore.get(), iree_make_status(IREE_STATUS_INTERNAL, "second"));
  EXPECT_EQ(pending.code, IREE_STATUS_CANCELLED);
  EXPECT_EQ(iree_async_semaphore_query_status(semaphore.get()), IREE_STATUS_CANCELLED);
  iree::Status waited(Wait(semaphore.get(), 1, iree_infinite_timeout()));
  EXPECT_EQ(waited.ToString(), "CANCELLED");
  IREE_EXPECT_STATUS_IS(IREE_STATUS_CANCELLED,
                        iree_async_semaphore_signal(semaphore.get(), 10, nullptr));
}

TEST(AsyncSemaphoreTest, ReleaseCancelsWhatIsPending) {
  auto semaphore = Make(0);
  Noted pending;
  IREE_ASSERT_OK(iree_async_semaphore_acquire_timepoint(semaphore.get(), 1, &pending.timepoint));
  semaphore.reset();
  EXPECT_EQ(pending.code, IREE_STATUS_CANCELLED);
}

TEST(AsyncSemaphoreTest, WaitsTimeOutAndPoll) {
  auto semaphore = Make(0);
  IREE_EXPECT_STATUS_IS(IREE_STATUS_DEADLINE_EXCEEDED,
                        Wait(semaphore.get(), 1, iree_immediate_timeout()));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_DEADLINE_EXCEEDED,
                        Wait(semaphore.get(), 1, iree_make_timeout_ms(2)));
  IREE_EXPECT_OK(iree_async_semaphore_multi_wait(IREE_ASYNC_WAIT_MODE_ALL, nullptr, nullptr, 0,
                                                 iree_infinite_timeout(), 0,
                                                 iree_allocator_system()));
}

TEST(AsyncSemaphoreTest, WaitsForAllAndForAny) {
  auto a = Make(0), b = Make(0);
  iree_async_semaphore_t* both[] = {a.get(), b.get()};
  const uint64_t values[] = {1, 1};
  auto wait = [&](iree_async_wait_mode_t mode) {
    return iree_async_semaphore_multi_wait(mode, both, values, 2, iree_infinite_timeout(), 0,
                                           iree_allocator_system());
  };
  std::thread any([&] { IREE_EXPECT_OK(wait(IREE_ASYNC_WAIT_MODE_ANY)); });
  std::thread all([&] { IREE_EXPECT_OK(wait(IREE_ASYNC_WAIT_MODE_ALL)); });
  IREE_EXPECT_OK(iree_async_semaphore_signal(b.get(), 1, nullptr));
  any.join();
  IREE_EXPECT_OK(iree_async_semaphore_signal(a.get(), 2, nullptr));
  all.join();
}

TEST(AsyncSemaphoreTest, AnyWaitEndsWithTheFailureOfEither) {
  auto a = Make(0), b = Make(0);
  iree_async_semaphore_t* both[] = {a.get(), b.get()};
  const uint64_t values[] = {1, 1};
  std::thread waiter([&] {
    IREE_EXPECT_STATUS_IS(IREE_STATUS_ABORTED,
                          iree_async_semaphore_multi_wait(IREE_ASYNC_WAIT_MODE_ANY, both, values, 2,
                                                          iree_infinite_timeout(), 0,
                                                          iree_allocator_system()));
  });
  iree_async_semaphore_fail(b.get(), iree_status_from_code(IREE_STATUS_ABORTED));
  waiter.join();
}

TEST(AsyncSemaphoreTest, ManyThreadsPingPong) {
  auto semaphore = Make(0);
  constexpr uint64_t kEnd = 400;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t value = t; value < kEnd; value += 4) {
        IREE_ASSERT_OK(Wait(semaphore.get(), value, iree_infinite_timeout()));
        IREE_ASSERT_OK(iree_async_semaphore_signal(semaphore.get(), value + 1, nullptr));
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(iree_async_semaphore_query(semaphore.get()), kEnd);
}

TEST(AsyncSemaphoreTest, LinksPassValuesAndFailuresOn) {
  auto source = Make(0), target = Make(0), failed = Make(0);
  iree_async_semaphore_link_t first, second;
  IREE_ASSERT_OK(iree_async_semaphore_link(source.get(), 2, target.get(), 20, &first));
  IREE_ASSERT_OK(iree_async_semaphore_link(source.get(), 9, failed.get(), 1, &second));
  IREE_ASSERT_OK(iree_async_semaphore_signal(source.get(), 2, nullptr));
  EXPECT_EQ(iree_async_semaphore_query(target.get()), 20u);
  iree_async_semaphore_fail(source.get(), iree_status_from_code(IREE_STATUS_DATA_LOSS));
  EXPECT_EQ(iree_async_semaphore_query_status(failed.get()), IREE_STATUS_DATA_LOSS);
}

TEST(AsyncSemaphoreTest, ResolveCallsBackOnceWhicheverComesFirst) {
  struct Result {
    std::atomic<int> calls{0}, code{-1};
    static void Set(void* self, iree_status_t status) {
      static_cast<Result*>(self)->code = static_cast<int>(iree_status_consume_code(status));
      ++static_cast<Result*>(self)->calls;
    }
  };
  auto semaphore = Make(0);
  Result timed_out, reached;
  IREE_ASSERT_OK(iree_async_semaphore_resolve(semaphore.get(), 1, iree_make_timeout_ms(1),
                                              Result::Set, &timed_out));
  while (timed_out.calls == 0)
    std::this_thread::yield();
  EXPECT_EQ(timed_out.code, IREE_STATUS_DEADLINE_EXCEEDED);
  IREE_ASSERT_OK(iree_async_semaphore_resolve(semaphore.get(), 1, iree_make_timeout_ms(3600000),
                                              Result::Set, &reached));
  IREE_ASSERT_OK(iree_async_semaphore_signal(semaphore.get(), 1, nullptr));
  EXPECT_EQ(reached.code, IREE_STATUS_OK);
  EXPECT_EQ(timed_out.calls, 1);
  EXPECT_EQ(reached.calls, 1);
}

TEST(AsyncSemaphoreTest, FencesCrossFileDescriptors) {
  auto source = Make(0), target = Make(0);
  iree_async_primitive_t fence;
  IREE_ASSERT_OK(iree_async_semaphore_export_fence(nullptr, source.get(), 3, &fence));
  pollfd poll_fd = {fence.value.fd, POLLIN, 0};
  EXPECT_EQ(poll(&poll_fd, 1, 0), 0);
  IREE_ASSERT_OK(iree_async_semaphore_import_fence(nullptr, fence, target.get(), 7));
  IREE_ASSERT_OK(iree_async_semaphore_signal(source.get(), 3, nullptr));
  IREE_EXPECT_OK(Wait(target.get(), 7, iree_infinite_timeout()));
}

TEST(AsyncSemaphoreTest, FrontierMergesOnSignal) {
  auto semaphore = Make(0, 4);
  iree_async_single_frontier_t single;
  iree_async_single_frontier_initialize(&single, iree_async_axis_make_queue(1, 0, 2, 3), 8);
  IREE_ASSERT_OK(iree_async_semaphore_signal(
      semaphore.get(), 1, iree_async_single_frontier_as_const_frontier(&single)));
  iree_async_single_frontier_t read;
  EXPECT_EQ(iree_async_semaphore_query_frontier(semaphore.get(),
                                                iree_async_single_frontier_as_frontier(&read), 1),
            1);
  EXPECT_EQ(read.entries[0].epoch, 8u);
  EXPECT_EQ(iree_async_axis_device_index(read.entries[0].axis), 2);
  EXPECT_EQ(iree_async_axis_queue_index(read.entries[0].axis), 3);
}

} // namespace

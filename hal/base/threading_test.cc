// Locks, notifications, time and timers.

#include <atomic>
#include <thread>
#include <vector>

#include "hal/base/timer_queue.h"
#include "iree/base/api.h"
#include "iree/base/threading/mutex.h"
#include "iree/base/threading/notification.h"
#include "iree/base/threading/numa.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

TEST(MutexTest, SlimMutexExcludes) {
  iree_slim_mutex_t mutex;
  iree_slim_mutex_initialize(&mutex);
  int64_t counter = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        iree_slim_mutex_lock(&mutex);
        ++counter;
        iree_slim_mutex_unlock(&mutex);
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(counter, 80000);
  ASSERT_TRUE(iree_slim_mutex_try_lock(&mutex));
  std::thread([&] { EXPECT_FALSE(iree_slim_mutex_try_lock(&mutex)); }).join();
  iree_slim_mutex_unlock(&mutex);
  iree_slim_mutex_deinitialize(&mutex);
}

TEST(NotificationTest, NoWakeIsLostInPingPong) {
  struct Shared {
    iree_notification_t notification;
    std::atomic<int> turn{0};
  } shared;
  iree_notification_initialize(&shared.notification);
  constexpr int kRounds = 2000;
  auto play = [&shared](int parity) {
    struct Condition {
      Shared* shared;
      int turn;
    };
    for (int i = parity; i < kRounds; i += 2) {
      Condition condition = {&shared, i};
      EXPECT_TRUE(iree_notification_await(
          &shared.notification,
          +[](void* arg) {
            auto* condition = static_cast<Condition*>(arg);
            return condition->shared->turn.load() == condition->turn;
          },
          &condition, iree_infinite_timeout()));
      shared.turn.store(i + 1);
      iree_notification_post(&shared.notification, IREE_ALL_WAITERS);
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(shared.turn.load(), kRounds);
  iree_notification_deinitialize(&shared.notification);
}

TEST(NotificationTest, TimesOut) {
  iree_notification_t notification;
  iree_notification_initialize(&notification);
  EXPECT_FALSE(iree_notification_await(
      &notification, +[](void*) { return false; }, nullptr, iree_make_timeout_ms(2)));
  EXPECT_FALSE(iree_notification_await(
      &notification, +[](void*) { return false; }, nullptr, iree_immediate_timeout()));
  iree_notification_deinitialize(&notification);
}

TEST(TimeTest, TimeoutsConvert) {
  EXPECT_TRUE(iree_timeout_is_infinite(iree_make_timeout_ms(IREE_DURATION_INFINITE)));
  EXPECT_TRUE(iree_timeout_is_immediate(iree_make_timeout_ns(0)));
  EXPECT_EQ(iree_timeout_as_deadline_ns(iree_make_timeout_ns(0)), IREE_TIME_INFINITE_PAST);
  EXPECT_EQ(iree_timeout_as_deadline_ns(iree_make_timeout_ns(IREE_DURATION_INFINITE)),
            IREE_TIME_INFINITE_FUTURE);
  EXPECT_EQ(iree_absolute_deadline_to_timeout_ms(IREE_TIME_INFINITE_FUTURE), UINT32_MAX);
  EXPECT_EQ(iree_absolute_deadline_to_timeout_ms(0), 0u);
  EXPECT_TRUE(iree_wait_until(iree_time_now() + 1000));
}

TEST(TimerQueueTest, RunsInOrderOfDeadlinesAndCancels) {
  struct Shared {
    std::atomic<int> order{0};
    std::atomic<int> early{-1}, late{-1}, never{-1};
  } shared;
  iree_time_t now = iree_time_now();
  bessemer::hal::ScheduleTimer(
      now + 400000000, // far enough off that both are in the queue before either is due
      +[](void* p) {
        auto* s = static_cast<Shared*>(p);
        s->late = s->order++;
      },
      &shared);
  bessemer::hal::ScheduleTimer(
      now + 200000000,
      +[](void* p) {
        auto* s = static_cast<Shared*>(p);
        s->early = s->order++;
      },
      &shared);
  bessemer::hal::TimerId never = bessemer::hal::ScheduleTimer(
      now + 3600ll * 1000000000, +[](void* p) { static_cast<Shared*>(p)->never = 1; }, &shared);
  EXPECT_TRUE(bessemer::hal::CancelTimer(never));
  EXPECT_FALSE(bessemer::hal::CancelTimer(never));
  while (shared.late < 0)
    std::this_thread::yield();
  EXPECT_EQ(shared.early, 0);
  EXPECT_EQ(shared.late, 1);
}

TEST(WaitSourceTest, DelayResolves) {
  iree_wait_source_t soon = iree_wait_source_delay(iree_time_now() + 1000000);
  IREE_EXPECT_OK(iree_wait_source_wait_one(soon, iree_infinite_timeout()));
  iree_wait_source_t later = iree_wait_source_delay(iree_time_now() + 3600ll * 1000000000);
  iree_status_code_t code = IREE_STATUS_OK;
  IREE_EXPECT_OK(iree_wait_source_query(later, &code));
  EXPECT_EQ(code, IREE_STATUS_DEFERRED);
  std::atomic<int> result{-1};
  IREE_EXPECT_OK(later.resolve(
      later, iree_make_timeout_ms(1),
      +[](void* p, iree_status_t status) {
        *static_cast<std::atomic<int>*>(p) = static_cast<int>(iree_status_consume_code(status));
      },
      &result));
  while (result < 0)
    std::this_thread::yield();
  EXPECT_EQ(result, IREE_STATUS_DEADLINE_EXCEEDED);
}

TEST(NumaTest, ThereIsAtLeastOneNode) {
  EXPECT_GE(iree_numa_node_count(), 1u);
  EXPECT_TRUE(iree_bitmap_any_set(iree_numa_online_nodes()));
}

} // namespace

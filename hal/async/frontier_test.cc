#include "iree/async/frontier.h"

#include <vector>

#include "iree/async/frontier_tracker.h"
#include "iree/async/notification.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

IREE_ASYNC_FIXED_FRONTIER_TYPE(Frontier4, 4);

Frontier4 Make(std::vector<iree_async_frontier_entry_t> entries) {
  Frontier4 frontier = {};
  frontier.entry_count = static_cast<uint8_t>(entries.size());
  std::copy(entries.begin(), entries.end(), frontier.entries);
  return frontier;
}

const iree_async_frontier_t* AsConst(const Frontier4& frontier) {
  return iree_async_fixed_frontier_as_const_frontier(&frontier);
}

TEST(FrontierTest, Compares) {
  const struct {
    Frontier4 a, b;
    iree_async_frontier_comparison_t expected;
  } kCases[] = {
      {Make({}), Make({}), IREE_ASYNC_FRONTIER_EQUAL},
      {Make({{1, 2}}), Make({{1, 2}}), IREE_ASYNC_FRONTIER_EQUAL},
      {Make({}), Make({{1, 2}}), IREE_ASYNC_FRONTIER_BEFORE},
      {Make({{1, 3}, {2, 1}}), Make({{1, 2}}), IREE_ASYNC_FRONTIER_AFTER},
      {Make({{1, 3}}), Make({{2, 1}}), IREE_ASYNC_FRONTIER_CONCURRENT},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(iree_async_frontier_compare(AsConst(c.a), AsConst(c.b)), c.expected);
  }
}

TEST(FrontierTest, MergesOrLeavesTheTargetAlone) {
  Frontier4 target = Make({{1, 5}, {3, 1}});
  Frontier4 source = Make({{1, 4}, {2, 7}, {3, 2}});
  bool dominates = true;
  EXPECT_FALSE(iree_async_frontier_merge(iree_async_fixed_frontier_as_frontier(&target), 2,
                                         AsConst(source)));
  EXPECT_EQ(target.entry_count, 2);
  EXPECT_TRUE(iree_async_frontier_merge_and_test_source_dominance(
      iree_async_fixed_frontier_as_frontier(&target), 4, AsConst(source), &dominates));
  EXPECT_FALSE(dominates);
  Frontier4 expected = Make({{1, 5}, {2, 7}, {3, 2}});
  EXPECT_EQ(iree_async_frontier_compare(AsConst(target), AsConst(expected)),
            IREE_ASYNC_FRONTIER_EQUAL);
}

TEST(FrontierTest, ValidatesOrderAndEpochs) {
  IREE_EXPECT_OK(iree_async_frontier_validate(AsConst(Make({{1, 1}, {2, 1}}))));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_async_frontier_validate(AsConst(Make({{2, 1}, {2, 2}}))));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_async_frontier_validate(AsConst(Make({{1, 0}}))));
}

TEST(FrontierTest, FindsWhatIsNotHeld) {
  iree_async_frontier_entry_t out[1] = {};
  EXPECT_EQ(iree_async_frontier_find_undominated(AsConst(Make({{1, 5}})),
                                                 AsConst(Make({{1, 4}, {2, 1}, {3, 1}})), 1, out),
            2);
  EXPECT_EQ(out[0].axis, 2u);
}

class TrackerTest : public ::testing::Test {
protected:
  void SetUp() override {
    IREE_ASSERT_OK(iree_async_frontier_tracker_create(iree_async_frontier_tracker_options_default(),
                                                      iree_allocator_system(), &tracker_));
    IREE_ASSERT_OK(iree_async_frontier_tracker_register_axis(tracker_, 1, nullptr));
    IREE_ASSERT_OK(iree_async_frontier_tracker_register_axis(tracker_, 2, nullptr));
  }
  void TearDown() override { iree_async_frontier_tracker_release(tracker_); }

  struct Waiter {
    iree_async_frontier_waiter_t storage = {};
    int code = -1;
    static void Set(void* self, iree_status_t status) {
      static_cast<Waiter*>(self)->code = static_cast<int>(iree_status_consume_code(status));
    }
  };
  iree_status_t Wait(const Frontier4& frontier, Waiter* waiter) {
    return iree_async_frontier_tracker_wait(tracker_, AsConst(frontier), Waiter::Set, waiter,
                                            &waiter->storage);
  }

  iree_async_frontier_tracker_t* tracker_ = nullptr;
};

TEST_F(TrackerTest, WaitsEndWhenAllAxesAreThere) {
  Frontier4 frontier = Make({{1, 2}, {2, 3}});
  Waiter waiter;
  IREE_ASSERT_OK(Wait(frontier, &waiter));
  EXPECT_EQ(iree_async_frontier_tracker_advance(tracker_, 1, 5), 0u);
  EXPECT_EQ(iree_async_frontier_tracker_advance(tracker_, 2, 2), 0u);
  EXPECT_EQ(waiter.code, -1);
  EXPECT_EQ(iree_async_frontier_tracker_advance(tracker_, 2, 3), 1u);
  EXPECT_EQ(waiter.code, IREE_STATUS_OK);
  EXPECT_TRUE(iree_async_frontier_tracker_query_epoch(tracker_, 2, 3));
  EXPECT_FALSE(iree_async_frontier_tracker_query_epoch(tracker_, 2, 4));
  EXPECT_FALSE(iree_async_frontier_tracker_query_epoch(tracker_, 9, 0));
}

TEST_F(TrackerTest, FailuresReachWaitersForWhatWasNotReached) {
  Frontier4 reached = Make({{1, 1}}), beyond = Make({{1, 2}});
  iree_async_frontier_tracker_advance(tracker_, 1, 1);
  Waiter pending, late, fine;
  IREE_ASSERT_OK(Wait(beyond, &pending));
  iree_async_frontier_tracker_fail_axis(tracker_, 1, iree_status_from_code(IREE_STATUS_ABORTED));
  EXPECT_EQ(pending.code, IREE_STATUS_ABORTED);
  IREE_ASSERT_OK(Wait(beyond, &late));
  EXPECT_EQ(late.code, IREE_STATUS_ABORTED);
  IREE_ASSERT_OK(Wait(reached, &fine));
  EXPECT_EQ(fine.code, IREE_STATUS_OK);
}

TEST_F(TrackerTest, CancelledWaitsAreNotTold) {
  Frontier4 frontier = Make({{1, 2}});
  Waiter waiter;
  IREE_ASSERT_OK(Wait(frontier, &waiter));
  EXPECT_TRUE(iree_async_frontier_tracker_cancel_wait(tracker_, &waiter.storage));
  EXPECT_FALSE(iree_async_frontier_tracker_cancel_wait(tracker_, &waiter.storage));
  iree_async_frontier_tracker_advance(tracker_, 1, 2);
  EXPECT_EQ(waiter.code, -1);
}

TEST_F(TrackerTest, AxesAreRegisteredOnceUntilRetired) {
  IREE_EXPECT_STATUS_IS(IREE_STATUS_ALREADY_EXISTS,
                        iree_async_frontier_tracker_register_axis(tracker_, 1, nullptr));
  iree_async_frontier_tracker_retire_axis(tracker_, 1,
                                          iree_status_from_code(IREE_STATUS_CANCELLED));
  IREE_EXPECT_OK(iree_async_frontier_tracker_register_axis(tracker_, 1, nullptr));
  Waiter waiter;
  IREE_EXPECT_STATUS_IS(IREE_STATUS_NOT_FOUND, Wait(Make({{7, 1}}), &waiter));
}

TEST(AsyncNotificationTest, ListenersHearOnceAndNotOfThePast) {
  iree_async_notification_t* notification = nullptr;
  IREE_ASSERT_OK(
      iree_async_notification_create(nullptr, IREE_ASYNC_NOTIFICATION_FLAG_NONE, &notification));
  int calls = 0;
  iree_async_notification_listener_t listener = {};
  listener.fn = +[](void* calls) { ++*static_cast<int*>(calls); };
  listener.user_data = &calls;
  uint32_t token = iree_async_notification_begin_observe(notification);
  iree_async_notification_end_observe(notification);
  iree_async_notification_signal(notification, 1);
  EXPECT_FALSE(iree_async_notification_add_listener(notification, token, &listener));
  token = iree_async_notification_query_epoch(notification);
  EXPECT_TRUE(iree_async_notification_add_listener(notification, token, &listener));
  EXPECT_TRUE(iree_async_notification_signal_if_observed(notification, 1));
  EXPECT_FALSE(iree_async_notification_signal_if_observed(notification, 1));
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(iree_async_notification_remove_listener(notification, &listener));
  EXPECT_TRUE(
      iree_async_notification_wait_for_token(notification, token, iree_immediate_timeout()));
  EXPECT_FALSE(iree_async_notification_wait(notification, iree_immediate_timeout()));
  iree_async_notification_release(notification);
}

TEST(ProactorPoolTest, MakesOneProactorForEachNode) {
  iree_async_proactor_pool_t* pool = nullptr;
  const uint32_t nodes[] = {4, 9};
  IREE_ASSERT_OK(iree_async_proactor_pool_create(
      2, nodes, iree_async_proactor_pool_options_default(), iree_allocator_system(), &pool));
  iree_async_proactor_t* first = nullptr;
  iree_async_proactor_t* by_node = nullptr;
  IREE_ASSERT_OK(iree_async_proactor_pool_get(pool, 1, &first));
  IREE_ASSERT_OK(iree_async_proactor_pool_get_for_node(pool, 9, &by_node));
  EXPECT_EQ(first, by_node);
  IREE_EXPECT_STATUS_IS(IREE_STATUS_OUT_OF_RANGE, iree_async_proactor_pool_get(pool, 2, &first));
  iree_async_proactor_pool_release(pool);
}

} // namespace

// Promises of values: who finds them, who is told of them, and who is not.
#include "drivers/metal/promises.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "iree/testing/gtest.h"

namespace bessemer::metal_driver {
namespace {

/// Counts its calls as a submission counts its gates.
struct CountingWaiter final : Promises::Waiter {
  explicit CountingWaiter(uint64_t value) { promised_value = value; }
  void* OnPromise(const Promise& promise) override {
    event_value = promise.event_value;
    ++calls;
    return this;
  }
  void AfterPromise(void* what) override { after += what == this; }

  uint64_t event_value = 0;
  int calls = 0;
  int after = 0;
};

Promise Of(uint64_t value) { return {value, {}, value * 10, {}}; }

TEST(PromisesTest, WaitersGetTheEarliestThatIsEnough) {
  Promises promises;
  for (uint64_t value : {7, 3, 5})
    promises.Add(Of(value));
  for (auto [wanted, found] : {std::pair{1, 3}, {3, 3}, {4, 5}, {6, 7}}) {
    CountingWaiter waiter(static_cast<uint64_t>(wanted));
    promises.Await(&waiter);
    EXPECT_EQ(waiter.event_value, static_cast<uint64_t>(found) * 10) << wanted;
    EXPECT_EQ(waiter.after, 1);
  }
  CountingWaiter beyond(8);
  promises.Await(&beyond);
  EXPECT_EQ(beyond.calls, 0);
  promises.Add(Of(8));
  EXPECT_EQ(beyond.event_value, 80u);
  promises.Add(Of(9));
  EXPECT_EQ(beyond.calls, 1) << "told once";
}

TEST(PromisesTest, KeptPromisesAreForgotten) {
  Promises promises;
  promises.Add(Of(1));
  promises.Add(Of(2));
  promises.Keep(1);
  CountingWaiter first(1), second(3);
  promises.Await(&first);
  EXPECT_EQ(first.event_value, 20u);
  promises.KeepAll();
  CountingWaiter third(1);
  promises.Await(&third);
  EXPECT_EQ(third.calls, 0);
  promises.Cancel(&third);
  promises.Add(Of(4));
  EXPECT_EQ(third.calls, 0) << "no longer interested";
  promises.Await(&second);
  EXPECT_EQ(second.event_value, 40u);
}

TEST(PromisesTest, CancelledInAnyOrder) {
  Promises promises;
  std::vector<std::unique_ptr<CountingWaiter>> waiters;
  for (int i = 0; i < 5; ++i) {
    waiters.push_back(std::make_unique<CountingWaiter>(1));
    promises.Await(waiters.back().get());
  }
  for (int i : {2, 0, 4}) {
    promises.Cancel(waiters[static_cast<size_t>(i)].get());
    promises.Cancel(waiters[static_cast<size_t>(i)].get());
    waiters[static_cast<size_t>(i)].reset();
  }
  promises.Add(Of(1));
  EXPECT_EQ(waiters[1]->calls, 1);
  EXPECT_EQ(waiters[3]->calls, 1);
}

// A waiter that was cancelled may go at once, whatever others do at that moment.
TEST(PromisesTest, WaitersComeAndGoWhilePromisesAreMade) {
  Promises promises;
  std::atomic<bool> stop{false};
  std::thread maker([&] {
    for (uint64_t value = 1; !stop; ++value) {
      promises.Add(Of(value % 8));
      promises.Keep(value % 8);
    }
  });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 20000; ++i) {
        // Told without further work to do, so that nobody looks at it once it is cancelled.
        struct QuietWaiter final : Promises::Waiter {
          void* OnPromise(const Promise&) override {
            ++calls;
            return nullptr;
          }
          void AfterPromise(void*) override {}
          int calls = 0;
        };
        auto waiter = std::make_unique<QuietWaiter>();
        waiter->promised_value = (i + static_cast<uint64_t>(t)) % 9;
        promises.Await(waiter.get());
        promises.Cancel(waiter.get());
        wrong += waiter->calls > 1;
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  stop = true;
  maker.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace bessemer::metal_driver

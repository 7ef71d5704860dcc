// Order, failure and completion of queue operations, and storage that queues allocate.

#include <atomic>
#include <thread>

#include "drivers/metal/device_test.h"
#include "drivers/metal/semaphore.h"

namespace bessemer::metal_driver {
namespace {

using ::testing::Each;

class QueueTest : public DeviceTest {
protected:
  iree_status_t Barrier(const Fence& waits, const Fence& signals) {
    return iree_hal_device_queue_barrier(device_, kAny, waits, signals, IREE_HAL_EXECUTE_FLAG_NONE);
  }
  iree_status_t Fill(iree_hal_buffer_t* buffer, uint8_t byte, const Fence& waits,
                     const Fence& signals) {
    return iree_hal_device_queue_fill(device_, kAny, waits, signals, buffer, 0,
                                      IREE_HAL_WHOLE_BUFFER, &byte, 1, IREE_HAL_FILL_FLAG_NONE);
  }
  iree_status_t Alloca(iree_device_size_t size, const Fence& waits, const Fence& signals,
                       HalPtr<iree_hal_buffer_t>* out_buffer) {
    iree_hal_buffer_t* buffer = nullptr;
    IREE_RETURN_IF_ERROR(iree_hal_device_queue_alloca(device_, kAny, waits, signals, nullptr, {},
                                                      size, IREE_HAL_ALLOCA_FLAG_NONE, &buffer));
    *out_buffer = HalPtr<iree_hal_buffer_t>::Take(buffer);
    return iree_ok_status();
  }
  iree_status_t Dealloca(const HalPtr<iree_hal_buffer_t>& buffer, const Fence& waits,
                         const Fence& signals) {
    return iree_hal_device_queue_dealloca(device_, kAny, waits, signals, buffer.get(),
                                          IREE_HAL_DEALLOCA_FLAG_NONE);
  }
};

TEST_F(QueueTest, WorkWaitsForSignalsThatComeLater) {
  auto buffer = NewBuffer(64);
  Fence first(device_), second(device_), done(device_);
  Fence both;
  both.Add(first);
  both.Add(second);
  IREE_ASSERT_OK(Fill(buffer.get(), 0x11, both, done));
  IREE_ASSERT_OK(second.Signal());
  EXPECT_FALSE(done.Poll());
  EXPECT_THAT(Read(buffer), Each(0));
  IREE_ASSERT_OK(first.Signal());
  IREE_ASSERT_OK(done.Wait());
  EXPECT_THAT(Read(buffer), Each(0x11));
}

TEST_F(QueueTest, WaitsFollowWorkThatIsHeldUpByOtherWork) {
  auto buffer = NewBuffer(64);
  for (int round = 0; round < 500; ++round) {
    const auto byte = static_cast<uint8_t>(round);
    Fence start(device_), first(device_), second(device_), done(device_);
    IREE_ASSERT_OK(Fill(buffer.get(), 0xFF, start, first));
    IREE_ASSERT_OK(Barrier(first, second));
    IREE_ASSERT_OK(Fill(buffer.get(), byte, second, done));
    // Before, while or after this thread looks for what it waits for.
    std::thread other([&] { IREE_EXPECT_OK(start.Signal()); });
    if (round % 2)
      other.join();
    IREE_ASSERT_OK(done.Wait());
    EXPECT_THAT(Read(buffer), Each(byte));
    if (other.joinable())
      other.join();
  }
}

TEST_F(QueueTest, AWaitEndsWhenTheSemaphoreFailsWhileWorkIsHeldUp) {
  auto buffer = NewBuffer(64);
  Fence never(device_), done(device_);
  IREE_ASSERT_OK(Fill(buffer.get(), 0x44, never, done));
  std::thread other([&] {
    iree_hal_semaphore_fail(done.semaphore(), iree_make_status(IREE_STATUS_ABORTED, "enough"));
  });
  IREE_EXPECT_STATUS_IS(IREE_STATUS_ABORTED, done.Wait());
  other.join();
  iree_hal_semaphore_fail(never.semaphore(), iree_make_status(IREE_STATUS_CANCELLED, "over"));
}

TEST_F(QueueTest, AFailedWaitFailsAllSignalsAndNothingRuns) {
  auto buffer = NewBuffer(64);
  Fence failing(device_), never(device_);
  Fence waits;
  waits.Add(failing);
  waits.Add(never);
  Fence done(device_), next(device_);
  done.Add(device_, 7);
  IREE_ASSERT_OK(Fill(buffer.get(), 0x22, waits, done));
  IREE_ASSERT_OK(Fill(buffer.get(), 0x33, done, next));
  iree_hal_semaphore_fail(failing.semaphore(),
                          iree_make_status(IREE_STATUS_DATA_LOSS, "the weights are gone"));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_DATA_LOSS, done.Wait());
  IREE_EXPECT_STATUS_IS(IREE_STATUS_DATA_LOSS, next.Wait());
  // The message goes with the code.
  uint64_t value = 0;
  iree::Status queried(iree_hal_semaphore_query(next.semaphore(), &value));
  EXPECT_THAT(queried.ToString(), ::testing::HasSubstr("the weights are gone"));
  EXPECT_EQ(value, IREE_HAL_SEMAPHORE_FAILURE_VALUE);
  EXPECT_THAT(Read(buffer), Each(0));
}

TEST_F(QueueTest, LongChainsNeedNoStack) {
  constexpr int kLength = 20000;
  Fence start(device_);
  iree_hal_semaphore_t* timeline = nullptr;
  IREE_ASSERT_OK(
      iree_hal_semaphore_create(device_, kAny, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &timeline));
  for (uint64_t i = 0; i < kLength; ++i) {
    uint64_t wait_value = i, signal_value = i + 1;
    iree_hal_semaphore_list_t waits = {1, &timeline, &wait_value};
    iree_hal_semaphore_list_t signals = {1, &timeline, &signal_value};
    IREE_ASSERT_OK(iree_hal_device_queue_barrier(device_, kAny,
                                                 i == 0 ? iree_hal_semaphore_list_t(start) : waits,
                                                 signals, IREE_HAL_EXECUTE_FLAG_NONE));
  }
  IREE_ASSERT_OK(start.Signal());
  IREE_EXPECT_OK(iree_hal_semaphore_wait(timeline, kLength, iree_infinite_timeout(),
                                         IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(timeline);
}

TEST_F(QueueTest, TheDeviceOutlivesItsOwnerWhileWorkIsParked) {
  auto buffer = NewBuffer(16);
  Fence start(device_), done(device_);
  IREE_ASSERT_OK(Fill(buffer.get(), 0x44, start, done));
  iree_hal_device_retain(device_);
  iree_hal_device_release(device_);
  iree_hal_buffer_t* raw = buffer.get();
  iree_hal_buffer_retain(raw);
  buffer = {};
  IREE_ASSERT_OK(start.Signal());
  IREE_ASSERT_OK(done.Wait());
  EXPECT_THAT(Read(HalPtr<iree_hal_buffer_t>::Take(raw)), Each(0x44));
}

TEST_F(QueueTest, StorageComesAndGoesInQueueOrder) {
  HalPtr<iree_hal_buffer_t> buffer;
  Fence start(device_), allocated(device_), filled(device_), freed(device_), refilled(device_);
  IREE_ASSERT_OK(Alloca(100, start, allocated, &buffer));
  EXPECT_EQ(iree_hal_buffer_byte_length(buffer.get()), 100u);
  uint8_t byte = 0;
  IREE_EXPECT_STATUS_IS(IREE_STATUS_FAILED_PRECONDITION,
                        iree_hal_buffer_map_read(buffer.get(), 0, &byte, 1));
  // Recorded before there is storage.
  auto commands = NewCommandBuffer();
  uint32_t pattern = 0x55555555;
  IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(commands.get(),
                                                     iree_hal_make_buffer_ref(buffer.get(), 0, 100),
                                                     &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
  IREE_ASSERT_OK(Execute(commands, allocated, filled));
  IREE_ASSERT_OK(start.Signal());
  IREE_ASSERT_OK(filled.Wait());
  EXPECT_THAT(Read(buffer), Each(0x55));
  IREE_ASSERT_OK(Dealloca(buffer, filled, freed));
  IREE_ASSERT_OK(freed.Wait());
  IREE_EXPECT_STATUS_IS(IREE_STATUS_FAILED_PRECONDITION, Dealloca(buffer, Fence(), Fence(device_)));
  IREE_ASSERT_OK(Fill(buffer.get(), 1, Fence(), refilled));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_FAILED_PRECONDITION, refilled.Wait());
}

// Memory of the device that buffers take, as the allocator counts it.
iree_device_size_t BytesInUse(iree_hal_device_t* device) {
  iree_hal_allocator_statistics_t statistics = {};
  iree_hal_allocator_query_statistics(iree_hal_device_allocator(device), &statistics);
  return statistics.device_bytes_allocated - statistics.device_bytes_freed +
         statistics.host_bytes_allocated - statistics.host_bytes_freed;
}

TEST_F(QueueTest, SmallStorageSharesMemoryAndNeverOverlaps) {
  constexpr size_t kCount = 200;
  iree_device_size_t before = BytesInUse(device_);
  std::vector<HalPtr<iree_hal_buffer_t>> buffers(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    Fence allocated(device_), filled(device_);
    IREE_ASSERT_OK(Alloca(1000 + i, Fence(), allocated, &buffers[i]));
    IREE_ASSERT_OK(Fill(buffers[i].get(), static_cast<uint8_t>(i), allocated, filled));
    IREE_ASSERT_OK(filled.Wait());
  }
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(iree_hal_buffer_byte_length(buffers[i].get()), 1000 + i);
    EXPECT_THAT(Read(buffers[i]), Each(static_cast<uint8_t>(i)));
  }
  EXPECT_LT(BytesInUse(device_) - before, iree_device_size_t{64} << 20);
  for (auto& buffer : buffers) {
    Fence freed(device_);
    IREE_ASSERT_OK(Dealloca(buffer, Fence(), freed));
    IREE_ASSERT_OK(freed.Wait());
  }
  IREE_ASSERT_OK(iree_hal_device_trim(device_));
  EXPECT_EQ(BytesInUse(device_), before);
}

TEST_F(QueueTest, StorageThatWasFreedIsUsedAgain) {
  for (iree_device_size_t size : {iree_device_size_t{5000}, iree_device_size_t{20} << 20}) {
    iree_device_size_t most = 0;
    for (int round = 0; round < 20; ++round) {
      HalPtr<iree_hal_buffer_t> buffer;
      Fence allocated(device_), filled(device_), freed(device_);
      IREE_ASSERT_OK(Alloca(size, Fence(), allocated, &buffer));
      IREE_ASSERT_OK(Fill(buffer.get(), 1, allocated, filled));
      IREE_ASSERT_OK(Dealloca(buffer, filled, freed));
      IREE_ASSERT_OK(freed.Wait());
      if (round == 0)
        most = BytesInUse(device_);
      EXPECT_EQ(BytesInUse(device_), most) << size;
    }
  }
}

TEST_F(QueueTest, AFailedWaitGivesStorageBack) {
  iree_device_size_t before = BytesInUse(device_);
  HalPtr<iree_hal_buffer_t> buffer;
  Fence failing(device_), allocated(device_);
  IREE_ASSERT_OK(Alloca(iree_device_size_t{8} << 20, failing, allocated, &buffer));
  iree_hal_semaphore_fail(failing.semaphore(), iree_status_from_code(IREE_STATUS_CANCELLED));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_CANCELLED, allocated.Wait());
  uint8_t byte = 0;
  IREE_EXPECT_STATUS_IS(IREE_STATUS_FAILED_PRECONDITION,
                        iree_hal_buffer_map_read(buffer.get(), 0, &byte, 1));
  buffer = {};
  IREE_ASSERT_OK(iree_hal_device_trim(device_));
  EXPECT_EQ(BytesInUse(device_), before);
}

TEST_F(QueueTest, StorageMayOutliveTheDevice) {
  iree_hal_device_t* lone = nullptr;
  IREE_ASSERT_OK(CreateLoneDevice(&lone));
  iree_hal_buffer_t* raw = nullptr;
  {
    Fence allocated(lone);
    IREE_ASSERT_OK(iree_hal_device_queue_alloca(lone, kAny, Fence(), allocated, nullptr, {}, 512,
                                                IREE_HAL_ALLOCA_FLAG_NONE, &raw));
    IREE_ASSERT_OK(allocated.Wait());
  }
  iree_hal_device_release(lone);
  auto buffer = HalPtr<iree_hal_buffer_t>::Take(raw);
  uint8_t byte = 0x5A;
  IREE_EXPECT_OK(iree_hal_buffer_map_write(buffer.get(), 500, &byte, 1));
}

TEST_F(QueueTest, AFailedDeallocaLeavesTheStorage) {
  HalPtr<iree_hal_buffer_t> buffer;
  Fence allocated(device_), failing(device_), not_freed(device_), filled(device_), freed(device_);
  IREE_ASSERT_OK(Alloca(64, Fence(), allocated, &buffer));
  IREE_ASSERT_OK(allocated.Wait());
  IREE_ASSERT_OK(Dealloca(buffer, failing, not_freed));
  // Only one dealloca at a time.
  IREE_EXPECT_STATUS_IS(IREE_STATUS_FAILED_PRECONDITION, Dealloca(buffer, Fence(), Fence(device_)));
  iree_hal_semaphore_fail(failing.semaphore(), iree_status_from_code(IREE_STATUS_CANCELLED));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_CANCELLED, not_freed.Wait());
  IREE_ASSERT_OK(Fill(buffer.get(), 0x66, Fence(), filled));
  IREE_ASSERT_OK(filled.Wait());
  IREE_ASSERT_OK(Dealloca(buffer, Fence(), freed));
  IREE_ASSERT_OK(freed.Wait());
}

TEST_F(QueueTest, HostCallsMayWaitForOneAnother) {
  // The first call blocks on what only the second one signals.
  struct Shared {
    Fence* signal;
    std::atomic<bool> seen{false};
  } shared;
  Fence between(device_), first_done(device_), second_done(device_);
  shared.signal = &between;
  const uint64_t args[4] = {};
  IREE_ASSERT_OK(iree_hal_device_queue_host_call(
      device_, kAny, Fence(), first_done,
      iree_hal_make_host_call(
          +[](void* user_data, const uint64_t*, iree_hal_host_call_context_t*) {
            auto* shared = static_cast<Shared*>(user_data);
            iree_status_t status = shared->signal->Wait();
            shared->seen = true;
            return status;
          },
          &shared),
      args, IREE_HAL_HOST_CALL_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_device_queue_host_call(
      device_, kAny, Fence(), second_done,
      iree_hal_make_host_call(
          +[](void* user_data, const uint64_t*, iree_hal_host_call_context_t*) {
            return static_cast<Shared*>(user_data)->signal->Signal();
          },
          &shared),
      args, IREE_HAL_HOST_CALL_FLAG_NONE));
  IREE_EXPECT_OK(first_done.Wait());
  IREE_EXPECT_OK(second_done.Wait());
  EXPECT_TRUE(shared.seen);
}

TEST_F(QueueTest, ManyThreadsSubmitToAllQueues) {
  constexpr int kThreads = 4, kRounds = 100;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      auto buffer = NewBuffer(256);
      iree_hal_semaphore_t* timeline = nullptr;
      IREE_CHECK_OK(
          iree_hal_semaphore_create(device_, kAny, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &timeline));
      for (uint64_t i = 0; i < kRounds; ++i) {
        uint64_t wait_value = i, signal_value = i + 1;
        uint8_t byte = static_cast<uint8_t>(i);
        IREE_CHECK_OK(iree_hal_device_queue_fill(
            device_, iree_hal_queue_affinity_t{1} << ((i + static_cast<uint64_t>(t)) % 4),
            {1, &timeline, &wait_value}, {1, &timeline, &signal_value}, buffer.get(), 0, 256, &byte,
            1, IREE_HAL_FILL_FLAG_NONE));
      }
      IREE_CHECK_OK(iree_hal_semaphore_wait(timeline, kRounds, iree_infinite_timeout(),
                                            IREE_ASYNC_WAIT_FLAG_NONE));
      for (uint8_t byte : Read(buffer))
        wrong += byte != kRounds - 1;
      iree_hal_semaphore_release(timeline);
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

// Work that waits only for work which is on the device goes there too.
TEST_F(QueueTest, ChainsReadWhatTheLinkBeforeWroteOnAnyQueue) {
  constexpr uint64_t kLength = 200;
  // Each link copies one byte on, so that one out of order shows.
  auto buffer = NewBuffer(kLength + 1);
  const uint8_t seed = 0x7E;
  IREE_ASSERT_OK(iree_hal_buffer_map_write(buffer.get(), 0, &seed, 1));
  Fence start(device_), end(device_, kLength);
  for (uint64_t i = 0; i < kLength; ++i) {
    iree_hal_semaphore_t* timeline = end.semaphore();
    uint64_t wait_value = i, signal_value = i + 1;
    iree_hal_semaphore_list_t waits = {1, &timeline, &wait_value};
    IREE_ASSERT_OK(iree_hal_device_queue_copy(device_, iree_hal_queue_affinity_t{1} << (i * 7 % 4),
                                              i == 0 ? iree_hal_semaphore_list_t(start) : waits,
                                              {1, &timeline, &signal_value}, buffer.get(), i,
                                              buffer.get(), i + 1, 1, IREE_HAL_COPY_FLAG_NONE));
  }
  EXPECT_EQ(Read(buffer)[1], 0);
  IREE_ASSERT_OK(start.Signal());
  IREE_ASSERT_OK(end.Wait());
  EXPECT_THAT(Read(buffer), Each(seed));
}

// A signal that comes while work is being submitted leaves nothing of it behind in the semaphore.
TEST_F(QueueTest, SignalsMayComeDuringTheSubmission) {
  auto buffer = NewBuffer(64);
  for (int round = 0; round < 1000; ++round) {
    Fence start(device_), done(device_), later(device_);
    std::atomic<bool> go{false};
    std::thread other([&] {
      while (!go)
        std::this_thread::yield();
      IREE_EXPECT_OK(start.Signal());
    });
    go = true;
    IREE_ASSERT_OK(Fill(buffer.get(), 0x12, start, done));
    IREE_ASSERT_OK(done.Wait());
    other.join();
    // The semaphore gets a promise, and tells those who wait for one.
    iree_hal_semaphore_t* semaphore = start.semaphore();
    uint64_t value = 2;
    uint8_t byte = 0x34;
    IREE_ASSERT_OK(iree_hal_device_queue_fill(device_, kAny, Fence(), {1, &semaphore, &value},
                                              buffer.get(), 0, 64, &byte, 1,
                                              IREE_HAL_FILL_FLAG_NONE));
    IREE_ASSERT_OK(
        iree_hal_semaphore_wait(semaphore, 2, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  }
}

/// A command buffer that waits for an event, one that signals it, and both in flight.
class BlockedDeviceTest : public QueueTest {
protected:
  void SetUp() override {
    QueueTest::SetUp();
    IREE_ASSERT_OK(iree_hal_event_create(device_, kAny, IREE_HAL_EVENT_FLAG_NONE, &event_));
    blocked_ = NewCommandBuffer();
    const iree_hal_event_t* events[] = {event_};
    IREE_ASSERT_OK(iree_hal_command_buffer_wait_events(
        blocked_.get(), 1, events, IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE,
        IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE, 0, nullptr, 0, nullptr));
    IREE_ASSERT_OK(iree_hal_command_buffer_end(blocked_.get()));
    release_ = NewCommandBuffer();
    IREE_ASSERT_OK(iree_hal_command_buffer_signal_event(release_.get(), event_,
                                                        IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE));
    IREE_ASSERT_OK(iree_hal_command_buffer_end(release_.get()));
  }
  void TearDown() override {
    Fence released(device_);
    IREE_EXPECT_OK(iree_hal_device_queue_execute(device_, 2, Fence(), released, release_.get(), {},
                                                 IREE_HAL_EXECUTE_FLAG_NONE));
    IREE_EXPECT_OK(released.Wait());
    blocked_ = {};
    release_ = {};
    iree_hal_event_release(event_);
    QueueTest::TearDown();
  }
  /// Runs on the first queue until the test ends.
  iree_status_t Block(const Fence& signals) {
    return iree_hal_device_queue_execute(device_, 1, Fence(), signals, blocked_.get(), {},
                                         IREE_HAL_EXECUTE_FLAG_NONE);
  }

  iree_hal_event_t* event_ = nullptr;
  HalPtr<iree_hal_command_buffer_t> blocked_, release_;
};

TEST_F(BlockedDeviceTest, AFailureReachesWhoWaitsForWorkThatIsStuckOnTheDevice) {
  auto buffer = NewBuffer(64);
  Fence blocked(device_), filled(device_), next(device_);
  IREE_ASSERT_OK(Block(blocked));
  IREE_ASSERT_OK(Fill(buffer.get(), 0x11, blocked, filled));
  IREE_ASSERT_OK(Fill(buffer.get(), 0x22, filled, next));
  EXPECT_FALSE(filled.Poll());
  iree_hal_semaphore_fail(blocked.semaphore(),
                          iree_make_status(IREE_STATUS_DATA_LOSS, "somebody gave up"));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_DATA_LOSS, filled.Wait());
  IREE_EXPECT_STATUS_IS(IREE_STATUS_DATA_LOSS, next.Wait());
  // What they use may go; they still hold it.
  buffer = {};
}

TEST_F(BlockedDeviceTest, WaitsForStuckWorkTimeOut) {
  Fence blocked(device_);
  IREE_ASSERT_OK(Block(blocked));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_DEADLINE_EXCEEDED, blocked.Wait(iree_make_timeout_ms(20)));
  iree_hal_semaphore_fail(blocked.semaphore(), iree_status_from_code(IREE_STATUS_ABORTED));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_ABORTED, blocked.Wait());
}

// What waits for the stuck work must not be in the way of what ends its wait.
TEST_F(BlockedDeviceTest, WaitersForStuckWorkDoNotBlockTheirQueue) {
  auto buffer = NewBuffer(64);
  Fence blocked(device_), behind(device_), other(device_);
  const uint8_t first = 0x55, second = 0x44;
  IREE_ASSERT_OK(Block(blocked));
  IREE_ASSERT_OK(iree_hal_device_queue_fill(device_, 4, blocked, behind, buffer.get(), 0, 64,
                                            &first, 1, IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_device_queue_fill(device_, 4, Fence(), other, buffer.get(), 0, 64,
                                            &second, 1, IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(other.Wait());
  EXPECT_THAT(Read(buffer), Each(second));
  EXPECT_FALSE(behind.Poll());
}

TEST_F(BlockedDeviceTest, OtherQueuesGoOn) {
  auto buffer = NewBuffer(64);
  Fence blocked(device_), filled(device_);
  IREE_ASSERT_OK(Block(blocked));
  const uint8_t byte = 0x33;
  IREE_ASSERT_OK(iree_hal_device_queue_fill(device_, 4, Fence(), filled, buffer.get(), 0, 64, &byte,
                                            1, IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(filled.Wait());
  EXPECT_THAT(Read(buffer), Each(0x33));
  EXPECT_FALSE(blocked.Poll());
}

TEST_F(QueueTest, SharedEventsFollowTheTimeline) {
  Fence fence(device_, 5);
  MTL::SharedEvent* event = SharedEventOf(fence.semaphore());
  EXPECT_EQ(event->signaledValue(), 0u);
  IREE_ASSERT_OK(fence.Signal());
  EXPECT_EQ(event->signaledValue(), 5u);
  iree_hal_semaphore_fail(fence.semaphore(), iree_status_from_code(IREE_STATUS_ABORTED));
  EXPECT_EQ(event->signaledValue(), 5u);
}

} // namespace
} // namespace bessemer::metal_driver

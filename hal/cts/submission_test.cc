// Queue operations and semaphores: work waits without holding anyone up, and failure keeps it from
// running.

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "hal/cts/device_test.h"
#include "iree/io/file_handle.h"

namespace bessemer::hal::cts {
namespace {

class SubmissionTest : public DeviceTest {
protected:
  /// A recorded fill of `target` with `byte`.
  CommandBuffer recordedFill(iree_hal_buffer_t* target, uint8_t byte) {
    CommandBuffer commands = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT);
    IREE_EXPECT_OK(iree_hal_command_buffer_fill_buffer(
        commands, iree_hal_make_buffer_ref(target, 0, IREE_HAL_WHOLE_BUFFER), &byte, 1,
        IREE_HAL_FILL_FLAG_NONE));
    IREE_EXPECT_OK(iree_hal_command_buffer_end(commands));
    return commands;
  }
  Ref<iree_hal_file_t> memoryFile(std::vector<uint8_t>& bytes) {
    iree_io_file_handle_t* handle = nullptr;
    IREE_EXPECT_OK(iree_io_file_handle_wrap_host_allocation(
        IREE_IO_FILE_ACCESS_READ | IREE_IO_FILE_ACCESS_WRITE,
        iree_make_byte_span(bytes.data(), bytes.size()),
        iree_io_file_handle_release_callback_null(), iree_allocator_system(), &handle));
    Ref<iree_hal_file_t> file;
    IREE_EXPECT_OK(iree_hal_file_import(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                        IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE,
                                        handle, IREE_HAL_EXTERNAL_FILE_FLAG_NONE, file.out()));
    iree_io_file_handle_release(handle);
    return file;
  }
  Status barrierOnQueue(const Timepoints& waits, const Timepoints& signals) {
    return iree_hal_device_queue_barrier(device(), IREE_HAL_QUEUE_AFFINITY_ANY, waits, signals,
                                         IREE_HAL_EXECUTE_FLAG_NONE);
  }
};

TEST_P(SubmissionTest, SignalsAllItsSemaphores) {
  Semaphore a = semaphore(), b = semaphore(3), c = semaphore();
  EXPECT_THAT(barrierOnQueue({}, {{a, 1}, {b, 9}, {c, 100}}), StatusIs(StatusCode::kOk));
  IREE_ASSERT_OK(wait(a, 1));
  IREE_ASSERT_OK(wait(b, 9));
  IREE_ASSERT_OK(wait(c, 100));
  EXPECT_EQ(value(b), 9u);
}

TEST_P(SubmissionTest, WaitsForAllItsSemaphores) {
  Buffer target = buffer(32);
  CommandBuffer commands = recordedFill(target, 5);
  Semaphore a = semaphore(), b = semaphore(), done = semaphore();
  IREE_ASSERT_OK(execute(commands, {{a, 2}, {b, 1}}, {{done, 1}}));
  IREE_ASSERT_OK(iree_hal_semaphore_signal(b, 1, nullptr));
  IREE_ASSERT_OK(iree_hal_semaphore_signal(a, 1, nullptr));
  EXPECT_EQ(value(done), 0u);
  EXPECT_EQ(contents(target), std::vector<uint8_t>(32, 0));
  // A value that is jumped over counts as reached.
  IREE_ASSERT_OK(iree_hal_semaphore_signal(a, 7, nullptr));
  IREE_ASSERT_OK(wait(done, 1));
  EXPECT_EQ(contents(target), std::vector<uint8_t>(32, 5));
}

TEST_P(SubmissionTest, RunsAChainThatWasSubmittedBackwards) {
  constexpr int kLinks = 20;
  Buffer target = buffer(kLinks);
  Semaphore chain = semaphore();
  for (int i = kLinks; i >= 1; --i) {
    const auto byte = static_cast<uint8_t>(i);
    // Each link overwrites all that follows it.
    IREE_ASSERT_OK(iree_hal_device_queue_fill(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                              Timepoints{{chain, uint64_t(i)}},
                                              Timepoints{{chain, uint64_t(i) + 1}}, target, i - 1,
                                              kLinks - i + 1, &byte, 1, IREE_HAL_FILL_FLAG_NONE));
  }
  EXPECT_EQ(value(chain), 0u);
  IREE_ASSERT_OK(iree_hal_semaphore_signal(chain, 1, nullptr));
  IREE_ASSERT_OK(wait(chain, kLinks + 1));
  std::vector<uint8_t> expected(kLinks);
  for (int i = 0; i < kLinks; ++i)
    expected[i] = static_cast<uint8_t>(i + 1);
  EXPECT_EQ(contents(target), expected);
}

TEST_P(SubmissionTest, HeldBackWorkHoldsUpNothingElse) {
  Buffer held = buffer(16), free = buffer(16);
  Semaphore never = semaphore(), heldDone = semaphore(), freeDone = semaphore();
  CommandBuffer heldFill = recordedFill(held, 1), freeFill = recordedFill(free, 2);
  for (uint64_t i = 1; i <= 8; ++i) {
    IREE_ASSERT_OK(execute(heldFill, {{never, i}}, {{heldDone, i}}));
    IREE_ASSERT_OK(execute(freeFill, {}, {{freeDone, i}}));
    IREE_ASSERT_OK(wait(freeDone, i));
  }
  EXPECT_EQ(contents(held), std::vector<uint8_t>(16, 0));
  IREE_ASSERT_OK(iree_hal_semaphore_signal(never, 8, nullptr));
  IREE_ASSERT_OK(wait(heldDone, 8));
}

TEST_P(SubmissionTest, CrossesQueues) {
  if (!hasQueue(1))
    GTEST_SKIP() << "the device has one queue";
  Buffer a = buffer(64), b = buffer(64);
  Semaphore chain = semaphore();
  CommandBuffer copy = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT);
  IREE_ASSERT_OK(iree_hal_command_buffer_copy_buffer(copy, iree_hal_make_buffer_ref(a, 0, 64),
                                                     iree_hal_make_buffer_ref(b, 0, 64),
                                                     IREE_HAL_COPY_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(copy));
  // The consumer is submitted first, on the other queue.
  IREE_ASSERT_OK(execute(copy, {{chain, 2}}, {{chain, 3}}, {}, 2));
  IREE_ASSERT_OK(execute(recordedFill(a, 0x31), {{chain, 1}}, {{chain, 2}}, {}, 1));
  IREE_ASSERT_OK(iree_hal_semaphore_signal(chain, 1, nullptr));
  IREE_ASSERT_OK(wait(chain, 3));
  EXPECT_EQ(contents(b), std::vector<uint8_t>(64, 0x31));
}

TEST_P(SubmissionTest, AFailedWaitFailsTheSignalsAndKeepsTheWorkFromRunning) {
  Buffer target = buffer(64), source = buffer(64, 0xAA);
  std::vector<uint8_t> fileBytes(64, 0xBB);
  const std::vector<uint8_t> untouchedFile = fileBytes;
  Ref<iree_hal_file_t> file = memoryFile(fileBytes);
  const uint8_t byte = 0xCC;
  std::atomic<int> calls{0};
  Buffer transient;
  const iree_hal_queue_affinity_t any = IREE_HAL_QUEUE_AFFINITY_ANY;
  using List = const Timepoints&;
  struct {
    const char* name;
    std::function<iree_status_t(List, List)> submit;
  } const operations[] = {
      {"barrier",
       [&](List waits, List signals) {
         return iree_hal_device_queue_barrier(device(), any, waits, signals, 0);
       }},
      {"execute",
       [&](List waits, List signals) {
         return execute(recordedFill(target, byte), waits, signals);
       }},
      {"fill",
       [&](List waits, List signals) {
         return iree_hal_device_queue_fill(device(), any, waits, signals, target, 0, 64, &byte, 1,
                                           0);
       }},
      {"update",
       [&](List waits, List signals) {
         return iree_hal_device_queue_update(device(), any, waits, signals, fileBytes.data(), 0,
                                             target, 0, 64, 0);
       }},
      {"copy",
       [&](List waits, List signals) {
         return iree_hal_device_queue_copy(device(), any, waits, signals, source, 0, target, 0, 64,
                                           0);
       }},
      {"read",
       [&](List waits, List signals) {
         return iree_hal_device_queue_read(device(), any, waits, signals, file, 0, target, 0, 64,
                                           0);
       }},
      {"write",
       [&](List waits, List signals) {
         return iree_hal_device_queue_write(device(), any, waits, signals, source, 0, file, 0, 64,
                                            0);
       }},
      {"host call",
       [&](List waits, List signals) {
         const uint64_t args[4] = {};
         return iree_hal_device_queue_host_call(
             device(), any, waits, signals,
             iree_hal_make_host_call(
                 [](void* user_data, const uint64_t*, iree_hal_host_call_context_t*) {
                   ++*static_cast<std::atomic<int>*>(user_data);
                   return iree_ok_status();
                 },
                 &calls),
             args, 0);
       }},
      {"non-blocking host call",
       [&](List waits, List signals) {
         const uint64_t args[4] = {};
         return iree_hal_device_queue_host_call(
             device(), any, waits, signals,
             iree_hal_make_host_call(
                 [](void* user_data, const uint64_t*, iree_hal_host_call_context_t*) {
                   ++*static_cast<std::atomic<int>*>(user_data);
                   return iree_ok_status();
                 },
                 &calls),
             args, IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING);
       }},
      {"alloca",
       [&](List waits, List signals) {
         return iree_hal_device_queue_alloca(device(), any, waits, signals, nullptr, {}, 64, 0,
                                             transient.out());
       }},
  };
  // The wait fails before the submission, after it, or in one of two semaphores.
  enum class When { Before, After, SecondOfTwo };
  for (const auto& operation : operations) {
    for (When when : {When::Before, When::After, When::SecondOfTwo}) {
      SCOPED_TRACE(std::string(operation.name) + ", case " +
                   std::to_string(static_cast<int>(when)));
      Semaphore failing = semaphore(), other = semaphore(), first = semaphore(),
                second = semaphore();
      auto fail = [&] {
        iree_hal_semaphore_fail(failing, iree_make_status(IREE_STATUS_DATA_LOSS, "by the test"));
      };
      if (when == When::Before)
        fail();
      Timepoints waits{{failing, 1}};
      if (when == When::SecondOfTwo)
        waits = Timepoints{{other, 1}, {failing, 1}};
      Status submitted(operation.submit(waits, Timepoints{{first, 1}, {second, 2}}));
      if (when != When::Before) {
        ASSERT_TRUE(submitted.ok()) << submitted.ToString();
        fail();
      } else if (!submitted.ok()) {
        // What has failed already may be told at once, by its own code.
        EXPECT_THAT(submitted, StatusIs(StatusCode::kDataLoss));
        continue;
      }
      EXPECT_THAT(Status(wait(first, 1)), StatusIs(StatusCode::kDataLoss));
      EXPECT_THAT(Status(wait(second, 2)), StatusIs(StatusCode::kDataLoss));
    }
  }
  EXPECT_EQ(contents(target), std::vector<uint8_t>(64, 0));
  EXPECT_EQ(fileBytes, untouchedFile);
  EXPECT_EQ(calls, 0);
}

TEST_P(SubmissionTest, FailureRunsDownAChainWithItsCode) {
  for (iree_status_code_t code :
       {IREE_STATUS_CANCELLED, IREE_STATUS_ABORTED, IREE_STATUS_RESOURCE_EXHAUSTED}) {
    Buffer target = buffer(16);
    Semaphore links[] = {semaphore(), semaphore(), semaphore(), semaphore()};
    for (int i = 0; i < 3; ++i) {
      IREE_ASSERT_OK(execute(recordedFill(target, 1), {{links[i], 1}}, {{links[i + 1], 1}}));
    }
    iree_hal_semaphore_fail(links[0], iree_make_status(code, "by the test"));
    EXPECT_EQ(Status(wait(links[3], 1)).code(), static_cast<StatusCode>(code));
    EXPECT_EQ(contents(target), std::vector<uint8_t>(16, 0));
  }
}

TEST_P(SubmissionTest, TellsWhichQueuesItHas) {
  EXPECT_TRUE(hasQueue(0));
  iree_hal_queue_pool_backend_t backend;
  iree_status_t status = iree_hal_device_query_queue_pool_backend(
      device(), iree_hal_queue_affinity_t{1} << 63, &backend);
  EXPECT_THAT(Status(std::move(status)), StatusIs(StatusCode::kInvalidArgument));
}

TEST_P(SubmissionTest, TakesWorkFromManyThreads) {
  constexpr int kThreads = 4, kRounds = 50;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const size_t size = 64 + t;
      Buffer a = buffer(size), b = buffer(size);
      Semaphore timeline = semaphore();
      const iree_hal_queue_affinity_t queues =
          hasQueue(1) ? iree_hal_queue_affinity_t{1} << (t % 2) : IREE_HAL_QUEUE_AFFINITY_ANY;
      uint64_t at = 0;
      for (int round = 0; round < kRounds; ++round) {
        const auto byte = static_cast<uint8_t>(t * kRounds + round);
        IREE_ASSERT_OK(iree_hal_device_queue_fill(device(), queues, Timepoints{{timeline, at}},
                                                  Timepoints{{timeline, at + 1}}, a, 0, size, &byte,
                                                  1, IREE_HAL_FILL_FLAG_NONE));
        IREE_ASSERT_OK(iree_hal_device_queue_copy(
            device(), IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{{timeline, at + 1}},
            Timepoints{{timeline, at + 2}}, a, 0, b, 0, size, IREE_HAL_COPY_FLAG_NONE));
        at += 2;
        if (round % 8 == 7) {
          IREE_ASSERT_OK(wait(timeline, at));
          if (contents(b) != std::vector<uint8_t>(size, byte))
            ++wrong;
        }
      }
      IREE_ASSERT_OK(wait(timeline, at));
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(SubmissionTest, SignalsAndFailuresMayRaceWithSubmissions) {
  // Whatever comes first, every submission ends, one way or the other.
  constexpr int kRounds = 100;
  Buffer target = buffer(16);
  CommandBuffer commands = recordedFill(target, 3);
  for (int round = 0; round < kRounds; ++round) {
    Semaphore a = semaphore(), b = semaphore(), done = semaphore();
    std::thread signaling([&] { IREE_EXPECT_OK(iree_hal_semaphore_signal(a, 1, nullptr)); });
    std::thread settling([&] {
      if (round % 2) {
        IREE_EXPECT_OK(iree_hal_semaphore_signal(b, 1, nullptr));
      } else {
        iree_hal_semaphore_fail(b, iree_status_from_code(IREE_STATUS_ABORTED));
      }
    });
    Status submitted(execute(commands, {{a, 1}, {b, 1}}, {{done, 1}}));
    if (submitted.ok()) {
      Status status(wait(done, 1));
      EXPECT_EQ(status.code(), round % 2 ? StatusCode::kOk : StatusCode::kAborted);
    } else {
      EXPECT_EQ(submitted.code(), StatusCode::kAborted);
    }
    signaling.join();
    settling.join();
  }
}

BESSEMER_HAL_CTS(SubmissionTest);

} // namespace
} // namespace bessemer::hal::cts

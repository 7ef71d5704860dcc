// Fills, updates and copies move exactly the bytes they are told to, by every way of asking.

#include <cstring>
#include <string>

#include "hal/cts/device_test.h"

namespace bessemer::hal::cts {
namespace {

/// How a transfer reaches the device.
enum class Way { Recorded, RecordedThroughTable, OnQueue };

constexpr Way kWays[] = {Way::Recorded, Way::RecordedThroughTable, Way::OnQueue};

const char* nameOf(Way way) {
  static constexpr const char* kNames[] = {"recorded", "recorded through a table", "on the queue"};
  return kNames[static_cast<int>(way)];
}

class TransferTest : public DeviceTest {
protected:
  /// Collects transfers of one way and runs them all; those of a batch touch different bytes.
  class Batch {
  public:
    Batch(TransferTest* test, Way way, iree_hal_buffer_t* source, iree_hal_buffer_t* target)
        : test_(test), way_(way), source_(source), target_(target), done_(test->semaphore()) {
      if (way_ != Way::OnQueue) {
        commands_ = test->commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                                        way_ == Way::RecordedThroughTable ? 2 : 0);
      }
    }

    void fill(size_t offset, size_t length, const void* bytes, size_t size) {
      if (way_ == Way::OnQueue) {
        IREE_EXPECT_OK(iree_hal_device_queue_fill(
            test_->device(), IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), next(),
            target_, offset, length, bytes, size, IREE_HAL_FILL_FLAG_NONE));
      } else {
        IREE_EXPECT_OK(iree_hal_command_buffer_fill_buffer(commands_, ref(1, offset, length), bytes,
                                                           size, IREE_HAL_FILL_FLAG_NONE));
      }
    }
    void update(const void* source, size_t sourceOffset, size_t offset, size_t length) {
      if (way_ == Way::OnQueue) {
        IREE_EXPECT_OK(iree_hal_device_queue_update(
            test_->device(), IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), next(),
            source, sourceOffset, target_, offset, length, IREE_HAL_UPDATE_FLAG_NONE));
      } else {
        IREE_EXPECT_OK(iree_hal_command_buffer_update_buffer(
            commands_, source, sourceOffset, ref(1, offset, length), IREE_HAL_UPDATE_FLAG_NONE));
      }
    }
    void copy(size_t sourceOffset, size_t offset, size_t length) {
      if (way_ == Way::OnQueue) {
        IREE_EXPECT_OK(iree_hal_device_queue_copy(
            test_->device(), IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), next(),
            source_, sourceOffset, target_, offset, length, IREE_HAL_COPY_FLAG_NONE));
      } else {
        IREE_EXPECT_OK(iree_hal_command_buffer_copy_buffer(commands_, ref(0, sourceOffset, length),
                                                           ref(1, offset, length),
                                                           IREE_HAL_COPY_FLAG_NONE));
      }
    }

    void run() {
      if (way_ == Way::OnQueue) {
        for (auto& semaphore : pending_)
          IREE_EXPECT_OK(test_->wait(semaphore, 1));
        return;
      }
      IREE_ASSERT_OK(iree_hal_command_buffer_end(commands_));
      const iree_hal_buffer_binding_t table[] = {{source_, 0, IREE_HAL_WHOLE_BUFFER},
                                                 {target_, 0, IREE_HAL_WHOLE_BUFFER}};
      const bool bound = way_ == Way::RecordedThroughTable;
      IREE_ASSERT_OK(test_->run(commands_, std::span(table, bound ? std::size(table) : size_t{0})));
    }

  private:
    iree_hal_buffer_ref_t ref(uint32_t slot, size_t offset, size_t length) const {
      return way_ == Way::RecordedThroughTable
                 ? iree_hal_make_indirect_buffer_ref(slot, offset, length)
                 : iree_hal_make_buffer_ref(slot ? target_ : source_, offset, length);
    }
    iree_hal_semaphore_list_t next() {
      pending_.push_back(test_->semaphore());
      signal_ = Timepoints{{pending_.back(), 1}};
      return signal_;
    }

    TransferTest* test_;
    Way way_;
    iree_hal_buffer_t* source_;
    iree_hal_buffer_t* target_;
    CommandBuffer commands_;
    Semaphore done_;
    std::vector<Semaphore> pending_;
    Timepoints signal_;
  };
};

// Lengths around the sizes that devices like to move at once.
constexpr size_t kLongestSmall = 67;
// Room for an alignment, the longest small length and guard bytes around them.
constexpr size_t kCell = 96;

TEST_P(TransferTest, FillsExactlyTheRangeAtEveryAlignmentAndLength) {
  const uint8_t bytes[] = {0xA1, 0xB2, 0xC3, 0xD4};
  for (size_t patternSize : {1, 2, 4}) {
    for (Way way : {Way::Recorded, Way::RecordedThroughTable}) {
      for (size_t align = 0; align < 16; align += patternSize) {
        SCOPED_TRACE(std::string(nameOf(way)) + ", pattern of " + std::to_string(patternSize) +
                     " bytes at alignment " + std::to_string(align));
        std::vector<uint8_t> expected = pattern(kCell * (kLongestSmall + 1), 7);
        Buffer target = buffer(expected);
        Batch batch(this, way, target, target);
        for (size_t length = 0; length <= kLongestSmall; length += patternSize) {
          const size_t offset = length * kCell + 8 + align;
          batch.fill(offset, length, bytes, patternSize);
          for (size_t i = 0; i < length; ++i)
            expected[offset + i] = bytes[i % patternSize];
        }
        batch.run();
        ASSERT_EQ(contents(target), expected);
      }
    }
  }
}

TEST_P(TransferTest, CopiesExactlyTheRangeAtEveryAlignmentAndLength) {
  const std::vector<uint8_t> sourceBytes = pattern(kCell * (kLongestSmall + 1), 1);
  Buffer source = buffer(sourceBytes);
  for (Way way : {Way::Recorded, Way::RecordedThroughTable}) {
    for (size_t sourceAlign = 0; sourceAlign < 16; ++sourceAlign) {
      for (size_t targetAlign = 0; targetAlign < 16; ++targetAlign) {
        SCOPED_TRACE(std::string(nameOf(way)) + ", alignment " + std::to_string(sourceAlign) +
                     " to " + std::to_string(targetAlign));
        std::vector<uint8_t> expected = pattern(sourceBytes.size(), 2);
        Buffer target = buffer(expected);
        Batch batch(this, way, source, target);
        for (size_t length = 0; length <= kLongestSmall; ++length) {
          const size_t from = length * kCell + sourceAlign;
          const size_t to = length * kCell + 8 + targetAlign;
          batch.copy(from, to, length);
          std::copy_n(sourceBytes.begin() + from, length, expected.begin() + to);
        }
        batch.run();
        ASSERT_EQ(contents(target), expected);
      }
    }
  }
}

TEST_P(TransferTest, UpdatesExactlyTheRangeAtEveryAlignmentAndLength) {
  const std::vector<uint8_t> sourceBytes = pattern(kCell * (kLongestSmall + 1), 3);
  for (Way way : {Way::Recorded, Way::RecordedThroughTable}) {
    for (size_t align = 0; align < 16; ++align) {
      SCOPED_TRACE(std::string(nameOf(way)) + ", alignment " + std::to_string(align));
      std::vector<uint8_t> expected = pattern(sourceBytes.size(), 4);
      Buffer target = buffer(expected);
      Batch batch(this, way, target, target);
      for (size_t length = 0; length <= kLongestSmall; ++length) {
        const size_t from = length * kCell + (length * 5) % 16;
        const size_t to = length * kCell + 8 + align;
        batch.update(sourceBytes.data(), from, to, length);
        std::copy_n(sourceBytes.begin() + from, length, expected.begin() + to);
      }
      batch.run();
      ASSERT_EQ(contents(target), expected);
    }
  }
}

TEST_P(TransferTest, MovesSmallRangesOnTheQueue) {
  const std::vector<uint8_t> sourceBytes = pattern(1024, 5);
  Buffer source = buffer(sourceBytes);
  std::vector<uint8_t> expected = pattern(1024, 6);
  Buffer target = buffer(expected);
  Batch batch(this, Way::OnQueue, source, target);
  const uint8_t bytes[] = {0x11, 0x22, 0x33, 0x44};
  size_t at = 1;
  for (size_t length : {0, 1, 2, 3, 5, 7, 16, 31, 67}) {
    batch.copy(at + 2, at, length);
    std::copy_n(sourceBytes.begin() + at + 2, length, expected.begin() + at);
    at += length + 1;
    batch.update(sourceBytes.data(), at, at, length);
    std::copy_n(sourceBytes.begin() + at, length, expected.begin() + at);
    at += length + 1;
    at += at % 2;
    batch.fill(at, length / 2 * 2, bytes, 2);
    for (size_t i = 0; i < length / 2 * 2; ++i)
      expected[at + i] = bytes[i % 2];
    at += length + 1;
  }
  batch.run();
  EXPECT_EQ(contents(target), expected);
}

TEST_P(TransferTest, MovesLargeOddRanges) {
  constexpr size_t kSize = 3 * 1024 * 1024 + 7;
  const std::vector<uint8_t> sourceBytes = pattern(kSize, 8);
  Buffer source = buffer(sourceBytes);
  for (Way way : kWays) {
    for (size_t length : {size_t{4095}, size_t{65537}, kSize - 64}) {
      SCOPED_TRACE(std::string(nameOf(way)) + ", " + std::to_string(length) + " bytes");
      std::vector<uint8_t> expected(kSize, 0x5A);
      Buffer target = buffer(expected);
      Batch batch(this, way, source, target);
      batch.copy(3, 29, length);
      std::copy_n(sourceBytes.begin() + 3, length, expected.begin() + 29);
      batch.run();
      ASSERT_EQ(contents(target), expected);

      const uint8_t byte = 0xEE;
      Batch fill(this, way, source, target);
      fill.fill(31, length, &byte, 1);
      std::fill_n(expected.begin() + 31, length, byte);
      fill.run();
      ASSERT_EQ(contents(target), expected);
    }
  }
}

TEST_P(TransferTest, TakesUpdatesOfAnySizeOnTheQueue) {
  constexpr size_t kSize = 1024 * 1024 + 5;
  const std::vector<uint8_t> sourceBytes = pattern(kSize, 9);
  std::vector<uint8_t> expected(kSize + 16, 0);
  Buffer target = buffer(expected.size());
  Batch batch(this, Way::OnQueue, target, target);
  batch.update(sourceBytes.data(), 0, 7, kSize);
  std::copy(sourceBytes.begin(), sourceBytes.end(), expected.begin() + 7);
  batch.run();
  EXPECT_EQ(contents(target), expected);
}

// A command buffer takes 64 KiB at a time, and as often as one likes.
TEST_P(TransferTest, TakesAMebibyteOfUpdatesInOneCommandBuffer) {
  constexpr size_t kSize = 1024 * 1024, kPiece = 64 * 1024;
  const std::vector<uint8_t> sourceBytes = pattern(kSize, 11);
  std::vector<uint8_t> expected(kSize + 16, 0);
  Buffer target = buffer(expected.size());
  Batch batch(this, Way::Recorded, target, target);
  for (size_t at = 0; at < kSize; at += kPiece) {
    batch.update(sourceBytes.data(), at, 5 + at, kPiece);
  }
  std::copy(sourceBytes.begin(), sourceBytes.end(), expected.begin() + 5);
  batch.run();
  EXPECT_EQ(contents(target), expected);
}

TEST_P(TransferTest, CopiesMiddlingRangesAtOddOffsets) {
  constexpr size_t kMost = 65536, kGuard = 32;
  const std::vector<uint8_t> sourceBytes = pattern(kMost + kGuard, 12);
  Buffer source = buffer(sourceBytes);
  for (Way way : kWays) {
    for (size_t length : {31,  32,   33,   63,   64,   65,   127,   129,   255,   256,
                          257, 1023, 1025, 4095, 4096, 4097, 16383, 32769, 65535, 65536}) {
      SCOPED_TRACE(std::string(nameOf(way)) + ", " + std::to_string(length) + " bytes");
      std::vector<uint8_t> expected = pattern(kMost + kGuard, 13);
      Buffer target = buffer(expected);
      const size_t from = length % 13 | 1, to = length % 7 | 1;
      Batch batch(this, way, source, target);
      batch.copy(from, to, length);
      std::copy_n(sourceBytes.begin() + static_cast<ptrdiff_t>(from), length,
                  expected.begin() + static_cast<ptrdiff_t>(to));
      batch.run();
      ASSERT_EQ(contents(target), expected);
    }
  }
}

// Patterns of 2 and 4 bytes are aligned within their buffer; the buffer may begin anywhere.
TEST_P(TransferTest, FillsSpansThatBeginAtOddBytes) {
  const uint8_t bytes[] = {0x11, 0x22, 0x33, 0x44};
  for (size_t patternSize : {1, 2, 4}) {
    for (size_t base : {1, 2, 3, 5, 7}) {
      // Within one word, across two, and over many.
      for (size_t length : {size_t{4}, size_t{8}, size_t{2} * patternSize, size_t{40}}) {
        SCOPED_TRACE("pattern of " + std::to_string(patternSize) + " bytes, span at " +
                     std::to_string(base) + ", " + std::to_string(length) + " bytes");
        std::vector<uint8_t> expected = pattern(64, 14);
        Buffer whole = buffer(expected);
        Buffer span;
        IREE_ASSERT_OK(
            iree_hal_buffer_subspan(whole, base, 48, iree_allocator_system(), span.out()));
        Batch recorded(this, Way::Recorded, span, span);
        recorded.fill(0, length, bytes, patternSize);
        for (size_t i = 0; i < length; ++i)
          expected[base + i] = bytes[i % patternSize];
        recorded.run();
        ASSERT_EQ(contents(whole), expected);
      }
    }
  }
}

TEST_P(TransferTest, AppliesTheOffsetsOfSpansAndBindings) {
  std::vector<uint8_t> expected(256, 0);
  Buffer whole = buffer(expected.size());
  Buffer span;
  IREE_ASSERT_OK(iree_hal_buffer_subspan(whole, 64, 128, iree_allocator_system(), span.out()));

  const uint8_t first = 1, second = 2, third = 3;
  CommandBuffer commands =
      commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, /*bindingCapacity=*/2);
  IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_buffer_ref(span, 3, 5),
                                                     &first, 1, IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(
      commands, iree_hal_make_indirect_buffer_ref(0, 4, 6), &second, 1, IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(
      commands, iree_hal_make_indirect_buffer_ref(1, 2, IREE_HAL_WHOLE_BUFFER), &third, 1,
      IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  const iree_hal_buffer_binding_t table[] = {{span, 32, 16}, {span, 96, IREE_HAL_WHOLE_BUFFER}};
  IREE_ASSERT_OK(run(commands, table));

  std::fill_n(expected.begin() + 64 + 3, 5, first);
  std::fill_n(expected.begin() + 64 + 32 + 4, 6, second);
  std::fill_n(expected.begin() + 64 + 96 + 2, 128 - 96 - 2, third);
  EXPECT_EQ(contents(whole), expected);
}

TEST_P(TransferTest, RunsInTheOrderThatBarriersGive) {
  // Every step overwrites what the one before wrote: any pair in the wrong order shows.
  constexpr size_t kSize = 512;
  Buffer a = buffer(kSize), b = buffer(kSize);
  CommandBuffer commands = commandBuffer();
  for (uint8_t step = 1; step <= 64; ++step) {
    IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(
        commands, iree_hal_make_buffer_ref(a, 0, kSize), &step, 1, IREE_HAL_FILL_FLAG_NONE));
    barrier(commands);
    // Each step keeps one more byte of b.
    IREE_ASSERT_OK(iree_hal_command_buffer_copy_buffer(
        commands, iree_hal_make_buffer_ref(a, step, kSize - step),
        iree_hal_make_buffer_ref(b, step, kSize - step), IREE_HAL_COPY_FLAG_NONE));
    barrier(commands);
  }
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  IREE_ASSERT_OK(run(commands));
  std::vector<uint8_t> expected(kSize, 64);
  for (size_t i = 0; i < 64; ++i)
    expected[i] = static_cast<uint8_t>(i);
  EXPECT_EQ(contents(b), expected);
}

TEST_P(TransferTest, MovesBetweenHostAndDevice) {
  const std::vector<uint8_t> bytes = pattern(1031, 10);
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER;
  Buffer a, b;
  IREE_ASSERT_OK(iree_hal_allocator_allocate_buffer(allocator(), params, bytes.size(), a.out()));
  IREE_ASSERT_OK(iree_hal_allocator_allocate_buffer(allocator(), params, bytes.size(), b.out()));
  const auto flags = IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT;
  IREE_ASSERT_OK(iree_hal_device_transfer_h2d(device(), bytes.data(), a, 0, bytes.size(), flags,
                                              iree_infinite_timeout()));
  IREE_ASSERT_OK(iree_hal_device_transfer_d2d(device(), a, 0, b, 0, bytes.size(), flags,
                                              iree_infinite_timeout()));
  std::vector<uint8_t> back(bytes.size());
  IREE_ASSERT_OK(iree_hal_device_transfer_d2h(device(), b, 0, back.data(), back.size(), flags,
                                              iree_infinite_timeout()));
  EXPECT_EQ(back, bytes);
  EXPECT_THAT(Status(iree_hal_device_transfer_d2h(device(), b, 1000, back.data(), 100, flags,
                                                  iree_infinite_timeout())),
              StatusIs(StatusCode::kOutOfRange));
}

BESSEMER_HAL_CTS(TransferTest);

} // namespace
} // namespace bessemer::hal::cts

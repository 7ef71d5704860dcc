// Fills and copies to the byte, wherever they begin and however long they are.

#include <cstring>

#include "drivers/metal/device_test.h"

namespace bessemer::metal_driver {
namespace {

class TransferTest : public DeviceTest {
protected:
  /// Ranges lie this far apart, so that what a neighbour writes too much is seen.
  static constexpr iree_device_size_t kStride = 128;
  static constexpr iree_device_size_t kLead = 32;
};

TEST_F(TransferTest, FillsEveryAlignmentAndLength) {
  const uint8_t kPattern[4] = {0x81, 0x82, 0x83, 0x84};
  for (iree_host_size_t pattern_length : {1u, 2u, 4u}) {
    std::vector<uint8_t> expected;
    auto commands = NewCommandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 1);
    iree_device_size_t base = 0;
    for (iree_device_size_t offset = 0; offset < 16; offset += pattern_length) {
      for (iree_device_size_t length = 0; length < 68; length += pattern_length) {
        IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(
            commands.get(), iree_hal_make_indirect_buffer_ref(0, base + kLead + offset, length),
            kPattern, pattern_length, IREE_HAL_FILL_FLAG_NONE));
        expected.resize(base + kStride, 0xEE);
        for (iree_device_size_t i = 0; i < length; ++i)
          expected[base + kLead + offset + i] = kPattern[i % pattern_length];
        base += kStride;
      }
    }
    IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
    auto target = NewBuffer(base, 0xEE);
    iree_hal_buffer_binding_t binding = {target.get(), 0, IREE_HAL_WHOLE_BUFFER};
    IREE_ASSERT_OK(ExecuteAndWait(commands, {1, &binding}));
    EXPECT_EQ(Read(target), expected) << "pattern of " << pattern_length;
  }
}

TEST_F(TransferTest, CopiesEveryAlignmentAndLength) {
  const iree_device_size_t kLengths[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 67};
  constexpr iree_device_size_t kSize = 16 * 16 * std::size(kLengths) * kStride / 4;
  auto source = NewBuffer(kSize);
  auto target = NewBuffer(kSize, 0xEE);
  std::vector<uint8_t> bytes(kSize), expected(kSize, 0xEE);
  for (size_t i = 0; i < kSize; ++i)
    bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  IREE_ASSERT_OK(iree_hal_buffer_map_write(source.get(), 0, bytes.data(), bytes.size()));
  auto commands = NewCommandBuffer();
  iree_device_size_t base = 0;
  for (iree_device_size_t from = 0; from < 16; ++from) {
    for (iree_device_size_t to = 0; to < 16; to += 1 + from % 3) {
      for (iree_device_size_t length : kLengths) {
        if (base + kStride > kSize)
          break;
        IREE_ASSERT_OK(iree_hal_command_buffer_copy_buffer(
            commands.get(), iree_hal_make_buffer_ref(source.get(), base + from, length),
            iree_hal_make_buffer_ref(target.get(), base + kLead + to, length),
            IREE_HAL_COPY_FLAG_NONE));
        std::memcpy(&expected[base + kLead + to], &bytes[base + from], length);
        base += kStride;
      }
    }
  }
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
  IREE_ASSERT_OK(ExecuteAndWait(commands));
  EXPECT_EQ(Read(target), expected);
}

TEST_F(TransferTest, UpdatesOfAMebibyteAndAtOddOffsets) {
  constexpr iree_device_size_t kSize = (1 << 20) + 9;
  auto target = NewBuffer(kSize + 16, 0xEE);
  std::vector<uint8_t> bytes(kSize), expected(kSize + 16, 0xEE);
  for (size_t i = 0; i < kSize; ++i)
    bytes[i] = static_cast<uint8_t>(i ^ i >> 8);
  std::memcpy(&expected[3], bytes.data(), kSize);
  Fence start(device_), done(device_);
  IREE_ASSERT_OK(iree_hal_device_queue_update(device_, kAny, start, done, bytes.data(), 0,
                                              target.get(), 3, kSize, IREE_HAL_UPDATE_FLAG_NONE));
  // The source was taken when the call returned.
  std::fill(bytes.begin(), bytes.end(), 0);
  IREE_ASSERT_OK(start.Signal());
  IREE_ASSERT_OK(done.Wait());
  EXPECT_EQ(Read(target), expected);
}

TEST_F(TransferTest, BarriersOrderKindsOfCommands) {
  // Blits and kernels take turns; each reads what the one before wrote.
  auto a = NewBuffer(4096), b = NewBuffer(4096);
  auto commands = NewCommandBuffer();
  auto barrier = [&] {
    iree_hal_memory_barrier_t memory = {IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE,
                                        IREE_HAL_ACCESS_SCOPE_MEMORY_READ};
    return iree_hal_command_buffer_execution_barrier(
        commands.get(), IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE,
        IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE, IREE_HAL_EXECUTION_BARRIER_FLAG_NONE, 1, &memory, 0,
        nullptr);
  };
  auto copy = [&](const HalPtr<iree_hal_buffer_t>& from, iree_device_size_t from_offset,
                  const HalPtr<iree_hal_buffer_t>& to, iree_device_size_t to_offset,
                  iree_device_size_t length) {
    return iree_hal_command_buffer_copy_buffer(
        commands.get(), iree_hal_make_buffer_ref(from.get(), from_offset, length),
        iree_hal_make_buffer_ref(to.get(), to_offset, length), IREE_HAL_COPY_FLAG_NONE);
  };
  uint16_t pattern = 0x4321;
  IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(commands.get(),
                                                     iree_hal_make_buffer_ref(a.get(), 0, 4096),
                                                     &pattern, 2, IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(barrier());
  IREE_ASSERT_OK(copy(a, 0, b, 0, 4096));
  IREE_ASSERT_OK(barrier());
  IREE_ASSERT_OK(copy(b, 1, a, 0, 4001));
  IREE_ASSERT_OK(barrier());
  IREE_ASSERT_OK(copy(a, 0, b, 4, 4000));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands.get()));
  std::vector<uint8_t> in_a(4096), in_b;
  for (size_t i = 0; i < in_a.size(); ++i)
    in_a[i] = i % 2 ? 0x43 : 0x21;
  in_b = in_a;
  std::memcpy(in_a.data(), in_b.data() + 1, 4001);
  std::memcpy(in_b.data() + 4, in_a.data(), 4000);
  // Twice: the list is replayed.
  for (int i = 0; i < 2; ++i) {
    IREE_ASSERT_OK(ExecuteAndWait(commands));
    EXPECT_EQ(Read(a), in_a);
    EXPECT_EQ(Read(b), in_b);
  }
}

TEST_F(TransferTest, DirectCopiesOfOddSizes) {
  for (iree_device_size_t length : {31u, 257u, 4095u, 65536u}) {
    auto source = NewBuffer(length + 8), target = NewBuffer(length + 8, 0xEE);
    std::vector<uint8_t> bytes(length + 8), expected(length + 8, 0xEE);
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<uint8_t>(i * 31 + 5);
    IREE_ASSERT_OK(iree_hal_buffer_map_write(source.get(), 0, bytes.data(), bytes.size()));
    Fence done(device_);
    IREE_ASSERT_OK(iree_hal_device_queue_copy(device_, kAny, Fence(), done, source.get(), 5,
                                              target.get(), 3, length, IREE_HAL_COPY_FLAG_NONE));
    IREE_ASSERT_OK(done.Wait());
    std::memcpy(&expected[3], &bytes[5], length);
    EXPECT_EQ(Read(target), expected) << length;
  }
}

TEST_F(TransferTest, RefusesRangesBeyondTheBuffer) {
  auto buffer = NewBuffer(64);
  uint8_t byte = 1;
  Fence done(device_);
  IREE_EXPECT_STATUS_IS(IREE_STATUS_OUT_OF_RANGE,
                        iree_hal_device_queue_fill(device_, kAny, Fence(), done, buffer.get(), 60,
                                                   8, &byte, 1, IREE_HAL_FILL_FLAG_NONE));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_hal_device_queue_copy(device_, kAny, Fence(), done, buffer.get(), 0,
                                                   buffer.get(), 8, 16, IREE_HAL_COPY_FLAG_NONE));
}

} // namespace
} // namespace bessemer::metal_driver

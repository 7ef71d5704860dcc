// Allocation, import, mapping and spans.

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "hal/cts/device_test.h"

namespace bessemer::hal::cts {
namespace {

class BufferTest : public DeviceTest {
protected:
  Status map(iree_hal_buffer_t* buffer, iree_hal_mapping_mode_t mode,
             iree_hal_memory_access_t access, size_t offset, size_t length) {
    iree_hal_buffer_mapping_t mapping;
    iree_status_t status =
        iree_hal_buffer_map_range(buffer, mode, access, offset, length, &mapping);
    if (iree_status_is_ok(status)) {
      status = iree_hal_buffer_unmap_range(&mapping);
    } else {
      EXPECT_EQ(mapping.buffer, nullptr);
    }
    return status;
  }
};

TEST_P(BufferTest, ServesTheCommonKinds) {
  const iree_hal_buffer_compatibility_t transfer =
      IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE | IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER;
  const iree_hal_buffer_compatibility_t dispatch =
      IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE | IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH;
  struct {
    iree_hal_memory_type_t type;
    iree_hal_buffer_usage_t usage;
    iree_hal_buffer_compatibility_t needed;
  } const cases[] = {
      {IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, IREE_HAL_BUFFER_USAGE_DEFAULT, transfer | dispatch},
      {IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
       IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING, transfer},
      {IREE_HAL_MEMORY_TYPE_HOST_VISIBLE | IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
       IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING, transfer | dispatch},
      {0, 0, transfer | dispatch},
  };
  for (const auto& c : cases) {
    iree_hal_buffer_params_t params = {};
    params.type = c.type;
    params.usage = c.usage;
    iree_hal_buffer_params_t actual;
    iree_device_size_t size = 0;
    EXPECT_TRUE(iree_all_bits_set(
        iree_hal_allocator_query_buffer_compatibility(allocator(), params, 1000, &actual, &size),
        c.needed));
    EXPECT_GE(size, 1000u);
    Buffer buffer;
    IREE_ASSERT_OK(iree_hal_allocator_allocate_buffer(allocator(), params, 1000, buffer.out()));
    const iree_hal_memory_type_t asked = c.type & ~IREE_HAL_MEMORY_TYPE_OPTIMAL;
    // A unified memory may be called the host's or the device's; it is visible as asked.
    const iree_hal_memory_type_t visibility =
        asked & (IREE_HAL_MEMORY_TYPE_HOST_VISIBLE | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE);
    EXPECT_TRUE(iree_all_bits_set(iree_hal_buffer_memory_type(buffer), visibility));
    EXPECT_TRUE(iree_all_bits_set(iree_hal_buffer_allowed_usage(buffer),
                                  c.usage ? c.usage : IREE_HAL_BUFFER_USAGE_DEFAULT));
    EXPECT_TRUE(
        iree_all_bits_set(iree_hal_buffer_allowed_access(buffer), IREE_HAL_MEMORY_ACCESS_ALL));
    EXPECT_GE(iree_hal_buffer_byte_length(buffer), 1000u);
    EXPECT_GE(iree_hal_buffer_allocation_size(buffer), iree_hal_buffer_byte_length(buffer));
    EXPECT_EQ(iree_hal_buffer_byte_offset(buffer), 0u);
    EXPECT_EQ(iree_hal_buffer_allocated_buffer(buffer), buffer.get());
  }
}

TEST_P(BufferTest, AllocatesNothing) {
  Buffer empty;
  IREE_ASSERT_OK(iree_hal_allocator_allocate_buffer(allocator(), {}, 0, empty.out()));
  EXPECT_NE(empty.get(), nullptr);
}

TEST_P(BufferTest, ListsItsHeaps) {
  iree_host_size_t count = 0;
  iree_status_t status = iree_hal_allocator_query_memory_heaps(allocator(), 0, nullptr, &count);
  EXPECT_THAT(Status(std::move(status)), StatusIs(StatusCode::kOutOfRange));
  ASSERT_GT(count, 0u);
  EXPECT_THAT(Status(iree_hal_allocator_query_memory_heaps(allocator(), count, nullptr, &count)),
              StatusIs(StatusCode::kInvalidArgument));
  iree_hal_allocator_query_memory_heaps(allocator(), 0, nullptr, &count);
  std::vector<iree_hal_allocator_memory_heap_t> heaps(count);
  IREE_ASSERT_OK(iree_hal_allocator_query_memory_heaps(allocator(), count, heaps.data(), &count));
  EXPECT_EQ(count, heaps.size());
  for (const auto& heap : heaps) {
    EXPECT_NE(heap.allowed_usage, 0u);
    EXPECT_GT(heap.max_allocation_size, 0u);
    EXPECT_TRUE(std::has_single_bit(heap.min_alignment));
  }
}

TEST_P(BufferTest, ImportsHostMemoryAndSaysWhenItIsDone) {
  constexpr size_t kSize = 65536;
  void* memory = std::aligned_alloc(65536, kSize);
  std::memset(memory, 0x3C, kSize);
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING;
  iree_hal_external_buffer_t external = {};
  external.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION;
  external.size = kSize;
  external.handle.host_allocation.ptr = memory;
  std::atomic<int> released{0};
  iree_hal_buffer_release_callback_t callback = {
      [](void* user_data, iree_hal_buffer_t*) { ++*static_cast<std::atomic<int>*>(user_data); },
      &released};
  Buffer imported;
  iree_status_t status =
      iree_hal_allocator_import_buffer(allocator(), params, &external, callback, imported.out());
  if (iree_status_is_unavailable(status) || iree_status_is_unimplemented(status)) {
    iree_status_ignore(status);
    std::free(memory);
    GTEST_SKIP() << "host memory cannot be imported";
  }
  IREE_ASSERT_OK(status);
  EXPECT_EQ(contents(imported), std::vector<uint8_t>(kSize, 0x3C));

  // The device works in the very memory.
  CommandBuffer commands = commandBuffer();
  const uint8_t byte = 0xC3;
  IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(
      commands, iree_hal_make_buffer_ref(imported, 100, 50), &byte, 1, IREE_HAL_FILL_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  IREE_ASSERT_OK(run(commands));
  EXPECT_EQ(static_cast<uint8_t*>(memory)[99], 0x3C);
  EXPECT_EQ(static_cast<uint8_t*>(memory)[100], 0xC3);
  EXPECT_EQ(static_cast<uint8_t*>(memory)[149], 0xC3);
  EXPECT_EQ(static_cast<uint8_t*>(memory)[150], 0x3C);

  Buffer span;
  IREE_ASSERT_OK(iree_hal_buffer_subspan(imported, 16, 16, iree_allocator_system(), span.out()));
  commands.reset();
  imported.reset();
  EXPECT_EQ(released, 0) << "the span still needs the memory";
  span.reset();
  // The queue may let go of what it used a moment after its signal.
  while (released == 0)
    std::this_thread::yield();
  EXPECT_EQ(released, 1);

  callback = iree_hal_buffer_release_callback_null();
  IREE_ASSERT_OK(
      iree_hal_allocator_import_buffer(allocator(), params, &external, callback, imported.out()));
  imported.reset();
  std::free(memory);
}

TEST_P(BufferTest, MapsWhatIsAllowed) {
  Buffer mappable = buffer(pattern(64, 1));
  const auto scoped = IREE_HAL_MAPPING_MODE_SCOPED;
  const auto read = IREE_HAL_MEMORY_ACCESS_READ;
  EXPECT_THAT(map(mappable, scoped, read, 0, 64), StatusIs(StatusCode::kOk));
  EXPECT_THAT(map(mappable, scoped, read, 64, IREE_HAL_WHOLE_BUFFER), StatusIs(StatusCode::kOk));
  EXPECT_THAT(map(mappable, scoped, IREE_HAL_MEMORY_ACCESS_NONE, 0, 64),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(map(mappable, scoped, IREE_HAL_MEMORY_ACCESS_DISCARD, 0, 64),
              StatusIs(StatusCode::kInvalidArgument));
  const size_t length = iree_hal_buffer_byte_length(mappable);
  EXPECT_THAT(map(mappable, scoped, read, 0, length + 1), StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(map(mappable, scoped, read, length + 1, 0), StatusIs(StatusCode::kOutOfRange));

  iree_hal_buffer_mapping_t mapping;
  IREE_ASSERT_OK(iree_hal_buffer_map_range(mappable, scoped, read, 8, 16, &mapping));
  ASSERT_EQ(mapping.contents.data_length, 16u);
  EXPECT_EQ(std::memcmp(mapping.contents.data, pattern(64, 1).data() + 8, 16), 0);
  iree_byte_span_t part;
  IREE_ASSERT_OK(iree_hal_buffer_mapping_subspan(&mapping, read, 4, 8, &part));
  EXPECT_EQ(part.data, mapping.contents.data + 4);
  EXPECT_EQ(part.data_length, 8u);
  EXPECT_THAT(Status(iree_hal_buffer_mapping_subspan(&mapping, read, 12, 8, &part)),
              StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(
      Status(iree_hal_buffer_mapping_subspan(&mapping, IREE_HAL_MEMORY_ACCESS_WRITE, 0, 8, &part)),
      StatusIs(StatusCode::kPermissionDenied));
  EXPECT_THAT(Status(iree_hal_buffer_mapping_flush_range(&mapping, 0, 16)),
              StatusIs(StatusCode::kPermissionDenied));
  IREE_EXPECT_OK(iree_hal_buffer_mapping_invalidate_range(&mapping, 0, 16));
  IREE_EXPECT_OK(iree_hal_buffer_unmap_range(&mapping));
  EXPECT_EQ(mapping.buffer, nullptr);
  IREE_EXPECT_OK(iree_hal_buffer_unmap_range(&mapping));
}

TEST_P(BufferTest, DoesNotMapWhatIsNot) {
  iree_hal_buffer_params_t params = {};
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER;
  Buffer unmappable;
  IREE_ASSERT_OK(iree_hal_allocator_allocate_buffer(allocator(), params, 64, unmappable.out()));
  if (iree_any_bit_set(iree_hal_buffer_allowed_usage(unmappable),
                       IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED)) {
    GTEST_SKIP() << "the device makes every buffer mappable";
  }
  EXPECT_THAT(map(unmappable, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, 0, 64),
              StatusIs(StatusCode::kPermissionDenied));
  EXPECT_THAT(map(unmappable, IREE_HAL_MAPPING_MODE_PERSISTENT, IREE_HAL_MEMORY_ACCESS_READ, 0, 64),
              StatusIs(StatusCode::kPermissionDenied));
}

TEST_P(BufferTest, ScopedMappingsKeepTheBuffer) {
  Buffer mapped = buffer(pattern(64, 2));
  iree_hal_buffer_mapping_t mapping;
  IREE_ASSERT_OK(iree_hal_buffer_map_range(mapped, IREE_HAL_MAPPING_MODE_SCOPED,
                                           IREE_HAL_MEMORY_ACCESS_READ, 0, 64, &mapping));
  mapped.reset();
  EXPECT_EQ(std::memcmp(mapping.contents.data, pattern(64, 2).data(), 64), 0);
  IREE_EXPECT_OK(iree_hal_buffer_unmap_range(&mapping));
}

TEST_P(BufferTest, AccessesMappedContents) {
  std::vector<uint8_t> expected(64, 0);
  Buffer target = buffer(64, 0xFF);
  IREE_ASSERT_OK(iree_hal_buffer_map_zero(target, 0, IREE_HAL_WHOLE_BUFFER));
  const uint8_t bytes[] = {1, 2, 3, 4};
  IREE_ASSERT_OK(iree_hal_buffer_map_fill(target, 6, 4, bytes, 2));
  for (int i = 0; i < 4; ++i)
    expected[6 + i] = bytes[i % 2];
  IREE_ASSERT_OK(iree_hal_buffer_map_write(target, 21, bytes, 3));
  for (int i = 0; i < 3; ++i)
    expected[21 + i] = bytes[i];
  Buffer other = buffer(pattern(16, 3));
  IREE_ASSERT_OK(iree_hal_buffer_map_copy(other, 3, target, 41, 7));
  std::copy_n(pattern(16, 3).begin() + 3, 7, expected.begin() + 41);
  std::vector<uint8_t> back(64);
  IREE_ASSERT_OK(iree_hal_buffer_map_read(target, 0, back.data(), back.size()));
  EXPECT_EQ(back, expected);
  EXPECT_EQ(contents(target), expected);

  EXPECT_THAT(Status(iree_hal_buffer_map_fill(target, 0, 6, bytes, 3)),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(Status(iree_hal_buffer_map_fill(target, 2, 4, bytes, 4)),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(Status(iree_hal_buffer_map_fill(target, 0, 6, bytes, 4)),
              StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(Status(iree_hal_buffer_map_copy(target, 0, target, 4, 8)),
              StatusIs(StatusCode::kInvalidArgument));
  IREE_EXPECT_OK(iree_hal_buffer_map_copy(target, 0, target, 8, 8));
  // Nothing to move, nothing to look at.
  IREE_EXPECT_OK(iree_hal_buffer_map_fill(target, 1, 0, nullptr, 3));
  IREE_EXPECT_OK(iree_hal_buffer_map_read(target, 1, nullptr, 0));
  IREE_EXPECT_OK(iree_hal_buffer_map_write(target, 1, nullptr, 0));
  IREE_EXPECT_OK(iree_hal_buffer_map_copy(target, 0, target, 0, 0));
}

TEST_P(BufferTest, SpansReferToTheAllocation) {
  Buffer whole = buffer(pattern(64, 4));
  Buffer span, spanOfSpan, same;
  IREE_ASSERT_OK(iree_hal_buffer_subspan(whole, 16, 32, iree_allocator_system(), span.out()));
  IREE_ASSERT_OK(iree_hal_buffer_subspan(span, 4, IREE_HAL_WHOLE_BUFFER, iree_allocator_system(),
                                         spanOfSpan.out()));
  EXPECT_EQ(iree_hal_buffer_allocated_buffer(spanOfSpan), whole.get());
  EXPECT_EQ(iree_hal_buffer_byte_offset(spanOfSpan), 20u);
  EXPECT_EQ(iree_hal_buffer_byte_length(spanOfSpan), 28u);
  IREE_ASSERT_OK(iree_hal_buffer_subspan(span, 0, 32, iree_allocator_system(), same.out()));
  EXPECT_EQ(same.get(), span.get());
  EXPECT_THAT(Status(iree_hal_buffer_subspan(span, 30, 4, iree_allocator_system(), same.out())),
              StatusIs(StatusCode::kOutOfRange));
  const std::vector<uint8_t> bytes = pattern(64, 4);
  whole.reset();
  span.reset();
  EXPECT_EQ(contents(spanOfSpan), std::vector<uint8_t>(bytes.begin() + 20, bytes.begin() + 48));
}

TEST_P(BufferTest, TellsHowRangesOverlap) {
  Buffer a = buffer(64), b = buffer(64);
  Buffer span;
  IREE_ASSERT_OK(iree_hal_buffer_subspan(a, 16, 16, iree_allocator_system(), span.out()));
  EXPECT_EQ(iree_hal_buffer_test_overlap(a, 0, 64, b, 0, 64), IREE_HAL_BUFFER_OVERLAP_DISJOINT);
  EXPECT_EQ(iree_hal_buffer_test_overlap(a, 0, 16, span, 0, 16), IREE_HAL_BUFFER_OVERLAP_DISJOINT);
  EXPECT_EQ(iree_hal_buffer_test_overlap(a, 0, 17, span, 0, 16), IREE_HAL_BUFFER_OVERLAP_PARTIAL);
  EXPECT_EQ(iree_hal_buffer_test_overlap(a, 16, 16, span, 0, IREE_HAL_WHOLE_BUFFER),
            IREE_HAL_BUFFER_OVERLAP_COMPLETE);
}

TEST_P(BufferTest, CountsOwnersOfTheContents) {
  Buffer whole = buffer(64);
  Buffer span;
  IREE_ASSERT_OK(iree_hal_buffer_subspan(whole, 16, 16, iree_allocator_system(), span.out()));
  EXPECT_TRUE(iree_hal_buffer_allocation_is_terminal(span));
  iree_hal_buffer_allocation_preserve(span);
  EXPECT_FALSE(iree_hal_buffer_allocation_is_terminal(whole));
  EXPECT_FALSE(iree_hal_buffer_allocation_discard(whole));
  EXPECT_TRUE(iree_hal_buffer_allocation_discard(span));
}

BESSEMER_HAL_CTS(BufferTest);

} // namespace
} // namespace bessemer::hal::cts

// Allocators and arenas.

#include <cstdint>
#include <cstring>
#include <vector>

#include "iree/base/api.h"
#include "iree/base/internal/arena.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

TEST(AllocatorTest, AlignsTheByteAtTheOffset) {
  for (iree_host_size_t alignment : {1u, 16u, 64u, 4096u}) {
    for (iree_host_size_t offset : {0u, 16u, 64u}) {
      void* ptr = nullptr;
      IREE_ASSERT_OK(
          iree_allocator_malloc_aligned(iree_allocator_system(), 200, alignment, offset, &ptr));
      EXPECT_TRUE(iree_host_ptr_has_alignment(static_cast<char*>(ptr) + offset, alignment));
      std::memset(ptr, 0x5A, 200);
      IREE_ASSERT_OK(
          iree_allocator_realloc_aligned(iree_allocator_system(), 500, alignment, offset, &ptr));
      EXPECT_TRUE(iree_host_ptr_has_alignment(static_cast<char*>(ptr) + offset, alignment));
      EXPECT_EQ(static_cast<uint8_t*>(ptr)[199], 0x5A);
      iree_allocator_free_aligned(iree_allocator_system(), ptr);
    }
  }
}

TEST(AllocatorTest, RefusesNothingAndOverflow) {
  void* ptr = nullptr;
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_allocator_malloc(iree_allocator_system(), 0, &ptr));
  IREE_EXPECT_STATUS_IS(
      IREE_STATUS_OUT_OF_RANGE,
      iree_allocator_malloc_array(iree_allocator_system(), SIZE_MAX / 2, 3, &ptr));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_allocator_malloc(iree_allocator_null(), 1, &ptr));
}

TEST(AllocatorTest, InlineArenaGrowsTheNewestInPlace) {
  IREE_ALLOCATOR_INLINE_STORAGE(storage, 256);
  iree_allocator_t allocator = iree_allocator_inline_arena(&storage.header);
  void* first = nullptr;
  void* second = nullptr;
  IREE_ASSERT_OK(iree_allocator_malloc(allocator, 32, &first));
  std::memset(first, 7, 32);
  void* grown = first;
  IREE_ASSERT_OK(iree_allocator_realloc(allocator, 64, &grown));
  EXPECT_EQ(grown, first);
  IREE_ASSERT_OK(iree_allocator_malloc(allocator, 16, &second));
  IREE_ASSERT_OK(iree_allocator_realloc(allocator, 80, &grown));
  EXPECT_NE(grown, first);
  EXPECT_EQ(static_cast<uint8_t*>(grown)[31], 7);
  IREE_EXPECT_STATUS_IS(IREE_STATUS_RESOURCE_EXHAUSTED,
                        iree_allocator_malloc(allocator, 128, &second));
}

TEST(ArenaTest, AllocationsAreDisjointAlignedAndReused) {
  iree_arena_block_pool_t pool;
  iree_arena_block_pool_initialize(1024, iree_allocator_system(), &pool);
  iree_arena_allocator_t arena;
  iree_arena_initialize(&pool, &arena);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::pair<uint8_t*, size_t>> blocks;
    for (size_t i = 1; i < 60; ++i) {
      size_t size = i * 37 % 1500 + 1;
      size_t alignment = size_t{1} << i % 8;
      void* ptr = nullptr;
      IREE_ASSERT_OK(iree_arena_allocate_aligned(&arena, size, alignment, &ptr));
      EXPECT_TRUE(iree_host_ptr_has_alignment(ptr, alignment));
      std::memset(ptr, static_cast<int>(i), size);
      blocks.emplace_back(static_cast<uint8_t*>(ptr), size);
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(blocks[i].first[0], i + 1);
      EXPECT_EQ(blocks[i].first[blocks[i].second - 1], i + 1);
    }
    iree_arena_reset(&arena);
    EXPECT_EQ(arena.used_allocation_size, 0u);
  }
  iree_arena_deinitialize(&arena);
  iree_arena_block_pool_deinitialize(&pool);
}

} // namespace

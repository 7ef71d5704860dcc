// The allocators behind the pools, against simple models of them, and the pools' own rules.

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "iree/async/notification.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/hal/api.h"
#include "iree/hal/memory/cpu_slab_provider.h"
#include "iree/hal/memory/fixed_block_pool.h"
#include "iree/hal/memory/passthrough_pool.h"
#include "iree/hal/memory/tlsf_pool.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

using ::iree::Status;
using ::iree::StatusCode;
using ::iree::testing::status::StatusIs;

/// A frontier of one entry.
struct At {
  iree_async_single_frontier_t storage;
  At(iree_async_axis_t axis, uint64_t epoch) {
    iree_async_single_frontier_initialize(&storage, axis, epoch);
  }
  operator const iree_async_frontier_t*() const {
    return iree_async_single_frontier_as_const_frontier(&storage);
  }
};

TEST(Tlsf, NeverHandsOutAByteTwiceAndLosesNone) {
  constexpr iree_device_size_t kRange = 1 << 20, kAlignment = 64;
  iree_hal_memory_tlsf_options_t options = {};
  options.range_length = kRange;
  options.alignment = kAlignment;
  options.initial_block_capacity = 2;
  options.frontier_capacity = 2;
  iree_hal_memory_tlsf_t tlsf;
  IREE_ASSERT_OK(iree_hal_memory_tlsf_initialize(options, iree_allocator_system(), &tlsf));
  std::mt19937 random(11);
  struct Live {
    iree_device_size_t length;
    iree_hal_memory_tlsf_block_index_t index;
  };
  std::map<iree_device_size_t, Live> live;
  iree_device_size_t used = 0;
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 5 < 3) {
      const iree_device_size_t length = 1 + random() % (random() % 8 ? 3000 : 100000);
      iree_hal_memory_tlsf_allocation_t allocation;
      iree_hal_memory_tlsf_allocate_result_t result;
      IREE_ASSERT_OK(iree_hal_memory_tlsf_try_allocate(&tlsf, length, &allocation, &result));
      if (result != IREE_HAL_MEMORY_TLSF_ALLOCATE_OK) {
        // It may only refuse when no gap between live blocks is long enough.
        const iree_device_size_t needed = (length + kAlignment - 1) / kAlignment * kAlignment;
        iree_device_size_t at = 0, longest = 0;
        for (const auto& [offset, block] : live) {
          longest = std::max(longest, offset - at);
          at = offset + block.length;
        }
        longest = std::max(longest, kRange - at);
        ASSERT_LT(longest, needed);
        continue;
      }
      ASSERT_EQ(allocation.offset % kAlignment, 0u);
      ASSERT_GE(allocation.length, length);
      ASSERT_LE(allocation.offset + allocation.length, kRange);
      auto next = live.lower_bound(allocation.offset);
      ASSERT_TRUE(next == live.end() || allocation.offset + allocation.length <= next->first);
      ASSERT_TRUE(next == live.begin() ||
                  std::prev(next)->first + std::prev(next)->second.length <= allocation.offset);
      live.emplace(allocation.offset, Live{allocation.length, allocation.block_index});
      used += allocation.length;
    } else {
      auto it = std::next(live.begin(), random() % live.size());
      used -= it->second.length;
      iree_hal_memory_tlsf_free(&tlsf, it->second.index,
                                random() % 2 ? (const iree_async_frontier_t*)At(random() % 4, step)
                                             : nullptr);
      live.erase(it);
    }
    iree_hal_memory_tlsf_stats_t stats;
    iree_hal_memory_tlsf_query_stats(&tlsf, &stats);
    ASSERT_EQ(stats.bytes_allocated, used);
    ASSERT_EQ(stats.bytes_free, kRange - used);
    ASSERT_EQ(stats.allocation_count, live.size());
  }
  for (const auto& [offset, block] : live) {
    iree_hal_memory_tlsf_free(&tlsf, block.index, nullptr);
  }
  EXPECT_EQ(iree_hal_memory_tlsf_largest_free_block(&tlsf), kRange);
  iree_hal_memory_tlsf_deinitialize(&tlsf);
}

TEST(Tlsf, JoinedBlocksRememberAllTheirUsers) {
  iree_hal_memory_tlsf_options_t options = {};
  options.range_length = 3 * 64;
  options.alignment = 64;
  options.frontier_capacity = 2;
  iree_hal_memory_tlsf_t tlsf;
  IREE_ASSERT_OK(iree_hal_memory_tlsf_initialize(options, iree_allocator_system(), &tlsf));
  iree_hal_memory_tlsf_allocation_t blocks[3], whole;
  auto takeAll = [&] {
    for (auto& block : blocks)
      IREE_ASSERT_OK(iree_hal_memory_tlsf_allocate(&tlsf, 64, &block));
  };
  takeAll();
  EXPECT_THAT(Status(iree_hal_memory_tlsf_allocate(&tlsf, 1, &whole)),
              StatusIs(StatusCode::kResourceExhausted));
  iree_hal_memory_tlsf_free(&tlsf, blocks[0].block_index, At(1, 5));
  iree_hal_memory_tlsf_free(&tlsf, blocks[2].block_index, At(1, 9));
  iree_hal_memory_tlsf_free(&tlsf, blocks[1].block_index, At(2, 3));
  IREE_ASSERT_OK(iree_hal_memory_tlsf_allocate(&tlsf, 192, &whole));
  ASSERT_NE(whole.death_frontier, nullptr);
  ASSERT_EQ(whole.death_frontier->entry_count, 2);
  EXPECT_EQ(whole.death_frontier->entries[0].epoch, 9u);
  EXPECT_EQ(whole.death_frontier->entries[1].epoch, 3u);
  EXPECT_FALSE(whole.block_flags & IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED);
  // Given back unused, it keeps what it remembers.
  iree_hal_memory_tlsf_restore(&tlsf, whole.block_index);
  IREE_ASSERT_OK(iree_hal_memory_tlsf_allocate(&tlsf, 192, &whole));
  ASSERT_NE(whole.death_frontier, nullptr);
  iree_hal_memory_tlsf_free(&tlsf, whole.block_index, nullptr);

  takeAll();
  // Three users do not fit two entries: the block says that it does not know all.
  for (int i = 0; i < 3; ++i) {
    iree_hal_memory_tlsf_free(&tlsf, blocks[i].block_index, At(i + 1, 1));
  }
  IREE_ASSERT_OK(iree_hal_memory_tlsf_allocate(&tlsf, 192, &whole));
  EXPECT_TRUE(whole.block_flags & IREE_HAL_MEMORY_TLSF_BLOCK_FLAG_TAINTED);
  iree_hal_memory_tlsf_free(&tlsf, whole.block_index, nullptr);
  iree_hal_memory_tlsf_deinitialize(&tlsf);
}

TEST(FixedBlocks, AreTakenByOneThreadEach) {
  iree_hal_memory_fixed_block_allocator_options_t options = {};
  options.block_size = 16;
  options.block_count = 130;
  iree_hal_memory_fixed_block_allocator_t* blocks = nullptr;
  IREE_ASSERT_OK(
      iree_hal_memory_fixed_block_allocator_allocate(options, iree_allocator_system(), &blocks));
  std::vector<std::atomic<int>> owners(130);
  std::atomic<int> clashes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<uint32_t> mine;
      for (int i = 0; i < 5000; ++i) {
        iree_hal_memory_fixed_block_allocator_allocation_t block;
        iree_hal_memory_fixed_block_allocator_acquire_result_t result;
        IREE_ASSERT_OK(iree_hal_memory_fixed_block_allocator_try_acquire(blocks, &block, &result));
        if (result == IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_ACQUIRE_OK) {
          ASSERT_LT(block.block_index, 130u);
          ASSERT_EQ(block.offset, block.block_index * 16u);
          if (owners[block.block_index]++ != 0)
            ++clashes;
          mine.push_back(block.block_index);
        }
        if (mine.size() > 20 || result != IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_ACQUIRE_OK) {
          --owners[mine.back()];
          iree_hal_memory_fixed_block_allocator_release(blocks, mine.back(), At(7, i));
          mine.pop_back();
        }
      }
      for (uint32_t index : mine) {
        --owners[index];
        iree_hal_memory_fixed_block_allocator_release(blocks, index, nullptr);
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(clashes, 0);
  std::set<uint32_t> all;
  iree_hal_memory_fixed_block_allocator_allocation_t block;
  for (int i = 0; i < 130; ++i) {
    IREE_ASSERT_OK(iree_hal_memory_fixed_block_allocator_acquire(blocks, &block));
    all.insert(block.block_index);
  }
  EXPECT_EQ(all.size(), 130u);
  EXPECT_THAT(Status(iree_hal_memory_fixed_block_allocator_acquire(blocks, &block)),
              StatusIs(StatusCode::kResourceExhausted));
  iree_hal_memory_fixed_block_allocator_free(blocks);
  options.block_count = 4097;
  EXPECT_THAT(Status(iree_hal_memory_fixed_block_allocator_allocate(
                  options, iree_allocator_system(), &blocks)),
              StatusIs(StatusCode::kInvalidArgument));
}

class PoolTest : public ::testing::Test {
protected:
  void SetUp() override {
    IREE_ASSERT_OK(iree_async_proactor_pool_create(1, nullptr,
                                                   iree_async_proactor_pool_options_default(),
                                                   iree_allocator_system(), &proactors_));
    iree_async_proactor_t* proactor = nullptr;
    IREE_ASSERT_OK(iree_async_proactor_pool_get(proactors_, 0, &proactor));
    IREE_ASSERT_OK(iree_async_notification_create(proactor, IREE_ASYNC_NOTIFICATION_FLAG_NONE,
                                                  &notification_));
    IREE_ASSERT_OK(iree_hal_cpu_slab_provider_create(iree_allocator_system(), &provider_));
  }
  void TearDown() override {
    iree_hal_slab_provider_release(provider_);
    iree_async_notification_release(notification_);
    iree_async_proactor_pool_release(proactors_);
  }

  iree_hal_pool_t* fixed(uint32_t count, iree_device_size_t budget = 0) {
    iree_hal_fixed_block_pool_options_t options = {};
    options.block_allocator_options.block_size = 256;
    options.block_allocator_options.block_count = count;
    options.budget_limit = budget;
    iree_hal_pool_t* pool = nullptr;
    IREE_EXPECT_OK(iree_hal_fixed_block_pool_create(options, provider_, notification_, epochs_,
                                                    iree_allocator_system(), &pool));
    return pool;
  }
  iree_hal_pool_t* tlsf(iree_device_size_t slab) {
    iree_hal_tlsf_pool_options_t options = {};
    options.tlsf_options.range_length = slab;
    iree_hal_pool_t* pool = nullptr;
    IREE_EXPECT_OK(iree_hal_tlsf_pool_create(options, provider_, notification_, epochs_,
                                             iree_allocator_system(), &pool));
    return pool;
  }
  iree_hal_pool_acquire_result_t acquire(iree_hal_pool_t* pool, iree_device_size_t size,
                                         const iree_async_frontier_t* requester,
                                         iree_hal_pool_reserve_flags_t flags = 0) {
    iree_hal_pool_acquire_result_t result;
    IREE_EXPECT_OK(iree_hal_pool_acquire_reservation(pool, size, 0, requester, flags, &reservation_,
                                                     &info_, &result));
    return result;
  }

  iree_async_proactor_pool_t* proactors_ = nullptr;
  iree_async_notification_t* notification_ = nullptr;
  iree_hal_slab_provider_t* provider_ = nullptr;
  iree_hal_pool_epoch_query_t epochs_ = iree_hal_pool_epoch_query_null();
  iree_hal_pool_reservation_t reservation_;
  iree_hal_pool_acquire_info_t info_;
};

TEST_F(PoolTest, HandsOutMemoryOnlyAfterItsLastUser) {
  for (bool isFixed : {true, false}) {
    SCOPED_TRACE(isFixed ? "fixed block" : "tlsf");
    iree_hal_pool_t* pool = isFixed ? fixed(1) : tlsf(256);
    const auto wait = IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER;
    const auto still = IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH;
    EXPECT_EQ(acquire(pool, 256, nullptr), IREE_HAL_POOL_ACQUIRE_OK_FRESH);
    EXPECT_EQ(acquire(pool, 256, nullptr, still | wait), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
    iree_hal_pool_reservation_t block = {};
    block.length = 256;
    block.block_handle = 0;
    iree_hal_pool_release_reservation(pool, &block, At(1, 10));
    EXPECT_EQ(acquire(pool, 256, nullptr, still), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
    EXPECT_EQ(acquire(pool, 256, At(1, 9), still), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
    EXPECT_EQ(acquire(pool, 256, At(2, 99), still), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
    EXPECT_EQ(acquire(pool, 256, At(1, 9), still | wait), IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT);
    ASSERT_NE(info_.wait_frontier, nullptr);
    EXPECT_EQ(info_.wait_frontier->entries[0].axis, 1u);
    EXPECT_EQ(info_.wait_frontier->entries[0].epoch, 10u);
    iree_hal_pool_release_reservation(pool, &reservation_, info_.wait_frontier);
    EXPECT_EQ(acquire(pool, 256, At(1, 9), still), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
    EXPECT_EQ(acquire(pool, 256, At(1, 10), still), IREE_HAL_POOL_ACQUIRE_OK);
    iree_hal_pool_release_reservation(pool, &reservation_, nullptr);
    EXPECT_EQ(acquire(pool, 256, nullptr, still), IREE_HAL_POOL_ACQUIRE_OK_FRESH);
    iree_hal_pool_release_reservation(pool, &reservation_, nullptr);
    iree_hal_pool_release(pool);
  }
}

TEST_F(PoolTest, AsksHowFarAnAxisIs) {
  uint64_t reached = 4;
  epochs_.fn = [](void* user_data, iree_async_axis_t axis, uint64_t epoch) {
    return axis == 3 && epoch <= *static_cast<uint64_t*>(user_data);
  };
  epochs_.user_data = &reached;
  iree_hal_pool_t* pool = fixed(1);
  EXPECT_EQ(acquire(pool, 1, nullptr), IREE_HAL_POOL_ACQUIRE_OK_FRESH);
  iree_hal_pool_release_reservation(pool, &reservation_, At(3, 5));
  EXPECT_EQ(acquire(pool, 1, nullptr), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
  reached = 5;
  EXPECT_EQ(acquire(pool, 1, nullptr), IREE_HAL_POOL_ACQUIRE_OK);
  iree_hal_pool_release_reservation(pool, &reservation_, nullptr);
  iree_hal_pool_release(pool);
}

TEST_F(PoolTest, GrowsRatherThanWaits) {
  iree_hal_pool_t* pool = tlsf(256);
  EXPECT_EQ(acquire(pool, 256, nullptr), IREE_HAL_POOL_ACQUIRE_OK_FRESH);
  iree_hal_pool_release_reservation(pool, &reservation_, At(1, 10));
  EXPECT_EQ(acquire(pool, 256, nullptr, IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH),
            IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
  EXPECT_TRUE(info_.flags & IREE_HAL_POOL_ACQUIRE_FLAG_GROWTH_REQUIRED);
  EXPECT_EQ(acquire(pool, 256, nullptr, IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER),
            IREE_HAL_POOL_ACQUIRE_OK_FRESH);
  iree_hal_pool_stats_t stats;
  iree_hal_pool_query_stats(pool, &stats);
  EXPECT_EQ(stats.slab_count, 2u);
  EXPECT_EQ(stats.wait_count, 0u);
  // Longer than a slab usually is: one of its own.
  iree_hal_pool_release_reservation(pool, &reservation_, nullptr);
  EXPECT_EQ(acquire(pool, 5000, nullptr), IREE_HAL_POOL_ACQUIRE_OK_FRESH);
  iree_hal_pool_release_reservation(pool, &reservation_, nullptr);
  IREE_EXPECT_OK(iree_hal_pool_trim(pool));
  iree_hal_pool_query_stats(pool, &stats);
  // The slab whose memory may still be in use stays.
  EXPECT_EQ(stats.slab_count, 1u);
  iree_hal_pool_release(pool);
}

TEST_F(PoolTest, AlignsMoreThanItsBlocksAre) {
  iree_hal_pool_t* pool = tlsf(64 * 1024);
  std::vector<iree_hal_pool_reservation_t> held;
  for (iree_device_size_t alignment : {16, 4096, 1, 256, 1024, 64, 4096}) {
    iree_hal_pool_acquire_result_t result;
    IREE_ASSERT_OK(iree_hal_pool_acquire_reservation(pool, 100, alignment, nullptr, 0,
                                                     &reservation_, &info_, &result));
    ASSERT_EQ(result, IREE_HAL_POOL_ACQUIRE_OK_FRESH);
    EXPECT_EQ(reservation_.offset % alignment, 0u);
    EXPECT_EQ(reservation_.length, 100u);
    for (const auto& other : held) {
      EXPECT_TRUE(reservation_.offset + 100 <= other.offset ||
                  other.offset + 100 <= reservation_.offset);
    }
    held.push_back(reservation_);
  }
  for (const auto& reservation : held)
    iree_hal_pool_release_reservation(pool, &reservation, nullptr);
  iree_hal_pool_stats_t stats;
  iree_hal_pool_query_stats(pool, &stats);
  EXPECT_EQ(stats.bytes_reserved, 0u);
  iree_hal_pool_release(pool);
}

TEST_F(PoolTest, KeepsToItsBudgetAndRefusesWhatItCannotServe) {
  iree_hal_pool_t* pool = fixed(4, 512);
  iree_hal_pool_reservation_t held[2];
  for (auto& reservation : held) {
    EXPECT_EQ(acquire(pool, 10, nullptr), IREE_HAL_POOL_ACQUIRE_OK_FRESH);
    reservation = reservation_;
  }
  EXPECT_EQ(acquire(pool, 10, nullptr), IREE_HAL_POOL_ACQUIRE_OVER_BUDGET);
  for (auto& reservation : held)
    iree_hal_pool_release_reservation(pool, &reservation, nullptr);
  iree_hal_pool_acquire_result_t result;
  for (const auto& [size, alignment] :
       {std::pair<size_t, size_t>{0, 0}, {257, 0}, {16, 3}, {16, 512}}) {
    EXPECT_THAT(Status(iree_hal_pool_acquire_reservation(pool, size, alignment, nullptr, 0,
                                                         &reservation_, &info_, &result)),
                StatusIs(StatusCode::kInvalidArgument));
  }
  iree_hal_pool_release(pool);
}

TEST_F(PoolTest, BuffersGiveTheirMemoryBack) {
  iree_hal_pool_t* pool = fixed(1);
  iree_hal_buffer_t* buffer = nullptr;
  iree_hal_buffer_params_t params = {};
  params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING;
  IREE_ASSERT_OK(
      iree_hal_pool_allocate_buffer(pool, params, 100, nullptr, iree_infinite_timeout(), &buffer));
  EXPECT_EQ(iree_hal_buffer_byte_length(buffer), 100u);
  IREE_EXPECT_OK(iree_hal_buffer_map_zero(buffer, 0, IREE_HAL_WHOLE_BUFFER));
  iree_hal_buffer_t* other = nullptr;
  EXPECT_THAT(Status(iree_hal_pool_allocate_buffer(pool, params, 100, nullptr,
                                                   iree_immediate_timeout(), &other)),
              StatusIs(StatusCode::kDeadlineExceeded));
  // A release wakes the one who waits.
  std::thread releasing([&] { iree_hal_buffer_release(buffer); });
  IREE_EXPECT_OK(
      iree_hal_pool_allocate_buffer(pool, params, 100, nullptr, iree_infinite_timeout(), &other));
  releasing.join();
  iree_hal_buffer_release(other);
  iree_hal_pool_release(pool);
}

TEST_F(PoolTest, SetsAskByPriority) {
  iree_hal_pool_set_t set;
  IREE_ASSERT_OK(iree_hal_pool_set_initialize(1, iree_allocator_system(), &set));
  iree_hal_pool_t* small = fixed(2);
  iree_hal_pool_t* large = tlsf(4096);
  IREE_ASSERT_OK(iree_hal_pool_set_register(&set, 0, large));
  IREE_ASSERT_OK(iree_hal_pool_set_register(&set, 10, small));
  iree_hal_buffer_params_t params = {};
  EXPECT_EQ(iree_hal_pool_set_select(&set, params, 256), small);
  EXPECT_EQ(iree_hal_pool_set_select(&set, params, 257), large);
  params.usage = IREE_HAL_BUFFER_USAGE_SHARING_EXPORT;
  EXPECT_EQ(iree_hal_pool_set_select(&set, params, 16), nullptr);
  iree_hal_buffer_t* buffer = nullptr;
  EXPECT_THAT(Status(iree_hal_pool_set_allocate_buffer(&set, params, 16, nullptr,
                                                       iree_immediate_timeout(), &buffer)),
              StatusIs(StatusCode::kNotFound));
  iree_hal_pool_release(small);
  iree_hal_pool_release(large);
  iree_hal_pool_set_deinitialize(&set);
}

} // namespace

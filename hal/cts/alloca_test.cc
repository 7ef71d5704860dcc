// Memory that queues allocate and deallocate.

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "hal/cts/device_test.h"
#include "iree/hal/memory/fixed_block_pool.h"
#include "iree/hal/memory/passthrough_pool.h"
#include "iree/hal/memory/tlsf_pool.h"

namespace bessemer::hal::cts {
namespace {

class AllocaTest : public DeviceTest {
protected:
  iree_hal_buffer_params_t params() {
    iree_hal_buffer_params_t params = {};
    params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
    params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT;
    return params;
  }
  iree_status_t alloca_(const Timepoints& waits, const Timepoints& signals, size_t size,
                        iree_hal_buffer_t** out, iree_hal_pool_t* pool = nullptr,
                        iree_hal_alloca_flags_t flags = IREE_HAL_ALLOCA_FLAG_NONE,
                        iree_hal_queue_affinity_t queues = IREE_HAL_QUEUE_AFFINITY_ANY) {
    return iree_hal_device_queue_alloca(device(), queues, waits, signals, pool, params(), size,
                                        flags, out);
  }
  iree_status_t dealloca(const Timepoints& waits, const Timepoints& signals,
                         iree_hal_buffer_t* buffer) {
    return iree_hal_device_queue_dealloca(device(), IREE_HAL_QUEUE_AFFINITY_ANY, waits, signals,
                                          buffer, IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN);
  }
  iree_status_t fill(const Timepoints& waits, const Timepoints& signals, iree_hal_buffer_t* target,
                     uint8_t byte) {
    return iree_hal_device_queue_fill(device(), IREE_HAL_QUEUE_AFFINITY_ANY, waits, signals, target,
                                      0, iree_hal_buffer_byte_length(target), &byte, 1,
                                      IREE_HAL_FILL_FLAG_NONE);
  }
  iree_hal_queue_pool_backend_t poolBackend() {
    iree_hal_queue_pool_backend_t backend = {};
    IREE_EXPECT_OK(iree_hal_device_query_queue_pool_backend(device(), 1, &backend));
    return backend;
  }
};

TEST_P(AllocaTest, BuffersHaveTheirPropertiesBeforeTheirMemory) {
  Semaphore go = semaphore(), ready = semaphore();
  Buffer transient;
  IREE_ASSERT_OK(alloca_({{go, 1}}, {{ready, 1}}, 1000, transient.out()));
  EXPECT_GE(iree_hal_buffer_byte_length(transient), 1000u);
  EXPECT_TRUE(
      iree_all_bits_set(iree_hal_buffer_allowed_usage(transient), IREE_HAL_BUFFER_USAGE_DEFAULT));
  EXPECT_TRUE(
      iree_all_bits_set(iree_hal_buffer_allowed_access(transient), IREE_HAL_MEMORY_ACCESS_ALL));
  const iree_hal_buffer_placement_t placement = iree_hal_buffer_allocation_placement(transient);
  EXPECT_EQ(placement.device, device());
  EXPECT_EQ(iree_hal_queue_affinity_count(placement.queue_affinity), 1);
  EXPECT_TRUE(iree_any_bit_set(placement.flags, IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS));
  EXPECT_EQ(value(ready), 0u);
  uint8_t byte = 0;
  EXPECT_FALSE(Status(iree_hal_buffer_map_read(transient, 0, &byte, 1)).ok());
  IREE_ASSERT_OK(iree_hal_semaphore_signal(go, 1, nullptr));
  IREE_ASSERT_OK(wait(ready, 1));
}

TEST_P(AllocaTest, MayBeUsedInCommandsBeforeItHasMemory) {
  Semaphore go = semaphore(), timeline = semaphore();
  Buffer transient, target = buffer(256), bound = buffer(256);
  IREE_ASSERT_OK(alloca_({{go, 1}}, {{timeline, 1}}, 256, transient.out()));
  CommandBuffer commands = commandBuffer(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 1);
  const uint8_t byte = 0x61;
  IREE_ASSERT_OK(iree_hal_command_buffer_fill_buffer(
      commands, iree_hal_make_buffer_ref(transient, 0, 256), &byte, 1, IREE_HAL_FILL_FLAG_NONE));
  barrier(commands);
  IREE_ASSERT_OK(iree_hal_command_buffer_copy_buffer(
      commands, iree_hal_make_indirect_buffer_ref(0, 0, 256),
      iree_hal_make_buffer_ref(target, 0, 256), IREE_HAL_COPY_FLAG_NONE));
  IREE_ASSERT_OK(iree_hal_command_buffer_end(commands));
  const iree_hal_buffer_binding_t table[] = {{transient, 0, 256}};
  IREE_ASSERT_OK(execute(commands, {{timeline, 1}}, {{timeline, 2}}, table));
  IREE_ASSERT_OK(dealloca({{timeline, 2}}, {{timeline, 3}}, transient));
  // Everything is on its way; nothing has happened.
  transient.reset();
  IREE_ASSERT_OK(iree_hal_semaphore_signal(go, 1, nullptr));
  IREE_ASSERT_OK(wait(timeline, 3));
  EXPECT_EQ(contents(target), std::vector<uint8_t>(256, 0x61));
}

TEST_P(AllocaTest, TakesAlignmentsAndSizesOfAllKinds) {
  for (size_t alignment : {0, 1, 16, 256, 4096}) {
    for (size_t size : {0, 1, 3, 4097}) {
      iree_hal_buffer_params_t aligned = params();
      aligned.min_alignment = alignment;
      Semaphore timeline = semaphore();
      Buffer transient;
      IREE_ASSERT_OK(iree_hal_device_queue_alloca(
          device(), IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{}, Timepoints{{timeline, 1}}, nullptr,
          aligned, size, IREE_HAL_ALLOCA_FLAG_NONE, transient.out()));
      EXPECT_GE(iree_hal_buffer_byte_length(transient), size);
      IREE_ASSERT_OK(fill({{timeline, 1}}, {{timeline, 2}}, transient, 1));
      IREE_ASSERT_OK(dealloca({{timeline, 2}}, {{timeline, 3}}, transient));
      IREE_ASSERT_OK(wait(timeline, 3));
    }
  }
}

TEST_P(AllocaTest, UseAfterDeallocationFails) {
  Semaphore timeline = semaphore(), after = semaphore();
  Buffer transient;
  IREE_ASSERT_OK(alloca_({}, {{timeline, 1}}, 64, transient.out()));
  IREE_ASSERT_OK(fill({{timeline, 1}}, {{timeline, 2}}, transient, 1));
  IREE_ASSERT_OK(dealloca({{timeline, 2}}, {{timeline, 3}}, transient));
  IREE_ASSERT_OK(wait(timeline, 3));
  Status submitted(fill({{timeline, 3}}, {{after, 1}}, transient, 2));
  if (submitted.ok()) {
    EXPECT_THAT(Status(wait(after, 1)), StatusIs(StatusCode::kFailedPrecondition));
  } else {
    EXPECT_THAT(submitted, StatusIs(StatusCode::kInvalidArgument));
  }
}

TEST_P(AllocaTest, IsDeallocatedOnce) {
  Semaphore timeline = semaphore(), go = semaphore();
  Buffer transient;
  IREE_ASSERT_OK(alloca_({}, {{timeline, 1}}, 64, transient.out()));
  IREE_ASSERT_OK(dealloca({{timeline, 1}, {go, 1}}, {{timeline, 2}}, transient));
  Semaphore other = semaphore();
  EXPECT_FALSE(Status(dealloca({{timeline, 1}}, {{other, 1}}, transient)).ok());
  IREE_ASSERT_OK(iree_hal_semaphore_signal(go, 1, nullptr));
  IREE_ASSERT_OK(wait(timeline, 2));
  EXPECT_FALSE(Status(dealloca({}, {{other, 2}}, transient)).ok());
}

TEST_P(AllocaTest, ADeallocationWhoseWaitFailsDoesNotHappen) {
  Semaphore timeline = semaphore(), failing = semaphore(), failed = semaphore();
  Buffer transient, target = buffer(64);
  IREE_ASSERT_OK(alloca_({}, {{timeline, 1}}, 64, transient.out()));
  IREE_ASSERT_OK(fill({{timeline, 1}}, {{timeline, 2}}, transient, 0x2B));
  IREE_ASSERT_OK(dealloca({{failing, 1}}, {{failed, 1}}, transient));
  iree_hal_semaphore_fail(failing, iree_status_from_code(IREE_STATUS_CANCELLED));
  EXPECT_THAT(Status(wait(failed, 1)), StatusIs(StatusCode::kCancelled));
  IREE_ASSERT_OK(iree_hal_device_queue_copy(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                            Timepoints{{timeline, 2}}, Timepoints{{timeline, 3}},
                                            transient, 0, target, 0, 64, IREE_HAL_COPY_FLAG_NONE));
  IREE_ASSERT_OK(dealloca({{timeline, 3}}, {{timeline, 4}}, transient));
  IREE_ASSERT_OK(wait(timeline, 4));
  EXPECT_EQ(contents(target), std::vector<uint8_t>(64, 0x2B));
}

TEST_P(AllocaTest, AllocationsOfIndeterminateLifetimeStay) {
  Semaphore timeline = semaphore();
  Buffer transient, target = buffer(64);
  IREE_ASSERT_OK(alloca_({}, {{timeline, 1}}, 64, transient.out(), nullptr,
                         IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME));
  IREE_ASSERT_OK(dealloca({{timeline, 1}}, {{timeline, 2}}, transient));
  IREE_ASSERT_OK(fill({{timeline, 2}}, {{timeline, 3}}, transient, 0x3D));
  IREE_ASSERT_OK(iree_hal_device_queue_copy(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                            Timepoints{{timeline, 3}}, Timepoints{{timeline, 4}},
                                            transient, 0, target, 0, 64, IREE_HAL_COPY_FLAG_NONE));
  IREE_ASSERT_OK(wait(timeline, 4));
  EXPECT_EQ(contents(target), std::vector<uint8_t>(64, 0x3D));
}

TEST_P(AllocaTest, OtherBuffersAreNotDeallocated) {
  Semaphore timeline = semaphore();
  Buffer plain = buffer(64, 0x44);
  IREE_ASSERT_OK(dealloca({}, {{timeline, 1}}, plain));
  IREE_ASSERT_OK(wait(timeline, 1));
  EXPECT_EQ(contents(plain), std::vector<uint8_t>(64, 0x44));
}

TEST_P(AllocaTest, MemoryOfEachPoolIsTheBuffersOwn) {
  const iree_hal_queue_pool_backend_t backend = poolBackend();
  constexpr size_t kSize = 4096;
  iree_hal_fixed_block_pool_options_t fixed = {};
  fixed.block_allocator_options.block_size = kSize;
  fixed.block_allocator_options.block_count = 4;
  iree_hal_tlsf_pool_options_t tlsf = {};
  tlsf.tlsf_options.range_length = 8 * kSize;
  tlsf.tlsf_options.alignment = 256;
  struct {
    const char* name;
    std::function<iree_status_t(iree_hal_pool_t**)> create;
  } const kinds[] = {
      {"passthrough",
       [&](iree_hal_pool_t** out) {
         return iree_hal_passthrough_pool_create({}, backend.slab_provider, backend.notification,
                                                 iree_allocator_system(), out);
       }},
      {"fixed block",
       [&](iree_hal_pool_t** out) {
         return iree_hal_fixed_block_pool_create(fixed, backend.slab_provider, backend.notification,
                                                 backend.epoch_query, iree_allocator_system(), out);
       }},
      {"tlsf",
       [&](iree_hal_pool_t** out) {
         return iree_hal_tlsf_pool_create(tlsf, backend.slab_provider, backend.notification,
                                          backend.epoch_query, iree_allocator_system(), out);
       }},
  };
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.name);
    Ref<iree_hal_pool_t> pool;
    IREE_ASSERT_OK(kind.create(pool.out()));
    // More rounds than blocks: memory is used again.
    for (int round = 0; round < 8; ++round) {
      std::vector<Buffer> buffers(3), copies(3);
      Semaphore timeline = semaphore();
      uint64_t at = 0;
      for (int i = 0; i < 3; ++i) {
        IREE_ASSERT_OK(alloca_({{timeline, at}}, {{timeline, at + 1}}, kSize - i * 100,
                               buffers[i].out(), pool.get(),
                               IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER));
        ++at;
      }
      for (int i = 0; i < 3; ++i) {
        IREE_ASSERT_OK(fill({{timeline, at}}, {{timeline, at + 1}}, buffers[i],
                            static_cast<uint8_t>(round * 16 + i)));
        ++at;
      }
      for (int i = 0; i < 3; ++i) {
        copies[i] = buffer(kSize - i * 100);
        IREE_ASSERT_OK(iree_hal_device_queue_copy(
            device(), IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{{timeline, at}},
            Timepoints{{timeline, at + 1}}, buffers[i], 0, copies[i], 0, kSize - i * 100,
            IREE_HAL_COPY_FLAG_NONE));
        ++at;
        IREE_ASSERT_OK(dealloca({{timeline, at}}, {{timeline, at + 1}}, buffers[i]));
        ++at;
      }
      IREE_ASSERT_OK(wait(timeline, at));
      for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(contents(copies[i]),
                  std::vector<uint8_t>(kSize - i * 100, static_cast<uint8_t>(round * 16 + i)));
      }
    }
    iree_hal_pool_stats_t stats;
    iree_hal_pool_query_stats(pool, &stats);
    EXPECT_EQ(stats.reservation_count, 0u);
    EXPECT_EQ(stats.bytes_reserved, 0u);
    EXPECT_EQ(stats.release_count, 24u);
  }
}

TEST_P(AllocaTest, AnExhaustedPoolHoldsTheRequestUntilMemoryComesFree) {
  const iree_hal_queue_pool_backend_t backend = poolBackend();
  iree_hal_fixed_block_pool_options_t options = {};
  options.block_allocator_options.block_size = 1024;
  options.block_allocator_options.block_count = 1;
  Ref<iree_hal_pool_t> pool;
  IREE_ASSERT_OK(iree_hal_fixed_block_pool_create(options, backend.slab_provider,
                                                  backend.notification, backend.epoch_query,
                                                  iree_allocator_system(), pool.out()));
  Semaphore first = semaphore(), second = semaphore(), third = semaphore();
  Buffer a, b, c;
  IREE_ASSERT_OK(alloca_({}, {{first, 1}}, 1024, a.out(), pool.get()));
  IREE_ASSERT_OK(wait(first, 1));
  IREE_ASSERT_OK(alloca_({}, {{second, 1}}, 1024, b.out(), pool.get(),
                         IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER));
  EXPECT_EQ(value(second), 0u);
  EXPECT_THAT(Status(alloca_({}, {{third, 1}}, 1024, c.out(), pool.get())),
              StatusIs(StatusCode::kResourceExhausted));
  EXPECT_EQ(c.get(), nullptr);
  IREE_ASSERT_OK(dealloca({{first, 1}}, {{first, 2}}, a));
  IREE_ASSERT_OK(wait(second, 1));
  IREE_ASSERT_OK(dealloca({{second, 1}}, {{second, 2}}, b));
  IREE_ASSERT_OK(wait(second, 2));
}

TEST_P(AllocaTest, ManyThreadsShareAPool) {
  const iree_hal_queue_pool_backend_t backend = poolBackend();
  iree_hal_tlsf_pool_options_t options = {};
  options.tlsf_options.range_length = 64 * 1024;
  Ref<iree_hal_pool_t> pool;
  IREE_ASSERT_OK(iree_hal_tlsf_pool_create(options, backend.slab_provider, backend.notification,
                                           backend.epoch_query, iree_allocator_system(),
                                           pool.out()));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 25; ++round) {
        const size_t size = 100 + (t * 977 + round * 131) % 8000;
        const auto byte = static_cast<uint8_t>(t * 64 + round);
        Semaphore timeline = semaphore();
        Buffer transient, copy = buffer(size);
        IREE_ASSERT_OK(alloca_({}, {{timeline, 1}}, size, transient.out(), pool.get(),
                               IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER));
        IREE_ASSERT_OK(fill({{timeline, 1}}, {{timeline, 2}}, transient, byte));
        IREE_ASSERT_OK(iree_hal_device_queue_copy(
            device(), IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{{timeline, 2}},
            Timepoints{{timeline, 3}}, transient, 0, copy, 0, size, IREE_HAL_COPY_FLAG_NONE));
        IREE_ASSERT_OK(dealloca({{timeline, 3}}, {{timeline, 4}}, transient));
        IREE_ASSERT_OK(wait(timeline, 4));
        if (contents(copy) != std::vector<uint8_t>(size, byte))
          ++wrong;
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

BESSEMER_HAL_CTS(AllocaTest);

} // namespace
} // namespace bessemer::hal::cts

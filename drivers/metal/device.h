// iree_hal_device_t over an MTLDevice.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "drivers/metal/argument_arena.h"
#include "drivers/metal/builtin_kernels.h"
#include "drivers/metal/device_memory.h"
#include "drivers/metal/event_pool.h"
#include "drivers/metal/executable.h"
#include "drivers/metal/profiler.h"
#include "drivers/metal/queue.h"
#include "drivers/metal/worker_pool.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/internal/arena.h"
#include "iree/hal/memory/slab_provider.h"

namespace bessemer::metal_driver {

struct Device {
  static constexpr uint32_t kMaxQueueCount = 8;

  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  std::string identifier;
  MetalPtr<MTL::Device> metal;
  std::shared_ptr<DeviceMemory> memory;
  HalPtr<iree_hal_allocator_t> allocator;
  HalPtr<iree_hal_channel_provider_t> channel_provider;
  iree_hal_slab_provider_t* slab_provider = nullptr;
  iree_async_notification_t* pool_notification = nullptr;
  /// Where queue_alloca takes memory from when it is not told: parts of slabs, and whole ones.
  HalPtr<iree_hal_pool_t> small_pool;
  HalPtr<iree_hal_pool_t> large_pool;
  iree_async_proactor_pool_t* proactor_pool = nullptr;
  iree_async_proactor_t* proactor = nullptr;
  iree_hal_device_topology_info_t topology_info = {};
  iree_arena_block_pool_t block_pool = {};
  std::shared_ptr<PipelineCache> pipelines;
  std::shared_ptr<BuiltinKernels> builtins;
  std::shared_ptr<ArgumentArena> arguments;
  std::shared_ptr<WorkerPool> workers;
  std::shared_ptr<EventPool> events;
  std::array<Queue, kMaxQueueCount> queues;
  uint32_t queue_count = 0;
  /// Sessions begin and end one after another.
  std::mutex profiling_mutex;

  static Device* From(iree_hal_device_t* base) { return reinterpret_cast<Device*>(base); }
  iree_hal_device_t* base() { return reinterpret_cast<iree_hal_device_t*>(this); }

  /// The first queue of the set; any for an empty one. INVALID_ARGUMENT when the device has none of
  /// them.
  iree_status_t SelectQueue(iree_hal_queue_affinity_t affinity, Queue** out_queue);

  /// The pool for memory that is wanted like that (resolved); NULL when only the allocator has
  /// such.
  iree_hal_pool_t* DefaultPool(const iree_hal_buffer_params_t& params,
                               iree_device_size_t size) const;
};

/// `queue_count` from 1 to kMaxQueueCount.
iree_status_t CreateDevice(iree_string_view_t identifier, MetalPtr<MTL::Device> metal,
                           uint32_t queue_count,
                           const iree_hal_device_create_params_t* create_params,
                           iree_allocator_t host_allocator, iree_hal_device_t** out_device);

} // namespace bessemer::metal_driver

#include "hal/drivers/host/device.h"

#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "hal/drivers/host/allocation.h"
#include "hal/drivers/host/event.h"
#include "hal/drivers/host/executable_cache.h"
#include "hal/drivers/host/host_memory.h"
#include "hal/drivers/host/profile_session.h"
#include "hal/drivers/host/queue.h"
#include "hal/drivers/host/replay.h"
#include "hal/drivers/host/semaphore.h"
#include "hal/hal/host_call.h"
#include "hal/hal/semaphore_wait.h"
#include "iree/async/notification.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/internal/arena.h"
#include "iree/hal/memory/cpu_slab_provider.h"
#include "iree/hal/memory/tlsf_pool.h"
#include "iree/hal/utils/deferred_command_buffer.h"
#include "iree/hal/utils/file_registry.h"
#include "iree/hal/utils/queue_emulation.h"

namespace bessemer::hal::host {
namespace {

constexpr iree_host_size_t kBlockSize = 32 * 1024;
constexpr iree_device_size_t kPoolSlabSize = 16 * 1024 * 1024;

using Waits = const iree_hal_semaphore_list_t;
using Signals = const iree_hal_semaphore_list_t;

struct HostDevice {
  // Must be first: the HAL sees only this.
  iree_hal_resource_t resource;
  iree_allocator_t hostAllocator;
  std::string identifier;
  iree_hal_allocator_t* allocator = nullptr;
  iree_hal_channel_provider_t* channelProvider = nullptr;
  iree_async_proactor_pool_t* proactorPool = nullptr;
  iree_async_proactor_t* proactor = nullptr;
  iree_arena_block_pool_t blockPool = {};
  iree_hal_slab_provider_t* slabProvider = nullptr;
  iree_async_notification_t* poolNotification = nullptr;
  /// Serves queue_alloca when no pool is named.
  iree_hal_pool_t* defaultPool = nullptr;
  iree_hal_device_topology_info_t topologyInfo = {};
  std::vector<std::unique_ptr<Queue>> queues;
  bool findHazards = false;
  std::mutex profileMutex;
  std::shared_ptr<ProfileSession> profileSession;

  std::shared_ptr<ProfileSession> currentProfile() {
    std::lock_guard lock(profileMutex);
    return profileSession;
  }
  iree_hal_queue_affinity_t queueMask() const {
    return (iree_hal_queue_affinity_t{1} << queues.size()) - 1;
  }
};

HostDevice* cast(iree_hal_device_t* device) { return reinterpret_cast<HostDevice*>(device); }

iree_hal_device_t* asDevice(HostDevice* device) {
  return reinterpret_cast<iree_hal_device_t*>(device);
}

/// Picks the first of the queues that `affinity` allows; zero allows all.
iree_status_t selectQueue(HostDevice* device, iree_hal_queue_affinity_t affinity,
                          size_t* out_index) {
  if (affinity == 0)
    affinity = IREE_HAL_QUEUE_AFFINITY_ANY;
  affinity &= device->queueMask();
  if (affinity == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the queue affinity names none of the device's %d queues",
                            (int)device->queues.size());
  }
  *out_index = std::countr_zero(affinity);
  return iree_ok_status();
}

//===--- life ---------------------------------------------------------------------------------===//

void unregisterAxes(HostDevice* device, size_t count) {
  iree_async_frontier_tracker_t* tracker = device->topologyInfo.frontier.tracker;
  for (size_t i = 0; i < count; ++i) {
    device->queues[i]->setAxis({});
    iree_async_frontier_tracker_retire_axis(
        tracker, device->topologyInfo.frontier.base_axis + i,
        iree_make_status(IREE_STATUS_CANCELLED, "the device is gone"));
  }
}

void leaveGroup(HostDevice* device) {
  if (iree_async_frontier_tracker_t* tracker = device->topologyInfo.frontier.tracker) {
    unregisterAxes(device, device->queues.size());
    iree_async_frontier_tracker_release(tracker);
  }
  device->topologyInfo = {};
}

void destroy(iree_hal_device_t* base) {
  HostDevice* device = cast(base);
  // Operations retain the device, so the queues are idle; their threads end first.
  iree_async_frontier_tracker_t* tracker = device->topologyInfo.frontier.tracker;
  if (tracker)
    unregisterAxes(device, device->queues.size());
  device->queues.clear();
  iree_async_frontier_tracker_release(tracker);
  iree_hal_pool_release(device->defaultPool);
  iree_async_notification_release(device->poolNotification);
  iree_hal_slab_provider_release(device->slabProvider);
  iree_hal_allocator_release(device->allocator);
  iree_hal_channel_provider_release(device->channelProvider);
  iree_arena_block_pool_deinitialize(&device->blockPool);
  iree_async_proactor_pool_release(device->proactorPool);
  iree_allocator_t hostAllocator = device->hostAllocator;
  device->~HostDevice();
  iree_allocator_free(hostAllocator, device);
}

//===--- properties ---------------------------------------------------------------------------===//

iree_string_view_t id(iree_hal_device_t* device) {
  const std::string& text = cast(device)->identifier;
  return iree_make_string_view(text.data(), text.size());
}

iree_allocator_t hostAllocatorOf(iree_hal_device_t* device) { return cast(device)->hostAllocator; }

iree_hal_allocator_t* deviceAllocator(iree_hal_device_t* device) { return cast(device)->allocator; }

void replaceDeviceAllocator(iree_hal_device_t* base, iree_hal_allocator_t* allocator) {
  iree_hal_allocator_retain(allocator);
  iree_hal_allocator_release(cast(base)->allocator);
  cast(base)->allocator = allocator;
}

void replaceChannelProvider(iree_hal_device_t* base, iree_hal_channel_provider_t* provider) {
  iree_hal_channel_provider_retain(provider);
  iree_hal_channel_provider_release(cast(base)->channelProvider);
  cast(base)->channelProvider = provider;
}

iree_status_t trim(iree_hal_device_t* base) {
  HostDevice* device = cast(base);
  iree_arena_block_pool_trim(&device->blockPool);
  IREE_RETURN_IF_ERROR(iree_hal_pool_trim(device->defaultPool));
  return iree_hal_allocator_trim(device->allocator);
}

iree_status_t queryI64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                       int64_t* out_value) {
  if (iree_string_view_equal(category, IREE_SV("hal.device.id"))) {
    *out_value = iree_string_view_match_pattern(id(base), key) ? 1 : 0;
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.executable.format")))
    return iree_ok_status();
  if (iree_string_view_equal(category, IREE_SV("hal.device")) &&
      iree_string_view_equal(key, IREE_SV("concurrency"))) {
    *out_value = static_cast<int64_t>(cast(base)->queues.size());
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "the host device knows no '%.*s :: %.*s'",
                          (int)category.size, category.data, (int)key.size, key.data);
}

iree_status_t queryCapabilities(iree_hal_device_t*,
                                iree_hal_device_capabilities_t* out_capabilities) {
  out_capabilities->flags =
      IREE_HAL_DEVICE_CAPABILITY_TIMELINE_SEMAPHORES | IREE_HAL_DEVICE_CAPABILITY_UNIFIED_MEMORY |
      IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT | IREE_HAL_DEVICE_CAPABILITY_PEER_COHERENT |
      IREE_HAL_DEVICE_CAPABILITY_P2P_COPY | IREE_HAL_DEVICE_CAPABILITY_HOST_ZERO_COPY_OK |
      IREE_HAL_DEVICE_CAPABILITY_PEER_ADDRESSABLE |
      IREE_HAL_DEVICE_CAPABILITY_SHARED_VIRTUAL_ADDRESS |
      IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE;
  out_capabilities->semaphore_export_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE;
  out_capabilities->semaphore_import_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE;
  out_capabilities->buffer_export_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE;
  out_capabilities->buffer_import_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_NATIVE;
  return iree_ok_status();
}

const iree_hal_device_topology_info_t* topologyInfo(iree_hal_device_t* device) {
  return &cast(device)->topologyInfo;
}

iree_status_t refineTopologyEdge(iree_hal_device_t*, iree_hal_device_t*,
                                 iree_hal_topology_edge_t*) {
  return iree_ok_status();
}

iree_status_t assignTopologyInfo(iree_hal_device_t* base,
                                 const iree_hal_device_topology_info_t* info) {
  HostDevice* device = cast(base);
  leaveGroup(device);
  if (!info)
    return iree_ok_status();
  device->topologyInfo = *info;
  iree_async_frontier_tracker_t* tracker = info->frontier.tracker;
  if (!tracker)
    return iree_ok_status();
  for (size_t i = 0; i < device->queues.size(); ++i) {
    const iree_async_axis_t axis = info->frontier.base_axis + i;
    iree_status_t status = iree_async_frontier_tracker_register_axis(tracker, axis, nullptr);
    if (!iree_status_is_ok(status)) {
      unregisterAxes(device, i);
      device->topologyInfo = {};
      return status;
    }
    device->queues[i]->setAxis({tracker, axis});
  }
  iree_async_frontier_tracker_retain(tracker);
  return iree_ok_status();
}

iree_hal_semaphore_compatibility_t querySemaphoreCompatibility(iree_hal_device_t*,
                                                               iree_hal_semaphore_t*) {
  // Operations wait and signal through the async layer, whoever made the semaphore.
  return IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL;
}

bool hasReached(void* user_data, iree_async_axis_t axis, uint64_t epoch) {
  auto* device = static_cast<HostDevice*>(user_data);
  iree_async_frontier_tracker_t* tracker = device->topologyInfo.frontier.tracker;
  return tracker && iree_async_frontier_tracker_query_epoch(tracker, axis, epoch);
}

iree_status_t queryQueuePoolBackend(iree_hal_device_t* base, iree_hal_queue_affinity_t affinity,
                                    iree_hal_queue_pool_backend_t* out_backend) {
  HostDevice* device = cast(base);
  size_t queue = 0;
  IREE_RETURN_IF_ERROR(selectQueue(device, affinity, &queue));
  out_backend->slab_provider = device->slabProvider;
  out_backend->notification = device->poolNotification;
  out_backend->epoch_query.fn = hasReached;
  out_backend->epoch_query.user_data = device;
  return iree_ok_status();
}

//===--- objects ------------------------------------------------------------------------------===//

iree_status_t createChannel(iree_hal_device_t*, iree_hal_queue_affinity_t,
                            iree_hal_channel_params_t, iree_hal_channel_t**) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "the host device has no collectives");
}

iree_status_t createCommandBuffer(iree_hal_device_t* base, iree_hal_command_buffer_mode_t mode,
                                  iree_hal_command_category_t categories,
                                  iree_hal_queue_affinity_t affinity, iree_host_size_t capacity,
                                  iree_hal_command_buffer_t** out_command_buffer) {
  HostDevice* device = cast(base);
  return iree_hal_deferred_command_buffer_create(device->allocator, mode, categories, affinity,
                                                 capacity, &device->blockPool,
                                                 device->hostAllocator, out_command_buffer);
}

iree_status_t createDeviceEvent(iree_hal_device_t* base, iree_hal_queue_affinity_t,
                                iree_hal_event_flags_t, iree_hal_event_t** out_event) {
  return createEvent(cast(base)->hostAllocator, out_event);
}

iree_status_t createDeviceExecutableCache(iree_hal_device_t* base, iree_string_view_t,
                                          iree_hal_executable_cache_t** out_cache) {
  return createExecutableCache(cast(base)->hostAllocator, out_cache);
}

iree_status_t importFile(iree_hal_device_t* base, iree_hal_queue_affinity_t affinity,
                         iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                         iree_hal_external_file_flags_t, iree_hal_file_t** out_file) {
  HostDevice* device = cast(base);
  return iree_hal_file_from_handle(device->allocator, affinity, access, handle, device->proactor,
                                   device->hostAllocator, out_file);
}

iree_status_t createDeviceSemaphore(iree_hal_device_t* base, iree_hal_queue_affinity_t,
                                    uint64_t initialValue, iree_hal_semaphore_flags_t,
                                    iree_hal_semaphore_t** out_semaphore) {
  return createSemaphore(cast(base)->proactor, initialValue, cast(base)->hostAllocator,
                         out_semaphore);
}

//===--- queue operations ---------------------------------------------------------------------===//

/// Picks a queue and makes the operation that will run there.
iree_status_t beginOperation(HostDevice* device, iree_hal_queue_affinity_t affinity, Waits waits,
                             Signals signals, const Work& work, size_t* out_queue,
                             std::shared_ptr<Operation>* out_operation) {
  IREE_RETURN_IF_ERROR(selectQueue(device, affinity, out_queue));
  IREE_RETURN_IF_ERROR(Operation::create(asDevice(device), signals, out_operation));
  (*out_operation)->profile(device->currentProfile(), work, *out_queue, waits.count);
  return iree_ok_status();
}

iree_status_t queueAlloca(iree_hal_device_t* base, iree_hal_queue_affinity_t affinity, Waits waits,
                          Signals signals, iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
                          iree_device_size_t size, iree_hal_alloca_flags_t flags,
                          iree_hal_buffer_t** IREE_RESTRICT out_buffer) {
  HostDevice* device = cast(base);
  size_t queueIndex = 0;
  IREE_RETURN_IF_ERROR(selectQueue(device, affinity, &queueIndex));
  Queue* queue = device->queues[queueIndex].get();

  // What the allocator would make of the request is what the buffer says it is.
  iree_device_size_t allocationSize = 0;
  if (iree_hal_allocator_query_buffer_compatibility(device->allocator, params, size, &params,
                                                    &allocationSize) ==
      IREE_HAL_BUFFER_COMPATIBILITY_NONE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the device cannot allocate %" PRIdsz " bytes of this kind", size);
  }
  params.queue_affinity = iree_hal_queue_affinity_t{1} << queueIndex;
  iree_hal_buffer_placement_t placement = {};
  placement.device = base;
  placement.queue_affinity = params.queue_affinity;
  placement.flags = IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS;
  if (iree_any_bit_set(flags, IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME)) {
    placement.flags |= IREE_HAL_BUFFER_PLACEMENT_FLAG_INDETERMINATE_LIFETIME;
  }
  TransientBuffer* buffer = nullptr;
  IREE_RETURN_IF_ERROR(
      TransientBuffer::create(placement, params, allocationSize, device->hostAllocator, &buffer));
  auto owner = Retained<iree_hal_buffer_t>::adopt(buffer->base());

  std::shared_ptr<Operation> operation;
  IREE_RETURN_IF_ERROR(Operation::create(base, signals, &operation));
  operation->profile(device->currentProfile(),
                     {IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_ALLOCA, allocationSize}, queueIndex,
                     waits.count);
  auto allocation = std::make_shared<Allocation>(
      queue, device->topologyInfo.frontier.tracker, operation,
      Retained(pool ? pool : device->defaultPool), params, flags, buffer);

  iree_status_t status;
  if (iree_hal_semaphore_list_poll(waits)) {
    // Nothing to wait for: what is wrong with the request can be said at once.
    status = allocation->start();
  } else {
    status = whenReached(waits, device->hostAllocator, [allocation](iree_status_t waitStatus) {
      if (iree_status_is_ok(waitStatus))
        waitStatus = allocation->start();
      if (!iree_status_is_ok(waitStatus))
        allocation->fail(waitStatus);
    });
  }
  if (!iree_status_is_ok(status)) {
    operation->disown();
    return status;
  }
  iree_hal_buffer_retain(owner.get());
  *out_buffer = owner.get();
  return iree_ok_status();
}

iree_status_t queueDealloca(iree_hal_device_t* base, iree_hal_queue_affinity_t affinity,
                            Waits waits, Signals signals, iree_hal_buffer_t* buffer,
                            iree_hal_dealloca_flags_t) {
  HostDevice* device = cast(base);
  TransientBuffer* transient = TransientBuffer::from(buffer);
  if (!transient) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the buffer was not allocated by a queue of a host device");
  }
  size_t queueIndex = 0;
  std::shared_ptr<Operation> operation;
  IREE_RETURN_IF_ERROR(beginOperation(
      device, affinity, waits, signals,
      {IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DEALLOCA, iree_hal_buffer_allocation_size(buffer)},
      &queueIndex, &operation));
  if (!transient->announceDealloca()) {
    operation->disown();
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the buffer is deallocated already, or about to be");
  }
  Queue* queue = device->queues[queueIndex].get();
  Retained owner(transient->base());
  iree_status_t status = queue->submit(
      waits, operation,
      [queue, owner, transient] {
        // The memory's last user is this very step of the queue.
        iree_async_single_frontier_t storage;
        return transient->decommit(queue->advance(&storage));
      },
      [owner, transient] { transient->revokeDealloca(); });
  if (!iree_status_is_ok(status))
    transient->revokeDealloca();
  return status;
}

/// Moves bytes between a file and a buffer on the host device's queue.
iree_status_t submitFileTransfer(iree_hal_device_t* base, iree_hal_queue_affinity_t affinity,
                                 Waits waits, Signals signals, iree_hal_file_t* file,
                                 uint64_t fileOffset, iree_hal_buffer_t* buffer,
                                 iree_device_size_t bufferOffset, iree_device_size_t length,
                                 iree_hal_profile_queue_event_type_t type,
                                 decltype(&iree_hal_file_read) transfer) {
  HostDevice* device = cast(base);
  size_t queueIndex = 0;
  std::shared_ptr<Operation> operation;
  IREE_RETURN_IF_ERROR(
      beginOperation(device, affinity, waits, signals, {type, length}, &queueIndex, &operation));
  return device->queues[queueIndex]->submit(
      waits, operation,
      [=, fileOwner = Retained(file), bufferOwner = Retained(buffer)]() -> iree_status_t {
        HostMemory memory;
        IREE_RETURN_IF_ERROR(resolveHostMemory(buffer, bufferOffset, length, &memory));
        // Files read and write mappable buffers; the queue needs no permission to map.
        iree_hal_buffer_t* view = nullptr;
        IREE_RETURN_IF_ERROR(iree_hal_heap_buffer_wrap(
            iree_hal_buffer_placement_undefined(), IREE_HAL_MEMORY_TYPE_HOST_LOCAL,
            IREE_HAL_MEMORY_ACCESS_ALL, IREE_HAL_BUFFER_USAGE_MAPPING, memory.bytes.size(),
            iree_make_byte_span(memory.bytes.data(), memory.bytes.size()),
            iree_hal_buffer_release_callback_null(), iree_hal_device_host_allocator(base), &view));
        iree_status_t status = transfer(file, fileOffset, view, 0, memory.bytes.size());
        iree_hal_buffer_release(view);
        return status;
      });
}

iree_status_t queueRead(iree_hal_device_t* device, iree_hal_queue_affinity_t affinity, Waits waits,
                        Signals signals, iree_hal_file_t* file, uint64_t fileOffset,
                        iree_hal_buffer_t* buffer, iree_device_size_t bufferOffset,
                        iree_device_size_t length, iree_hal_read_flags_t) {
  return submitFileTransfer(device, affinity, waits, signals, file, fileOffset, buffer,
                            bufferOffset, length, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_READ,
                            iree_hal_file_read);
}

iree_status_t queueWrite(iree_hal_device_t* device, iree_hal_queue_affinity_t affinity, Waits waits,
                         Signals signals, iree_hal_buffer_t* buffer,
                         iree_device_size_t bufferOffset, iree_hal_file_t* file,
                         uint64_t fileOffset, iree_device_size_t length, iree_hal_write_flags_t) {
  return submitFileTransfer(device, affinity, waits, signals, file, fileOffset, buffer,
                            bufferOffset, length, IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_WRITE,
                            iree_hal_file_write);
}

iree_status_t queueHostCall(iree_hal_device_t* base, iree_hal_queue_affinity_t affinity,
                            Waits waits, Signals signals, iree_hal_host_call_t call,
                            const uint64_t args[4], iree_hal_host_call_flags_t flags) {
  HostDevice* device = cast(base);
  size_t queueIndex = 0;
  std::shared_ptr<Operation> operation;
  IREE_RETURN_IF_ERROR(beginOperation(device, affinity, waits, signals,
                                      {IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_HOST_CALL}, &queueIndex,
                                      &operation));
  Queue* queue = device->queues[queueIndex].get();
  std::array<uint64_t, 4> arguments;
  std::copy_n(args, arguments.size(), arguments.begin());
  iree_status_t status = whenReached(
      waits, device->hostAllocator,
      [base, queue, queueIndex, operation, call, arguments, flags](iree_status_t waitStatus) {
        if (!iree_status_is_ok(waitStatus)) {
          operation->settle(waitStatus, nullptr);
          return;
        }
        operation->ready();
        // The call belongs to the user and may take its time, or wait for what the queue does next:
        // it gets a thread of its own.
        std::thread([base, queue, queueIndex, operation, call, arguments, flags] {
          iree_async_single_frontier_t storage;
          const iree_async_frontier_t* frontier = queue->advance(&storage);
          operation->started();
          operation->handOver();
          runHostCall(base, iree_hal_queue_affinity_t{1} << queueIndex, operation->signals(), call,
                      arguments.data(), flags, frontier);
        }).detach();
      });
  if (!iree_status_is_ok(status))
    operation->disown();
  return status;
}

/// Runs a recorded command buffer, or nothing, as `work`.
iree_status_t submitCommands(HostDevice* device, iree_hal_queue_affinity_t affinity, Waits waits,
                             Signals signals, iree_hal_command_buffer_t* commandBuffer,
                             iree_hal_buffer_binding_table_t table, iree_hal_execute_flags_t flags,
                             const Work& work) {
  size_t queueIndex = 0;
  std::shared_ptr<Operation> operation;
  IREE_RETURN_IF_ERROR(
      beginOperation(device, affinity, waits, signals, work, &queueIndex, &operation));
  std::vector<iree_hal_buffer_binding_t> bindings(table.bindings, table.bindings + table.count);
  std::vector<Retained<iree_hal_buffer_t>> bound;
  if (!iree_any_bit_set(flags, IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME)) {
    for (const auto& binding : bindings)
      bound.emplace_back(binding.buffer);
  }
  return device->queues[queueIndex]->submit(
      waits, operation,
      [owner = Retained(commandBuffer), bindings = std::move(bindings), bound = std::move(bound),
       findHazards = device->findHazards]() -> iree_status_t {
        if (!owner)
          return iree_ok_status();
        return replay(owner.get(), {bindings.size(), bindings.data()}, findHazards);
      });
}

iree_status_t queueExecute(iree_hal_device_t* base, iree_hal_queue_affinity_t affinity, Waits waits,
                           Signals signals, iree_hal_command_buffer_t* commandBuffer,
                           iree_hal_buffer_binding_table_t table, iree_hal_execute_flags_t flags) {
  if (commandBuffer && !iree_hal_deferred_command_buffer_isa(commandBuffer)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the command buffer was made by another driver");
  }
  Work work;
  if (commandBuffer) {
    work.type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE;
    work.commandBufferId = iree_hal_command_buffer_profile_id(commandBuffer);
  }
  return submitCommands(cast(base), affinity, waits, signals, commandBuffer, table, flags, work);
}

/// Records one transfer, which checks it, and submits it as the kind of work that it is.
iree_status_t submitTransfer(iree_hal_device_t* base, iree_hal_queue_affinity_t affinity,
                             Waits waits, Signals signals,
                             const iree_hal_transfer_command_t& command, const Work& work) {
  iree_hal_command_buffer_t* commandBuffer = nullptr;
  IREE_RETURN_IF_ERROR(iree_hal_create_transfer_command_buffer(
      base, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, affinity, 1, &command, &commandBuffer));
  iree_status_t status =
      submitCommands(cast(base), affinity, waits, signals, commandBuffer,
                     iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE, work);
  iree_hal_command_buffer_release(commandBuffer);
  return status;
}

iree_status_t queueFill(iree_hal_device_t* device, iree_hal_queue_affinity_t affinity, Waits waits,
                        Signals signals, iree_hal_buffer_t* target, iree_device_size_t offset,
                        iree_device_size_t length, const void* pattern,
                        iree_host_size_t patternLength, iree_hal_fill_flags_t) {
  iree_hal_transfer_command_t command = {};
  command.type = IREE_HAL_TRANSFER_COMMAND_TYPE_FILL;
  command.fill = {target, offset, length, pattern, patternLength};
  return submitTransfer(device, affinity, waits, signals, command,
                        {IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL, length});
}

iree_status_t queueCopy(iree_hal_device_t* device, iree_hal_queue_affinity_t affinity, Waits waits,
                        Signals signals, iree_hal_buffer_t* source, iree_device_size_t sourceOffset,
                        iree_hal_buffer_t* target, iree_device_size_t targetOffset,
                        iree_device_size_t length, iree_hal_copy_flags_t) {
  iree_hal_transfer_command_t command = {};
  command.type = IREE_HAL_TRANSFER_COMMAND_TYPE_COPY;
  command.copy = {source, sourceOffset, target, targetOffset, length};
  return submitTransfer(device, affinity, waits, signals, command,
                        {IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY, length});
}

iree_status_t queueFlush(iree_hal_device_t*, iree_hal_queue_affinity_t) { return iree_ok_status(); }

//===--- profiling ----------------------------------------------------------------------------===//

iree_status_t profilingBegin(iree_hal_device_t* base,
                             const iree_hal_device_profiling_options_t* options) {
  HostDevice* device = cast(base);
  std::lock_guard lock(device->profileMutex);
  if (device->profileSession) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "a profiling session is running");
  }
  return ProfileSession::begin(*options, static_cast<uint32_t>(device->queues.size()), id(base),
                               device->hostAllocator, &device->profileSession);
}

iree_status_t profilingFlush(iree_hal_device_t* base) {
  std::shared_ptr<ProfileSession> session = cast(base)->currentProfile();
  return session ? session->flush() : iree_ok_status();
}

iree_status_t profilingEnd(iree_hal_device_t* base) {
  HostDevice* device = cast(base);
  std::shared_ptr<ProfileSession> session;
  {
    std::lock_guard lock(device->profileMutex);
    session.swap(device->profileSession);
  }
  // A request for nothing began no session.
  return session ? session->end() : iree_ok_status();
}

iree_status_t externalCaptureBegin(iree_hal_device_t*,
                                   const iree_hal_device_external_capture_options_t* options) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "the host device has no capture provider '%.*s'",
                          (int)options->provider.size, options->provider.data);
}

iree_status_t externalCaptureEnd(iree_hal_device_t*) {
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "no capture is running");
}

const iree_hal_device_vtable_t kVtable = {
    .destroy = destroy,
    .id = id,
    .host_allocator = hostAllocatorOf,
    .device_allocator = deviceAllocator,
    .replace_device_allocator = replaceDeviceAllocator,
    .replace_channel_provider = replaceChannelProvider,
    .trim = trim,
    .query_i64 = queryI64,
    .query_capabilities = queryCapabilities,
    .topology_info = topologyInfo,
    .refine_topology_edge = refineTopologyEdge,
    .assign_topology_info = assignTopologyInfo,
    .create_channel = createChannel,
    .create_command_buffer = createCommandBuffer,
    .create_event = createDeviceEvent,
    .create_executable_cache = createDeviceExecutableCache,
    .import_file = importFile,
    .create_semaphore = createDeviceSemaphore,
    .query_semaphore_compatibility = querySemaphoreCompatibility,
    .query_queue_pool_backend = queryQueuePoolBackend,
    .queue_alloca = queueAlloca,
    .queue_dealloca = queueDealloca,
    .queue_fill = queueFill,
    .queue_update = iree_hal_device_queue_emulated_update,
    .queue_copy = queueCopy,
    .queue_read = queueRead,
    .queue_write = queueWrite,
    .queue_host_call = queueHostCall,
    .queue_dispatch = iree_hal_device_queue_emulated_dispatch,
    .queue_execute = queueExecute,
    .queue_flush = queueFlush,
    .profiling_begin = profilingBegin,
    .profiling_flush = profilingFlush,
    .profiling_end = profilingEnd,
    .external_capture_begin = externalCaptureBegin,
    .external_capture_end = externalCaptureEnd,
};

iree_status_t initialize(HostDevice* device, const DeviceOptions& options,
                         const iree_hal_device_create_params_t* createParams) {
  if (!createParams->proactor_pool) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "devices are created with a proactor pool");
  }
  device->proactorPool = createParams->proactor_pool;
  iree_async_proactor_pool_retain(device->proactorPool);
  IREE_RETURN_IF_ERROR(iree_async_proactor_pool_get(device->proactorPool, 0, &device->proactor));
  IREE_RETURN_IF_ERROR(iree_hal_allocator_create_heap(id(asDevice(device)), device->hostAllocator,
                                                      device->hostAllocator, &device->allocator));
  IREE_RETURN_IF_ERROR(
      iree_hal_cpu_slab_provider_create(device->hostAllocator, &device->slabProvider));
  IREE_RETURN_IF_ERROR(iree_async_notification_create(
      device->proactor, IREE_ASYNC_NOTIFICATION_FLAG_NONE, &device->poolNotification));
  iree_hal_tlsf_pool_options_t poolOptions = {};
  poolOptions.tlsf_options.range_length = kPoolSlabSize;
  poolOptions.tlsf_options.alignment = 64;
  IREE_RETURN_IF_ERROR(iree_hal_tlsf_pool_create(poolOptions, device->slabProvider,
                                                 device->poolNotification, {hasReached, device},
                                                 device->hostAllocator, &device->defaultPool));
  device->findHazards = options.findHazards;
  for (uint32_t i = 0; i < options.queueCount; ++i) {
    device->queues.push_back(std::make_unique<Queue>());
  }
  return iree_ok_status();
}

} // namespace

iree_status_t createDevice(iree_string_view_t identifier, const DeviceOptions& options,
                           const iree_hal_device_create_params_t* createParams,
                           iree_allocator_t hostAllocator, iree_hal_device_t** out_device) {
  *out_device = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(hostAllocator, sizeof(HostDevice), &storage));
  auto* device = new (storage) HostDevice();
  iree_hal_resource_initialize(&kVtable, &device->resource);
  device->hostAllocator = hostAllocator;
  device->identifier.assign(identifier.data, identifier.size);
  iree_arena_block_pool_initialize(kBlockSize, hostAllocator, &device->blockPool);
  iree_status_t status = initialize(device, options, createParams);
  if (!iree_status_is_ok(status)) {
    destroy(asDevice(device));
    return status;
  }
  *out_device = asDevice(device);
  return iree_ok_status();
}

} // namespace bessemer::hal::host

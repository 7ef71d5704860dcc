#include "drivers/metal/device.h"

#include <bit>
#include <new>

#include "drivers/metal/allocator.h"
#include "drivers/metal/command_buffer.h"
#include "drivers/metal/event.h"
#include "drivers/metal/queue_operations.h"
#include "drivers/metal/semaphore.h"
#include "drivers/metal/slab_provider.h"
#include "iree/async/notification.h"
#include "iree/hal/memory/passthrough_pool.h"
#include "iree/hal/memory/tlsf_pool.h"
#include "iree/hal/utils/file_registry.h"

namespace bessemer::metal_driver {
namespace {

/// Commands are recorded into blocks of this size.
constexpr iree_host_size_t kArenaBlockSize = 32 * 1024;
/// Slabs that small allocations share, and where they begin in them.
constexpr iree_device_size_t kSlabSize = iree_device_size_t{16} << 20;
constexpr iree_device_size_t kPoolAlignment = 256;
/// What is larger has a slab to itself: it would leave too much of a shared one unused.
constexpr iree_device_size_t kMaxSmallSize = kSlabSize / 4;
/// Command buffers that a queue may have in flight before making another one blocks: more than a
/// program has, as it would block a thread that others wait for.
constexpr NS::UInteger kMaxCommandBuffersInFlight = 4096;

iree_hal_queue_affinity_t AllQueues(const Device& device) {
  return (iree_hal_queue_affinity_t{1} << device.queue_count) - 1;
}

void UnregisterQueues(Device& device) {
  for (uint32_t i = 0; i < device.queue_count; ++i)
    device.queues[i].Unregister();
}

void Destroy(iree_hal_device_t* base) {
  Device* device = Device::From(base);
  iree_allocator_t host_allocator = device->host_allocator;
  UnregisterQueues(*device);
  device->small_pool = {};
  device->large_pool = {};
  iree_hal_slab_provider_release(device->slab_provider);
  iree_async_notification_release(device->pool_notification);
  device->arguments.reset();
  device->allocator = {};
  device->channel_provider = {};
  iree_async_proactor_pool_release(device->proactor_pool);
  iree_arena_block_pool_deinitialize(&device->block_pool);
  device->~Device();
  iree_allocator_free(host_allocator, device);
}

iree_string_view_t Id(iree_hal_device_t* base) { return ToIree(Device::From(base)->identifier); }

iree_allocator_t HostAllocator(iree_hal_device_t* base) {
  return Device::From(base)->host_allocator;
}

iree_hal_allocator_t* DeviceAllocator(iree_hal_device_t* base) {
  return Device::From(base)->allocator.get();
}

void ReplaceDeviceAllocator(iree_hal_device_t* base, iree_hal_allocator_t* new_allocator) {
  Device::From(base)->allocator = HalPtr<iree_hal_allocator_t>::Retain(new_allocator);
}

void ReplaceChannelProvider(iree_hal_device_t* base, iree_hal_channel_provider_t* new_provider) {
  Device::From(base)->channel_provider = HalPtr<iree_hal_channel_provider_t>::Retain(new_provider);
}

iree_status_t Trim(iree_hal_device_t* base) {
  Device* device = Device::From(base);
  device->arguments->Trim();
  iree_arena_block_pool_trim(&device->block_pool);
  IREE_RETURN_IF_ERROR(iree_hal_pool_trim(device->small_pool.get()));
  IREE_RETURN_IF_ERROR(iree_hal_pool_trim(device->large_pool.get()));
  iree_hal_slab_provider_trim(device->slab_provider, IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_ALL);
  return iree_hal_allocator_trim(device->allocator.get());
}

iree_status_t QueryI64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                       int64_t* out_value) {
  Device* device = Device::From(base);
  *out_value = 0;
  if (iree_string_view_equal(category, IREE_SV("hal.device.id"))) {
    *out_value = iree_string_view_match_pattern(ToIree(device->identifier), key) ? 1 : 0;
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.executable.format"))) {
    *out_value = IsKnownFormat(key) ? 1 : 0;
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.device"))) {
    if (iree_string_view_equal(key, IREE_SV("concurrency"))) {
      *out_value = device->queue_count;
      return iree_ok_status();
    }
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "no value for '%.*s :: %.*s'",
                          static_cast<int>(category.size), category.data,
                          static_cast<int>(key.size), key.data);
}

iree_status_t QueryCapabilities(iree_hal_device_t* base,
                                iree_hal_device_capabilities_t* out_capabilities) {
  Device* device = Device::From(base);
  *out_capabilities = {};
  out_capabilities->flags =
      IREE_HAL_DEVICE_CAPABILITY_TIMELINE_SEMAPHORES | IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT |
      IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE | IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_DEVICE;
  if (device->metal->hasUnifiedMemory())
    out_capabilities->flags |=
        IREE_HAL_DEVICE_CAPABILITY_UNIFIED_MEMORY | IREE_HAL_DEVICE_CAPABILITY_HOST_ZERO_COPY_OK;
  out_capabilities->driver_device_handle = reinterpret_cast<uintptr_t>(device->metal.get());
  return iree_ok_status();
}

const iree_hal_device_topology_info_t* TopologyInfo(iree_hal_device_t* base) {
  return &Device::From(base)->topology_info;
}

iree_status_t RefineTopologyEdge(iree_hal_device_t*, iree_hal_device_t*,
                                 iree_hal_topology_edge_t*) {
  return iree_ok_status();
}

iree_status_t AssignTopologyInfo(iree_hal_device_t* base,
                                 const iree_hal_device_topology_info_t* topology_info) {
  Device* device = Device::From(base);
  UnregisterQueues(*device);
  device->topology_info = {};
  if (!topology_info)
    return iree_ok_status();
  iree_async_axis_t base_axis = topology_info->frontier.base_axis;
  for (uint32_t i = 0; topology_info->frontier.tracker && i < device->queue_count; ++i) {
    iree_async_axis_t axis = iree_async_axis_make_queue(
        iree_async_axis_session(base_axis), iree_async_axis_machine(base_axis),
        iree_async_axis_device_index(base_axis),
        static_cast<uint8_t>(iree_async_axis_queue_index(base_axis) + i));
    iree_status_t status = device->queues[i].Register(topology_info->frontier.tracker, axis);
    if (!iree_status_is_ok(status)) {
      UnregisterQueues(*device);
      return status;
    }
  }
  device->topology_info = *topology_info;
  return iree_ok_status();
}

iree_status_t CreateChannel(iree_hal_device_t*, iree_hal_queue_affinity_t,
                            iree_hal_channel_params_t, iree_hal_channel_t** out_channel) {
  *out_channel = nullptr;
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "collectives between Metal devices");
}

iree_status_t CreateDeviceCommandBuffer(iree_hal_device_t* base,
                                        iree_hal_command_buffer_mode_t mode,
                                        iree_hal_command_category_t command_categories,
                                        iree_hal_queue_affinity_t queue_affinity,
                                        iree_host_size_t binding_capacity,
                                        iree_hal_command_buffer_t** out_command_buffer) {
  Device* device = Device::From(base);
  auto list = std::make_unique<CommandList>(
      &device->block_pool, device->memory, device->builtins.get(),
      !iree_any_bit_set(mode, IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED));
  return CreateCommandBuffer(device->allocator.get(), mode, command_categories, queue_affinity,
                             binding_capacity, std::move(list), device->host_allocator,
                             out_command_buffer);
}

iree_status_t CreateDeviceEvent(iree_hal_device_t* base, iree_hal_queue_affinity_t,
                                iree_hal_event_flags_t, iree_hal_event_t** out_event) {
  Device* device = Device::From(base);
  AutoreleaseScope pool;
  return CreateEvent(device->metal.get(), device->host_allocator, out_event);
}

iree_status_t CreateDeviceExecutableCache(iree_hal_device_t* base, iree_string_view_t,
                                          iree_hal_executable_cache_t** out_executable_cache) {
  Device* device = Device::From(base);
  return CreateExecutableCache(device->pipelines, device->host_allocator, out_executable_cache);
}

iree_status_t ImportFile(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                         iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                         iree_hal_external_file_flags_t, iree_hal_file_t** out_file) {
  Device* device = Device::From(base);
  return iree_hal_file_from_handle(device->allocator.get(), queue_affinity, access, handle,
                                   device->proactor, device->host_allocator, out_file);
}

iree_status_t CreateDeviceSemaphore(iree_hal_device_t* base, iree_hal_queue_affinity_t,
                                    uint64_t initial_value, iree_hal_semaphore_flags_t,
                                    iree_hal_semaphore_t** out_semaphore) {
  Device* device = Device::From(base);
  return CreateSemaphore(device->metal.get(), device->proactor, initial_value,
                         device->host_allocator, out_semaphore);
}

iree_hal_semaphore_compatibility_t QuerySemaphoreCompatibility(iree_hal_device_t*,
                                                               iree_hal_semaphore_t*) {
  // Waits and signals of all semaphores are the host's, on behalf of the device.
  return IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL;
}

bool QueryEpoch(void* user_data, iree_async_axis_t axis, uint64_t epoch) {
  auto* device = static_cast<Device*>(user_data);
  return iree_async_frontier_tracker_query_epoch(device->topology_info.frontier.tracker, axis,
                                                 epoch);
}

iree_status_t QueryQueuePoolBackend(iree_hal_device_t* base,
                                    iree_hal_queue_affinity_t queue_affinity,
                                    iree_hal_queue_pool_backend_t* out_backend) {
  Device* device = Device::From(base);
  Queue* queue = nullptr;
  IREE_RETURN_IF_ERROR(device->SelectQueue(queue_affinity, &queue));
  out_backend->slab_provider = device->slab_provider;
  out_backend->notification = device->pool_notification;
  out_backend->epoch_query = {QueryEpoch, device};
  return iree_ok_status();
}

iree_status_t QueueFlush(iree_hal_device_t*, iree_hal_queue_affinity_t) {
  // Everything is handed on as soon as it may run.
  return iree_ok_status();
}

iree_status_t ProfilingBegin(iree_hal_device_t* base,
                             const iree_hal_device_profiling_options_t* options) {
  Device* device = Device::From(base);
  ProfilingSlot& slot = device->memory->profiling();
  std::lock_guard lock(device->profiling_mutex);
  if (slot.Current()) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "the device is being profiled already");
  }
  std::shared_ptr<Profiler> profiler;
  IREE_RETURN_IF_ERROR(Profiler::Begin(device->metal.get(), device->topology_info.topology_index,
                                       device->queue_count, *options, device->host_allocator,
                                       &profiler));
  slot.Set(std::move(profiler));
  return iree_ok_status();
}

iree_status_t ProfilingFlush(iree_hal_device_t* base) {
  std::shared_ptr<Profiler> profiler = Device::From(base)->memory->profiling().Current();
  return profiler ? profiler->Flush() : iree_ok_status();
}

iree_status_t ProfilingEnd(iree_hal_device_t* base) {
  Device* device = Device::From(base);
  std::lock_guard lock(device->profiling_mutex);
  // What is still under way belongs to no session.
  std::shared_ptr<Profiler> profiler = device->memory->profiling().Set(nullptr);
  return profiler ? profiler->End() : iree_ok_status();
}

iree_status_t ExternalCaptureBegin(iree_hal_device_t* base,
                                   const iree_hal_device_external_capture_options_t* options) {
  Device* device = Device::From(base);
  AutoreleaseScope pool;
  if (!iree_string_view_equal(options->provider, IREE_SV("metal"))) {
    return iree_make_status(IREE_STATUS_NOT_FOUND,
                            "Metal devices are captured by 'metal', not '%.*s'",
                            static_cast<int>(options->provider.size), options->provider.data);
  }
  MTL::CaptureManager* manager = MTL::CaptureManager::sharedCaptureManager();
  if (manager->isCapturing())
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "a capture is under way already");
  auto descriptor = TakeMetal(MTL::CaptureDescriptor::alloc()->init());
  descriptor->setCaptureObject(device->metal.get());
  if (iree_string_view_is_empty(options->file_path)) {
    descriptor->setDestination(MTL::CaptureDestinationDeveloperTools);
  } else {
    if (!iree_string_view_ends_with(options->file_path, IREE_SV(".gputrace"))) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "captures go to files called '*.gputrace'; '%.*s' is not",
                              static_cast<int>(options->file_path.size), options->file_path.data);
    }
    descriptor->setDestination(MTL::CaptureDestinationGPUTraceDocument);
    descriptor->setOutputURL(NS::URL::fileURLWithPath(ToNSString(options->file_path)));
  }
  NS::Error* error = nullptr;
  if (!manager->startCapture(descriptor.get(), &error))
    return StatusFromError(IREE_STATUS_UNAVAILABLE, "cannot capture", error);
  return iree_ok_status();
}

iree_status_t ExternalCaptureEnd(iree_hal_device_t*) {
  AutoreleaseScope pool;
  MTL::CaptureManager* manager = MTL::CaptureManager::sharedCaptureManager();
  if (!manager->isCapturing())
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "no capture is under way");
  manager->stopCapture();
  return iree_ok_status();
}

constexpr iree_hal_device_vtable_t kVtable = {
    .destroy = Destroy,
    .id = Id,
    .host_allocator = HostAllocator,
    .device_allocator = DeviceAllocator,
    .replace_device_allocator = ReplaceDeviceAllocator,
    .replace_channel_provider = ReplaceChannelProvider,
    .trim = Trim,
    .query_i64 = QueryI64,
    .query_capabilities = QueryCapabilities,
    .topology_info = TopologyInfo,
    .refine_topology_edge = RefineTopologyEdge,
    .assign_topology_info = AssignTopologyInfo,
    .create_channel = CreateChannel,
    .create_command_buffer = CreateDeviceCommandBuffer,
    .create_event = CreateDeviceEvent,
    .create_executable_cache = CreateDeviceExecutableCache,
    .import_file = ImportFile,
    .create_semaphore = CreateDeviceSemaphore,
    .query_semaphore_compatibility = QuerySemaphoreCompatibility,
    .query_queue_pool_backend = QueryQueuePoolBackend,
    .queue_alloca = QueueAlloca,
    .queue_dealloca = QueueDealloca,
    .queue_fill = QueueFill,
    .queue_update = QueueUpdate,
    .queue_copy = QueueCopy,
    .queue_read = QueueRead,
    .queue_write = QueueWrite,
    .queue_host_call = QueueHostCall,
    .queue_dispatch = QueueDispatch,
    .queue_execute = QueueExecute,
    .queue_flush = QueueFlush,
    .profiling_begin = ProfilingBegin,
    .profiling_flush = ProfilingFlush,
    .profiling_end = ProfilingEnd,
    .external_capture_begin = ExternalCaptureBegin,
    .external_capture_end = ExternalCaptureEnd,
};

iree_status_t InitializeDevice(Device* device, const iree_hal_device_create_params_t* create_params,
                               uint32_t queue_count) {
  AutoreleaseScope pool;
  IREE_RETURN_IF_ERROR(
      iree_async_proactor_pool_get(create_params->proactor_pool, 0, &device->proactor));
  device->memory = std::make_shared<DeviceMemory>(device->metal);
  device->pipelines = std::make_shared<PipelineCache>(device->metal);
  device->builtins = std::make_shared<BuiltinKernels>(device->pipelines);
  device->arguments = std::make_shared<ArgumentArena>(device->memory);
  device->workers = std::make_shared<WorkerPool>();
  device->events = std::make_shared<EventPool>(device->metal);
  iree_hal_allocator_t* allocator = nullptr;
  IREE_RETURN_IF_ERROR(
      CreateAllocator(device->base(), device->memory, device->host_allocator, &allocator));
  device->allocator = HalPtr<iree_hal_allocator_t>::Take(allocator);
  IREE_RETURN_IF_ERROR(CreateSlabProvider(device->base(), device->memory, device->host_allocator,
                                          &device->slab_provider));
  IREE_RETURN_IF_ERROR(iree_async_notification_create(
      device->proactor, IREE_ASYNC_NOTIFICATION_FLAG_NONE, &device->pool_notification));
  // What these pools get back is free: dealloca comes behind all work that used it. So there are no
  // frontiers to look at, and a device in no group has pools as well.
  iree_hal_tlsf_pool_options_t options = {};
  options.tlsf_options.range_length = kSlabSize;
  options.tlsf_options.alignment = kPoolAlignment;
  iree_hal_pool_t* pool_handle = nullptr;
  IREE_RETURN_IF_ERROR(iree_hal_tlsf_pool_create(
      options, device->slab_provider, device->pool_notification, iree_hal_pool_epoch_query_null(),
      device->host_allocator, &pool_handle));
  device->small_pool = HalPtr<iree_hal_pool_t>::Take(pool_handle);
  IREE_RETURN_IF_ERROR(iree_hal_passthrough_pool_create(
      {}, device->slab_provider, device->pool_notification, device->host_allocator, &pool_handle));
  device->large_pool = HalPtr<iree_hal_pool_t>::Take(pool_handle);
  for (uint32_t i = 0; i < queue_count; ++i) {
    Queue& queue = device->queues[i];
    queue.ordinal = i;
    queue.handle = TakeMetal(device->metal->newCommandQueue(kMaxCommandBuffersInFlight));
    queue.fence = TakeMetal(device->metal->newFence());
    if (!queue.handle || !queue.fence)
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "the device has no more queues");
    device->memory->AttachTo(queue.handle.get());
    ++device->queue_count;
  }
  return iree_ok_status();
}

} // namespace

iree_status_t Device::SelectQueue(iree_hal_queue_affinity_t affinity, Queue** out_queue) {
  iree_hal_queue_affinity_t ours = affinity ? affinity & AllQueues(*this) : AllQueues(*this);
  if (!ours) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "none of the queues 0x%" PRIx64 " is one of the device's %u", affinity,
                            queue_count);
  }
  *out_queue = &queues[static_cast<size_t>(std::countr_zero(ours))];
  return iree_ok_status();
}

iree_hal_pool_t* Device::DefaultPool(const iree_hal_buffer_params_t& params,
                                     iree_device_size_t size) const {
  iree_hal_memory_type_t type = 0;
  iree_hal_buffer_usage_t usage = 0;
  iree_hal_slab_provider_query_properties(slab_provider, &type, &usage);
  // What is exported is a whole MTLBuffer.
  if (!iree_all_bits_set(type, params.type) ||
      iree_any_bit_set(params.usage, IREE_HAL_BUFFER_USAGE_SHARING_EXPORT))
    return nullptr;
  return size <= kMaxSmallSize ? small_pool.get() : large_pool.get();
}

iree_status_t CreateDevice(iree_string_view_t identifier, MetalPtr<MTL::Device> metal,
                           uint32_t queue_count,
                           const iree_hal_device_create_params_t* create_params,
                           iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  static_assert(offsetof(Device, resource) == 0);
  *out_device = nullptr;
  if (!create_params || !create_params->proactor_pool) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "devices are created with a proactor pool");
  }
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(Device), &storage));
  auto* device = new (storage) Device{};
  iree_hal_resource_initialize(&kVtable, &device->resource);
  device->host_allocator = host_allocator;
  device->identifier = std::string(ToStd(identifier));
  device->metal = std::move(metal);
  device->proactor_pool = create_params->proactor_pool;
  iree_async_proactor_pool_retain(device->proactor_pool);
  iree_arena_block_pool_initialize(kArenaBlockSize, host_allocator, &device->block_pool);
  iree_status_t status = InitializeDevice(device, create_params, queue_count);
  if (!iree_status_is_ok(status)) {
    iree_hal_device_release(device->base());
    return status;
  }
  *out_device = device->base();
  return iree_ok_status();
}

} // namespace bessemer::metal_driver

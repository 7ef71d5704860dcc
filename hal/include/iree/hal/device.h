#ifndef IREE_HAL_DEVICE_H_
#define IREE_HAL_DEVICE_H_

#include "iree/base/api.h"
#include "iree/hal/allocator.h"
#include "iree/hal/buffer.h"
#include "iree/hal/channel.h"
#include "iree/hal/channel_provider.h"
#include "iree/hal/command_buffer.h"
#include "iree/hal/event.h"
#include "iree/hal/executable_cache.h"
#include "iree/hal/fence.h"
#include "iree/hal/file.h"
#include "iree/hal/pool.h"
#include "iree/hal/profile_options.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include "iree/hal/semaphore.h"
#include "iree/hal/topology.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uintptr_t iree_hal_device_id_t;

#define IREE_HAL_DEVICE_ID_DEFAULT 0ull

typedef uint64_t iree_hal_device_feature_t;
enum iree_hal_device_feature_bits_t {
  IREE_HAL_DEVICE_FEATURE_NONE = 0u,
  IREE_HAL_DEVICE_FEATURE_SUPPORTS_DEBUGGING = 1u << 0,
  IREE_HAL_DEVICE_FEATURE_SUPPORTS_COVERAGE = 1u << 1,
  IREE_HAL_DEVICE_FEATURE_SUPPORTS_PROFILING = 1u << 2,
};

/// A device that a driver could make.
typedef struct iree_hal_device_info_t {
  iree_hal_device_id_t device_id;
  iree_string_view_t path;
  iree_string_view_t name;
} iree_hal_device_info_t;

typedef struct iree_async_proactor_pool_t iree_async_proactor_pool_t;
typedef struct iree_async_frontier_tracker_t iree_async_frontier_tracker_t;
typedef struct iree_async_notification_t iree_async_notification_t;

/// Where pools get memory from.
typedef struct iree_hal_slab_provider_t iree_hal_slab_provider_t;

/// What every device is created with; the proactor pool is retained.
typedef struct iree_hal_device_create_params_t {
  IREE_API_UNSTABLE
  const void* next;
  iree_async_proactor_pool_t* proactor_pool;
} iree_hal_device_create_params_t;

static inline iree_hal_device_create_params_t iree_hal_device_create_params_default(void) {
  iree_hal_device_create_params_t params;
  memset(&params, 0, sizeof(params));
  return params;
}

typedef uint64_t iree_hal_device_external_capture_flags_t;
enum iree_hal_device_external_capture_flag_bits_t {
  IREE_HAL_DEVICE_EXTERNAL_CAPTURE_FLAG_NONE = 0u,
};

/// What to have captured by a tool outside the HAL.
typedef struct iree_hal_device_external_capture_options_t {
  iree_string_view_t provider;
  iree_string_view_t file_path;
  iree_string_view_t label;
  iree_hal_device_external_capture_flags_t flags;
} iree_hal_device_external_capture_options_t;

typedef uint64_t iree_hal_alloca_flags_t;

/// ALLOW_POOL_WAIT_FRONTIER: memory may be used that the queue must wait for; without it there is
/// RESOURCE_EXHAUSTED.
enum iree_hal_alloca_flag_bits_t {
  IREE_HAL_ALLOCA_FLAG_NONE = 0,
  IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME = 1ull << 0,
  IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER = 1ull << 1,
};
typedef uint64_t iree_hal_dealloca_flags_t;

/// PREFER_ORIGIN: deallocate on the device and queue that allocated.
enum iree_hal_dealloca_flag_bits_t {
  IREE_HAL_DEALLOCA_FLAG_NONE = 0,
  IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN = 1ull << 0,
};
typedef uint64_t iree_hal_read_flags_t;

enum iree_hal_read_flag_bits_t {
  IREE_HAL_READ_FLAG_NONE = 0,
};
typedef uint64_t iree_hal_write_flags_t;

enum iree_hal_write_flag_bits_t {
  IREE_HAL_WRITE_FLAG_NONE = 0,
};
typedef uint64_t iree_hal_host_call_flags_t;

/// NON_BLOCKING: signal before the call is made and do not look at what it returns.
enum iree_hal_host_call_flag_bits_e {
  IREE_HAL_HOST_CALL_FLAG_NONE = 0ull,
  IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING = 1ull << 0,
  IREE_HAL_HOST_CALL_FLAG_WAIT_ACTIVE = 1ull << 1,
  IREE_HAL_HOST_CALL_FLAG_RELAXED = 1ull << 2,
};

/// What a host call knows of the queue. The list is what to signal after returning DEFERRED; clone
/// it to keep it.
typedef struct iree_hal_host_call_context_t {
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_semaphore_list_t signal_semaphore_list;
} iree_hal_host_call_context_t;

/// OK signals the operation's semaphores, DEFERRED leaves that to the callee, other codes fail
/// them.
typedef iree_status_t(IREE_API_PTR* iree_hal_host_call_fn_t)(void* user_data,
                                                             const uint64_t args[4],
                                                             iree_hal_host_call_context_t* context);

typedef struct iree_hal_host_call_t {
  iree_hal_host_call_fn_t fn;
  void* user_data;
} iree_hal_host_call_t;

/// What pools for a queue are made with; owned by the device.
typedef struct iree_hal_queue_pool_backend_t {
  iree_hal_slab_provider_t* slab_provider;
  iree_async_notification_t* notification;
  iree_hal_pool_epoch_query_t epoch_query;
} iree_hal_queue_pool_backend_t;

static inline iree_hal_host_call_t iree_hal_make_host_call(iree_hal_host_call_fn_t fn,
                                                           void* user_data) {
  iree_hal_host_call_t call;
  call.fn = fn;
  call.user_data = user_data;
  return call;
}

typedef uint64_t iree_hal_execute_flags_t;

/// BORROW_BINDING_TABLE_LIFETIME: the caller keeps the bound buffers alive.
enum iree_hal_execute_flag_bits_t {
  IREE_HAL_EXECUTE_FLAG_NONE = 0,
  IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME = 1ull << 0,
};
typedef uint64_t iree_hal_device_capability_bits_t;

enum iree_hal_device_capability_bits_e {
  IREE_HAL_DEVICE_CAPABILITY_NONE = 0,
  IREE_HAL_DEVICE_CAPABILITY_TIMELINE_SEMAPHORES = 1ull << 0,
  IREE_HAL_DEVICE_CAPABILITY_UNIFIED_MEMORY = 1ull << 1,
  IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT = 1ull << 2,
  IREE_HAL_DEVICE_CAPABILITY_PEER_COHERENT = 1ull << 3,
  IREE_HAL_DEVICE_CAPABILITY_P2P_COPY = 1ull << 4,
  IREE_HAL_DEVICE_CAPABILITY_HOST_ZERO_COPY_OK = 1ull << 5,
  IREE_HAL_DEVICE_CAPABILITY_PEER_ADDRESSABLE = 1ull << 10,
  IREE_HAL_DEVICE_CAPABILITY_SHARED_VIRTUAL_ADDRESS = 1ull << 11,
  IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE = 1ull << 6,
  IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_DEVICE = 1ull << 7,
  IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_SYSTEM = 1ull << 8,
  IREE_HAL_DEVICE_CAPABILITY_ISOLATED = 1ull << 9,
};

/// What a device says of itself when its place among others is worked out.
typedef struct iree_hal_device_capabilities_t {
  iree_hal_device_capability_bits_t flags;
  iree_hal_topology_handle_type_t semaphore_export_types;
  iree_hal_topology_handle_type_t semaphore_import_types;
  iree_hal_topology_handle_type_t buffer_export_types;
  iree_hal_topology_handle_type_t buffer_import_types;
  uint8_t numa_node;
  uint8_t reserved[3];
  uint8_t physical_device_uuid[16];
  bool has_physical_device_uuid;
  uintptr_t driver_device_handle;
  uint32_t device_group_index;
  bool has_device_group;
} iree_hal_device_capabilities_t;

/// A device's place in its group. `topology` is the group's.
typedef struct iree_hal_device_topology_info_t {
  iree_hal_topology_edge_scheduling_word_t self_edge;
  uint32_t topology_index;
  const iree_hal_topology_t* topology;
  iree_hal_topology_device_bitmap_t can_wait_from;
  iree_hal_topology_device_bitmap_t can_signal_to;
  iree_hal_topology_device_bitmap_t can_import_from;
  iree_hal_topology_device_bitmap_t can_p2p_with;
  struct {
    iree_async_frontier_tracker_t* tracker;
    iree_async_axis_t base_axis;
  } frontier;
} iree_hal_device_topology_info_t;

/// The edge from one device to another of the same group; empty otherwise.
static inline iree_hal_topology_edge_t
iree_hal_device_topology_query_edge(const iree_hal_device_topology_info_t* src_info,
                                    const iree_hal_device_topology_info_t* dst_info) {
  if (!src_info || !dst_info || !src_info->topology || src_info->topology != dst_info->topology) {
    return iree_hal_topology_edge_empty();
  }
  return iree_hal_topology_query_edge(src_info->topology, src_info->topology_index,
                                      dst_info->topology_index);
}

typedef struct iree_hal_device_t iree_hal_device_t;

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_device_retain(iree_hal_device_t* device);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_device_release(iree_hal_device_t* device);

/// The device's identifier, as long as the device lives.
IREE_API_EXPORT iree_string_view_t iree_hal_device_id(iree_hal_device_t* device);

/// Where the device takes memory for its own objects from.
IREE_API_EXPORT iree_allocator_t iree_hal_device_host_allocator(iree_hal_device_t* device);

/// The device's allocator, not retained.
IREE_API_EXPORT iree_hal_allocator_t* iree_hal_device_allocator(iree_hal_device_t* device);

/// Uses another allocator from now on; the device must be idle.
IREE_API_EXPORT void iree_hal_device_replace_allocator(iree_hal_device_t* device,
                                                       iree_hal_allocator_t* new_allocator);

/// Uses another provider from now on; the device must be idle.
IREE_API_EXPORT void
iree_hal_device_replace_channel_provider(iree_hal_device_t* device,
                                         iree_hal_channel_provider_t* new_provider);

/// Drops what is kept for later use.
IREE_API_EXPORT
iree_status_t iree_hal_device_trim(iree_hal_device_t* device);

/// A property of the device that never changes, such as `hal.executable.format` :: name;
/// NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_hal_device_query_i64(iree_hal_device_t* device,
                                                        iree_string_view_t category,
                                                        iree_string_view_t key, int64_t* out_value);

/// What the device says of itself.
IREE_API_EXPORT iree_status_t iree_hal_device_query_capabilities(
    iree_hal_device_t* device, iree_hal_device_capabilities_t* out_capabilities);

/// The device's place in its group; zeros before it has one.
IREE_API_EXPORT const iree_hal_device_topology_info_t*
iree_hal_device_topology_info(iree_hal_device_t* device);

/// Has the driver correct an edge between two of its devices.
IREE_API_EXPORT iree_status_t iree_hal_device_refine_topology_edge(iree_hal_device_t* src_device,
                                                                   iree_hal_device_t* dst_device,
                                                                   iree_hal_topology_edge_t* edge);

/// Tells the device its place; null takes it back.
IREE_API_EXPORT iree_status_t iree_hal_device_assign_topology_info(
    iree_hal_device_t* device, const iree_hal_device_topology_info_t* topology_info);

/// How the device can use a semaphore.
IREE_API_EXPORT iree_hal_semaphore_compatibility_t iree_hal_device_query_semaphore_compatibility(
    iree_hal_device_t* device, iree_hal_semaphore_t* semaphore);

/// What pools for a queue are made with. FAILED_PRECONDITION before the device is in a group,
/// INVALID_ARGUMENT for queues it does not have.
IREE_API_EXPORT iree_status_t iree_hal_device_query_queue_pool_backend(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    iree_hal_queue_pool_backend_t* out_backend);

/// Allocates on a queue: returns a buffer at once whose memory is there from the signal on. `pool`
/// null takes the device's own.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_alloca(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_pool_t* pool,
    iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
    iree_hal_alloca_flags_t flags, iree_hal_buffer_t** IREE_RESTRICT out_buffer);

/// Deallocates on a queue. Buffers that no queue allocated are left alone; the signal still comes.
IREE_API_EXPORT iree_status_t
iree_hal_device_queue_dealloca(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                               const iree_hal_semaphore_list_t wait_semaphore_list,
                               const iree_hal_semaphore_list_t signal_semaphore_list,
                               iree_hal_buffer_t* buffer, iree_hal_dealloca_flags_t flags);

/// Fills on a queue; the pattern is captured now.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_fill(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* target_buffer,
    iree_device_size_t target_offset, iree_device_size_t length, const void* pattern,
    iree_host_size_t pattern_length, iree_hal_fill_flags_t flags);

/// Writes host memory, captured now and of any size, on a queue.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_update(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, const void* source_buffer,
    iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
    iree_device_size_t target_offset, iree_device_size_t length, iree_hal_update_flags_t flags);

/// Copies on a queue.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_copy(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
    iree_device_size_t source_offset, iree_hal_buffer_t* target_buffer,
    iree_device_size_t target_offset, iree_device_size_t length, iree_hal_copy_flags_t flags);

/// Reads from a file on a queue.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_read(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_file_t* source_file,
    uint64_t source_offset, iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
    iree_device_size_t length, iree_hal_read_flags_t flags);

/// Writes to a file on a queue.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_write(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
    iree_device_size_t source_offset, iree_hal_file_t* target_file, uint64_t target_offset,
    iree_device_size_t length, iree_hal_write_flags_t flags);

/// Calls a host function on a queue's timeline; see iree_hal_host_call_fn_t.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_host_call(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_host_call_t call,
    const uint64_t args[4], iree_hal_host_call_flags_t flags);

/// Dispatches on a queue. Bindings are direct; they and the executable are retained until it is
/// done, unless BORROW_RESOURCE_LIFETIMES is set.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_dispatch(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_executable_t* executable,
    iree_hal_executable_function_t function, const iree_hal_dispatch_config_t config,
    iree_const_byte_span_t constants, const iree_hal_buffer_ref_list_t bindings,
    iree_hal_dispatch_flags_t flags);

/// Executes a command buffer once all waits are reached, then signals. A failed wait fails the
/// signals with its code and nothing runs. Null is a barrier.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_execute(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_hal_command_buffer_t* command_buffer, iree_hal_buffer_binding_table_t binding_table,
    iree_hal_execute_flags_t flags);

/// Signals once all waits are reached.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_barrier(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list,
    const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_execute_flags_t flags);

/// Has the queue start what it may be holding back.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_flush(iree_hal_device_t* device,
                                                          iree_hal_queue_affinity_t queue_affinity);

/// Waits for any or all timepoints, of whatever drivers; a failure ends the wait with its code.
IREE_API_EXPORT iree_status_t
iree_hal_device_wait_semaphores(iree_hal_device_t* device, iree_async_wait_mode_t wait_mode,
                                const iree_hal_semaphore_list_t semaphore_list,
                                iree_timeout_t timeout, iree_async_wait_flags_t flags);

/// Starts a profiling session; one at a time. Options that make no sense are INVALID_ARGUMENT,
/// data that is not available UNIMPLEMENTED.
IREE_API_EXPORT iree_status_t iree_hal_device_profiling_begin(
    iree_hal_device_t* device, const iree_hal_device_profiling_options_t* options);

/// Writes what was recorded so far to the sink.
IREE_API_EXPORT iree_status_t iree_hal_device_profiling_flush(iree_hal_device_t* device);

/// Ends the session.
IREE_API_EXPORT iree_status_t iree_hal_device_profiling_end(iree_hal_device_t* device);

/// Has a tool outside the HAL, named by its provider, start capturing.
IREE_API_EXPORT iree_status_t iree_hal_device_external_capture_begin(
    iree_hal_device_t* device, const iree_hal_device_external_capture_options_t* options);

/// Ends the capture.
IREE_API_EXPORT iree_status_t iree_hal_device_external_capture_end(iree_hal_device_t* device);

/// Devices, retained.
typedef struct iree_hal_device_list_t {
  iree_allocator_t host_allocator;
  iree_host_size_t capacity;
  iree_host_size_t count;
  iree_hal_device_t* devices[];
} iree_hal_device_list_t;

/// Makes an empty list with room for `capacity` devices.
IREE_API_EXPORT iree_status_t iree_hal_device_list_allocate(iree_host_size_t capacity,
                                                            iree_allocator_t host_allocator,
                                                            iree_hal_device_list_t** out_list);

/// Releases the devices and frees the list.
IREE_API_EXPORT void iree_hal_device_list_free(iree_hal_device_list_t* list);

/// Retains a device and appends it; RESOURCE_EXHAUSTED when full.
IREE_API_EXPORT iree_status_t iree_hal_device_list_push_back(iree_hal_device_list_t* list,
                                                             iree_hal_device_t* device);

/// A device of the list, not retained; null beyond its end.
IREE_API_EXPORT iree_hal_device_t* iree_hal_device_list_at(const iree_hal_device_list_t* list,
                                                           iree_host_size_t i);

/// The driver's side; the entry points say what each slot means.
typedef struct iree_hal_device_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_device_t* device);
  iree_string_view_t(IREE_API_PTR* id)(iree_hal_device_t* device);
  iree_allocator_t(IREE_API_PTR* host_allocator)(iree_hal_device_t* device);
  iree_hal_allocator_t*(IREE_API_PTR* device_allocator)(iree_hal_device_t* device);
  void(IREE_API_PTR* replace_device_allocator)(iree_hal_device_t* device,
                                               iree_hal_allocator_t* new_allocator);
  void(IREE_API_PTR* replace_channel_provider)(iree_hal_device_t* device,
                                               iree_hal_channel_provider_t* new_provider);
  iree_status_t(IREE_API_PTR* trim)(iree_hal_device_t* device);
  iree_status_t(IREE_API_PTR* query_i64)(iree_hal_device_t* device, iree_string_view_t category,
                                         iree_string_view_t key, int64_t* out_value);
  iree_status_t(IREE_API_PTR* query_capabilities)(iree_hal_device_t* device,
                                                  iree_hal_device_capabilities_t* out_capabilities);
  const iree_hal_device_topology_info_t*(IREE_API_PTR* topology_info)(iree_hal_device_t* device);
  iree_status_t(IREE_API_PTR* refine_topology_edge)(iree_hal_device_t* src_device,
                                                    iree_hal_device_t* dst_device,
                                                    iree_hal_topology_edge_t* edge);
  iree_status_t(IREE_API_PTR* assign_topology_info)(
      iree_hal_device_t* device, const iree_hal_device_topology_info_t* topology_info);
  iree_status_t(IREE_API_PTR* create_channel)(iree_hal_device_t* device,
                                              iree_hal_queue_affinity_t queue_affinity,
                                              iree_hal_channel_params_t params,
                                              iree_hal_channel_t** out_channel);
  iree_status_t(IREE_API_PTR* create_command_buffer)(
      iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode,
      iree_hal_command_category_t command_categories, iree_hal_queue_affinity_t queue_affinity,
      iree_host_size_t binding_capacity, iree_hal_command_buffer_t** out_command_buffer);
  iree_status_t(IREE_API_PTR* create_event)(iree_hal_device_t* device,
                                            iree_hal_queue_affinity_t queue_affinity,
                                            iree_hal_event_flags_t flags,
                                            iree_hal_event_t** out_event);
  iree_status_t(IREE_API_PTR* create_executable_cache)(
      iree_hal_device_t* device, iree_string_view_t identifier,
      iree_hal_executable_cache_t** out_executable_cache);
  iree_status_t(IREE_API_PTR* import_file)(iree_hal_device_t* device,
                                           iree_hal_queue_affinity_t queue_affinity,
                                           iree_hal_memory_access_t access,
                                           iree_io_file_handle_t* handle,
                                           iree_hal_external_file_flags_t flags,
                                           iree_hal_file_t** out_file);
  iree_status_t(IREE_API_PTR* create_semaphore)(iree_hal_device_t* device,
                                                iree_hal_queue_affinity_t queue_affinity,
                                                uint64_t initial_value,
                                                iree_hal_semaphore_flags_t flags,
                                                iree_hal_semaphore_t** out_semaphore);
  iree_hal_semaphore_compatibility_t(IREE_API_PTR* query_semaphore_compatibility)(
      iree_hal_device_t* device, iree_hal_semaphore_t* semaphore);
  iree_status_t(IREE_API_PTR* query_queue_pool_backend)(iree_hal_device_t* device,
                                                        iree_hal_queue_affinity_t queue_affinity,
                                                        iree_hal_queue_pool_backend_t* out_backend);
  iree_status_t(IREE_API_PTR* queue_alloca)(iree_hal_device_t* device,
                                            iree_hal_queue_affinity_t queue_affinity,
                                            const iree_hal_semaphore_list_t wait_semaphore_list,
                                            const iree_hal_semaphore_list_t signal_semaphore_list,
                                            iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
                                            iree_device_size_t allocation_size,
                                            iree_hal_alloca_flags_t flags,
                                            iree_hal_buffer_t** IREE_RESTRICT out_buffer);
  iree_status_t(IREE_API_PTR* queue_dealloca)(iree_hal_device_t* device,
                                              iree_hal_queue_affinity_t queue_affinity,
                                              const iree_hal_semaphore_list_t wait_semaphore_list,
                                              const iree_hal_semaphore_list_t signal_semaphore_list,
                                              iree_hal_buffer_t* buffer,
                                              iree_hal_dealloca_flags_t flags);
  iree_status_t(IREE_API_PTR* queue_fill)(
      iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
      const iree_hal_semaphore_list_t wait_semaphore_list,
      const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* target_buffer,
      iree_device_size_t target_offset, iree_device_size_t length, const void* pattern,
      iree_host_size_t pattern_length, iree_hal_fill_flags_t flags);
  iree_status_t(IREE_API_PTR* queue_update)(
      iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
      const iree_hal_semaphore_list_t wait_semaphore_list,
      const iree_hal_semaphore_list_t signal_semaphore_list, const void* source_buffer,
      iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
      iree_device_size_t target_offset, iree_device_size_t length, iree_hal_update_flags_t flags);
  iree_status_t(IREE_API_PTR* queue_copy)(
      iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
      const iree_hal_semaphore_list_t wait_semaphore_list,
      const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_buffer_t* source_buffer,
      iree_device_size_t source_offset, iree_hal_buffer_t* target_buffer,
      iree_device_size_t target_offset, iree_device_size_t length, iree_hal_copy_flags_t flags);
  iree_status_t(IREE_API_PTR* queue_read)(iree_hal_device_t* device,
                                          iree_hal_queue_affinity_t queue_affinity,
                                          const iree_hal_semaphore_list_t wait_semaphore_list,
                                          const iree_hal_semaphore_list_t signal_semaphore_list,
                                          iree_hal_file_t* source_file, uint64_t source_offset,
                                          iree_hal_buffer_t* target_buffer,
                                          iree_device_size_t target_offset,
                                          iree_device_size_t length, iree_hal_read_flags_t flags);
  iree_status_t(IREE_API_PTR* queue_write)(iree_hal_device_t* device,
                                           iree_hal_queue_affinity_t queue_affinity,
                                           const iree_hal_semaphore_list_t wait_semaphore_list,
                                           const iree_hal_semaphore_list_t signal_semaphore_list,
                                           iree_hal_buffer_t* source_buffer,
                                           iree_device_size_t source_offset,
                                           iree_hal_file_t* target_file, uint64_t target_offset,
                                           iree_device_size_t length, iree_hal_write_flags_t flags);
  iree_status_t(IREE_API_PTR* queue_host_call)(
      iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
      const iree_hal_semaphore_list_t wait_semaphore_list,
      const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_host_call_t call,
      const uint64_t args[4], iree_hal_host_call_flags_t flags);
  iree_status_t(IREE_API_PTR* queue_dispatch)(
      iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
      const iree_hal_semaphore_list_t wait_semaphore_list,
      const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_executable_t* executable,
      iree_hal_executable_function_t function, const iree_hal_dispatch_config_t config,
      iree_const_byte_span_t constants, const iree_hal_buffer_ref_list_t bindings,
      iree_hal_dispatch_flags_t flags);
  iree_status_t(IREE_API_PTR* queue_execute)(iree_hal_device_t* device,
                                             iree_hal_queue_affinity_t queue_affinity,
                                             const iree_hal_semaphore_list_t wait_semaphore_list,
                                             const iree_hal_semaphore_list_t signal_semaphore_list,
                                             iree_hal_command_buffer_t* command_buffer,
                                             iree_hal_buffer_binding_table_t binding_table,
                                             iree_hal_execute_flags_t flags);
  iree_status_t(IREE_API_PTR* queue_flush)(iree_hal_device_t* device,
                                           iree_hal_queue_affinity_t queue_affinity);
  iree_status_t(IREE_API_PTR* profiling_begin)(iree_hal_device_t* device,
                                               const iree_hal_device_profiling_options_t* options);
  iree_status_t(IREE_API_PTR* profiling_flush)(iree_hal_device_t* device);
  iree_status_t(IREE_API_PTR* profiling_end)(iree_hal_device_t* device);
  iree_status_t(IREE_API_PTR* external_capture_begin)(
      iree_hal_device_t* device, const iree_hal_device_external_capture_options_t* options);
  iree_status_t(IREE_API_PTR* external_capture_end)(iree_hal_device_t* device);
} iree_hal_device_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_device_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_device_destroy(iree_hal_device_t* device);

#ifdef __cplusplus
}
#endif
#endif

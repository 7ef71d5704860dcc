// What queues do: the queue_... entries of the device's vtable.
#pragma once

#include "drivers/metal/device.h"

namespace bessemer::metal_driver {

iree_status_t QueueAlloca(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                          const iree_hal_semaphore_list_t waits,
                          const iree_hal_semaphore_list_t signals, iree_hal_pool_t* pool,
                          iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
                          iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer);
iree_status_t QueueDealloca(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                            const iree_hal_semaphore_list_t waits,
                            const iree_hal_semaphore_list_t signals, iree_hal_buffer_t* buffer,
                            iree_hal_dealloca_flags_t flags);
iree_status_t QueueFill(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                        const iree_hal_semaphore_list_t waits,
                        const iree_hal_semaphore_list_t signals, iree_hal_buffer_t* target_buffer,
                        iree_device_size_t target_offset, iree_device_size_t length,
                        const void* pattern, iree_host_size_t pattern_length,
                        iree_hal_fill_flags_t flags);
iree_status_t QueueUpdate(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                          const iree_hal_semaphore_list_t waits,
                          const iree_hal_semaphore_list_t signals, const void* source_buffer,
                          iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
                          iree_device_size_t target_offset, iree_device_size_t length,
                          iree_hal_update_flags_t flags);
iree_status_t QueueCopy(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                        const iree_hal_semaphore_list_t waits,
                        const iree_hal_semaphore_list_t signals, iree_hal_buffer_t* source_buffer,
                        iree_device_size_t source_offset, iree_hal_buffer_t* target_buffer,
                        iree_device_size_t target_offset, iree_device_size_t length,
                        iree_hal_copy_flags_t flags);
iree_status_t QueueRead(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                        const iree_hal_semaphore_list_t waits,
                        const iree_hal_semaphore_list_t signals, iree_hal_file_t* source_file,
                        uint64_t source_offset, iree_hal_buffer_t* target_buffer,
                        iree_device_size_t target_offset, iree_device_size_t length,
                        iree_hal_read_flags_t flags);
iree_status_t QueueWrite(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                         const iree_hal_semaphore_list_t waits,
                         const iree_hal_semaphore_list_t signals, iree_hal_buffer_t* source_buffer,
                         iree_device_size_t source_offset, iree_hal_file_t* target_file,
                         uint64_t target_offset, iree_device_size_t length,
                         iree_hal_write_flags_t flags);
iree_status_t QueueHostCall(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                            const iree_hal_semaphore_list_t waits,
                            const iree_hal_semaphore_list_t signals, iree_hal_host_call_t call,
                            const uint64_t args[4], iree_hal_host_call_flags_t flags);
iree_status_t
QueueDispatch(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
              const iree_hal_semaphore_list_t waits, const iree_hal_semaphore_list_t signals,
              iree_hal_executable_t* executable, iree_hal_executable_function_t function,
              const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
              const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags);
iree_status_t QueueExecute(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                           const iree_hal_semaphore_list_t waits,
                           const iree_hal_semaphore_list_t signals,
                           iree_hal_command_buffer_t* command_buffer,
                           iree_hal_buffer_binding_table_t binding_table,
                           iree_hal_execute_flags_t flags);

} // namespace bessemer::metal_driver

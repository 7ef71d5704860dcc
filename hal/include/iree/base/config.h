// Switches that an embedder may set with -D. All have a default, so that the headers need no
// generated configuration.

#ifndef IREE_BASE_CONFIG_H_
#define IREE_BASE_CONFIG_H_

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "iree/base/target_platform.h"

#if defined(IREE_USER_CONFIG_H)
#include IREE_USER_CONFIG_H
#endif

// Sizes on the host, and of memory that a device sees. printf: "%" PRIhsz and "%" PRIdsz.
#if !defined(IREE_HOST_SIZE_T)
#define IREE_HOST_SIZE_T size_t
#define PRIhsz "zu"
#endif
typedef IREE_HOST_SIZE_T iree_host_size_t;
#define IREE_HOST_SIZE_MAX                                                                         \
  ((iree_host_size_t)(sizeof(iree_host_size_t) == 4 ? UINT32_MAX : UINT64_MAX))

#if !defined(IREE_DEVICE_SIZE_T)
#define IREE_DEVICE_SIZE_T size_t
#define PRIdsz "zu"
#endif
typedef IREE_DEVICE_SIZE_T iree_device_size_t;
#define IREE_DEVICE_SIZE_MAX                                                                       \
  ((iree_device_size_t)(sizeof(iree_device_size_t) == 4 ? UINT32_MAX : UINT64_MAX))

// What a status carries: 0 the code alone, 1 also the source location, 2 also messages and
// annotations. 3 is accepted and means 2 here.
#if !defined(IREE_STATUS_MODE)
#define IREE_STATUS_MODE 2
#endif

// 1 removes all synchronization: only for programs of one thread.
#if !defined(IREE_SYNCHRONIZATION_DISABLE_UNSAFE)
#define IREE_SYNCHRONIZATION_DISABLE_UNSAFE 0
#endif

#if !defined(IREE_THREADING_ENABLE)
#define IREE_THREADING_ENABLE 1
#endif

#if !defined(IREE_FILE_IO_ENABLE)
#define IREE_FILE_IO_ENABLE 1
#endif

// Longest path in bytes, without its NUL.
#if !defined(IREE_MAX_PATH)
#define IREE_MAX_PATH 2047
#endif

// Counters of allocations and the like.
#if !defined(IREE_STATISTICS_ENABLE)
#define IREE_STATISTICS_ENABLE 1
#endif

#if !defined(IREE_TRACING_MODE)
#define IREE_TRACING_MODE 0
#endif

#if !defined(IREE_HAL_VERBOSE_TRACING_ENABLE)
#define IREE_HAL_VERBOSE_TRACING_ENABLE 0
#endif

// Alignment in bytes of buffers allocated from the heap.
#if !defined(IREE_HAL_HEAP_BUFFER_ALIGNMENT)
#define IREE_HAL_HEAP_BUFFER_ALIGNMENT 64
#endif

// Checks of recorded commands, for every command buffer that does not opt out.
#if !defined(IREE_HAL_COMMAND_BUFFER_VALIDATION_ENABLE)
#define IREE_HAL_COMMAND_BUFFER_VALIDATION_ENABLE 1
#endif

// String forms of buffer views in the VM's hal module.
#if !defined(IREE_HAL_MODULE_STRING_UTIL_ENABLE)
#define IREE_HAL_MODULE_STRING_UTIL_ENABLE 1
#endif

#if !defined(IREE_VM_BACKTRACE_ENABLE)
#define IREE_VM_BACKTRACE_ENABLE 1
#endif
#if !defined(IREE_VM_EXECUTION_TRACING_ENABLE)
#define IREE_VM_EXECUTION_TRACING_ENABLE 0
#endif
#if !defined(IREE_VM_EXT_F32_ENABLE)
#define IREE_VM_EXT_F32_ENABLE 1
#endif
#if !defined(IREE_VM_EXT_F64_ENABLE)
#define IREE_VM_EXT_F64_ENABLE 1
#endif

// The function behind iree_allocator_system(). Define it to another iree_allocator_ctl_fn_t to
// replace the C library's heap.
#if !defined(IREE_ALLOCATOR_SYSTEM_CTL)
#define IREE_ALLOCATOR_SYSTEM_CTL iree_allocator_libc_ctl
#endif

#endif // IREE_BASE_CONFIG_H_

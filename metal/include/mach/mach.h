/* The few Mach types and calls that Metal's headers and clients use, on POSIX. */
#pragma once

#include <stdint.h>

typedef int kern_return_t;
typedef unsigned mach_port_t;
typedef mach_port_t task_id_token_t;
typedef mach_port_t vm_map_t;
typedef mach_port_t mach_task_t;
typedef uintptr_t vm_address_t;
typedef uintptr_t vm_size_t;
typedef uintptr_t vm_offset_t;
typedef uint64_t mach_vm_address_t;
typedef uint64_t mach_vm_size_t;

#define KERN_SUCCESS 0
#define KERN_INVALID_ADDRESS 1
#define KERN_NO_SPACE 3
#define KERN_INVALID_ARGUMENT 4
#define KERN_FAILURE 5
#define VM_FLAGS_FIXED 0
#define VM_FLAGS_ANYWHERE 1
#define MACH_PORT_NULL 0

#ifdef __cplusplus
extern "C" {
#endif

mach_port_t mach_task_self(void);
/* Zeroed pages anywhere in the address space. */
kern_return_t vm_allocate(vm_map_t task, vm_address_t *address, vm_size_t size, int flags);
kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size);
const char *mach_error_string(kern_return_t error);

#ifdef __cplusplus
}
#endif

#include <mach/vm_page_size.h>

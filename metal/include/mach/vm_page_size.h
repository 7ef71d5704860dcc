/* The size of a page, as Mach names it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
extern uintptr_t vm_page_size;
extern uintptr_t vm_page_mask;
extern int vm_page_shift;
extern uintptr_t vm_kernel_page_size;
#ifdef __cplusplus
}
#endif

/* sysctlbyname of macOS, for the names that Metal clients ask: hw.memsize, hw.ncpu,
 * hw.physicalcpu, hw.logicalcpu, hw.pagesize, hw.model, machdep.cpu.brand_string,
 * kern.osproductversion, iogpu.rsrc_limit, iogpu.wired_limit_mb. Others: -1 and ENOENT. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
int sysctlbyname(const char *name, void *old_value, size_t *old_size, void *new_value,
                 size_t new_size);
#ifdef __cplusplus
}
#endif

#ifndef IREE_BASE_INTERNAL_CPU_H_
#define IREE_BASE_INTERNAL_CPU_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Whether this CPU has a feature, by a name such as `x86_64.avx2`: 1 or 0. NOT_FOUND for names
/// that are not known.
IREE_API_EXPORT iree_status_t iree_cpu_lookup_data_by_key(iree_string_view_t key,
                                                          int64_t* IREE_RESTRICT out_value);

#ifdef __cplusplus
}
#endif

#endif // IREE_BASE_INTERNAL_CPU_H_

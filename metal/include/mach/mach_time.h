/* The clock that never goes back; here it counts nanoseconds. */
#pragma once

#include <stdint.h>

typedef struct mach_timebase_info {
  uint32_t numer;
  uint32_t denom;
} mach_timebase_info_data_t, *mach_timebase_info_t;

#ifdef __cplusplus
extern "C" {
#endif
uint64_t mach_absolute_time(void);
uint64_t mach_continuous_time(void);
int mach_timebase_info(mach_timebase_info_t info);
#ifdef __cplusplus
}
#endif

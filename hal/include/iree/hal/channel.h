#ifndef IREE_HAL_CHANNEL_H_
#define IREE_HAL_CHANNEL_H_

#include "iree/base/api.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;

enum iree_hal_channel_flag_bits_t {
  IREE_HAL_CHANNEL_FLAG_NONE = 0u,
};
typedef uint64_t iree_hal_channel_flags_t;

#define IREE_HAL_CHANNEL_RANK_DEFAULT ((int32_t)-1)
#define IREE_HAL_CHANNEL_COUNT_DEFAULT ((int32_t)-1)
#define IREE_HAL_CHANNEL_NO_COLOR ((int32_t)-1)

typedef struct {
  iree_hal_channel_flags_t flags;
  iree_const_byte_span_t id;
  iree_string_view_t group;
  int32_t rank;
  int32_t count;
} iree_hal_channel_params_t;

typedef struct iree_hal_channel_t iree_hal_channel_t;

/// Joins a communicator for collective commands.
IREE_API_EXPORT iree_status_t iree_hal_channel_create(iree_hal_device_t* device,
                                                      iree_hal_queue_affinity_t queue_affinity,
                                                      iree_hal_channel_params_t params,
                                                      iree_hal_channel_t** out_channel);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_channel_retain(iree_hal_channel_t* channel);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_channel_release(iree_hal_channel_t* channel);

/// Divides a communicator: members with the same color meet again, ordered by key.
IREE_API_EXPORT iree_status_t iree_hal_channel_split(iree_hal_channel_t* base_channel,
                                                     int32_t color, int32_t key,
                                                     iree_hal_channel_flags_t flags,
                                                     iree_hal_channel_t** out_split_channel);

/// The caller's place among the members and their number; either may be null.
IREE_API_EXPORT void iree_hal_channel_query_rank_and_count(const iree_hal_channel_t* channel,
                                                           int32_t* out_rank, int32_t* out_count);

/// The caller's place among the members.
IREE_API_EXPORT int32_t iree_hal_channel_rank(const iree_hal_channel_t* channel);

/// Number of members.
IREE_API_EXPORT int32_t iree_hal_channel_count(const iree_hal_channel_t* channel);

typedef struct iree_hal_channel_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_channel_t* channel);
  iree_status_t(IREE_API_PTR* split)(iree_hal_channel_t* base_channel, int32_t color, int32_t key,
                                     iree_hal_channel_flags_t flags,
                                     iree_hal_channel_t** out_split_channel);
  void(IREE_API_PTR* query_rank_and_count)(const iree_hal_channel_t* channel, int32_t* out_rank,
                                           int32_t* out_count);
} iree_hal_channel_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_channel_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_channel_destroy(iree_hal_channel_t* channel);

#ifdef __cplusplus
}
#endif
#endif

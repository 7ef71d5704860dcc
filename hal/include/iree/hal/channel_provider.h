#ifndef IREE_HAL_CHANNEL_PROVIDER_H_
#define IREE_HAL_CHANNEL_PROVIDER_H_

#include "iree/base/api.h"
#include "iree/hal/channel.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;

/// Where devices learn of the other members of a communicator.
typedef struct iree_hal_channel_provider_t iree_hal_channel_provider_t;

/// Adds a reference; null does nothing.
IREE_API_EXPORT void
iree_hal_channel_provider_retain(iree_hal_channel_provider_t* channel_provider);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void
iree_hal_channel_provider_release(iree_hal_channel_provider_t* channel_provider);

/// Place and number in the default communicator.
IREE_API_EXPORT iree_status_t iree_hal_channel_provider_query_default_rank_and_count(
    iree_hal_channel_provider_t* channel_provider, int32_t* out_rank, int32_t* out_count);

/// Agrees on an id: member 0 gives it, the others receive it.
IREE_API_EXPORT iree_status_t iree_hal_channel_provider_exchange_default_id(
    iree_hal_channel_provider_t* channel_provider, iree_byte_span_t id);

typedef struct iree_hal_channel_provider_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_channel_provider_t* channel_provider);
  iree_status_t(IREE_API_PTR* query_default_rank_and_count)(
      iree_hal_channel_provider_t* channel_provider, int32_t* out_rank, int32_t* out_count);
  iree_status_t(IREE_API_PTR* exchange_default_id)(iree_hal_channel_provider_t* channel_provider,
                                                   iree_byte_span_t id);
} iree_hal_channel_provider_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_channel_provider_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void
iree_hal_channel_provider_destroy(iree_hal_channel_provider_t* channel_provider);

#ifdef __cplusplus
}
#endif
#endif

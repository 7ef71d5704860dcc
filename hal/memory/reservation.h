#pragma once

// What the pools share: deciding whether freed memory may be used again by a requester, and buffers
// that give their reservation back.

#include "iree/async/frontier.h"
#include "iree/hal/memory/slab_provider.h"
#include "iree/hal/pool.h"

namespace bessemer::hal {

/// Whether everything in `death`, after which memory is free, has happened from where a requester
/// with `requester` stands. `epochs` tells of axes that the requester has not heard of.
bool isReusable(const iree_async_frontier_t* death, const iree_async_frontier_t* requester,
                iree_hal_pool_epoch_query_t epochs);

/// INVALID_ARGUMENT when `size` is zero or `alignment` no power of two.
iree_status_t checkRequest(iree_device_size_t size, iree_device_size_t alignment);

/// Wraps `reservation` of `slab` as a buffer; with TRANSFER_RESERVATION_OWNERSHIP the buffer
/// releases the reservation, without a frontier, when it is destroyed.
iree_status_t wrapReservation(iree_hal_pool_t* pool, iree_hal_slab_provider_t* provider,
                              const iree_hal_slab_t& slab,
                              const iree_hal_pool_reservation_t& reservation,
                              iree_hal_buffer_params_t params,
                              iree_hal_pool_materialize_flags_t flags,
                              iree_allocator_t hostAllocator, iree_hal_buffer_t** out_buffer);

} // namespace bessemer::hal

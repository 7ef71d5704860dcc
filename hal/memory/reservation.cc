#include "hal/memory/reservation.h"

#include <bit>
#include <new>
#include <span>

namespace bessemer::hal {
namespace {

/// A reservation that a buffer owns.
struct OwnedReservation {
  iree_hal_pool_t* pool;
  iree_allocator_t hostAllocator;
  iree_hal_pool_reservation_t reservation;
};

void releaseOwned(void* user_data, iree_hal_buffer_t*) {
  auto* owned = static_cast<OwnedReservation*>(user_data);
  iree_allocator_t hostAllocator = owned->hostAllocator;
  iree_hal_pool_release_reservation(owned->pool, &owned->reservation, nullptr);
  iree_allocator_free(hostAllocator, owned);
}

} // namespace

bool isReusable(const iree_async_frontier_t* death, const iree_async_frontier_t* requester,
                iree_hal_pool_epoch_query_t epochs) {
  if (!death || death->entry_count == 0)
    return true;
  for (const auto& entry : std::span(death->entries, death->entry_count)) {
    bool passed = false;
    if (requester) {
      for (const auto& known : std::span(requester->entries, requester->entry_count)) {
        passed = passed || (known.axis == entry.axis && known.epoch >= entry.epoch);
      }
    }
    if (!passed && epochs.fn)
      passed = epochs.fn(epochs.user_data, entry.axis, entry.epoch);
    if (!passed)
      return false;
  }
  return true;
}

iree_status_t checkRequest(iree_device_size_t size, iree_device_size_t alignment) {
  if (size == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a reservation has at least one byte");
  }
  if (alignment != 0 && !std::has_single_bit(alignment)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "alignment %" PRIdsz " is not a power of two", alignment);
  }
  return iree_ok_status();
}

iree_status_t wrapReservation(iree_hal_pool_t* pool, iree_hal_slab_provider_t* provider,
                              const iree_hal_slab_t& slab,
                              const iree_hal_pool_reservation_t& reservation,
                              iree_hal_buffer_params_t params,
                              iree_hal_pool_materialize_flags_t flags,
                              iree_allocator_t hostAllocator, iree_hal_buffer_t** out_buffer) {
  iree_hal_buffer_release_callback_t callback = iree_hal_buffer_release_callback_null();
  OwnedReservation* owned = nullptr;
  if (iree_any_bit_set(flags, IREE_HAL_POOL_MATERIALIZE_FLAG_TRANSFER_RESERVATION_OWNERSHIP)) {
    void* storage = nullptr;
    IREE_RETURN_IF_ERROR(iree_allocator_malloc(hostAllocator, sizeof(OwnedReservation), &storage));
    owned = new (storage) OwnedReservation{pool, hostAllocator, reservation};
    callback.fn = releaseOwned;
    callback.user_data = owned;
  }
  iree_status_t status = iree_hal_slab_provider_wrap_buffer(
      provider, &slab, reservation.offset, reservation.length, params, callback, out_buffer);
  if (!iree_status_is_ok(status))
    iree_allocator_free(hostAllocator, owned);
  return status;
}

} // namespace bessemer::hal

#include "iree/hal/channel.h"

#include "hal/hal/object.h"
#include "iree/hal/channel_provider.h"
#include "iree/hal/device.h"

using bessemer::hal::vtableOf;

iree_status_t iree_hal_channel_create(iree_hal_device_t* device,
                                      iree_hal_queue_affinity_t queue_affinity,
                                      iree_hal_channel_params_t params,
                                      iree_hal_channel_t** out_channel) {
  *out_channel = nullptr;
  return vtableOf<iree_hal_device_vtable_t>(device).create_channel(device, queue_affinity, params,
                                                                   out_channel);
}

void iree_hal_channel_retain(iree_hal_channel_t* channel) { iree_hal_resource_retain(channel); }

void iree_hal_channel_release(iree_hal_channel_t* channel) { iree_hal_resource_release(channel); }

void iree_hal_channel_destroy(iree_hal_channel_t* channel) {
  if (channel)
    vtableOf<iree_hal_channel_vtable_t>(channel).destroy(channel);
}

iree_status_t iree_hal_channel_split(iree_hal_channel_t* base_channel, int32_t color, int32_t key,
                                     iree_hal_channel_flags_t flags,
                                     iree_hal_channel_t** out_split_channel) {
  *out_split_channel = nullptr;
  return vtableOf<iree_hal_channel_vtable_t>(base_channel)
      .split(base_channel, color, key, flags, out_split_channel);
}

void iree_hal_channel_query_rank_and_count(const iree_hal_channel_t* channel, int32_t* out_rank,
                                           int32_t* out_count) {
  int32_t rank = 0, count = 0;
  vtableOf<iree_hal_channel_vtable_t>(channel).query_rank_and_count(channel, &rank, &count);
  if (out_rank)
    *out_rank = rank;
  if (out_count)
    *out_count = count;
}

int32_t iree_hal_channel_rank(const iree_hal_channel_t* channel) {
  int32_t rank = 0;
  iree_hal_channel_query_rank_and_count(channel, &rank, nullptr);
  return rank;
}

int32_t iree_hal_channel_count(const iree_hal_channel_t* channel) {
  int32_t count = 0;
  iree_hal_channel_query_rank_and_count(channel, nullptr, &count);
  return count;
}

//===--- providers ----------------------------------------------------------------------------===//

void iree_hal_channel_provider_retain(iree_hal_channel_provider_t* channel_provider) {
  iree_hal_resource_retain(channel_provider);
}

void iree_hal_channel_provider_release(iree_hal_channel_provider_t* channel_provider) {
  iree_hal_resource_release(channel_provider);
}

void iree_hal_channel_provider_destroy(iree_hal_channel_provider_t* channel_provider) {
  if (!channel_provider)
    return;
  vtableOf<iree_hal_channel_provider_vtable_t>(channel_provider).destroy(channel_provider);
}

iree_status_t iree_hal_channel_provider_query_default_rank_and_count(
    iree_hal_channel_provider_t* channel_provider, int32_t* out_rank, int32_t* out_count) {
  int32_t rank = 0, count = 0;
  iree_status_t status = vtableOf<iree_hal_channel_provider_vtable_t>(channel_provider)
                             .query_default_rank_and_count(channel_provider, &rank, &count);
  if (out_rank)
    *out_rank = rank;
  if (out_count)
    *out_count = count;
  return status;
}

iree_status_t
iree_hal_channel_provider_exchange_default_id(iree_hal_channel_provider_t* channel_provider,
                                              iree_byte_span_t id) {
  return vtableOf<iree_hal_channel_provider_vtable_t>(channel_provider)
      .exchange_default_id(channel_provider, id);
}

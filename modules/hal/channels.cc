// hal.channel.*: groups of devices for collective operations.
#include "modules/hal/state.h"

namespace bessemer::modules::hal {

namespace {

Result<RefPtr<iree_hal_channel_t>> create(State&, Required<iree_hal_device_t> device,
                                          int64_t affinity, uint64_t flags, vm::Buffer* id,
                                          vm::Buffer* group, int32_t rank, int32_t count) {
  iree_hal_channel_params_t params = {};
  params.flags = flags;
  params.id = bytesOf(id);
  params.group = textOf(group);
  params.rank = rank;
  params.count = count;
  RefPtr<iree_hal_channel_t> channel;
  iree_status_t status = iree_hal_channel_create(
      device, static_cast<iree_hal_queue_affinity_t>(affinity), params, channel.put());
  return made(status, std::move(channel));
}

Result<RefPtr<iree_hal_channel_t>> split(State&, Required<iree_hal_channel_t> base, int32_t color,
                                         int32_t key, uint64_t flags) {
  RefPtr<iree_hal_channel_t> channel;
  iree_status_t status = iree_hal_channel_split(base, color, key, flags, channel.put());
  return made(status, std::move(channel));
}

Result<std::tuple<int32_t, int32_t>> rankAndCount(State&, Required<iree_hal_channel_t> channel) {
  int32_t rank = 0;
  int32_t count = 0;
  iree_hal_channel_query_rank_and_count(channel, &rank, &count);
  return std::tuple(rank, count);
}

} // namespace

std::span<const vm::NativeFunction> channelFunctions() {
  static constexpr vm::NativeFunction functions[] = {
      vm::bind<create>("channel.create"),
      vm::bind<rankAndCount>("channel.rank_and_count"),
      vm::bind<split>("channel.split"),
  };
  return functions;
}

} // namespace bessemer::modules::hal

#include "modules/devices.h"

#include "iree/async/util/proactor_pool.h"
#include "modules/hal/status.h"

namespace bessemer::modules {

vm::Result<vm::RefPtr<iree_hal_device_t>> openDevice(const std::string& uri) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_async_proactor_pool_t* pool = nullptr;
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_async_proactor_pool_create(
      1, nullptr, iree_async_proactor_pool_options_default(), allocator, &pool)));
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  params.proactor_pool = pool;
  vm::RefPtr<iree_hal_device_t> device;
  iree_status_t status = iree_hal_create_device(iree_hal_driver_registry_default(),
                                                iree_make_string_view(uri.data(), uri.size()),
                                                &params, allocator, device.put());
  iree_async_proactor_pool_release(pool);
  if (auto opened = fromStatus(status); !opened)
    return std::unexpected(std::move(opened.error()).prefix("device " + uri));
  return device;
}

} // namespace bessemer::modules

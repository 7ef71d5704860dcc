#include "hal/cts/backend.h"

namespace bessemer::hal::cts {
namespace {

std::vector<Backend>& mutableBackends() {
  static std::vector<Backend> all;
  return all;
}

} // namespace

bool registerBackend(Backend backend) {
  mutableBackends().push_back(std::move(backend));
  return true;
}

const std::vector<Backend>& backends() { return mutableBackends(); }

iree_status_t createFromRegistry(iree_status_t (*registerModule)(iree_hal_driver_registry_t*),
                                 const char* name, const iree_hal_device_create_params_t* params,
                                 iree_hal_driver_t** out_driver, iree_hal_device_t** out_device) {
  iree_status_t status = registerModule(iree_hal_driver_registry_default());
  if (iree_status_is_already_exists(status)) {
    iree_status_ignore(status);
    status = iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(status);
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_try_create(iree_hal_driver_registry_default(),
                                                           iree_make_cstring_view(name),
                                                           iree_allocator_system(), out_driver));
  status = iree_hal_driver_create_default_device(*out_driver, params, iree_allocator_system(),
                                                 out_device);
  if (!iree_status_is_ok(status)) {
    iree_hal_driver_release(*out_driver);
    *out_driver = nullptr;
  }
  return status;
}

} // namespace bessemer::hal::cts

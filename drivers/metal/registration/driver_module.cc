#include "drivers/metal/registration/driver_module.h"

#include "drivers/metal/driver.h"

namespace {

iree_status_t Enumerate(void*, iree_host_size_t* out_driver_info_count,
                        const iree_hal_driver_info_t** out_driver_infos) {
  static const iree_hal_driver_info_t kInfos[] = {
      {IREE_SVL("metal"), IREE_SVL("Metal")},
  };
  *out_driver_info_count = IREE_ARRAYSIZE(kInfos);
  *out_driver_infos = kInfos;
  return iree_ok_status();
}

iree_status_t TryCreate(void*, iree_string_view_t driver_name, iree_allocator_t host_allocator,
                        iree_hal_driver_t** out_driver) {
  *out_driver = nullptr;
  if (!iree_string_view_equal(driver_name, IREE_SV("metal"))) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "no driver '%.*s'",
                            static_cast<int>(driver_name.size), driver_name.data);
  }
  return bessemer::metal_driver::CreateDriver(driver_name, host_allocator, out_driver);
}

} // namespace

iree_status_t iree_hal_metal_driver_module_register(iree_hal_driver_registry_t* registry) {
  static const iree_hal_driver_factory_t kFactory = {nullptr, Enumerate, TryCreate};
  return iree_hal_driver_registry_register_factory(registry, &kFactory);
}

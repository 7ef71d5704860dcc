#pragma once

// Drivers register themselves with the conformance suite; every test runs once for each of them.

#include <string>
#include <string_view>
#include <vector>

#include "iree/hal/api.h"

namespace bessemer::hal::cts {

struct Backend {
  /// A test that does not apply, as a `Suite.Test` pattern with `*` and `?`, and why.
  struct Exclusion {
    std::string pattern;
    std::string reason;
  };

  std::string name;
  /// Makes the driver and its default device. UNAVAILABLE skips every test.
  iree_status_t (*create)(const iree_hal_device_create_params_t* params,
                          iree_hal_driver_t** out_driver, iree_hal_device_t** out_device);
  std::vector<Exclusion> exclusions;
};

/// Adds a driver; called from a static initialiser. Returns true, for use as one.
bool registerBackend(Backend backend);

const std::vector<Backend>& backends();

/// Makes driver `name` of the default registry, once `registerModule` has put it there, and its
/// default device: what a backend's `create` usually does.
iree_status_t createFromRegistry(iree_status_t (*registerModule)(iree_hal_driver_registry_t*),
                                 const char* name, const iree_hal_device_create_params_t* params,
                                 iree_hal_driver_t** out_driver, iree_hal_device_t** out_device);

} // namespace bessemer::hal::cts

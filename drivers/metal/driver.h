// iree_hal_driver_t: the Metal devices of the machine.
#pragma once

#include "iree/hal/api.h"

namespace bessemer::metal_driver {

iree_status_t CreateDriver(iree_string_view_t identifier, iree_allocator_t host_allocator,
                           iree_hal_driver_t** out_driver);

} // namespace bessemer::metal_driver

// Devices by name.
#pragma once

#include <string>

#include "iree/hal/api.h"
#include "modules/hal/types.h"
#include "vm/status.h"

namespace bessemer::modules {

// `uri`: "driver" for its default device, or "driver://path?key=value". The driver is one of the
// default registry's; registering drivers is the program's choice.
vm::Result<vm::RefPtr<iree_hal_device_t>> openDevice(const std::string& uri);

} // namespace bessemer::modules

// Errors across the edge between the VM and the HAL.
#pragma once

#include "iree/base/api.h"
#include "vm/status.h"

namespace bessemer::modules {

// Consumes `status`.
vm::Result<void> fromStatus(iree_status_t status);
// A status with the error's code, its message and, as an annotation, its trace.
iree_status_t toStatus(const vm::Error& error);

} // namespace bessemer::modules

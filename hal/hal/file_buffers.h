#pragma once

#include "iree/hal/buffer.h"
#include "iree/io/file_handle.h"

namespace bessemer::hal {

/// PERMISSION_DENIED unless `handle` was opened for all of `access`.
iree_status_t checkFileAccess(iree_io_file_handle_t* handle, iree_hal_memory_access_t access);

} // namespace bessemer::hal

#pragma once

#include "iree/hal/command_buffer.h"

namespace bessemer::hal::host {

/// Executes a recorded command buffer on the calling thread, one command after the other. With
/// `findHazards`, commands that miss a barrier between them are FAILED_PRECONDITION.
iree_status_t replay(iree_hal_command_buffer_t* recorded, iree_hal_buffer_binding_table_t table,
                     bool findHazards);

} // namespace bessemer::hal::host

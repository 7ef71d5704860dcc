// Where Metal is the system's own.
#include "tools/inspect_kernels.h"

namespace bessemer::tools {

CommandResult inspectKernels(const InspectFlags& flags) {
  return vm::fail(vm::StatusCode::Unimplemented, "the kernels of ", flags.file,
                  " can be compiled for inspection on Linux only");
}

} // namespace bessemer::tools

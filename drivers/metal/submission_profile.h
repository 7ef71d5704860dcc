// What a submission keeps while its device is profiled.
#pragma once

#include "drivers/metal/profiler.h"
#include "drivers/metal/submission.h"

namespace bessemer::metal_driver {

struct Submission::Profile {
  Profiler::Operation operation;
};

} // namespace bessemer::metal_driver

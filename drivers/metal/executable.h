// iree_hal_executable_t and its cache: functions of one executable.
#pragma once

#include <memory>
#include <span>

#include "drivers/metal/objects.h"
#include "drivers/metal/pipeline.h"

namespace bessemer::metal_driver {

struct ExecutableFunction {
  std::string name;
  std::shared_ptr<Pipeline> pipeline;
  uint32_t threadgroup_size[3];
  uint16_t constant_count;
  uint16_t binding_count;
};

iree_status_t CreateExecutableCache(std::shared_ptr<PipelineCache> pipelines,
                                    iree_allocator_t host_allocator,
                                    iree_hal_executable_cache_t** out_cache);

/// NULL for executables of other drivers, OUT_OF_RANGE for functions that do not exist.
bool IsMetalExecutable(iree_hal_executable_t* executable);
iree_status_t FunctionOf(iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                         const ExecutableFunction** out_function);

std::span<const ExecutableFunction> FunctionsOf(iree_hal_executable_t* executable);

/// A number that no other executable of the process has, for profiles.
uint64_t ExecutableId(iree_hal_executable_t* executable);

} // namespace bessemer::metal_driver

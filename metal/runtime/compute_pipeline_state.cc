#include "metal/runtime/compute_pipeline_state.h"

namespace mtl {

namespace {

UInteger thread_execution_width(ComputePipelineState*) { return 32; }

} // namespace

using P = ComputePipelineState;

OBJC_DEFINE_CLASS(
    ComputePipelineState, "BSMComputePipelineState", DeviceObject,
    .methods =
        {
            objc::method<&P::max_total_threads_per_threadgroup>("maxTotalThreadsPerThreadgroup"),
            objc::method<&P::static_threadgroup_memory_length>("staticThreadgroupMemoryLength"),
            objc::method<&thread_execution_width>("threadExecutionWidth"),
        },
    .protocols = {"MTLComputePipelineState"});

} // namespace mtl

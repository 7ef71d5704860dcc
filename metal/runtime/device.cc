#include "metal/runtime/device.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include "metal/foundation/array.h"
#include "metal/runtime/architecture.h"
#include "metal/runtime/buffer.h"
#include "metal/runtime/command_queue.h"
#include "metal/runtime/command_queue_descriptor.h"
#include "metal/runtime/counter_sample_buffer.h"
#include "metal/runtime/device_libraries.h"
#include "metal/runtime/fence.h"
#include "metal/runtime/heap.h"
#include "metal/runtime/heap_descriptor.h"
#include "metal/runtime/host_memory.h"
#include "metal/runtime/indirect_command_buffer.h"
#include "metal/runtime/indirect_command_buffer_descriptor.h"
#include "metal/runtime/log_state.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/residency_set.h"
#include "metal/runtime/shared_event.h"
#include "metal/runtime/shared_event_handle.h"
#include "metal/runtime/unsupported.h"

namespace mtl {

namespace {

// "AMD EPYC 9R14 Processor", or empty where the kernel does not tell.
std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (size_t at = line.find(": "); at != std::string::npos)
        return line.substr(at + 2);
  return {};
}

std::string device_name() {
  if (const char* name = std::getenv("BESSEMER_DEVICE_NAME"); name && *name)
    return name;
  std::string model = processor_model();
  return model.empty() ? "Bessemer CPU" : "Bessemer CPU (" + model + ")";
}

uint64_t round_down_to_page(uint64_t bytes) { return bytes / host_page_size() * host_page_size(); }

} // namespace

Device* Device::shared() {
  static Device* const device = objc::make<Device>().take();
  return device;
}

Device::Device()
    : executor_(bessemer::metal::cpu::Executor::shared()), family_(gpu_family_from_environment()),
      name_(ns::string(device_name())),
      // A Mac gives three quarters of its memory to the GPU, and at most half to one buffer.
      max_buffer_length_(round_down_to_page(host_memory_total() / 2)),
      working_set_size_(round_down_to_page(host_memory_total() / 4 * 3)) {}

namespace {

// ---- What the device is ----
uint64_t registry_id(Device*) { return 0x42534d0001; } // one device, the same in every process
Architecture* architecture(Device* device) { return Architecture::of(device); }
Size max_threads_per_threadgroup(Device*) {
  return {kMaxThreadsPerThreadgroup, kMaxThreadsPerThreadgroup, kMaxThreadsPerThreadgroup};
}
UInteger max_threadgroup_memory_length(Device*) { return kMaxThreadgroupMemory; }
UInteger max_argument_buffer_sampler_count(Device*) { return 1024; }
bool yes(Device*) { return true; }
bool no(Device*) { return false; }
bool no_for_number(Device*, UInteger) { return false; }
DeviceLocation location(Device*) { return DeviceLocation::BuiltIn; }
UInteger zero(Device*) { return 0; }
uint32_t zero32(Device*) { return 0; }
ReadWriteTextureTier read_write_texture_support(Device*) { return ReadWriteTextureTier::None; }
ArgumentBuffersTier argument_buffers_support(Device*) { return ArgumentBuffersTier::Tier2; }
bool supports_family(Device* device, GPUFamily family) { return device->family().supports(family); }
bool supports_feature_set(Device* device, UInteger set) {
  // What came before families; all sets of macOS are within family Mac2.
  return set >= 10000 && set <= 10005 && set != 10002 && device->family().supports(GPUFamily::Mac2);
}
bool supports_one_sample(Device*, UInteger samples) { return samples == 1; }
UInteger compilation_task_count(Device*) {
  return std::max(1u, std::thread::hardware_concurrency());
}
void set_maximize_compilation(Device*, bool) {} // compiling always uses what there is

void sample_timestamps(Device*, uint64_t* cpu, uint64_t* gpu) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  uint64_t now = uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
  if (cpu)
    *cpu = now;
  if (gpu)
    *gpu = now;
}
ns::Array* counter_sets(Device*) {
  objc::Object* set = CounterSet::timestamp();
  return ns::array(std::span<objc::Object* const>(&set, 1)).autorelease();
}
bool supports_counter_sampling(Device*, CounterSamplingPoint point) {
  return point == CounterSamplingPoint::StageBoundary ||
         point == CounterSamplingPoint::DispatchBoundary ||
         point == CounterSamplingPoint::BlitBoundary;
}

// ---- What it makes ----
Buffer* new_buffer(Device* device, UInteger length, ResourceOptions options) {
  return Buffer::create(device, length, options).take();
}
Buffer* new_buffer_with_bytes(Device* device, const void* bytes, UInteger length,
                              ResourceOptions options) {
  return Buffer::create_with_bytes(device, bytes, length, options).take();
}
Buffer* new_buffer_no_copy(Device* device, void* pointer, UInteger length, ResourceOptions options,
                           Buffer::Deallocator* deallocator) {
  return Buffer::create_no_copy(device, pointer, length, options, deallocator).take();
}
SizeAndAlign heap_buffer_size(Device*, UInteger length, ResourceOptions) {
  return heap_buffer_size_and_align(length);
}
Heap* new_heap(Device* device, HeapDescriptor* descriptor) {
  return Heap::create(device, descriptor).take();
}
CommandQueue* new_queue(Device* device) {
  return objc::make<CommandQueue>(device, UInteger{64}, objc::Ref<LogState>()).take();
}
CommandQueue* new_queue_with_count(Device* device, UInteger count) {
  return objc::make<CommandQueue>(device, count, objc::Ref<LogState>()).take();
}
CommandQueue* new_queue_with_descriptor(Device* device, CommandQueueDescriptor* descriptor) {
  if (!descriptor)
    return new_queue(device);
  return objc::make<CommandQueue>(device, descriptor->max_command_buffer_count,
                                  descriptor->log_state)
      .take();
}
Event* new_event(Device* device) { return objc::make<Event>(device).take(); }
SharedEvent* new_shared_event(Device* device) { return objc::make<SharedEvent>(device).take(); }
SharedEvent* new_shared_event_with_handle(Device* device, SharedEventHandle* handle) {
  if (!handle || !handle->timeline()) {
    report_misuse("MTLDevice newSharedEventWithHandle:", "the handle is of no event");
    return nullptr;
  }
  auto event = objc::make<SharedEvent>(device, handle->timeline());
  event->set_label(handle->label());
  return event.take();
}
Fence* new_fence(Device* device) { return objc::make<Fence>(device).take(); }
ResidencySet* new_residency_set(Device* device, ResidencySetDescriptor* descriptor, ns::Error**) {
  return objc::make<ResidencySet>(device, descriptor).take();
}
IndirectCommandBuffer* new_indirect_command_buffer(Device* device,
                                                   IndirectCommandBufferDescriptor* descriptor,
                                                   UInteger count, ResourceOptions options) {
  return IndirectCommandBuffer::create(device, descriptor, count, options).take();
}
CounterSampleBuffer* new_counter_sample_buffer(Device* device,
                                               CounterSampleBufferDescriptor* descriptor,
                                               ns::Error** error) {
  return CounterSampleBuffer::create(device, descriptor, error).take();
}
LogState* new_log_state(Device*, LogStateDescriptor* descriptor, ns::Error** error) {
  return LogState::create(descriptor, error).take();
}

using Object = objc::Object;

} // namespace

OBJC_DEFINE_CLASS(
    Device, "BSMDevice", objc::Object,
    .methods =
        {
            objc::method<&Device::name>("name"),
            objc::method<&registry_id>("registryID"),
            objc::method<&architecture>("architecture"),
            objc::method<&max_threads_per_threadgroup>("maxThreadsPerThreadgroup"),
            objc::method<&max_threadgroup_memory_length>("maxThreadgroupMemoryLength"),
            objc::method<&max_argument_buffer_sampler_count>("maxArgumentBufferSamplerCount"),
            objc::method<&Device::max_buffer_length>("maxBufferLength"),
            objc::method<&Device::recommended_max_working_set_size>("recommendedMaxWorkingSetSize"),
            objc::method<&Device::current_allocated_size>("currentAllocatedSize"),
            objc::method<&no>("isLowPower"),
            objc::method<&yes>("isHeadless"),
            objc::method<&no>("isRemovable"),
            objc::method<&yes>("hasUnifiedMemory"),
            objc::method<&location>("location"),
            objc::method<&zero>("locationNumber"),
            objc::method<&zero>("maxTransferRate"),
            objc::method<&zero>("peerGroupID"),
            objc::method<&zero32>("peerIndex"),
            objc::method<&zero32>("peerCount"),
            objc::method<&supports_family>("supportsFamily:"),
            objc::method<&supports_feature_set>("supportsFeatureSet:"),
            objc::method<&argument_buffers_support>("argumentBuffersSupport"),
            objc::method<&read_write_texture_support>("readWriteTextureSupport"),
            objc::method<&no>("isDepth24Stencil8PixelFormatSupported"),
            objc::method<&no>("areRasterOrderGroupsSupported"),
            objc::method<&no>("areProgrammableSamplePositionsSupported"),
            objc::method<&no>("supports32BitFloatFiltering"),
            objc::method<&no>("supports32BitMSAA"),
            objc::method<&no>("supportsQueryTextureLOD"),
            objc::method<&no>("supportsBCTextureCompression"),
            objc::method<&no>("supportsPullModelInterpolation"),
            objc::method<&no>("areBarycentricCoordsSupported"),
            objc::method<&no>("supportsShaderBarycentricCoordinates"),
            objc::method<&no>("supportsDynamicLibraries"),
            objc::method<&no>("supportsRenderDynamicLibraries"),
            objc::method<&no>("supportsRaytracing"),
            objc::method<&no>("supportsRaytracingFromRender"),
            objc::method<&no>("supportsPrimitiveMotionBlur"),
            objc::method<&no>("supportsFunctionPointers"),
            objc::method<&no>("supportsFunctionPointersFromRender"),
            objc::method<&no>("supportsPlacementSparse"),
            objc::method<&supports_one_sample>("supportsTextureSampleCount:"),
            objc::method<&no_for_number>("supportsRasterizationRateMapWithLayerCount:"),
            objc::method<&supports_one_sample>("supportsVertexAmplificationCount:"),
            objc::method<&no>("shouldMaximizeConcurrentCompilation"),
            objc::method<&set_maximize_compilation>("setShouldMaximizeConcurrentCompilation:"),
            objc::method<&compilation_task_count>("maximumConcurrentCompilationTaskCount"),
            objc::method<&sample_timestamps>("sampleTimestamps:gpuTimestamp:"),
            objc::method<&counter_sets>("counterSets"),
            objc::method<&supports_counter_sampling>("supportsCounterSampling:"),

            objc::method<&new_buffer>("newBufferWithLength:options:"),
            objc::method<&new_buffer_with_bytes>("newBufferWithBytes:length:options:"),
            objc::method<&new_buffer_no_copy>(
                "newBufferWithBytesNoCopy:length:options:deallocator:"),
            objc::method<&heap_buffer_size>("heapBufferSizeAndAlignWithLength:options:"),
            objc::method<&new_heap>("newHeapWithDescriptor:"),
            objc::method<&new_queue>("newCommandQueue"),
            objc::method<&new_queue_with_count>("newCommandQueueWithMaxCommandBufferCount:"),
            objc::method<&new_queue_with_descriptor>("newCommandQueueWithDescriptor:"),
            objc::method<&new_event>("newEvent"),
            objc::method<&new_shared_event>("newSharedEvent"),
            objc::method<&new_shared_event_with_handle>("newSharedEventWithHandle:"),
            objc::method<&new_fence>("newFence"),
            objc::method<&new_residency_set>("newResidencySetWithDescriptor:error:"),
            objc::method<&new_indirect_command_buffer>(
                "newIndirectCommandBufferWithDescriptor:maxCommandCount:options:"),
            objc::method<&new_counter_sample_buffer>("newCounterSampleBufferWithDescriptor:error:"),
            objc::method<&new_log_state>("newLogStateWithDescriptor:error:"),

            objc::method<&new_default_library>("newDefaultLibrary"),
            objc::method<&new_default_library_with_bundle>("newDefaultLibraryWithBundle:error:"),
            objc::method<&new_library_with_file>("newLibraryWithFile:error:"),
            objc::method<&new_library_with_url>("newLibraryWithURL:error:"),
            objc::method<&new_library_with_data>("newLibraryWithData:error:"),
            objc::method<&new_library_with_source>("newLibraryWithSource:options:error:"),
            objc::method<&new_library_with_source_async>(
                "newLibraryWithSource:options:completionHandler:"),
            objc::method<&new_library_with_stitched_descriptor>(
                "newLibraryWithStitchedDescriptor:error:"),
            objc::method<&new_library_with_stitched_descriptor_async>(
                "newLibraryWithStitchedDescriptor:completionHandler:"),
            objc::method<&new_pipeline_with_function>("newComputePipelineStateWithFunction:error:"),
            objc::method<&new_pipeline_with_function_options>(
                "newComputePipelineStateWithFunction:options:reflection:error:"),
            objc::method<&new_pipeline_with_function_async>(
                "newComputePipelineStateWithFunction:completionHandler:"),
            objc::method<&new_pipeline_with_function_options_async>(
                "newComputePipelineStateWithFunction:options:completionHandler:"),
            objc::method<&new_pipeline_with_descriptor>(
                "newComputePipelineStateWithDescriptor:options:reflection:error:"),
            objc::method<&new_pipeline_with_descriptor_async>(
                "newComputePipelineStateWithDescriptor:options:completionHandler:"),
            objc::method<&new_argument_encoder>("newArgumentEncoderWithArguments:"),
            objc::method<&new_argument_encoder_with_binding>(
                "newArgumentEncoderWithBufferBinding:"),
            objc::method<&new_dynamic_library>("newDynamicLibrary:error:"),
            objc::method<&new_dynamic_library_with_url>("newDynamicLibraryWithURL:error:"),
            objc::method<&new_binary_archive>("newBinaryArchiveWithDescriptor:error:"),

            objc::method<&unsupported<"newTextureWithDescriptor:", "textures", Object*, Object*>>(
                "newTextureWithDescriptor:"),
            objc::method<&unsupported<"newTextureWithDescriptor:iosurface:plane:", "textures",
                                      Object*, Object*, void*, UInteger>>(
                "newTextureWithDescriptor:iosurface:plane:"),
            objc::method<&unsupported<"newSharedTextureWithDescriptor:", "textures", Object*,
                                      Object*>>("newSharedTextureWithDescriptor:"),
            objc::method<&unsupported<"newSharedTextureWithHandle:", "textures", Object*, Object*>>(
                "newSharedTextureWithHandle:"),
            objc::method<&unsupported<"newSamplerStateWithDescriptor:", "samplers", Object*,
                                      Object*>>("newSamplerStateWithDescriptor:"),
            objc::method<&unsupported<"newDepthStencilStateWithDescriptor:", "rendering", Object*,
                                      Object*>>("newDepthStencilStateWithDescriptor:"),
            objc::method<&unsupported<"newRasterizationRateMapWithDescriptor:", "rendering",
                                      Object*, Object*>>("newRasterizationRateMapWithDescriptor:"),
            objc::method<&unsupported<"newAccelerationStructureWithSize:", "ray tracing", Object*,
                                      UInteger>>("newAccelerationStructureWithSize:"),
            objc::method<&unsupported<"newAccelerationStructureWithDescriptor:", "ray tracing",
                                      Object*, Object*>>("newAccelerationStructureWithDescriptor:"),
            objc::method<&unsupported<"heapTextureSizeAndAlignWithDescriptor:", "textures",
                                      SizeAndAlign, Object*>>(
                "heapTextureSizeAndAlignWithDescriptor:"),
            objc::method<&unsupported<"heapAccelerationStructureSizeAndAlignWithSize:",
                                      "ray tracing", SizeAndAlign, UInteger>>(
                "heapAccelerationStructureSizeAndAlignWithSize:"),
            objc::method<&unsupported<"heapAccelerationStructureSizeAndAlignWithDescriptor:",
                                      "ray tracing", SizeAndAlign, Object*>>(
                "heapAccelerationStructureSizeAndAlignWithDescriptor:"),
            objc::method<&unsupported<"accelerationStructureSizesWithDescriptor:", "ray tracing",
                                      AccelerationStructureSizes, Object*>>(
                "accelerationStructureSizesWithDescriptor:"),
            objc::method<&unsupported<"minimumLinearTextureAlignmentForPixelFormat:", "textures",
                                      UInteger, UInteger>>(
                "minimumLinearTextureAlignmentForPixelFormat:"),
            objc::method<&unsupported<"minimumTextureBufferAlignmentForPixelFormat:", "textures",
                                      UInteger, UInteger>>(
                "minimumTextureBufferAlignmentForPixelFormat:"),
            objc::method<&unsupported<"sparseTileSizeWithTextureType:pixelFormat:sampleCount:",
                                      "sparse textures", Size, UInteger, UInteger, UInteger>>(
                "sparseTileSizeWithTextureType:pixelFormat:sampleCount:"),
            objc::method<&unsupported<
                "sparseTileSizeWithTextureType:pixelFormat:sampleCount:sparsePageSize:",
                "sparse textures", Size, UInteger, UInteger, UInteger, Integer>>(
                "sparseTileSizeWithTextureType:pixelFormat:sampleCount:sparsePageSize:"),
            objc::method<&unsupported<"sparseTileSizeInBytes", "sparse textures", UInteger>>(
                "sparseTileSizeInBytes"),
            objc::method<&unsupported<"sparseTileSizeInBytesForSparsePageSize:", "sparse textures",
                                      UInteger, Integer>>(
                "sparseTileSizeInBytesForSparsePageSize:"),
            objc::method<&unsupported<
                "convertSparsePixelRegions:toTileRegions:withTileSize:alignmentMode:numRegions:",
                "sparse textures", void, const Region*, const Region*, Size, UInteger, UInteger>>(
                "convertSparsePixelRegions:toTileRegions:withTileSize:alignmentMode:numRegions:"),
            objc::method<&unsupported<
                "convertSparseTileRegions:toPixelRegions:withTileSize:numRegions:",
                "sparse textures", void, const Region*, const Region*, Size, UInteger>>(
                "convertSparseTileRegions:toPixelRegions:withTileSize:numRegions:"),
            objc::method<&unsupported<"getDefaultSamplePositions:count:", "rendering", void,
                                      const void*, UInteger>>("getDefaultSamplePositions:count:"),
            objc::
                method<&unsupported_with_error<"newRenderPipelineStateWithDescriptor:error:",
                                               "rendering", Object*>>(
                    "newRenderPipelineStateWithDescriptor:error:"),
            objc::
                method<&unsupported_with_error<"newRenderPipelineStateWithDescriptor:options:"
                                               "reflection:error:",
                                               "rendering", Object*, UInteger, Object**>>(
                    "newRenderPipelineStateWithDescriptor:options:reflection:error:"),
            objc::
                method<&unsupported_with_error<"newRenderPipelineStateWithTileDescriptor:options:"
                                               "reflection:error:",
                                               "rendering", Object*, UInteger, Object**>>(
                    "newRenderPipelineStateWithTileDescriptor:options:reflection:error:"),
            objc::
                method<&unsupported_with_error<"newRenderPipelineStateWithMeshDescriptor:options:"
                                               "reflection:error:",
                                               "rendering", Object*, UInteger, Object**>>(
                    "newRenderPipelineStateWithMeshDescriptor:options:reflection:error:"),
            objc::
                method<&unsupported_with_error<"newIOHandleWithURL:error:", "fast resource loading",
                                               Object*>>(
                    "newIOHandleWithURL:error:"),
            objc::
                method<&unsupported_with_error<"newIOHandleWithURL:compressionMethod:error:",
                                               "fast resource loading", Object*, Integer>>(
                    "newIOHandleWithURL:compressionMethod:error:"),
            objc::
                method<&unsupported_with_error<"newIOFileHandleWithURL:error:",
                                               "fast resource loading", Object*>>(
                    "newIOFileHandleWithURL:error:"),
            objc::
                method<&unsupported_with_error<"newIOFileHandleWithURL:compressionMethod:error:",
                                               "fast resource loading", Object*, Integer>>(
                    "newIOFileHandleWithURL:compressionMethod:error:"),
            objc::
                method<&unsupported_with_error<"newIOCommandQueueWithDescriptor:error:",
                                               "fast resource loading", Object*>>(
                    "newIOCommandQueueWithDescriptor:error:"),
            objc::
                method<
                    &UnsupportedHandler<"newRenderPipelineStateWithDescriptor:completionHandler:",
                                        "rendering", Object*>::call<Object*>>(
                    "newRenderPipelineStateWithDescriptor:completionHandler:"),
            objc::
                method<&UnsupportedHandler<"newRenderPipelineStateWithDescriptor:options:"
                                           "completionHandler:",
                                           "rendering", Object*, Object*>::call<Object*, UInteger>>(
                    "newRenderPipelineStateWithDescriptor:options:completionHandler:"),
            objc::
                method<&UnsupportedHandler<"newRenderPipelineStateWithTileDescriptor:options:"
                                           "completionHandler:",
                                           "rendering", Object*, Object*>::call<Object*, UInteger>>(
                    "newRenderPipelineStateWithTileDescriptor:options:completionHandler:"),
            objc::
                method<&UnsupportedHandler<"newRenderPipelineStateWithMeshDescriptor:options:"
                                           "completionHandler:",
                                           "rendering", Object*, Object*>::call<Object*, UInteger>>(
                    "newRenderPipelineStateWithMeshDescriptor:options:completionHandler:"),
        },
    .protocols = {"MTLDevice"});

} // namespace mtl

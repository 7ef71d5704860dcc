// The methods of MTLDevice that make libraries, pipelines and what belongs to them; device.cc
// registers them. Arguments and results are those of the Objective-C methods named beside them:
// what a `new` function gives is the caller's, `error` may be null and is written on failure only.
#pragma once

#include "metal/foundation/array.h"
#include "metal/foundation/error.h"
#include "metal/foundation/string.h"
#include "metal/objc/block.h"
#include "metal/runtime/device.h"

namespace mtl {

class ArgumentEncoder;
class BinaryArchive;
class BinaryArchiveDescriptor;
class BufferBinding;
class CompileOptions;
class ComputePipelineDescriptor;
class ComputePipelineReflection;
class ComputePipelineState;
class DynamicLibrary;
class Function;
class Library;

using LibraryHandler = objc::Block<void(Library*, ns::Error*)>;
using PipelineHandler = objc::Block<void(ComputePipelineState*, ns::Error*)>;
using PipelineReflectionHandler =
    objc::Block<void(ComputePipelineState*, ComputePipelineReflection*, ns::Error*)>;

// newDefaultLibrary, newDefaultLibraryWithBundle:error:
Library* new_default_library(Device* device);
Library* new_default_library_with_bundle(Device* device, objc::Object* bundle, ns::Error** error);
// newLibraryWithFile:error:, newLibraryWithURL:error:, newLibraryWithData:error: (dispatch_data_t)
Library* new_library_with_file(Device* device, ns::String* path, ns::Error** error);
Library* new_library_with_url(Device* device, objc::Object* url, ns::Error** error);
Library* new_library_with_data(Device* device, objc::Object* data, ns::Error** error);
// newLibraryWithSource:options:error:, newLibraryWithSource:options:completionHandler:
Library* new_library_with_source(Device* device, ns::String* source, CompileOptions* options,
                                 ns::Error** error);
void new_library_with_source_async(Device* device, ns::String* source, CompileOptions* options,
                                   LibraryHandler* handler);
// newLibraryWithStitchedDescriptor:error:, ...completionHandler: (an error that says why not)
Library* new_library_with_stitched_descriptor(Device* device, objc::Object* descriptor,
                                              ns::Error** error);
void new_library_with_stitched_descriptor_async(Device* device, objc::Object* descriptor,
                                                LibraryHandler* handler);

// newComputePipelineStateWithFunction:error:, ...options:reflection:error:
ComputePipelineState* new_pipeline_with_function(Device* device, Function* function,
                                                 ns::Error** error);
ComputePipelineState* new_pipeline_with_function_options(Device* device, Function* function,
                                                         UInteger options,
                                                         ComputePipelineReflection** reflection,
                                                         ns::Error** error);
// ...completionHandler:, ...options:completionHandler:
void new_pipeline_with_function_async(Device* device, Function* function, PipelineHandler* handler);
void new_pipeline_with_function_options_async(Device* device, Function* function, UInteger options,
                                              PipelineReflectionHandler* handler);
// newComputePipelineStateWithDescriptor:options:reflection:error:, ...options:completionHandler:
ComputePipelineState* new_pipeline_with_descriptor(Device* device,
                                                   ComputePipelineDescriptor* descriptor,
                                                   UInteger options,
                                                   ComputePipelineReflection** reflection,
                                                   ns::Error** error);
void new_pipeline_with_descriptor_async(Device* device, ComputePipelineDescriptor* descriptor,
                                        UInteger options, PipelineReflectionHandler* handler);

// newArgumentEncoderWithArguments: (of MTLArgumentDescriptor), newArgumentEncoderWithBufferBinding:
ArgumentEncoder* new_argument_encoder(Device* device, ns::Array* arguments);
ArgumentEncoder* new_argument_encoder_with_binding(Device* device, BufferBinding* binding);

// newDynamicLibrary:error:, newDynamicLibraryWithURL:error:, newBinaryArchiveWithDescriptor:error:
DynamicLibrary* new_dynamic_library(Device* device, Library* library, ns::Error** error);
DynamicLibrary* new_dynamic_library_with_url(Device* device, objc::Object* url, ns::Error** error);
BinaryArchive* new_binary_archive(Device* device, BinaryArchiveDescriptor* descriptor,
                                  ns::Error** error);

// Of ComputePipelineState (compute_pipeline_state.h) the encoders need:
//   const std::shared_ptr<bessemer::metal::cpu::Pipeline>& pipeline() const;
//   UInteger max_total_threads_per_threadgroup() const;
//   bool supports_indirect_command_buffers() const;

} // namespace mtl

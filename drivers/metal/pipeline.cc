#include "drivers/metal/pipeline.h"

#include <algorithm>
#include <dispatch/dispatch.h>

namespace bessemer::metal_driver {
namespace {

/// Indices that iree-compile gives argument buffer and constants.
constexpr NS::UInteger kArgumentBufferIndex = 0;
constexpr NS::UInteger kConstantsIndex = 3;

std::string KeyOf(const LibrarySource& library, const FunctionSource& function) {
  std::string key;
  key.reserve(library.contents.size() + function.entry_point.size() + 16);
  key += library.is_metallib ? 'B' : 'S';
  key += std::to_string(library.language_version);
  key += '\0';
  key += function.entry_point;
  key += '\0';
  key += library.contents;
  return key;
}

} // namespace

Pipeline::Pipeline() {
  argument_offsets_.fill(kNoOffset);
  IREE_CHECK_OK(iree_async_semaphore_create(/*proactor=*/nullptr, /*initial_value=*/0,
                                            /*frontier_capacity=*/0, iree_allocator_system(),
                                            &ready_));
}

Pipeline::~Pipeline() { iree_async_semaphore_release(ready_); }

void Pipeline::ReadArgumentLayout(const MTL::StructType* type) {
  NS::Array* members = type->members();
  for (NS::UInteger i = 0; i < members->count(); ++i) {
    auto* member = members->object<MTL::StructMember>(i);
    // Members that the function does not use are missing, and the others lie closer for it.
    if (member->argumentIndex() < kMaxBindingCount)
      argument_offsets_[member->argumentIndex()] = static_cast<uint16_t>(member->offset());
    argument_size_ =
        std::max(argument_size_, static_cast<uint32_t>(member->offset() + sizeof(uint64_t)));
  }
}

void Pipeline::Finish(MetalPtr<MTL::ComputePipelineState> state,
                      const MTL::ComputePipelineReflection* reflection) {
  state_ = std::move(state);
  NS::Array* bindings = reflection ? reflection->bindings() : nullptr;
  for (NS::UInteger i = 0; bindings && i < bindings->count(); ++i) {
    auto* binding = bindings->object<MTL::Binding>(i);
    if (binding->type() != MTL::BindingTypeBuffer)
      continue;
    auto* buffer = static_cast<MTL::BufferBinding*>(binding);
    if (binding->index() == kConstantsIndex)
      takes_constants_ = true;
    if (binding->index() == kArgumentBufferIndex && buffer->bufferStructType())
      ReadArgumentLayout(buffer->bufferStructType());
  }
  iree_status_free(iree_async_semaphore_signal(ready_, 1, nullptr));
}

std::shared_ptr<Pipeline> PipelineCache::Get(const LibrarySource& library,
                                             const FunctionSource& function) {
  std::string key = KeyOf(library, function);
  std::shared_ptr<Pipeline> pipeline;
  {
    std::lock_guard lock(mutex_);
    std::weak_ptr<Pipeline>& entry = pipelines_[key];
    pipeline = entry.lock();
    // What failed once may succeed when the reason is gone.
    if (pipeline && iree_async_semaphore_query_status(pipeline->ready()) == IREE_STATUS_OK)
      return pipeline;
    pipeline = std::make_shared<Pipeline>();
    entry = pipeline;
  }

  AutoreleaseScope pool;
  std::string entry_point(function.entry_point);
  MetalPtr<MTL::Device> device = device_;
  auto fail = [pipeline, entry_point](const char* what, const NS::Error* error) {
    iree_async_semaphore_fail(
        pipeline->ready(),
        iree_status_annotate_f(StatusFromError(IREE_STATUS_INVALID_ARGUMENT, what, error),
                               "in function '%s'", entry_point.c_str()));
  };
  auto make_pipeline = [pipeline, device, entry_point, fail](MTL::Library* compiled) {
    auto entry = TakeMetal(compiled->newFunction(ToNSString(entry_point)));
    if (!entry)
      return fail("the library does not have the function", nullptr);
    device->newComputePipelineState(
        entry.get(), MTL::PipelineOptionArgumentInfo | MTL::PipelineOptionBufferTypeInfo,
        ^(MTL::ComputePipelineState* state, MTL::ComputePipelineReflection* reflection,
          NS::Error* error) {
          if (!state)
            return fail("cannot make a pipeline", error);
          pipeline->Finish(RetainMetal(state), reflection);
        });
  };

  if (library.is_metallib) {
    // The library copies its bytes when it is made, so they need live no longer than this call.
    dispatch_data_t data = dispatch_data_create(library.contents.data(), library.contents.size(),
                                                nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
    NS::Error* error = nullptr;
    auto loaded = TakeMetal(device->newLibrary(data, &error));
    dispatch_release(data);
    if (loaded)
      make_pipeline(loaded.get());
    else
      fail("cannot load a metallib", error);
    return pipeline;
  }

  auto options = TakeMetal(MTL::CompileOptions::alloc()->init());
  if (library.language_version)
    options->setLanguageVersion(static_cast<MTL::LanguageVersion>(library.language_version));
  device->newLibrary(ToNSString(library.contents), options.get(),
                     ^(MTL::Library* compiled, NS::Error* error) {
                       AutoreleaseScope handler_pool;
                       // A library may come with warnings, as an error beside it.
                       if (compiled)
                         make_pipeline(compiled);
                       else
                         fail("cannot compile MSL", error);
                     });
  return pipeline;
}

} // namespace bessemer::metal_driver

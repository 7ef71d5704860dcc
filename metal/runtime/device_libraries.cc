#include "metal/runtime/device_libraries.h"

#include <cerrno>
#include <span>
#include <string>

#include <unistd.h>

#include "metal/foundation/data.h"
#include "metal/foundation/file.h"
#include "metal/foundation/url.h"
#include "metal/objc/message.h"
#include "metal/runtime/argument_encoder.h"
#include "metal/runtime/binary_archive.h"
#include "metal/runtime/binding.h"
#include "metal/runtime/compile_options.h"
#include "metal/runtime/compute_pipeline_descriptor.h"
#include "metal/runtime/compute_pipeline_state.h"
#include "metal/runtime/library_error.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/notification.h"
#include "metal/runtime/unsupported.h"

namespace mtl {
namespace {

using bessemer::metal::cpu::CompilerService;

/// MTLPipelineOption.
enum : UInteger { kFailOnBinaryArchiveMiss = 4 };
/// What Metal gives for a pipeline that does not compile.
constexpr ns::Integer kPipelineCompileFailure = 3;

Library* make_library(Device* device,
                      bessemer::metal::cpu::Expected<bessemer::metal::cpu::LibraryTable> table,
                      LibraryErrorCode code, ns::Error** error) {
  if (table)
    return objc::make<Library>(device, std::move(*table)).take();
  ns::set_error(error, library_error(code, table.error().message));
  return nullptr;
}

Library* load(Device* device, std::string_view bytes, const std::string& name, ns::Error** error) {
  auto table = CompilerService::shared().load_metallib(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!table)
    table.error().message = name + ": " + table.error().message;
  return make_library(device, std::move(table), LibraryErrorCode::Unsupported, error);
}

Library* load_file(Device* device, const std::string& path, ns::Error** error) {
  ns::Error* read_error = nullptr;
  auto bytes = ns::read_file(path, &read_error);
  if (!bytes) {
    ns::set_error(error, library_error(LibraryErrorCode::FileNotFound,
                                       ns::utf8(read_error->localized_description())));
    return nullptr;
  }
  return load(device, *bytes, path, error);
}

std::string path_of_url(objc::Object* url) {
  auto* file = objc::cast<ns::URL>(url);
  return file ? file->path() : std::string();
}

/// The directory of the program, where its default.metallib is.
std::string program_directory() {
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  std::string text(path, size > 0 ? static_cast<size_t>(size) : 0);
  return text.substr(0, text.rfind('/') + 1);
}

/// Calls a handler with an object that it does not own and an error, where clients' code may run.
template <class T>
void call_handler(Device* device, objc::BlockRef<void(T*, ns::Error*)> handler, objc::Ref<T> object,
                  objc::Ref<ns::Error> error) {
  device->executor().notify(
      [handler = std::move(handler), object = std::move(object), error = std::move(error)] {
        objc::AutoreleaseScope scope;
        HandlerScope in_handler;
        handler(object.get(), error.get());
      });
}

/// Runs `make(&error)`, which gives an object that is the caller's, on a compile thread.
template <class T, class Make>
void make_async(Device* device, objc::Block<void(T*, ns::Error*)>* block, Make make) {
  CompilerService::shared().run_on_compile_thread(
      [device, make = std::move(make),
       handler = objc::BlockRef<void(T*, ns::Error*)>(block)]() mutable {
        objc::AutoreleaseScope scope;
        ns::Error* error = nullptr;
        auto object = objc::Ref<T>::adopt(make(&error));
        call_handler(device, std::move(handler), std::move(object), objc::Ref<ns::Error>(error));
      });
}

objc::Ref<ComputePipelineDescriptor> descriptor_for(Function* function) {
  auto descriptor = objc::make<ComputePipelineDescriptor>();
  descriptor->function = objc::Ref<Function>(function);
  return descriptor;
}

bool in_archives(ComputePipelineDescriptor* descriptor) {
  ns::Array* archives = descriptor->binary_archives.get();
  for (UInteger i = 0; archives && i < archives->count(); ++i)
    if (auto* archive = archives->at<BinaryArchive>(i);
        archive && archive->contains(descriptor->function.get()))
      return true;
  return false;
}

} // namespace

// ---- Libraries ----

Library* new_default_library(Device* device) {
  std::string path = program_directory() + "default.metallib";
  return access(path.c_str(), R_OK) == 0 ? load_file(device, path, nullptr) : nullptr;
}

Library* new_default_library_with_bundle(Device* device, objc::Object* bundle, ns::Error** error) {
  std::string directory = program_directory();
  if (bundle)
    if (auto* resources = objc::send<ns::String*, "resourcePath">(bundle))
      directory = ns::utf8(resources) + "/";
  return load_file(device, directory + "default.metallib", error);
}

Library* new_library_with_file(Device* device, ns::String* path, ns::Error** error) {
  return load_file(device, ns::utf8(path), error);
}

Library* new_library_with_url(Device* device, objc::Object* url, ns::Error** error) {
  return load_file(device, path_of_url(url), error);
}

Library* new_library_with_data(Device* device, objc::Object* data, ns::Error** error) {
  auto bytes = ns::bytes_of(data);
  if (!bytes) {
    ns::set_error(error,
                  library_error(LibraryErrorCode::Internal,
                                "newLibraryWithData: the data is nil or of no kind of data"));
    return nullptr;
  }
  return load(device, {reinterpret_cast<const char*>(bytes->data()), bytes->size()},
              "newLibraryWithData", error);
}

Library* new_library_with_source(Device* device, ns::String* source, CompileOptions* options,
                                 ns::Error** error) {
  auto for_compiler = CompileOptions::for_compiler(options);
  if (!for_compiler) {
    ns::set_error(error, library_error(LibraryErrorCode::Unsupported, for_compiler.error()));
    return nullptr;
  }
  return make_library(device,
                      CompilerService::shared().compile_source(ns::utf8(source), *for_compiler),
                      LibraryErrorCode::CompileFailure, error);
}

void new_library_with_source_async(Device* device, ns::String* source, CompileOptions* options,
                                   LibraryHandler* handler) {
  // Copies: a client may change both once this returns.
  objc::Ref<CompileOptions> copied =
      options ? objc::Ref<CompileOptions>::adopt(objc::send<CompileOptions*, "copy">(options))
              : nullptr;
  make_async<Library>(device, handler,
                      [device, source = ns::copy(source), copied](ns::Error** error) {
                        return new_library_with_source(device, source.get(), copied.get(), error);
                      });
}

Library* new_library_with_stitched_descriptor(Device*, objc::Object*, ns::Error** error) {
  ns::set_error(error, library_error(LibraryErrorCode::Unsupported,
                                     "newLibraryWithStitchedDescriptor: this device does not "
                                     "stitch functions"));
  return nullptr;
}

void new_library_with_stitched_descriptor_async(Device* device, objc::Object* descriptor,
                                                LibraryHandler* handler) {
  objc::AutoreleaseScope scope;
  ns::Error* error = nullptr;
  new_library_with_stitched_descriptor(device, descriptor, &error);
  call_handler<Library>(device, objc::BlockRef<void(Library*, ns::Error*)>(handler), nullptr,
                        objc::Ref<ns::Error>(error));
}

// ---- Pipelines ----

ComputePipelineState* new_pipeline_with_descriptor(Device* device,
                                                   ComputePipelineDescriptor* descriptor,
                                                   UInteger options,
                                                   ComputePipelineReflection** reflection,
                                                   ns::Error** error) {
  if (options & kFailOnBinaryArchiveMiss && descriptor && descriptor->function &&
      !in_archives(descriptor)) {
    ns::set_error(error, pipeline_error(kPipelineCompileFailure,
                                        "function '" + ns::utf8(descriptor->function->name()) +
                                            "' is in none of the descriptor's binary archives"));
    return nullptr;
  }
  auto state = ComputePipelineState::create(device, descriptor);
  if (!state) {
    ns::set_error(error, pipeline_error(kPipelineCompileFailure, state.error()));
    return nullptr;
  }
  if (reflection)
    *reflection = objc::make<ComputePipelineReflection>(descriptor->function.get()).autorelease();
  return state->take();
}

ComputePipelineState* new_pipeline_with_function(Device* device, Function* function,
                                                 ns::Error** error) {
  return new_pipeline_with_function_options(device, function, 0, nullptr, error);
}

ComputePipelineState* new_pipeline_with_function_options(Device* device, Function* function,
                                                         UInteger options,
                                                         ComputePipelineReflection** reflection,
                                                         ns::Error** error) {
  return new_pipeline_with_descriptor(device, descriptor_for(function).get(),
                                      options & ~kFailOnBinaryArchiveMiss, reflection, error);
}

void new_pipeline_with_function_async(Device* device, Function* function,
                                      PipelineHandler* handler) {
  make_async<ComputePipelineState>(
      device, handler, [device, descriptor = descriptor_for(function)](ns::Error** error) {
        return new_pipeline_with_descriptor(device, descriptor.get(), 0, nullptr, error);
      });
}

void new_pipeline_with_descriptor_async(Device* device, ComputePipelineDescriptor* descriptor,
                                        UInteger options, PipelineReflectionHandler* block) {
  auto copied =
      objc::Ref<ComputePipelineDescriptor>::adopt(descriptor ? descriptor->copy(nullptr) : nullptr);
  CompilerService::shared().run_on_compile_thread(
      [device, copied, options,
       handler =
           objc::BlockRef<void(ComputePipelineState*, ComputePipelineReflection*, ns::Error*)>(
               block)]() mutable {
        objc::AutoreleaseScope scope;
        ns::Error* error = nullptr;
        ComputePipelineReflection* reflection = nullptr;
        auto state = objc::Ref<ComputePipelineState>::adopt(
            new_pipeline_with_descriptor(device, copied.get(), options, &reflection, &error));
        device->executor().notify([handler = std::move(handler), state = std::move(state),
                                   reflection = objc::Ref<ComputePipelineReflection>(reflection),
                                   error = objc::Ref<ns::Error>(error)] {
          objc::AutoreleaseScope scope;
          HandlerScope in_handler;
          handler(state.get(), reflection.get(), error.get());
        });
      });
}

void new_pipeline_with_function_options_async(Device* device, Function* function, UInteger options,
                                              PipelineReflectionHandler* handler) {
  new_pipeline_with_descriptor_async(device, descriptor_for(function).get(),
                                     options & ~kFailOnBinaryArchiveMiss, handler);
}

// ---- The rest ----

ArgumentEncoder* new_argument_encoder(Device* device, ns::Array* arguments) {
  return ArgumentEncoder::create(device, arguments).take();
}

ArgumentEncoder* new_argument_encoder_with_binding(Device* device, BufferBinding* binding) {
  if (binding && binding->library())
    return ArgumentEncoder::create(device, *binding->library(), binding->members(), binding->size(),
                                   binding->alignment())
        .take();
  report_misuse("MTLDevice newArgumentEncoderWithBufferBinding:",
                "the binding is nil or no argument buffer");
  return nullptr;
}

DynamicLibrary* new_dynamic_library(Device*, Library*, ns::Error** error) {
  ns::set_error(error,
                ns::error(MTLDynamicLibraryDomain, 5 /* MTLDynamicLibraryErrorUnsupported */,
                          "newDynamicLibrary: dynamic libraries are not supported by this device"));
  return nullptr;
}

DynamicLibrary* new_dynamic_library_with_url(Device* device, objc::Object*, ns::Error** error) {
  return new_dynamic_library(device, nullptr, error);
}

BinaryArchive* new_binary_archive(Device* device, BinaryArchiveDescriptor* descriptor,
                                  ns::Error** error) {
  return BinaryArchive::create(device, descriptor, error).take();
}

} // namespace mtl

#include "metal/runtime/binary_archive.h"

#include <cinttypes>

#include "metal/foundation/file.h"
#include "metal/runtime/compute_pipeline_descriptor.h"
#include "metal/runtime/compute_pipeline_state.h"
#include "metal/runtime/library_error.h"
#include "metal/runtime/property.h"

namespace mtl {
namespace {

/// MTLBinaryArchiveError.
enum : ns::Integer { kInvalidFile = 1, kUnexpectedElement = 2, kCompilationFailure = 3 };

constexpr std::string_view kMagic = "Bessemer binary archive 1\n";

bool fail(ns::Error** error, ns::Integer code, std::string_view text) {
  ns::set_error(error, ns::error(MTLBinaryArchiveDomain, code, text));
  return false;
}

/// One line that tells a function and its constants from any other: FNV-1a of its module.
std::string key_of(Function* function) {
  uint64_t hash = 0xcbf29ce484222325;
  auto add = [&](const auto& bytes) {
    for (uint8_t byte : bytes)
      hash = (hash ^ byte) * 0x100000001b3;
  };
  const auto& table = function->library()->table();
  uint32_t module = function->table().module_();
  if (table->modules() && module < table->modules()->size())
    add(*table->modules()->Get(module)->bitcode());
  for (const auto& constant : function->constants()) {
    add(std::span(reinterpret_cast<const uint8_t*>(&constant.index), sizeof constant.index));
    add(constant.value);
  }
  char text[20];
  std::snprintf(text, sizeof text, "%016" PRIx64 " ", hash);
  return text + function->table().name()->str();
}

} // namespace

objc::Ref<BinaryArchive> BinaryArchive::create(Device* device, BinaryArchiveDescriptor* descriptor,
                                               ns::Error** error) {
  auto archive = objc::make<BinaryArchive>(device);
  if (!descriptor || !descriptor->url)
    return archive;
  const std::string& path = descriptor->url->path();
  auto bytes = ns::read_file(path, error);
  if (!bytes)
    return nullptr;
  if (!bytes->starts_with(kMagic) || !bytes->ends_with('\n')) {
    fail(error, kInvalidFile, path + ": not a binary archive of this device");
    return nullptr;
  }
  for (size_t at = kMagic.size(); at < bytes->size();) {
    size_t end = bytes->find('\n', at);
    archive->entries_.insert(bytes->substr(at, end - at));
    at = end + 1;
  }
  return archive;
}

bool BinaryArchive::add_compute_pipeline(ComputePipelineDescriptor* descriptor, ns::Error** error) {
  auto state = ComputePipelineState::create(device(), descriptor);
  if (!state)
    return fail(error, kCompilationFailure, state.error());
  std::lock_guard lock(mutex_);
  entries_.insert(key_of((*state)->function()));
  return true;
}

bool BinaryArchive::add_function(FunctionDescriptor* descriptor, Library* library,
                                 ns::Error** error) {
  if (!library)
    return fail(error, kUnexpectedElement, "addFunctionWithDescriptor: the library is nil");
  auto function =
      objc::Ref<Function>::adopt(library->new_function_with_descriptor(descriptor, error));
  if (!function)
    return false;
  auto pipeline = objc::make<ComputePipelineDescriptor>();
  pipeline->function = function;
  return add_compute_pipeline(pipeline.get(), error);
}

bool BinaryArchive::serialize(ns::URL* url, ns::Error** error) {
  if (!url)
    return fail(error, kInvalidFile, "serializeToURL: the URL is nil");
  std::string text(kMagic);
  {
    std::lock_guard lock(mutex_);
    for (const std::string& entry : entries_)
      text += entry + '\n';
  }
  return ns::write_file(url->path(), text, true, error);
}

bool BinaryArchive::contains(Function* function) {
  std::string key = key_of(function);
  std::lock_guard lock(mutex_);
  return entries_.contains(key);
}

namespace {

using P = Properties<BinaryArchiveDescriptor, BinaryArchiveDescriptorValues>;

bool refuse(BinaryArchive*, objc::Object*, ns::Error** error) {
  return fail(error, kUnexpectedElement, "this device computes only: it has no render pipelines");
}

} // namespace

OBJC_DEFINE_CLASS(BinaryArchiveDescriptor, "MTLBinaryArchiveDescriptor", objc::Object,
                  .methods = {
                      objc::method<&P::get<&BinaryArchiveDescriptor::url>>("url"),
                      objc::method<&P::set<&BinaryArchiveDescriptor::url>>("setUrl:"),
                      objc::method<&P::copy>("copyWithZone:"),
                  });

OBJC_DEFINE_CLASS(
    BinaryArchive, "BSMBinaryArchive", DeviceObject,
    .methods =
        {
            objc::method<&BinaryArchive::add_compute_pipeline>(
                "addComputePipelineFunctionsWithDescriptor:error:"),
            objc::method<&BinaryArchive::add_function>("addFunctionWithDescriptor:library:error:"),
            objc::method<&BinaryArchive::serialize>("serializeToURL:error:"),
            objc::method<&refuse>("addRenderPipelineFunctionsWithDescriptor:error:"),
            objc::method<&refuse>("addTileRenderPipelineFunctionsWithDescriptor:error:"),
            objc::method<&refuse>("addMeshRenderPipelineFunctionsWithDescriptor:error:"),
            objc::method<&refuse>("addLibraryWithDescriptor:error:"),
        },
    .protocols = {"MTLBinaryArchive"});

} // namespace mtl

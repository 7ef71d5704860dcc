// MTLBinaryArchive and its descriptor. Machine code is kept in the disk cache; an archive says
// which functions were compiled into it, so that a pipeline can insist on having been.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "metal/foundation/error.h"
#include "metal/foundation/url.h"
#include "metal/runtime/device_object.h"

namespace mtl {

class ComputePipelineDescriptor;
class Function;
class FunctionDescriptor;
class Library;

struct BinaryArchiveDescriptorValues {
  objc::Ref<ns::URL> url;
};

class BinaryArchiveDescriptor : public objc::Object, public BinaryArchiveDescriptorValues {
public:
  OBJC_CLASS(BinaryArchiveDescriptor, "MTLBinaryArchiveDescriptor");
};

class BinaryArchive : public DeviceObject {
public:
  OBJC_CLASS(BinaryArchive, "BSMBinaryArchive");

  /// Empty, or what the descriptor's file lists.
  static objc::Ref<BinaryArchive> create(Device* device, BinaryArchiveDescriptor* descriptor,
                                         ns::Error** error);
  explicit BinaryArchive(Device* device) : DeviceObject(device) {}

  /// Compiles the function and lists it.
  bool add_compute_pipeline(ComputePipelineDescriptor* descriptor, ns::Error** error);
  bool add_function(FunctionDescriptor* descriptor, Library* library, ns::Error** error);
  bool serialize(ns::URL* url, ns::Error** error);
  bool contains(Function* function);

private:
  std::mutex mutex_;
  std::set<std::string> entries_; // key_of each function
};

} // namespace mtl

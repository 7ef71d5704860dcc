// MTLLibrary: kernels in AIR, from source or a .metallib.
#pragma once

#include "metal/cpu/executor/compiler_service.h"
#include "metal/foundation/array.h"
#include "metal/foundation/error.h"
#include "metal/objc/block.h"
#include "metal/runtime/device_object.h"
#include "metal/runtime/function_descriptor.h"

namespace mtl {

class Function;

class Library : public DeviceObject {
public:
  OBJC_CLASS(Library, "BSMLibrary");

  Library(Device* device, bessemer::metal::cpu::LibraryTable table);

  const bessemer::metal::cpu::LibraryTable& table() const { return table_; }
  ns::Array* function_names() const { return function_names_.get(); }

  // What these give is the caller's. Null when there is no such function.
  Function* new_function(ns::String* name);
  Function* new_function_with_constants(ns::String* name, FunctionConstantValues* constants,
                                        ns::Error** error);
  Function* new_function_with_descriptor(FunctionDescriptor* descriptor, ns::Error** error);

  using Handler = objc::Block<void(Function*, ns::Error*)>;
  void new_function_with_constants_async(ns::String* name, FunctionConstantValues* constants,
                                         Handler* handler);
  void new_function_with_descriptor_async(FunctionDescriptor* descriptor, Handler* handler);

private:
  const bessemer::metal::Function* find(const std::string& name) const;

  bessemer::metal::cpu::LibraryTable table_;
  objc::Ref<ns::Array> function_names_;
};

} // namespace mtl

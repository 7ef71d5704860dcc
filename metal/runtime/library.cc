#include "metal/runtime/library.h"

#include "metal/runtime/device.h"
#include "metal/runtime/function.h"
#include "metal/runtime/library_error.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/notification.h"

namespace mtl {

Library::Library(Device* device, bessemer::metal::cpu::LibraryTable table)
    : DeviceObject(device), table_(std::move(table)) {
  std::vector<objc::Ref<ns::String>> names;
  if (table_->functions())
    for (const auto* function : *table_->functions())
      names.push_back(ns::string(function->name()->string_view()));
  function_names_ = ns::array(names);
}

const bessemer::metal::Function* Library::find(const std::string& name) const {
  // Not by key: a file need not be sorted.
  if (table_->functions())
    for (const auto* function : *table_->functions())
      if (function->name()->string_view() == name)
        return function;
  return nullptr;
}

Function* Library::new_function(ns::String* name) {
  std::string text = ns::utf8(name);
  const bessemer::metal::Function* table = find(text);
  if (!table)
    return nullptr;
  // One with required constants is made too: its dictionary is how a client learns of them. A
  // pipeline refuses it.
  auto constants = FunctionConstantValues::resolve(nullptr, *table);
  bool complete = constants.has_value();
  return objc::make<Function>(this, *table, text,
                              complete ? std::move(*constants)
                                       : std::vector<bessemer::metal::cpu::ConstantValue>(),
                              complete)
      .take();
}

Function* Library::new_function_with_constants(ns::String* name, FunctionConstantValues* values,
                                               ns::Error** error) {
  auto descriptor = objc::make<FunctionDescriptor>();
  descriptor->name = ns::copy(name);
  descriptor->constant_values = objc::Ref<FunctionConstantValues>(values);
  return new_function_with_descriptor(descriptor.get(), error);
}

Function* Library::new_function_with_descriptor(FunctionDescriptor* descriptor, ns::Error** error) {
  std::string name = descriptor ? ns::utf8(descriptor->name.get()) : std::string();
  const bessemer::metal::Function* table = find(name);
  if (!table) {
    ns::set_error(error, library_error(LibraryErrorCode::FunctionNotFound,
                                       "function '" + name + "' is not in the library"));
    return nullptr;
  }
  auto constants = FunctionConstantValues::resolve(descriptor->constant_values.get(), *table);
  if (!constants) {
    ns::set_error(error, library_error(LibraryErrorCode::CompileFailure, constants.error()));
    return nullptr;
  }
  std::string specialized = ns::utf8(descriptor->specialized_name.get());
  return objc::make<Function>(this, *table, specialized.empty() ? name : specialized,
                              std::move(*constants), true)
      .take();
}

void Library::new_function_with_descriptor_async(FunctionDescriptor* descriptor, Handler* handler) {
  // Finding a function is a matter of microseconds; only the handler must not run here.
  ns::Error* error = nullptr;
  objc::AutoreleaseScope scope;
  auto function = objc::Ref<Function>::adopt(new_function_with_descriptor(descriptor, &error));
  device()->executor().notify([function = std::move(function), error = objc::Ref<ns::Error>(error),
                               handler = objc::BlockRef<void(Function*, ns::Error*)>(handler)] {
    objc::AutoreleaseScope scope;
    HandlerScope in_handler;
    handler(function.get(), error.get());
  });
}

void Library::new_function_with_constants_async(ns::String* name, FunctionConstantValues* values,
                                                Handler* handler) {
  auto descriptor = objc::make<FunctionDescriptor>();
  descriptor->name = ns::copy(name);
  descriptor->constant_values = objc::Ref<FunctionConstantValues>(values);
  new_function_with_descriptor_async(descriptor.get(), handler);
}

namespace {

Function* new_intersection_function(Library*, FunctionDescriptor*, ns::Error** error) {
  ns::set_error(error, library_error(LibraryErrorCode::Unsupported,
                                     "newIntersectionFunctionWithDescriptor: this device has no "
                                     "ray tracing"));
  return nullptr;
}
void new_intersection_function_async(Library* self, FunctionDescriptor* descriptor,
                                     Library::Handler* handler) {
  ns::Error* error = nullptr;
  objc::AutoreleaseScope scope;
  new_intersection_function(self, descriptor, &error);
  self->device()->executor().notify(
      [error = objc::Ref<ns::Error>(error),
       handler = objc::BlockRef<void(Function*, ns::Error*)>(handler)] {
        objc::AutoreleaseScope scope;
        HandlerScope in_handler;
        handler(nullptr, error.get());
      });
}
Integer type(Library*) { return 0; } // MTLLibraryTypeExecutable
ns::String* install_name(Library* self) {
  const flatbuffers::String* name = self->table()->install_name();
  return name && name->size() ? ns::autoreleased_string(name->string_view()) : nullptr;
}

} // namespace

OBJC_DEFINE_CLASS(Library, "BSMLibrary", DeviceObject,
                  .methods =
                      {
                          objc::method<&Library::function_names>("functionNames"),
                          objc::method<&Library::new_function>("newFunctionWithName:"),
                          objc::method<&Library::new_function_with_constants>(
                              "newFunctionWithName:constantValues:error:"),
                          objc::method<&Library::new_function_with_descriptor>(
                              "newFunctionWithDescriptor:error:"),
                          objc::method<&Library::new_function_with_constants_async>(
                              "newFunctionWithName:constantValues:completionHandler:"),
                          objc::method<&Library::new_function_with_descriptor_async>(
                              "newFunctionWithDescriptor:completionHandler:"),
                          objc::method<&new_intersection_function>(
                              "newIntersectionFunctionWithDescriptor:error:"),
                          objc::method<&new_intersection_function_async>(
                              "newIntersectionFunctionWithDescriptor:completionHandler:"),
                          objc::method<&type>("type"),
                          objc::method<&install_name>("installName"),
                      },
                  .protocols = {"MTLLibrary"});

} // namespace mtl

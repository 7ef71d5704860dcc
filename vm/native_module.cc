#include "vm/native_module.h"

#include <cstdio>
#include <cstdlib>

#include "vm/native_function.h"

namespace bessemer::vm {

NativeModule::NativeModule(std::string name, uint32_t version,
                           std::span<const NativeFunction> functions)
    : name_(std::move(name)), version_(version) {
  signatures_.reserve(functions.size()); // exports point into it
  for (const NativeFunction& function : functions) {
    auto signature = Signature::parse(function.signature);
    if (!signature) {
      std::fprintf(stderr, "module %s: %s\n", name_.c_str(), signature.error().message().c_str());
      std::abort();
    }
    signatures_.push_back(*std::move(signature));
    exports_.push_back(
        {function.name, &signatures_.back(), {}, static_cast<uint32_t>(entries_.size())});
    entries_.push_back(function.entry);
  }
}

Result<std::unique_ptr<NativeState>> NativeModule::createState() const {
  return std::make_unique<NativeState>();
}

std::unexpected<Error> detail::wrongReference(size_t index, std::string_view expected,
                                              RawRef found) {
  return fail(StatusCode::InvalidArgument, "argument ", index, ": expected a ", expected, ", got ",
              found.object ? concat("a ", found.type->name) : std::string("null"));
}

} // namespace bessemer::vm

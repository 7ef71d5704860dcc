#include "metal/runtime/function.h"

#include "metal/foundation/array.h"
#include "metal/runtime/argument_encoder.h"
#include "metal/runtime/binding.h"
#include "metal/runtime/misuse.h"

namespace mtl {

Function::Function(Library* library, const bessemer::metal::Function& table, std::string name,
                   std::vector<bessemer::metal::cpu::ConstantValue> constants, bool is_specialized)
    : DeviceObject(library->device()), library_(library), table_(table), name_(ns::string(name)),
      constants_(std::move(constants)), is_specialized_(is_specialized) {
  auto dictionary = objc::make<ns::MutableDictionary>();
  if (table.constants())
    for (const auto* constant : *table.constants()) {
      auto object = objc::make<FunctionConstant>(*constant);
      dictionary->set(object.get(), object->name());
    }
  constants_dictionary_ = std::move(dictionary);
}

UInteger Function::function_type() const {
  switch (table_.kind()) {
  case bessemer::metal::FunctionKind::Vertex:
    return 1;
  case bessemer::metal::FunctionKind::Fragment:
    return 2;
  case bessemer::metal::FunctionKind::Kernel:
    return 3;
  default:
    return 5; // MTLFunctionTypeVisible: neither entry point nor stage
  }
}

ArgumentEncoder* Function::new_argument_encoder_with_reflection(UInteger buffer_index,
                                                                Argument** reflection) {
  if (table_.arguments())
    for (const auto* argument : *table_.arguments()) {
      if (argument->index() != buffer_index ||
          argument->kind() != bessemer::metal::ArgumentKind::ArgumentBuffer)
        continue;
      if (reflection)
        *reflection = objc::make<Argument>(*argument, BindingType::Buffer).autorelease();
      return ArgumentEncoder::create(device(), library_->table(), argument->members(),
                                     argument->size(), argument->alignment())
          .take();
    }
  report_misuse("MTLFunction newArgumentEncoderWithBufferIndex:",
                "'%s' has no argument buffer at index %lu", table_.name()->c_str(), buffer_index);
  return nullptr;
}

ArgumentEncoder* Function::new_argument_encoder(UInteger buffer_index) {
  return new_argument_encoder_with_reflection(buffer_index, nullptr);
}

namespace {

UInteger no_patch(Function*) { return 0; }
Integer no_control_points(Function*) { return -1; }
ns::Array* none(Function*) { return objc::make<ns::Array>().autorelease(); }
ns::String* description(Function* self) {
  return ns::autoreleased_string("<MTLFunction " + ns::utf8(self->name()) + ">");
}

} // namespace

OBJC_DEFINE_CLASS(
    Function, "BSMFunction", DeviceObject,
    .methods =
        {
            objc::method<&Function::name>("name"),
            objc::method<&Function::function_type>("functionType"),
            objc::method<&no_patch>("patchType"),
            objc::method<&no_control_points>("patchControlPointCount"),
            objc::method<&none>("vertexAttributes"),
            objc::method<&none>("stageInputAttributes"),
            objc::method<&Function::constants_dictionary>("functionConstantsDictionary"),
            objc::method<&Function::new_argument_encoder>("newArgumentEncoderWithBufferIndex:"),
            objc::method<&Function::new_argument_encoder_with_reflection>(
                "newArgumentEncoderWithBufferIndex:reflection:"),
            objc::method<&no_patch>("options"),
            objc::method<&description>("description"),
        },
    .protocols = {"MTLFunction"});

} // namespace mtl

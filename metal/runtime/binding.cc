#include "metal/runtime/binding.h"

#include "metal/runtime/encoding.h"

namespace mtl {
namespace {

std::string_view text_of(const flatbuffers::String* string) {
  return string ? string->string_view() : std::string_view();
}

} // namespace

Binding::Binding(const bessemer::metal::Argument& argument, BindingType type)
    : name_(ns::string(text_of(argument.name()))), type_(type),
      access_(static_cast<Access>(argument.access())), index_(argument.index()),
      is_used_(argument.used()), alignment_(argument.alignment()), size_(argument.size()) {
  if (type != BindingType::Buffer)
    return;
  PointerType::Pointee pointee;
  pointee.type = make_type(text_of(argument.type_name()), argument.members());
  pointee.access = access_;
  pointee.alignment = alignment_;
  pointee.size = size_;
  pointee.is_argument_buffer = argument.kind() == bessemer::metal::ArgumentKind::ArgumentBuffer;
  pointer_type_ = objc::make<PointerType>(std::move(pointee));
}

BufferBinding::BufferBinding(const bessemer::metal::Argument& argument,
                             const bessemer::metal::cpu::LibraryTable& library)
    : Binding(argument, BindingType::Buffer) {
  if (argument.kind() != bessemer::metal::ArgumentKind::ArgumentBuffer)
    return;
  library_ = library;
  members_ = argument.members();
}

DataType Binding::data_type() const {
  return pointer_type_ ? pointer_type_->pointee().type->data_type() : DataType::None;
}

StructType* Binding::struct_type() const {
  return pointer_type_ ? objc::cast<StructType>(pointer_type_->pointee().type.get()) : nullptr;
}

objc::Ref<ns::Array> make_bindings(const bessemer::metal::Function& function,
                                   const bessemer::metal::cpu::LibraryTable& library,
                                   bool as_arguments) {
  using bessemer::metal::ArgumentKind;
  std::vector<objc::Ref<Binding>> bindings;
  if (function.arguments())
    for (const auto* argument : *function.arguments()) {
      objc::Ref<Binding> binding;
      BindingType type;
      switch (argument->kind()) {
      case ArgumentKind::Buffer:
      case ArgumentKind::ArgumentBuffer:
        type = BindingType::Buffer;
        binding = objc::make<BufferBinding>(*argument, library);
        break;
      case ArgumentKind::Threadgroup:
        type = BindingType::ThreadgroupMemory;
        binding = objc::make<ThreadgroupBinding>(*argument);
        break;
      case ArgumentKind::Texture:
        type = BindingType::Texture;
        binding = objc::make<TextureBinding>(*argument);
        break;
      case ArgumentKind::Sampler:
        type = BindingType::Sampler;
        binding = objc::make<SamplerBinding>(*argument);
        break;
      default:
        continue;
      }
      if (as_arguments)
        binding = objc::make<Argument>(*argument, type);
      bindings.push_back(std::move(binding));
    }
  return ns::array(bindings);
}

namespace {

bool yes(Binding*) { return true; }
bool no(Binding*) { return false; }
UInteger zero(Binding*) { return 0; }
UInteger one(Binding*) { return 1; }

UInteger size_if(Binding* self, BindingType type) {
  return self->type() == type ? self->size() : 0;
}
UInteger alignment_if(Binding* self, BindingType type) {
  return self->type() == type ? self->alignment() : 0;
}
UInteger buffer_size(Binding* self) { return size_if(self, BindingType::Buffer); }
UInteger buffer_alignment(Binding* self) { return alignment_if(self, BindingType::Buffer); }
UInteger threadgroup_size(Binding* self) { return size_if(self, BindingType::ThreadgroupMemory); }
UInteger threadgroup_alignment(Binding* self) {
  return alignment_if(self, BindingType::ThreadgroupMemory);
}

} // namespace

OBJC_DEFINE_CLASS(Binding, "BSMBinding", objc::Object,
                  .methods =
                      {
                          objc::method<&Binding::name>("name"),
                          objc::method<&Binding::type>("type"),
                          objc::method<&Binding::access>("access"),
                          objc::method<&Binding::index>("index"),
                          objc::method<&Binding::is_used>("isUsed"),
                          objc::method<&yes>("isArgument"),
                          objc::method<&buffer_alignment>("bufferAlignment"),
                          objc::method<&buffer_size>("bufferDataSize"),
                          objc::method<&Binding::data_type>("bufferDataType"),
                          objc::method<&Binding::struct_type>("bufferStructType"),
                          objc::method<&Binding::pointer_type>("bufferPointerType"),
                          objc::method<&threadgroup_alignment>("threadgroupMemoryAlignment"),
                          objc::method<&threadgroup_size>("threadgroupMemoryDataSize"),
                          objc::method<&zero>("textureType"),
                          objc::method<&zero>("textureDataType"),
                          objc::method<&no>("isDepthTexture"),
                          objc::method<&one>("arrayLength"),
                      },
                  .protocols = {"MTLBinding"});

OBJC_DEFINE_CLASS(BufferBinding, "BSMBufferBinding", Binding, .protocols = {"MTLBufferBinding"});
OBJC_DEFINE_CLASS(ThreadgroupBinding, "BSMThreadgroupBinding", Binding,
                  .protocols = {"MTLThreadgroupBinding"});
OBJC_DEFINE_CLASS(TextureBinding, "BSMTextureBinding", Binding, .protocols = {"MTLTextureBinding"});
OBJC_DEFINE_CLASS(SamplerBinding, "BSMSamplerBinding", Binding, );
OBJC_DEFINE_CLASS(Argument, "MTLArgument", Binding,
                  .methods = {objc::method<&Binding::is_used>("isActive")});

} // namespace mtl

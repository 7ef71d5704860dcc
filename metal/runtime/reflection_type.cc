#include "metal/runtime/reflection_type.h"

#include "metal/runtime/encoding.h"

namespace mtl {
namespace {

std::string_view text_of(const flatbuffers::String* string) {
  return string ? string->string_view() : std::string_view();
}

/// "float" of "device float*" and "const device float *".
std::string_view pointee_name(std::string_view name) {
  if (size_t star = name.rfind('*'); star != std::string_view::npos)
    name = name.substr(0, star);
  for (bool again = true; again;) {
    again = false;
    for (std::string_view qualifier : {"const ", "device ", "constant ", "volatile "})
      if (name.starts_with(qualifier)) {
        name.remove_prefix(qualifier.size());
        again = true;
      }
  }
  while (name.ends_with(' '))
    name.remove_suffix(1);
  return name;
}

bool has_argument_indices(const MemberTables* members) {
  if (members)
    for (const auto* member : *members)
      if (member->argument_index() >= 0)
        return true;
  return false;
}

objc::Ref<Type> type_of_member(const bessemer::metal::StructMember& member) {
  std::string_view name = text_of(member.type_name());
  objc::Ref<Type> type;
  if (member.is_pointer()) {
    PointerType::Pointee pointee;
    pointee.type = make_type(pointee_name(name), member.members());
    pointee.access = static_cast<Access>(member.access());
    TypeLayout layout = layout_of(pointee.type->data_type());
    pointee.size = layout.size;
    pointee.alignment = layout.alignment;
    pointee.is_argument_buffer = has_argument_indices(member.members());
    type = objc::make<PointerType>(std::move(pointee));
  } else if (name.starts_with("texture") || name.starts_with("depth")) {
    type = objc::make<TextureReferenceType>();
  } else if (name == "sampler") {
    type = objc::make<Type>(DataType::Sampler);
  } else {
    type = make_type(name, member.members());
  }
  if (member.array_length())
    return objc::make<ArrayType>(std::move(type), member.array_length(), member.size(),
                                 member.argument_index() >= 0 ? 1 : 0);
  return type;
}

} // namespace

objc::Ref<Type> make_type(std::string_view msl_name, const MemberTables* members) {
  if (members && members->size())
    return objc::make<StructType>(*members);
  return objc::make<Type>(data_type_of(msl_name));
}

StructMember::StructMember(const bessemer::metal::StructMember& member)
    : name_(ns::string(text_of(member.name()))), type_(type_of_member(member)),
      offset_(member.offset()),
      argument_index_(member.argument_index() >= 0 ? static_cast<UInteger>(member.argument_index())
                                                   : kNotFound) {}

StructType* StructMember::struct_type() const { return objc::cast<StructType>(type_.get()); }
ArrayType* StructMember::array_type() const { return objc::cast<ArrayType>(type_.get()); }
PointerType* StructMember::pointer_type() const { return objc::cast<PointerType>(type_.get()); }
TextureReferenceType* StructMember::texture_reference_type() const {
  return objc::cast<TextureReferenceType>(type_.get());
}

StructType::StructType(const MemberTables& members) : Type(DataType::Struct) {
  std::vector<objc::Ref<StructMember>> list;
  for (const auto* member : members)
    list.push_back(objc::make<StructMember>(*member));
  members_ = ns::array(list);
}

StructMember* StructType::member_named(ns::String* name) const {
  std::string wanted = ns::utf8(name);
  for (UInteger i = 0; i < members_->count(); ++i)
    if (auto* member = members_->at<StructMember>(i); ns::utf8(member->name()) == wanted)
      return member;
  return nullptr;
}

ArrayType::ArrayType(objc::Ref<Type> element, UInteger length, UInteger stride,
                     UInteger index_stride)
    : Type(DataType::Array), element_(std::move(element)), length_(length), stride_(stride),
      index_stride_(index_stride) {}

namespace {

DataType element_type(ArrayType* self) {
  return self->element() ? self->element()->data_type() : DataType::None;
}
template <class T>
T* element_as(ArrayType* self) {
  return objc::cast<T>(self->element());
}

DataType pointee_type(PointerType* self) {
  return self->pointee().type ? self->pointee().type->data_type() : DataType::None;
}
template <class T>
T* pointee_as(PointerType* self) {
  return objc::cast<T>(self->pointee().type.get());
}
Access access(PointerType* self) { return self->pointee().access; }
UInteger alignment(PointerType* self) { return self->pointee().alignment; }
UInteger size(PointerType* self) { return self->pointee().size; }
bool is_argument_buffer(PointerType* self) { return self->pointee().is_argument_buffer; }

// What a texture would hold is not in a compute library's tables.
UInteger zero(TextureReferenceType*) { return 0; }
bool no(TextureReferenceType*) { return false; }

} // namespace

OBJC_DEFINE_CLASS(Type, "MTLType", objc::Object,
                  .methods = {objc::method<&Type::data_type>("dataType")});

OBJC_DEFINE_CLASS(TextureReferenceType, "MTLTextureReferenceType", Type,
                  .methods = {
                      objc::method<&zero>("textureDataType"),
                      objc::method<&zero>("textureType"),
                      objc::method<&zero>("access"),
                      objc::method<&no>("isDepthTexture"),
                  });

OBJC_DEFINE_CLASS(StructMember, "MTLStructMember", objc::Object,
                  .methods = {
                      objc::method<&StructMember::name>("name"),
                      objc::method<&StructMember::offset>("offset"),
                      objc::method<&StructMember::data_type>("dataType"),
                      objc::method<&StructMember::struct_type>("structType"),
                      objc::method<&StructMember::array_type>("arrayType"),
                      objc::method<&StructMember::pointer_type>("pointerType"),
                      objc::method<&StructMember::texture_reference_type>("textureReferenceType"),
                      objc::method<&StructMember::argument_index>("argumentIndex"),
                  });

OBJC_DEFINE_CLASS(StructType, "MTLStructType", Type,
                  .methods = {
                      objc::method<&StructType::members>("members"),
                      objc::method<&StructType::member_named>("memberByName:"),
                  });

OBJC_DEFINE_CLASS(
    ArrayType, "MTLArrayType", Type,
    .methods = {
        objc::method<&element_type>("elementType"),
        objc::method<&ArrayType::length>("arrayLength"),
        objc::method<&ArrayType::stride>("stride"),
        objc::method<&ArrayType::argument_index_stride>("argumentIndexStride"),
        objc::method<&element_as<StructType>>("elementStructType"),
        objc::method<&element_as<ArrayType>>("elementArrayType"),
        objc::method<&element_as<PointerType>>("elementPointerType"),
        objc::method<&element_as<TextureReferenceType>>("elementTextureReferenceType"),
    });

OBJC_DEFINE_CLASS(PointerType, "MTLPointerType", Type,
                  .methods = {
                      objc::method<&pointee_type>("elementType"),
                      objc::method<&access>("access"),
                      objc::method<&alignment>("alignment"),
                      objc::method<&size>("dataSize"),
                      objc::method<&is_argument_buffer>("elementIsArgumentBuffer"),
                      objc::method<&pointee_as<StructType>>("elementStructType"),
                      objc::method<&pointee_as<ArrayType>>("elementArrayType"),
                  });

} // namespace mtl

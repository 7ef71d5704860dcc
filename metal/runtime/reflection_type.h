// MTLType and its subclasses: the types of what kernels take.
#pragma once

#include "library_generated.h"
#include "metal/foundation/array.h"
#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/runtime/data_type.h"

namespace mtl {

/// MTLBindingAccess; MTLArgumentAccess has the same numbers.
enum class Access : UInteger { ReadOnly = 0, ReadWrite = 1, WriteOnly = 2 };

class ArrayType;
class PointerType;
class StructType;

class Type : public objc::Object {
public:
  OBJC_CLASS(Type, "MTLType");

  explicit Type(DataType data_type = DataType::None) : data_type_(data_type) {}
  DataType data_type() const { return data_type_; }

private:
  DataType data_type_;
};

class TextureReferenceType : public Type {
public:
  OBJC_CLASS(TextureReferenceType, "MTLTextureReferenceType");

  TextureReferenceType() : Type(DataType::Texture) {}
};

class StructMember : public objc::Object {
public:
  OBJC_CLASS(StructMember, "MTLStructMember");

  StructMember() = default;
  explicit StructMember(const bessemer::metal::StructMember& member);

  ns::String* name() const { return name_.get(); }
  UInteger offset() const { return offset_; }
  DataType data_type() const { return type_ ? type_->data_type() : DataType::None; }
  /// Null unless the member is of that kind.
  StructType* struct_type() const;
  ArrayType* array_type() const;
  PointerType* pointer_type() const;
  TextureReferenceType* texture_reference_type() const;
  /// [[id(n)]] in an argument buffer; NSNotFound elsewhere.
  UInteger argument_index() const { return argument_index_; }

private:
  objc::Ref<ns::String> name_;
  objc::Ref<Type> type_;
  UInteger offset_ = 0;
  UInteger argument_index_ = kNotFound;
};

using MemberTables = flatbuffers::Vector<flatbuffers::Offset<bessemer::metal::StructMember>>;

class StructType : public Type {
public:
  OBJC_CLASS(StructType, "MTLStructType");

  StructType() : Type(DataType::Struct) {}
  explicit StructType(const MemberTables& members);

  ns::Array* members() const { return members_.get(); }
  /// Null when there is none.
  StructMember* member_named(ns::String* name) const;

private:
  objc::Ref<ns::Array> members_ = objc::make<ns::Array>();
};

class ArrayType : public Type {
public:
  OBJC_CLASS(ArrayType, "MTLArrayType");

  ArrayType() : Type(DataType::Array) {}
  ArrayType(objc::Ref<Type> element, UInteger length, UInteger stride, UInteger index_stride);

  Type* element() const { return element_.get(); }
  UInteger length() const { return length_; }
  UInteger stride() const { return stride_; }
  UInteger argument_index_stride() const { return index_stride_; }

private:
  objc::Ref<Type> element_;
  UInteger length_ = 0;
  UInteger stride_ = 0;
  UInteger index_stride_ = 0;
};

class PointerType : public Type {
public:
  OBJC_CLASS(PointerType, "MTLPointerType");

  struct Pointee {
    objc::Ref<Type> type;
    Access access = Access::ReadWrite;
    UInteger alignment = 0;
    UInteger size = 0;
    bool is_argument_buffer = false;
  };

  PointerType() : Type(DataType::Pointer) {}
  explicit PointerType(Pointee pointee) : Type(DataType::Pointer), pointee_(std::move(pointee)) {}

  const Pointee& pointee() const { return pointee_; }

private:
  Pointee pointee_;
};

/// A type by its MSL name, with members when it is a struct.
objc::Ref<Type> make_type(std::string_view msl_name, const MemberTables* members);

} // namespace mtl

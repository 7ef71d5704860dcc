// MTLBinding and its kinds, and MTLArgument, which came before: what a kernel takes at an index.
#pragma once

#include <optional>

#include "library_generated.h"
#include "metal/cpu/executor/compiler_service.h"
#include "metal/foundation/array.h"
#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/runtime/reflection_type.h"

namespace mtl {

/// MTLBindingType; MTLArgumentType has the same numbers.
enum class BindingType : Integer { Buffer = 0, ThreadgroupMemory = 1, Texture = 2, Sampler = 3 };

/// Also answers the methods of MTLArgument.
class Binding : public objc::Object {
public:
  OBJC_CLASS(Binding, "BSMBinding");

  Binding() = default;
  Binding(const bessemer::metal::Argument& argument, BindingType type);

  ns::String* name() const { return name_.get(); }
  BindingType type() const { return type_; }
  Access access() const { return access_; }
  UInteger index() const { return index_; }
  bool is_used() const { return is_used_; }
  UInteger alignment() const { return alignment_; }
  UInteger size() const { return size_; }
  /// Of the pointee; None for what is no buffer.
  DataType data_type() const;
  StructType* struct_type() const;
  PointerType* pointer_type() const { return pointer_type_.get(); }

protected:
  objc::Ref<ns::String> name_;
  BindingType type_ = BindingType::Buffer;
  Access access_ = Access::ReadOnly;
  UInteger index_ = 0;
  bool is_used_ = false;
  UInteger alignment_ = 0;
  UInteger size_ = 0;
  objc::Ref<PointerType> pointer_type_;
};

class BufferBinding : public Binding {
public:
  OBJC_CLASS(BufferBinding, "BSMBufferBinding");
  /// `argument` lies in `library`.
  BufferBinding(const bessemer::metal::Argument& argument,
                const bessemer::metal::cpu::LibraryTable& library);

  /// For an argument buffer, what its encoder is made from; else nothing.
  const bessemer::metal::cpu::LibraryTable* library() const {
    return library_ ? &*library_ : nullptr;
  }
  const MemberTables* members() const { return members_; }

private:
  std::optional<bessemer::metal::cpu::LibraryTable> library_;
  const MemberTables* members_ = nullptr;
};

class ThreadgroupBinding : public Binding {
public:
  OBJC_CLASS(ThreadgroupBinding, "BSMThreadgroupBinding");
  explicit ThreadgroupBinding(const bessemer::metal::Argument& argument)
      : Binding(argument, BindingType::ThreadgroupMemory) {}
};

class TextureBinding : public Binding {
public:
  OBJC_CLASS(TextureBinding, "BSMTextureBinding");
  explicit TextureBinding(const bessemer::metal::Argument& argument)
      : Binding(argument, BindingType::Texture) {}
};

class SamplerBinding : public Binding {
public:
  OBJC_CLASS(SamplerBinding, "BSMSamplerBinding");
  explicit SamplerBinding(const bessemer::metal::Argument& argument)
      : Binding(argument, BindingType::Sampler) {}
};

/// MTLArgument by that name.
class Argument : public Binding {
public:
  OBJC_CLASS(Argument, "MTLArgument");
  Argument() = default;
  Argument(const bessemer::metal::Argument& argument, BindingType type) : Binding(argument, type) {}
};

/// The bindings of a function, of class Binding (`as_arguments`: Argument), built-in values left
/// out.
objc::Ref<ns::Array> make_bindings(const bessemer::metal::Function& function,
                                   const bessemer::metal::cpu::LibraryTable& library,
                                   bool as_arguments);

} // namespace mtl

// MTLStageInputOutputDescriptor and its parts: how [[stage_in]] would be fetched. Kept as they are
// set; a compute pipeline that needs them is refused.
#pragma once

#include <array>

#include "metal/objc/class.h"
#include "metal/runtime/types.h"

namespace mtl {

struct BufferLayoutValues {
  UInteger stride = 0;
  UInteger step_function = 1; // MTLStepFunctionPerVertex
  UInteger step_rate = 1;
};
class BufferLayoutDescriptor : public objc::Object, public BufferLayoutValues {
public:
  OBJC_CLASS(BufferLayoutDescriptor, "MTLBufferLayoutDescriptor");
};

struct AttributeValues {
  UInteger format = 0;
  UInteger offset = 0;
  UInteger buffer_index = 0;
};
class AttributeDescriptor : public objc::Object, public AttributeValues {
public:
  OBJC_CLASS(AttributeDescriptor, "MTLAttributeDescriptor");
};

/// 31 descriptors, always there.
template <class T, class Values>
class DescriptorArray : public objc::Object {
public:
  static constexpr UInteger kCount = 31;

  DescriptorArray() { reset(); }
  T* at(UInteger index) const { return index < kCount ? items_[index].get() : nullptr; }
  void set(T* item, UInteger index) {
    if (index < kCount)
      static_cast<Values&>(*items_[index]) = item ? static_cast<const Values&>(*item) : Values();
  }
  void reset() {
    for (objc::Ref<T>& item : items_)
      item = objc::make<T>();
  }
  void assign(const DescriptorArray& other) {
    for (UInteger i = 0; i < kCount; ++i)
      set(other.at(i), i);
  }

private:
  std::array<objc::Ref<T>, kCount> items_;
};

class BufferLayoutDescriptorArray
    : public DescriptorArray<BufferLayoutDescriptor, BufferLayoutValues> {
public:
  OBJC_CLASS(BufferLayoutDescriptorArray, "MTLBufferLayoutDescriptorArray");
};
class AttributeDescriptorArray : public DescriptorArray<AttributeDescriptor, AttributeValues> {
public:
  OBJC_CLASS(AttributeDescriptorArray, "MTLAttributeDescriptorArray");
};

class StageInputOutputDescriptor : public objc::Object {
public:
  OBJC_CLASS(StageInputOutputDescriptor, "MTLStageInputOutputDescriptor");

  UInteger index_type = 0;
  UInteger index_buffer_index = 0;

  BufferLayoutDescriptorArray* layouts() const { return layouts_.get(); }
  AttributeDescriptorArray* attributes() const { return attributes_.get(); }
  void reset();
  StageInputOutputDescriptor* copy(void* zone) const;

private:
  objc::Ref<BufferLayoutDescriptorArray> layouts_ = objc::make<BufferLayoutDescriptorArray>();
  objc::Ref<AttributeDescriptorArray> attributes_ = objc::make<AttributeDescriptorArray>();
};

} // namespace mtl

#include "metal/runtime/argument_encoder.h"

#include <algorithm>
#include <cstring>

#include "metal/runtime/argument_descriptor.h"
#include "metal/runtime/misuse.h"

namespace mtl {
namespace {

void report(const char* method, const std::string& text) {
  report_misuse(("MTLArgumentEncoder " + std::string(method)).c_str(), "%s", text.c_str());
}

/// Adds the members that have an index, and those of structs within them.
void add_members(std::map<UInteger, ArgumentEncoder::Slot>& slots, const MemberTables* members,
                 uint64_t base) {
  if (!members)
    return;
  for (const auto* member : *members) {
    uint64_t offset = base + member->offset();
    uint32_t count = std::max(1u, member->array_length());
    if (member->argument_index() < 0) {
      if (!member->is_pointer())
        for (uint32_t i = 0; i < count; ++i)
          add_members(slots, member->members(), offset + uint64_t{i} * member->size());
      continue;
    }
    bool is_struct = !member->is_pointer() && member->members() && member->members()->size();
    std::string_view name =
        member->type_name() ? member->type_name()->string_view() : std::string_view();
    bool other = name.starts_with("texture") || name.starts_with("sampler");
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t at = offset + uint64_t{i} * member->size();
      if (is_struct)
        add_members(slots, member->members(), at);
      ArgumentEncoder::Kind kind = member->is_pointer() ? ArgumentEncoder::Kind::Buffer
                                   : other              ? ArgumentEncoder::Kind::Other
                                                        : ArgumentEncoder::Kind::Constant;
      slots.try_emplace(static_cast<UInteger>(member->argument_index()) + i,
                        ArgumentEncoder::Slot{at, member->size(), kind,
                                              member->is_pointer() ? member->members() : nullptr});
    }
  }
}

} // namespace

objc::Ref<ArgumentEncoder>
ArgumentEncoder::create(Device* device, const bessemer::metal::cpu::LibraryTable& library,
                        const MemberTables* members, UInteger size, UInteger alignment) {
  std::map<UInteger, Slot> slots;
  add_members(slots, members, 0);
  alignment = std::max<UInteger>(alignment, 8);
  if (!size)
    for (const auto& [index, slot] : slots)
      size = std::max(size, (slot.offset + slot.size + alignment - 1) / alignment * alignment);
  auto encoder = objc::make<ArgumentEncoder>(device, std::move(slots), size, alignment);
  encoder->library_ = library;
  return encoder;
}

objc::Ref<ArgumentEncoder> ArgumentEncoder::create(Device* device, ns::Array* descriptors) {
  std::vector<ArgumentDescriptor*> sorted;
  for (UInteger i = 0; descriptors && i < descriptors->count(); ++i)
    if (auto* descriptor = descriptors->at<ArgumentDescriptor>(i))
      sorted.push_back(descriptor);
  std::ranges::sort(sorted, {}, [](ArgumentDescriptor* d) { return d->index; });
  std::map<UInteger, Slot> slots;
  UInteger size = 0, largest = 8;
  for (const ArgumentDescriptor* descriptor : sorted) {
    TypeLayout layout = layout_of(descriptor->data_type);
    if (!layout.size) {
      report("newArgumentEncoderWithArguments:", "the argument at index " +
                                                     std::to_string(descriptor->index) + " is a " +
                                                     data_type_name(descriptor->data_type));
      return nullptr;
    }
    UInteger alignment = std::max<UInteger>(layout.alignment, descriptor->constant_block_alignment);
    largest = std::max(largest, alignment);
    Kind kind = descriptor->data_type == DataType::Pointer                 ? Kind::Buffer
                : shape_of(descriptor->data_type).scalar != DataType::None ? Kind::Constant
                                                                           : Kind::Other;
    for (UInteger i = 0; i < std::max<UInteger>(1, descriptor->array_length); ++i) {
      size = (size + alignment - 1) / alignment * alignment;
      if (!slots.try_emplace(descriptor->index + i, Slot{size, layout.size, kind, nullptr})
               .second) {
        report("newArgumentEncoderWithArguments:",
               "two arguments have index " + std::to_string(descriptor->index + i));
        return nullptr;
      }
      size += layout.size;
    }
  }
  return objc::make<ArgumentEncoder>(device, std::move(slots),
                                     (size + largest - 1) / largest * largest, largest);
}

ArgumentEncoder::ArgumentEncoder(Device* device, std::map<UInteger, Slot> slots, UInteger size,
                                 UInteger alignment)
    : DeviceObject(device), slots_(std::move(slots)), size_(size), alignment_(alignment) {}

void ArgumentEncoder::set_argument_buffer(Buffer* buffer, UInteger offset) {
  if (buffer && (offset > buffer->length() || size_ > buffer->length() - offset)) {
    report("setArgumentBuffer:offset:", std::to_string(size_) + " bytes at offset " +
                                            std::to_string(offset) + " of a buffer of " +
                                            std::to_string(buffer->length()));
    buffer = nullptr;
  }
  buffer_ = objc::Ref<Buffer>(buffer);
  offset_ = offset;
}

void ArgumentEncoder::set_argument_buffer_element(Buffer* buffer, UInteger start,
                                                  UInteger element) {
  UInteger stride = (size_ + alignment_ - 1) / alignment_ * alignment_;
  set_argument_buffer(buffer, start + element * stride);
}

uint8_t* ArgumentEncoder::slot(const char* method, UInteger index, Kind kind) {
  auto found = slots_.find(index);
  if (found == slots_.end() || found->second.kind != kind) {
    report(method, "there is no " + std::string(kind == Kind::Buffer ? "buffer" : "constant") +
                       " with [[id(" + std::to_string(index) + ")]]");
    return nullptr;
  }
  if (!buffer_) {
    report(method, "no argument buffer is set");
    return nullptr;
  }
  return reinterpret_cast<uint8_t*>(buffer_->address()) + offset_ + found->second.offset;
}

void ArgumentEncoder::set_buffer(Buffer* buffer, UInteger offset, UInteger index) {
  uint8_t* target = slot("setBuffer:offset:atIndex:", index, Kind::Buffer);
  if (!target)
    return;
  uint64_t address = buffer ? buffer->gpu_address() + offset : 0;
  std::memcpy(target, &address, sizeof address);
}

void ArgumentEncoder::set_buffers(Buffer* const* buffers, const UInteger* offsets, Range range) {
  for (UInteger i = 0; i < range.length; ++i)
    set_buffer(buffers[i], offsets[i], range.location + i);
}

void* ArgumentEncoder::constant_data(UInteger index) {
  return slot("constantDataAtIndex:", index, Kind::Constant);
}

ArgumentEncoder* ArgumentEncoder::new_nested(UInteger index) {
  auto found = slots_.find(index);
  if (found != slots_.end() && found->second.pointee && library_) {
    auto encoder = create(device(), *library_, found->second.pointee, 0, 0);
    if (!encoder->slots_.empty())
      return encoder.take();
  }
  report("newArgumentEncoderForBufferAtIndex:",
         "[[id(" + std::to_string(index) + ")]] is no pointer to an argument buffer");
  return nullptr;
}

namespace {

/// For methods that would set an object (if not null) of a kind that this device does not have.
template <ns::LiteralText Method>
void refuse(ArgumentEncoder*, objc::Object* object, UInteger) {
  if (object)
    report(Method.text, "this device has no such objects");
}
template <ns::LiteralText Method>
void refuse_many(ArgumentEncoder*, objc::Object* const*, Range range) {
  if (range.length)
    report(Method.text, "this device has no such objects");
}
template <ns::LiteralText Method>
void refuse_gpu_encoding(ArgumentEncoder*, objc::Object*, UInteger) {
  report(Method.text, "kernels of this device cannot encode commands");
}

} // namespace

OBJC_DEFINE_CLASS(
    ArgumentEncoder, "BSMArgumentEncoder", DeviceObject,
    .methods =
        {
            objc::method<&ArgumentEncoder::encoded_length>("encodedLength"),
            objc::method<&ArgumentEncoder::alignment>("alignment"),
            objc::method<&ArgumentEncoder::set_argument_buffer>("setArgumentBuffer:offset:"),
            objc::method<&ArgumentEncoder::set_argument_buffer_element>(
                "setArgumentBuffer:startOffset:arrayElement:"),
            objc::method<&ArgumentEncoder::set_buffer>("setBuffer:offset:atIndex:"),
            objc::method<&ArgumentEncoder::set_buffers>("setBuffers:offsets:withRange:"),
            objc::method<&ArgumentEncoder::constant_data>("constantDataAtIndex:"),
            objc::method<&ArgumentEncoder::new_nested>("newArgumentEncoderForBufferAtIndex:"),
            objc::method<&refuse<"setTexture:atIndex:">>("setTexture:atIndex:"),
            objc::method<&refuse_many<"setTextures:withRange:">>("setTextures:withRange:"),
            objc::method<&refuse<"setSamplerState:atIndex:">>("setSamplerState:atIndex:"),
            objc::method<&refuse_many<"setSamplerStates:withRange:">>(
                "setSamplerStates:withRange:"),
            objc::method<&refuse<"setRenderPipelineState:atIndex:">>(
                "setRenderPipelineState:atIndex:"),
            objc::method<&refuse_many<"setRenderPipelineStates:withRange:">>(
                "setRenderPipelineStates:withRange:"),
            objc::method<&refuse_gpu_encoding<"setComputePipelineState:atIndex:">>(
                "setComputePipelineState:atIndex:"),
            objc::method<&refuse_many<"setComputePipelineStates:withRange:">>(
                "setComputePipelineStates:withRange:"),
            objc::method<&refuse_gpu_encoding<"setIndirectCommandBuffer:atIndex:">>(
                "setIndirectCommandBuffer:atIndex:"),
            objc::method<&refuse_many<"setIndirectCommandBuffers:withRange:">>(
                "setIndirectCommandBuffers:withRange:"),
            objc::method<&refuse<"setAccelerationStructure:atIndex:">>(
                "setAccelerationStructure:atIndex:"),
            objc::method<&refuse<"setVisibleFunctionTable:atIndex:">>(
                "setVisibleFunctionTable:atIndex:"),
            objc::method<&refuse_many<"setVisibleFunctionTables:withRange:">>(
                "setVisibleFunctionTables:withRange:"),
            objc::method<&refuse<"setIntersectionFunctionTable:atIndex:">>(
                "setIntersectionFunctionTable:atIndex:"),
            objc::method<&refuse_many<"setIntersectionFunctionTables:withRange:">>(
                "setIntersectionFunctionTables:withRange:"),
        },
    .protocols = {"MTLArgumentEncoder"});

} // namespace mtl

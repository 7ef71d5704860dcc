#include "metal/runtime/blit_encoder.h"

#include <cstring>
#include <new>
#include <type_traits>

#include "metal/runtime/indirect_command_buffer.h"

namespace mtl {

namespace {

using Number = unsigned long long; // for %llu

bool is_within(Range range, UInteger size) {
  return range.location <= size && range.length <= size - range.location;
}

struct ResetCommands {
  IndirectCommandBuffer* commands;
  Range range;
  void operator()() const { commands->reset(range); }
};

struct CopyCommands {
  IndirectCommandBuffer* source;
  Range range;
  IndirectCommandBuffer* target;
  UInteger index;
  void operator()() const {
    for (UInteger i = 0; i < range.length; ++i)
      target->command(index + i) = source->command(range.location + i);
  }
};

struct ResolveCounters {
  CounterSampleBuffer* samples;
  Range range;
  char* target;
  void operator()() const {
    for (UInteger i = 0; i < range.length; ++i) {
      uint64_t value = samples->value(range.location + i);
      std::memcpy(target + i * sizeof value, &value, sizeof value);
    }
  }
};

} // namespace

BlitEncoder::BlitEncoder(CommandBuffer* buffer, SampleBufferAttachmentArray* samples)
    : CommandEncoder(buffer, "MTLBlitCommandEncoder", samples) {}

template <class Context>
void BlitEncoder::record_function(const Context& context) {
  static_assert(std::is_trivially_destructible_v<Context>);
  void* copy = new (list().allocate(sizeof(Context), alignof(Context))) Context(context);
  list().host_function([](void* pointer) { (*static_cast<const Context*>(pointer))(); }, copy);
}

void BlitEncoder::fill(Buffer* target, Range range, uint8_t value) {
  constexpr char kMethod[] = "fillBuffer:range:value:";
  if (!records(kMethod) || !check_range(kMethod, "buffer", target, range.location, range.length))
    return;
  buffer()->use(target);
  barrier();
  list().fill(target->address() + range.location, range.length, value);
}

void BlitEncoder::copy(Buffer* source, UInteger source_offset, Buffer* target,
                       UInteger target_offset, UInteger size) {
  constexpr char kMethod[] = "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:";
  if (!records(kMethod) || !check_range(kMethod, "sourceBuffer", source, source_offset, size) ||
      !check_range(kMethod, "destinationBuffer", target, target_offset, size))
    return;
  const char* from = source->address() + source_offset;
  char* to = target->address() + target_offset;
  if (size != 0 && from < to + size && to < from + size)
    return misused(kMethod, "source and destination overlap");
  buffer()->use(source);
  buffer()->use(target);
  barrier();
  list().copy(to, from, size);
}

void BlitEncoder::update_fence(Fence* fence) { check_fence("updateFence:", fence); }
void BlitEncoder::wait_for_fence(Fence* fence) { check_fence("waitForFence:", fence); }

void BlitEncoder::reset_commands(IndirectCommandBuffer* commands, Range range) {
  constexpr char kMethod[] = "resetCommandsInBuffer:withRange:";
  if (!records(kMethod))
    return;
  if (!commands || !is_within(range, commands->size()))
    return misused(kMethod, "%s",
                   commands ? "the range ends after the commands" : "buffer is null");
  buffer()->use(commands);
  record_function(ResetCommands{commands, range});
}

void BlitEncoder::copy_commands(IndirectCommandBuffer* source, Range range,
                                IndirectCommandBuffer* target, UInteger index) {
  constexpr char kMethod[] = "copyIndirectCommandBuffer:sourceRange:destination:destinationIndex:";
  if (!records(kMethod))
    return;
  if (!source || !target)
    return misused(kMethod, "%s is null", source ? "destination" : "source");
  if (!is_within(range, source->size()) || !is_within({index, range.length}, target->size()))
    return misused(kMethod, "range {%llu, %llu} to index %llu ends after the commands",
                   Number(range.location), Number(range.length), Number(index));
  buffer()->use(source);
  buffer()->use(target);
  record_function(CopyCommands{source, range, target, index});
}

void BlitEncoder::sample_counters_in_buffer(CounterSampleBuffer* samples, UInteger index,
                                            bool /*barrier: a sample always is one*/) {
  sample_counters("sampleCountersInBuffer:atSampleIndex:withBarrier:", samples, index);
}

void BlitEncoder::resolve_counters(CounterSampleBuffer* samples, Range range, Buffer* target,
                                   UInteger target_offset) {
  constexpr char kMethod[] = "resolveCounters:inRange:destinationBuffer:destinationOffset:";
  if (!records(kMethod))
    return;
  if (!samples || !is_within(range, samples->sample_count()))
    return misused(kMethod, "%s",
                   samples ? "the range ends after the samples" : "sampleBuffer is null");
  if (!check_range(kMethod, "destinationBuffer", target, target_offset,
                   range.length * sizeof(uint64_t)))
    return;
  if (target_offset % sizeof(uint64_t) != 0)
    return misused(kMethod, "destinationOffset %llu is no multiple of 8", Number(target_offset));
  buffer()->keep(samples);
  buffer()->use(target);
  record_function(ResolveCounters{samples, range, target->address() + target_offset});
}

void BlitEncoder::refuse(const char* method, const char* what) {
  if (records(method))
    misused(method, "this device computes only: it has no %s", what);
}

namespace {

using E = BlitEncoder;

// Host and device share their memory, and nothing is stored in a form that could be optimised.
void synchronize_resource(E*, Resource*) {}
void optimize_commands(E*, IndirectCommandBuffer*, Range) {}
void optimize(E*, objc::Object*) {}
void optimize_level(E*, objc::Object*, UInteger, UInteger) {}

void synchronize_texture(E* self, objc::Object*, UInteger, UInteger) {
  self->refuse("synchronizeTexture:slice:level:", "textures");
}
void generate_mipmaps(E* self, objc::Object*) {
  self->refuse("generateMipmapsForTexture:", "textures");
}
void copy_texture(E* self, objc::Object*, objc::Object*) {
  self->refuse("copyFromTexture:toTexture:", "textures");
}
void copy_slices(E* self, objc::Object*, UInteger, UInteger, objc::Object*, UInteger, UInteger,
                 UInteger, UInteger) {
  self->refuse("copyFromTexture:sourceSlice:sourceLevel:toTexture:...", "textures");
}
void copy_region(E* self, objc::Object*, UInteger, UInteger, Origin, Size, objc::Object*, UInteger,
                 UInteger, Origin) {
  self->refuse("copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toTexture:...",
               "textures");
}
void copy_to_texture(E* self, Buffer*, UInteger, UInteger, UInteger, Size, objc::Object*, UInteger,
                     UInteger, Origin) {
  self->refuse("copyFromBuffer:...toTexture:...", "textures");
}
void copy_to_texture_options(E* self, Buffer*, UInteger, UInteger, UInteger, Size, objc::Object*,
                             UInteger, UInteger, Origin, UInteger) {
  self->refuse("copyFromBuffer:...toTexture:...options:", "textures");
}
void copy_from_texture(E* self, objc::Object*, UInteger, UInteger, Origin, Size, Buffer*, UInteger,
                       UInteger, UInteger) {
  self->refuse("copyFromTexture:...toBuffer:...", "textures");
}
void copy_from_texture_options(E* self, objc::Object*, UInteger, UInteger, Origin, Size, Buffer*,
                               UInteger, UInteger, UInteger, UInteger) {
  self->refuse("copyFromTexture:...toBuffer:...options:", "textures");
}
void get_access_counters(E* self, objc::Object*, Region, UInteger, UInteger, bool, Buffer*,
                         UInteger) {
  self->refuse("getTextureAccessCounters:...", "sparse textures");
}
void reset_access_counters(E* self, objc::Object*, Region, UInteger, UInteger) {
  self->refuse("resetTextureAccessCounters:...", "sparse textures");
}

} // namespace

OBJC_DEFINE_CLASS(
    BlitEncoder, "BSMBlitCommandEncoder", CommandEncoder,
    .methods =
        {
            objc::method<&E::fill>("fillBuffer:range:value:"),
            objc::method<&E::copy>("copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:"),
            objc::method<&E::update_fence>("updateFence:"),
            objc::method<&E::wait_for_fence>("waitForFence:"),
            objc::method<&synchronize_resource>("synchronizeResource:"),
            objc::method<&optimize>("optimizeContentsForGPUAccess:"),
            objc::method<&optimize_level>("optimizeContentsForGPUAccess:slice:level:"),
            objc::method<&optimize>("optimizeContentsForCPUAccess:"),
            objc::method<&optimize_level>("optimizeContentsForCPUAccess:slice:level:"),
            objc::method<&E::reset_commands>("resetCommandsInBuffer:withRange:"),
            objc::method<&E::copy_commands>(
                "copyIndirectCommandBuffer:sourceRange:destination:destinationIndex:"),
            objc::method<&optimize_commands>("optimizeIndirectCommandBuffer:withRange:"),
            objc::method<&E::sample_counters_in_buffer>(
                "sampleCountersInBuffer:atSampleIndex:withBarrier:"),
            objc::method<&E::resolve_counters>(
                "resolveCounters:inRange:destinationBuffer:destinationOffset:"),
            objc::method<&synchronize_texture>("synchronizeTexture:slice:level:"),
            objc::method<&generate_mipmaps>("generateMipmapsForTexture:"),
            objc::method<&copy_texture>("copyFromTexture:toTexture:"),
            objc::method<&copy_slices>(
                "copyFromTexture:sourceSlice:sourceLevel:toTexture:destinationSlice:"
                "destinationLevel:sliceCount:levelCount:"),
            objc::method<&copy_region>(
                "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toTexture:"
                "destinationSlice:destinationLevel:destinationOrigin:"),
            objc::method<&copy_to_texture>(
                "copyFromBuffer:sourceOffset:sourceBytesPerRow:sourceBytesPerImage:sourceSize:"
                "toTexture:destinationSlice:destinationLevel:destinationOrigin:"),
            objc::method<&copy_to_texture_options>(
                "copyFromBuffer:sourceOffset:sourceBytesPerRow:sourceBytesPerImage:sourceSize:"
                "toTexture:destinationSlice:destinationLevel:destinationOrigin:options:"),
            objc::method<&copy_from_texture>(
                "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toBuffer:"
                "destinationOffset:destinationBytesPerRow:destinationBytesPerImage:"),
            objc::method<&copy_from_texture_options>(
                "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toBuffer:"
                "destinationOffset:destinationBytesPerRow:destinationBytesPerImage:options:"),
            objc::method<&get_access_counters>(
                "getTextureAccessCounters:region:mipLevel:slice:resetCounters:countersBuffer:"
                "countersBufferOffset:"),
            objc::method<&reset_access_counters>(
                "resetTextureAccessCounters:region:mipLevel:slice:"),
        },
    .protocols = {"MTLBlitCommandEncoder"});

} // namespace mtl

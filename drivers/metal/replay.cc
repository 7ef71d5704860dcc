#include "drivers/metal/replay.h"

#include <cstring>

#include "drivers/metal/event.h"

namespace bessemer::metal_driver {
namespace {

constexpr NS::UInteger kArgumentBufferIndex = 0;
constexpr NS::UInteger kConstantsIndex = 3;

MTL::Size ToSize(const uint32_t extents[3]) {
  return MTL::Size(extents[0], extents[1], extents[2]);
}

/// Threadgroups of the driver's own kernels for a range of bytes.
MTL::Size ThreadgroupsFor(iree_device_size_t length) {
  constexpr iree_device_size_t kBytes = kBytesPerThread * kThreadsPerThreadgroup;
  return MTL::Size(iree_device_size_ceil_div(length, kBytes), 1, 1);
}

class Replayer {
public:
  Replayer(const CommandList& list, iree_hal_buffer_binding_table_t table,
           const ArgumentArena::Block& arguments, Encoder& encoder, DispatchTimer* timer)
      : list_(list), table_(table), arguments_(arguments), encoder_(encoder), timer_(timer) {}

  iree_status_t Run() {
    for (const Command* command = list_.first(); command; command = command->next) {
      IREE_RETURN_IF_ERROR(Encode(*command));
    }
    encoder_.End();
    return iree_ok_status();
  }

private:
  struct Range {
    BufferLocation location;
    iree_device_size_t length = 0;
    bool is_word_aligned() const { return location.offset % 4 == 0 && length % 4 == 0; }
  };

  iree_status_t Resolve(const RecordedRef& ref, Range* out_range) {
    iree_hal_buffer_t* buffer = ref.buffer;
    iree_device_size_t offset = ref.offset;
    out_range->length = ref.length;
    if (ref.is_indirect()) {
      iree_hal_buffer_ref_t resolved;
      IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(
          table_, iree_hal_make_indirect_buffer_ref(ref.slot, ref.offset, ref.length), &resolved));
      if (!resolved.buffer) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no buffer is bound to slot %u",
                                ref.slot);
      }
      IREE_RETURN_IF_ERROR(iree_hal_buffer_ref_normalize(&resolved));
      buffer = resolved.buffer;
      offset = resolved.offset;
      out_range->length = resolved.length;
    }
    IREE_RETURN_IF_ERROR(Locate(buffer, &out_range->location));
    out_range->location.offset += offset;
    return iree_ok_status();
  }

  iree_status_t Encode(const Command& command) {
    switch (command.type) {
    case CommandType::kBarrier:
      encoder_.Barrier();
      return iree_ok_status();
    case CommandType::kFill:
      return EncodeFill(static_cast<const FillCommand&>(command));
    case CommandType::kUpdate: {
      auto& update = static_cast<const UpdateCommand&>(command);
      Range target;
      IREE_RETURN_IF_ERROR(Resolve(update.target, &target));
      return EncodeCopy({{list_.update_buffer(), update.source_offset}, update.target.length},
                        target);
    }
    case CommandType::kCopy: {
      auto& copy = static_cast<const CopyCommand&>(command);
      Range source, target;
      IREE_RETURN_IF_ERROR(Resolve(copy.source, &source));
      IREE_RETURN_IF_ERROR(Resolve(copy.target, &target));
      return EncodeCopy(source, target);
    }
    case CommandType::kDispatch:
      return EncodeDispatch(static_cast<const DispatchCommand&>(command));
    case CommandType::kSignalEvent:
      encoder_.End();
      EncodeEventSignal(static_cast<const EventCommand&>(command).event, encoder_.command_buffer());
      return iree_ok_status();
    case CommandType::kResetEvent:
      EncodeEventReset(static_cast<const EventCommand&>(command).event);
      return iree_ok_status();
    case CommandType::kWaitEvents: {
      auto& wait = static_cast<const WaitEventsCommand&>(command);
      encoder_.End();
      for (uint32_t i = 0; i < wait.count; ++i)
        EncodeEventWait(wait.events()[i], encoder_.command_buffer());
      return iree_ok_status();
    }
    case CommandType::kPushDebugGroup:
      encoder_.PushDebugGroup(static_cast<const DebugGroupCommand&>(command).label());
      return iree_ok_status();
    case CommandType::kPopDebugGroup:
      encoder_.PopDebugGroup();
      return iree_ok_status();
    }
    return iree_status_from_code(IREE_STATUS_INTERNAL);
  }

  iree_status_t EncodeFill(const FillCommand& command) {
    Range target;
    IREE_RETURN_IF_ERROR(Resolve(command.target, &target));
    if (target.length == 0)
      return iree_ok_status();
    uint8_t byte = command.pattern & 0xFF;
    if (command.pattern == byte * 0x01010101u && target.is_word_aligned()) {
      encoder_.Blit()->fillBuffer(target.location.handle,
                                  NS::Range(target.location.offset, target.length), byte);
      return iree_ok_status();
    }
    FillArguments arguments = {target.length, command.pattern, 0};
    MTL::ComputeCommandEncoder* compute = encoder_.Compute();
    encoder_.SetPipeline(list_.fill_kernel()->state());
    encoder_.ForgetArguments();
    compute->setBuffer(target.location.handle, target.location.offset, 0);
    compute->setBytes(&arguments, sizeof(arguments), 1);
    compute->dispatchThreadgroups(ThreadgroupsFor(target.length),
                                  MTL::Size(kThreadsPerThreadgroup, 1, 1));
    return iree_ok_status();
  }

  iree_status_t EncodeCopy(const Range& source, const Range& target) {
    if (source.length != target.length) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "copy from %" PRIdsz " bytes to %" PRIdsz, source.length,
                              target.length);
    }
    if (target.length == 0)
      return iree_ok_status();
    if (source.is_word_aligned() && target.is_word_aligned()) {
      encoder_.Blit()->copyFromBuffer(source.location.handle, source.location.offset,
                                      target.location.handle, target.location.offset,
                                      target.length);
      return iree_ok_status();
    }
    CopyArguments arguments = {target.length};
    MTL::ComputeCommandEncoder* compute = encoder_.Compute();
    encoder_.SetPipeline(list_.copy_kernel()->state());
    encoder_.ForgetArguments();
    compute->setBuffer(source.location.handle, source.location.offset, 0);
    compute->setBuffer(target.location.handle, target.location.offset, 1);
    compute->setBytes(&arguments, sizeof(arguments), 2);
    compute->dispatchThreadgroups(ThreadgroupsFor(target.length),
                                  MTL::Size(kThreadsPerThreadgroup, 1, 1));
    return iree_ok_status();
  }

  iree_status_t EncodeDispatch(const DispatchCommand& command) {
    if (!command.is_indirect &&
        (command.threadgroup_count[0] == 0 || command.threadgroup_count[1] == 0 ||
         command.threadgroup_count[2] == 0)) {
      return iree_ok_status();
    }
    MetalPtr<MTL::ComputePassDescriptor> pass;
    if (timer_)
      pass = timer_->NewPass(command);
    IREE_RETURN_IF_ERROR(
        EncodeDispatch(command, pass ? encoder_.NewCompute(pass.get()) : encoder_.Compute()));
    if (pass)
      encoder_.End();
    return iree_ok_status();
  }

  iree_status_t EncodeDispatch(const DispatchCommand& command,
                               MTL::ComputeCommandEncoder* compute) {
    const Pipeline& pipeline = *command.function->pipeline;
    encoder_.SetPipeline(pipeline.state());
    if (pipeline.argument_size() != 0) {
      if (pipeline.argument_size() > command.binding_count * sizeof(uint64_t)) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                "function '%s' uses more bindings than the %u it says it has",
                                command.function->name.c_str(), command.binding_count);
      }
      uint8_t* argument_buffer = arguments_.contents + command.argument_offset;
      for (uint32_t i = 0; i < command.binding_count; ++i) {
        uint16_t offset = pipeline.argument_offset(i);
        if (offset == Pipeline::kNoOffset)
          continue;
        Range range;
        IREE_RETURN_IF_ERROR(Resolve(command.bindings()[i], &range), "binding %u of '%s'", i,
                             command.function->name.c_str());
        uint64_t address = range.location.gpu_address();
        std::memcpy(argument_buffer + offset, &address, sizeof(address));
        encoder_.Use(range.location.handle);
      }
      encoder_.SetArguments(arguments_.buffer.get(), command.argument_offset, kArgumentBufferIndex);
    }
    if (pipeline.takes_constants())
      compute->setBytes(command.constants(), command.constant_length, kConstantsIndex);
    if (!command.is_indirect) {
      compute->dispatchThreadgroups(ToSize(command.threadgroup_count),
                                    ToSize(command.threadgroup_size));
      return iree_ok_status();
    }
    Range count;
    IREE_RETURN_IF_ERROR(Resolve(command.count, &count));
    compute->dispatchThreadgroups(count.location.handle, count.location.offset,
                                  ToSize(command.threadgroup_size));
    return iree_ok_status();
  }

  const CommandList& list_;
  iree_hal_buffer_binding_table_t table_;
  const ArgumentArena::Block& arguments_;
  Encoder& encoder_;
  DispatchTimer* timer_;
};

} // namespace

iree_status_t Replay(const CommandList& list, iree_hal_buffer_binding_table_t binding_table,
                     const ArgumentArena::Block& arguments, Encoder& encoder,
                     DispatchTimer* timer) {
  return Replayer(list, binding_table, arguments, encoder, timer).Run();
}

} // namespace bessemer::metal_driver

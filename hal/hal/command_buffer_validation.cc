#include "hal/hal/command_buffer_validation.h"

#include <algorithm>
#include <new>
#include <numeric>

namespace bessemer::hal {
namespace {

constexpr BufferRequirement transferRequirement(iree_hal_buffer_usage_t usage,
                                                iree_hal_memory_access_t access,
                                                iree_device_size_t alignment = 1) {
  return {.compatibility = IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER,
          .usage = usage,
          .access = access,
          .type = IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
          .alignment = alignment};
}

constexpr BufferRequirement dispatchRequirement(iree_hal_buffer_usage_t usage,
                                                iree_hal_memory_access_t access,
                                                iree_device_size_t alignment = 1) {
  return {.compatibility = IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH,
          .usage = usage,
          .access = access,
          .type = IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
          .alignment = alignment};
}

bool reduces(iree_hal_collective_kind_t kind) {
  return kind == IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE || kind == IREE_HAL_COLLECTIVE_KIND_REDUCE ||
         kind == IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER;
}

} // namespace

void BufferRequirement::merge(const BufferRequirement& other) {
  compatibility |= other.compatibility;
  usage |= other.usage;
  access |= other.access;
  type |= other.type;
  end = std::max(end, other.end);
  alignment = std::lcm(alignment, other.alignment);
}

CommandBufferValidation* CommandBufferValidation::createAt(void* storage,
                                                           iree_hal_allocator_t* allocator,
                                                           iree_host_size_t bindingCapacity) {
  auto* state = new (storage) CommandBufferValidation();
  state->allocator_ = allocator;
  state->slotCount_ = bindingCapacity;
  state->debugDepth_ = 0;
  state->begun_ = false;
  state->ended_ = false;
  for (BufferRequirement& slot : state->slots())
    new (&slot) BufferRequirement();
  return state;
}

std::span<BufferRequirement> CommandBufferValidation::slots() const {
  auto* first =
      reinterpret_cast<BufferRequirement*>(const_cast<CommandBufferValidation*>(this) + 1);
  return {first, slotCount_};
}

//===--- recording state ----------------------------------------------------------------------===//

iree_status_t CommandBufferValidation::begin() {
  if (begun_) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "command buffer was begun before; it can be recorded once");
  }
  begun_ = true;
  return iree_ok_status();
}

iree_status_t CommandBufferValidation::end() {
  if (!begun_ || ended_) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "command buffer is not recording");
  }
  if (debugDepth_ != 0) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "command buffer ends with %u open debug groups", debugDepth_);
  }
  ended_ = true;
  return iree_ok_status();
}

iree_status_t CommandBufferValidation::recording(const iree_hal_command_buffer_t* commandBuffer,
                                                 iree_hal_command_category_t category) const {
  if (!begun_ || ended_) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "command buffer is not recording");
  }
  if (!iree_all_bits_set(commandBuffer->allowed_categories, category)) {
    iree_bitfield_string_temp_t wantedTemp, allowedTemp;
    iree_string_view_t wanted = iree_hal_command_category_format(category, &wantedTemp);
    iree_string_view_t allowed =
        iree_hal_command_category_format(commandBuffer->allowed_categories, &allowedTemp);
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "%.*s command in a command buffer for %.*s commands", (int)wanted.size,
                            wanted.data, (int)allowed.size, allowed.data);
  }
  return iree_ok_status();
}

iree_status_t CommandBufferValidation::beginDebugGroup() {
  ++debugDepth_;
  return iree_ok_status();
}

iree_status_t CommandBufferValidation::endDebugGroup() {
  if (debugDepth_ == 0) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "no debug group is open");
  }
  --debugDepth_;
  return iree_ok_status();
}

//===--- buffers ------------------------------------------------------------------------------===//

iree_status_t CommandBufferValidation::check(iree_hal_buffer_t* buffer, iree_device_size_t offset,
                                             iree_device_size_t length,
                                             const BufferRequirement& requirement) const {
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_usage(iree_hal_buffer_allowed_usage(buffer), requirement.usage));
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_access(iree_hal_buffer_allowed_access(buffer), requirement.access));
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_validate_memory_type(iree_hal_buffer_memory_type(buffer), requirement.type));
  iree_device_size_t rangeOffset = 0, rangeLength = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, iree_hal_buffer_byte_length(buffer),
                                                       offset, length, &rangeOffset, &rangeLength));
  if (requirement.end > rangeLength) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "commands use %" PRIdsz " bytes of a bound range of %" PRIdsz,
                            requirement.end, rangeLength);
  }
  if (offset % requirement.alignment != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "offset %" PRIdsz " is not aligned to %" PRIdsz " bytes", offset,
                            requirement.alignment);
  }
  if (!allocator_)
    return iree_ok_status();
  iree_hal_buffer_params_t params = {};
  params.type = iree_hal_buffer_memory_type(buffer);
  params.usage = iree_hal_buffer_allowed_usage(buffer) & requirement.usage;
  const iree_hal_buffer_compatibility_t compatibility =
      iree_hal_allocator_query_buffer_compatibility(
          allocator_, params, iree_hal_buffer_allocation_size(buffer), nullptr, nullptr);
  if (!iree_all_bits_set(compatibility, requirement.compatibility)) {
    iree_bitfield_string_temp_t haveTemp, needTemp;
    iree_string_view_t have = iree_hal_buffer_compatibility_format(compatibility, &haveTemp);
    iree_string_view_t need =
        iree_hal_buffer_compatibility_format(requirement.compatibility, &needTemp);
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED,
                            "the device takes this buffer for %.*s but %.*s is needed",
                            (int)have.size, have.data, (int)need.size, need.data);
  }
  return iree_ok_status();
}

iree_status_t CommandBufferValidation::require(const iree_hal_command_buffer_t* commandBuffer,
                                               iree_hal_buffer_ref_t ref,
                                               BufferRequirement requirement) {
  if (ref.buffer)
    return check(ref.buffer, ref.offset, ref.length, requirement);
  // What the bound buffer is comes to light at submission; remember what it will have to offer.
  if (ref.buffer_slot >= slotCount_) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "binding slot %u is beyond the command buffer's capacity of %u",
                            (unsigned)ref.buffer_slot, (unsigned)commandBuffer->binding_capacity);
  }
  requirement.end = ref.offset;
  if (ref.length != IREE_HAL_WHOLE_BUFFER &&
      !iree_device_size_checked_add(ref.offset, ref.length, &requirement.end)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "offset and length of slot %u overflow",
                            (unsigned)ref.buffer_slot);
  }
  if (ref.offset % requirement.alignment != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "offset %" PRIdsz " is not aligned to %" PRIdsz " bytes", ref.offset,
                            requirement.alignment);
  }
  slots()[ref.buffer_slot].merge(requirement);
  return iree_ok_status();
}

iree_status_t CommandBufferValidation::submission(const iree_hal_command_buffer_t* commandBuffer,
                                                  iree_hal_buffer_binding_table_t table) const {
  if (!begun_ || !ended_) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "command buffer was submitted before its recording ended");
  }
  for (uint32_t i = 0; i < commandBuffer->binding_count; ++i) {
    const BufferRequirement& requirement = slots()[i];
    const bool used = requirement.compatibility || requirement.type || requirement.usage;
    if (!used)
      continue;
    const iree_hal_buffer_binding_t& binding = table.bindings[i];
    iree_status_t status =
        binding.buffer
            ? check(binding.buffer, binding.offset, binding.length, requirement)
            : iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no buffer is bound to a used slot");
    if (!iree_status_is_ok(status)) {
      return iree_status_annotate_f(status, "binding table slot %u", i);
    }
  }
  return iree_ok_status();
}

//===--- commands -----------------------------------------------------------------------------===//

iree_status_t CommandBufferValidation::fill(const iree_hal_command_buffer_t* commandBuffer,
                                            iree_hal_buffer_ref_t target,
                                            iree_host_size_t patternLength) {
  IREE_RETURN_IF_ERROR(recording(commandBuffer, IREE_HAL_COMMAND_CATEGORY_TRANSFER));
  if (patternLength != 1 && patternLength != 2 && patternLength != 4) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "fill patterns are 1, 2 or 4 bytes; this one is %" PRIhsz,
                            patternLength);
  }
  if (target.offset % patternLength != 0 ||
      (target.length != IREE_HAL_WHOLE_BUFFER && target.length % patternLength != 0)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "fill of %" PRIdsz " bytes at offset %" PRIdsz
                            " is not a multiple of its %" PRIhsz "-byte pattern",
                            target.length, target.offset, patternLength);
  }
  return require(commandBuffer, target,
                 transferRequirement(IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET,
                                     IREE_HAL_MEMORY_ACCESS_WRITE, patternLength));
}

iree_status_t CommandBufferValidation::update(const iree_hal_command_buffer_t* commandBuffer,
                                              const void* source, iree_hal_buffer_ref_t target) {
  IREE_RETURN_IF_ERROR(recording(commandBuffer, IREE_HAL_COMMAND_CATEGORY_TRANSFER));
  if (!source) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "an update needs a source");
  }
  if (target.length == IREE_HAL_WHOLE_BUFFER) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "an update needs the length of its source");
  }
  return require(
      commandBuffer, target,
      transferRequirement(IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET, IREE_HAL_MEMORY_ACCESS_WRITE));
}

iree_status_t CommandBufferValidation::copy(const iree_hal_command_buffer_t* commandBuffer,
                                            iree_hal_buffer_ref_t source,
                                            iree_hal_buffer_ref_t target) {
  IREE_RETURN_IF_ERROR(recording(commandBuffer, IREE_HAL_COMMAND_CATEGORY_TRANSFER));
  if (source.length != target.length) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a copy from %" PRIdsz " bytes to %" PRIdsz " bytes", source.length,
                            target.length);
  }
  IREE_RETURN_IF_ERROR(require(
      commandBuffer, source,
      transferRequirement(IREE_HAL_BUFFER_USAGE_TRANSFER_SOURCE, IREE_HAL_MEMORY_ACCESS_READ)));
  IREE_RETURN_IF_ERROR(require(
      commandBuffer, target,
      transferRequirement(IREE_HAL_BUFFER_USAGE_TRANSFER_TARGET, IREE_HAL_MEMORY_ACCESS_WRITE)));
  if (source.buffer && target.buffer &&
      iree_hal_buffer_test_overlap(source.buffer, source.offset, source.length, target.buffer,
                                   target.offset,
                                   target.length) != IREE_HAL_BUFFER_OVERLAP_DISJOINT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "source and target ranges of a copy may not overlap");
  }
  return iree_ok_status();
}

iree_status_t CommandBufferValidation::advise(const iree_hal_command_buffer_t* commandBuffer,
                                              iree_hal_buffer_ref_t ref) {
  IREE_RETURN_IF_ERROR(recording(commandBuffer, 0));
  BufferRequirement requirement;
  requirement.access = IREE_HAL_MEMORY_ACCESS_ANY;
  requirement.type = IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
  return require(commandBuffer, ref, requirement);
}

iree_status_t CommandBufferValidation::collective(const iree_hal_command_buffer_t* commandBuffer,
                                                  iree_hal_collective_op_t op,
                                                  iree_hal_buffer_ref_t send,
                                                  iree_hal_buffer_ref_t recv,
                                                  iree_device_size_t elementCount) {
  IREE_RETURN_IF_ERROR(recording(commandBuffer, IREE_HAL_COMMAND_CATEGORY_DISPATCH));
  if (op.kind > IREE_HAL_COLLECTIVE_KIND_MAX_VALUE ||
      op.reduction > IREE_HAL_COLLECTIVE_REDUCTION_MAX_VALUE ||
      op.element_type > IREE_HAL_COLLECTIVE_ELEMENT_TYPE_MAX_VALUE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "collective 0x%08x names no operation",
                            op.packed);
  }
  if (op.reduction != IREE_HAL_COLLECTIVE_REDUCTION_NONE && !reduces(op.kind)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "collective kind %u does not reduce but names a reduction",
                            (unsigned)op.kind);
  }
  const bool sends = op.kind != IREE_HAL_COLLECTIVE_KIND_RECV;
  const bool receives = op.kind != IREE_HAL_COLLECTIVE_KIND_SEND;
  const iree_device_size_t minimum =
      elementCount * iree_hal_collective_element_byte_count(op.element_type);
  auto checkLength = [&](iree_hal_buffer_ref_t ref) -> iree_status_t {
    if (ref.length == IREE_HAL_WHOLE_BUFFER || ref.length >= minimum)
      return iree_ok_status();
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "%" PRIdsz " collective elements need %" PRIdsz " bytes; %" PRIdsz
                            " are given",
                            elementCount, minimum, ref.length);
  };
  if (sends) {
    IREE_RETURN_IF_ERROR(checkLength(send));
    IREE_RETURN_IF_ERROR(require(commandBuffer, send,
                                 dispatchRequirement(IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_READ,
                                                     IREE_HAL_MEMORY_ACCESS_READ)));
  }
  if (receives) {
    IREE_RETURN_IF_ERROR(checkLength(recv));
    IREE_RETURN_IF_ERROR(require(commandBuffer, recv,
                                 dispatchRequirement(IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE_WRITE,
                                                     IREE_HAL_MEMORY_ACCESS_WRITE)));
  }
  return iree_ok_status();
}

iree_status_t CommandBufferValidation::dispatch(const iree_hal_command_buffer_t* commandBuffer,
                                                const iree_hal_dispatch_config_t& config,
                                                iree_const_byte_span_t constants,
                                                iree_hal_buffer_ref_list_t bindings,
                                                iree_hal_dispatch_flags_t flags) {
  IREE_RETURN_IF_ERROR(recording(commandBuffer, IREE_HAL_COMMAND_CATEGORY_DISPATCH));
  if (iree_hal_dispatch_uses_indirect_parameters(flags)) {
    constexpr iree_device_size_t countSize = 3 * sizeof(uint32_t);
    iree_hal_buffer_ref_t ref = config.workgroup_count_ref;
    if (ref.length != IREE_HAL_WHOLE_BUFFER && ref.length < countSize) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "a workgroup count is %" PRIdsz " bytes; the range has %" PRIdsz,
                              countSize, ref.length);
    }
    // Only the three words are read, however much is bound.
    ref.length = countSize;
    IREE_RETURN_IF_ERROR(
        require(commandBuffer, ref,
                dispatchRequirement(IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS,
                                    IREE_HAL_MEMORY_ACCESS_READ, sizeof(uint32_t))));
  }
  if (constants.data_length % sizeof(uint32_t) != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "dispatch constants are 32-bit words; %" PRIhsz " bytes are given",
                            constants.data_length);
  }
  const bool indirectArguments = iree_hal_dispatch_uses_indirect_arguments(flags);
  if (indirectArguments && bindings.count != 1) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "indirect arguments come in one binding, not %" PRIhsz, bindings.count);
  }
  const BufferRequirement requirement =
      dispatchRequirement(indirectArguments ? IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS
                                            : IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE,
                          IREE_HAL_MEMORY_ACCESS_ANY);
  for (iree_host_size_t i = 0; i < bindings.count; ++i) {
    iree_status_t status = require(commandBuffer, bindings.values[i], requirement);
    if (!iree_status_is_ok(status)) {
      return iree_status_annotate_f(status, "dispatch binding %" PRIhsz, i);
    }
  }
  return iree_ok_status();
}

} // namespace bessemer::hal

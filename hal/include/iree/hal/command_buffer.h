#ifndef IREE_HAL_COMMAND_BUFFER_H_
#define IREE_HAL_COMMAND_BUFFER_H_

#include "iree/base/api.h"
#include "iree/hal/allocator.h"
#include "iree/hal/buffer.h"
#include "iree/hal/channel.h"
#include "iree/hal/event.h"
#include "iree/hal/executable.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;

/// ONE_SHOT: submitted once. ALLOW_INLINE_EXECUTION: may run while recording. UNVALIDATED: no
/// checks. UNRETAINED: the caller keeps resources alive.
enum iree_hal_command_buffer_mode_bits_t {
  IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT = 0u,
  IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT = 1u << 0,
  IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION = 1u << 4,
  IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED = 1u << 5,
  IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED = 1u << 6,
  IREE_HAL_COMMAND_BUFFER_MODE_RETAIN_PROFILE_METADATA = 1u << 7,
  IREE_HAL_COMMAND_BUFFER_MODE_RETAIN_DISPATCH_METADATA = 1u << 8,
};
typedef uint32_t iree_hal_command_buffer_mode_t;

/// Kinds of commands that a command buffer may hold.
enum iree_hal_command_category_bits_t {
  IREE_HAL_COMMAND_CATEGORY_TRANSFER = 1u << 0,
  IREE_HAL_COMMAND_CATEGORY_DISPATCH = 1u << 1,
  IREE_HAL_COMMAND_CATEGORY_ANY =
      IREE_HAL_COMMAND_CATEGORY_TRANSFER | IREE_HAL_COMMAND_CATEGORY_DISPATCH,
};
typedef uint32_t iree_hal_command_category_t;

/// A range of a buffer, or of what is bound to a slot when `buffer` is null.
typedef struct iree_hal_buffer_ref_t {
  uint32_t reserved : 8;
  uint32_t buffer_slot : 24;
  iree_hal_buffer_t* buffer;
  iree_device_size_t offset;
  iree_device_size_t length;
} iree_hal_buffer_ref_t;

/// A reference to a range of `buffer`.
static inline iree_hal_buffer_ref_t iree_hal_make_buffer_ref(iree_hal_buffer_t* buffer,
                                                             iree_device_size_t offset,
                                                             iree_device_size_t length) {
  iree_hal_buffer_ref_t ref;
  memset(&ref, 0, sizeof(ref));
  ref.buffer = buffer;
  ref.offset = offset;
  ref.length = length;
  return ref;
}

/// A reference to a range of what a binding table has in `buffer_slot`.
static inline iree_hal_buffer_ref_t iree_hal_make_indirect_buffer_ref(uint32_t buffer_slot,
                                                                      iree_device_size_t offset,
                                                                      iree_device_size_t length) {
  iree_hal_buffer_ref_t ref;
  memset(&ref, 0, sizeof(ref));
  ref.buffer_slot = buffer_slot;
  ref.offset = offset;
  ref.length = length;
  return ref;
}

typedef struct iree_hal_buffer_ref_list_t {
  iree_host_size_t count;
  const iree_hal_buffer_ref_t* values;
} iree_hal_buffer_ref_list_t;

static inline iree_hal_buffer_ref_list_t iree_hal_buffer_ref_list_empty(void) {
  iree_hal_buffer_ref_list_t list;
  list.count = 0;
  list.values = NULL;
  return list;
}

/// Makes a direct reference one to the allocation: WHOLE_BUFFER and the buffer's offset are
/// resolved.
IREE_API_EXPORT iree_status_t iree_hal_buffer_ref_normalize(iree_hal_buffer_ref_t* buffer_ref);

/// Places in the life of a command that a barrier can name.
enum iree_hal_execution_stage_bits_t {
  IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE = 1u << 0,
  IREE_HAL_EXECUTION_STAGE_COMMAND_PROCESS = 1u << 1,
  IREE_HAL_EXECUTION_STAGE_DISPATCH = 1u << 2,
  IREE_HAL_EXECUTION_STAGE_TRANSFER = 1u << 3,
  IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE = 1u << 4,
  IREE_HAL_EXECUTION_STAGE_HOST = 1u << 5,
};
typedef uint32_t iree_hal_execution_stage_t;

enum iree_hal_execution_barrier_flag_bits_t {
  IREE_HAL_EXECUTION_BARRIER_FLAG_NONE = 0,
};
typedef uint64_t iree_hal_execution_barrier_flags_t;

/// Kinds of access that a barrier orders.
enum iree_hal_access_scope_bits_t {
  IREE_HAL_ACCESS_SCOPE_INDIRECT_COMMAND_READ = 1u << 0,
  IREE_HAL_ACCESS_SCOPE_CONSTANT_READ = 1u << 1,
  IREE_HAL_ACCESS_SCOPE_DISPATCH_READ = 1u << 2,
  IREE_HAL_ACCESS_SCOPE_DISPATCH_WRITE = 1u << 3,
  IREE_HAL_ACCESS_SCOPE_TRANSFER_READ = 1u << 4,
  IREE_HAL_ACCESS_SCOPE_TRANSFER_WRITE = 1u << 5,
  IREE_HAL_ACCESS_SCOPE_HOST_READ = 1u << 6,
  IREE_HAL_ACCESS_SCOPE_HOST_WRITE = 1u << 7,
  IREE_HAL_ACCESS_SCOPE_MEMORY_READ = 1u << 8,
  IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE = 1u << 9,
};
typedef uint32_t iree_hal_access_scope_t;

/// Makes accesses of `source_scope` available to those of `target_scope`, for all memory.
typedef struct iree_hal_memory_barrier_t {
  iree_hal_access_scope_t source_scope;
  iree_hal_access_scope_t target_scope;
} iree_hal_memory_barrier_t;

/// The same for one range.
typedef struct iree_hal_buffer_barrier_t {
  iree_hal_access_scope_t source_scope;
  iree_hal_access_scope_t target_scope;
  iree_hal_buffer_ref_t buffer_ref;
} iree_hal_buffer_barrier_t;

typedef uint64_t iree_hal_memory_advise_flags_t;
enum iree_hal_memory_advise_flag_bits_t {
  IREE_HAL_MEMORY_ADVISE_FLAG_NONE = 0,
};
typedef uint64_t iree_hal_fill_flags_t;

enum iree_hal_fill_flag_bits_t {
  IREE_HAL_FILL_FLAG_NONE = 0,
};
typedef uint64_t iree_hal_update_flags_t;

enum iree_hal_update_flag_bits_t {
  IREE_HAL_UPDATE_FLAG_NONE = 0,
};
typedef uint64_t iree_hal_copy_flags_t;

enum iree_hal_copy_flag_bits_t {
  IREE_HAL_COPY_FLAG_NONE = 0,
};

enum iree_hal_collective_kind_e {
  IREE_HAL_COLLECTIVE_KIND_ALL_GATHER = 0u,
  IREE_HAL_COLLECTIVE_KIND_ALL_REDUCE,
  IREE_HAL_COLLECTIVE_KIND_ALL_TO_ALL,
  IREE_HAL_COLLECTIVE_KIND_BROADCAST,
  IREE_HAL_COLLECTIVE_KIND_REDUCE,
  IREE_HAL_COLLECTIVE_KIND_REDUCE_SCATTER,
  IREE_HAL_COLLECTIVE_KIND_SEND,
  IREE_HAL_COLLECTIVE_KIND_RECV,
  IREE_HAL_COLLECTIVE_KIND_SEND_RECV,
  IREE_HAL_COLLECTIVE_KIND_MAX_VALUE = IREE_HAL_COLLECTIVE_KIND_SEND_RECV,
};
typedef uint8_t iree_hal_collective_kind_t;

enum iree_hal_collective_reduction_e {
  IREE_HAL_COLLECTIVE_REDUCTION_NONE = 0,
  IREE_HAL_COLLECTIVE_REDUCTION_SUM = 1,
  IREE_HAL_COLLECTIVE_REDUCTION_PRODUCT,
  IREE_HAL_COLLECTIVE_REDUCTION_MINIMUM,
  IREE_HAL_COLLECTIVE_REDUCTION_MAXIMUM,
  IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE,
  IREE_HAL_COLLECTIVE_REDUCTION_MAX_VALUE = IREE_HAL_COLLECTIVE_REDUCTION_AVERAGE,
};
typedef uint8_t iree_hal_collective_reduction_t;

enum iree_hal_collective_element_type_e {
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_8 = 0,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_8,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_16,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_16,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_32,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_32,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_SINT_64,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_UINT_64,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_16,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_32,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_FLOAT_64,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_BFLOAT_16,
  IREE_HAL_COLLECTIVE_ELEMENT_TYPE_MAX_VALUE = IREE_HAL_COLLECTIVE_ELEMENT_TYPE_BFLOAT_16,
};
typedef uint8_t iree_hal_collective_element_type_t;

typedef union {
  uint32_t packed;
  struct {
    iree_hal_collective_kind_t kind;
    iree_hal_collective_reduction_t reduction;
    iree_hal_collective_element_type_t element_type;
    uint8_t reserved;
  };
} iree_hal_collective_op_t;

static_assert(sizeof(iree_hal_collective_op_t) == sizeof(uint32_t),
              "a collective op is one 32-bit word");

/// Writes an operation as text into `out_temp`.
IREE_API_EXPORT iree_string_view_t iree_hal_collective_op_format(
    const iree_hal_collective_op_t* op, iree_bitfield_string_temp_t* out_temp);

/// Bytes of an element of a collective; 0 for unknown types.
IREE_API_EXPORT iree_device_size_t
iree_hal_collective_element_byte_count(iree_hal_collective_element_type_t element_type);

/// The grid of a dispatch. A zero `workgroup_size` means the executable's own;
/// `workgroup_count_ref` counts with the indirect parameter flags.
typedef struct iree_hal_dispatch_config_t {
  uint32_t workgroup_size[3];
  uint32_t workgroup_count[3];
  iree_hal_buffer_ref_t workgroup_count_ref;
  uint32_t dynamic_workgroup_local_memory;
} iree_hal_dispatch_config_t;

/// A grid of so many workgroups of the executable's own size.
static inline iree_hal_dispatch_config_t
iree_hal_make_static_dispatch_config(uint32_t workgroup_count_x, uint32_t workgroup_count_y,
                                     uint32_t workgroup_count_z) {
  iree_hal_dispatch_config_t config;
  memset(&config, 0, sizeof(config));
  config.workgroup_count[0] = workgroup_count_x;
  config.workgroup_count[1] = workgroup_count_y;
  config.workgroup_count[2] = workgroup_count_z;
  return config;
}

typedef uint64_t iree_hal_dispatch_flags_t;

/// Where counts and arguments come from and when they are read: STATIC ones at submission or
/// later, DYNAMIC ones right before the dispatch.
enum iree_hal_dispatch_flag_bits_t {
  IREE_HAL_DISPATCH_FLAG_NONE = 0,
  IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS = 1ull << 0,
  IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_PARAMETERS = 1ull << 1,
  IREE_HAL_DISPATCH_FLAG_CUSTOM_DIRECT_ARGUMENTS = 1ull << 2,
  IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_ARGUMENTS = 1ull << 3,
  IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_ARGUMENTS = 1ull << 4,
  IREE_HAL_DISPATCH_FLAG_ALLOW_INLINE_EXECUTION = 1ull << 5,
  IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES = 1ull << 6,
};

/// Whether the workgroup count is read from a buffer.
static inline bool iree_hal_dispatch_uses_indirect_parameters(iree_hal_dispatch_flags_t flags) {
  return iree_any_bit_set(flags, IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS |
                                     IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_PARAMETERS);
}

/// Whether constants are the kernel's arguments as they are.
static inline bool iree_hal_dispatch_uses_custom_arguments(iree_hal_dispatch_flags_t flags) {
  return iree_any_bit_set(flags, IREE_HAL_DISPATCH_FLAG_CUSTOM_DIRECT_ARGUMENTS);
}

/// Whether arguments are read from a buffer.
static inline bool iree_hal_dispatch_uses_indirect_arguments(iree_hal_dispatch_flags_t flags) {
  return iree_any_bit_set(flags, IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_ARGUMENTS |
                                     IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_ARGUMENTS);
}

typedef struct iree_hal_label_color_t {
  union {
    struct {
      uint8_t r;
      uint8_t g;
      uint8_t b;
      uint8_t a;
    };
    uint32_t value;
  };
} iree_hal_label_color_t;

typedef struct iree_hal_label_location_t {
  iree_string_view_t file;
  int line;
} iree_hal_label_location_t;

/// A colour of the tool's choice.
static inline iree_hal_label_color_t iree_hal_label_color_unspecified() {
  iree_hal_label_color_t color;
  color.value = 0;
  return color;
}

/// As iree_hal_memory_type_format.
IREE_API_EXPORT iree_string_view_t iree_hal_command_buffer_mode_format(
    iree_hal_command_buffer_mode_t value, iree_bitfield_string_temp_t* out_temp);

/// As iree_hal_memory_type_format.
IREE_API_EXPORT iree_string_view_t iree_hal_command_category_format(
    iree_hal_command_category_t value, iree_bitfield_string_temp_t* out_temp);

/// Bytes that one update command may carry.
#define IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE ((iree_device_size_t)(64 * 1024))

/// A range of a buffer in a binding table.
typedef struct iree_hal_buffer_binding_t {
  iree_hal_buffer_t* buffer;
  iree_device_size_t offset;
  iree_device_size_t length;
} iree_hal_buffer_binding_t;

/// Buffers for the slots that a command buffer refers to.
typedef struct iree_hal_buffer_binding_table_t {
  iree_host_size_t count;
  const iree_hal_buffer_binding_t* bindings;
} iree_hal_buffer_binding_table_t;

static inline iree_hal_buffer_binding_table_t iree_hal_buffer_binding_table_empty(void) {
  iree_hal_buffer_binding_table_t table;
  table.count = 0;
  table.bindings = NULL;
  return table;
}

static inline bool
iree_hal_buffer_binding_table_is_empty(iree_hal_buffer_binding_table_t binding_table) {
  return binding_table.count == 0;
}

/// As iree_hal_buffer_ref_normalize.
IREE_API_EXPORT iree_status_t iree_hal_buffer_binding_normalize(iree_hal_buffer_binding_t* binding);

/// The range that a reference names: itself when direct, of the bound range otherwise. An empty
/// table makes an indirect reference a null one; a slot beyond the table is OUT_OF_RANGE.
static inline iree_status_t
iree_hal_buffer_binding_table_resolve_ref(iree_hal_buffer_binding_table_t binding_table,
                                          iree_hal_buffer_ref_t buffer_ref,
                                          iree_hal_buffer_ref_t* out_resolved_ref) {
  if (buffer_ref.buffer) {
    *out_resolved_ref = buffer_ref;
    return iree_ok_status();
  }
  memset(out_resolved_ref, 0, sizeof(*out_resolved_ref));
  if (binding_table.count == 0)
    return iree_ok_status();
  if (buffer_ref.buffer_slot >= binding_table.count) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "binding slot %u is beyond the table of %" PRIhsz " bindings",
                            (unsigned)buffer_ref.buffer_slot, binding_table.count);
  }
  const iree_hal_buffer_binding_t* binding = &binding_table.bindings[buffer_ref.buffer_slot];
  if (!binding->buffer)
    return iree_ok_status();
  iree_device_size_t bound_offset = 0;
  iree_device_size_t bound_length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(
      0, iree_hal_buffer_byte_length(binding->buffer), binding->offset, binding->length,
      &bound_offset, &bound_length));
  out_resolved_ref->buffer = binding->buffer;
  return iree_hal_buffer_calculate_range(bound_offset, bound_length, buffer_ref.offset,
                                         buffer_ref.length, &out_resolved_ref->offset,
                                         &out_resolved_ref->length);
}

typedef struct iree_hal_command_buffer_t iree_hal_command_buffer_t;

/// Makes a command buffer that is recorded once between begin and end. `binding_capacity` slots
/// can be referred to.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_create(
    iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode,
    iree_hal_command_category_t command_categories, iree_hal_queue_affinity_t queue_affinity,
    iree_host_size_t binding_capacity, iree_hal_command_buffer_t** out_command_buffer);

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_command_buffer_retain(iree_hal_command_buffer_t* command_buffer);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_command_buffer_release(iree_hal_command_buffer_t* command_buffer);

/// The mode it was made with.
IREE_API_EXPORT iree_hal_command_buffer_mode_t
iree_hal_command_buffer_mode(const iree_hal_command_buffer_t* command_buffer);

/// The commands it may hold.
IREE_API_EXPORT iree_hal_command_category_t
iree_hal_command_buffer_allowed_categories(const iree_hal_command_buffer_t* command_buffer);

/// The queues it may be submitted to.
IREE_API_EXPORT iree_hal_queue_affinity_t
iree_hal_command_buffer_queue_affinity(const iree_hal_command_buffer_t* command_buffer);

/// Its id in profiles: not zero, unique in the process.
IREE_API_EXPORT uint64_t
iree_hal_command_buffer_profile_id(const iree_hal_command_buffer_t* command_buffer);

/// Starts recording; a second time is FAILED_PRECONDITION.
IREE_API_EXPORT iree_status_t
iree_hal_command_buffer_begin(iree_hal_command_buffer_t* command_buffer);

/// Ends recording; debug groups must be closed.
IREE_API_EXPORT iree_status_t
iree_hal_command_buffer_end(iree_hal_command_buffer_t* command_buffer);

/// Opens a named group of commands; `location` may be null.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_begin_debug_group(
    iree_hal_command_buffer_t* command_buffer, iree_string_view_t label,
    iree_hal_label_color_t label_color, const iree_hal_label_location_t* location);

/// Closes the innermost group.
IREE_API_EXPORT iree_status_t
iree_hal_command_buffer_end_debug_group(iree_hal_command_buffer_t* command_buffer);

/// Orders the commands before it against those after it; without barriers they are not ordered at
/// all.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_execution_barrier(
    iree_hal_command_buffer_t* command_buffer, iree_hal_execution_stage_t source_stage_mask,
    iree_hal_execution_stage_t target_stage_mask, iree_hal_execution_barrier_flags_t flags,
    iree_host_size_t memory_barrier_count, const iree_hal_memory_barrier_t* memory_barriers,
    iree_host_size_t buffer_barrier_count, const iree_hal_buffer_barrier_t* buffer_barriers);

/// Sets an event once the source stages of earlier commands are over.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_signal_event(
    iree_hal_command_buffer_t* command_buffer, iree_hal_event_t* event,
    iree_hal_execution_stage_t source_stage_mask);

/// Resets an event.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_reset_event(
    iree_hal_command_buffer_t* command_buffer, iree_hal_event_t* event,
    iree_hal_execution_stage_t source_stage_mask);

/// Holds target stages of later commands back until the events are set, with memory visible as the
/// barriers say.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_wait_events(
    iree_hal_command_buffer_t* command_buffer, iree_host_size_t event_count,
    const iree_hal_event_t** events, iree_hal_execution_stage_t source_stage_mask,
    iree_hal_execution_stage_t target_stage_mask, iree_host_size_t memory_barrier_count,
    const iree_hal_memory_barrier_t* memory_barriers, iree_host_size_t buffer_barrier_count,
    const iree_hal_buffer_barrier_t* buffer_barriers);

/// Tells how a range is going to be used.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_advise_buffer(
    iree_hal_command_buffer_t* command_buffer, iree_hal_buffer_ref_t buffer_ref,
    iree_hal_memory_advise_flags_t flags, uint64_t arg0, uint64_t arg1);

/// Repeats a pattern of 1, 2 or 4 bytes, captured now, over a range whose offset and length are
/// multiples of it.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_fill_buffer(
    iree_hal_command_buffer_t* command_buffer, iree_hal_buffer_ref_t target_ref,
    const void* pattern, iree_host_size_t pattern_length, iree_hal_fill_flags_t flags);

/// Writes host memory, captured now, to a range.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_update_buffer(
    iree_hal_command_buffer_t* command_buffer, const void* source_buffer,
    iree_host_size_t source_offset, iree_hal_buffer_ref_t target_ref,
    iree_hal_update_flags_t flags);

/// Copies between ranges of equal length that do not overlap.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_copy_buffer(
    iree_hal_command_buffer_t* command_buffer, iree_hal_buffer_ref_t source_ref,
    iree_hal_buffer_ref_t target_ref, iree_hal_copy_flags_t flags);

/// Performs a collective operation over `element_count` elements.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_collective(
    iree_hal_command_buffer_t* command_buffer, iree_hal_channel_t* channel,
    iree_hal_collective_op_t op, uint32_t param, iree_hal_buffer_ref_t send_ref,
    iree_hal_buffer_ref_t recv_ref, iree_device_size_t element_count);

/// Runs a function of an executable over a grid; constants and bindings are captured now. A grid
/// of no workgroups at all does nothing.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_dispatch(
    iree_hal_command_buffer_t* command_buffer, iree_hal_executable_t* executable,
    iree_hal_executable_function_t function, const iree_hal_dispatch_config_t config,
    iree_const_byte_span_t constants, const iree_hal_buffer_ref_list_t bindings,
    iree_hal_dispatch_flags_t flags);

/// Checks that recording is over and that the table has what the commands use.
IREE_API_EXPORT iree_status_t iree_hal_command_buffer_validate_submission(
    iree_hal_command_buffer_t* command_buffer, iree_hal_buffer_binding_table_t binding_table);

typedef enum iree_hal_transfer_command_type_t {
  IREE_HAL_TRANSFER_COMMAND_TYPE_FILL = 0u,
  IREE_HAL_TRANSFER_COMMAND_TYPE_UPDATE = 1u,
  IREE_HAL_TRANSFER_COMMAND_TYPE_COPY = 2u,
} iree_hal_transfer_command_type_t;

/// A command for iree_hal_create_transfer_command_buffer.
typedef struct iree_hal_transfer_command_t {
  iree_hal_transfer_command_type_t type;
  union {
    struct {
      iree_hal_buffer_t* target_buffer;
      iree_device_size_t target_offset;
      iree_device_size_t length;
      const void* pattern;
      iree_host_size_t pattern_length;
    } fill;
    struct {
      const void* source_buffer;
      iree_host_size_t source_offset;
      iree_hal_buffer_t* target_buffer;
      iree_device_size_t target_offset;
      iree_device_size_t length;
    } update;
    struct {
      iree_hal_buffer_t* source_buffer;
      iree_device_size_t source_offset;
      iree_hal_buffer_t* target_buffer;
      iree_device_size_t target_offset;
      iree_device_size_t length;
    } copy;
  };
} iree_hal_transfer_command_t;

/// Makes a recorded command buffer of transfers that are not ordered among each other.
IREE_API_EXPORT iree_status_t iree_hal_create_transfer_command_buffer(
    iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode,
    iree_hal_queue_affinity_t queue_affinity, iree_host_size_t transfer_count,
    const iree_hal_transfer_command_t* transfer_commands,
    iree_hal_command_buffer_t** out_command_buffer);

/// The driver's side of recording.
typedef struct iree_hal_command_buffer_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_command_buffer_t* command_buffer);
  iree_status_t(IREE_API_PTR* begin)(iree_hal_command_buffer_t* command_buffer);
  iree_status_t(IREE_API_PTR* end)(iree_hal_command_buffer_t* command_buffer);
  iree_status_t(IREE_API_PTR* begin_debug_group)(iree_hal_command_buffer_t* command_buffer,
                                                 iree_string_view_t label,
                                                 iree_hal_label_color_t label_color,
                                                 const iree_hal_label_location_t* location);
  iree_status_t(IREE_API_PTR* end_debug_group)(iree_hal_command_buffer_t* command_buffer);
  iree_status_t(IREE_API_PTR* execution_barrier)(
      iree_hal_command_buffer_t* command_buffer, iree_hal_execution_stage_t source_stage_mask,
      iree_hal_execution_stage_t target_stage_mask, iree_hal_execution_barrier_flags_t flags,
      iree_host_size_t memory_barrier_count, const iree_hal_memory_barrier_t* memory_barriers,
      iree_host_size_t buffer_barrier_count, const iree_hal_buffer_barrier_t* buffer_barriers);
  iree_status_t(IREE_API_PTR* signal_event)(iree_hal_command_buffer_t* command_buffer,
                                            iree_hal_event_t* event,
                                            iree_hal_execution_stage_t source_stage_mask);
  iree_status_t(IREE_API_PTR* reset_event)(iree_hal_command_buffer_t* command_buffer,
                                           iree_hal_event_t* event,
                                           iree_hal_execution_stage_t source_stage_mask);
  iree_status_t(IREE_API_PTR* wait_events)(
      iree_hal_command_buffer_t* command_buffer, iree_host_size_t event_count,
      const iree_hal_event_t** events, iree_hal_execution_stage_t source_stage_mask,
      iree_hal_execution_stage_t target_stage_mask, iree_host_size_t memory_barrier_count,
      const iree_hal_memory_barrier_t* memory_barriers, iree_host_size_t buffer_barrier_count,
      const iree_hal_buffer_barrier_t* buffer_barriers);
  iree_status_t(IREE_API_PTR* advise_buffer)(iree_hal_command_buffer_t* command_buffer,
                                             iree_hal_buffer_ref_t buffer_ref,
                                             iree_hal_memory_advise_flags_t flags, uint64_t arg0,
                                             uint64_t arg1);
  iree_status_t(IREE_API_PTR* fill_buffer)(iree_hal_command_buffer_t* command_buffer,
                                           iree_hal_buffer_ref_t target_ref, const void* pattern,
                                           iree_host_size_t pattern_length,
                                           iree_hal_fill_flags_t flags);
  iree_status_t(IREE_API_PTR* update_buffer)(iree_hal_command_buffer_t* command_buffer,
                                             const void* source_buffer,
                                             iree_host_size_t source_offset,
                                             iree_hal_buffer_ref_t target_ref,
                                             iree_hal_update_flags_t flags);
  iree_status_t(IREE_API_PTR* copy_buffer)(iree_hal_command_buffer_t* command_buffer,
                                           iree_hal_buffer_ref_t source_ref,
                                           iree_hal_buffer_ref_t target_ref,
                                           iree_hal_copy_flags_t flags);
  iree_status_t(IREE_API_PTR* collective)(iree_hal_command_buffer_t* command_buffer,
                                          iree_hal_channel_t* channel, iree_hal_collective_op_t op,
                                          uint32_t param, iree_hal_buffer_ref_t send_ref,
                                          iree_hal_buffer_ref_t recv_ref,
                                          iree_device_size_t element_count);
  iree_status_t(IREE_API_PTR* dispatch)(iree_hal_command_buffer_t* command_buffer,
                                        iree_hal_executable_t* executable,
                                        iree_hal_executable_function_t function,
                                        const iree_hal_dispatch_config_t config,
                                        iree_const_byte_span_t constants,
                                        iree_hal_buffer_ref_list_t bindings,
                                        iree_hal_dispatch_flags_t flags);
} iree_hal_command_buffer_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_command_buffer_vtable_t);

/// What every driver's command buffer begins with.
struct iree_hal_command_buffer_t {
  iree_hal_resource_t resource;
  iree_hal_command_buffer_mode_t mode;
  iree_hal_command_category_t allowed_categories;
  iree_hal_queue_affinity_t queue_affinity;
  uint64_t profile_id;
  uint32_t binding_capacity;
  uint32_t binding_count;
  void* validation_state;
};

/// Bytes that a driver provides behind its command buffer for checks; 0 without them.
IREE_API_EXPORT iree_host_size_t iree_hal_command_buffer_validation_state_size(
    iree_hal_command_buffer_mode_t mode, iree_host_size_t binding_capacity);

/// Starts a driver's command buffer; `validation_state` points at the bytes provided.
/// `device_allocator` is not retained and must outlive it.
IREE_API_EXPORT void iree_hal_command_buffer_initialize(
    iree_hal_allocator_t* device_allocator, iree_hal_command_buffer_mode_t mode,
    iree_hal_command_category_t command_categories, iree_hal_queue_affinity_t queue_affinity,
    iree_host_size_t binding_capacity, void* validation_state,
    const iree_hal_command_buffer_vtable_t* vtable, iree_hal_command_buffer_t* command_buffer);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_command_buffer_destroy(iree_hal_command_buffer_t* command_buffer);

#ifdef __cplusplus
}
#endif
#endif

#ifndef IREE_HAL_PROFILE_SCHEMA_H_
#define IREE_HAL_PROFILE_SCHEMA_H_

#include "iree/base/api.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_HAL_PROFILE_CONTENT_TYPE_SESSION IREE_SV("application/vnd.iree.hal.profile.session")
#define IREE_HAL_PROFILE_CONTENT_TYPE_DEVICES IREE_SV("application/vnd.iree.hal.profile.devices")
#define IREE_HAL_PROFILE_CONTENT_TYPE_QUEUES IREE_SV("application/vnd.iree.hal.profile.queues")

#define IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLES                                                  \
  IREE_SV("application/vnd.iree.hal.profile.executables")

#define IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_CODE_OBJECTS                                      \
  IREE_SV("application/vnd.iree.hal.profile.executable-code-objects")

#define IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_CODE_OBJECT_LOADS                                 \
  IREE_SV("application/vnd.iree.hal.profile.executable-code-object-loads")

#define IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_FUNCTIONS                                         \
  IREE_SV("application/vnd.iree.hal.profile.executable-functions")

#define IREE_HAL_PROFILE_CONTENT_TYPE_COMMAND_BUFFERS                                              \
  IREE_SV("application/vnd.iree.hal.profile.command-buffers")

#define IREE_HAL_PROFILE_CONTENT_TYPE_COMMAND_OPERATIONS                                           \
  IREE_SV("application/vnd.iree.hal.profile.command-operations")

#define IREE_HAL_PROFILE_CONTENT_TYPE_CLOCK_CORRELATIONS                                           \
  IREE_SV("application/vnd.iree.hal.profile.clock-correlations")

#define IREE_HAL_PROFILE_CONTENT_TYPE_DISPATCH_EVENTS                                              \
  IREE_SV("application/vnd.iree.hal.profile.dispatch-events")

#define IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_EVENTS                                                 \
  IREE_SV("application/vnd.iree.hal.profile.queue-events")

#define IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_DEVICE_EVENTS                                          \
  IREE_SV("application/vnd.iree.hal.profile.queue-device-events")

#define IREE_HAL_PROFILE_CONTENT_TYPE_HOST_EXECUTION_EVENTS                                        \
  IREE_SV("application/vnd.iree.hal.profile.host-execution-events")

#define IREE_HAL_PROFILE_CONTENT_TYPE_COMMAND_REGION_EVENTS                                        \
  IREE_SV("application/vnd.iree.hal.profile.command-region-events")

#define IREE_HAL_PROFILE_CONTENT_TYPE_MEMORY_EVENTS                                                \
  IREE_SV("application/vnd.iree.hal.profile.memory-events")

#define IREE_HAL_PROFILE_CONTENT_TYPE_EVENT_RELATIONSHIPS                                          \
  IREE_SV("application/vnd.iree.hal.profile.event-relationships")

#define IREE_HAL_PROFILE_CONTENT_TYPE_COUNTER_SETS                                                 \
  IREE_SV("application/vnd.iree.hal.profile.counter-sets")

#define IREE_HAL_PROFILE_CONTENT_TYPE_COUNTERS IREE_SV("application/vnd.iree.hal.profile.counters")

#define IREE_HAL_PROFILE_CONTENT_TYPE_COUNTER_SAMPLES                                              \
  IREE_SV("application/vnd.iree.hal.profile.counter-samples")

#define IREE_HAL_PROFILE_CONTENT_TYPE_DEVICE_METRIC_SOURCES                                        \
  IREE_SV("application/vnd.iree.hal.profile.device-metric-sources")

#define IREE_HAL_PROFILE_CONTENT_TYPE_DEVICE_METRIC_DESCRIPTORS                                    \
  IREE_SV("application/vnd.iree.hal.profile.device-metric-descriptors")

#define IREE_HAL_PROFILE_CONTENT_TYPE_DEVICE_METRIC_SAMPLES                                        \
  IREE_SV("application/vnd.iree.hal.profile.device-metric-samples")

#define IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_TRACES                                            \
  IREE_SV("application/vnd.iree.hal.profile.executable-traces")

typedef uint32_t iree_hal_profile_device_flags_t;
enum iree_hal_profile_device_flag_bits_t {
  IREE_HAL_PROFILE_DEVICE_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_DEVICE_FLAG_PHYSICAL_DEVICE_UUID = 1u << 0,
};

typedef struct iree_hal_profile_device_record_t {
  uint32_t record_length;
  iree_hal_profile_device_flags_t flags;
  uint32_t physical_device_ordinal;
  uint32_t queue_count;
  uint8_t physical_device_uuid[16];
} iree_hal_profile_device_record_t;

static inline iree_hal_profile_device_record_t iree_hal_profile_device_record_default(void) {
  iree_hal_profile_device_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  return record;
}

typedef struct iree_hal_profile_queue_record_t {
  uint32_t record_length;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t reserved0;
  uint64_t stream_id;
} iree_hal_profile_queue_record_t;

static inline iree_hal_profile_queue_record_t iree_hal_profile_queue_record_default(void) {
  iree_hal_profile_queue_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  record.queue_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_executable_flags_t;
enum iree_hal_profile_executable_flag_bits_t {
  IREE_HAL_PROFILE_EXECUTABLE_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_EXECUTABLE_FLAG_CODE_OBJECT_HASH = 1u << 0,
};

typedef struct iree_hal_profile_executable_record_t {
  uint32_t record_length;
  iree_hal_profile_executable_flags_t flags;
  uint64_t executable_id;
  uint32_t function_count;
  uint32_t reserved0;
  uint64_t code_object_hash[2];
} iree_hal_profile_executable_record_t;

static inline iree_hal_profile_executable_record_t
iree_hal_profile_executable_record_default(void) {
  iree_hal_profile_executable_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  return record;
}

typedef uint32_t iree_hal_profile_executable_code_object_flags_t;
enum iree_hal_profile_executable_code_object_flag_bits_t {
  IREE_HAL_PROFILE_EXECUTABLE_CODE_OBJECT_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_EXECUTABLE_CODE_OBJECT_FLAG_CODE_OBJECT_HASH = 1u << 0,
};

typedef struct iree_hal_profile_executable_code_object_record_t {
  uint32_t record_length;
  iree_hal_profile_executable_code_object_flags_t flags;
  uint64_t executable_id;
  uint64_t code_object_id;
  uint64_t data_length;
  uint64_t code_object_hash[2];
} iree_hal_profile_executable_code_object_record_t;

static inline iree_hal_profile_executable_code_object_record_t
iree_hal_profile_executable_code_object_record_default(void) {
  iree_hal_profile_executable_code_object_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  return record;
}

typedef struct iree_hal_profile_executable_code_object_load_record_t {
  uint32_t record_length;
  uint32_t physical_device_ordinal;
  uint64_t executable_id;
  uint64_t code_object_id;
  int64_t load_delta;
  uint64_t load_size;
} iree_hal_profile_executable_code_object_load_record_t;

static inline iree_hal_profile_executable_code_object_load_record_t
iree_hal_profile_executable_code_object_load_record_default(void) {
  iree_hal_profile_executable_code_object_load_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_executable_function_flags_t;
enum iree_hal_profile_executable_function_flag_bits_t {
  IREE_HAL_PROFILE_EXECUTABLE_FUNCTION_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_EXECUTABLE_FUNCTION_FLAG_FUNCTION_HASH = 1u << 0,
};

typedef struct iree_hal_profile_executable_function_record_t {
  uint32_t record_length;
  iree_hal_profile_executable_function_flags_t flags;
  uint64_t executable_id;
  uint32_t function_ordinal;
  uint32_t constant_count;
  uint32_t binding_count;
  uint32_t parameter_count;
  uint32_t workgroup_size[3];
  uint32_t name_length;
  uint64_t function_hash[2];
} iree_hal_profile_executable_function_record_t;

static inline iree_hal_profile_executable_function_record_t
iree_hal_profile_executable_function_record_default(void) {
  iree_hal_profile_executable_function_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.function_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_command_buffer_flags_t;
enum iree_hal_profile_command_buffer_flag_bits_t {
  IREE_HAL_PROFILE_COMMAND_BUFFER_FLAG_NONE = 0u,
};

typedef struct iree_hal_profile_command_buffer_record_t {
  uint32_t record_length;
  iree_hal_profile_command_buffer_flags_t flags;
  uint64_t command_buffer_id;
  uint64_t mode;
  uint64_t command_categories;
  uint64_t queue_affinity;
  uint32_t physical_device_ordinal;
  uint32_t reserved0;
} iree_hal_profile_command_buffer_record_t;

static inline iree_hal_profile_command_buffer_record_t
iree_hal_profile_command_buffer_record_default(void) {
  iree_hal_profile_command_buffer_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_command_operation_type_t;
enum iree_hal_profile_command_operation_type_e {
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_NONE = 0u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_BARRIER = 1u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH = 2u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_FILL = 3u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_COPY = 4u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_UPDATE = 5u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_PROFILE_MARKER = 6u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_BRANCH = 7u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_COND_BRANCH = 8u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_RETURN = 9u,
};
typedef uint32_t iree_hal_profile_command_operation_flags_t;

enum iree_hal_profile_command_operation_flag_bits_t {
  IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_EXECUTION_BARRIER = 1u << 0,
  IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_INDIRECT_PARAMETERS = 1u << 1,
  IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_DYNAMIC_BINDINGS = 1u << 2,
  IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_STATIC_BINDINGS = 1u << 3,
  IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_PREPUBLISHED_ARGUMENTS = 1u << 4,
  IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_CONTROL_FLOW = 1u << 5,
  IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_BLOCK_STRUCTURE = 1u << 6,
};

typedef struct iree_hal_profile_command_operation_record_t {
  uint32_t record_length;
  iree_hal_profile_command_operation_type_t type;
  iree_hal_profile_command_operation_flags_t flags;
  uint32_t command_index;
  uint64_t command_buffer_id;
  uint32_t block_ordinal;
  uint32_t block_command_ordinal;
  uint64_t executable_id;
  uint32_t function_ordinal;
  uint32_t binding_count;
  uint32_t workgroup_count[3];
  uint32_t workgroup_size[3];
  uint64_t source_offset;
  uint64_t target_offset;
  uint64_t length;
  uint32_t source_ordinal;
  uint32_t target_ordinal;
  uint32_t target_block_ordinal;
  uint32_t alternate_block_ordinal;
  uint32_t reserved0;
} iree_hal_profile_command_operation_record_t;

static inline iree_hal_profile_command_operation_record_t
iree_hal_profile_command_operation_record_default(void) {
  iree_hal_profile_command_operation_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.command_index = UINT32_MAX;
  record.block_ordinal = UINT32_MAX;
  record.block_command_ordinal = UINT32_MAX;
  record.function_ordinal = UINT32_MAX;
  record.source_ordinal = UINT32_MAX;
  record.target_ordinal = UINT32_MAX;
  record.target_block_ordinal = UINT32_MAX;
  record.alternate_block_ordinal = UINT32_MAX;
  return record;
}

static inline bool iree_hal_profile_command_operation_has_block_structure(
    const iree_hal_profile_command_operation_record_t* record) {
  return iree_any_bit_set(record->flags, IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_BLOCK_STRUCTURE);
}

typedef uint32_t iree_hal_profile_clock_correlation_flags_t;
enum iree_hal_profile_clock_correlation_flag_bits_t {
  IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK = 1u << 0,
  IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_CPU_TIMESTAMP = 1u << 1,
  IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_SYSTEM_TIMESTAMP = 1u << 2,
  IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_TIME_BRACKET = 1u << 3,
  IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK_UNALIGNED = 1u << 4,
};

typedef struct iree_hal_profile_clock_correlation_record_t {
  uint32_t record_length;
  iree_hal_profile_clock_correlation_flags_t flags;
  uint32_t physical_device_ordinal;
  uint32_t reserved0;
  uint64_t sample_id;
  uint64_t device_tick;
  uint64_t host_cpu_timestamp_ns;
  uint64_t host_system_timestamp;
  uint64_t host_system_frequency_hz;
  int64_t host_time_begin_ns;
  int64_t host_time_end_ns;
} iree_hal_profile_clock_correlation_record_t;

static inline iree_hal_profile_clock_correlation_record_t
iree_hal_profile_clock_correlation_record_default(void) {
  iree_hal_profile_clock_correlation_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_dispatch_event_flags_t;
enum iree_hal_profile_dispatch_event_flag_bits_t {
  IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_COMMAND_BUFFER = 1u << 0,
  IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_INDIRECT_PARAMETERS = 1u << 1,
};

typedef struct iree_hal_profile_dispatch_event_t {
  uint32_t record_length;
  iree_hal_profile_dispatch_event_flags_t flags;
  uint64_t event_id;
  uint64_t submission_id;
  uint64_t command_buffer_id;
  uint64_t executable_id;
  uint32_t command_index;
  uint32_t function_ordinal;
  uint32_t workgroup_count[3];
  uint32_t workgroup_size[3];
  uint64_t start_tick;
  uint64_t end_tick;
} iree_hal_profile_dispatch_event_t;

static inline iree_hal_profile_dispatch_event_t iree_hal_profile_dispatch_event_default(void) {
  iree_hal_profile_dispatch_event_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.command_index = UINT32_MAX;
  record.function_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_queue_event_type_t;
enum iree_hal_profile_queue_event_type_e {
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_NONE = 0u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER = 1u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH = 2u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE = 3u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY = 4u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL = 5u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_UPDATE = 6u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_READ = 7u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_WRITE = 8u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_ALLOCA = 9u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DEALLOCA = 10u,
  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_HOST_CALL = 11u,
};
typedef uint32_t iree_hal_profile_queue_event_flags_t;

enum iree_hal_profile_queue_event_flag_bits_t {
  IREE_HAL_PROFILE_QUEUE_EVENT_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_QUEUE_EVENT_FLAG_SOFTWARE_DEFERRED = 1u << 0,
};
typedef uint32_t iree_hal_profile_queue_dependency_strategy_t;

enum iree_hal_profile_queue_dependency_strategy_e {
  IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_NONE = 0u,
  IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_INLINE = 1u,
  IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_DEVICE_BARRIER = 2u,
  IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_SOFTWARE_DEFER = 3u,
};

typedef struct iree_hal_profile_queue_event_t {
  uint32_t record_length;
  iree_hal_profile_queue_event_type_t type;
  iree_hal_profile_queue_event_flags_t flags;
  iree_hal_profile_queue_dependency_strategy_t dependency_strategy;
  uint64_t event_id;
  int64_t host_time_ns;
  uint64_t submission_id;
  uint64_t command_buffer_id;
  uint64_t allocation_id;
  uint64_t stream_id;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t wait_count;
  uint32_t signal_count;
  uint32_t barrier_count;
  uint32_t operation_count;
  uint64_t payload_length;
  int64_t ready_host_time_ns;
} iree_hal_profile_queue_event_t;

static inline iree_hal_profile_queue_event_t iree_hal_profile_queue_event_default(void) {
  iree_hal_profile_queue_event_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  record.queue_ordinal = UINT32_MAX;
  return record;
}

typedef struct iree_hal_profile_queue_device_event_t {
  uint32_t record_length;
  iree_hal_profile_queue_event_type_t type;
  iree_hal_profile_queue_event_flags_t flags;
  uint32_t reserved0;
  uint64_t event_id;
  uint64_t submission_id;
  uint64_t command_buffer_id;
  uint64_t allocation_id;
  uint64_t stream_id;
  uint64_t payload_length;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t operation_count;
  uint32_t reserved1;
  uint64_t start_tick;
  uint64_t end_tick;
} iree_hal_profile_queue_device_event_t;

static inline iree_hal_profile_queue_device_event_t
iree_hal_profile_queue_device_event_default(void) {
  iree_hal_profile_queue_device_event_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  record.queue_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_host_execution_event_flags_t;
enum iree_hal_profile_host_execution_event_flag_bits_t {
  IREE_HAL_PROFILE_HOST_EXECUTION_EVENT_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_HOST_EXECUTION_EVENT_FLAG_COMMAND_BUFFER = 1u << 0,
  IREE_HAL_PROFILE_HOST_EXECUTION_EVENT_FLAG_INDIRECT_PARAMETERS = 1u << 1,
  IREE_HAL_PROFILE_HOST_EXECUTION_EVENT_FLAG_DEFERRED = 1u << 2,
};

typedef struct iree_hal_profile_host_execution_event_t {
  uint32_t record_length;
  iree_hal_profile_queue_event_type_t type;
  iree_hal_profile_host_execution_event_flags_t flags;
  uint32_t status_code;
  uint64_t event_id;
  uint64_t submission_id;
  uint64_t command_buffer_id;
  uint64_t executable_id;
  uint64_t allocation_id;
  uint64_t stream_id;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t command_index;
  uint32_t function_ordinal;
  uint32_t workgroup_count[3];
  uint32_t workgroup_size[3];
  int64_t start_host_time_ns;
  int64_t end_host_time_ns;
  uint64_t payload_length;
  uint64_t tile_count;
  int64_t tile_duration_sum_ns;
  uint32_t operation_count;
  uint32_t reserved0;
} iree_hal_profile_host_execution_event_t;

static inline iree_hal_profile_host_execution_event_t
iree_hal_profile_host_execution_event_default(void) {
  iree_hal_profile_host_execution_event_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.status_code = UINT32_MAX;
  record.physical_device_ordinal = UINT32_MAX;
  record.queue_ordinal = UINT32_MAX;
  record.command_index = UINT32_MAX;
  record.function_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_command_region_event_flags_t;
enum iree_hal_profile_command_region_event_flag_bits_t {
  IREE_HAL_PROFILE_COMMAND_REGION_EVENT_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_COMMAND_REGION_EVENT_FLAG_COMMAND_BUFFER = 1u << 0,
  IREE_HAL_PROFILE_COMMAND_REGION_EVENT_FLAG_BLOCK_TRANSITION = 1u << 1,
  IREE_HAL_PROFILE_COMMAND_REGION_EVENT_FLAG_TERMINAL = 1u << 2,
  IREE_HAL_PROFILE_COMMAND_REGION_EVENT_FLAG_HAS_NEXT_REGION = 1u << 3,
};

#define IREE_HAL_PROFILE_COMMAND_REGION_REMAINING_TILE_BUCKET_COUNT 8

typedef struct iree_hal_profile_command_region_event_t {
  uint32_t record_length;
  iree_hal_profile_command_region_event_flags_t flags;
  uint64_t event_id;
  uint64_t submission_id;
  uint64_t command_buffer_id;
  uint64_t stream_id;
  struct {
    uint32_t physical_device_ordinal;
    uint32_t queue_ordinal;
  } queue;
  struct {
    uint32_t block_sequence;
    uint32_t epoch;
    int32_t index;
    uint32_t dispatch_count;
    uint32_t tile_count;
    uint32_t width_bucket;
    uint32_t lookahead_width_bucket;
    uint32_t useful_drain_count;
    uint32_t no_work_drain_count;
    struct {
      uint32_t count;
      struct {
        uint32_t min;
        uint32_t max;
        uint32_t bucket_counts[IREE_HAL_PROFILE_COMMAND_REGION_REMAINING_TILE_BUCKET_COUNT];
      } remaining_tiles;
      int64_t first_start_host_time_ns;
      int64_t last_end_host_time_ns;
      struct {
        int64_t start_offset_ns;
        int64_t drain_duration_ns;
      } time_sums;
    } tail_no_work;
    int64_t first_useful_drain_start_host_time_ns;
    int64_t last_useful_drain_end_host_time_ns;
    int64_t start_host_time_ns;
    int64_t end_host_time_ns;
  } command_region;
  struct {
    int32_t index;
    uint32_t tile_count;
    uint32_t width_bucket;
    uint32_t lookahead_width_bucket;
  } next_command_region;
  struct {
    uint32_t worker_count;
    int32_t old_wake_budget;
    int32_t new_wake_budget;
    int32_t wake_delta;
  } scheduler;
  struct {
    uint32_t keep_active_count;
    uint32_t publish_keep_active_count;
    uint32_t keep_warm_count;
  } retention;
} iree_hal_profile_command_region_event_t;

static inline iree_hal_profile_command_region_event_t
iree_hal_profile_command_region_event_default(void) {
  iree_hal_profile_command_region_event_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.queue.physical_device_ordinal = UINT32_MAX;
  record.queue.queue_ordinal = UINT32_MAX;
  record.command_region.index = -1;
  record.next_command_region.index = -1;
  return record;
}

typedef uint32_t iree_hal_profile_memory_event_type_t;
enum iree_hal_profile_memory_event_type_e {
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_NONE = 0u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_SLAB_ACQUIRE = 1u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_SLAB_RELEASE = 2u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RESERVE = 3u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_MATERIALIZE = 4u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RELEASE = 5u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_WAIT = 6u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_ALLOCA = 7u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_DEALLOCA = 8u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_ALLOCATE = 9u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_FREE = 10u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_IMPORT = 11u,
  IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_UNIMPORT = 12u,
};
typedef uint32_t iree_hal_profile_memory_event_flags_t;

enum iree_hal_profile_memory_event_flag_bits_t {
  IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_QUEUE_OPERATION = 1u << 0,
  IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_WAIT_FRONTIER = 1u << 1,
  IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_WAIT_NOTIFICATION = 1u << 2,
  IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_RESERVATION = 1u << 3,
  IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_STATS = 1u << 4,
  IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_EXTERNALLY_OWNED = 1u << 5,
};

typedef struct iree_hal_profile_memory_event_t {
  uint32_t record_length;
  iree_hal_profile_memory_event_type_t type;
  iree_hal_profile_memory_event_flags_t flags;
  uint32_t result;
  uint64_t event_id;
  int64_t host_time_ns;
  uint64_t allocation_id;
  uint64_t pool_id;
  uint64_t backing_id;
  uint64_t submission_id;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t frontier_entry_count;
  uint32_t reserved0;
  uint64_t memory_type;
  uint64_t buffer_usage;
  uint64_t offset;
  uint64_t length;
  uint64_t alignment;
  uint64_t pool_bytes_reserved;
  uint64_t pool_bytes_free;
  uint64_t pool_bytes_committed;
  uint64_t pool_budget_limit;
  uint32_t pool_reservation_count;
  uint32_t pool_slab_count;
} iree_hal_profile_memory_event_t;

static inline iree_hal_profile_memory_event_t iree_hal_profile_memory_event_default(void) {
  iree_hal_profile_memory_event_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.result = UINT32_MAX;
  record.physical_device_ordinal = UINT32_MAX;
  record.queue_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_event_relationship_type_t;
enum iree_hal_profile_event_relationship_type_e {
  IREE_HAL_PROFILE_EVENT_RELATIONSHIP_TYPE_NONE = 0u,
  IREE_HAL_PROFILE_EVENT_RELATIONSHIP_TYPE_QUEUE_SUBMISSION_DISPATCH = 1u,
  IREE_HAL_PROFILE_EVENT_RELATIONSHIP_TYPE_QUEUE_SUBMISSION_QUEUE_DEVICE_EVENT = 2u,
  IREE_HAL_PROFILE_EVENT_RELATIONSHIP_TYPE_QUEUE_EVENT_HOST_EXECUTION_EVENT = 3u,
  IREE_HAL_PROFILE_EVENT_RELATIONSHIP_TYPE_QUEUE_SUBMISSION_HOST_EXECUTION_EVENT = 4u,
};
typedef uint32_t iree_hal_profile_event_endpoint_type_t;

enum iree_hal_profile_event_endpoint_type_e {
  IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_NONE = 0u,
  IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_QUEUE_SUBMISSION = 1u,
  IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_QUEUE_EVENT = 2u,
  IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_DISPATCH_EVENT = 3u,
  IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_COMMAND_OPERATION = 4u,
  IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_MEMORY_EVENT = 5u,
  IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_ARTIFACT = 6u,
  IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_QUEUE_DEVICE_EVENT = 7u,
  IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_HOST_EXECUTION_EVENT = 8u,
};

typedef struct iree_hal_profile_event_relationship_record_t {
  uint32_t record_length;
  iree_hal_profile_event_relationship_type_t type;
  uint64_t relationship_id;
  iree_hal_profile_event_endpoint_type_t source_type;
  iree_hal_profile_event_endpoint_type_t target_type;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint64_t stream_id;
  uint64_t source_id;
  uint64_t source_secondary_id;
  uint64_t target_id;
  uint64_t target_secondary_id;
} iree_hal_profile_event_relationship_record_t;

static inline iree_hal_profile_event_relationship_record_t
iree_hal_profile_event_relationship_record_default(void) {
  iree_hal_profile_event_relationship_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  record.queue_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_counter_set_flags_t;
enum iree_hal_profile_counter_set_flag_bits_t {
  IREE_HAL_PROFILE_COUNTER_SET_FLAG_NONE = 0u,
};

typedef struct iree_hal_profile_counter_set_record_t {
  uint32_t record_length;
  iree_hal_profile_counter_set_flags_t flags;
  uint64_t counter_set_id;
  uint32_t physical_device_ordinal;
  uint32_t counter_count;
  uint32_t sample_value_count;
  uint32_t name_length;
} iree_hal_profile_counter_set_record_t;

static inline iree_hal_profile_counter_set_record_t
iree_hal_profile_counter_set_record_default(void) {
  iree_hal_profile_counter_set_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_counter_flags_t;
enum iree_hal_profile_counter_flag_bits_t {
  IREE_HAL_PROFILE_COUNTER_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_COUNTER_FLAG_RAW = 1u << 0,
};
typedef uint32_t iree_hal_profile_counter_unit_t;

enum iree_hal_profile_counter_unit_e {
  IREE_HAL_PROFILE_COUNTER_UNIT_NONE = 0u,
  IREE_HAL_PROFILE_COUNTER_UNIT_COUNT = 1u,
  IREE_HAL_PROFILE_COUNTER_UNIT_CYCLES = 2u,
  IREE_HAL_PROFILE_COUNTER_UNIT_BYTES = 3u,
};

typedef struct iree_hal_profile_counter_record_t {
  uint32_t record_length;
  iree_hal_profile_counter_flags_t flags;
  iree_hal_profile_counter_unit_t unit;
  uint32_t physical_device_ordinal;
  uint64_t counter_set_id;
  uint32_t counter_ordinal;
  uint32_t sample_value_offset;
  uint32_t sample_value_count;
  uint32_t block_name_length;
  uint32_t name_length;
  uint32_t description_length;
} iree_hal_profile_counter_record_t;

static inline iree_hal_profile_counter_record_t iree_hal_profile_counter_record_default(void) {
  iree_hal_profile_counter_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_counter_sample_flags_t;
enum iree_hal_profile_counter_sample_flag_bits_t {
  IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_DISPATCH_EVENT = 1u << 0,
  IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_COMMAND_OPERATION = 1u << 1,
  IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_DEVICE_TICK_RANGE = 1u << 2,
};
typedef uint32_t iree_hal_profile_counter_sample_scope_t;

enum iree_hal_profile_counter_sample_scope_e {
  IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_NONE = 0u,
  IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_DISPATCH = 1u,
  IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_COMMAND_OPERATION = 2u,
  IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_DEVICE_TIME_RANGE = 3u,
};

typedef struct iree_hal_profile_counter_sample_record_t {
  uint32_t record_length;
  iree_hal_profile_counter_sample_flags_t flags;
  iree_hal_profile_counter_sample_scope_t scope;
  uint32_t reserved0;
  uint64_t sample_id;
  uint64_t counter_set_id;
  uint64_t dispatch_event_id;
  uint64_t submission_id;
  uint64_t command_buffer_id;
  uint64_t executable_id;
  uint64_t stream_id;
  uint64_t start_tick;
  uint64_t end_tick;
  uint32_t command_index;
  uint32_t function_ordinal;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t sample_value_count;
  uint32_t reserved1;
} iree_hal_profile_counter_sample_record_t;

static inline iree_hal_profile_counter_sample_record_t
iree_hal_profile_counter_sample_record_default(void) {
  iree_hal_profile_counter_sample_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.command_index = UINT32_MAX;
  record.function_ordinal = UINT32_MAX;
  record.physical_device_ordinal = UINT32_MAX;
  record.queue_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_device_class_t;
enum iree_hal_profile_device_class_e {
  IREE_HAL_PROFILE_DEVICE_CLASS_NONE = 0u,
  IREE_HAL_PROFILE_DEVICE_CLASS_CPU = 1u,
  IREE_HAL_PROFILE_DEVICE_CLASS_GPU = 2u,
  IREE_HAL_PROFILE_DEVICE_CLASS_NPU = 3u,
  IREE_HAL_PROFILE_DEVICE_CLASS_OTHER = 0x7FFFFFFFu,
};
typedef uint32_t iree_hal_profile_device_metric_source_flags_t;

enum iree_hal_profile_device_metric_source_flag_bits_t {
  IREE_HAL_PROFILE_DEVICE_METRIC_SOURCE_FLAG_NONE = 0u,
};

typedef struct iree_hal_profile_device_metric_source_record_t {
  uint32_t record_length;
  iree_hal_profile_device_metric_source_flags_t flags;
  uint64_t source_id;
  uint32_t physical_device_ordinal;
  iree_hal_profile_device_class_t device_class;
  uint32_t source_kind;
  uint32_t source_revision;
  uint32_t metric_count;
  uint32_t name_length;
} iree_hal_profile_device_metric_source_record_t;

static inline iree_hal_profile_device_metric_source_record_t
iree_hal_profile_device_metric_source_record_default(void) {
  iree_hal_profile_device_metric_source_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_metric_flags_t;
enum iree_hal_profile_metric_flag_bits_t {
  IREE_HAL_PROFILE_METRIC_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_profile_metric_unit_t;

enum iree_hal_profile_metric_unit_e {
  IREE_HAL_PROFILE_METRIC_UNIT_NONE = 0u,
  IREE_HAL_PROFILE_METRIC_UNIT_COUNT = 1u,
  IREE_HAL_PROFILE_METRIC_UNIT_HERTZ = 2u,
  IREE_HAL_PROFILE_METRIC_UNIT_BYTES = 3u,
  IREE_HAL_PROFILE_METRIC_UNIT_BYTES_PER_SECOND = 4u,
  IREE_HAL_PROFILE_METRIC_UNIT_MILLIPERCENT = 5u,
  IREE_HAL_PROFILE_METRIC_UNIT_MILLIDEGREES_CELSIUS = 6u,
  IREE_HAL_PROFILE_METRIC_UNIT_MICROWATTS = 7u,
  IREE_HAL_PROFILE_METRIC_UNIT_MICROJOULES = 8u,
  IREE_HAL_PROFILE_METRIC_UNIT_BITFIELD = 9u,
  IREE_HAL_PROFILE_METRIC_UNIT_ENUM = 10u,
};
typedef uint32_t iree_hal_profile_metric_value_kind_t;

enum iree_hal_profile_metric_value_kind_e {
  IREE_HAL_PROFILE_METRIC_VALUE_KIND_NONE = 0u,
  IREE_HAL_PROFILE_METRIC_VALUE_KIND_I64 = 1u,
  IREE_HAL_PROFILE_METRIC_VALUE_KIND_U64 = 2u,
  IREE_HAL_PROFILE_METRIC_VALUE_KIND_F64 = 3u,
};
typedef uint32_t iree_hal_profile_metric_semantic_t;

enum iree_hal_profile_metric_semantic_e {
  IREE_HAL_PROFILE_METRIC_SEMANTIC_NONE = 0u,
  IREE_HAL_PROFILE_METRIC_SEMANTIC_INSTANT = 1u,
  IREE_HAL_PROFILE_METRIC_SEMANTIC_AVERAGE = 2u,
  IREE_HAL_PROFILE_METRIC_SEMANTIC_CUMULATIVE = 3u,
  IREE_HAL_PROFILE_METRIC_SEMANTIC_DELTA = 4u,
  IREE_HAL_PROFILE_METRIC_SEMANTIC_STATE = 5u,
};
typedef uint32_t iree_hal_profile_metric_plot_hint_t;

enum iree_hal_profile_metric_plot_hint_e {
  IREE_HAL_PROFILE_METRIC_PLOT_HINT_NONE = 0u,
  IREE_HAL_PROFILE_METRIC_PLOT_HINT_NUMBER = 1u,
  IREE_HAL_PROFILE_METRIC_PLOT_HINT_MEMORY = 2u,
  IREE_HAL_PROFILE_METRIC_PLOT_HINT_PERCENTAGE = 3u,
  IREE_HAL_PROFILE_METRIC_PLOT_HINT_FREQUENCY = 4u,
  IREE_HAL_PROFILE_METRIC_PLOT_HINT_TEMPERATURE = 5u,
  IREE_HAL_PROFILE_METRIC_PLOT_HINT_POWER = 6u,
  IREE_HAL_PROFILE_METRIC_PLOT_HINT_ENERGY = 7u,
  IREE_HAL_PROFILE_METRIC_PLOT_HINT_BANDWIDTH = 8u,
};

typedef struct iree_hal_profile_device_metric_descriptor_record_t {
  uint32_t record_length;
  iree_hal_profile_metric_flags_t flags;
  uint64_t source_id;
  uint64_t metric_id;
  iree_hal_profile_metric_unit_t unit;
  iree_hal_profile_metric_value_kind_t value_kind;
  iree_hal_profile_metric_semantic_t semantic;
  iree_hal_profile_metric_plot_hint_t plot_hint;
  uint32_t name_length;
  uint32_t description_length;
} iree_hal_profile_device_metric_descriptor_record_t;

static inline iree_hal_profile_device_metric_descriptor_record_t
iree_hal_profile_device_metric_descriptor_record_default(void) {
  iree_hal_profile_device_metric_descriptor_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  return record;
}

typedef uint32_t iree_hal_profile_device_metric_value_flags_t;
enum iree_hal_profile_device_metric_value_flag_bits_t {
  IREE_HAL_PROFILE_DEVICE_METRIC_VALUE_FLAG_NONE = 0u,
};

typedef struct iree_hal_profile_device_metric_value_t {
  uint64_t metric_id;
  uint64_t value_bits;
  iree_hal_profile_device_metric_value_flags_t flags;
  uint32_t reserved0;
} iree_hal_profile_device_metric_value_t;

typedef uint32_t iree_hal_profile_device_metric_sample_flags_t;
enum iree_hal_profile_device_metric_sample_flag_bits_t {
  IREE_HAL_PROFILE_DEVICE_METRIC_SAMPLE_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_DEVICE_METRIC_SAMPLE_FLAG_SOURCE_TIMESTAMP = 1u << 0,
  IREE_HAL_PROFILE_DEVICE_METRIC_SAMPLE_FLAG_PARTIAL = 1u << 1,
};

typedef struct iree_hal_profile_device_metric_sample_record_t {
  uint32_t record_length;
  iree_hal_profile_device_metric_sample_flags_t flags;
  uint64_t sample_id;
  uint64_t source_id;
  int64_t host_time_begin_ns;
  int64_t host_time_end_ns;
  uint64_t source_timestamp;
  uint64_t source_timestamp_frequency_hz;
  uint32_t physical_device_ordinal;
  uint32_t value_count;
} iree_hal_profile_device_metric_sample_record_t;

static inline iree_hal_profile_device_metric_sample_record_t
iree_hal_profile_device_metric_sample_record_default(void) {
  iree_hal_profile_device_metric_sample_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.physical_device_ordinal = UINT32_MAX;
  return record;
}

typedef uint32_t iree_hal_profile_executable_trace_flags_t;
enum iree_hal_profile_executable_trace_flag_bits_t {
  IREE_HAL_PROFILE_EXECUTABLE_TRACE_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_EXECUTABLE_TRACE_FLAG_DISPATCH_EVENT = 1u << 0,
  IREE_HAL_PROFILE_EXECUTABLE_TRACE_FLAG_COMMAND_OPERATION = 1u << 1,
};
typedef uint32_t iree_hal_profile_executable_trace_format_t;

enum iree_hal_profile_executable_trace_format_e {
  IREE_HAL_PROFILE_EXECUTABLE_TRACE_FORMAT_NONE = 0u,
  IREE_HAL_PROFILE_EXECUTABLE_TRACE_FORMAT_AMDGPU_ATT = 1u,
};

typedef struct iree_hal_profile_executable_trace_record_t {
  uint32_t record_length;
  iree_hal_profile_executable_trace_format_t format;
  iree_hal_profile_executable_trace_flags_t flags;
  uint32_t shader_engine;
  uint64_t trace_id;
  uint64_t dispatch_event_id;
  uint64_t submission_id;
  uint64_t command_buffer_id;
  uint64_t executable_id;
  uint64_t stream_id;
  uint32_t command_index;
  uint32_t function_ordinal;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint64_t data_length;
} iree_hal_profile_executable_trace_record_t;

static inline iree_hal_profile_executable_trace_record_t
iree_hal_profile_executable_trace_record_default(void) {
  iree_hal_profile_executable_trace_record_t record;
  memset(&record, 0, sizeof(record));
  record.record_length = sizeof(record);
  record.command_index = UINT32_MAX;
  record.function_ordinal = UINT32_MAX;
  record.physical_device_ordinal = UINT32_MAX;
  record.queue_ordinal = UINT32_MAX;
  return record;
}

#define IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(record_type, byte_length)                            \
  static_assert(sizeof(record_type) == (byte_length),                                              \
                #record_type " has a fixed size in the profile format");                           \
  static_assert(offsetof(record_type, record_length) == 0, #record_type " begins with its length")

#define IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(record_type, field, byte_offset)                      \
  static_assert(offsetof(record_type, field) == (byte_offset),                                     \
                #record_type "." #field " has a fixed place in the profile format")

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_device_record_t, 32);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_queue_record_t, 24);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_executable_record_t, 40);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_executable_code_object_record_t, 48);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_executable_code_object_load_record_t, 40);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_executable_function_record_t, 64);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_command_buffer_record_t, 48);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_command_operation_record_t, 120);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_clock_correlation_record_t, 72);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_dispatch_event_t, 88);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_queue_event_t, 104);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_queue_device_event_t, 96);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_host_execution_event_t, 152);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_command_region_event_t, 248);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_memory_event_t, 160);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_event_relationship_record_t, 72);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_counter_set_record_t, 32);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_counter_record_t, 48);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_counter_sample_record_t, 112);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_device_metric_source_record_t, 40);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_device_metric_descriptor_record_t, 48);

static_assert(sizeof(iree_hal_profile_device_metric_value_t) == 24,
              "device metric values have a fixed size in the profile format");

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_device_metric_sample_record_t, 64);

IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT(iree_hal_profile_executable_trace_record_t, 88);

IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(iree_hal_profile_executable_code_object_record_t, data_length,
                                     24);

IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(iree_hal_profile_executable_function_record_t, name_length,
                                     44);

IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(iree_hal_profile_counter_set_record_t, name_length, 28);

IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(iree_hal_profile_counter_record_t, block_name_length, 36);

IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(iree_hal_profile_counter_sample_record_t, sample_value_count,
                                     104);

IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(iree_hal_profile_device_metric_source_record_t, name_length,
                                     36);

IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(iree_hal_profile_device_metric_descriptor_record_t,
                                     name_length, 40);

IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(iree_hal_profile_device_metric_sample_record_t, value_count,
                                     60);

IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET(iree_hal_profile_executable_trace_record_t, data_length, 80);

#undef IREE_HAL_PROFILE_ASSERT_FIELD_OFFSET

#undef IREE_HAL_PROFILE_ASSERT_RECORD_LAYOUT

#ifdef __cplusplus
}
#endif
#endif

#ifndef IREE_HAL_EXECUTABLE_H_
#define IREE_HAL_EXECUTABLE_H_

#include "iree/base/api.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;

/// What every driver's buffer begins with.
typedef struct iree_hal_buffer_t iree_hal_buffer_t;

/// Names a function of an executable.
typedef struct iree_hal_executable_function_t {
  uint64_t value;
} iree_hal_executable_function_t;

#define IREE_HAL_EXECUTABLE_FUNCTION_INVALID_VALUE UINT64_MAX

static inline iree_hal_executable_function_t iree_hal_executable_function_invalid(void) {
  iree_hal_executable_function_t function;
  function.value = IREE_HAL_EXECUTABLE_FUNCTION_INVALID_VALUE;
  return function;
}

static inline iree_hal_executable_function_t
iree_hal_executable_function_from_index(uint32_t index) {
  iree_hal_executable_function_t function;
  function.value = index;
  return function;
}

static inline iree_hal_executable_function_t
iree_hal_executable_function_from_value(uint64_t value) {
  iree_hal_executable_function_t function;
  function.value = value;
  return function;
}

static inline bool iree_hal_executable_function_is_valid(iree_hal_executable_function_t function) {
  return function.value != IREE_HAL_EXECUTABLE_FUNCTION_INVALID_VALUE;
}

static inline bool
iree_hal_executable_function_is_index_in_range(iree_hal_executable_function_t function,
                                               iree_host_size_t function_count) {
  return function.value <= UINT32_MAX && function.value < function_count;
}

static inline uint32_t iree_hal_executable_function_index(iree_hal_executable_function_t function) {
  return (uint32_t)function.value;
}

typedef struct iree_hal_occupancy_info_t {
  int reserved;
} iree_hal_occupancy_info_t;

enum iree_hal_executable_function_flag_bits_e {
  IREE_HAL_EXECUTABLE_FUNCTION_FLAG_NONE = 0ull,
  IREE_HAL_EXECUTABLE_FUNCTION_FLAG_SEQUENTIAL = 1ull << 0,
  IREE_HAL_EXECUTABLE_FUNCTION_FLAG_WORKGROUP_SIZE_DYNAMIC = 1ull << 1,
};
typedef uint64_t iree_hal_executable_function_flags_t;

/// What is known of a function. `name` lives as long as the executable.
typedef struct iree_hal_executable_function_info_t {
  iree_string_view_t name;
  iree_hal_executable_function_flags_t flags;
  uint16_t constant_count;
  uint16_t binding_count;
  uint16_t parameter_count;
  uint32_t workgroup_size[3];
  iree_hal_occupancy_info_t occupancy_info;
} iree_hal_executable_function_info_t;

enum iree_hal_executable_function_parameter_type_e {
  IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_CONSTANT = 0,
  IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BINDING = 1,
  IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BUFFER_PTR = 2,
};
typedef uint8_t iree_hal_executable_function_parameter_type_t;

enum iree_hal_executable_function_parameter_flag_bits_e {
  IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_FLAG_NONE = 0,
};
typedef uint16_t iree_hal_executable_function_parameter_flags_t;

/// One parameter of a function.
typedef struct iree_hal_executable_function_parameter_t {
  iree_hal_executable_function_parameter_type_t type;
  uint8_t size;
  iree_hal_executable_function_parameter_flags_t flags;
  iree_string_view_t name;
  uint16_t offset;
} iree_hal_executable_function_parameter_t;

typedef struct iree_hal_executable_t iree_hal_executable_t;

/// Adds a reference; null does nothing.
IREE_API_EXPORT void iree_hal_executable_retain(iree_hal_executable_t* executable);

/// Drops a reference; the last one destroys the object. Null does nothing.
IREE_API_EXPORT void iree_hal_executable_release(iree_hal_executable_t* executable);

/// Number of functions.
IREE_API_EXPORT iree_host_size_t
iree_hal_executable_function_count(iree_hal_executable_t* executable);

/// Describes a function; OUT_OF_RANGE for those it does not have.
IREE_API_EXPORT iree_status_t iree_hal_executable_function_info(
    iree_hal_executable_t* executable, iree_hal_executable_function_t function,
    iree_hal_executable_function_info_t* out_info);

/// Describes the first `capacity` parameters of a function.
IREE_API_EXPORT iree_status_t iree_hal_executable_function_parameters(
    iree_hal_executable_t* executable, iree_hal_executable_function_t function,
    iree_host_size_t capacity, iree_hal_executable_function_parameter_t* out_parameters);

/// Finds a function; NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_hal_executable_lookup_function_by_name(
    iree_hal_executable_t* executable, iree_string_view_t name,
    iree_hal_executable_function_t* out_function);

/// Finds a global variable as a buffer; NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_hal_executable_lookup_global_by_name(
    iree_hal_executable_t* executable, iree_string_view_t name,
    iree_hal_queue_affinity_t queue_affinity, iree_hal_buffer_t** out_buffer);

typedef struct iree_hal_executable_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_executable_t* executable);
  iree_host_size_t(IREE_API_PTR* function_count)(iree_hal_executable_t* executable);
  iree_status_t(IREE_API_PTR* function_info)(iree_hal_executable_t* executable,
                                             iree_hal_executable_function_t function,
                                             iree_hal_executable_function_info_t* out_info);
  iree_status_t(IREE_API_PTR* function_parameters)(
      iree_hal_executable_t* executable, iree_hal_executable_function_t function,
      iree_host_size_t capacity, iree_hal_executable_function_parameter_t* out_parameters);
  iree_status_t(IREE_API_PTR* lookup_function_by_name)(
      iree_hal_executable_t* executable, iree_string_view_t name,
      iree_hal_executable_function_t* out_function);
  iree_status_t(IREE_API_PTR* lookup_global_by_name)(iree_hal_executable_t* executable,
                                                     iree_string_view_t name,
                                                     iree_hal_queue_affinity_t queue_affinity,
                                                     iree_hal_buffer_t** out_buffer);
} iree_hal_executable_vtable_t;

IREE_HAL_ASSERT_VTABLE_LAYOUT(iree_hal_executable_vtable_t);

/// Ends an object without references; drivers reach it through their vtables.
IREE_API_EXPORT void iree_hal_executable_destroy(iree_hal_executable_t* executable);

#ifdef __cplusplus
}
#endif
#endif

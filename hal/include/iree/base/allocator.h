// Host memory: byte spans, overflow-checked sizes, layouts of structs with trailing arrays, and the
// allocator that every object takes its memory from.

#ifndef IREE_BASE_ALLOCATOR_H_
#define IREE_BASE_ALLOCATOR_H_

#include <alloca.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __cplusplus
#include <initializer_list>
#endif

#include "iree/base/alignment.h"
#include "iree/base/attributes.h"
#include "iree/base/config.h"
#include "iree/base/status.h"
#include "iree/base/target_platform.h"

#ifdef __cplusplus
extern "C" {
#endif

// Code that only keeps statistics.
#if IREE_STATISTICS_ENABLE
#define IREE_STATISTICS(expr) expr
#else
#define IREE_STATISTICS(expr)
#endif

typedef struct iree_byte_span_t {
  uint8_t* data;
  iree_host_size_t data_length;
} iree_byte_span_t;

typedef struct iree_const_byte_span_t {
  const uint8_t* data;
  iree_host_size_t data_length;
} iree_const_byte_span_t;

static inline iree_byte_span_t iree_make_byte_span(void* data, iree_host_size_t data_length) {
  iree_byte_span_t span;
  span.data = (uint8_t*)data;
  span.data_length = data_length;
  return span;
}

static inline iree_byte_span_t iree_byte_span_empty(void) { return iree_make_byte_span(NULL, 0); }

static inline bool iree_byte_span_is_empty(iree_byte_span_t span) {
  return span.data == NULL || span.data_length == 0;
}

static inline iree_const_byte_span_t iree_make_const_byte_span(const void* data,
                                                               iree_host_size_t data_length) {
  iree_const_byte_span_t span;
  span.data = (const uint8_t*)data;
  span.data_length = data_length;
  return span;
}

static inline iree_const_byte_span_t iree_const_byte_span_empty(void) {
  return iree_make_const_byte_span(NULL, 0);
}

static inline bool iree_const_byte_span_is_empty(iree_const_byte_span_t span) {
  return span.data == NULL || span.data_length == 0;
}

static inline iree_const_byte_span_t iree_const_cast_byte_span(iree_byte_span_t span) {
  return iree_make_const_byte_span(span.data, span.data_length);
}

// For interfaces that carry spans as mutable and do not write.
static inline iree_byte_span_t iree_cast_const_byte_span(iree_const_byte_span_t span) {
  return iree_make_byte_span((void*)span.data, span.data_length);
}

// A copy whose target will not be read soon.
static inline void iree_memcpy_stream_dst(void* IREE_RESTRICT dst, const void* IREE_RESTRICT src,
                                          iree_host_size_t size) {
  memcpy(dst, src, size);
}

// Arithmetic that returns false on overflow.

static inline bool iree_host_size_checked_add(iree_host_size_t a, iree_host_size_t b,
                                              iree_host_size_t* out_result) {
  return !__builtin_add_overflow(a, b, out_result);
}

static inline bool iree_host_size_checked_mul(iree_host_size_t a, iree_host_size_t b,
                                              iree_host_size_t* out_result) {
  return !__builtin_mul_overflow(a, b, out_result);
}

static inline bool iree_host_size_checked_mul_add(iree_host_size_t base, iree_host_size_t count,
                                                  iree_host_size_t element_size,
                                                  iree_host_size_t* out_result) {
  iree_host_size_t product = 0;
  return iree_host_size_checked_mul(count, element_size, &product) &&
         iree_host_size_checked_add(base, product, out_result);
}

static inline bool iree_host_size_checked_align(iree_host_size_t value, iree_host_size_t alignment,
                                                iree_host_size_t* out_aligned) {
  iree_host_size_t bumped = 0;
  if (!iree_host_size_checked_add(value, alignment - 1, &bumped))
    return false;
  *out_aligned = bumped & ~(alignment - 1);
  return true;
}

static inline bool iree_device_size_checked_add(iree_device_size_t a, iree_device_size_t b,
                                                iree_device_size_t* out_result) {
  return !__builtin_add_overflow(a, b, out_result);
}

static inline bool iree_device_size_checked_mul(iree_device_size_t a, iree_device_size_t b,
                                                iree_device_size_t* out_result) {
  return !__builtin_mul_overflow(a, b, out_result);
}

static inline bool iree_device_size_checked_mul_add(iree_device_size_t base,
                                                    iree_device_size_t count,
                                                    iree_device_size_t element_size,
                                                    iree_device_size_t* out_result) {
  iree_device_size_t product = 0;
  return iree_device_size_checked_mul(count, element_size, &product) &&
         iree_device_size_checked_add(base, product, out_result);
}

static inline bool iree_device_size_checked_align(iree_device_size_t value,
                                                  iree_device_size_t alignment,
                                                  iree_device_size_t* out_aligned) {
  iree_device_size_t bumped = 0;
  if (!iree_device_size_checked_add(value, alignment - 1, &bumped))
    return false;
  *out_aligned = bumped & ~(alignment - 1);
  return true;
}

//===----------------------------------------------------------------------===//
// One block for a struct and its arrays
//===----------------------------------------------------------------------===//

// An array of count[0] * count[1] elements that follows what comes before it.
typedef struct iree_struct_field_t {
  iree_host_size_t count[2];
  iree_host_size_t element_size;
  // In bytes; 0 places the array right behind its predecessor.
  iree_host_size_t alignment;
  // Receives the offset from the start of the block; may be NULL.
  iree_host_size_t* out_offset;
} iree_struct_field_t;

// Lays out `fields` behind `base_size` bytes. OUT_OF_RANGE when a size overflows.
IREE_API_EXPORT iree_status_t iree_struct_layout_calculate(iree_host_size_t base_size,
                                                           const iree_struct_field_t* fields,
                                                           iree_host_size_t field_count,
                                                           iree_host_size_t* out_total);

#define IREE_STRUCT_FIELD(count_expr, type, out_offset_ptr)                                        \
  {{(count_expr), 1}, sizeof(type), 0, (out_offset_ptr)}
#define IREE_STRUCT_FIELD_ALIGNED(count_expr, type, align, out_offset_ptr)                         \
  {{(count_expr), 1}, sizeof(type), (align), (out_offset_ptr)}
#define IREE_STRUCT_ARRAY_FIELD(count1, count2, type, out_offset_ptr)                              \
  {{(count1), (count2)}, sizeof(type), 0, (out_offset_ptr)}
#define IREE_STRUCT_ARRAY_FIELD_ALIGNED(count1, count2, type, align, out_offset_ptr)               \
  {{(count1), (count2)}, sizeof(type), (align), (out_offset_ptr)}
// A flexible array member, which is aligned as its type is.
#define IREE_STRUCT_FIELD_FAM(count_expr, type)                                                    \
  {{(count_expr), 1}, sizeof(type), iree_alignof(type), NULL}

// IREE_STRUCT_LAYOUT(sizeof(header), &total, IREE_STRUCT_FIELD(...), ...) gives a status.
#ifdef __cplusplus
} // extern "C"
static inline iree_status_t
iree_struct_layout_from_list_(iree_host_size_t base_size, iree_host_size_t* out_total,
                              std::initializer_list<iree_struct_field_t> fields) {
  return iree_struct_layout_calculate(base_size, fields.begin(), fields.size(), out_total);
}
extern "C" {
#define IREE_STRUCT_LAYOUT(base_size, out_total, ...)                                              \
  iree_struct_layout_from_list_((base_size), (out_total), {__VA_ARGS__})
#else
#define IREE_STRUCT_LAYOUT(base_size, out_total, ...)                                              \
  iree_struct_layout_calculate((base_size), (const iree_struct_field_t[]){__VA_ARGS__},            \
                               sizeof((const iree_struct_field_t[]){__VA_ARGS__}) /                \
                                   sizeof(iree_struct_field_t),                                    \
                               (out_total))
#endif

// Memory of the calling function's frame: small sizes, never in a loop.
#define iree_alloca(sz) alloca(sz)

//===----------------------------------------------------------------------===//
// Allocators
//===----------------------------------------------------------------------===//

typedef enum iree_allocator_command_e {
  // params: iree_allocator_alloc_params_t. Contents undefined.
  IREE_ALLOCATOR_COMMAND_MALLOC = 0,
  // The same, zeroed.
  IREE_ALLOCATOR_COMMAND_CALLOC = 1,
  // *inout_ptr may be NULL and is kept on failure.
  IREE_ALLOCATOR_COMMAND_REALLOC = 2,
  // params: NULL.
  IREE_ALLOCATOR_COMMAND_FREE = 3,
} iree_allocator_command_t;

typedef struct iree_allocator_alloc_params_t {
  iree_host_size_t byte_length;
} iree_allocator_alloc_params_t;

typedef iree_status_t(IREE_API_PTR* iree_allocator_ctl_fn_t)(void* self,
                                                             iree_allocator_command_t command,
                                                             const void* params, void** inout_ptr);

// A source of host memory, passed by value. Thread safe unless it says otherwise.
typedef struct iree_allocator_t {
  void* self;
  iree_allocator_ctl_fn_t ctl;
} iree_allocator_t;

// Zeroed memory aligned to iree_max_align_t. 0 bytes: INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t iree_allocator_malloc(iree_allocator_t allocator,
                                                    iree_host_size_t byte_length, void** out_ptr);
IREE_API_EXPORT iree_status_t iree_allocator_malloc_uninitialized(iree_allocator_t allocator,
                                                                  iree_host_size_t byte_length,
                                                                  void** out_ptr);
// On failure *inout_ptr is what it was. New bytes are undefined.
IREE_API_EXPORT iree_status_t iree_allocator_realloc(iree_allocator_t allocator,
                                                     iree_host_size_t byte_length,
                                                     void** inout_ptr);
IREE_API_EXPORT iree_status_t iree_allocator_clone(iree_allocator_t allocator,
                                                   iree_const_byte_span_t source_bytes,
                                                   void** out_ptr);
IREE_API_EXPORT void iree_allocator_free(iree_allocator_t allocator, void* ptr);

// Arrays; OUT_OF_RANGE when the size overflows.
IREE_API_EXPORT iree_status_t iree_allocator_malloc_array(iree_allocator_t allocator,
                                                          iree_host_size_t count,
                                                          iree_host_size_t element_size,
                                                          void** out_ptr);
IREE_API_EXPORT iree_status_t
iree_allocator_malloc_array_uninitialized(iree_allocator_t allocator, iree_host_size_t count,
                                          iree_host_size_t element_size, void** out_ptr);
IREE_API_EXPORT iree_status_t iree_allocator_realloc_array(iree_allocator_t allocator,
                                                           iree_host_size_t count,
                                                           iree_host_size_t element_size,
                                                           void** inout_ptr);
// A struct with bytes, or an array, behind it.
IREE_API_EXPORT iree_status_t iree_allocator_malloc_with_trailing(iree_allocator_t allocator,
                                                                  iree_host_size_t struct_size,
                                                                  iree_host_size_t trailing_size,
                                                                  void** out_ptr);
IREE_API_EXPORT iree_status_t iree_allocator_malloc_struct_array(iree_allocator_t allocator,
                                                                 iree_host_size_t struct_size,
                                                                 iree_host_size_t count,
                                                                 iree_host_size_t element_size,
                                                                 void** out_ptr);
// Doubles the capacity until it is at least `minimum_capacity`.
IREE_API_EXPORT iree_status_t iree_allocator_grow_array(iree_allocator_t allocator,
                                                        iree_host_size_t minimum_capacity,
                                                        iree_host_size_t element_size,
                                                        iree_host_size_t* inout_capacity,
                                                        void** inout_ptr);

// An allocator that cannot allocate, and whose free does nothing.
static inline iree_allocator_t iree_allocator_null(void) {
  iree_allocator_t allocator;
  allocator.self = NULL;
  allocator.ctl = NULL;
  return allocator;
}

static inline bool iree_allocator_is_null(iree_allocator_t allocator) {
  return allocator.ctl == NULL;
}

// A bump allocator over storage that the caller provides; frees nothing. Not thread safe.
typedef struct iree_allocator_inline_storage_t {
  iree_host_size_t capacity;
  iree_host_size_t length;
  // Size of the newest allocation, which alone can grow in place.
  iree_host_size_t head_size;
  uint8_t* buffer;
} iree_allocator_inline_storage_t;

// Declares `var` with storage of its own; pass &var.header to iree_allocator_inline_arena.
#define IREE_ALLOCATOR_INLINE_STORAGE(var, storage_capacity)                                       \
  struct {                                                                                         \
    iree_allocator_inline_storage_t header;                                                        \
    uint8_t data[storage_capacity];                                                                \
  } var;                                                                                           \
  (var).header.capacity = sizeof((var).data);                                                      \
  (var).header.length = 0;                                                                         \
  (var).header.head_size = 0;                                                                      \
  (var).header.buffer = (var).data

IREE_API_EXPORT iree_status_t iree_allocator_inline_arena_ctl(void* self,
                                                              iree_allocator_command_t command,
                                                              const void* params, void** inout_ptr);

static inline iree_allocator_t
iree_allocator_inline_arena(iree_allocator_inline_storage_t* storage) {
  iree_allocator_t allocator;
  allocator.self = storage;
  allocator.ctl = iree_allocator_inline_arena_ctl;
  return allocator;
}

// The C library's heap, or what the embedder put in its place.
IREE_API_EXPORT iree_status_t IREE_ALLOCATOR_SYSTEM_CTL(void* self,
                                                        iree_allocator_command_t command,
                                                        const void* params, void** inout_ptr);
#if defined(IREE_ALLOCATOR_SYSTEM_SELF)
IREE_API_EXPORT_VARIABLE void* IREE_ALLOCATOR_SYSTEM_SELF;
#else
#define IREE_ALLOCATOR_SYSTEM_SELF NULL
#endif

static inline iree_allocator_t iree_allocator_system(void) {
  iree_allocator_t allocator;
  allocator.self = IREE_ALLOCATOR_SYSTEM_SELF;
  allocator.ctl = IREE_ALLOCATOR_SYSTEM_CTL;
  return allocator;
}

// Memory of which the byte at `offset` is aligned to `min_alignment`. Contents of new memory are
// zero; free it with iree_allocator_free_aligned alone.
IREE_API_EXPORT iree_status_t iree_allocator_malloc_aligned(iree_allocator_t allocator,
                                                            iree_host_size_t byte_length,
                                                            iree_host_size_t min_alignment,
                                                            iree_host_size_t offset,
                                                            void** out_ptr);
IREE_API_EXPORT iree_status_t iree_allocator_realloc_aligned(iree_allocator_t allocator,
                                                             iree_host_size_t byte_length,
                                                             iree_host_size_t min_alignment,
                                                             iree_host_size_t offset,
                                                             void** inout_ptr);
IREE_API_EXPORT void iree_allocator_free_aligned(iree_allocator_t allocator, void* ptr);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_ALLOCATOR_H_

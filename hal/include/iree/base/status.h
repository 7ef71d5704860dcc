// Results of operations: a code, and for failures where they arose, why, and what was being done.
//
// A status is one word. Its low bits are the code; for a failure with details the rest points at
// them. A status of code alone allocates nothing. Every status that is not OK is owned by whoever
// holds it, and must be returned, joined, ignored or freed exactly once.

#ifndef IREE_BASE_STATUS_H_
#define IREE_BASE_STATUS_H_

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iree/base/assert.h"
#include "iree/base/attributes.h"
#include "iree/base/config.h"
#include "iree/base/string_view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_allocator_t iree_allocator_t;
typedef struct iree_status_payload_t iree_status_payload_t;

// What is kept with a failure.
#define IREE_STATUS_FEATURE_SOURCE_LOCATION (1 << 0)
#define IREE_STATUS_FEATURE_ANNOTATIONS (1 << 1)
#define IREE_STATUS_FEATURE_STACK_TRACE (1 << 2)
#if !defined(IREE_STATUS_FEATURES)
#if IREE_STATUS_MODE >= 2
#define IREE_STATUS_FEATURES (IREE_STATUS_FEATURE_SOURCE_LOCATION | IREE_STATUS_FEATURE_ANNOTATIONS)
#elif IREE_STATUS_MODE == 1
#define IREE_STATUS_FEATURES (IREE_STATUS_FEATURE_SOURCE_LOCATION)
#else
#define IREE_STATUS_FEATURES 0
#endif
#endif

typedef enum iree_status_code_e {
  IREE_STATUS_OK = 0,
  // Given up on request.
  IREE_STATUS_CANCELLED = 1,
  IREE_STATUS_UNKNOWN = 2,
  // Wrong whatever the state of the system.
  IREE_STATUS_INVALID_ARGUMENT = 3,
  IREE_STATUS_DEADLINE_EXCEEDED = 4,
  IREE_STATUS_NOT_FOUND = 5,
  IREE_STATUS_ALREADY_EXISTS = 6,
  IREE_STATUS_PERMISSION_DENIED = 7,
  // Out of memory, of table entries, of pool space.
  IREE_STATUS_RESOURCE_EXHAUSTED = 8,
  // Wrong in the present state.
  IREE_STATUS_FAILED_PRECONDITION = 9,
  IREE_STATUS_ABORTED = 10,
  IREE_STATUS_OUT_OF_RANGE = 11,
  IREE_STATUS_UNIMPLEMENTED = 12,
  IREE_STATUS_INTERNAL = 13,
  // Not there now; another try may find it.
  IREE_STATUS_UNAVAILABLE = 14,
  IREE_STATUS_DATA_LOSS = 15,
  IREE_STATUS_UNAUTHENTICATED = 16,
  // Not done yet: no failure.
  IREE_STATUS_DEFERRED = 17,
  // A format of another version.
  IREE_STATUS_INCOMPATIBLE = 18,

  IREE_STATUS_CODE_MASK = 0x1Fu,
} iree_status_code_t;

typedef struct iree_status_handle_t* iree_status_t;

#define iree_status_from_code(code)                                                                \
  ((iree_status_t)((uintptr_t)(iree_status_code_t)(code) & IREE_STATUS_CODE_MASK))
#define iree_status_code(value) ((iree_status_code_t)((uintptr_t)(value) & IREE_STATUS_CODE_MASK))
#define iree_ok_status() iree_status_from_code(IREE_STATUS_OK)

#define iree_status_is_ok(value) IREE_LIKELY((uintptr_t)(value) == 0)
#define iree_status_is_cancelled(value) (iree_status_code(value) == IREE_STATUS_CANCELLED)
#define iree_status_is_unknown(value) (iree_status_code(value) == IREE_STATUS_UNKNOWN)
#define iree_status_is_invalid_argument(value)                                                     \
  (iree_status_code(value) == IREE_STATUS_INVALID_ARGUMENT)
#define iree_status_is_deadline_exceeded(value)                                                    \
  (iree_status_code(value) == IREE_STATUS_DEADLINE_EXCEEDED)
#define iree_status_is_not_found(value) (iree_status_code(value) == IREE_STATUS_NOT_FOUND)
#define iree_status_is_already_exists(value) (iree_status_code(value) == IREE_STATUS_ALREADY_EXISTS)
#define iree_status_is_permission_denied(value)                                                    \
  (iree_status_code(value) == IREE_STATUS_PERMISSION_DENIED)
#define iree_status_is_resource_exhausted(value)                                                   \
  (iree_status_code(value) == IREE_STATUS_RESOURCE_EXHAUSTED)
#define iree_status_is_failed_precondition(value)                                                  \
  (iree_status_code(value) == IREE_STATUS_FAILED_PRECONDITION)
#define iree_status_is_aborted(value) (iree_status_code(value) == IREE_STATUS_ABORTED)
#define iree_status_is_out_of_range(value) (iree_status_code(value) == IREE_STATUS_OUT_OF_RANGE)
#define iree_status_is_unimplemented(value) (iree_status_code(value) == IREE_STATUS_UNIMPLEMENTED)
#define iree_status_is_internal(value) (iree_status_code(value) == IREE_STATUS_INTERNAL)
#define iree_status_is_unavailable(value) (iree_status_code(value) == IREE_STATUS_UNAVAILABLE)
#define iree_status_is_data_loss(value) (iree_status_code(value) == IREE_STATUS_DATA_LOSS)
#define iree_status_is_unauthenticated(value)                                                      \
  (iree_status_code(value) == IREE_STATUS_UNAUTHENTICATED)
#define iree_status_is_deferred(value) (iree_status_code(value) == IREE_STATUS_DEFERRED)
#define iree_status_is_incompatible(value) (iree_status_code(value) == IREE_STATUS_INCOMPATIBLE)

//===----------------------------------------------------------------------===//
// Making and passing on
//===----------------------------------------------------------------------===//

// Picks what fits the number of arguments after the first: none, one (a plain string, of which '%'
// is an ordinary character), or a printf format with up to 16 values.
#define IREE_STATUS_PICK_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15,    \
                          _16, _17, pick, ...)                                                     \
  pick
#define IREE_STATUS_PICK3_(none, one, more, ...)                                                   \
  IREE_STATUS_PICK_(__VA_ARGS__, more, more, more, more, more, more, more, more, more, more, more, \
                    more, more, more, more, more, one, none, 0)
#define IREE_STATUS_FIRST_(first, ...) first
#define IREE_STATUS_JOIN2_(a, b) a##b
#define IREE_STATUS_JOIN_(a, b) IREE_STATUS_JOIN2_(a, b)

#if IREE_STATUS_FEATURES
#define IREE_STATUS_MAKE_NONE_(file, line, code)                                                   \
  iree_status_allocate((code), (file), (line), iree_string_view_empty())
#define IREE_STATUS_MAKE_ONE_(file, line, code, message)                                           \
  iree_status_allocate((code), (file), (line), iree_make_cstring_view(message))
#define IREE_STATUS_MAKE_MORE_(file, line, code, ...)                                              \
  iree_status_allocate_f((code), (file), (line), __VA_ARGS__)
#define iree_make_status_with_location(file, line, ...)                                            \
  IREE_STATUS_PICK3_(IREE_STATUS_MAKE_NONE_, IREE_STATUS_MAKE_ONE_, IREE_STATUS_MAKE_MORE_,        \
                     __VA_ARGS__)                                                                  \
  (file, line, __VA_ARGS__)
#else
#define iree_make_status_with_location(file, line, ...)                                            \
  iree_status_from_code(IREE_STATUS_FIRST_(__VA_ARGS__, 0))
#endif

// iree_make_status(code), iree_make_status(code, "text") or iree_make_status(code, "format", ...).
#define iree_make_status(...) iree_make_status_with_location(__FILE__, __LINE__, __VA_ARGS__)

#if IREE_STATUS_FEATURES & IREE_STATUS_FEATURE_ANNOTATIONS
#define IREE_STATUS_NOTE_NONE_(var, expr) (var)
#define IREE_STATUS_NOTE_ONE_(var, expr, message)                                                  \
  iree_status_annotate((var), iree_make_cstring_view(message))
#define IREE_STATUS_NOTE_MORE_(var, expr, ...) iree_status_annotate_f((var), __VA_ARGS__)
#define IREE_STATUS_NOTE_(var, ...)                                                                \
  IREE_STATUS_PICK3_(IREE_STATUS_NOTE_NONE_, IREE_STATUS_NOTE_ONE_, IREE_STATUS_NOTE_MORE_,        \
                     __VA_ARGS__)                                                                  \
  (var, __VA_ARGS__)
#else
#define IREE_STATUS_NOTE_(var, ...) (var)
#endif

// A loop of one turn, so that the macros stand wherever a statement may.
#define IREE_STATUS_RETURN_(var, tail, ...)                                                        \
  do {                                                                                             \
    iree_status_t var = IREE_STATUS_FIRST_(__VA_ARGS__, 0);                                        \
    if (IREE_UNLIKELY(var)) {                                                                      \
      (void)(tail);                                                                                \
      return IREE_STATUS_NOTE_(var, __VA_ARGS__);                                                  \
    }                                                                                              \
  } while (false)

// Returns from the function when the expression gives a failure, which is annotated with the text
// or format that may follow.
#define IREE_RETURN_IF_ERROR(...)                                                                  \
  IREE_STATUS_RETURN_(IREE_STATUS_JOIN_(iree_status_, __COUNTER__), 0, __VA_ARGS__)
// The same, with something to evaluate before returning.
#define IREE_RETURN_AND_EVAL_IF_ERROR(tail_expr, ...)                                              \
  IREE_STATUS_RETURN_(IREE_STATUS_JOIN_(iree_status_, __COUNTER__), tail_expr, __VA_ARGS__)

#define IREE_IGNORE_ERROR(expr) ((void)iree_status_ignore(expr))

#define IREE_STATUS_CHECK_(var, expr)                                                              \
  do {                                                                                             \
    iree_status_t var = (expr);                                                                    \
    if (IREE_UNLIKELY(var))                                                                        \
      iree_status_abort(var);                                                                      \
  } while (false)
// Ends the process, telling why, when the expression gives a failure.
#define IREE_CHECK_OK(expr, ...)                                                                   \
  IREE_STATUS_CHECK_(IREE_STATUS_JOIN_(iree_status_, __COUNTER__), (expr))

IREE_API_EXPORT iree_status_code_t iree_status_code_from_errno(int error_number);
// The name of a code, as "INVALID_ARGUMENT".
IREE_API_EXPORT const char* iree_status_code_string(iree_status_code_t code);

// `file` must live as long as the program; the message is copied.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_allocate(iree_status_code_t code,
                                                                        const char* file,
                                                                        uint32_t line,
                                                                        iree_string_view_t message);
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t IREE_PRINTF_ATTRIBUTE(4, 5)
    iree_status_allocate_f(iree_status_code_t code, const char* file, uint32_t line,
                           const char* format, ...);
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_allocate_vf(
    iree_status_code_t code, const char* file, uint32_t line, const char* format, va_list varargs)
    IREE_PRINTF_ATTRIBUTE(4, 0);
// Copies the file name too.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_allocate_copy(
    iree_status_code_t code, iree_string_view_t file, uint32_t line, iree_string_view_t message);

// A second, independent status with the same contents.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_clone(iree_status_t status);
// Takes `status` and returns one that refers to nothing outside itself.
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_freeze(iree_status_t status);
IREE_API_EXPORT void iree_status_free(iree_status_t status);
// Frees the status and returns OK.
IREE_API_EXPORT iree_status_t iree_status_ignore(iree_status_t status);
// Takes both. The first failure keeps the code; a second one becomes an annotation of it.
IREE_API_EXPORT iree_status_t iree_status_join(iree_status_t base_status, iree_status_t new_status);
// Prints the status and ends the process.
IREE_API_EXPORT IREE_ATTRIBUTE_NORETURN void iree_status_abort(iree_status_t status);
// Frees the status and returns its code.
IREE_API_EXPORT iree_status_code_t iree_status_consume_code(iree_status_t status);

// Adds a message to a failure; OK stays OK.
#if IREE_STATUS_FEATURES & IREE_STATUS_FEATURE_ANNOTATIONS
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t iree_status_annotate(iree_status_t base_status,
                                                                        iree_string_view_t message);
IREE_API_EXPORT IREE_MUST_USE_RESULT iree_status_t IREE_PRINTF_ATTRIBUTE(2, 3)
    iree_status_annotate_f(iree_status_t base_status, const char* format, ...);
#else
#define iree_status_annotate(base_status, ...) (base_status)
#define iree_status_annotate_f(base_status, ...) (base_status)
#endif

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

// Writes "file:line: CODE; message; annotation..." with a NUL when it fits and returns whether it
// did; the length without NUL is always given. A capacity of 0 asks for the length alone.
IREE_API_EXPORT bool iree_status_format(iree_status_t status, iree_host_size_t buffer_capacity,
                                        char* buffer, iree_host_size_t* out_buffer_length);

// Receives a piece of text; false stops.
typedef bool (*iree_status_output_fn_t)(iree_string_view_t string, void* user_data);
IREE_API_EXPORT bool iree_status_format_to(iree_status_t status, iree_status_output_fn_t output_fn,
                                           void* user_data);
// The same text in memory of `allocator`, NUL terminated.
IREE_API_EXPORT bool iree_status_to_string(iree_status_t status, const iree_allocator_t* allocator,
                                           char** out_buffer, iree_host_size_t* out_buffer_length);
IREE_API_EXPORT void iree_status_fprint(FILE* file, iree_status_t status);

typedef enum iree_status_payload_type_e {
  IREE_STATUS_PAYLOAD_TYPE_OPAQUE = 0,
  IREE_STATUS_PAYLOAD_TYPE_MESSAGE = 1,
  IREE_STATUS_PAYLOAD_TYPE_STACK_TRACE = 2,
  IREE_STATUS_PAYLOAD_TYPE_MIN_USER = 0x70000000u,
} iree_status_payload_type_t;

typedef struct iree_status_source_location_t {
  const char* file;
  uint32_t line;
} iree_status_source_location_t;

// Where the failure arose; empty when unknown. Valid while the status lives.
IREE_API_EXPORT iree_status_source_location_t iree_status_source_location(iree_status_t status);
// The message given at creation, without annotations. Valid while the status lives.
IREE_API_EXPORT iree_string_view_t iree_status_message(iree_status_t status);

// Annotations, oldest first.
typedef iree_status_t (*iree_status_payload_visitor_fn_t)(void* user_data,
                                                          const iree_status_payload_t* payload);
IREE_API_EXPORT iree_status_t iree_status_enumerate_payloads(
    iree_status_t status, iree_status_payload_visitor_fn_t visitor, void* user_data);
IREE_API_EXPORT iree_status_payload_type_t
iree_status_payload_type(const iree_status_payload_t* payload);
IREE_API_EXPORT void iree_status_payload_format(const iree_status_payload_t* payload,
                                                iree_host_size_t buffer_capacity, char* buffer,
                                                iree_host_size_t* out_buffer_length);

#ifdef __cplusplus
} // extern "C"

#include "iree/base/status_cc.h"
#endif

#endif // IREE_BASE_STATUS_H_

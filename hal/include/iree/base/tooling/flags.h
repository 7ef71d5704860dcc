// Command line flags that any source file can define: --name=value.

#ifndef IREE_BASE_TOOLING_FLAGS_H_
#define IREE_BASE_TOOLING_FLAGS_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Most flags of one program.
#if !defined(IREE_FLAGS_CAPACITY)
#define IREE_FLAGS_CAPACITY 256
#endif

// A function that runs before main.
#define IREE_STATIC_INITIALIZER(f)                                                                 \
  static void f(void) __attribute__((constructor));                                                \
  static void f(void)

enum iree_flag_dump_mode_bits_t {
  IREE_FLAG_DUMP_MODE_DEFAULT = 0u,
  // With descriptions, and flags at their defaults too.
  IREE_FLAG_DUMP_MODE_VERBOSE = 1u << 0,
};
typedef uint32_t iree_flag_dump_mode_t;

#define IREE_FLAG_CTYPE_bool bool
#define IREE_FLAG_CTYPE_int32_t int32_t
#define IREE_FLAG_CTYPE_int64_t int64_t
#define IREE_FLAG_CTYPE_float float
#define IREE_FLAG_CTYPE_double double
#define IREE_FLAG_CTYPE_string const char*

typedef enum iree_flag_type_e {
  IREE_FLAG_TYPE_none = 0,
  IREE_FLAG_TYPE_callback = 1,
  IREE_FLAG_TYPE_bool,
  IREE_FLAG_TYPE_int32_t,
  IREE_FLAG_TYPE_int64_t,
  IREE_FLAG_TYPE_float,
  IREE_FLAG_TYPE_double,
  IREE_FLAG_TYPE_string,
} iree_flag_type_t;

// Called for each time the flag is given.
typedef iree_status_t(IREE_API_PTR* iree_flag_parse_callback_fn_t)(iree_string_view_t flag_name,
                                                                   void* storage,
                                                                   iree_string_view_t value);
typedef void(IREE_API_PTR* iree_flag_print_callback_fn_t)(iree_string_view_t flag_name,
                                                          void* storage, FILE* file);

// Used by the macros below. All pointers and strings must live as long as the program.
int iree_flag_register(const char* file, int line, iree_flag_type_t type, void* storage,
                       iree_flag_parse_callback_fn_t parse_callback,
                       iree_flag_print_callback_fn_t print_callback, iree_string_view_t name,
                       iree_string_view_t description);

// Defines FLAG_name of the type, with a default.
#define IREE_FLAG(type, name, default_value, description)                                          \
  static IREE_FLAG_CTYPE_##type FLAG_##name = (default_value);                                     \
  IREE_STATIC_INITIALIZER(iree_flag_register_##name) {                                             \
    iree_flag_register(__FILE__, __LINE__, IREE_FLAG_TYPE_##type, (void*)&FLAG_##name, NULL, NULL, \
                       iree_make_cstring_view(#name), iree_make_cstring_view(description));        \
  }                                                                                                \
  static_assert(true, "")

// Defines a flag that code parses and prints.
#define IREE_FLAG_CALLBACK(parse_callback, print_callback, storage, name, description)             \
  IREE_STATIC_INITIALIZER(iree_flag_register_##name) {                                             \
    iree_flag_register(__FILE__, __LINE__, IREE_FLAG_TYPE_callback, (void*)(storage),              \
                       parse_callback, print_callback, iree_make_cstring_view(#name),              \
                       iree_make_cstring_view(description));                                       \
  }                                                                                                \
  static_assert(true, "")

typedef struct iree_string_view_list_t iree_flag_string_list_t;

// Values of a flag that may be given several times.
typedef struct iree_flag_string_list_storage_t {
  iree_host_size_t capacity;
  iree_host_size_t count;
  union {
    // Of one value, so that most lists allocate nothing.
    iree_string_view_t inline_value;
    iree_string_view_t* values;
  };
} iree_flag_string_list_storage_t;

iree_status_t iree_flag_string_list_parse(iree_string_view_t flag_name, void* storage,
                                          iree_string_view_t value);
void iree_flag_string_list_print(iree_string_view_t flag_name, void* storage, FILE* file);

// Defines FLAG_name_list(), the values in the order in which they were given. `type` is string.
#define IREE_FLAG_LIST(type, name, description)                                                    \
  static iree_flag_##type##_list_storage_t FLAG_##name##_storage = {1, 0, {{NULL, 0}}};            \
  IREE_FLAG_CALLBACK(iree_flag_##type##_list_parse, iree_flag_##type##_list_print,                 \
                     &FLAG_##name##_storage, name, description);                                   \
  static iree_flag_##type##_list_t FLAG_##name##_list(void) {                                      \
    iree_flag_##type##_list_t list;                                                                \
    list.count = FLAG_##name##_storage.count;                                                      \
    list.values = FLAG_##name##_storage.capacity == 1 ? &FLAG_##name##_storage.inline_value        \
                                                      : FLAG_##name##_storage.values;              \
    return list;                                                                                   \
  }                                                                                                \
  static_assert(true, "")

enum iree_flags_parse_mode_bits_t {
  IREE_FLAGS_PARSE_MODE_DEFAULT = 0,
  // Unknown flags stay in argv.
  IREE_FLAGS_PARSE_MODE_UNDEFINED_OK = 1u << 0,
  // --help prints and goes on.
  IREE_FLAGS_PARSE_MODE_CONTINUE_AFTER_HELP = 1u << 1,
};
typedef uint32_t iree_flags_parse_mode_t;

// Printed by --help. Both strings must live as long as the program.
void iree_flags_set_usage(const char* program_name, const char* usage);
// Removes the flags from argc and argv and leaves the rest; what follows "--" is left alone.
iree_status_t iree_flags_parse(iree_flags_parse_mode_t mode, int* argc, char*** argv);
// The same; prints errors and ends the process on them.
void iree_flags_parse_checked(iree_flags_parse_mode_t mode, int* argc, char*** argv);
// Prints flags in a form that parses again.
void iree_flags_dump(iree_flag_dump_mode_t mode, FILE* file);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_TOOLING_FLAGS_H_

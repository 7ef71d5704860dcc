/* Runs compiled programs (.vmfb) from C, in four steps: load, call, look at the results, release.
 *
 *   bessemer_program_t* program = bessemer_load("model.vmfb", NULL, &error);
 *   bessemer_results_t* results = bessemer_call(program, "main", inputs, 2, &error);
 *   const bessemer_value_t* first = bessemer_result(results, 0);
 *
 * Functions that can fail take `error`, which may be null: on failure they return null and set it
 * to an error that the caller releases. A program may be called from several threads at once as
 * long as it keeps no state that the calls change. */
#ifndef BESSEMER_BESSEMER_H_
#define BESSEMER_BESSEMER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BESSEMER_API __attribute__((visibility("default")))

typedef struct bessemer_program_t bessemer_program_t;
typedef struct bessemer_results_t bessemer_results_t;

/* `code` is numbered as iree_status_code_t (3 invalid argument, 5 not found, ...). */
typedef struct bessemer_error_t {
  int32_t code;
  const char* message; /* "CODE; text", then a line for each function on the program's stack */
} bessemer_error_t;

BESSEMER_API void bessemer_error_release(bessemer_error_t* error);

/* What a value is: a number by itself, or the type of a tensor's elements. */
typedef enum bessemer_type_t {
  BESSEMER_NULL = 0, /* no object */
  BESSEMER_BOOL8,
  BESSEMER_INT8,
  BESSEMER_INT16,
  BESSEMER_INT32,
  BESSEMER_INT64,
  BESSEMER_UINT8,
  BESSEMER_UINT16,
  BESSEMER_UINT32,
  BESSEMER_UINT64,
  BESSEMER_FLOAT16,
  BESSEMER_BFLOAT16,
  BESSEMER_FLOAT32,
  BESSEMER_FLOAT64,
  BESSEMER_COMPLEX64,
  BESSEMER_COMPLEX128,
} bessemer_type_t;

typedef enum bessemer_kind_t {
  BESSEMER_TENSOR = 0, /* data: the elements, dense and row-major */
  BESSEMER_SCALAR = 1, /* data: one number; INT32, INT64, FLOAT32 or FLOAT64. As an input
                            it is converted to what the function takes, when it fits. */
} bessemer_kind_t;

/* An input or a result. Of an input, what it points to must live until the call returns; of a
 * result, as long as its bessemer_results_t. A null object has type BESSEMER_NULL. Integers of a
 * result have signed types unless the program says otherwise; their bits are the same. */
typedef struct bessemer_value_t {
  bessemer_kind_t kind;
  bessemer_type_t type;
  size_t rank;
  const int64_t* shape;
  const void* data;
  size_t size; /* bytes of data */
} bessemer_value_t;

/* Bytes of one element; 0 for BESSEMER_NULL and unknown types. */
BESSEMER_API size_t bessemer_type_size(bessemer_type_t type);
/* "f32", "i64", ...; "unknown" for unknown types. */
BESSEMER_API const char* bessemer_type_name(bessemer_type_t type);

typedef struct bessemer_options_t {
  const char* device;            /* "metal" when null; see bessemer_devices */
  const char* const* parameters; /* files with weights: "scope=file" or "file" */
  size_t parameter_count;
} bessemer_options_t;

/* Loads a module, links it and runs its initialisers. `options` may be null. */
BESSEMER_API bessemer_program_t* bessemer_load(const char* path, const bessemer_options_t* options,
                                               bessemer_error_t** error);
/* The same from memory; the bytes are copied. */
BESSEMER_API bessemer_program_t* bessemer_load_bytes(const void* bytes, size_t size,
                                                     const bessemer_options_t* options,
                                                     bessemer_error_t** error);
BESSEMER_API void bessemer_program_release(bessemer_program_t* program);

/* The program's functions, without the compiler's own. Texts live as long as the program.
 * `bessemer_function_declaration` is the model's view of one ("sync func @main(%input0:
 * tensor<4xf32>, ...)"), or empty. Null past the end. */
BESSEMER_API size_t bessemer_function_count(const bessemer_program_t* program);
BESSEMER_API const char* bessemer_function_name(const bessemer_program_t* program, size_t index);
BESSEMER_API const char* bessemer_function_declaration(const bessemer_program_t* program,
                                                       size_t index);

/* Calls and waits for the results. `function` null or "": the program's only one. */
BESSEMER_API bessemer_results_t* bessemer_call(bessemer_program_t* program, const char* function,
                                               const bessemer_value_t* inputs, size_t input_count,
                                               bessemer_error_t** error);
BESSEMER_API size_t bessemer_result_count(const bessemer_results_t* results);
/* Null past the end. */
BESSEMER_API const bessemer_value_t* bessemer_result(const bessemer_results_t* results,
                                                     size_t index);
BESSEMER_API void bessemer_results_release(bessemer_results_t* results);

/* Calls `found` with each device's name for bessemer_options_t::device and for people. */
BESSEMER_API void bessemer_devices(void (*found)(const char* device, const char* name, void* data),
                                   void* data, bessemer_error_t** error);

BESSEMER_API const char* bessemer_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BESSEMER_BESSEMER_H_ */

/* Bessemer for C: load compiled programs and call them.
 *
 *   bessemer_session_t* session = bessemer_session_create("metal");
 *   bessemer_session_load(session, "model.vmfb");
 *   int64_t shape[] = {1, 64};
 *   bessemer_value_t* input = bessemer_array(session, BESSEMER_FLOAT32, 2, shape, pixels);
 *   bessemer_value_t* output = NULL;
 *   if (bessemer_call(session, "main", 1, &input, 1, &output, NULL) != 0)
 *     fprintf(stderr, "%s\n", bessemer_error());
 *   bessemer_read(output, scores, sizeof(scores));
 *
 * Functions that make something return NULL on failure, the others a code other than 0 (numbered as
 * iree_status_code_t); bessemer_error() then says why. A session is used by one thread at a time.
 */
#ifndef BESSEMER_H_
#define BESSEMER_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BESSEMER_EXPORT __attribute__((visibility("default")))
#else
#define BESSEMER_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bessemer_session_t bessemer_session_t;
/* A number, or an array in a device's memory. */
typedef struct bessemer_value_t bessemer_value_t;

/* Element types: numerical kind << 24 | bits, as the HAL has them. */
typedef enum bessemer_type_t {
  BESSEMER_NONE = 0,
  BESSEMER_BOOL8 = 0x13000008,
  BESSEMER_INT8 = 0x11000008,
  BESSEMER_INT16 = 0x11000010,
  BESSEMER_INT32 = 0x11000020,
  BESSEMER_INT64 = 0x11000040,
  BESSEMER_UINT8 = 0x12000008,
  BESSEMER_UINT16 = 0x12000010,
  BESSEMER_UINT32 = 0x12000020,
  BESSEMER_UINT64 = 0x12000040,
  BESSEMER_FLOAT16 = 0x21000010,
  BESSEMER_BFLOAT16 = 0x22000010,
  BESSEMER_FLOAT32 = 0x21000020,
  BESSEMER_FLOAT64 = 0x21000040
} bessemer_type_t;

/* Why the last call of this thread failed; "" when it did not. Valid until its next call. */
BESSEMER_EXPORT const char* bessemer_error(void);

/* `device`: "driver" or "driver://path" of a registered HAL driver; NULL for programs without
 * arrays. */
BESSEMER_EXPORT bessemer_session_t* bessemer_session_create(const char* device);
/* Weights for programs that keep them outside: an .irpa, .gguf or .safetensors file. Before the
 * first program is loaded. `scope` may be NULL. */
BESSEMER_EXPORT int bessemer_session_parameters(bessemer_session_t* session, const char* scope,
                                                const char* path);
/* Adds a program. Its initialisers run at the first call. */
BESSEMER_EXPORT int bessemer_session_load(bessemer_session_t* session, const char* path);
/* Values may outlive their session. */
BESSEMER_EXPORT void bessemer_session_destroy(bessemer_session_t* session);

/* A dense row-major array, copied from `data`, which holds as many bytes as type and shape say. */
BESSEMER_EXPORT bessemer_value_t* bessemer_array(bessemer_session_t* session, bessemer_type_t type,
                                                 size_t rank, const int64_t* shape,
                                                 const void* data);
BESSEMER_EXPORT bessemer_value_t* bessemer_int32(int32_t value);
BESSEMER_EXPORT bessemer_value_t* bessemer_int64(int64_t value);
BESSEMER_EXPORT bessemer_value_t* bessemer_float32(float value);
BESSEMER_EXPORT bessemer_value_t* bessemer_float64(double value);
BESSEMER_EXPORT void bessemer_value_free(bessemer_value_t* value);

/* Element type of an array, or type of a number. */
BESSEMER_EXPORT bessemer_type_t bessemer_type(const bessemer_value_t* value);
/* 0 for numbers. */
BESSEMER_EXPORT size_t bessemer_rank(const bessemer_value_t* value);
/* 0 past the rank. */
BESSEMER_EXPORT int64_t bessemer_dimension(const bessemer_value_t* value, size_t index);
/* Bytes of the whole array or number. */
BESSEMER_EXPORT size_t bessemer_size(const bessemer_value_t* value);
/* Copies all bytes of an array or number to `target`; `size` must be bessemer_size(). */
BESSEMER_EXPORT int bessemer_read(const bessemer_value_t* value, void* target, size_t size);

/* Calls a function and waits for its results. `name` NULL or "": the program's only one. Writes up
 * to `capacity` results, which the caller frees, and their number to `count` unless that is NULL;
 * more results than `capacity` are an error. */
BESSEMER_EXPORT int bessemer_call(bessemer_session_t* session, const char* name,
                                  size_t argument_count, bessemer_value_t* const* arguments,
                                  size_t capacity, bessemer_value_t** results, size_t* count);

#ifdef __cplusplus
}
#endif

#endif

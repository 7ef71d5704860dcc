// The one door between libMetal.so, which holds no LLVM, and libMetalCompiler.so, which is opened
// with RTLD_LOCAL when something must be compiled. Plain C: no C++ type and no exception crosses.
// Every function may be called from several threads at once.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BESSEMER_COMPILER_ABI 1

// Bytes owned by the compiler; given back with `release`.
typedef struct bessemer_bytes_t {
  const uint8_t* data;
  size_t size;
  void* owner;
} bessemer_bytes_t;

typedef struct bessemer_macro_t {
  const char* name;
  const char* value;  // may be empty, never null
} bessemer_macro_t;

typedef enum bessemer_math_mode_t {
  BESSEMER_MATH_SAFE = 0,     // IEEE: no reassociation, no contraction across statements
  BESSEMER_MATH_RELAXED = 1,  // reassociates, keeps NaN and infinity
  BESSEMER_MATH_FAST = 2,     // Metal's default
} bessemer_math_mode_t;

typedef struct bessemer_source_options_t {
  uint32_t language_version;  // MTLLanguageVersion: major << 16 | minor; 0: newest
  bessemer_math_mode_t math_mode;
  bool preserve_invariance;
  uint32_t macro_count;
  const bessemer_macro_t* macros;
  // Null: no debug information. Else line tables, in which the source has this path; so it has in
  // diagnostics.
  const char* debug_path;
} bessemer_source_options_t;

typedef struct bessemer_constant_t {
  uint32_t index;
  uint32_t type;         // MTLDataType
  const void* value;     // as many bytes as the type has
} bessemer_constant_t;

typedef enum bessemer_output_t {
  BESSEMER_OUTPUT_KERNEL = 0,      // a Kernel flatbuffer (kernel.fbs)
  BESSEMER_OUTPUT_ASSEMBLY = 1,    // text
  BESSEMER_OUTPUT_AIR = 2,         // text of the AIR after constants are set
  BESSEMER_OUTPUT_VECTOR_IR = 3,   // text after vectorising and optimising
  // A Kernel flatbuffer with an empty object, in a fraction of the time: all that can fail is done,
  // and what a pipeline must tell before it knows its threadgroup size is there.
  BESSEMER_OUTPUT_SUMMARY = 4,
} bessemer_output_t;

typedef struct bessemer_kernel_request_t {
  const uint8_t* bitcode;  // a Module of library.fbs
  size_t bitcode_size;
  const char* function;
  uint32_t constant_count;
  const bessemer_constant_t* constants;
  uint32_t threads[3];     // threads of a threadgroup; all 0: any size, known only at run time
  bool distinct_buffers;   // no two bound ranges overlap
  // All null: this machine. Else an LLVM triple, CPU and feature string; a null triple is this kind
  // of machine.
  const char* triple;
  const char* cpu;
  const char* features;
  bessemer_output_t output;
} bessemer_kernel_request_t;

// Results: 0 done; else nothing is in `out` and `diagnostics` says why, in clang's form
// `file:line:column: error: text` for sources. `diagnostics` may be filled on success too (warnings).
typedef struct bessemer_compiler_t {
  uint32_t abi;            // BESSEMER_COMPILER_ABI
  const char* build_id;    // changes whenever generated code could
  void (*release)(bessemer_bytes_t* bytes);

  // MSL text to a Library flatbuffer (library.fbs). `source` need not end in NUL.
  int (*compile_source)(const char* source, size_t size, const bessemer_source_options_t* options,
                        bessemer_bytes_t* out, bessemer_bytes_t* diagnostics);
  // The bytes of a .metallib to a Library flatbuffer.
  int (*load_metallib)(const uint8_t* bytes, size_t size, bessemer_bytes_t* out,
                       bessemer_bytes_t* diagnostics);
  // A Library flatbuffer to the bytes of a .metallib.
  int (*write_metallib)(const uint8_t* library, size_t size, bessemer_bytes_t* out,
                        bessemer_bytes_t* diagnostics);
  // One kernel of a module to machine code.
  int (*compile_kernel)(const bessemer_kernel_request_t* request, bessemer_bytes_t* out,
                        bessemer_bytes_t* diagnostics);
} bessemer_compiler_t;

// The only exported symbol of libMetalCompiler.so; null when `abi` is not the one it was built with.
const bessemer_compiler_t* bessemer_compiler_get(uint32_t abi);
typedef const bessemer_compiler_t* (*bessemer_compiler_get_fn)(uint32_t abi);

#ifdef __cplusplus
}
#endif

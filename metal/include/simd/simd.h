/* Vectors and matrices as Apple's simd lays them out, for sharing structs with kernels. */
#pragma once

#include <stdint.h>

#define BESSEMER_SIMD_VECTORS(scalar, name)                                                        \
  typedef scalar simd_##name##1;                                                                   \
  typedef scalar simd_##name##2 __attribute__((__ext_vector_type__(2)));                           \
  typedef scalar simd_##name##3 __attribute__((__ext_vector_type__(3)));                           \
  typedef scalar simd_##name##4 __attribute__((__ext_vector_type__(4)));                           \
  typedef scalar simd_##name##8 __attribute__((__ext_vector_type__(8)));                           \
  typedef scalar simd_##name##16 __attribute__((__ext_vector_type__(16)));                         \
  typedef simd_##name##2 vector_##name##2;                                                         \
  typedef simd_##name##3 vector_##name##3;                                                         \
  typedef simd_##name##4 vector_##name##4;

BESSEMER_SIMD_VECTORS(int8_t, char)
BESSEMER_SIMD_VECTORS(uint8_t, uchar)
BESSEMER_SIMD_VECTORS(int16_t, short)
BESSEMER_SIMD_VECTORS(uint16_t, ushort)
BESSEMER_SIMD_VECTORS(int32_t, int)
BESSEMER_SIMD_VECTORS(uint32_t, uint)
BESSEMER_SIMD_VECTORS(int64_t, long)
BESSEMER_SIMD_VECTORS(uint64_t, ulong)
BESSEMER_SIMD_VECTORS(float, float)
BESSEMER_SIMD_VECTORS(double, double)
#if defined(__FLT16_MANT_DIG__)
BESSEMER_SIMD_VECTORS(_Float16, half)
#endif
#undef BESSEMER_SIMD_VECTORS

/* Columns first: simd_float4x3 has four columns of three rows. */
#define BESSEMER_SIMD_MATRIX(columns_, rows)                                                       \
  typedef struct {                                                                                 \
    simd_float##rows columns[columns_];                                                            \
  } simd_float##columns_##x##rows;                                                                 \
  typedef simd_float##columns_##x##rows matrix_float##columns_##x##rows;

BESSEMER_SIMD_MATRIX(2, 2)
BESSEMER_SIMD_MATRIX(2, 3)
BESSEMER_SIMD_MATRIX(2, 4)
BESSEMER_SIMD_MATRIX(3, 2)
BESSEMER_SIMD_MATRIX(3, 3)
BESSEMER_SIMD_MATRIX(3, 4)
BESSEMER_SIMD_MATRIX(4, 2)
BESSEMER_SIMD_MATRIX(4, 3)
BESSEMER_SIMD_MATRIX(4, 4)
#undef BESSEMER_SIMD_MATRIX

#ifdef __cplusplus
namespace simd {
#define BESSEMER_SIMD_NAMES(name)                                                                  \
  using name##2 = ::simd_##name##2;                                                                \
  using name##3 = ::simd_##name##3;                                                                \
  using name##4 = ::simd_##name##4;
BESSEMER_SIMD_NAMES(char)
BESSEMER_SIMD_NAMES(uchar)
BESSEMER_SIMD_NAMES(short)
BESSEMER_SIMD_NAMES(ushort)
BESSEMER_SIMD_NAMES(int)
BESSEMER_SIMD_NAMES(uint)
BESSEMER_SIMD_NAMES(long)
BESSEMER_SIMD_NAMES(ulong)
BESSEMER_SIMD_NAMES(float)
BESSEMER_SIMD_NAMES(double)
#undef BESSEMER_SIMD_NAMES
using float2x2 = ::simd_float2x2;
using float2x3 = ::simd_float2x3;
using float2x4 = ::simd_float2x4;
using float3x2 = ::simd_float3x2;
using float3x3 = ::simd_float3x3;
using float3x4 = ::simd_float3x4;
using float4x2 = ::simd_float4x2;
using float4x3 = ::simd_float4x3;
using float4x4 = ::simd_float4x4;
} // namespace simd
#endif

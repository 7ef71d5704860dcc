// What a kernel uses of <simd/simd.h>: Metal's vectors under their names shared with C.
#ifndef METAL_SIMD_SIMD_H
#define METAL_SIMD_SIMD_H

#include <metal_stdlib>

namespace simd {
using namespace metal;
}

#define __METAL_SIMD_NAMES(T)                                                                     \
  typedef T##2 vector_##T##2;                                                                     \
  typedef T##3 vector_##T##3;                                                                     \
  typedef T##4 vector_##T##4;                                                                     \
  typedef T##2 simd_##T##2;                                                                       \
  typedef T##3 simd_##T##3;                                                                       \
  typedef T##4 simd_##T##4;
__METAL_SIMD_NAMES(char)
__METAL_SIMD_NAMES(uchar)
__METAL_SIMD_NAMES(short)
__METAL_SIMD_NAMES(ushort)
__METAL_SIMD_NAMES(int)
__METAL_SIMD_NAMES(uint)
__METAL_SIMD_NAMES(long)
__METAL_SIMD_NAMES(ulong)
__METAL_SIMD_NAMES(half)
__METAL_SIMD_NAMES(float)
#undef __METAL_SIMD_NAMES

#define __METAL_SIMD_MATRICES(C)                                                                  \
  typedef float##C##x2 matrix_float##C##x2;                                                       \
  typedef float##C##x3 matrix_float##C##x3;                                                       \
  typedef float##C##x4 matrix_float##C##x4;                                                       \
  typedef float##C##x2 simd_float##C##x2;                                                         \
  typedef float##C##x3 simd_float##C##x3;                                                         \
  typedef float##C##x4 simd_float##C##x4;
__METAL_SIMD_MATRICES(2)
__METAL_SIMD_MATRICES(3)
__METAL_SIMD_MATRICES(4)
#undef __METAL_SIMD_MATRICES

#endif

// Kernels written by hand as the code generator writes them (kernel_abi.h), built into a
// relocatable object of its own. They take a threadgroup of any size.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "metal/compiler/kernel_abi.h"

typedef struct {
  uint32_t x, y, z;
} uint3;

// Calls body with `position` (of the thread in the grid) and `group`, for each thread of the call.
#define FOR_EACH_THREAD(body)                                                                      \
  for (uint64_t linear = first; linear < last; ++linear) {                                         \
    const uint32_t* region = dispatch->region_size;                                                \
    const uint32_t* threads = dispatch->threads_per_threadgroup;                                   \
    uint3 group = {dispatch->region_origin[0] + (uint32_t)(linear % region[0]),                    \
                   dispatch->region_origin[1] + (uint32_t)(linear / region[0] % region[1]),        \
                   dispatch->region_origin[2] + (uint32_t)(linear / region[0] / region[1])};       \
    for (uint32_t z = 0; z < threads[2]; ++z)                                                      \
      for (uint32_t y = 0; y < threads[1]; ++y)                                                    \
        for (uint32_t x = 0; x < threads[0]; ++x) {                                                \
          uint3 position = {group.x * threads[0] + x, group.y * threads[1] + y,                    \
                            group.z * threads[2] + z};                                             \
          if (position.x >= dispatch->threads_per_grid[0] ||                                       \
              position.y >= dispatch->threads_per_grid[1] ||                                       \
              position.z >= dispatch->threads_per_grid[2])                                         \
            continue;                                                                              \
          body                                                                                     \
        }                                                                                          \
  }

#define KERNEL(name)                                                                               \
  void name(const bessemer_dispatch_t* dispatch, uint64_t first, uint64_t last,                    \
            void* threadgroup_memory, void* frame)

#define UNUSED (void)dispatch, (void)first, (void)last, (void)threadgroup_memory, (void)frame

KERNEL(empty) { UNUSED; }

// buffer(0)[i] += 1 for each thread of the grid, x fastest.
KERNEL(count_visits) {
  UNUSED;
  uint32_t* counts = dispatch->buffers[0];
  const uint32_t* grid = dispatch->threads_per_grid;
  FOR_EACH_THREAD(
      { counts[((size_t)position.z * grid[1] + position.y) * grid[0] + position.x] += 1; })
}

// buffer(1)[i] = a * buffer(0)[i] + buffer(1)[i]; a is buffer(2)[0].
KERNEL(saxpy) {
  UNUSED;
  const float* x_values = dispatch->buffers[0];
  float* y_values = dispatch->buffers[1];
  const float* a = dispatch->buffers[2];
  FOR_EACH_THREAD({ y_values[position.x] += a[0] * x_values[position.x]; })
}

// buffer(0)[i] = buffer(0)[i] * 3 + buffer(1)[0]: the result tells in which order lists ran.
KERNEL(mix) {
  UNUSED;
  uint32_t* values = dispatch->buffers[0];
  const uint32_t* number = dispatch->buffers[1];
  FOR_EACH_THREAD({ values[position.x] = values[position.x] * 3 + number[0]; })
}

// Each threadgroup sums its threads' values in threadgroup memory: static 64 bytes, then
// threadgroup(0) and threadgroup(2), and a frame that it fills. buffer(1)[group] = sum + frame
// check.
KERNEL(group_sum) {
  UNUSED;
  const uint32_t* values = dispatch->buffers[0];
  uint32_t* sums = dispatch->buffers[1];
  const uint32_t threads_x = dispatch->threads_per_threadgroup[0];
  for (uint64_t linear = first; linear < last; ++linear) {
    uint32_t* fixed = threadgroup_memory;
    uint32_t* partial = (void*)((char*)threadgroup_memory + dispatch->threadgroup_offsets[0]);
    uint32_t* other = (void*)((char*)threadgroup_memory + dispatch->threadgroup_offsets[2]);
    memset(frame, (int)(linear & 0x7f), 4096);
    memset(fixed, 0, 64);
    for (uint32_t i = 0; i < threads_x; ++i) {
      partial[i] = values[(dispatch->region_origin[0] + linear) * threads_x + i];
      other[i] = 1;
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; i < threads_x; ++i)
      sum += partial[i] + other[i] + fixed[i % 16];
    const uint8_t* bytes = frame;
    sums[dispatch->region_origin[0] + linear] = sum + (bytes[4095] != (linear & 0x7f));
  }
}

// buffer(0)[i] = the subnormal number buffer(1)[0] times 1: 0 when subnormals are flushed.
static void multiply_subnormal(const bessemer_dispatch_t* dispatch) {
  float* out = dispatch->buffers[0];
  volatile const float* in = dispatch->buffers[1];
  out[0] = in[0] * 1.0f;
}
KERNEL(subnormal_kept) {
  UNUSED;
  multiply_subnormal(dispatch);
}
KERNEL(subnormal_flushed) {
  UNUSED;
  multiply_subnormal(dispatch);
}

// Each thread spins until buffer(0)[0] is not 0.
KERNEL(spin_on_memory) {
  UNUSED;
  volatile uint32_t* flag = dispatch->buffers[0];
  while (flag[0] == 0) {
  }
}

KERNEL(endless) {
  UNUSED;
  for (;;)
    __asm__ volatile("" ::: "memory");
}

// Writes buffer(0)[0] at the address that it holds.
KERNEL(wild_store) {
  UNUSED;
  volatile uint32_t** address = dispatch->buffers[0];
  FOR_EACH_THREAD({ address[0][0] = 1; })
}

KERNEL(divide_by_zero) {
  UNUSED;
#if defined(__x86_64__)
  __asm__ volatile("xorl %%ecx, %%ecx\n\tmovl $1, %%eax\n\tcltd\n\tidivl %%ecx" ::
                       : "eax", "ecx", "edx");
#else
  __builtin_trap();
#endif
}

KERNEL(illegal_instruction) {
  UNUSED;
  __builtin_trap();
}

__attribute__((noinline)) static uint32_t recurse(volatile uint32_t* depth) {
  volatile char block[4096];
  block[0] = (char)depth[0];
  if (++depth[0] == 0)
    return 0;
  return recurse(depth) + (uint32_t)block[0];
}
KERNEL(stack_overflow) {
  UNUSED;
  volatile uint32_t depth = 0;
  uint32_t* out = dispatch->buffers[0];
  out[0] = recurse(&depth);
}

// About a microsecond of work for each threadgroup, buffer(0)[group] += 1.
KERNEL(slow) {
  UNUSED;
  uint32_t* counts = dispatch->buffers[0];
  for (uint64_t linear = first; linear < last; ++linear) {
    uint32_t value = (uint32_t)linear;
    for (int i = 0; i < 1000; ++i)
      __asm__ volatile("" : "+r"(value));
    counts[dispatch->region_origin[0] + linear] += 1;
  }
}

// Uses a table, a constant pool and the functions that a kernel may call.
static const uint16_t kTable[8] = {1, 2, 4, 8, 16, 32, 64, 128};
KERNEL(uses_constants) {
  UNUSED;
  float* out = dispatch->buffers[0];
  const float* in = dispatch->buffers[1];
  char copy[600];
  FOR_EACH_THREAD({
    memcpy(copy, in, dispatch->threads_per_grid[0] * sizeof(float));
    float value;
    memcpy(&value, copy + position.x * sizeof(float), sizeof value);
    switch ((int)position.x) { // a jump table
    case 0:
      value = fmodf(value, 3.5f);
      break;
    case 1:
      value = (float)(_Float16)value;
      break;
    case 2:
      value = value * 1.5f + kTable[3];
      break;
    case 3:
      value = value / 7.25f;
      break;
    case 4:
      value = -value;
      break;
    case 5:
      value = value - kTable[(int)value & 7];
      break;
    case 6:
      value = value * value;
      break;
    default:
      value = 42.0f;
      break;
    }
    out[position.x] = value;
  })
}

#if defined(FOREIGN_CALLS) // an object that must not load
void not_allowed(void);
KERNEL(calls_foreign) {
  UNUSED;
  not_allowed();
}
#endif

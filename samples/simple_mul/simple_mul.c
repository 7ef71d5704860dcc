/* Multiplies arrays with a compiled program that is part of this executable, as are the virtual
 * machine, the HAL and the Metal driver: they are linked from static libraries.
 *
 *   simple_mul                          1 2 3 4 times 10 10 10 10
 *   simple_mul A A A A B B B B          numbers of one's own */
#include <stdio.h>
#include <stdlib.h>

#include "bessemer/bessemer.h"

/* simple_mul.vmfb, by cmake/embed_bytes.cmake. */
extern const unsigned char simple_mul_module[];
extern const size_t simple_mul_module_size;

enum { kCount = 4 };

static int Multiply(bessemer_program_t* program, const float* a, const float* b,
                    bessemer_error_t** error) {
  const int64_t shape[] = {kCount};
  const bessemer_value_t inputs[] = {
      {BESSEMER_TENSOR, BESSEMER_FLOAT32, 1, shape, a, kCount * sizeof(float)},
      {BESSEMER_TENSOR, BESSEMER_FLOAT32, 1, shape, b, kCount * sizeof(float)},
  };
  bessemer_results_t* results = bessemer_call(program, "simple_mul", inputs, 2, error);
  if (!results)
    return 1;
  const float* product = bessemer_result(results, 0)->data;
  for (int i = 0; i < kCount; ++i)
    printf("%g * %g = %g\n", a[i], b[i], product[i]);
  bessemer_results_release(results);
  return 0;
}

int main(int argc, char** argv) {
  float numbers[2 * kCount] = {1, 2, 3, 4, 10, 10, 10, 10};
  if (argc != 1 && argc != 1 + 2 * kCount) {
    fprintf(stderr, "usage: %s [A A A A B B B B]\n", argv[0]);
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    char* end = NULL;
    numbers[i - 1] = strtof(argv[i], &end);
    if (end == argv[i] || *end) {
      fprintf(stderr, "%s: '%s' is not a number\n", argv[0], argv[i]);
      return 2;
    }
  }

  bessemer_error_t* error = NULL;
  bessemer_program_t* program =
      bessemer_load_bytes(simple_mul_module, simple_mul_module_size, NULL, &error);
  int code = program ? Multiply(program, numbers, numbers + kCount, &error) : 1;
  bessemer_program_release(program);
  if (error) {
    fprintf(stderr, "%s\n", error->message);
    bessemer_error_release(error);
  }
  return code;
}

/* Calls a compiled program from C: embed-c multiply.vmfb */
#include <stdio.h>

#include <bessemer/bessemer.h>

int main(int argc, char** argv) {
  bessemer_error_t* error = NULL;
  bessemer_program_t* program = bessemer_load(argc > 1 ? argv[1] : "multiply.vmfb", NULL, &error);
  const int64_t shape[] = {4};
  const float a[] = {1, 2, 3, 4}, b[] = {10, 10, 10, 10};
  const bessemer_value_t inputs[] = {{BESSEMER_TENSOR, BESSEMER_FLOAT32, 1, shape, a, sizeof(a)},
                                     {BESSEMER_TENSOR, BESSEMER_FLOAT32, 1, shape, b, sizeof(b)}};
  bessemer_results_t* results = program ? bessemer_call(program, "main", inputs, 2, &error) : NULL;
  if (error) {
    fprintf(stderr, "%s\n", error->message);
    bessemer_error_release(error);
    bessemer_program_release(program);
    return 1;
  }
  const float* elements = bessemer_result(results, 0)->data;
  printf("%g %g %g %g \n", elements[0], elements[1], elements[2], elements[3]);
  bessemer_results_release(results);
  bessemer_program_release(program);
  return 0;
}

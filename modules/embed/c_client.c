/* A client in C: calls "scale" of the program at `path` as the header's example does. */
#include <stdio.h>

#include "modules/embed/bessemer.h"

int run_c_client(const char* device, const char* path, float* out_values, int32_t* out_number);

int run_c_client(const char* device, const char* path, float* out_values, int32_t* out_number) {
  bessemer_session_t* session = bessemer_session_create(device);
  if (!session || bessemer_session_load(session, path) != 0) {
    fprintf(stderr, "%s\n", bessemer_error());
    return 1;
  }
  float input[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape[2] = {2, 3};
  bessemer_value_t* arguments[2] = {bessemer_array(session, BESSEMER_FLOAT32, 2, shape, input),
                                    bessemer_int32(20)};
  bessemer_value_t* results[2] = {NULL, NULL};
  size_t count = 0;
  int code = bessemer_call(session, "scale", 2, arguments, 2, results, &count);
  if (code == 0 && count == 2 && bessemer_type(results[0]) == BESSEMER_FLOAT32 &&
      bessemer_rank(results[0]) == 2 && bessemer_dimension(results[0], 1) == 3 &&
      bessemer_size(results[0]) == sizeof(input)) {
    code = bessemer_read(results[0], out_values, sizeof(input));
    if (code == 0)
      code = bessemer_read(results[1], out_number, sizeof(*out_number));
  }
  for (int i = 0; i < 2; ++i) {
    bessemer_value_free(arguments[i]);
    bessemer_value_free(results[i]);
  }
  bessemer_session_destroy(session);
  return code;
}

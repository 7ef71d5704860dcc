#include "iree/base/internal/cpu.h"

iree_status_t iree_cpu_lookup_data_by_key(iree_string_view_t key,
                                          int64_t* IREE_RESTRICT out_value) {
  *out_value = 0;
#if defined(__x86_64__)
  struct {
    iree_string_view_t name;
    bool isThere;
  } const features[] = {
      {IREE_SVL("x86_64.sse42"), __builtin_cpu_supports("sse4.2") != 0},
      {IREE_SVL("x86_64.avx"), __builtin_cpu_supports("avx") != 0},
      {IREE_SVL("x86_64.fma"), __builtin_cpu_supports("fma") != 0},
      {IREE_SVL("x86_64.avx2"), __builtin_cpu_supports("avx2") != 0},
      {IREE_SVL("x86_64.avx512f"), __builtin_cpu_supports("avx512f") != 0},
      {IREE_SVL("x86_64.avx512vnni"), __builtin_cpu_supports("avx512vnni") != 0},
      {IREE_SVL("x86_64.avx512bf16"), __builtin_cpu_supports("avx512bf16") != 0},
  };
  for (const auto& feature : features) {
    if (!iree_string_view_equal(key, feature.name))
      continue;
    *out_value = feature.isThere;
    return iree_ok_status();
  }
#endif
  return iree_make_status(IREE_STATUS_NOT_FOUND, "nothing is known of CPU feature '%.*s'",
                          (int)key.size, key.data);
}

/* Blocks that outlive the scope they were written in. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void *_Block_copy(const void *block);
void _Block_release(const void *block);

#ifdef __cplusplus
}
#endif

#if defined(__OBJC__) && __has_feature(objc_arc)
#define Block_copy(...)                                                                            \
  ((__typeof(__VA_ARGS__))(__bridge_transfer id)_Block_copy((__bridge const void *)(__VA_ARGS__)))
#define Block_release(...) ((void)(__VA_ARGS__))
#else
#define Block_copy(...) ((__typeof(__VA_ARGS__))_Block_copy((const void *)(__VA_ARGS__)))
#define Block_release(...) _Block_release((const void *)(__VA_ARGS__))
#endif

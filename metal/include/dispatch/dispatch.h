/* Grand Central Dispatch, as far as Metal clients use it. */
#pragma once

#include <Block.h>
#include <objc/objc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __OBJC__
#import <objc/NSObject.h>
#define OS_OBJECT_USE_OBJC 1
@protocol OS_dispatch_object <NSObject>
@end
#define BESSEMER_DISPATCH_TYPE(name)                                                               \
  @protocol OS_dispatch_##name <OS_dispatch_object>                                                \
  @end                                                                                             \
  typedef NSObject<OS_dispatch_##name> *dispatch_##name##_t
typedef NSObject<OS_dispatch_object> *dispatch_object_t;
#else
#define BESSEMER_DISPATCH_TYPE(name) typedef struct dispatch_##name##_s *dispatch_##name##_t
typedef void *dispatch_object_t;
#endif
BESSEMER_DISPATCH_TYPE(queue);
BESSEMER_DISPATCH_TYPE(data);
BESSEMER_DISPATCH_TYPE(group);
BESSEMER_DISPATCH_TYPE(semaphore);
BESSEMER_DISPATCH_TYPE(queue_attr);
#undef BESSEMER_DISPATCH_TYPE
typedef dispatch_queue_t dispatch_queue_global_t;
typedef dispatch_queue_t dispatch_queue_main_t;
typedef dispatch_queue_t dispatch_queue_serial_t;
typedef dispatch_queue_t dispatch_queue_concurrent_t;

typedef void (*dispatch_function_t)(void *context);
typedef long dispatch_once_t;
/* Nanoseconds of the clock that CLOCK_MONOTONIC names, or, negative, of the wall clock. */
typedef uint64_t dispatch_time_t;
typedef unsigned int dispatch_qos_class_t;
typedef unsigned int qos_class_t;
#ifdef __BLOCKS__
typedef void (^dispatch_block_t)(void);
typedef bool (^dispatch_data_applier_t)(dispatch_data_t region, size_t offset, const void *buffer,
                                        size_t size);
#endif

#define DISPATCH_TIME_NOW ((dispatch_time_t)0)
#define DISPATCH_TIME_FOREVER (~(dispatch_time_t)0)
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_USEC 1000ull
#define USEC_PER_SEC 1000000ull

#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND INT16_MIN
#define QOS_CLASS_USER_INTERACTIVE 0x21
#define QOS_CLASS_USER_INITIATED 0x19
#define QOS_CLASS_DEFAULT 0x15
#define QOS_CLASS_UTILITY 0x11
#define QOS_CLASS_BACKGROUND 0x09
#define QOS_CLASS_UNSPECIFIED 0x00

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __OBJC__
#define BESSEMER_DISPATCH_RETAINED __attribute__((ns_returns_retained))
#define BESSEMER_DISPATCH_BRIDGE __bridge
#else
#define BESSEMER_DISPATCH_RETAINED
#define BESSEMER_DISPATCH_BRIDGE
#endif

/* Under ARC these two are the compiler's. */
#if !defined(__OBJC__) || !__has_feature(objc_arc)
void dispatch_retain(dispatch_object_t object);
void dispatch_release(dispatch_object_t object);
#endif

struct bessemer_dispatch_queue_attribute;
extern struct bessemer_dispatch_queue_attribute _dispatch_queue_attr_concurrent;
#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)
#define DISPATCH_QUEUE_CONCURRENT                                                                  \
  ((BESSEMER_DISPATCH_BRIDGE dispatch_queue_attr_t)(void *)&_dispatch_queue_attr_concurrent)
#define DISPATCH_TARGET_QUEUE_DEFAULT ((dispatch_queue_t)0)
#define DISPATCH_APPLY_AUTO ((dispatch_queue_t)0)

BESSEMER_DISPATCH_RETAINED dispatch_queue_t dispatch_queue_create(const char *label,
                                                                  dispatch_queue_attr_t attribute);
BESSEMER_DISPATCH_RETAINED dispatch_queue_t dispatch_queue_create_with_target(
    const char *label, dispatch_queue_attr_t attribute, dispatch_queue_t target);
dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t attribute,
                                                              dispatch_qos_class_t qos,
                                                              int relative_priority);
dispatch_queue_t dispatch_get_global_queue(intptr_t priority, uintptr_t flags);
/* A serial queue of its own thread: there is no run loop here that could drain it. */
dispatch_queue_t dispatch_get_main_queue(void);
const char *dispatch_queue_get_label(dispatch_queue_t queue);

void dispatch_async_f(dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_sync_f(dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_barrier_async_f(dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_barrier_sync_f(dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_apply_f(size_t iterations, dispatch_queue_t queue, void *context,
                      void (*work)(void *context, size_t iteration));
void dispatch_after_f(dispatch_time_t when, dispatch_queue_t queue, void *context,
                      dispatch_function_t work);
void dispatch_once_f(dispatch_once_t *predicate, void *context, dispatch_function_t function);
dispatch_time_t dispatch_time(dispatch_time_t when, int64_t nanoseconds);
struct timespec;
dispatch_time_t dispatch_walltime(const struct timespec *when, int64_t nanoseconds);

BESSEMER_DISPATCH_RETAINED dispatch_group_t dispatch_group_create(void);
void dispatch_group_enter(dispatch_group_t group);
void dispatch_group_leave(dispatch_group_t group);
/* 0 when the group became empty, else not 0 after the time-out. */
intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout);
void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void *context,
                            dispatch_function_t work);
void dispatch_group_notify_f(dispatch_group_t group, dispatch_queue_t queue, void *context,
                             dispatch_function_t work);

BESSEMER_DISPATCH_RETAINED dispatch_semaphore_t dispatch_semaphore_create(intptr_t value);
intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);
intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

size_t dispatch_data_get_size(dispatch_data_t data);
BESSEMER_DISPATCH_RETAINED dispatch_data_t dispatch_data_create_concat(dispatch_data_t a,
                                                                       dispatch_data_t b);
BESSEMER_DISPATCH_RETAINED dispatch_data_t dispatch_data_create_subrange(dispatch_data_t data,
                                                                         size_t offset,
                                                                         size_t length);
BESSEMER_DISPATCH_RETAINED dispatch_data_t dispatch_data_create_map(dispatch_data_t data,
                                                                    const void **buffer,
                                                                    size_t *size);

#ifdef __BLOCKS__
void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_sync(dispatch_queue_t queue, __attribute__((noescape)) dispatch_block_t block);
void dispatch_barrier_async(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_barrier_sync(dispatch_queue_t queue,
                           __attribute__((noescape)) dispatch_block_t block);
void dispatch_apply(size_t iterations, dispatch_queue_t queue,
                    __attribute__((noescape)) void (^block)(size_t iteration));
void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block);
void dispatch_once(dispatch_once_t *predicate, __attribute__((noescape)) dispatch_block_t block);
void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);

extern const dispatch_block_t _dispatch_data_destructor_free;
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT ((dispatch_block_t)0)
#define DISPATCH_DATA_DESTRUCTOR_FREE (_dispatch_data_destructor_free)
BESSEMER_DISPATCH_RETAINED dispatch_data_t dispatch_data_create(const void *buffer, size_t size,
                                                                dispatch_queue_t queue,
                                                                dispatch_block_t destructor);
bool dispatch_data_apply(dispatch_data_t data,
                         __attribute__((noescape)) dispatch_data_applier_t applier);
#endif

#ifdef __cplusplus
}
#endif

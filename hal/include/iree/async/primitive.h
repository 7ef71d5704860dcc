// Handles of the operating system that can be waited for.

#ifndef IREE_ASYNC_PRIMITIVE_H_
#define IREE_ASYNC_PRIMITIVE_H_

#include <stdint.h>
#include <string.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_ASYNC_HAVE_FD 1
#if defined(IREE_PLATFORM_LINUX)
#define IREE_ASYNC_HAVE_EVENTFD 1
#endif
#if defined(IREE_PLATFORM_APPLE)
#define IREE_ASYNC_HAVE_MACH_PORT 1
#endif

enum iree_async_primitive_type_e {
  IREE_ASYNC_PRIMITIVE_TYPE_NONE = 0u,
  // A file descriptor that becomes readable.
  IREE_ASYNC_PRIMITIVE_TYPE_FD = 1u,
  IREE_ASYNC_PRIMITIVE_TYPE_WIN32_HANDLE = 2u,
  IREE_ASYNC_PRIMITIVE_TYPE_MACH_PORT = 3u,
};
typedef uint8_t iree_async_primitive_type_t;

typedef union iree_async_primitive_value_t {
  int reserved;
  int fd;
#if defined(IREE_ASYNC_HAVE_MACH_PORT)
  uint32_t mach_port;
#endif
} iree_async_primitive_value_t;

typedef struct iree_async_primitive_t {
  iree_async_primitive_type_t type;
  iree_async_primitive_value_t value;
} iree_async_primitive_t;

static inline iree_async_primitive_t iree_async_primitive_make(iree_async_primitive_type_t type,
                                                               iree_async_primitive_value_t value) {
  iree_async_primitive_t primitive;
  primitive.type = type;
  primitive.value = value;
  return primitive;
}

static inline iree_async_primitive_t iree_async_primitive_none(void) {
  iree_async_primitive_value_t value;
  memset(&value, 0, sizeof(value));
  return iree_async_primitive_make(IREE_ASYNC_PRIMITIVE_TYPE_NONE, value);
}

static inline bool iree_async_primitive_is_none(iree_async_primitive_t primitive) {
  return primitive.type == IREE_ASYNC_PRIMITIVE_TYPE_NONE;
}

static inline iree_async_primitive_t iree_async_primitive_from_fd(int fd) {
  iree_async_primitive_value_t value;
  memset(&value, 0, sizeof(value));
  value.fd = fd;
  return iree_async_primitive_make(IREE_ASYNC_PRIMITIVE_TYPE_FD, value);
}

#if defined(IREE_ASYNC_HAVE_MACH_PORT)
static inline iree_async_primitive_t iree_async_primitive_from_mach_port(uint32_t port) {
  iree_async_primitive_value_t value;
  memset(&value, 0, sizeof(value));
  value.mach_port = port;
  return iree_async_primitive_make(IREE_ASYNC_PRIMITIVE_TYPE_MACH_PORT, value);
}
#endif

// A second handle of the same thing. UNIMPLEMENTED for types other than file descriptors.
iree_status_t iree_async_primitive_dup(iree_async_primitive_t primitive,
                                       iree_async_primitive_t* out_primitive);
// Closes the handle and makes it none.
void iree_async_primitive_close(iree_async_primitive_t* primitive);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_ASYNC_PRIMITIVE_H_

#include "iree/async/primitive.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

iree_status_t iree_async_primitive_dup(iree_async_primitive_t primitive,
                                       iree_async_primitive_t* out_primitive) {
  *out_primitive = iree_async_primitive_none();
  switch (primitive.type) {
  case IREE_ASYNC_PRIMITIVE_TYPE_NONE:
    return iree_ok_status();
  case IREE_ASYNC_PRIMITIVE_TYPE_FD: {
    int fd = fcntl(primitive.value.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
      return iree_make_status(iree_status_code_from_errno(errno),
                              "cannot duplicate file descriptor %d: %s", primitive.value.fd,
                              strerror(errno));
    }
    *out_primitive = iree_async_primitive_from_fd(fd);
    return iree_ok_status();
  }
  default:
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "handles of type %u cannot be duplicated",
                            primitive.type);
  }
}

void iree_async_primitive_close(iree_async_primitive_t* primitive) {
  if (primitive->type == IREE_ASYNC_PRIMITIVE_TYPE_FD)
    close(primitive->value.fd);
  *primitive = iree_async_primitive_none();
}

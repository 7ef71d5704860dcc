#include "iree/base/status.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "iree/base/allocator.h"
#include "iree/base/printf.h"

// An annotation; its text follows the struct.
struct iree_status_payload_t {
  iree_status_payload_t* next;
  iree_host_size_t size;

  char* text() { return reinterpret_cast<char*>(this + 1); }
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
};

namespace {

// What a status with details points at. The text (file name if it was copied, then message) follows
// the struct.
struct StatusStorage {
  const char* file;
  const char* message;
  iree_host_size_t message_size;
  iree_status_payload_t* first_payload;
  iree_status_payload_t* last_payload;
  uint32_t line;
};

// The code lives in the low bits of the pointer.
constexpr std::size_t kStorageAlignment = IREE_STATUS_CODE_MASK + 1;

StatusStorage* StorageOf(iree_status_t status) {
  return reinterpret_cast<StatusStorage*>(reinterpret_cast<uintptr_t>(status) &
                                          ~static_cast<uintptr_t>(IREE_STATUS_CODE_MASK));
}

// NULL when out of memory: the status then is its code alone, which is the better half.
StatusStorage* NewStorage(iree_host_size_t text_size) {
  iree_host_size_t size = iree_host_align(sizeof(StatusStorage) + text_size, kStorageAlignment);
  auto* storage = static_cast<StatusStorage*>(std::aligned_alloc(kStorageAlignment, size));
  if (storage)
    *storage = {};
  return storage;
}

char* TextOf(StatusStorage* storage) { return reinterpret_cast<char*>(storage + 1); }

iree_status_t MakeStatus(iree_status_code_t code, StatusStorage* storage) {
  return reinterpret_cast<iree_status_t>(reinterpret_cast<uintptr_t>(storage) |
                                         (code & IREE_STATUS_CODE_MASK));
}

iree_status_payload_t* NewPayload(iree_host_size_t size) {
  auto* payload =
      static_cast<iree_status_payload_t*>(std::malloc(sizeof(iree_status_payload_t) + size + 1));
  if (payload) {
    payload->next = nullptr;
    payload->size = size;
    payload->text()[size] = 0;
  }
  return payload;
}

// Gives a status of code alone a place for annotations.
iree_status_t WithStorage(iree_status_t status) {
  if (StorageOf(status))
    return status;
  return MakeStatus(iree_status_code(status), NewStorage(0));
}

iree_status_t AddPayload(iree_status_t status, iree_status_payload_t* payload) {
  StatusStorage* storage = StorageOf(status);
  if (!storage || !payload) {
    std::free(payload);
    return status;
  }
  (storage->last_payload ? storage->last_payload->next : storage->first_payload) = payload;
  storage->last_payload = payload;
  return status;
}

// Text output into a buffer that may be too small; counts all the same.
struct BoundedWriter {
  char* buffer;
  iree_host_size_t capacity;
  iree_host_size_t length = 0;

  static bool Write(iree_string_view_t text, void* user_data) {
    auto* self = static_cast<BoundedWriter*>(user_data);
    if (self->length < self->capacity) {
      std::memcpy(self->buffer + self->length, text.data,
                  iree_min(text.size, self->capacity - self->length));
    }
    self->length += text.size;
    return true;
  }

  // True when all fitted, with a NUL behind it.
  bool Finish() {
    if (capacity == 0)
      return false;
    buffer[iree_min(length, capacity - 1)] = 0;
    return length < capacity;
  }
};

} // namespace

iree_status_code_t iree_status_code_from_errno(int error_number) {
  switch (error_number) {
  case 0:
    return IREE_STATUS_OK;
  case EINVAL:
  case ENAMETOOLONG:
  case E2BIG:
  case EDESTADDRREQ:
  case EDOM:
  case EFAULT:
  case EILSEQ:
  case ENOPROTOOPT:
  case ENOTSOCK:
  case ENOTTY:
  case EPROTOTYPE:
  case ESPIPE:
    return IREE_STATUS_INVALID_ARGUMENT;
  case ETIMEDOUT:
    return IREE_STATUS_DEADLINE_EXCEEDED;
  case ENODEV:
  case ENOENT:
  case ENXIO:
  case ESRCH:
    return IREE_STATUS_NOT_FOUND;
  case EEXIST:
  case EADDRNOTAVAIL:
  case EALREADY:
    return IREE_STATUS_ALREADY_EXISTS;
  case EPERM:
  case EACCES:
  case EROFS:
    return IREE_STATUS_PERMISSION_DENIED;
  case ENOMEM:
  case ENOSPC:
  case EMFILE:
  case ENFILE:
  case EMLINK:
  case ENOBUFS:
  case EDQUOT:
    return IREE_STATUS_RESOURCE_EXHAUSTED;
  case ENOTEMPTY:
  case EISDIR:
  case ENOTDIR:
  case EADDRINUSE:
  case EBADF:
  case EBUSY:
  case ECHILD:
  case EISCONN:
  case ENOTCONN:
  case EPIPE:
  case ETXTBSY:
    return IREE_STATUS_FAILED_PRECONDITION;
  case EDEADLK:
  case ESTALE:
    return IREE_STATUS_ABORTED;
  case EFBIG:
  case EOVERFLOW:
  case ERANGE:
    return IREE_STATUS_OUT_OF_RANGE;
  case ENOSYS:
  case ENOTSUP:
  case EAFNOSUPPORT:
  case EPFNOSUPPORT:
  case EPROTONOSUPPORT:
  case EXDEV:
    return IREE_STATUS_UNIMPLEMENTED;
  case EAGAIN:
  case ECONNREFUSED:
  case ECONNABORTED:
  case ECONNRESET:
  case EINTR:
  case EHOSTUNREACH:
  case ENETDOWN:
  case ENETRESET:
  case ENETUNREACH:
  case ENOLCK:
  case ENOLINK:
    return IREE_STATUS_UNAVAILABLE;
  case ECANCELED:
    return IREE_STATUS_CANCELLED;
  case EIO:
    return IREE_STATUS_DATA_LOSS;
  default:
    return IREE_STATUS_UNKNOWN;
  }
}

const char* iree_status_code_string(iree_status_code_t code) {
  static const char* const kNames[] = {
      "OK",
      "CANCELLED",
      "UNKNOWN",
      "INVALID_ARGUMENT",
      "DEADLINE_EXCEEDED",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "PERMISSION_DENIED",
      "RESOURCE_EXHAUSTED",
      "FAILED_PRECONDITION",
      "ABORTED",
      "OUT_OF_RANGE",
      "UNIMPLEMENTED",
      "INTERNAL",
      "UNAVAILABLE",
      "DATA_LOSS",
      "UNAUTHENTICATED",
      "DEFERRED",
      "INCOMPATIBLE",
  };
  return static_cast<std::size_t>(code) < IREE_ARRAYSIZE(kNames) ? kNames[code] : "?";
}

iree_status_t iree_status_allocate(iree_status_code_t code, const char* file, uint32_t line,
                                   iree_string_view_t message) {
#if IREE_STATUS_FEATURES
  if (code == IREE_STATUS_OK)
    return iree_ok_status();
  bool keeps_message = IREE_STATUS_FEATURES & IREE_STATUS_FEATURE_ANNOTATIONS;
  iree_host_size_t message_size = keeps_message ? message.size : 0;
  StatusStorage* storage = NewStorage(message_size + 1);
  if (!storage)
    return iree_status_from_code(code);
  storage->file = file;
  storage->line = line;
  storage->message = TextOf(storage);
  storage->message_size = message_size;
  if (message_size)
    std::memcpy(TextOf(storage), message.data, message_size);
  return MakeStatus(code, storage);
#else
  (void)file, (void)line, (void)message;
  return iree_status_from_code(code);
#endif
}

iree_status_t iree_status_allocate_copy(iree_status_code_t code, iree_string_view_t file,
                                        uint32_t line, iree_string_view_t message) {
  if (code == IREE_STATUS_OK)
    return iree_ok_status();
  StatusStorage* storage = NewStorage(message.size + file.size + 1);
  if (!storage)
    return iree_status_from_code(code);
  char* text = TextOf(storage);
  if (message.size)
    std::memcpy(text, message.data, message.size);
  storage->message = text;
  storage->message_size = message.size;
  if (file.size) {
    std::memcpy(text + message.size, file.data, file.size);
    text[message.size + file.size] = 0;
    storage->file = text + message.size;
  }
  storage->line = line;
  return MakeStatus(code, storage);
}

iree_status_t iree_status_allocate_vf(iree_status_code_t code, const char* file, uint32_t line,
                                      const char* format, va_list varargs) {
  if (code == IREE_STATUS_OK)
    return iree_ok_status();
  va_list again;
  va_copy(again, varargs);
  int length = iree_vsnprintf(nullptr, 0, format, again);
  va_end(again);
  StatusStorage* storage = length < 0 ? nullptr : NewStorage(static_cast<std::size_t>(length) + 1);
  if (!storage)
    return iree_status_from_code(code);
  iree_vsnprintf(TextOf(storage), static_cast<std::size_t>(length) + 1, format, varargs);
  storage->file = file;
  storage->line = line;
  storage->message = TextOf(storage);
  storage->message_size = static_cast<iree_host_size_t>(length);
  return MakeStatus(code, storage);
}

iree_status_t iree_status_allocate_f(iree_status_code_t code, const char* file, uint32_t line,
                                     const char* format, ...) {
  va_list varargs;
  va_start(varargs, format);
  iree_status_t status = iree_status_allocate_vf(code, file, line, format, varargs);
  va_end(varargs);
  return status;
}

iree_status_t iree_status_clone(iree_status_t status) {
  StatusStorage* storage = StorageOf(status);
  if (!storage)
    return status;
  // The file name may lie within the source's storage, so it is copied too.
  iree_status_t clone = iree_status_allocate_copy(
      iree_status_code(status), iree_make_cstring_view(storage->file), storage->line,
      iree_make_string_view(storage->message, storage->message_size));
  if (!StorageOf(clone))
    return clone;
  for (iree_status_payload_t* payload = storage->first_payload; payload; payload = payload->next) {
    iree_status_payload_t* copy = NewPayload(payload->size);
    if (copy)
      std::memcpy(copy->text(), payload->text(), payload->size);
    clone = AddPayload(clone, copy);
  }
  return clone;
}

// Messages are always copied and file names live as long as the program.
iree_status_t iree_status_freeze(iree_status_t status) { return status; }

void iree_status_free(iree_status_t status) {
  StatusStorage* storage = StorageOf(status);
  if (!storage)
    return;
  for (iree_status_payload_t* payload = storage->first_payload; payload;) {
    iree_status_payload_t* next = payload->next;
    std::free(payload);
    payload = next;
  }
  std::free(storage);
}

iree_status_t iree_status_ignore(iree_status_t status) {
  iree_status_free(status);
  return iree_ok_status();
}

iree_status_t iree_status_join(iree_status_t base_status, iree_status_t new_status) {
  if (iree_status_is_ok(base_status))
    return new_status;
  if (iree_status_is_ok(new_status))
    return base_status;
  iree_host_size_t length = 0;
  iree_status_format(new_status, 0, nullptr, &length);
  if (iree_status_payload_t* payload = NewPayload(length)) {
    iree_status_format(new_status, length + 1, payload->text(), &length);
    base_status = AddPayload(WithStorage(base_status), payload);
  }
  iree_status_free(new_status);
  return base_status;
}

void iree_status_abort(iree_status_t status) {
  iree_status_fprint(stderr, status);
  std::fflush(stderr);
  std::abort();
}

iree_status_code_t iree_status_consume_code(iree_status_t status) {
  iree_status_code_t code = iree_status_code(status);
  iree_status_free(status);
  return code;
}

#if IREE_STATUS_FEATURES & IREE_STATUS_FEATURE_ANNOTATIONS

iree_status_t iree_status_annotate(iree_status_t base_status, iree_string_view_t message) {
  if (iree_status_is_ok(base_status) || iree_string_view_is_empty(message))
    return base_status;
  iree_status_payload_t* payload = NewPayload(message.size);
  if (payload)
    std::memcpy(payload->text(), message.data, message.size);
  return AddPayload(WithStorage(base_status), payload);
}

iree_status_t iree_status_annotate_f(iree_status_t base_status, const char* format, ...) {
  if (iree_status_is_ok(base_status))
    return base_status;
  va_list varargs;
  va_start(varargs, format);
  int length = iree_vsnprintf(nullptr, 0, format, varargs);
  va_end(varargs);
  iree_status_payload_t* payload =
      length < 0 ? nullptr : NewPayload(static_cast<iree_host_size_t>(length));
  if (payload) {
    va_start(varargs, format);
    iree_vsnprintf(payload->text(), static_cast<std::size_t>(length) + 1, format, varargs);
    va_end(varargs);
  }
  return AddPayload(WithStorage(base_status), payload);
}

#endif

bool iree_status_format_to(iree_status_t status, iree_status_output_fn_t output_fn,
                           void* user_data) {
  auto put = [&](const char* text, iree_host_size_t size) {
    return size == 0 || output_fn(iree_make_string_view(text, size), user_data);
  };
  StatusStorage* storage = StorageOf(status);
  if (storage && storage->file) {
    char line[16];
    int length = std::snprintf(line, sizeof(line), ":%u: ", storage->line);
    if (!put(storage->file, std::strlen(storage->file)) ||
        !put(line, static_cast<iree_host_size_t>(length))) {
      return false;
    }
  }
  const char* code = iree_status_code_string(iree_status_code(status));
  if (!put(code, std::strlen(code)))
    return false;
  if (!storage)
    return true;
  if (storage->message_size && (!put("; ", 2) || !put(storage->message, storage->message_size))) {
    return false;
  }
  for (iree_status_payload_t* payload = storage->first_payload; payload; payload = payload->next) {
    if (!put("; ", 2) || !put(payload->text(), payload->size))
      return false;
  }
  return true;
}

bool iree_status_format(iree_status_t status, iree_host_size_t buffer_capacity, char* buffer,
                        iree_host_size_t* out_buffer_length) {
  BoundedWriter writer{buffer, buffer ? buffer_capacity : 0};
  iree_status_format_to(status, BoundedWriter::Write, &writer);
  if (out_buffer_length)
    *out_buffer_length = writer.length;
  return writer.Finish();
}

bool iree_status_to_string(iree_status_t status, const iree_allocator_t* allocator,
                           char** out_buffer, iree_host_size_t* out_buffer_length) {
  *out_buffer = nullptr;
  *out_buffer_length = 0;
  iree_host_size_t length = 0;
  iree_status_format(status, 0, nullptr, &length);
  void* buffer = nullptr;
  iree_status_t allocated = iree_allocator_malloc_uninitialized(*allocator, length + 1, &buffer);
  if (!iree_status_is_ok(allocated)) {
    iree_status_free(allocated);
    return false;
  }
  *out_buffer = static_cast<char*>(buffer);
  return iree_status_format(status, length + 1, *out_buffer, out_buffer_length);
}

void iree_status_fprint(FILE* file, iree_status_t status) {
  iree_status_format_to(
      status,
      +[](iree_string_view_t text, void* file) {
        return std::fwrite(text.data, 1, text.size, static_cast<FILE*>(file)) == text.size;
      },
      file);
  std::fputc('\n', file);
}

iree_status_source_location_t iree_status_source_location(iree_status_t status) {
  StatusStorage* storage = StorageOf(status);
  return storage ? iree_status_source_location_t{storage->file, storage->line}
                 : iree_status_source_location_t{};
}

iree_string_view_t iree_status_message(iree_status_t status) {
  StatusStorage* storage = StorageOf(status);
  return storage ? iree_make_string_view(storage->message, storage->message_size)
                 : iree_string_view_empty();
}

iree_status_t iree_status_enumerate_payloads(iree_status_t status,
                                             iree_status_payload_visitor_fn_t visitor,
                                             void* user_data) {
  StatusStorage* storage = StorageOf(status);
  if (!storage)
    return iree_ok_status();
  for (iree_status_payload_t* payload = storage->first_payload; payload; payload = payload->next) {
    IREE_RETURN_IF_ERROR(visitor(user_data, payload));
  }
  return iree_ok_status();
}

iree_status_payload_type_t iree_status_payload_type(const iree_status_payload_t*) {
  return IREE_STATUS_PAYLOAD_TYPE_MESSAGE;
}

void iree_status_payload_format(const iree_status_payload_t* payload,
                                iree_host_size_t buffer_capacity, char* buffer,
                                iree_host_size_t* out_buffer_length) {
  BoundedWriter writer{buffer, buffer ? buffer_capacity : 0};
  BoundedWriter::Write(iree_make_string_view(payload->text(), payload->size), &writer);
  if (out_buffer_length)
    *out_buffer_length = writer.length;
  writer.Finish();
}

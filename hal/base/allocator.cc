#include "iree/base/allocator.h"

#include <cstdlib>
#include <cstring>

iree_status_t iree_struct_layout_calculate(iree_host_size_t base_size,
                                           const iree_struct_field_t* fields,
                                           iree_host_size_t field_count,
                                           iree_host_size_t* out_total) {
  iree_host_size_t offset = base_size;
  bool fits = true;
  for (iree_host_size_t i = 0; fits && i < field_count; ++i) {
    const iree_struct_field_t& field = fields[i];
    if (field.alignment)
      fits = iree_host_size_checked_align(offset, field.alignment, &offset);
    if (field.out_offset)
      *field.out_offset = offset;
    iree_host_size_t count = 0;
    fits = fits && iree_host_size_checked_mul(field.count[0], field.count[1], &count) &&
           iree_host_size_checked_mul_add(offset, count, field.element_size, &offset);
  }
  *out_total = fits ? offset : 0;
  if (!fits)
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "size of a struct overflows");
  return iree_ok_status();
}

namespace {

iree_status_t Allocate(iree_allocator_t allocator, iree_allocator_command_t command,
                       iree_host_size_t byte_length, void** inout_ptr) {
  if (IREE_UNLIKELY(byte_length == 0)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "allocations have at least one byte");
  }
  if (IREE_UNLIKELY(iree_allocator_is_null(allocator))) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the null allocator has no memory");
  }
  iree_allocator_alloc_params_t params = {byte_length};
  return allocator.ctl(allocator.self, command, &params, inout_ptr);
}

iree_status_t ArraySizeOverflow(iree_host_size_t count, iree_host_size_t element_size) {
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                          "%" PRIhsz " elements of %" PRIhsz " bytes are more than memory can hold",
                          count, element_size);
}

} // namespace

iree_status_t iree_allocator_malloc(iree_allocator_t allocator, iree_host_size_t byte_length,
                                    void** out_ptr) {
  *out_ptr = nullptr;
  return Allocate(allocator, IREE_ALLOCATOR_COMMAND_CALLOC, byte_length, out_ptr);
}

iree_status_t iree_allocator_malloc_uninitialized(iree_allocator_t allocator,
                                                  iree_host_size_t byte_length, void** out_ptr) {
  *out_ptr = nullptr;
  return Allocate(allocator, IREE_ALLOCATOR_COMMAND_MALLOC, byte_length, out_ptr);
}

iree_status_t iree_allocator_realloc(iree_allocator_t allocator, iree_host_size_t byte_length,
                                     void** inout_ptr) {
  return Allocate(allocator, IREE_ALLOCATOR_COMMAND_REALLOC, byte_length, inout_ptr);
}

iree_status_t iree_allocator_clone(iree_allocator_t allocator, iree_const_byte_span_t source_bytes,
                                   void** out_ptr) {
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_uninitialized(allocator, source_bytes.data_length, out_ptr));
  std::memcpy(*out_ptr, source_bytes.data, source_bytes.data_length);
  return iree_ok_status();
}

void iree_allocator_free(iree_allocator_t allocator, void* ptr) {
  if (!ptr || iree_allocator_is_null(allocator))
    return;
  iree_status_free(allocator.ctl(allocator.self, IREE_ALLOCATOR_COMMAND_FREE, nullptr, &ptr));
}

iree_status_t iree_allocator_malloc_array(iree_allocator_t allocator, iree_host_size_t count,
                                          iree_host_size_t element_size, void** out_ptr) {
  *out_ptr = nullptr;
  iree_host_size_t size = 0;
  if (!iree_host_size_checked_mul(count, element_size, &size)) {
    return ArraySizeOverflow(count, element_size);
  }
  return iree_allocator_malloc(allocator, size, out_ptr);
}

iree_status_t iree_allocator_malloc_array_uninitialized(iree_allocator_t allocator,
                                                        iree_host_size_t count,
                                                        iree_host_size_t element_size,
                                                        void** out_ptr) {
  *out_ptr = nullptr;
  iree_host_size_t size = 0;
  if (!iree_host_size_checked_mul(count, element_size, &size)) {
    return ArraySizeOverflow(count, element_size);
  }
  return iree_allocator_malloc_uninitialized(allocator, size, out_ptr);
}

iree_status_t iree_allocator_realloc_array(iree_allocator_t allocator, iree_host_size_t count,
                                           iree_host_size_t element_size, void** inout_ptr) {
  iree_host_size_t size = 0;
  if (!iree_host_size_checked_mul(count, element_size, &size)) {
    return ArraySizeOverflow(count, element_size);
  }
  return iree_allocator_realloc(allocator, size, inout_ptr);
}

iree_status_t iree_allocator_malloc_with_trailing(iree_allocator_t allocator,
                                                  iree_host_size_t struct_size,
                                                  iree_host_size_t trailing_size, void** out_ptr) {
  return iree_allocator_malloc_struct_array(allocator, struct_size, trailing_size, 1, out_ptr);
}

iree_status_t iree_allocator_malloc_struct_array(iree_allocator_t allocator,
                                                 iree_host_size_t struct_size,
                                                 iree_host_size_t count,
                                                 iree_host_size_t element_size, void** out_ptr) {
  *out_ptr = nullptr;
  iree_host_size_t size = 0;
  if (!iree_host_size_checked_mul_add(struct_size, count, element_size, &size)) {
    return ArraySizeOverflow(count, element_size);
  }
  return iree_allocator_malloc(allocator, size, out_ptr);
}

iree_status_t iree_allocator_grow_array(iree_allocator_t allocator,
                                        iree_host_size_t minimum_capacity,
                                        iree_host_size_t element_size,
                                        iree_host_size_t* inout_capacity, void** inout_ptr) {
  iree_host_size_t doubled = 0;
  if (!iree_host_size_checked_mul(*inout_capacity, 2, &doubled))
    doubled = minimum_capacity;
  iree_host_size_t capacity = iree_max(doubled, minimum_capacity);
  IREE_RETURN_IF_ERROR(iree_allocator_realloc_array(allocator, capacity, element_size, inout_ptr));
  *inout_capacity = capacity;
  return iree_ok_status();
}

iree_status_t iree_allocator_inline_arena_ctl(void* self, iree_allocator_command_t command,
                                              const void* params, void** inout_ptr) {
  auto* storage = static_cast<iree_allocator_inline_storage_t*>(self);
  if (command == IREE_ALLOCATOR_COMMAND_FREE)
    return iree_ok_status();
  iree_host_size_t size = static_cast<const iree_allocator_alloc_params_t*>(params)->byte_length;

  // The newest allocation begins where the one before it ended, so it can change its size there.
  bool in_place = command == IREE_ALLOCATOR_COMMAND_REALLOC && storage->head_size &&
                  *inout_ptr == storage->buffer + storage->length - storage->head_size;
  iree_host_size_t begin = in_place ? storage->length - storage->head_size : storage->length;
  if (!in_place) {
    uintptr_t address = reinterpret_cast<uintptr_t>(storage->buffer) + begin;
    begin += iree_host_align(address, iree_max_align_t) - address;
  }
  if (begin > storage->capacity || size > storage->capacity - begin) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "%" PRIhsz " bytes do not fit the %" PRIhsz
                            " that remain of an inline arena",
                            size, storage->capacity - iree_min(begin, storage->capacity));
  }
  uint8_t* ptr = storage->buffer + begin;
  if (command == IREE_ALLOCATOR_COMMAND_CALLOC) {
    std::memset(ptr, 0, size);
  } else if (command == IREE_ALLOCATOR_COMMAND_REALLOC && *inout_ptr && !in_place) {
    // The old size is not known; what lies between it and here is all within the storage.
    std::memmove(
        ptr, *inout_ptr,
        iree_min(size, static_cast<iree_host_size_t>(ptr - static_cast<uint8_t*>(*inout_ptr))));
  }
  storage->length = begin + size;
  storage->head_size = size;
  *inout_ptr = ptr;
  return iree_ok_status();
}

extern "C" iree_status_t iree_allocator_libc_ctl(void*, iree_allocator_command_t command,
                                                 const void* params, void** inout_ptr) {
  if (command == IREE_ALLOCATOR_COMMAND_FREE) {
    std::free(*inout_ptr);
    *inout_ptr = nullptr;
    return iree_ok_status();
  }
  iree_host_size_t size = static_cast<const iree_allocator_alloc_params_t*>(params)->byte_length;
  void* ptr = nullptr;
  switch (command) {
  case IREE_ALLOCATOR_COMMAND_MALLOC:
    ptr = std::malloc(size);
    break;
  case IREE_ALLOCATOR_COMMAND_CALLOC:
    // glibc's calloc passes its cache of a thread's small blocks by.
    ptr = size <= 1024 ? std::malloc(size) : std::calloc(1, size);
    if (ptr && size <= 1024)
      std::memset(ptr, 0, size);
    break;
  case IREE_ALLOCATOR_COMMAND_REALLOC:
    ptr = std::realloc(*inout_ptr, size);
    break;
  default:
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "unknown allocator command %d", command);
  }
  if (IREE_UNLIKELY(!ptr)) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "out of memory: the system has no %" PRIhsz " bytes", size);
  }
  *inout_ptr = ptr;
  return iree_ok_status();
}

namespace {

// Stands right before aligned memory.
struct AlignedHeader {
  void* block;
  iree_host_size_t byte_length;
};

AlignedHeader* HeaderOf(void* ptr) { return static_cast<AlignedHeader*>(ptr) - 1; }

} // namespace

iree_status_t iree_allocator_malloc_aligned(iree_allocator_t allocator,
                                            iree_host_size_t byte_length,
                                            iree_host_size_t min_alignment, iree_host_size_t offset,
                                            void** out_ptr) {
  *out_ptr = nullptr;
  iree_host_size_t alignment = iree_max(min_alignment, sizeof(void*));
  if (!iree_host_size_is_valid_alignment(alignment) || offset >= byte_length ||
      offset % alignof(AlignedHeader) != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "cannot align offset %" PRIhsz " of %" PRIhsz " bytes to %" PRIhsz,
                            offset, byte_length, min_alignment);
  }
  iree_host_size_t total = 0;
  if (!iree_host_size_checked_add(byte_length, sizeof(AlignedHeader) + alignment, &total)) {
    return ArraySizeOverflow(byte_length, 1);
  }
  void* block = nullptr;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, total, &block));
  uintptr_t first = reinterpret_cast<uintptr_t>(block) + sizeof(AlignedHeader) + offset;
  void* ptr = reinterpret_cast<void*>(iree_host_align(first, alignment) - offset);
  *HeaderOf(ptr) = {block, byte_length};
  *out_ptr = ptr;
  return iree_ok_status();
}

iree_status_t iree_allocator_realloc_aligned(iree_allocator_t allocator,
                                             iree_host_size_t byte_length,
                                             iree_host_size_t min_alignment,
                                             iree_host_size_t offset, void** inout_ptr) {
  void* ptr = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_aligned(allocator, byte_length, min_alignment, offset, &ptr));
  if (*inout_ptr) {
    std::memcpy(ptr, *inout_ptr, iree_min(byte_length, HeaderOf(*inout_ptr)->byte_length));
    iree_allocator_free_aligned(allocator, *inout_ptr);
  }
  *inout_ptr = ptr;
  return iree_ok_status();
}

void iree_allocator_free_aligned(iree_allocator_t allocator, void* ptr) {
  if (ptr)
    iree_allocator_free(allocator, HeaderOf(ptr)->block);
}

#ifndef IREE_HAL_UTILS_RESOURCE_SET_H_
#define IREE_HAL_UTILS_RESOURCE_SET_H_

#include "iree/base/api.h"
#include "iree/base/internal/arena.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_HAL_RESOURCE_SET_CHUNK_MAX_CAPACITY 0xFFFFu

typedef struct iree_hal_resource_set_chunk_t {
  struct iree_hal_resource_set_chunk_t* next_chunk;
  uint16_t capacity;
  uint16_t count;
  iree_hal_resource_t* resources[];
} iree_hal_resource_set_chunk_t;

#define iree_hal_resource_set_chunk_is_stored_inline(set, chunk)                                   \
  ((const void*)(chunk) == (const uint8_t*)set + sizeof(*set))

#define IREE_HAL_RESOURCE_SET_MRU_SIZE                                                             \
  (iree_hardware_constructive_interference_size / sizeof(uintptr_t))

typedef struct iree_hal_resource_set_t {
  iree_hal_resource_t* mru[IREE_HAL_RESOURCE_SET_MRU_SIZE];
  iree_arena_block_pool_t* block_pool;
  iree_hal_resource_set_chunk_t* chunk_head;
} iree_hal_resource_set_t;

/// Makes a set in blocks of `block_pool`.
IREE_API_EXPORT iree_status_t iree_hal_resource_set_allocate(iree_arena_block_pool_t* block_pool,
                                                             iree_hal_resource_set_t** out_set);

/// Releases the resources and the set; null does nothing.
IREE_API_EXPORT void iree_hal_resource_set_free(iree_hal_resource_set_t* set);

/// Says that nothing more will be inserted.
IREE_API_EXPORT void iree_hal_resource_set_freeze(iree_hal_resource_set_t* set);

/// Retains `count` resources; `resources` is an array of pointers, which may be null. A null set
/// does nothing.
IREE_API_EXPORT iree_status_t iree_hal_resource_set_insert(iree_hal_resource_set_t* set,
                                                           iree_host_size_t count,
                                                           const void* resources);

/// The same with pointers `offset` bytes into records of `stride` bytes.
IREE_API_EXPORT iree_status_t iree_hal_resource_set_insert_strided(iree_hal_resource_set_t* set,
                                                                   iree_host_size_t count,
                                                                   const void* data,
                                                                   iree_host_size_t offset,
                                                                   iree_host_size_t stride);

#ifdef __cplusplus
}
#endif
#endif

// A set of retained resources, in blocks of a pool. A few of the most recent ones are looked at
// before adding, which catches most of the repetition that command recording brings.

#include "iree/hal/utils/resource_set.h"

#include <algorithm>
#include <cstring>

namespace {

using Chunk = iree_hal_resource_set_chunk_t;

Chunk* makeChunk(void* storage, iree_host_size_t byteLength, Chunk* next) {
  auto* chunk = static_cast<Chunk*>(storage);
  chunk->next_chunk = next;
  chunk->capacity = static_cast<uint16_t>(
      std::min<iree_host_size_t>((byteLength - sizeof(Chunk)) / sizeof(iree_hal_resource_t*),
                                 IREE_HAL_RESOURCE_SET_CHUNK_MAX_CAPACITY));
  chunk->count = 0;
  return chunk;
}

iree_status_t insert(iree_hal_resource_set_t* set, iree_hal_resource_t* resource) {
  auto* end = std::end(set->mru);
  auto* hit = std::find(std::begin(set->mru), end, resource);
  if (hit != end) {
    std::rotate(std::begin(set->mru), hit, hit + 1);
    return iree_ok_status();
  }
  Chunk* chunk = set->chunk_head;
  if (chunk->count == chunk->capacity) {
    iree_arena_block_t* block = nullptr;
    void* storage = nullptr;
    IREE_RETURN_IF_ERROR(iree_arena_block_pool_acquire(set->block_pool, &block, &storage));
    chunk = set->chunk_head = makeChunk(storage, set->block_pool->usable_block_size, chunk);
  }
  iree_hal_resource_retain(resource);
  chunk->resources[chunk->count++] = resource;
  std::copy_backward(std::begin(set->mru), end - 1, end);
  set->mru[0] = resource;
  return iree_ok_status();
}

} // namespace

iree_status_t iree_hal_resource_set_allocate(iree_arena_block_pool_t* block_pool,
                                             iree_hal_resource_set_t** out_set) {
  *out_set = nullptr;
  iree_arena_block_t* block = nullptr;
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(iree_arena_block_pool_acquire(block_pool, &block, &storage));
  auto* set = static_cast<iree_hal_resource_set_t*>(storage);
  std::memset(set, 0, sizeof(*set));
  set->block_pool = block_pool;
  // The set lies in its first chunk's block.
  set->chunk_head =
      makeChunk(set + 1, block_pool->usable_block_size - sizeof(iree_hal_resource_set_t), nullptr);
  *out_set = set;
  return iree_ok_status();
}

void iree_hal_resource_set_free(iree_hal_resource_set_t* set) {
  if (!set)
    return;
  iree_arena_block_pool_t* pool = set->block_pool;
  for (Chunk* chunk = set->chunk_head; chunk;) {
    Chunk* next = chunk->next_chunk;
    for (uint16_t i = 0; i < chunk->count; ++i)
      iree_hal_resource_release(chunk->resources[i]);
    void* storage =
        iree_hal_resource_set_chunk_is_stored_inline(set, chunk) ? (void*)set : (void*)chunk;
    iree_arena_block_t* block = iree_arena_block_trailer(pool, storage);
    iree_arena_block_pool_release(pool, block, block);
    chunk = next;
  }
}

void iree_hal_resource_set_freeze(iree_hal_resource_set_t* set) {
  // Without recent entries nothing points at resources that may go before the set does.
  if (set)
    std::memset(set->mru, 0, sizeof(set->mru));
}

iree_status_t iree_hal_resource_set_insert(iree_hal_resource_set_t* set, iree_host_size_t count,
                                           const void* resources) {
  return iree_hal_resource_set_insert_strided(set, count, resources, 0,
                                              sizeof(iree_hal_resource_t*));
}

iree_status_t iree_hal_resource_set_insert_strided(iree_hal_resource_set_t* set,
                                                   iree_host_size_t count, const void* data,
                                                   iree_host_size_t offset,
                                                   iree_host_size_t stride) {
  if (!set)
    return iree_ok_status();
  for (iree_host_size_t i = 0; i < count; ++i) {
    iree_hal_resource_t* resource = nullptr;
    std::memcpy(&resource, static_cast<const uint8_t*>(data) + offset + i * stride,
                sizeof(resource));
    if (resource)
      IREE_RETURN_IF_ERROR(insert(set, resource));
  }
  return iree_ok_status();
}

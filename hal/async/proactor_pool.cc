#include "iree/async/util/proactor_pool.h"

#include <memory>
#include <mutex>
#include <new>
#include <vector>

struct iree_async_proactor_t {
  iree_atomic_ref_count_t ref_count;
  iree_async_proactor_options_t options;
};

void iree_async_proactor_retain(iree_async_proactor_t* proactor) {
  if (proactor)
    iree_atomic_ref_count_inc(&proactor->ref_count);
}

void iree_async_proactor_release(iree_async_proactor_t* proactor) {
  if (proactor && iree_atomic_ref_count_dec(&proactor->ref_count) == 1)
    delete proactor;
}

struct iree_async_proactor_pool_t {
  struct Entry {
    uint32_t node_id;
    iree_async_proactor_t* proactor = nullptr;
    void* runner = nullptr;
  };

  iree_atomic_ref_count_t ref_count;
  iree_allocator_t allocator;
  iree_async_proactor_pool_options_t options;
  std::mutex mutex;
  std::vector<Entry> entries;

  ~iree_async_proactor_pool_t() {
    std::vector<void*> runners;
    for (const Entry& entry : entries) {
      if (entry.runner)
        runners.push_back(entry.runner);
    }
    const auto& runner = options.runner;
    if (runner.request_stop && !runners.empty()) {
      runner.request_stop(runner.user_data, runners.data(), runners.size());
    }
    for (void* each : runners) {
      if (runner.destroy)
        runner.destroy(runner.user_data, each);
    }
    for (const Entry& entry : entries)
      iree_async_proactor_release(entry.proactor);
  }
};

iree_async_proactor_pool_options_t iree_async_proactor_pool_options_default(void) {
  return {iree_async_proactor_options_default(), {}};
}

iree_status_t iree_async_proactor_pool_create(iree_host_size_t node_count, const uint32_t* node_ids,
                                              iree_async_proactor_pool_options_t options,
                                              iree_allocator_t allocator,
                                              iree_async_proactor_pool_t** out_pool) {
  *out_pool = nullptr;
  if (node_count == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a proactor pool has at least one node");
  }
  void* storage = nullptr;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(allocator, sizeof(iree_async_proactor_pool_t), &storage));
  auto* pool = new (storage) iree_async_proactor_pool_t;
  iree_atomic_ref_count_init(&pool->ref_count);
  pool->allocator = allocator;
  pool->options = options;
  for (iree_host_size_t i = 0; i < node_count; ++i) {
    pool->entries.push_back({.node_id = node_ids ? node_ids[i] : static_cast<uint32_t>(i)});
  }
  *out_pool = pool;
  return iree_ok_status();
}

void iree_async_proactor_pool_retain(iree_async_proactor_pool_t* pool) {
  if (pool)
    iree_atomic_ref_count_inc(&pool->ref_count);
}

void iree_async_proactor_pool_release(iree_async_proactor_pool_t* pool) {
  if (!pool || iree_atomic_ref_count_dec(&pool->ref_count) != 1)
    return;
  iree_allocator_t allocator = pool->allocator;
  pool->~iree_async_proactor_pool_t();
  iree_allocator_free(allocator, pool);
}

iree_host_size_t iree_async_proactor_pool_count(const iree_async_proactor_pool_t* pool) {
  return pool->entries.size();
}

iree_status_t iree_async_proactor_pool_get(iree_async_proactor_pool_t* pool, iree_host_size_t index,
                                           iree_async_proactor_t** out_proactor) {
  *out_proactor = nullptr;
  if (index >= pool->entries.size()) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "proactor %" PRIhsz " of a pool of %" PRIhsz,
                            index, static_cast<iree_host_size_t>(pool->entries.size()));
  }
  std::lock_guard lock(pool->mutex);
  auto& entry = pool->entries[index];
  if (!entry.proactor) {
    auto proactor = std::make_unique<iree_async_proactor_t>();
    iree_atomic_ref_count_init(&proactor->ref_count);
    proactor->options = pool->options.proactor_options;
    const auto& runner = pool->options.runner;
    if (runner.create) {
      IREE_RETURN_IF_ERROR(runner.create(runner.user_data, proactor.get(), entry.node_id,
                                         pool->allocator, &entry.runner));
    }
    entry.proactor = proactor.release();
  }
  *out_proactor = entry.proactor;
  return iree_ok_status();
}

uint32_t iree_async_proactor_pool_node_id(const iree_async_proactor_pool_t* pool,
                                          iree_host_size_t index) {
  return pool->entries[index].node_id;
}

iree_status_t iree_async_proactor_pool_get_for_node(iree_async_proactor_pool_t* pool,
                                                    uint32_t node_id,
                                                    iree_async_proactor_t** out_proactor) {
  iree_host_size_t index = 0;
  for (iree_host_size_t i = 0; i < pool->entries.size(); ++i) {
    if (pool->entries[i].node_id == node_id)
      index = i;
  }
  return iree_async_proactor_pool_get(pool, index, out_proactor);
}

// Small persistent thread pool for the native reference kernels.
#include "suite.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <immintrin.h>
#include <mutex>
#include <thread>

namespace {

// A job's chunks are claimed from one word, {chunks, next chunk}, so that a worker that comes late
// claims from the job at hand or from none. The caller waits for claimed chunks, not for workers:
// where the other core is busy with other work, it goes on alone.
class Pool {
public:
  Pool() {
    const char* threads = getenv("NATIVE_THREADS");
    count_ = std::max(1, threads ? atoi(threads) : (int)std::thread::hardware_concurrency());
    for (int i = 1; i < count_; ++i)
      workers_.emplace_back([this] { loop(); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      quit_ = true;
    }
    wake_.notify_all();
    for (auto& worker : workers_)
      worker.join();
  }
  int threads() const { return count_; }

  void run(int chunks, const std::function<void(int)>& body) {
    if (count_ == 1 || chunks == 1) {
      for (int i = 0; i < chunks; ++i)
        body(i);
      return;
    }
    body_ = &body;
    unfinished_.store(chunks, std::memory_order_relaxed);
    claim_.store((uint64_t)chunks << 32, std::memory_order_seq_cst);
    if (sleeping_.load(std::memory_order_seq_cst)) {
      {
        std::lock_guard lock(mutex_);
      }
      wake_.notify_all();
    }
    work();
    // Spin briefly, then sleep, so that a descheduled worker does not burn this core.
    for (int s = 0; s < 1000 && unfinished_.load(std::memory_order_acquire); ++s)
      _mm_pause();
    for (int left; (left = unfinished_.load(std::memory_order_acquire));)
      unfinished_.wait(left);
  }

private:
  static bool open(uint64_t claim) { return (uint32_t)claim < claim >> 32; }

  void work() {
    while (open(claim_.load(std::memory_order_acquire))) {
      uint64_t claim = claim_.fetch_add(1, std::memory_order_acq_rel);
      if (!open(claim))
        return;
      (*body_)((uint32_t)claim);
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        unfinished_.notify_one();
    }
  }

  void loop() {
    for (;;) {
      // Spin a few tens of microseconds (back-to-back dispatches), then sleep.
      for (int s = 0; s < 1000 && !open(claim_.load(std::memory_order_acquire)); ++s)
        _mm_pause();
      if (!open(claim_.load(std::memory_order_acquire))) {
        std::unique_lock lock(mutex_);
        ++sleeping_;
        wake_.wait(lock, [&] { return quit_ || open(claim_.load(std::memory_order_seq_cst)); });
        --sleeping_;
        if (quit_)
          return;
      }
      work();
    }
  }

  int count_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool quit_ = false;
  const std::function<void(int)>* body_ = nullptr;
  alignas(64) std::atomic<uint64_t> claim_{0};
  alignas(64) std::atomic<int> unfinished_{0};
  std::atomic<int> sleeping_{0};
};

Pool& pool() {
  static Pool pool;
  return pool;
}

} // namespace

void parallel_for(int chunks, const std::function<void(int)>& body) { pool().run(chunks, body); }
int pool_threads() { return pool().threads(); }

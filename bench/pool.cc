// Small persistent thread pool for the native reference kernels.
#include "suite.h"
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <immintrin.h>
#include <mutex>
#include <thread>

namespace {
struct Pool {
  int n;
  std::vector<std::thread> th;
  std::mutex m;
  std::condition_variable cv;
  std::atomic<uint64_t> gen{0};
  std::atomic<int> next{0}, busy{0};
  int chunks = 0;
  const std::function<void(int)>* fn = nullptr;
  std::atomic<bool> quit{false};

  Pool() {
    const char* e = getenv("NATIVE_THREADS");
    n = e ? atoi(e) : (int)std::thread::hardware_concurrency();
    if (n < 1)
      n = 1;
    for (int i = 1; i < n; ++i)
      th.emplace_back([this] { loop(); });
  }
  ~Pool() {
    quit = true;
    {
      std::lock_guard<std::mutex> l(m);
      ++gen;
    }
    cv.notify_all();
    for (auto& t : th)
      t.join();
  }
  void work() {
    for (int c; (c = next.fetch_add(1, std::memory_order_relaxed)) < chunks;)
      (*fn)(c);
  }
  void loop() {
    uint64_t seen = 0;
    for (;;) {
      // Spin a few tens of microseconds (back-to-back dispatches), then sleep.
      for (int s = 0; s < 1000 && gen.load(std::memory_order_acquire) == seen; ++s)
        _mm_pause();
      if (gen.load(std::memory_order_acquire) == seen) {
        std::unique_lock<std::mutex> l(m);
        cv.wait(l, [&] { return gen.load() != seen; });
      }
      seen = gen.load(std::memory_order_acquire);
      if (quit)
        return;
      work();
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1)
        busy.notify_one();
    }
  }
  void run(int c, const std::function<void(int)>& f) {
    if (n == 1 || c == 1) {
      for (int i = 0; i < c; ++i)
        f(i);
      return;
    }
    chunks = c;
    fn = &f;
    next = 0;
    busy = n - 1;
    {
      std::lock_guard<std::mutex> l(m);
      gen.fetch_add(1, std::memory_order_release);
    }
    cv.notify_all();
    work();
    // Spin briefly, then sleep, so that a descheduled worker does not burn this core.
    for (int s = 0; s < 1000 && busy.load(std::memory_order_acquire); ++s)
      _mm_pause();
    for (int b; (b = busy.load(std::memory_order_acquire));)
      busy.wait(b);
  }
};
Pool& pool() {
  static Pool p;
  return p;
}
} // namespace

void parallel_for(int chunks, const std::function<void(int)>& fn) { pool().run(chunks, fn); }
int pool_threads() { return pool().n; }

// Everything that runs kernels in this process: worker threads, the notification thread, the
// watchdog. A device of the runtime has one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace bessemer::metal::cpu {

class Notifier;
class Watchdog;
class WorkerPool;

class Executor {
public:
  struct Options {
    unsigned threads = 0; // workers; 0: BESSEMER_THREADS, else by affinity and cgroup
    // A kernel call that takes longer is ended and its list fails. Negative: BESSEMER_WATCHDOG_MS,
    // else 60,000. 0: never.
    int64_t watchdog_milliseconds = -1;
  };

  // The one of this process; lives until the process ends.
  static Executor& shared();

  explicit Executor(Options options);
  // All its queues are idle and destroyed.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  unsigned worker_count() const;
  WorkerPool& workers() { return *workers_; }
  Notifier& notifier() { return *notifier_; }

  // Whether this thread is one of the workers, on which no code of clients may run.
  bool on_worker() const;

  // Calls `work` on the notification thread, in order.
  void notify(std::function<void()> work);

private:
  std::unique_ptr<Notifier> notifier_;
  std::unique_ptr<WorkerPool> workers_;
  std::unique_ptr<Watchdog> watchdog_; // null: kernels may run for ever
};

} // namespace bessemer::metal::cpu

// The threads that run kernels. They take two kinds of work: tasks (a command list that can go on)
// and chunks of jobs (one large dispatch shared by several threads).
//
// A thread never waits for another inside a task or a job: whoever finishes last goes on with what
// comes next. So workers block on nothing but having nothing to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace bessemer::metal::cpu {

// Whose work something is; a waiting thread runs only work of the owner that it waits for. (Work of
// others might itself wait for memory that the waiting thread is to write.) Never used twice.
using WorkOwner = uint64_t;
inline constexpr WorkOwner kNoOwner = 0;

// Ready to run once on any thread. Intrusive: owned by whoever submits it, free for reuse once
// `run` has been called.
struct Task {
  void (*run)(Task* self) = nullptr;
  WorkOwner owner = kNoOwner;

private:
  friend class WorkerPool;
  int64_t not_before_ = 0; // workers leave it to a thread that helps until then
  Task* next_ = nullptr;
};

// Work in `total` pieces that any number of threads share. Owned by whoever publishes it.
class Job {
public:
  // Runs pieces first..last-1. False ends the job: no further pieces are handed out.
  bool (*run)(Job* self, uint64_t first, uint64_t last) = nullptr;
  // Called once, by the last thread that leaves the job, when no piece is left and none runs. The
  // job may be reused from then on.
  void (*finished)(Job* self) = nullptr;
  WorkOwner owner = kNoOwner;
  uint64_t total = 0;
  uint64_t smallest_chunk = 1; // pieces that are worth the trouble of taking them
  uint64_t largest_chunk = ~uint64_t{0};

private:
  friend class WorkerPool;
  bool has_pieces() const { return next_piece_.load(std::memory_order_relaxed) < total; }

  std::atomic<uint64_t> next_piece_{0};
  uint32_t participants_ = 0; // under the pool's lock, as all below
  bool linked_ = false;
  Job* previous_ = nullptr;
  Job* next_ = nullptr;
};

class WorkerPool {
public:
  explicit WorkerPool(unsigned threads);
  // Nothing is ready and nothing runs.
  ~WorkerPool();

  unsigned size() const { return static_cast<unsigned>(threads_.size()); }
  // Whether this thread is one of the pool's.
  bool is_current() const;

  // Makes a task ready. Runs nothing.
  void submit(Task* task);
  // The same for a task that a thread is about to `help` with: workers leave it alone for a moment,
  // and a worker that only naps is not woken for it.
  void submit_to_helper(Task* task);
  // The same without waking anyone when a worker calls it: it is about to look for work itself.
  void submit_next(Task* task);
  bool has_ready_tasks() const { return ready_count_.load(std::memory_order_relaxed) != 0; }

  // Shares a job whose pieces first..total-1 are to be run; this thread takes part, and returns
  // when it finds nothing more to do in it, which does not mean that the job is finished.
  void share(Job* job, uint64_t first);
  // A thread that may take part soon: how dear is sharing?
  bool has_awake_worker() const { return spinning_.load(std::memory_order_relaxed) != 0; }

  // Grows with everything that is made ready: a waiting thread looks again when it has changed.
  uint32_t announcements() const { return announcements_.load(); }
  bool may_spin() const { return may_spin_; }

  // Runs one task or some pieces of a job of `owner`, if there are any.
  bool help(WorkOwner owner);

private:
  void worker();
  // Runs one task or takes part in one job, if there are any. `due`: when the first task that is
  // still left to helpers may be taken, 0 when there is none.
  bool run_something(bool prefer_job, int64_t* due);
  void append(Task* task, int64_t not_before);
  bool nap(uint32_t seen, int64_t nanoseconds);
  void take_part(Job* job);
  bool take_chunk(Job* job, uint64_t* first, uint64_t* last) const;
  void leave(Job* job);
  void unlink(Job* job);
  void announce();
  void wake_one_if_idle();

  std::mutex mutex_;
  Task* first_ready_ = nullptr;
  Task* last_ready_ = nullptr;
  Job* first_job_ = nullptr; // those with pieces left
  Job* last_job_ = nullptr;
  std::atomic<uint32_t> ready_count_{0};
  std::atomic<uint32_t> job_count_{0};
  std::atomic<uint32_t> announcements_{0}; // futex word
  std::atomic<uint32_t> sleeping_{0};
  std::atomic<uint32_t> napping_{0}; // 1: one thread sleeps for a short time, then looks
  std::atomic<uint32_t> spinning_{0};
  std::atomic<uint32_t> submitting_{0}; // threads in `submit`
  std::atomic<bool> stopping_{false};
  bool may_spin_ = true; // false on one processor
  std::vector<std::thread> threads_;
};

} // namespace bessemer::metal::cpu

#include "metal/cpu/executor/worker_pool.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <pthread.h>
#include <utility>

#include "metal/cpu/executor/futex.h"
#include "metal/cpu/executor/processor_count.h"

namespace bessemer::metal::cpu {

namespace {

// How long a task is left to the thread that is about to help with it.
constexpr int64_t kLeftToHelper = 5'000;
// A thread that naps finds within this time what was left to a helper that never came. Longer ones
// cost less, and are taken when naps turn out to have been for nothing.
constexpr int64_t kShortestNap = 50'000;
constexpr int64_t kLongestNap = 200'000;

// Set in workers: they look for further work as soon as they return from what they run.
thread_local const WorkerPool* worker_of = nullptr;

// Signals sent to the process are for the client's threads; a worker takes what its own code
// raises, the watchdog's signal and a profiler's.
void block_foreign_signals() {
  sigset_t mask;
  sigfillset(&mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGURG, SIGPROF})
    sigdelset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

} // namespace

WorkerPool::WorkerPool(unsigned threads) : may_spin_(available_processors() > 1) {
  threads_.reserve(std::max(1u, threads));
  for (unsigned i = 0; i < std::max(1u, threads); ++i)
    threads_.emplace_back([this, i] {
      char name[16];
      std::snprintf(name, sizeof name, "bessemer-%u", i);
      pthread_setname_np(pthread_self(), name);
      worker();
    });
}

WorkerPool::~WorkerPool() {
  stopping_.store(true);
  announcements_.fetch_add(1);
  futex_wake_all(announcements_);
  for (std::thread& thread : threads_)
    thread.join();
  while (submitting_.load(std::memory_order_acquire) != 0)
    std::this_thread::yield();
}

bool WorkerPool::is_current() const { return worker_of == this; }

void WorkerPool::worker() {
  block_foreign_signals();
  worker_of = this;
  bool prefer_job = true;
  bool fresh = true; // has run something since it last spun
  int64_t spin_end = 0;
  int64_t nap_length = kShortestNap;
  while (!stopping_.load()) {
    // Read before looking, so that what is announced after the look is not slept through.
    const uint32_t seen = announcements_.load();
    int64_t due = 0;
    if (run_something(prefer_job, &due)) {
      // Taking turns lets neither many small lists nor one large job starve the other.
      prefer_job = !prefer_job;
      fresh = true;
      nap_length = kShortestNap;
      continue;
    }
    const int64_t now = now_nanoseconds();
    if (std::exchange(fresh, false))
      spin_end = now + kSpinNanoseconds;
    const int64_t end = due != 0 ? due : spin_end;
    if (may_spin_ && now < end) {
      spinning_.fetch_add(1);
      spin_until([&] { return announcements_.load() != seen; }, end - now);
      spinning_.fetch_sub(1);
      continue;
    }
    if (due != 0) {
      if (now < due)
        futex_wait(announcements_, seen, due - now);
      continue;
    }
    // As long as something happens now and then, one thread looks by itself.
    if (nap_length <= kLongestNap && nap(seen, nap_length)) {
      const bool busy = announcements_.load() != seen;
      nap_length = busy ? std::min(nap_length * 2, kLongestNap) : nap_length * 2;
      continue;
    }
    sleeping_.fetch_add(1);
    if (announcements_.load() == seen)
      futex_wait(announcements_, seen);
    sleeping_.fetch_sub(1);
    fresh = true;
    nap_length = kShortestNap;
  }
}

bool WorkerPool::nap(uint32_t seen, int64_t nanoseconds) {
  uint32_t nobody = 0;
  if (!napping_.compare_exchange_strong(nobody, 1))
    return false;
  if (announcements_.load() == seen)
    futex_wait(announcements_, seen, nanoseconds);
  napping_.store(0);
  return true;
}

void WorkerPool::announce() {
  announcements_.fetch_add(1);
  wake_one_if_idle();
}

void WorkerPool::wake_one_if_idle() {
  // A thread that spins sees the announcement, and wakes the next one if there is more to do.
  if (spinning_.load() == 0 && (sleeping_.load() != 0 || napping_.load() != 0))
    futex_wake(announcements_, 1);
}

void WorkerPool::append(Task* task, int64_t not_before) {
  std::lock_guard lock(mutex_);
  task->not_before_ = not_before;
  task->next_ = nullptr;
  (last_ready_ ? last_ready_->next_ : first_ready_) = task;
  last_ready_ = task;
  ready_count_.fetch_add(1, std::memory_order_relaxed);
}

void WorkerPool::submit(Task* task) {
  // The task may have run, and the pool be about to go, before this thread is through.
  submitting_.fetch_add(1, std::memory_order_relaxed);
  append(task, 0);
  announce();
  submitting_.fetch_sub(1, std::memory_order_release);
}

void WorkerPool::submit_to_helper(Task* task) {
  submitting_.fetch_add(1, std::memory_order_relaxed);
  append(task, now_nanoseconds() + kLeftToHelper);
  announcements_.fetch_add(1);
  if (napping_.load() == 0)
    wake_one_if_idle();
  submitting_.fetch_sub(1, std::memory_order_release);
}

void WorkerPool::submit_next(Task* task) {
  if (worker_of != this)
    return submit(task);
  append(task, 0);
}

bool WorkerPool::run_something(bool prefer_job, int64_t* due) {
  if (ready_count_.load() == 0 && job_count_.load() == 0)
    return false;
  std::unique_lock lock(mutex_);
  Job* job = first_job_;
  if (job && (prefer_job || !first_ready_)) {
    ++job->participants_;
    lock.unlock();
    take_part(job);
    return true;
  }
  Task* before = nullptr;
  Task* task = first_ready_;
  for (int64_t now = 0; task && task->not_before_ != 0; before = task, task = task->next_) {
    if (now == 0)
      now = now_nanoseconds();
    if (task->not_before_ <= now)
      break;
    *due = *due == 0 ? task->not_before_ : std::min(*due, task->not_before_);
  }
  if (!task && job) {
    ++job->participants_;
    lock.unlock();
    take_part(job);
    return true;
  }
  if (!task)
    return false;
  (before ? before->next_ : first_ready_) = task->next_;
  if (last_ready_ == task)
    last_ready_ = before;
  ready_count_.fetch_sub(1, std::memory_order_relaxed);
  const bool more = first_ready_ || job;
  lock.unlock();
  if (more)
    wake_one_if_idle();
  task->run(task);
  return true;
}

bool WorkerPool::help(WorkOwner owner) {
  if (ready_count_.load() == 0 && job_count_.load() == 0)
    return false;
  std::unique_lock lock(mutex_);
  Task* before = nullptr;
  for (Task* task = first_ready_; task; before = task, task = task->next_) {
    if (task->owner != owner)
      continue;
    (before ? before->next_ : first_ready_) = task->next_;
    if (last_ready_ == task)
      last_ready_ = before;
    ready_count_.fetch_sub(1, std::memory_order_relaxed);
    lock.unlock();
    task->run(task);
    return true;
  }
  for (Job* job = first_job_; job; job = job->next_) {
    if (job->owner != owner || !job->has_pieces())
      continue;
    ++job->participants_;
    lock.unlock();
    take_part(job);
    return true;
  }
  return false;
}

void WorkerPool::share(Job* job, uint64_t first) {
  job->next_piece_.store(first, std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex_);
    job->participants_ = 1;
    job->linked_ = true;
    job->previous_ = last_job_;
    job->next_ = nullptr;
    (last_job_ ? last_job_->next_ : first_job_) = job;
    last_job_ = job;
    job_count_.fetch_add(1, std::memory_order_relaxed);
  }
  announce();
  take_part(job);
}

bool WorkerPool::take_chunk(Job* job, uint64_t* first, uint64_t* last) const {
  // Large chunks first, smaller ones towards the end, so that all threads end at about one time.
  const uint64_t shares = uint64_t{threads_.size()} * 4;
  uint64_t next = job->next_piece_.load(std::memory_order_relaxed);
  for (;;) {
    if (next >= job->total)
      return false;
    const uint64_t left = job->total - next;
    uint64_t count = std::min(left / shares, job->largest_chunk);
    count = std::min(std::max(count, job->smallest_chunk), left);
    if (job->next_piece_.compare_exchange_weak(next, next + count, std::memory_order_relaxed)) {
      *first = next;
      *last = next + count;
      return true;
    }
  }
}

void WorkerPool::take_part(Job* job) {
  uint64_t first, last;
  bool first_chunk = true;
  while (take_chunk(job, &first, &last)) {
    // Each that joins wakes the next, so that a large pool wakes as a tree and a job that is soon
    // over wakes few.
    if (first_chunk && job->has_pieces())
      wake_one_if_idle();
    first_chunk = false;
    if (!job->run(job, first, last))
      job->next_piece_.store(job->total, std::memory_order_relaxed);
    if (worker_of == this && has_ready_tasks())
      break;
  }
  leave(job);
}

void WorkerPool::unlink(Job* job) {
  (job->previous_ ? job->previous_->next_ : first_job_) = job->next_;
  (job->next_ ? job->next_->previous_ : last_job_) = job->previous_;
  job->linked_ = false;
  job_count_.fetch_sub(1, std::memory_order_relaxed);
}

void WorkerPool::leave(Job* job) {
  bool last;
  {
    std::lock_guard lock(mutex_);
    const bool over = !job->has_pieces();
    if (over && job->linked_)
      unlink(job);
    last = --job->participants_ == 0 && over;
  }
  if (last)
    job->finished(job);
}

} // namespace bessemer::metal::cpu

#include "metal/cpu/executor/compile_threads.h"

#include <csignal>
#include <pthread.h>

namespace bessemer::metal::cpu {

CompileThreads::CompileThreads(unsigned most) : most_(most) {}

CompileThreads::~CompileThreads() { stop(); }

void CompileThreads::stop() {
  std::vector<std::thread> threads;
  std::deque<std::function<void()>> forgotten; // goes outside the lock
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    forgotten.swap(pending_);
    threads.swap(threads_);
  }
  wakeup_.notify_all();
  for (std::thread& thread : threads)
    thread.join();
}

void CompileThreads::run(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_)
      return;
    pending_.push_back(std::move(work));
    if (pending_.size() > idle_ && threads_.size() < most_)
      threads_.emplace_back([this] { loop(); });
  }
  wakeup_.notify_one();
}

void CompileThreads::loop() {
  pthread_setname_np(pthread_self(), "bessemer-comp");
  // Signals sent to the process are for the client's threads.
  sigset_t mask;
  sigfillset(&mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
    sigdelset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    wakeup_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
    --idle_;
    if (stopping_)
      return;
    {
      std::function<void()> work = std::move(pending_.front());
      pending_.pop_front();
      lock.unlock();
      work();
    }
    lock.lock();
  }
}

} // namespace bessemer::metal::cpu

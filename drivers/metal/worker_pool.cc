#include "drivers/metal/worker_pool.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace bessemer::metal_driver {
namespace {

constexpr int kMaxThreads = 64;
constexpr std::chrono::seconds kIdleTime{2};

} // namespace

struct WorkerPool::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  int threads = 0;
  size_t idle = 0;
  bool stopping = false;

  void Run() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      changed.wait_for(lock, kIdleTime, [&] { return stopping || !tasks.empty(); });
      --idle;
      if (tasks.empty()) {
        --threads;
        return;
      }
      std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
      // What the task holds goes before the lock is taken: it may own the pool.
      task = nullptr;
      lock.lock();
    }
  }
};

WorkerPool::WorkerPool() : state_(std::make_shared<State>()) {}

WorkerPool::~WorkerPool() {
  std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
}

void WorkerPool::Post(std::function<void()> task) {
  std::lock_guard lock(state_->mutex);
  state_->tasks.push_back(std::move(task));
  if (state_->tasks.size() > state_->idle && state_->threads < kMaxThreads) {
    ++state_->threads;
    std::thread([state = state_] { state->Run(); }).detach();
  }
  state_->changed.notify_one();
}

} // namespace bessemer::metal_driver

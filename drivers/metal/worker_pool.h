// Threads for what may block: calls of the host, files, allocations that wait for memory.
#pragma once

#include <functional>
#include <memory>

namespace bessemer::metal_driver {

/// Runs each task on a thread of its own as long as there are threads to start, so that tasks may
/// wait for one another. Threads end when there was nothing to do for a while.
class WorkerPool {
public:
  WorkerPool();
  /// Tasks that were posted still run; does not wait for them, as it may run on such a thread.
  ~WorkerPool();

  void Post(std::function<void()> task);

private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace bessemer::metal_driver

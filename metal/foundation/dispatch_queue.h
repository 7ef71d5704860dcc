// dispatch_queue_t.
#pragma once

#include <deque>
#include <mutex>
#include <string>

#include "metal/foundation/dispatch_pool.h"
#include "metal/foundation/types.h"

namespace ns {

/// Starts work in the order it was added. In a serial queue one item runs at a time; in a
/// concurrent one a barrier runs alone, after all before it and before all after it.
class DispatchQueue : public objc::Object {
public:
  OBJC_CLASS(DispatchQueue, "OS_dispatch_queue");

  /// `target`: the queue whose turn the work takes; null: the thread pool.
  DispatchQueue(const char* label, bool concurrent, DispatchQueue* target);

  const std::string& label() const { return label_; }
  bool is_concurrent() const { return concurrent_; }

  void async(Work work, bool barrier);
  /// Runs the work on the calling thread, when its turn comes.
  void sync(Work work, bool barrier);
  /// Calls work(context, 0..iterations-1), at the same time where the queue is concurrent, and
  /// returns when all have ended.
  void apply(size_t iterations, void* context, void (*work)(void* context, size_t iteration));
  void after(std::chrono::steady_clock::time_point when, Work work);

private:
  struct Item {
    Work work;
    bool alone; // a barrier, or any item of a serial queue
  };
  struct Turn;

  /// Starts what may start. The lock is held.
  void start_ready();
  void start(const Item& item);
  void finished();

  std::string label_;
  bool concurrent_;
  Ref<DispatchQueue> target_;
  std::mutex mutex_;
  std::deque<Item> waiting_;
  size_t running_ = 0;
  bool alone_ = false; // what runs, runs alone
};

} // namespace ns

#include "metal/foundation/dispatch_queue.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <memory>
#include <thread>

#include "metal/foundation/dispatch_time.h"
#include "metal/objc/block.h"
#include "metal/objc/runtime.h"

namespace ns {
namespace {

/// The serial queue whose work this thread runs now, to tell a deadlock where it begins.
thread_local DispatchQueue* current_queue = nullptr;

void run_and_release_block(void* block) {
  (*static_cast<objc::Block<void()>*>(block))();
  objc::_Block_release(block);
}
Work copied(objc::Block<void()>* block) {
  return {&run_and_release_block, objc::_Block_copy(block)};
}
void run_block(void* block) { (*static_cast<objc::Block<void()>*>(block))(); }

} // namespace

DispatchQueue::DispatchQueue(const char* label, bool concurrent, DispatchQueue* target)
    : label_(label ? label : ""), concurrent_(concurrent), target_(target) {}

void DispatchQueue::async(Work work, bool barrier) {
  std::lock_guard lock(mutex_);
  waiting_.push_back({work, barrier || !concurrent_});
  start_ready();
}

void DispatchQueue::start_ready() {
  while (!waiting_.empty() && !alone_ && (!waiting_.front().alone || running_ == 0)) {
    Item item = waiting_.front();
    waiting_.pop_front();
    ++running_;
    alone_ = item.alone;
    start(item);
  }
}

void DispatchQueue::start(const Item& item) {
  struct Running {
    Ref<DispatchQueue> queue;
    Item item;
  };
  auto* running = new Running{Ref<DispatchQueue>(this), item};
  Work work = {[](void* context) {
                 std::unique_ptr<Running> self(static_cast<Running*>(context));
                 DispatchQueue* outer = current_queue;
                 if (!self->queue->concurrent_)
                   current_queue = self->queue.get();
                 self->item.work.function(self->item.work.context);
                 current_queue = outer;
                 self->queue->finished();
               },
               running};
  if (target_)
    target_->async(work, false);
  else
    DispatchPool::shared().run(work);
}

void DispatchQueue::finished() {
  std::lock_guard lock(mutex_);
  --running_;
  alone_ = false;
  start_ready();
}

void DispatchQueue::sync(Work work, bool barrier) {
  if (current_queue == this)
    objc::fatal("dispatch_sync: queue \"%s\" is serial and this thread runs its work: a deadlock",
                label_.c_str());
  bool alone = barrier || !concurrent_;
  {
    std::unique_lock lock(mutex_);
    if (!target_ && waiting_.empty() && !alone_ && (!alone || running_ == 0)) {
      ++running_;
      alone_ = alone;
      lock.unlock();
      DispatchQueue* outer = current_queue;
      if (!concurrent_)
        current_queue = this;
      work.function(work.context);
      current_queue = outer;
      finished();
      return;
    }
  }
  // Hold the queue's turn with an item that lets this thread do the work.
  struct Turn {
    std::mutex mutex;
    std::condition_variable changed;
    bool come = false;
    bool done = false;
  };
  auto turn = std::make_shared<Turn>();
  async({[](void* context) {
           std::unique_ptr<std::shared_ptr<Turn>> held(
               static_cast<std::shared_ptr<Turn>*>(context));
           Turn& turn = **held;
           std::unique_lock lock(turn.mutex);
           turn.come = true;
           turn.changed.notify_all();
           turn.changed.wait(lock, [&] { return turn.done; });
         },
         new std::shared_ptr<Turn>(turn)},
        barrier);
  std::unique_lock lock(turn->mutex);
  turn->changed.wait(lock, [&] { return turn->come; });
  lock.unlock();
  DispatchQueue* outer = current_queue;
  if (!concurrent_)
    current_queue = this;
  work.function(work.context);
  current_queue = outer;
  lock.lock();
  turn->done = true;
  turn->changed.notify_all();
}

void DispatchQueue::apply(size_t iterations, void* context, void (*work)(void*, size_t)) {
  struct Shared {
    std::atomic<size_t> next{0};
    std::atomic<size_t> done{0};
    size_t iterations;
    void* context;
    void (*work)(void*, size_t);

    void run() {
      for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < iterations;) {
        work(context, i);
        if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == iterations)
          done.notify_all();
      }
    }
  };
  if (iterations == 0)
    return;
  auto shared = std::make_shared<Shared>();
  shared->iterations = iterations;
  shared->context = context;
  shared->work = work;
  if (!concurrent_) {
    sync({[](void* s) { static_cast<Shared*>(s)->run(); }, shared.get()}, false);
    return;
  }
  // The caller takes part; a helper that comes too late finds nothing left.
  size_t helpers =
      std::min<size_t>(iterations - 1, std::max(1u, std::thread::hardware_concurrency()));
  for (size_t i = 0; i < helpers; ++i)
    async({[](void* s) {
             std::unique_ptr<std::shared_ptr<Shared>> held(
                 static_cast<std::shared_ptr<Shared>*>(s));
             (*held)->run();
           },
           new std::shared_ptr<Shared>(shared)},
          false);
  shared->run();
  for (size_t done; (done = shared->done.load(std::memory_order_acquire)) < iterations;)
    shared->done.wait(done);
}

void DispatchQueue::after(std::chrono::steady_clock::time_point when, Work work) {
  struct Later {
    Ref<DispatchQueue> queue;
    Work work;
  };
  DispatchPool::shared().run_at(when, {[](void* context) {
                                         std::unique_ptr<Later> later(static_cast<Later*>(context));
                                         later->queue->async(later->work, false);
                                       },
                                       new Later{Ref<DispatchQueue>(this), work}});
}

OBJC_DEFINE_CLASS(DispatchQueue, "OS_dispatch_queue", objc::Object,
                  .protocols = {"OS_dispatch_queue"});

namespace {

/// One for each priority that libdispatch has, though all share the threads.
DispatchQueue* global_queue(intptr_t priority) {
  static DispatchQueue* const* const queues = [] {
    static std::array<DispatchQueue*, 4> made;
    const char* const labels[] = {"com.apple.root.background-qos", "com.apple.root.utility-qos",
                                  "com.apple.root.default-qos",
                                  "com.apple.root.user-initiated-qos"};
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = objc::make<DispatchQueue>(labels[i], true, nullptr).take();
    return made.data();
  }();
  switch (priority) {
  case 2:
  case 0x21:
  case 0x19:
    return queues[3];
  case -2:
  case 0x11:
    return queues[1];
  case INT16_MIN:
  case 0x09:
    return queues[0];
  default:
    return queues[2];
  }
}

DispatchQueue* default_if_null(DispatchQueue* queue) { return queue ? queue : global_queue(0); }

} // namespace

extern "C" {

// DISPATCH_QUEUE_CONCURRENT is this address.
[[gnu::visibility("default")]] char _dispatch_queue_attr_concurrent = 0;

DispatchQueue* dispatch_queue_create_with_target(const char* label, const void* attribute,
                                                 DispatchQueue* target) {
  return objc::make<DispatchQueue>(label, attribute == &_dispatch_queue_attr_concurrent, target)
      .take();
}
DispatchQueue* dispatch_queue_create(const char* label, const void* attribute) {
  return dispatch_queue_create_with_target(label, attribute, nullptr);
}
/// Threads have one priority here.
const void* dispatch_queue_attr_make_with_qos_class(const void* attribute, unsigned, int) {
  return attribute;
}
DispatchQueue* dispatch_get_global_queue(intptr_t priority, uintptr_t) {
  return global_queue(priority);
}
DispatchQueue* dispatch_get_main_queue() {
  static DispatchQueue* const queue =
      objc::make<DispatchQueue>("com.apple.main-thread", false, nullptr).take();
  return queue;
}
const char* dispatch_queue_get_label(DispatchQueue* queue) {
  if (!queue)
    queue = current_queue;
  return queue ? queue->label().c_str() : "";
}

void dispatch_retain(Object* object) { objc::objc_retain(object); }
void dispatch_release(Object* object) { objc::objc_release(object); }

void dispatch_async_f(DispatchQueue* queue, void* context, void (*work)(void*)) {
  queue->async({work, context}, false);
}
void dispatch_barrier_async_f(DispatchQueue* queue, void* context, void (*work)(void*)) {
  queue->async({work, context}, true);
}
void dispatch_sync_f(DispatchQueue* queue, void* context, void (*work)(void*)) {
  queue->sync({work, context}, false);
}
void dispatch_barrier_sync_f(DispatchQueue* queue, void* context, void (*work)(void*)) {
  queue->sync({work, context}, true);
}
void dispatch_apply_f(size_t iterations, DispatchQueue* queue, void* context,
                      void (*work)(void*, size_t)) {
  default_if_null(queue)->apply(iterations, context, work);
}
void dispatch_after_f(uint64_t when, DispatchQueue* queue, void* context, void (*work)(void*)) {
  queue->after(time_point_of(when), {work, context});
}

void dispatch_async(DispatchQueue* queue, objc::Block<void()>* block) {
  queue->async(copied(block), false);
}
void dispatch_barrier_async(DispatchQueue* queue, objc::Block<void()>* block) {
  queue->async(copied(block), true);
}
void dispatch_sync(DispatchQueue* queue, objc::Block<void()>* block) {
  queue->sync({&run_block, block}, false);
}
void dispatch_barrier_sync(DispatchQueue* queue, objc::Block<void()>* block) {
  queue->sync({&run_block, block}, true);
}
void dispatch_apply(size_t iterations, DispatchQueue* queue, objc::Block<void(size_t)>* block) {
  default_if_null(queue)->apply(iterations, block, [](void* b, size_t i) {
    (*static_cast<objc::Block<void(size_t)>*>(b))(i);
  });
}
void dispatch_after(uint64_t when, DispatchQueue* queue, objc::Block<void()>* block) {
  queue->after(time_point_of(when), copied(block));
}
}

} // namespace ns

// dispatch_group_t and dispatch_semaphore_t.
#include <vector>

#include "metal/foundation/dispatch_queue.h"
#include "metal/foundation/dispatch_time.h"
#include "metal/objc/block.h"
#include "metal/objc/runtime.h"

namespace ns {

class DispatchGroup : public objc::Object {
public:
  OBJC_CLASS(DispatchGroup, "OS_dispatch_group");

  void enter() {
    std::lock_guard lock(mutex_);
    // Alive while it is entered.
    if (entered_++ == 0)
      objc::objc_retain(this);
  }

  void leave() {
    std::vector<Notification> due;
    {
      std::lock_guard lock(mutex_);
      if (entered_ == 0)
        objc::fatal("dispatch_group_leave: the group was not entered");
      if (--entered_)
        return;
      due.swap(notifications_);
      empty_.notify_all();
    }
    for (Notification& notification : due)
      notification.queue->async(notification.work, false);
    objc::objc_release(this);
  }

  bool wait(uint64_t timeout) {
    std::unique_lock lock(mutex_);
    return wait_until(empty_, lock, timeout, [this] { return entered_ == 0; });
  }

  void notify(DispatchQueue* queue, Work work) {
    {
      std::lock_guard lock(mutex_);
      if (entered_) {
        notifications_.push_back({Ref<DispatchQueue>(queue), work});
        return;
      }
    }
    queue->async(work, false);
  }

  void async(DispatchQueue* queue, Work work) {
    enter();
    struct Member {
      DispatchGroup* group;
      Work work;
    };
    queue->async({[](void* context) {
                    auto* member = static_cast<Member*>(context);
                    member->work.function(member->work.context);
                    member->group->leave();
                    delete member;
                  },
                  new Member{this, work}},
                 false);
  }

private:
  struct Notification {
    Ref<DispatchQueue> queue;
    Work work;
  };

  std::mutex mutex_;
  std::condition_variable empty_;
  size_t entered_ = 0;
  std::vector<Notification> notifications_;
};

OBJC_DEFINE_CLASS(DispatchGroup, "OS_dispatch_group", objc::Object,
                  .protocols = {"OS_dispatch_group"});

class DispatchSemaphore : public objc::Object {
public:
  OBJC_CLASS(DispatchSemaphore, "OS_dispatch_semaphore");

  explicit DispatchSemaphore(intptr_t value) : value_(value) {}

  bool wait(uint64_t timeout) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    bool taken = wait_until(signalled_, lock, timeout, [this] { return value_ > 0; });
    --waiting_;
    value_ -= taken;
    return taken;
  }

  /// True when a thread was woken.
  bool signal() {
    std::lock_guard lock(mutex_);
    ++value_;
    signalled_.notify_one();
    return waiting_ > 0;
  }

private:
  std::mutex mutex_;
  std::condition_variable signalled_;
  intptr_t value_;
  size_t waiting_ = 0;
};

OBJC_DEFINE_CLASS(DispatchSemaphore, "OS_dispatch_semaphore", objc::Object,
                  .protocols = {"OS_dispatch_semaphore"});

namespace {

Work copied(objc::Block<void()>* block) {
  return {[](void* b) {
            (*static_cast<objc::Block<void()>*>(b))();
            objc::_Block_release(b);
          },
          objc::_Block_copy(block)};
}

} // namespace

extern "C" {

DispatchGroup* dispatch_group_create() { return objc::make<DispatchGroup>().take(); }
void dispatch_group_enter(DispatchGroup* group) { group->enter(); }
void dispatch_group_leave(DispatchGroup* group) { group->leave(); }
intptr_t dispatch_group_wait(DispatchGroup* group, uint64_t timeout) {
  return group->wait(timeout) ? 0 : 1;
}
void dispatch_group_async_f(DispatchGroup* group, DispatchQueue* queue, void* context,
                            void (*work)(void*)) {
  group->async(queue, {work, context});
}
void dispatch_group_async(DispatchGroup* group, DispatchQueue* queue, objc::Block<void()>* block) {
  group->async(queue, copied(block));
}
void dispatch_group_notify_f(DispatchGroup* group, DispatchQueue* queue, void* context,
                             void (*work)(void*)) {
  group->notify(queue, {work, context});
}
void dispatch_group_notify(DispatchGroup* group, DispatchQueue* queue, objc::Block<void()>* block) {
  group->notify(queue, copied(block));
}

DispatchSemaphore* dispatch_semaphore_create(intptr_t value) {
  return value < 0 ? nullptr : objc::make<DispatchSemaphore>(value).take();
}
intptr_t dispatch_semaphore_wait(DispatchSemaphore* semaphore, uint64_t timeout) {
  return semaphore->wait(timeout) ? 0 : 1;
}
intptr_t dispatch_semaphore_signal(DispatchSemaphore* semaphore) {
  return semaphore->signal() ? 1 : 0;
}
}

} // namespace ns

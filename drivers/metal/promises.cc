#include "drivers/metal/promises.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bessemer::metal_driver {

void Promises::Unlink(Waiter* waiter) {
  *waiter->link_ = waiter->next_;
  if (waiter->next_)
    waiter->next_->link_ = waiter->link_;
  waiter->next_ = nullptr;
  waiter->link_ = nullptr;
}

const Promise* Promises::FindLocked(uint64_t value) const {
  const Promise* best = nullptr;
  for (const Promise& promise : promises_) {
    if (promise.value >= value && (!best || promise.value < best->value))
      best = &promise;
  }
  return best;
}

MetalPtr<MTL::CommandBuffer> Promises::WorkTowards(uint64_t value) {
  std::lock_guard lock(mutex_);
  const Promise* best = FindLocked(value);
  for (const Promise& promise : promises_) {
    if (promise.value < value && (!best || best->value < promise.value))
      best = &promise;
  }
  return best ? best->work : MetalPtr<MTL::CommandBuffer>();
}

void Promises::Add(const Promise& promise) {
  std::vector<std::pair<Waiter*, void*>> called;
  {
    std::lock_guard lock(mutex_);
    promises_.push_back(promise);
    for (Waiter* waiter = waiters_; waiter;) {
      Waiter* next = waiter->next_;
      if (waiter->promised_value <= promise.value) {
        Unlink(waiter);
        if (void* what = waiter->OnPromise(promise))
          called.emplace_back(waiter, what);
      }
      waiter = next;
    }
  }
  for (auto [waiter, what] : called)
    waiter->AfterPromise(what);
}

void Promises::Keep(uint64_t value) {
  std::vector<Promise> kept; // released without the lock
  std::lock_guard lock(mutex_);
  auto first = std::partition(promises_.begin(), promises_.end(),
                              [&](const Promise& each) { return each.value > value; });
  std::move(first, promises_.end(), std::back_inserter(kept));
  promises_.erase(first, promises_.end());
}

void Promises::Await(Waiter* waiter) {
  void* what = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (const Promise* found = FindLocked(waiter->promised_value)) {
      what = waiter->OnPromise(*found);
    } else {
      waiter->next_ = waiters_;
      waiter->link_ = &waiters_;
      if (waiters_)
        waiters_->link_ = &waiter->next_;
      waiters_ = waiter;
    }
  }
  if (what)
    waiter->AfterPromise(what);
}

void Promises::Cancel(Waiter* waiter) {
  std::lock_guard lock(mutex_);
  if (waiter->link_)
    Unlink(waiter);
}

} // namespace bessemer::metal_driver

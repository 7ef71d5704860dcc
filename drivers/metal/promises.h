// Values that a semaphore will have once work that is on the device already has completed there.
//
// Work that waits for such a value need not wait on the host: it goes to the device as well, behind
// an event, so that chains of submissions run without the host between them. Nothing is promised by
// work that is not committed or may depend on such, so that what waits on the device always ends
// and holds up what is behind it in its queue no longer than that.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

struct Promise {
  /// Of the semaphore.
  uint64_t value = 0;
  /// Reaches `event_value` when the work has completed.
  MetalPtr<MTL::SharedEvent> event;
  uint64_t event_value = 0;
  /// The work itself.
  MetalPtr<MTL::CommandBuffer> work;
};

/// Those of one semaphore. Thread safe.
class Promises {
public:
  /// Waits for a promise of its value or a later one.
  class Waiter {
  public:
    Waiter() = default;
    Waiter(const Waiter&) = delete;

    uint64_t promised_value = 0;

  protected:
    ~Waiter() = default;

    /// Called with a lock held, once at most: returns what is to be done without it, or NULL.
    virtual void* OnPromise(const Promise& promise) = 0;
    virtual void AfterPromise(void* what) = 0;

  private:
    friend class Promises;
    Waiter* next_ = nullptr;
    Waiter** link_ = nullptr;
  };

  void Add(const Promise& promise);
  /// Work on the way to `value`: the earliest that brings it, else the last before it. NULL when
  /// there is none.
  MetalPtr<MTL::CommandBuffer> WorkTowards(uint64_t value);
  /// Forgets those up to `value`: the semaphore has it.
  void Keep(uint64_t value);
  void KeepAll() { Keep(UINT64_MAX); }

  /// Calls the waiter now if there is a promise already.
  void Await(Waiter* waiter);
  /// After this the waiter is not called any more.
  void Cancel(Waiter* waiter);

private:
  const Promise* FindLocked(uint64_t value) const;
  static void Unlink(Waiter* waiter);

  std::mutex mutex_;
  std::vector<Promise> promises_;
  Waiter* waiters_ = nullptr;
};

} // namespace bessemer::metal_driver

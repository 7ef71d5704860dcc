// Operations of a queue: parked until what they wait for is there, run, and told to who waits.
//
// A wait is a timepoint of a semaphore, so that no thread waits and nothing of a failed wait ever
// reaches the device. Work of the device that waits for work which is on the device already goes
// there at once, behind an event: its timepoints then decide how it ends, not when it begins.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "drivers/metal/objects.h"
#include "drivers/metal/promises.h"
#include "iree/async/frontier.h"
#include "iree/async/semaphore.h"

namespace bessemer::metal_driver {

class Profiler;
struct Device;
struct OperationInfo;
struct Queue;

IREE_ASYNC_FIXED_FRONTIER_TYPE(SubmissionFrontier, 32);

/// One operation. Ends exactly once, by Complete, and is freed then.
class Submission {
public:
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;
  virtual ~Submission();

  /// Runs `submission` once all of `waits` have reached their values, or are promised if that is
  /// enough for it, and all of `ready` are 1; within this call if that is so. Semaphores and arrays
  /// are the caller's again afterwards.
  static iree_status_t Start(std::unique_ptr<Submission> submission,
                             const iree_hal_semaphore_list_t& waits,
                             std::span<iree_async_semaphore_t* const> ready,
                             const iree_hal_semaphore_list_t& signals);

protected:
  Submission(Device* device, Queue* queue);

  /// All waits are reached or promised. Leads to one call of Complete, now or later, from any
  /// thread.
  virtual void Run() = 0;
  /// Whether Run puts work behind events (ForEachPromise) on the device.
  virtual bool WaitsOnDevice() const { return false; }
  /// Whether everything that the work uses lives until it ends, even when its signals fail before.
  virtual bool KeepsWhatItUses() const { return false; }
  /// A wait failed: undoes what the operation reserved. Complete follows.
  virtual void Abandon() {}
  /// What profiles say of the operation; asked when it was submitted.
  virtual OperationInfo Info() const = 0;
  /// Gives up resources before the signal tells others that they are free.
  virtual void Retire() {}

  /// The operation is done, with `status`, which is taken. Signals once all promises it relied on
  /// were kept, or fails; frees this, unless it is held.
  void Complete(iree_status_t status);
  /// Keeps this until Release, whatever happens.
  void Hold() { outstanding_.fetch_add(1, std::memory_order_relaxed); }
  void Release() { Arrive(); }
  /// In Run: calls with the event and its value for each wait that is only promised.
  template <class Function>
  void ForEachPromise(Function function) const;
  bool relies_on_promises() const;
  /// After work is committed that signals `event` at its end: promises the values of the signals.
  void PromiseSignals(const Promise& promise);
  /// Ends without a signal: someone else took that over.
  void Drop();

  Device* device() const { return device_.get(); }
  Queue* queue() const { return queue_; }
  const iree_hal_semaphore_list_t& signals() const { return signals_; }
  /// NULL unless the device is being profiled.
  const std::shared_ptr<Profiler>& profiler() const { return profiler_; }
  struct Profile;
  const Profile& profile() const { return *profile_; }

  /// What has happened when this runs: the waits' histories.
  iree_async_frontier_t* history();
  /// The history and this operation, which thereby gets its place on the queue's axis.
  const iree_async_frontier_t* Stamp();

private:
  struct Wait;

  static void OnTimepoint(void* user_data, iree_async_semaphore_timepoint_t* timepoint,
                          iree_status_t status);
  /// Takes back all waits that have not come; true when that opened the last gate.
  bool CancelWaits();
  /// True when it was the last.
  bool OpenGate(Wait& wait);
  void Arrive();
  void RunOrAbandon();
  void Finish();
  void CollectHistory();
  static void Schedule(Submission* submission);
  void ExpectSignalsAfterWaits();
  void WithdrawSignals();
  void FreeSignals();

  HalPtr<Device> device_;
  Queue* queue_;
  iree_hal_semaphore_list_t signals_ = {};
  bool announced_ = false; // to the semaphores of `signals_`, what holds them up
  std::unique_ptr<Wait[]> waits_;
  size_t wait_count_ = 0;
  // What keeps it from running: waits that are neither reached nor promised, and one for Start.
  std::atomic<size_t> gates_{0};
  // What keeps it from ending: waits that are not reached, the operation itself, who holds it.
  std::atomic<size_t> outstanding_{0};
  std::atomic<iree_status_t> failure_{nullptr};
  iree_status_t own_status_ = nullptr;
  Submission* next_scheduled_ = nullptr;
  SubmissionFrontier frontier_ = {};
  uint64_t epoch_ = 0;
  std::shared_ptr<Profiler> profiler_;
  std::unique_ptr<Profile> profile_;
};

struct Submission::Wait final : Promises::Waiter {
  iree_async_semaphore_timepoint_t timepoint = {};
  Submission* submission = nullptr;
  iree_async_semaphore_t* semaphore = nullptr;
  /// NULL when only the value itself will do.
  Promises* promises = nullptr;
  std::atomic<bool> is_open{false};
  /// What opened the gate, unless the semaphore did.
  MetalPtr<MTL::SharedEvent> event;
  uint64_t event_value = 0;
  /// When the semaphore got there; only while profiled.
  iree_time_t reached = 0;

  ~Wait() { iree_async_semaphore_release(semaphore); }
  void* OnPromise(const Promise& promise) override;
  void AfterPromise(void* what) override;
};

template <class Function>
void Submission::ForEachPromise(Function function) const {
  for (size_t i = 0; i < wait_count_; ++i) {
    if (waits_[i].event)
      function(waits_[i].event.get(), waits_[i].event_value);
  }
}

} // namespace bessemer::metal_driver

// Operations of a queue: parked until what they wait for is there, run, and told to who waits.
//
// A wait is a timepoint of a semaphore, so that no thread waits and nothing of a failed wait ever
// reaches the device.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "drivers/metal/objects.h"
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

  /// Runs `submission` once all of `waits` and `pipelines` have reached their values, within this
  /// call if they have. Semaphores and arrays are the caller's again afterwards.
  static iree_status_t Start(std::unique_ptr<Submission> submission,
                             const iree_hal_semaphore_list_t& waits,
                             std::span<iree_async_semaphore_t* const> ready,
                             const iree_hal_semaphore_list_t& signals);

protected:
  Submission(Device* device, Queue* queue);

  /// All waits are reached. Leads to one call of Complete, now or later, from any thread.
  virtual void Run() = 0;
  /// A wait failed: undoes what the operation reserved. Complete follows.
  virtual void Abandon() {}
  /// What profiles say of the operation; asked when it was submitted.
  virtual OperationInfo Info() const = 0;
  /// Gives up resources before the signal tells others that they are free.
  virtual void Retire() {}

  /// Signals, or fails with `status`, which is taken; frees this.
  void Complete(iree_status_t status);
  /// Run has made these commands, whose completion leads to Complete: threads that wait for the
  /// signals may wait for them. Before they are committed.
  void SignalsFollow(MTL::CommandBuffer* commands);
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
  void CancelWaits();
  void Arrive();
  void RunOrAbandon();
  static void Schedule(Submission* submission);
  void SignalsFollowWaits();
  void WithdrawSignals();
  void FreeSignals();

  HalPtr<Device> device_;
  Queue* queue_;
  iree_hal_semaphore_list_t signals_ = {};
  bool announced_ = false; // to the semaphores of `signals_`, what will signal them
  std::unique_ptr<Wait[]> waits_;
  size_t wait_count_ = 0;
  // Waits that are still out, and one for Start.
  std::atomic<size_t> remaining_{0};
  std::atomic<iree_status_t> failure_{nullptr};
  Submission* next_scheduled_ = nullptr;
  SubmissionFrontier frontier_ = {};
  uint64_t epoch_ = 0;
  std::shared_ptr<Profiler> profiler_;
  std::unique_ptr<Profile> profile_;
};

} // namespace bessemer::metal_driver

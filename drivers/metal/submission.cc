#include "drivers/metal/submission.h"

#include "drivers/metal/device.h"
#include "drivers/metal/semaphore.h"
#include "drivers/metal/submission_profile.h"

namespace bessemer::metal_driver {

struct Submission::Wait {
  iree_async_semaphore_timepoint_t timepoint = {};
  Submission* submission = nullptr;
  iree_async_semaphore_t* semaphore = nullptr;

  ~Wait() { iree_async_semaphore_release(semaphore); }
};

Submission::Submission(Device* device, Queue* queue)
    : device_(HalPtr<Device>::Retain(device)), queue_(queue) {}

Submission::~Submission() { FreeSignals(); }

void Submission::SignalsFollow(MTL::CommandBuffer* commands) {
  announced_ = true;
  for (size_t i = 0; i < signals_.count; ++i)
    if (IsMetalSemaphore(signals_.semaphores[i]))
      ExpectSignal(signals_.semaphores[i], signals_.payload_values[i], commands);
}

void Submission::SignalsFollowWaits() {
  for (size_t i = 0; i < wait_count_; ++i) {
    const Wait& wait = waits_[i];
    auto* earlier = iree_hal_semaphore_cast(wait.semaphore);
    if (!IsMetalSemaphore(earlier) ||
        iree_async_semaphore_query(wait.semaphore) >= wait.timepoint.minimum_value)
      continue;
    announced_ = true;
    for (size_t k = 0; k < signals_.count; ++k)
      if (IsMetalSemaphore(signals_.semaphores[k]))
        ExpectSignalAfter(signals_.semaphores[k], signals_.payload_values[k], earlier,
                          wait.timepoint.minimum_value);
    return;
  }
}

void Submission::WithdrawSignals() {
  if (!announced_)
    return;
  announced_ = false;
  for (size_t i = 0; i < signals_.count; ++i)
    if (IsMetalSemaphore(signals_.semaphores[i]))
      WithdrawSignal(signals_.semaphores[i], signals_.payload_values[i]);
}

void Submission::FreeSignals() {
  WithdrawSignals();
  if (signals_.count)
    iree_hal_semaphore_list_free(signals_, iree_allocator_system());
  signals_ = {};
}

void Submission::Drop() {
  FreeSignals();
  Complete(iree_ok_status());
}

iree_async_frontier_t* Submission::history() {
  return iree_async_fixed_frontier_as_frontier(&frontier_);
}

const iree_async_frontier_t* Submission::Stamp() {
  if (epoch_ == 0 && queue_->tracker()) {
    epoch_ = queue_->NextEpoch();
    iree_async_single_frontier_t self;
    iree_async_single_frontier_initialize(&self, queue_->axis(), epoch_);
    // What does not fit is not known to others, which costs them a wait and nothing else.
    iree_async_frontier_merge(history(), IREE_ARRAYSIZE(frontier_.entries),
                              iree_async_single_frontier_as_const_frontier(&self));
  }
  return frontier_.entry_count ? history() : nullptr;
}

iree_status_t Submission::Start(std::unique_ptr<Submission> owner,
                                const iree_hal_semaphore_list_t& waits,
                                std::span<iree_async_semaphore_t* const> ready,
                                const iree_hal_semaphore_list_t& signals) {
  if (signals.count) {
    IREE_RETURN_IF_ERROR(
        iree_hal_semaphore_list_clone(&signals, iree_allocator_system(), &owner->signals_));
  }
  if ((owner->profiler_ = owner->device()->memory->profiling().Current())) {
    owner->profile_ = std::make_unique<Profile>();
    Profiler::Operation& operation = owner->profile_->operation;
    operation.info = owner->Info();
    operation.submission_id = owner->profiler_->NextSubmissionId();
    operation.queue_ordinal = owner->queue_->ordinal;
    operation.wait_count = static_cast<uint32_t>(waits.count);
    operation.signal_count = static_cast<uint32_t>(signals.count);
    operation.submitted = iree_time_now();
  }
  // From here on it owns itself.
  Submission* self = owner.release();
  self->wait_count_ = waits.count + ready.size();
  if (self->wait_count_)
    self->waits_ = std::make_unique<Wait[]>(self->wait_count_);
  self->remaining_ = self->wait_count_ + 1;
  for (size_t i = 0; i < self->wait_count_; ++i) {
    Wait& wait = self->waits_[i];
    wait.submission = self;
    wait.semaphore = i < waits.count
                         ? reinterpret_cast<iree_async_semaphore_t*>(waits.semaphores[i])
                         : ready[i - waits.count];
    iree_async_semaphore_retain(wait.semaphore);
    wait.timepoint.callback = OnTimepoint;
    wait.timepoint.user_data = &wait;
  }
  for (size_t i = 0; i < self->wait_count_; ++i) {
    uint64_t value = i < waits.count ? waits.payload_values[i] : 1;
    // Cannot fail: the storage is ours.
    iree_status_free(iree_async_semaphore_acquire_timepoint(self->waits_[i].semaphore, value,
                                                            &self->waits_[i].timepoint));
  }
  // A failure that came while the others were being acquired could not cancel those.
  if (self->failure_.load())
    self->CancelWaits();
  self->SignalsFollowWaits();
  self->Arrive();
  return iree_ok_status();
}

void Submission::OnTimepoint(void* user_data, iree_async_semaphore_timepoint_t*,
                             iree_status_t status) {
  Submission* self = static_cast<Wait*>(user_data)->submission;
  if (!iree_status_is_ok(status)) {
    iree_status_t none = nullptr;
    if (self->failure_.compare_exchange_strong(none, status)) {
      // Values that are still to come need not be waited for.
      self->CancelWaits();
    } else {
      iree_status_free(status);
    }
  }
  self->Arrive();
}

void Submission::CancelWaits() {
  for (size_t i = 0; i < wait_count_; ++i) {
    // The caller's own count is still out, so that none of these is the last.
    if (iree_async_semaphore_cancel_timepoint(waits_[i].semaphore, &waits_[i].timepoint))
      remaining_.fetch_sub(1);
  }
}

void Submission::Arrive() {
  if (remaining_.fetch_sub(1) == 1)
    Schedule(this);
}

void Submission::Schedule(Submission* submission) {
  // An operation that completes at once makes others ready within its signal. They run in turn
  // here, not one within another: a chain may be longer than a stack is deep.
  thread_local Submission* scheduled_head = nullptr;
  thread_local Submission** scheduled_tail = nullptr;
  submission->next_scheduled_ = nullptr;
  if (scheduled_tail) {
    *scheduled_tail = submission;
    scheduled_tail = &submission->next_scheduled_;
    return;
  }
  scheduled_head = submission;
  scheduled_tail = &submission->next_scheduled_;
  AutoreleaseScope pool;
  while (Submission* next = scheduled_head) {
    scheduled_head = next->next_scheduled_;
    if (!scheduled_head)
      scheduled_tail = &scheduled_head;
    next->RunOrAbandon();
  }
  scheduled_tail = nullptr;
}

void Submission::RunOrAbandon() {
  if (iree_status_t failure = failure_.exchange(nullptr)) {
    Abandon();
    Complete(failure);
    return;
  }
  if (queue_->tracker()) {
    // Collects what is known to have happened before: pools order their reuse of memory by it.
    for (size_t i = 0; i < wait_count_; ++i) {
      SubmissionFrontier frontier;
      auto* known = iree_async_fixed_frontier_as_frontier(&frontier);
      if (iree_async_semaphore_query_frontier(waits_[i].semaphore, known,
                                              IREE_ARRAYSIZE(frontier.entries)))
        iree_async_frontier_merge(history(), IREE_ARRAYSIZE(frontier_.entries), known);
    }
  }
  if (profile_)
    profile_->operation.ready = iree_time_now();
  Run();
}

void Submission::Complete(iree_status_t status) {
  if (profile_) {
    profile_->operation.ended = iree_time_now();
    profile_->operation.status_code = iree_status_code(status);
    profiler_->Record(profile_->operation);
    profiler_.reset();
  }
  Retire();
  WithdrawSignals();
  waits_.reset();
  bool ok = iree_status_is_ok(status);
  const iree_async_frontier_t* frontier = ok ? Stamp() : nullptr;
  if (epoch_)
    queue_->Advance(epoch_);
  // The device may end with this; semaphores do not need it.
  device_ = {};
  if (signals_.count) {
    if (ok)
      status = iree_hal_semaphore_list_signal(signals_, frontier);
    if (!iree_status_is_ok(status))
      iree_hal_semaphore_list_fail(signals_, status);
  } else {
    // No one to tell.
    iree_status_free(status);
  }
  delete this;
}

} // namespace bessemer::metal_driver

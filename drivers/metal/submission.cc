#include "drivers/metal/submission.h"

#include <algorithm>

#include "drivers/metal/device.h"
#include "drivers/metal/semaphore.h"
#include "drivers/metal/submission_profile.h"

namespace bessemer::metal_driver {

Submission::Submission(Device* device, Queue* queue)
    : device_(HalPtr<Device>::Retain(device)), queue_(queue) {}

Submission::~Submission() { FreeSignals(); }

void Submission::ExpectSignalsAfterWaits() {
  for (size_t i = 0; i < wait_count_; ++i) {
    const Wait& wait = waits_[i];
    auto* earlier = iree_hal_semaphore_cast(wait.semaphore);
    if (!IsMetalSemaphore(earlier) ||
        iree_async_semaphore_query(wait.semaphore) >= wait.promised_value)
      continue;
    announced_ = true;
    for (size_t k = 0; k < signals_.count; ++k) {
      if (IsMetalSemaphore(signals_.semaphores[k]))
        ExpectSignalAfter(signals_.semaphores[k], signals_.payload_values[k], earlier,
                          wait.promised_value);
    }
    return;
  }
}

void Submission::WithdrawSignals() {
  if (!std::exchange(announced_, false))
    return;
  for (size_t i = 0; i < signals_.count; ++i) {
    if (IsMetalSemaphore(signals_.semaphores[i]))
      WithdrawSignal(signals_.semaphores[i], signals_.payload_values[i]);
  }
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
  self->gates_ = self->wait_count_ + 1;
  self->outstanding_ = self->wait_count_ + 1;
  MTL::Device* metal = self->WaitsOnDevice() ? self->device()->metal.get() : nullptr;
  for (size_t i = 0; i < self->wait_count_; ++i) {
    Wait& wait = self->waits_[i];
    wait.submission = self;
    bool is_pipeline = i >= waits.count;
    wait.semaphore = is_pipeline ? ready[i - waits.count]
                                 : reinterpret_cast<iree_async_semaphore_t*>(waits.semaphores[i]);
    wait.promised_value = is_pipeline ? 1 : waits.payload_values[i];
    if (metal && !is_pipeline)
      wait.promises = PromisesOf(waits.semaphores[i], metal);
    iree_async_semaphore_retain(wait.semaphore);
    wait.timepoint.callback = OnTimepoint;
    wait.timepoint.user_data = &wait;
  }
  for (size_t i = 0; i < self->wait_count_; ++i) {
    Wait& wait = self->waits_[i];
    // Cannot fail: the storage is ours.
    iree_status_free(iree_async_semaphore_acquire_timepoint(wait.semaphore, wait.promised_value,
                                                            &wait.timepoint));
    if (wait.promises && !wait.is_open) {
      wait.promises->Await(&wait);
      // Who reached the value meanwhile may have found nothing to cancel.
      if (wait.is_open)
        wait.promises->Cancel(&wait);
    }
  }
  // A failure that came while the others were being acquired could not cancel those.
  bool is_last = self->failure_.load() && self->CancelWaits();
  self->ExpectSignalsAfterWaits();
  is_last |= self->gates_.fetch_sub(1) == 1;
  if (is_last)
    Schedule(self);
  return iree_ok_status();
}

void* Submission::Wait::OnPromise(const Promise& promise) {
  if (is_open.exchange(true))
    return nullptr;
  event = promise.event;
  event_value = promise.event_value;
  return submission->gates_.fetch_sub(1) == 1 ? submission : nullptr;
}

void Submission::Wait::AfterPromise(void* what) { Schedule(static_cast<Submission*>(what)); }

bool Submission::OpenGate(Wait& wait) {
  // In this order: Start looks whether it is open after it began to await a promise.
  bool opened = !wait.is_open.exchange(true);
  if (wait.promises)
    wait.promises->Cancel(&wait);
  return opened && gates_.fetch_sub(1) == 1;
}

void Submission::OnTimepoint(void* user_data, iree_async_semaphore_timepoint_t*,
                             iree_status_t status) {
  Wait& wait = *static_cast<Wait*>(user_data);
  Submission* self = wait.submission;
  bool is_last = false;
  if (self->profile_)
    wait.reached = iree_time_now();
  if (!iree_status_is_ok(status)) {
    iree_status_t none = nullptr;
    if (self->failure_.compare_exchange_strong(none, status)) {
      // It may be on the device behind what failed. Who waits for it need not wait for that.
      if (self->WaitsOnDevice() && self->KeepsWhatItUses())
        iree_hal_semaphore_list_fail(self->signals_, iree_status_clone(status));
      // Values that are still to come need not be waited for.
      is_last = self->CancelWaits();
    } else {
      iree_status_free(status);
    }
  }
  is_last |= self->OpenGate(wait);
  // Who opens the last gate still has the operation itself outstanding; others touch nothing after
  // this.
  self->Arrive();
  if (is_last)
    Schedule(self);
}

bool Submission::CancelWaits() {
  bool is_last = false;
  for (size_t i = 0; i < wait_count_; ++i) {
    if (iree_async_semaphore_cancel_timepoint(waits_[i].semaphore, &waits_[i].timepoint)) {
      is_last |= OpenGate(waits_[i]);
      // The caller has an arrival of its own to come, so that this is not the last.
      outstanding_.fetch_sub(1);
    }
  }
  return is_last;
}

void Submission::Arrive() {
  if (outstanding_.fetch_sub(1) == 1)
    Finish();
}

bool Submission::relies_on_promises() const {
  for (size_t i = 0; i < wait_count_; ++i) {
    if (waits_[i].event)
      return true;
  }
  return false;
}

void Submission::PromiseSignals(const Promise& promise) {
  for (iree_host_size_t i = 0; i < signals_.count; ++i) {
    if (Promises* promises = PromisesOf(signals_.semaphores[i], device()->metal.get())) {
      Promise of_semaphore = promise;
      of_semaphore.value = signals_.payload_values[i];
      promises->Add(of_semaphore);
    }
  }
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
  if (failure_.load()) {
    Abandon();
    Complete(iree_ok_status());
    return;
  }
  CollectHistory();
  if (profile_) {
    profile_->operation.ready = iree_time_now();
    profile_->operation.waits_on_device = relies_on_promises();
  }
  Run();
}

void Submission::CollectHistory() {
  if (!queue_->tracker())
    return;
  // What is known to have happened before: pools order their reuse of memory by it.
  for (size_t i = 0; i < wait_count_; ++i) {
    SubmissionFrontier frontier;
    auto* known = iree_async_fixed_frontier_as_frontier(&frontier);
    if (iree_async_semaphore_query_frontier(waits_[i].semaphore, known,
                                            IREE_ARRAYSIZE(frontier.entries)))
      iree_async_frontier_merge(history(), IREE_ARRAYSIZE(frontier_.entries), known);
  }
}

void Submission::Complete(iree_status_t status) {
  own_status_ = status;
  Arrive();
}

void Submission::Finish() {
  iree_status_t status = own_status_;
  if (iree_status_t failure = failure_.load()) {
    // What it waited for in vain is the cause of all else.
    iree_status_free(status);
    status = failure;
  } else if (WaitsOnDevice()) {
    CollectHistory();
  }
  if (profile_) {
    // What went to the device early began when all it waited for had ended.
    for (size_t i = 0; i < wait_count_; ++i)
      profile_->operation.ready = std::max(profile_->operation.ready, waits_[i].reached);
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

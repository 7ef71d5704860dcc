#include "drivers/metal/dispatch_profile.h"

namespace bessemer::metal_driver {

DispatchProfile::DispatchProfile(std::shared_ptr<Profiler> profiler,
                                 const Profiler::Operation& operation, const CommandList& list)
    : profiler_(std::move(profiler)), operation_(operation),
      samples_(profiler_->device(), profiler_->counter_sets(), list.dispatch_count()) {
  timed_.reserve(list.dispatch_count());
}

MetalPtr<MTL::ComputePassDescriptor> DispatchProfile::NewPass(const DispatchCommand& dispatch) {
  if (!profiler_->Matches(dispatch, operation_.info.command_buffer_id, operation_.queue_ordinal))
    return {};
  MetalPtr<MTL::ComputePassDescriptor> pass = samples_.NewPass();
  timed_.push_back({&dispatch, pass ? std::optional(pass_count_++) : std::nullopt});
  return pass;
}

void DispatchProfile::Record(MTL::CommandBuffer* completed) {
  samples_.Resolve();
  Profiler::Clock clock = profiler_->SampleClock();
  // Without samples the whole command buffer's time is the best that is known.
  uint64_t whole_start = Profiler::ToTick(completed->GPUStartTime());
  uint64_t whole_end = Profiler::ToTick(completed->GPUEndTime());
  std::span<const CounterSets::Set> sets = profiler_->counter_sets();
  const Timed* first = nullptr;
  const Timed* last = nullptr;
  for (const Timed& timed : timed_) {
    const uint64_t* start = timed.pass ? samples_.start(*timed.pass, 0) : nullptr;
    const uint64_t* end = timed.pass ? samples_.end(*timed.pass, 0) : nullptr;
    Profiler::Dispatch record = {&operation_, timed.dispatch, whole_start, whole_end};
    if (start && end) {
      record.start_tick = clock.ToTick(*start);
      record.end_tick = clock.ToTick(*end);
      first = first ? first : &timed;
      last = &timed;
    }
    uint64_t event_id = profiler_->RecordDispatch(record);
    for (size_t i = 0; timed.pass && i < sets.size(); ++i) {
      profiler_->RecordCounters(sets[i], record, event_id, samples_.start(*timed.pass, i),
                                samples_.end(*timed.pass, i));
    }
  }
  if (!first)
    return;
  // From the first dispatch to the last, with what ran between them.
  Profiler::Dispatch range = {&operation_, nullptr, clock.ToTick(*samples_.start(*first->pass, 0)),
                              clock.ToTick(*samples_.end(*last->pass, 0))};
  for (size_t i = 0; i < sets.size(); ++i) {
    profiler_->RecordCounters(sets[i], range, 0, samples_.start(*first->pass, i),
                              samples_.end(*last->pass, i));
  }
}

} // namespace bessemer::metal_driver

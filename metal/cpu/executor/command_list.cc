#include "metal/cpu/executor/command_list.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "metal/cpu/executor/executor.h"
#include "metal/cpu/executor/list_execution.h"
#include "metal/cpu/executor/pipeline.h"

namespace bessemer::metal::cpu {

static constexpr uint64_t kMostThreadsPerThreadgroup = 1024;

CommandList::CommandList(Executor& executor)
    : executor_(executor), execution_(std::make_unique<ListExecution>(executor, *this)) {}
CommandList::~CommandList() = default;

std::shared_ptr<CommandList> CommandList::create(Executor& executor) {
  return std::shared_ptr<CommandList>(new CommandList(executor));
}

// ---- Recording ----

// An error that shows when the list runs, as recording has no way to report one.
static void record_invalid(ListExecution& execution, const std::string& message) {
  char* text = static_cast<char*>(execution.arena.allocate(message.size() + 1, 1));
  std::memcpy(text, message.c_str(), message.size() + 1);
  execution.append<InvalidStep>(StepKind::Invalid)->message = text;
}

static std::string check(const Dispatch& dispatch) {
  const Size3 group = dispatch.threads_per_threadgroup;
  if (!dispatch.pipeline)
    return "a dispatch without a pipeline";
  const std::string& name = dispatch.pipeline->name();
  if (group.x == 0 || group.y == 0 || group.z == 0)
    return "kernel '" + name + "': a threadgroup without threads";
  // Each first: the product of three large numbers could wrap.
  if (std::max({group.x, group.y, group.z}) > kMostThreadsPerThreadgroup ||
      group.volume() > kMostThreadsPerThreadgroup)
    return "kernel '" + name + "': a threadgroup of " + std::to_string(group.x) + "x" +
           std::to_string(group.y) + "x" + std::to_string(group.z) + " threads; at most 1024";
  if (dispatch.buffers.size() > BESSEMER_MAX_BUFFERS ||
      dispatch.threadgroup_lengths.size() > BESSEMER_MAX_BUFFERS)
    return "kernel '" + name + "': more than 31 bindings";
  return {};
}

static uint32_t lowest_bits(size_t count) {
  return count >= 32 ? ~uint32_t{0} : (uint32_t{1} << count) - 1;
}

static DispatchStep* record_dispatch(ListExecution& execution, const Dispatch& dispatch) {
  DispatchStep* step = execution.append<DispatchStep>(StepKind::Dispatch);
  step->pipeline = dispatch.pipeline.get();
  step->group = dispatch.threads_per_threadgroup;
  step->number = execution.dispatch_count++;
  step->starts_anew = execution.changed == ~uint32_t{0};
  step->changed = std::exchange(execution.changed, 0) & lowest_bits(dispatch.buffers.size());
  void** addresses = static_cast<void**>(execution.arena.allocate(
      static_cast<size_t>(std::popcount(step->changed)) * sizeof(void*), alignof(void*)));
  step->addresses = addresses;
  for (uint32_t left = step->changed; left != 0; left &= left - 1)
    *addresses++ = dispatch.buffers[static_cast<size_t>(std::countr_zero(left))].address;
  step->threadgroup_count = static_cast<uint32_t>(dispatch.threadgroup_lengths.size());
  if (step->threadgroup_count != 0) {
    auto* offsets = static_cast<uint32_t*>(
        execution.arena.allocate(step->threadgroup_count * sizeof(uint32_t), alignof(uint32_t)));
    step->threadgroup_offsets = offsets;
    for (uint32_t length : dispatch.threadgroup_lengths) {
      *offsets++ = step->dynamic_bytes;
      step->dynamic_bytes += (length + 63) / 64 * 64;
    }
  }
  return step;
}

void CommandList::dispatch(const Dispatch& dispatch) {
  // Not recorded at once where there is nothing to run.
  execution_->changed |= dispatch.changed;
  if (const std::string problem = check(dispatch); !problem.empty())
    return record_invalid(*execution_, problem);
  const Size3 grid = dispatch.threads_per_grid;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return;
  retain(dispatch.pipeline);
  DispatchStep* step = record_dispatch(*execution_, dispatch);
  step->grid = grid;
  const bool distinct = dispatch.pipeline->buffers_are_distinct(dispatch.buffers);
  const Size3 group = step->group;
  if (grid.x >= group.x && grid.y >= group.y && grid.z >= group.z)
    step->whole = dispatch.pipeline->prepare(group, distinct);
  if (grid.x % group.x || grid.y % group.y || grid.z % group.z)
    step->edge = dispatch.pipeline->prepare({}, distinct);
}

void CommandList::dispatch_indirect(const Dispatch& dispatch, const uint32_t* threadgroups) {
  execution_->changed |= dispatch.changed;
  if (const std::string problem = check(dispatch); !problem.empty())
    return record_invalid(*execution_, problem);
  retain(dispatch.pipeline);
  DispatchStep* step = record_dispatch(*execution_, dispatch);
  step->indirect = threadgroups;
  step->whole = dispatch.pipeline->prepare(
      step->group, dispatch.pipeline->buffers_are_distinct(dispatch.buffers));
}

void CommandList::fill(void* target, uint64_t length, uint8_t value) {
  fill(target, length, std::span<const uint8_t>(&value, 1));
}

void CommandList::fill(void* target, uint64_t length, std::span<const uint8_t> pattern) {
  const size_t size = pattern.size();
  if (size == 0 || size > sizeof FillStep::pattern || (size & (size - 1)) != 0)
    return record_invalid(*execution_, "a fill with a pattern of " + std::to_string(size) +
                                           " bytes; 1, 2, 4, 8 or 16 are possible");
  if (length == 0)
    return;
  FillStep* step = execution_->append<FillStep>(StepKind::Fill);
  step->target = static_cast<uint8_t*>(target);
  step->length = length;
  std::memcpy(step->pattern, pattern.data(), size);
  // Zeros above all come as longer patterns; a fill of bytes is the fastest.
  const bool uniform =
      std::all_of(pattern.begin(), pattern.end(), [&](uint8_t byte) { return byte == pattern[0]; });
  step->pattern_size = uniform ? 1 : static_cast<uint32_t>(size);
}

void CommandList::copy(void* target, const void* source, uint64_t length) {
  if (length == 0)
    return;
  CopyStep* step = execution_->append<CopyStep>(StepKind::Copy);
  step->target = static_cast<uint8_t*>(target);
  step->source = static_cast<const uint8_t*>(source);
  step->length = length;
}

void CommandList::barrier() {
  // Two in a row, or one before anything, separate nothing.
  if (execution_->last_step && execution_->last_step->kind != StepKind::Barrier)
    execution_->append<Step>(StepKind::Barrier);
}

void CommandList::wait(std::shared_ptr<Timeline> timeline, uint64_t value) {
  TimelineStep* step = execution_->append<TimelineStep>(StepKind::Wait);
  step->timeline = timeline.get();
  step->value = value;
  retain(std::move(timeline));
}

void CommandList::signal(std::shared_ptr<Timeline> timeline, uint64_t value) {
  TimelineStep* step = execution_->append<TimelineStep>(StepKind::Signal);
  execution_->last_signal = step;
  step->timeline = timeline.get();
  step->value = value;
  retain(std::move(timeline));
}

void CommandList::host_function(void (*function)(void*), void* context) {
  HostStep* step = execution_->append<HostStep>(StepKind::Host);
  step->function = function;
  step->context = context;
}

void CommandList::expand(void (*record)(CommandList&, void*), void* context) {
  ExpandStep* step = execution_->append<ExpandStep>(StepKind::Expand);
  execution_->changed = ~uint32_t{0}; // what it records comes between
  step->record = record;
  step->context = context;
}

void* CommandList::allocate(size_t size, size_t alignment) {
  return execution_->arena.allocate(size, alignment);
}

void CommandList::retain(std::shared_ptr<const void> object) {
  // The same few pipelines come again and again.
  std::vector<std::shared_ptr<const void>>& retained = execution_->retained;
  const size_t recent = std::min<size_t>(retained.size(), 4);
  for (size_t i = 0; i < recent; ++i)
    if (retained[retained.size() - 1 - i] == object)
      return;
  retained.push_back(std::move(object));
}

void CommandList::on_scheduled(std::function<void()> handler) {
  execution_->scheduled_handlers.push_back(std::move(handler));
}

void CommandList::on_completed(std::function<void(const ListResult&)> handler) {
  execution_->completed_handlers.push_back(std::move(handler));
}

// ---- After commit ----

void CommandList::wait_scheduled() { execution_->wait_for(ListExecution::Scheduled); }
void CommandList::wait_completed() { execution_->wait_for(ListExecution::HandlersReturned); }

void CommandList::wait_executed() { execution_->wait_for(ListExecution::Executed); }

void CommandList::reset() {
  const ListState state = this->state();
  if (state == ListState::Enqueued || state == ListState::Committed ||
      state == ListState::Scheduled)
    return;
  if (state != ListState::Recording)
    execution_->wait_for(ListExecution::HandlersReturned);
  execution_->reset();
  result_ = {};
  state_.store(ListState::Recording, std::memory_order_release);
}

} // namespace bessemer::metal::cpu

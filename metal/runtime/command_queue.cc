#include "metal/runtime/command_queue.h"

#include <algorithm>

#include "metal/runtime/command_buffer.h"
#include "metal/runtime/command_buffer_descriptor.h"
#include "metal/runtime/device.h"
#include "metal/runtime/notification.h"
#include "metal/runtime/residency_set.h"

namespace mtl {

using bessemer::metal::cpu::CommandList;
using bessemer::metal::cpu::ListState;
using bessemer::metal::cpu::Queue;

namespace {

// Lists kept for reuse: as many as a client that records ahead has in its hands.
constexpr size_t kMostIdleLists = 16;

bool is_done(const std::weak_ptr<CommandList>& reference) {
  std::shared_ptr<CommandList> list = reference.lock();
  if (!list)
    return true;
  ListState state = list->state();
  return state == ListState::Completed || state == ListState::Failed;
}

bool is_same(const std::weak_ptr<CommandList>& a, const std::shared_ptr<CommandList>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

} // namespace

CommandQueue::CommandQueue(Device* device, UInteger max_command_buffer_count,
                           objc::Ref<LogState> log_state)
    : DeviceObject(device), queue_(Queue::create(device->executor())),
      max_command_buffer_count_(std::max<UInteger>(max_command_buffer_count, 1)),
      log_state_(std::move(log_state)) {}

CommandQueue::~CommandQueue() = default;

CommandBuffer* CommandQueue::command_buffer() {
  wait_for_room();
  return objc::make<CommandBuffer>(this, true, 0, log_state_.get()).autorelease();
}

CommandBuffer* CommandQueue::command_buffer_unretained() {
  wait_for_room();
  return objc::make<CommandBuffer>(this, false, 0, log_state_.get()).autorelease();
}

CommandBuffer* CommandQueue::command_buffer_with_descriptor(CommandBufferDescriptor* descriptor) {
  if (!descriptor)
    return command_buffer();
  wait_for_room();
  LogState* log_state = descriptor->log_state ? descriptor->log_state.get() : log_state_.get();
  return objc::make<CommandBuffer>(this, descriptor->retained_references, descriptor->error_options,
                                   log_state)
      .autorelease();
}

// Under mutex_. Should the last reference go here, what the list kept is destroyed elsewhere.
void CommandQueue::forget_completed() {
  while (!in_flight_.empty() && is_done(in_flight_.front()))
    in_flight_.pop_front();
}

void CommandQueue::wait_for_room() {
  std::unique_lock lock(mutex_);
  forget_completed();
  while (in_flight_.size() >= max_command_buffer_count_ && !in_clients_handler()) {
    std::shared_ptr<CommandList> oldest = in_flight_.front().lock();
    lock.unlock();
    if (oldest)
      oldest->wait_completed();
    oldest.reset();
    lock.lock();
    forget_completed();
  }
}

void CommandQueue::committed(const std::shared_ptr<CommandList>& list) {
  std::lock_guard lock(mutex_);
  forget_completed();
  in_flight_.push_back(list);
}

std::shared_ptr<CommandList> CommandQueue::take_list() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::shared_ptr<CommandList> list = std::move(idle_.back());
      idle_.pop_back();
      return list;
    }
  }
  return CommandList::create(device()->executor());
}

void CommandQueue::give_list(std::shared_ptr<CommandList> list) {
  {
    std::lock_guard lock(mutex_);
    std::erase_if(in_flight_, [&](const auto& other) { return is_same(other, list); });
    // Whoever still waits for this run must not see the list start anew; nobody can begin to, as
    // in_flight_ is where they would find it.
    if (list.use_count() > 1 || idle_.size() >= kMostIdleLists)
      return;
  }
  list->reset();
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(list));
}

void CommandQueue::add_residency_set(ResidencySet* set) {
  std::lock_guard lock(mutex_);
  if (set && std::ranges::find(residency_sets_, set, &objc::Ref<ResidencySet>::get) ==
                 residency_sets_.end())
    residency_sets_.emplace_back(set);
}

void CommandQueue::remove_residency_set(ResidencySet* set) {
  std::lock_guard lock(mutex_);
  std::erase_if(residency_sets_, [set](const auto& held) { return held.get() == set; });
}

namespace {

void add_residency_sets(CommandQueue* queue, ResidencySet* const* sets, UInteger count) {
  for (UInteger i = 0; i < count; ++i)
    queue->add_residency_set(sets[i]);
}
void remove_residency_sets(CommandQueue* queue, ResidencySet* const* sets, UInteger count) {
  for (UInteger i = 0; i < count; ++i)
    queue->remove_residency_set(sets[i]);
}
void insert_debug_capture_boundary(CommandQueue*) {}

} // namespace

OBJC_DEFINE_CLASS(
    CommandQueue, "BSMCommandQueue", DeviceObject,
    .methods =
        {
            objc::method<&CommandQueue::command_buffer>("commandBuffer"),
            objc::method<&CommandQueue::command_buffer_unretained>(
                "commandBufferWithUnretainedReferences"),
            objc::method<&CommandQueue::command_buffer_with_descriptor>(
                "commandBufferWithDescriptor:"),
            objc::method<&CommandQueue::add_residency_set>("addResidencySet:"),
            objc::method<&add_residency_sets>("addResidencySets:count:"),
            objc::method<&CommandQueue::remove_residency_set>("removeResidencySet:"),
            objc::method<&remove_residency_sets>("removeResidencySets:count:"),
            objc::method<&insert_debug_capture_boundary>("insertDebugCaptureBoundary"),
        },
    .protocols = {"MTLCommandQueue"});

} // namespace mtl

// MTLSharedEvent: an event that the host reads, raises and waits for as well.
#pragma once

#include "metal/objc/block.h"
#include "metal/runtime/event.h"

namespace mtl {

class SharedEventHandle;
class SharedEventListener;

class SharedEvent : public Event {
public:
  OBJC_CLASS(SharedEvent, "BSMSharedEvent");
  using Event::Event;

  uint64_t signaled_value() const { return timeline()->value(); }
  /// Raises the value; a lower one changes nothing, as the value only grows.
  void set_signaled_value(uint64_t value) { timeline()->signal(value); }
  /// False when the time passed first. All ones: for ever. The thread may run kernels meanwhile.
  bool wait_until_signaled(uint64_t value, uint64_t milliseconds);

  using NotificationBlock = objc::Block<void(SharedEvent* event, uint64_t value)>;
  /// Calls the block once on the listener's queue when the value is reached, at once if it is. The
  /// event need not live until then.
  void notify_listener(SharedEventListener* listener, uint64_t value, NotificationBlock* block);

  /// For another object with the same value. The caller owns the result.
  SharedEventHandle* new_handle();
};

} // namespace mtl

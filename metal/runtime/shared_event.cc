#include "metal/runtime/shared_event.h"

#include <chrono>

#include "metal/runtime/device.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/shared_event_handle.h"
#include "metal/runtime/shared_event_listener.h"

extern "C" {
objc::Object* objc_initWeak(objc::Object** where, objc::Object* object);
objc::Object* objc_loadWeakRetained(objc::Object** where);
void objc_destroyWeak(objc::Object** where);
}

namespace mtl {

using bessemer::metal::cpu::Timeline;

namespace {

// Weak, since the event's own timeline holds the listener: a notification that never comes must not
// keep its event alive.
class WeakEvent {
public:
  explicit WeakEvent(SharedEvent* event) { objc_initWeak(&object_, event); }
  ~WeakEvent() { objc_destroyWeak(&object_); }
  WeakEvent(const WeakEvent&) = delete;
  WeakEvent& operator=(const WeakEvent&) = delete;

  objc::Ref<SharedEvent> load() {
    return objc::Ref<SharedEvent>::adopt(
        static_cast<SharedEvent*>(objc_loadWeakRetained(&object_)));
  }

private:
  objc::Object* object_ = nullptr;
};

} // namespace

bool SharedEvent::wait_until_signaled(uint64_t value, uint64_t milliseconds) {
  // More than a century may as well be for ever; it also keeps nanoseconds within 64 bits.
  constexpr uint64_t kForever = uint64_t{1} << 42;
  if (milliseconds >= kForever) {
    timeline()->wait(value);
    return true;
  }
  return timeline()->wait_for(value, std::chrono::milliseconds(milliseconds));
}

void SharedEvent::notify_listener(SharedEventListener* listener, uint64_t value,
                                  NotificationBlock* block) {
  if (!listener || !block) {
    report_misuse("MTLSharedEvent notifyListener:atValue:block:", "%s is null",
                  listener ? "block" : "listener");
    return;
  }
  auto event = std::make_shared<WeakEvent>(this);
  timeline()->notify(
      value, [device = device(), event = std::move(event),
              listener = objc::Ref<SharedEventListener>(listener),
              block = objc::BlockRef<void(SharedEvent*, uint64_t)>(block)](uint64_t reached) {
        objc::Ref<SharedEvent> object = event->load();
        // The client may have let the event go; the block still gets one with the value.
        if (!object)
          object = objc::make<SharedEvent>(device, Timeline::create(device->executor(), reached));
        listener->post([object, block, reached] { block(object.get(), reached); });
      });
}

SharedEventHandle* SharedEvent::new_handle() {
  return objc::make<SharedEventHandle>(timeline(), label()).take();
}

OBJC_DEFINE_CLASS(
    SharedEvent, "BSMSharedEvent", Event,
    .methods =
        {
            objc::method<&SharedEvent::signaled_value>("signaledValue"),
            objc::method<&SharedEvent::set_signaled_value>("setSignaledValue:"),
            objc::method<&SharedEvent::wait_until_signaled>("waitUntilSignaledValue:timeoutMS:"),
            objc::method<&SharedEvent::notify_listener>("notifyListener:atValue:block:"),
            objc::method<&SharedEvent::new_handle>("newSharedEventHandle"),
        },
    .protocols = {"MTLSharedEvent"});

} // namespace mtl

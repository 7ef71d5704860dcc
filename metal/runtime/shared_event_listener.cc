#include "metal/runtime/shared_event_listener.h"

#include <memory>

extern "C" {
objc::Object* dispatch_queue_create(const char* label, objc::Object* attributes);
void dispatch_retain(objc::Object* object);
void dispatch_release(objc::Object* object);
void dispatch_async_f(objc::Object* queue, void* context, void (*work)(void*));
}

namespace mtl {

SharedEventListener::SharedEventListener()
    : queue_(dispatch_queue_create("Metal shared event listener", nullptr)) {}

SharedEventListener::~SharedEventListener() {
  if (queue_)
    dispatch_release(queue_);
}

SharedEventListener* SharedEventListener::init_with_queue(objc::Object* queue) {
  if (queue) {
    dispatch_retain(queue);
    dispatch_release(queue_);
    queue_ = queue;
  }
  return this;
}

void SharedEventListener::post(std::function<void()> work) {
  auto context = std::make_unique<std::function<void()>>(std::move(work));
  dispatch_async_f(queue_, context.release(), [](void* pointer) {
    std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(pointer));
    objc::AutoreleaseScope scope;
    (*owned)();
  });
}

namespace {

SharedEventListener* shared_listener(objc::Class*) {
  static SharedEventListener* const shared = objc::make<SharedEventListener>().take();
  return shared;
}

} // namespace

OBJC_DEFINE_CLASS(
    SharedEventListener, "MTLSharedEventListener", objc::Object,
    .methods =
        {
            objc::method<&SharedEventListener::init_with_queue>("initWithDispatchQueue:"),
            objc::method<&SharedEventListener::dispatch_queue>("dispatchQueue"),
        },
    .class_methods = {objc::method<&shared_listener>("sharedListener")});

} // namespace mtl

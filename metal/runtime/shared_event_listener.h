// MTLSharedEventListener: the dispatch queue on which notifications of shared events arrive.
#pragma once

#include <functional>

#include "metal/objc/class.h"

namespace mtl {

class SharedEventListener : public objc::Object {
public:
  OBJC_CLASS(SharedEventListener, "MTLSharedEventListener");

  /// With a serial queue of its own.
  SharedEventListener();
  ~SharedEventListener();

  SharedEventListener* init_with_queue(objc::Object* queue);
  objc::Object* dispatch_queue() const { return queue_; }

  /// Runs `work` on the queue.
  void post(std::function<void()> work);

private:
  objc::Object* queue_; // a dispatch_queue_t, retained
};

} // namespace mtl

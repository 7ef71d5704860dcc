// Where clients' code may run: on threads of theirs and on the notification thread, never on a
// worker.
#pragma once

#include <functional>

namespace mtl {

/// Calls `work` here, or on the notification thread when this thread is a worker of the device.
void call_clients_code(std::function<void()> work);

/// While a client's handler runs on the notification thread: this thread must not wait for another
/// handler.
class HandlerScope {
public:
  HandlerScope();
  ~HandlerScope();
  HandlerScope(const HandlerScope&) = delete;
  HandlerScope& operator=(const HandlerScope&) = delete;
};

/// Whether this thread is within a HandlerScope.
bool in_clients_handler();

} // namespace mtl

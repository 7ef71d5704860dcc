#include "metal/runtime/notification.h"

#include "metal/cpu/executor/executor.h"

namespace mtl {

namespace {

thread_local int handler_depth = 0;

} // namespace

void call_clients_code(std::function<void()> work) {
  auto& executor = bessemer::metal::cpu::Executor::shared();
  if (executor.on_worker())
    executor.notify(std::move(work));
  else
    work();
}

HandlerScope::HandlerScope() { ++handler_depth; }
HandlerScope::~HandlerScope() { --handler_depth; }
bool in_clients_handler() { return handler_depth != 0; }

} // namespace mtl

#include "iree/base/wait_source.h"

#include "hal/base/timer_queue.h"

namespace {

// A callback that a timer will make.
struct Delay {
  iree_wait_source_resolve_callback_t callback;
  void* user_data;
  iree_status_code_t result;
};

} // namespace

iree_status_t iree_wait_source_delay_resolve(iree_wait_source_t wait_source, iree_timeout_t timeout,
                                             iree_wait_source_resolve_callback_t callback,
                                             void* user_data) {
  auto ready = static_cast<iree_time_t>(wait_source.data);
  iree_time_t deadline = iree_timeout_as_deadline_ns(timeout);
  bool times_out = deadline < ready && iree_absolute_deadline_to_timeout_ns(ready) != 0;
  iree_time_t end = times_out ? deadline : ready;
  iree_status_code_t result = times_out ? IREE_STATUS_DEADLINE_EXCEEDED : IREE_STATUS_OK;
  if (callback) {
    bessemer::hal::ScheduleTimer(
        end,
        +[](void* user_data) {
          auto* delay = static_cast<Delay*>(user_data);
          delay->callback(delay->user_data, iree_status_from_code(delay->result));
          delete delay;
        },
        new Delay{callback, user_data, result});
    return iree_ok_status();
  }
  if (!iree_wait_until(end)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a wait without an end");
  }
  return iree_status_from_code(result);
}

iree_status_t iree_wait_source_query(iree_wait_source_t wait_source,
                                     iree_status_code_t* out_wait_status_code) {
  iree_status_code_t code =
      iree_status_consume_code(iree_wait_source_wait_one(wait_source, iree_immediate_timeout()));
  *out_wait_status_code = code == IREE_STATUS_DEADLINE_EXCEEDED ? IREE_STATUS_DEFERRED : code;
  return iree_ok_status();
}

iree_status_t iree_wait_source_wait_one(iree_wait_source_t wait_source, iree_timeout_t timeout) {
  if (iree_wait_source_is_immediate(wait_source))
    return iree_ok_status();
  return wait_source.resolve(wait_source, timeout, nullptr, nullptr);
}

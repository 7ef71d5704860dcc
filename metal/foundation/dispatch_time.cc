#include "metal/foundation/dispatch_time.h"

#include <atomic>
#include <ctime>

#include "metal/objc/block.h"

namespace ns {
namespace {

using namespace std::chrono;

uint64_t add(uint64_t time, int64_t nanoseconds) {
  constexpr uint64_t kMost = INT64_MAX;
  if (nanoseconds < 0)
    return time > static_cast<uint64_t>(-nanoseconds) ? time + static_cast<uint64_t>(nanoseconds)
                                                      : 1;
  uint64_t sum = time + static_cast<uint64_t>(nanoseconds);
  return sum > kMost ? kDispatchForever : sum;
}

bool is_wall(uint64_t time) { return time >> 63; }

} // namespace

steady_clock::time_point time_point_of(uint64_t time) {
  if (time == kDispatchNow)
    return steady_clock::now();
  if (time == kDispatchForever)
    return steady_clock::now() + hours(24 * 36525);
  if (is_wall(time)) {
    auto wall = system_clock::time_point(
        duration_cast<system_clock::duration>(nanoseconds(-static_cast<int64_t>(time))));
    return steady_clock::now() + (wall - system_clock::now());
  }
  return steady_clock::time_point(nanoseconds(static_cast<int64_t>(time)));
}

extern "C" {

uint64_t dispatch_time(uint64_t when, int64_t delta) {
  if (when == kDispatchForever)
    return when;
  if (is_wall(when)) {
    uint64_t sum = add(static_cast<uint64_t>(-static_cast<int64_t>(when)), delta);
    return sum == kDispatchForever ? sum : static_cast<uint64_t>(-static_cast<int64_t>(sum));
  }
  if (when == kDispatchNow)
    when = static_cast<uint64_t>(
        duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
  return add(when, delta);
}

uint64_t dispatch_walltime(const timespec* when, int64_t delta) {
  uint64_t since_1970 =
      when ? static_cast<uint64_t>(when->tv_sec) * 1'000'000'000 +
                 static_cast<uint64_t>(when->tv_nsec)
           : static_cast<uint64_t>(
                 duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
  uint64_t sum = add(since_1970, delta);
  return sum == kDispatchForever ? sum : static_cast<uint64_t>(-static_cast<int64_t>(sum));
}

void dispatch_once_f(long* predicate, void* context, void (*function)(void*)) {
  constexpr long kRunning = 1, kDone = ~0l;
  std::atomic_ref<long> state(*predicate);
  long before = 0;
  if (state.load(std::memory_order_acquire) == kDone)
    return;
  if (state.compare_exchange_strong(before, kRunning, std::memory_order_acquire)) {
    function(context);
    state.store(kDone, std::memory_order_release);
    state.notify_all();
    return;
  }
  while ((before = state.load(std::memory_order_acquire)) != kDone)
    state.wait(before, std::memory_order_acquire);
}

void dispatch_once(long* predicate, objc::Block<void()>* block) {
  dispatch_once_f(predicate, block, [](void* b) { (*static_cast<objc::Block<void()>*>(b))(); });
}
}

} // namespace ns

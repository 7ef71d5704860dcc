#include "metal/cpu/executor/executor.h"

#include <cstdlib>

#include "metal/cpu/executor/notifier.h"
#include "metal/cpu/executor/processor_count.h"
#include "metal/cpu/executor/watchdog.h"
#include "metal/cpu/executor/worker_pool.h"

namespace bessemer::metal::cpu {

static constexpr int64_t kDefaultWatchdogMilliseconds = 60'000;
static constexpr unsigned kMostThreads = 1024;

// The number in an environment variable; `otherwise` when it is not set or not a number.
static int64_t environment_number(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  if (!text || !*text)
    return otherwise;
  char* end;
  const long long number = std::strtoll(text, &end, 10);
  return *end || number < 0 ? otherwise : number;
}

Executor& Executor::shared() {
  // Never destroyed: its threads may run until the process ends.
  static Executor* executor = new Executor(Options{});
  return *executor;
}

Executor::Executor(Options options) : notifier_(std::make_unique<Notifier>()) {
  int64_t threads = options.threads;
  if (threads == 0)
    threads = environment_number("BESSEMER_THREADS", 0);
  if (threads == 0)
    threads = available_processors();
  workers_ =
      std::make_unique<WorkerPool>(static_cast<unsigned>(std::min<int64_t>(threads, kMostThreads)));
  int64_t limit = options.watchdog_milliseconds;
  if (limit < 0)
    limit = environment_number("BESSEMER_WATCHDOG_MS", kDefaultWatchdogMilliseconds);
  if (limit > 0)
    watchdog_ = std::make_unique<Watchdog>(limit * 1'000'000);
}

Executor::~Executor() = default;

unsigned Executor::worker_count() const { return workers_->size(); }

bool Executor::on_worker() const { return workers_->is_current(); }

void Executor::notify(std::function<void()> work) { notifier_->post(std::move(work)); }

} // namespace bessemer::metal::cpu

#include "tools/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace bessemer::tools {

namespace {

bool isTerminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb";
}

// Back to the line's start, the rest of it cleared.
constexpr const char* kClear = "\r\x1b[K";
constexpr std::chrono::milliseconds kPatience{500}, kStep{100};

} // namespace

Progress::Progress(std::string text) {
  if (isTerminal())
    thread_ = std::thread([this, text = std::move(text)] { show(text); });
}

Progress::~Progress() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Progress::print(std::string_view text) {
  std::lock_guard lock(mutex_);
  if (shown_)
    std::fputs(kClear, stderr);
  shown_ = false;
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Progress::show(const std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, kPatience, [this] { return done_; }))
    return;
  do {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    shown_ = true;
    std::fprintf(stderr, "\r%s %.1f s ", text.c_str(), seconds);
  } while (!ended_.wait_for(lock, kStep, [this] { return done_; }));
  if (shown_)
    std::fputs(kClear, stderr);
}

} // namespace bessemer::tools

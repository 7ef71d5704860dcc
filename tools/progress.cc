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

void Progress::show(const std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, kPatience, [this] { return done_; }))
    return;
  do {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::fprintf(stderr, "\r%s %.1f s ", text.c_str(), seconds);
  } while (!ended_.wait_for(lock, kStep, [this] { return done_; }));
  std::fputs("\r\x1b[K", stderr); // back to the start, the rest of the line cleared
}

} // namespace bessemer::tools

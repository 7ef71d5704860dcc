// The threads that compile, so that no worker does.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bessemer::metal::cpu {

class CompileThreads {
public:
  explicit CompileThreads(unsigned most);
  // Forgets what has not begun, waits for what has.
  ~CompileThreads();

  void run(std::function<void()> work);
  // The same as destruction; later work is forgotten.
  void stop();

private:
  void loop();

  unsigned most_;
  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::deque<std::function<void()>> pending_;
  unsigned idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_; // started as they are needed
};

} // namespace bessemer::metal::cpu

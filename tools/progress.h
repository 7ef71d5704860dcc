// A line on stderr that tells what takes long; nothing when stderr is no terminal.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace bessemer::tools {

// Shows "TEXT 3 s" from half a second on, until it ends; then the line is cleared.
class Progress {
public:
  explicit Progress(std::string text);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Writes `text` to stderr without mixing it up with the line.
  void print(std::string_view text);

private:
  void show(const std::string& text);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  bool shown_ = false; // the line is there now
  std::thread thread_;
};

} // namespace bessemer::tools

#include "tools/traces.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include <nlohmann/json.hpp>

namespace bessemer::tools {

using vm::fail;
using vm::Result;
using vm::StatusCode;

void TextTracer::operation(std::string_view text) {
  std::fprintf(file_, "%.*s\n", static_cast<int>(text.size()), text.data());
}

TimelineTracer::Track& TimelineTracer::track() {
  const auto thread = static_cast<uint64_t>(gettid());
  for (auto& [number, track] : tracks_)
    if (number == thread)
      return track;
  return tracks_.emplace_back(thread, Track()).second;
}

void TimelineTracer::close(Track& track, double time) {
  Open& open = track.open.back();
  int number = 0;
  while (&tracks_[static_cast<size_t>(number)].second != &track)
    ++number;
  events_.push_back({std::move(open.name), open.kind, open.begin, time, number});
  track.open.pop_back();
}

void TimelineTracer::begin(std::string_view name) {
  std::lock_guard lock(mutex_);
  track().open.push_back({std::string(name), Kind::User, now()});
}

void TimelineTracer::end() {
  std::lock_guard lock(mutex_);
  const double time = now();
  Track& current = track();
  current.callee.clear();
  while (!current.open.empty()) {
    const bool user = current.open.back().kind == Kind::User;
    close(current, time);
    if (user)
      return;
  }
}

// "[module.function+pc] operation": a call's end shows only in what comes next, either an operation
// of the caller or, when the callee is a function of the program, one of the callee.
void TimelineTracer::operation(std::string_view text) {
  if (next_)
    next_->operation(text);
  const size_t plus = text.rfind('+', text.find(']'));
  const size_t body = text.find("] ");
  if (plus == text.npos || body == text.npos)
    return;
  const std::string_view function = text.substr(1, plus - 1);
  const std::string_view operation = text.substr(body + 2);

  std::lock_guard lock(mutex_);
  const double time = now();
  Track& current = track();
  auto top = [&]() -> Open* { return current.open.empty() ? nullptr : &current.open.back(); };
  const bool entered = !current.callee.empty() && function.ends_with(current.callee) &&
                       function.size() > current.callee.size() &&
                       function[function.size() - current.callee.size() - 1] == '.';
  if (Open* open = top(); open && open->kind == Kind::Import) {
    // What was entered has a span of its own.
    if (entered)
      current.open.pop_back();
    else
      close(current, time);
  }
  current.callee.clear();
  if (Open* open = top();
      entered || !open || open->kind != Kind::Function || open->name != function)
    current.open.push_back({std::string(function), Kind::Function, time});

  const size_t call = operation.find("call");
  if (operation.starts_with("return")) {
    close(current, time);
  } else if (const size_t at = operation.find('@');
             call != operation.npos && at != operation.npos && call < at) {
    const std::string_view callee = operation.substr(at + 1, operation.find(',', at) - at - 1);
    current.callee = callee;
    current.open.push_back({std::string(callee), Kind::Import, time});
  }
}

Result<void> TimelineTracer::write(const std::string& path) {
  std::lock_guard lock(mutex_);
  for (auto& [number, track] : tracks_)
    while (!track.open.empty())
      close(track, now());
  static constexpr const char* kCategories[] = {"call", "function", "import"};
  const int process = getpid();
  nlohmann::ordered_json root;
  auto& list = root["traceEvents"] = nlohmann::ordered_json::array();
  list.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", "bessemer"}}}});
  for (const Event& event : events_)
    list.push_back({{"name", event.name},
                    {"cat", kCategories[static_cast<size_t>(event.kind)]},
                    {"ph", "X"},
                    {"ts", event.begin},
                    {"dur", event.end - event.begin},
                    {"pid", process},
                    {"tid", event.thread + 1}});
  root["displayTimeUnit"] = "ns";
  std::ofstream stream(path, std::ios::trunc);
  stream << root.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  if (!stream.flush())
    return fail(StatusCode::PermissionDenied, "cannot write '", path, "': ", std::strerror(errno));
  return {};
}

} // namespace bessemer::tools

#include "tools/traces.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
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
  static std::atomic<uint64_t> threads{0};
  thread_local const uint64_t thread = ++threads;
  for (auto& [number, track] : tracks_)
    if (number == thread)
      return track;
  return tracks_.emplace_back(thread, Track()).second;
}

void TimelineTracer::close(Track& track, int64_t time) {
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
  const int64_t time = now();
  Track& current = track();
  current.callee.clear();
  while (!current.open.empty()) {
    const bool user = current.open.back().kind == Kind::User;
    close(current, time);
    if (user)
      return;
  }
}

// Whether `callee` is `function`, which has its module's name before it.
static bool names(std::string_view callee, std::string_view function) {
  return function.ends_with(callee) && function.size() > callee.size() &&
         function[function.size() - callee.size() - 1] == '.';
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
  const int64_t time = now();
  Track& current = track();
  auto top = [&]() -> Open* { return current.open.empty() ? nullptr : &current.open.back(); };
  // A function of the same program goes by its number here and by its name there; only what calls
  // itself stays in a function of the same name.
  const Open* caller = current.open.size() < 2 ? nullptr : &current.open[current.open.size() - 2];
  const bool entered = !current.callee.empty() && caller &&
                       (caller->name != function || names(current.callee, function));
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

Result<void> TimelineTracer::watch(iree_hal_device_t* device) {
  auto timeline = DeviceTimeline::begin(device);
  if (!timeline) {
    // Calls are worth a time line without dispatches.
    if (timeline.error().code() == StatusCode::Unimplemented)
      return {};
    return vm::propagate(std::move(timeline));
  }
  devices_.push_back(std::move(*timeline));
  return {};
}

namespace {

using nlohmann::ordered_json;

// One list of events in the trace event format; times are microseconds since `start`.
class EventList {
public:
  explicit EventList(int64_t start) : start_(start) {}

  void nameProcess(int process, const std::string& name) {
    list_.push_back(
        {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", name}}}});
  }
  void nameTrack(int process, size_t track, const std::string& name) {
    list_.push_back({{"name", "thread_name"},
                     {"ph", "M"},
                     {"pid", process},
                     {"tid", track},
                     {"args", {{"name", name}}}});
    // Viewers sort by name otherwise.
    list_.push_back({{"name", "thread_sort_index"},
                     {"ph", "M"},
                     {"pid", process},
                     {"tid", track},
                     {"args", {{"sort_index", track}}}});
  }
  void add(const std::string& name, const char* category, int64_t begin, int64_t end, int process,
           size_t track, ordered_json arguments = {}) {
    ordered_json event = {{"name", name},
                          {"cat", category},
                          {"ph", "X"},
                          {"ts", static_cast<double>(begin - start_) / 1000},
                          {"dur", static_cast<double>(end - begin) / 1000},
                          {"pid", process},
                          {"tid", track}};
    if (!arguments.empty())
      event["args"] = std::move(arguments);
    list_.push_back(std::move(event));
  }
  std::string text() {
    ordered_json root;
    root["traceEvents"] = std::move(list_);
    root["displayTimeUnit"] = "ns";
    return root.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

private:
  int64_t start_;
  ordered_json list_ = ordered_json::array();
};

ordered_json argumentsOf(const DeviceSpan& span) {
  ordered_json arguments;
  arguments["submission"] = span.submission;
  if (span.kind == DeviceSpan::Kind::Dispatch) {
    arguments["threadgroups"] = span.threadgroups;
    arguments["threads_per_threadgroup"] = span.threadgroup_size;
    arguments["ns"] = span.end - span.begin;
    return arguments;
  }
  if (span.kind == DeviceSpan::Kind::Submission) {
    arguments["waits"] = span.waits;
    arguments["signals"] = span.signals;
    if (span.ready)
      arguments["ns_until_ready"] = span.ready - span.begin;
  }
  arguments["commands"] = span.operations;
  if (span.bytes)
    arguments["bytes"] = span.bytes;
  return arguments;
}

// The spans of some kinds on one queue, on as many tracks as they need.
void addDeviceSpans(EventList& events, const std::vector<DeviceSpan>& all, bool submissions,
                    uint32_t queue, int process, size_t& track) {
  std::vector<const DeviceSpan*> spans;
  for (const DeviceSpan& span : all)
    if (span.queue == queue && (span.kind == DeviceSpan::Kind::Submission) == submissions)
      spans.push_back(&span);
  std::sort(spans.begin(), spans.end(), [](const DeviceSpan* left, const DeviceSpan* right) {
    return std::pair(left->begin, -left->end) < std::pair(right->begin, -right->end);
  });
  std::vector<std::pair<int64_t, int64_t>> times;
  for (const DeviceSpan* span : spans)
    times.emplace_back(span->begin, span->end);
  const std::vector<size_t> tracks = nestedTracks(times);
  static constexpr const char* kCategories[] = {"submission", "execution", "dispatch"};
  size_t count = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    const DeviceSpan& span = *spans[i];
    events.add(span.name, kCategories[static_cast<size_t>(span.kind)], span.begin, span.end,
               process, track + tracks[i], argumentsOf(span));
    count = std::max(count, tracks[i] + 1);
  }
  for (size_t i = 0; i < count; ++i)
    events.nameTrack(process, track + i,
                     vm::concat("queue ", queue, submissions ? " submissions" : " device"));
  track += count;
}

} // namespace

Result<void> TimelineTracer::write(const std::string& path) {
  std::lock_guard lock(mutex_);
  for (auto& [number, track] : tracks_)
    while (!track.open.empty())
      close(track, now());
  static constexpr const char* kCategories[] = {"call", "function", "import"};
  const int process = getpid();
  EventList events(start_);
  events.nameProcess(process, "bessemer");
  for (size_t i = 0; i < tracks_.size(); ++i)
    events.nameTrack(process, i + 1, vm::concat("thread ", tracks_[i].first));
  for (const Event& event : events_)
    events.add(event.name, kCategories[static_cast<size_t>(event.kind)], event.begin, event.end,
               process, static_cast<size_t>(event.thread) + 1);
  // A device is shown as a process of its own; no process has a number this high.
  int device_process = 1 << 23;
  for (const auto& device : devices_) {
    BESSEMER_ASSIGN_OR_RETURN(std::vector<DeviceSpan> spans, device->end());
    events.nameProcess(device_process, "device " + device->device());
    uint32_t queues = 0;
    for (const DeviceSpan& span : spans)
      queues = std::max(queues, span.queue + 1);
    size_t track = 1;
    for (uint32_t queue = 0; queue < queues; ++queue)
      for (bool submissions : {true, false})
        addDeviceSpans(events, spans, submissions, queue, device_process, track);
    ++device_process;
  }
  devices_.clear();
  std::ofstream stream(path, std::ios::trunc);
  stream << events.text() << "\n";
  if (!stream.flush())
    return fail(StatusCode::PermissionDenied, "cannot write '", path, "': ", std::strerror(errno));
  return {};
}

} // namespace bessemer::tools

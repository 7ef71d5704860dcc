// The steps of a command list as they lie in its arena.
#pragma once

#include <cstdint>

#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/executor/grid.h"

namespace bessemer::metal::cpu {

class CommandList;
class Pipeline;
class Timeline;
class Variant;

enum class StepKind : uint8_t {
  Dispatch,
  Fill,
  Copy,
  Barrier,
  Wait,
  Signal,
  Host,
  Expand,
  Invalid
};

struct Step {
  StepKind kind;
  Step* next = nullptr;
};

struct DispatchStep : Step {
  const Pipeline* pipeline = nullptr;
  Size3 grid;                         // threads; of an indirect dispatch known when it runs
  Size3 group;                        // threads of a threadgroup
  const uint32_t* indirect = nullptr; // three counts of threadgroups
  Variant* whole = nullptr;           // for whole threadgroups; null when the grid has none
  Variant* edge = nullptr;    // for the threadgroups at the edges; null when the grid has none
  uint32_t dynamic_bytes = 0; // of all [[threadgroup(n)]]
  uint32_t number = 0;        // among the list's dispatches, for messages
  // What differs from the dispatch before: bit n stands for [[buffer(n)]], whose address is the
  // next of `addresses`. `starts_anew`: nothing is bound but these.
  bool starts_anew = false;
  uint32_t changed = 0;
  void* const* addresses = nullptr;
  // Starts of [[threadgroup(n)]] behind the static part.
  uint32_t threadgroup_count = 0;
  const uint32_t* threadgroup_offsets = nullptr;
};

struct FillStep : Step {
  uint8_t* target = nullptr;
  uint64_t length = 0;
  uint32_t pattern_size = 1;
  uint8_t pattern[16] = {};
};

struct CopyStep : Step {
  uint8_t* target = nullptr;
  const uint8_t* source = nullptr;
  uint64_t length = 0;
};

struct TimelineStep : Step { // Wait or Signal
  Timeline* timeline = nullptr;
  uint64_t value = 0;
};

struct HostStep : Step {
  void (*function)(void* context) = nullptr;
  void* context = nullptr;
};

struct ExpandStep : Step {
  void (*record)(CommandList& list, void* context) = nullptr;
  void* context = nullptr;
};

struct InvalidStep : Step {
  const char* message = nullptr; // lies in the arena
};

} // namespace bessemer::metal::cpu

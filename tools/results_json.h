// Results of calls as JSON.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "vm/status.h"
#include "vm/value.h"

namespace bessemer::tools {

// Collects calls and gives one object:
//   {"calls": [{"function": "main", "milliseconds": 1.5, "results": [
//      {"type": "f32", "shape": [2], "data": [1, 2]}, {"type": "i32", "value": 7}, null]}]}
// Data is flat, in row-major order; numbers that JSON has no form for are "nan", "inf", "-inf";
// of a tensor with more elements than `max_elements` the first ones, and "truncated": true.
// Compared results add "differences": [texts] to their call.
class ResultsJson {
public:
  explicit ResultsJson(size_t max_elements);
  ResultsJson(ResultsJson&&) noexcept;
  ~ResultsJson();

  void addCall(std::string_view function, double milliseconds);
  // Of the last call.
  vm::Result<void> addResults(iree_hal_device_t* device, std::span<const vm::Value> results);
  void addDifferences(const std::vector<std::string>& differences);
  std::string text() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace bessemer::tools

// NSDate.
#pragma once

#include <chrono>

#include "metal/foundation/types.h"

namespace ns {

class Date : public objc::Object {
public:
  OBJC_CLASS(Date, "NSDate");

  /// Seconds from 1970 to 2001, Foundation's zero.
  static constexpr double kReference = 978307200;

  Date();
  explicit Date(double since_reference) : since_reference_(since_reference) {}

  double since_reference() const { return since_reference_; }
  void set_since_reference(double seconds) { since_reference_ = seconds; }
  std::chrono::system_clock::time_point as_time_point() const;
  static double now();

private:
  double since_reference_;
};

} // namespace ns

#pragma once

#include <span>

#include "iree/base/api.h"

namespace bessemer::hal {

/// The parts of `driver://path?key=value&key2=value2`. All views point into the text.
struct DeviceUri {
  static constexpr iree_host_size_t kMaxParams = 128;

  iree_string_view_t driver;
  iree_string_view_t path;
  iree_host_size_t paramCount;
  iree_string_pair_t params[kMaxParams];
};

/// Splits `text`; a text without `://` names a driver only. More than `kMaxParams` parameters are
/// OUT_OF_RANGE.
iree_status_t parseDeviceUri(iree_string_view_t text, DeviceUri* out_uri);

} // namespace bessemer::hal

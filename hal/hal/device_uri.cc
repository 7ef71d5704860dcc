#include "hal/hal/device_uri.h"

namespace bessemer::hal {
namespace {

// Splits at the first `separator`; without one everything is in `out_head`.
bool split(iree_string_view_t text, char separator, iree_string_view_t* out_head,
           iree_string_view_t* out_tail) {
  const iree_host_size_t at = iree_string_view_find_char(text, separator, 0);
  if (at == IREE_STRING_VIEW_NPOS) {
    *out_head = text;
    *out_tail = iree_string_view_empty();
    return false;
  }
  *out_head = iree_string_view_substr(text, 0, at);
  *out_tail = iree_string_view_substr(text, at + 1, IREE_HOST_SIZE_MAX);
  return true;
}

} // namespace

iree_status_t parseDeviceUri(iree_string_view_t text, DeviceUri* out_uri) {
  out_uri->paramCount = 0;
  out_uri->path = iree_string_view_empty();

  iree_string_view_t address, params;
  split(text, '?', &address, &params);

  const iree_string_view_t schemeEnd = IREE_SV("://");
  out_uri->driver = address;
  for (iree_host_size_t i = 0; i + schemeEnd.size <= address.size; ++i) {
    if (iree_string_view_equal(iree_string_view_substr(address, i, schemeEnd.size), schemeEnd)) {
      out_uri->driver = iree_string_view_substr(address, 0, i);
      out_uri->path = iree_string_view_substr(address, i + schemeEnd.size, IREE_HOST_SIZE_MAX);
      break;
    }
  }

  while (params.size > 0) {
    iree_string_view_t param;
    split(params, '&', &param, &params);
    if (param.size == 0)
      continue;
    if (out_uri->paramCount == DeviceUri::kMaxParams) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "more than %d parameters in '%.*s'",
                              (int)DeviceUri::kMaxParams, (int)text.size, text.data);
    }
    iree_string_view_t key, value;
    split(param, '=', &key, &value);
    out_uri->params[out_uri->paramCount++] = iree_make_string_pair(key, value);
  }
  return iree_ok_status();
}

} // namespace bessemer::hal

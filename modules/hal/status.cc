#include "modules/hal/status.h"

#include <vector>

namespace bessemer::modules {

vm::Result<void> fromStatus(iree_status_t status) {
  if (iree_status_is_ok(status)) [[likely]]
    return {};
  std::string text;
  iree_status_format_to(
      status,
      [](iree_string_view_t piece, void* user) {
        static_cast<std::string*>(user)->append(piece.data, piece.size);
        return true;
      },
      &text);
  // "file:line: CODE; message; ...": where in our sources is nothing to the person who reads this.
  std::string_view code = iree_status_code_string(iree_status_code(status));
  std::string_view message = text;
  if (size_t at = message.find(code); at != std::string_view::npos)
    message.remove_prefix(at + code.size());
  while (message.starts_with(';') || message.starts_with(' '))
    message.remove_prefix(1);
  vm::Error error(static_cast<vm::StatusCode>(iree_status_code(status)), std::string(message));
  iree_status_ignore(status);
  return std::unexpected(std::move(error));
}

iree_status_t toStatus(const vm::Error& error) {
  iree_string_view_t message =
      iree_make_string_view(error.message().data(), error.message().size());
  iree_status_t status =
      iree_status_allocate(static_cast<iree_status_code_t>(error.code()), nullptr, 0, message);
  if (error.trace().empty())
    return status;
  // The trace is all after the first line.
  std::string text = error.toString();
  std::string_view trace = text;
  if (size_t end = vm::statusCodeName(error.code()).size() + 2 + error.message().size();
      end < trace.size())
    trace.remove_prefix(end);
  return iree_status_annotate(status, iree_make_string_view(trace.data(), trace.size()));
}

} // namespace bessemer::modules

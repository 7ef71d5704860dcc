#include "metal/runtime/misuse.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace mtl {

namespace {

std::string format_text(const char* where, const char* format, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  return std::string("-[") + where + "]: " + text;
}

} // namespace

std::string misuse_text(const char* where, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = format_text(where, format, arguments);
  va_end(arguments);
  return text;
}

void report_misuse(const std::string& text) {
  static const bool quiet = std::getenv("BESSEMER_VALIDATION_QUIET") != nullptr;
  if (!quiet)
    std::fprintf(stderr, "Metal: %s\n", text.c_str());
}

void report_misuse(const char* where, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  report_misuse(format_text(where, format, arguments));
  va_end(arguments);
}

} // namespace mtl

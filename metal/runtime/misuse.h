// Wrong use of the API that Metal's validation layer would stop a process for. Here it is reported
// on stderr, once for each message sent wrongly, and the call does nothing or answers nil.
#pragma once

#include <string>

namespace mtl {

/// Formats "-[MTLBuffer contents]: text". `where` is class and selector: "MTLBuffer contents".
[[gnu::format(printf, 2, 3)]] std::string misuse_text(const char* where, const char* format, ...);

/// Writes "Metal: text" to stderr, unless BESSEMER_VALIDATION_QUIET is set.
void report_misuse(const std::string& text);

/// report_misuse(misuse_text(...)).
[[gnu::format(printf, 2, 3)]] void report_misuse(const char* where, const char* format, ...);

} // namespace mtl

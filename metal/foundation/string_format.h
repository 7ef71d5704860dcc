// NSString's format strings: C's printf and %@.
#pragma once

#include <cstdarg>
#include <string>
#include <string_view>

namespace ns {

/// Also takes positions (%2$d) when every conversion has one.
std::string format(std::string_view format, va_list arguments);

} // namespace ns

// NSStringEncoding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "metal/foundation/types.h"

namespace ns {

enum class Encoding : UInteger {
  ASCII = 1,
  UTF8 = 4,
  ISOLatin1 = 5,
  UTF16 = 10,
  UTF16BigEndian = 0x90000100,
  UTF16LittleEndian = 0x94000100,
  UTF32 = 0x8c000100,
  UTF32BigEndian = 0x98000100,
  UTF32LittleEndian = 0x9c000100,
};

/// Nothing when the bytes are not text of the encoding, or the encoding is not known.
std::optional<std::string> decode(std::string_view bytes, Encoding encoding);
/// Nothing when the encoding cannot hold the text. UTF-16 and UTF-32 without a named byte order get
/// a byte order mark.
std::optional<std::string> encode(std::string_view utf8, Encoding encoding);

std::u32string utf8_to_utf32(std::string_view utf8);
void append_utf8(std::string& text, char32_t code_point);
/// Valid UTF-8 made of any bytes, with U+FFFD for what is not.
std::string repair_utf8(std::string bytes);

} // namespace ns

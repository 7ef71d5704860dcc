#include "metal/foundation/string_encoding.h"

#include <algorithm>

#include "metal/foundation/string.h"

namespace ns {
namespace {

constexpr char32_t kReplacement = 0xfffd;

/// Reads one code point of `text` at `at` and moves on; nothing, one byte on, where it is not
/// UTF-8.
std::optional<char32_t> next_code_point(std::string_view text, size_t& at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(at);
  size_t length = first < 0x80       ? 1
                  : first >> 5 == 6  ? 2
                  : first >> 4 == 14 ? 3
                  : first >> 3 == 30 ? 4
                                     : 0;
  if (!length || at + length > text.size()) {
    ++at;
    return std::nullopt;
  }
  char32_t value = length == 1 ? first : first & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (byte(at + i) >> 6 != 2) {
      ++at;
      return std::nullopt;
    }
    value = value << 6 | (byte(at + i) & 0x3f);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
    ++at;
    return std::nullopt;
  }
  at += length;
  return value;
}

template <class Unit>
std::optional<std::basic_string<Unit>> to_units(std::string_view bytes, bool big_endian) {
  if (bytes.size() % sizeof(Unit))
    return std::nullopt;
  std::basic_string<Unit> units;
  for (size_t i = 0; i < bytes.size(); i += sizeof(Unit)) {
    uint32_t unit = 0;
    for (size_t k = 0; k < sizeof(Unit); ++k) {
      size_t shift = 8 * (big_endian ? sizeof(Unit) - 1 - k : k);
      unit |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i + k])) << shift;
    }
    units.push_back(static_cast<Unit>(unit));
  }
  return units;
}

template <class Unit>
std::string to_bytes(std::basic_string_view<Unit> units, bool big_endian) {
  std::string bytes;
  for (Unit unit : units)
    for (size_t k = 0; k < sizeof(Unit); ++k)
      bytes.push_back(static_cast<char>(static_cast<uint32_t>(unit) >>
                                        8 * (big_endian ? sizeof(Unit) - 1 - k : k)));
  return bytes;
}

std::optional<std::string> utf32_to_utf8(std::u32string_view text) {
  std::string utf8;
  for (char32_t c : text) {
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
      return std::nullopt;
    append_utf8(utf8, c);
  }
  return utf8;
}

/// Takes a byte order mark off; true when it says big endian.
bool take_mark(std::string_view& bytes, std::string_view little, std::string_view big) {
  if (bytes.starts_with(big)) {
    bytes.remove_prefix(big.size());
    return true;
  }
  if (bytes.starts_with(little))
    bytes.remove_prefix(little.size());
  return false;
}

std::optional<std::string> decode_utf16(std::string_view bytes, bool big_endian) {
  auto units = to_units<char16_t>(bytes, big_endian);
  return units ? std::optional(utf16_to_utf8(*units)) : std::nullopt;
}

std::optional<std::string> decode_utf32(std::string_view bytes, bool big_endian) {
  auto units = to_units<char32_t>(bytes, big_endian);
  return units ? utf32_to_utf8(*units) : std::nullopt;
}

} // namespace

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0 | c >> 6);
    text += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    text += static_cast<char>(0xe0 | c >> 12);
    text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | c >> 18);
    text += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    text += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (c & 0x3f));
  }
}

bool is_utf8(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();)
    if (!next_code_point(bytes, at))
      return false;
  return true;
}

std::string repair_utf8(std::string bytes) {
  if (is_utf8(bytes))
    return bytes;
  std::string text;
  for (size_t at = 0; at < bytes.size();)
    append_utf8(text, next_code_point(bytes, at).value_or(kReplacement));
  return text;
}

std::u32string utf8_to_utf32(std::string_view utf8) {
  std::u32string text;
  for (size_t at = 0; at < utf8.size();)
    text.push_back(next_code_point(utf8, at).value_or(kReplacement));
  return text;
}

std::u16string utf8_to_utf16(std::string_view utf8) {
  std::u16string text;
  for (size_t at = 0; at < utf8.size();) {
    char32_t c = next_code_point(utf8, at).value_or(kReplacement);
    if (c < 0x10000) {
      text.push_back(static_cast<char16_t>(c));
    } else {
      text.push_back(static_cast<char16_t>(0xd7c0 + (c >> 10)));
      text.push_back(static_cast<char16_t>(0xdc00 + (c & 0x3ff)));
    }
  }
  return text;
}

std::string utf16_to_utf8(std::u16string_view utf16) {
  std::string text;
  for (size_t i = 0; i < utf16.size(); ++i) {
    char32_t c = utf16[i];
    if (c >= 0xd800 && c < 0xe000) {
      bool pair =
          c < 0xdc00 && i + 1 < utf16.size() && utf16[i + 1] >= 0xdc00 && utf16[i + 1] < 0xe000;
      c = pair ? 0x10000 + ((c - 0xd800) << 10) + (utf16[i + 1] - 0xdc00) : kReplacement;
      i += pair;
    }
    append_utf8(text, c);
  }
  return text;
}

std::optional<std::string> decode(std::string_view bytes, Encoding encoding) {
  using namespace std::string_view_literals;
  switch (encoding) {
  case Encoding::ASCII:
    if (std::ranges::any_of(bytes, [](char c) { return c & 0x80; }))
      return std::nullopt;
    return std::string(bytes);
  case Encoding::UTF8:
    return is_utf8(bytes) ? std::optional(std::string(bytes)) : std::nullopt;
  case Encoding::ISOLatin1: {
    std::string text;
    for (char c : bytes)
      append_utf8(text, static_cast<unsigned char>(c));
    return text;
  }
  case Encoding::UTF16: {
    bool big_endian = take_mark(bytes, "\xff\xfe"sv, "\xfe\xff"sv);
    return decode_utf16(bytes, big_endian);
  }
  case Encoding::UTF16BigEndian:
    return decode_utf16(bytes, true);
  case Encoding::UTF16LittleEndian:
    return decode_utf16(bytes, false);
  case Encoding::UTF32: {
    bool big_endian = take_mark(bytes, "\xff\xfe\0\0"sv, "\0\0\xfe\xff"sv);
    return decode_utf32(bytes, big_endian);
  }
  case Encoding::UTF32BigEndian:
    return decode_utf32(bytes, true);
  case Encoding::UTF32LittleEndian:
    return decode_utf32(bytes, false);
  }
  return std::nullopt;
}

std::optional<std::string> encode(std::string_view utf8, Encoding encoding) {
  using namespace std::string_literals;
  switch (encoding) {
  case Encoding::ASCII:
    if (std::ranges::any_of(utf8, [](char c) { return c & 0x80; }))
      return std::nullopt;
    return std::string(utf8);
  case Encoding::UTF8:
    return std::string(utf8);
  case Encoding::ISOLatin1: {
    std::string bytes;
    for (char32_t c : utf8_to_utf32(utf8)) {
      if (c > 0xff)
        return std::nullopt;
      bytes.push_back(static_cast<char>(c));
    }
    return bytes;
  }
  case Encoding::UTF16:
    return "\xff\xfe" + to_bytes<char16_t>(utf8_to_utf16(utf8), false);
  case Encoding::UTF16BigEndian:
    return to_bytes<char16_t>(utf8_to_utf16(utf8), true);
  case Encoding::UTF16LittleEndian:
    return to_bytes<char16_t>(utf8_to_utf16(utf8), false);
  case Encoding::UTF32:
    return "\xff\xfe\0\0"s + to_bytes<char32_t>(utf8_to_utf32(utf8), false);
  case Encoding::UTF32BigEndian:
    return to_bytes<char32_t>(utf8_to_utf32(utf8), true);
  case Encoding::UTF32LittleEndian:
    return to_bytes<char32_t>(utf8_to_utf32(utf8), false);
  }
  return std::nullopt;
}

} // namespace ns

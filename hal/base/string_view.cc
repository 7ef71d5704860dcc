#include "iree/base/string_view.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include "iree/base/alignment.h"
#include "iree/base/status.h"

namespace {

std::string_view View(iree_string_view_t value) {
  return value.data ? std::string_view(value.data, value.size) : std::string_view();
}

iree_string_view_t Wrap(std::string_view view) {
  return iree_make_string_view(view.data(), view.size());
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

int HexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  char lower = Lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Integers with C's prefixes when the base is 0 (or 16), and an optional sign.
template <typename T>
bool ParseInteger(iree_string_view_t value, int base, T* out_value) {
  std::string_view text = View(iree_string_view_trim(value));
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  bool has_hex_prefix = text.size() > 2 && text[0] == '0' && Lower(text[1]) == 'x';
  if (has_hex_prefix && (base == 0 || base == 16)) {
    text.remove_prefix(2);
    base = 16;
  } else if (base == 0) {
    base = text.size() > 1 && text[0] == '0' ? 8 : 10;
  }
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return false;
  constexpr uint64_t kMax = static_cast<uint64_t>(std::numeric_limits<T>::max());
  constexpr uint64_t kMinMagnitude = std::numeric_limits<T>::is_signed ? kMax + 1 : 0;
  if (magnitude > (negative ? kMinMagnitude : kMax))
    return false;
  *out_value = static_cast<T>(negative ? 0 - magnitude : magnitude);
  return true;
}

template <typename T, T (*Parse)(const char*, char**)>
bool ParseFloat(iree_string_view_t value, T* out_value) {
  // The C library reads more forms than std::from_chars does: hexadecimal ones, and a plus sign.
  char text[128];
  if (value.size == 0 || value.size >= sizeof(text))
    return false;
  iree_string_view_to_cstring(value, text, sizeof(text));
  char* end = nullptr;
  T result = Parse(text, &end);
  if (end != text + value.size)
    return false;
  *out_value = result;
  return true;
}

} // namespace

bool iree_string_view_equal(iree_string_view_t lhs, iree_string_view_t rhs) {
  return View(lhs) == View(rhs);
}

bool iree_string_view_equal_case(iree_string_view_t lhs, iree_string_view_t rhs) {
  return std::ranges::equal(View(lhs), View(rhs), {}, Lower, Lower);
}

int iree_string_view_compare(iree_string_view_t lhs, iree_string_view_t rhs) {
  return View(lhs).compare(View(rhs));
}

iree_host_size_t iree_string_view_find_char(iree_string_view_t value, char c,
                                            iree_host_size_t pos) {
  return View(value).find(c, pos);
}

iree_host_size_t iree_string_view_find_first_of(iree_string_view_t value, iree_string_view_t s,
                                                iree_host_size_t pos) {
  return View(value).find_first_of(View(s), pos);
}

iree_host_size_t iree_string_view_find_last_of(iree_string_view_t value, iree_string_view_t s,
                                               iree_host_size_t pos) {
  return View(value).find_last_of(View(s), pos);
}

bool iree_string_view_starts_with(iree_string_view_t value, iree_string_view_t prefix) {
  return View(value).starts_with(View(prefix));
}

bool iree_string_view_ends_with(iree_string_view_t value, iree_string_view_t suffix) {
  return View(value).ends_with(View(suffix));
}

iree_string_view_t iree_string_view_remove_prefix(iree_string_view_t value, iree_host_size_t n) {
  iree_host_size_t count = std::min(n, value.size);
  return iree_make_string_view(value.data + count, value.size - count);
}

iree_string_view_t iree_string_view_remove_suffix(iree_string_view_t value, iree_host_size_t n) {
  return iree_make_string_view(value.data, value.size - std::min(n, value.size));
}

iree_string_view_t iree_string_view_strip_prefix(iree_string_view_t value,
                                                 iree_string_view_t prefix) {
  iree_string_view_consume_prefix(&value, prefix);
  return value;
}

iree_string_view_t iree_string_view_strip_suffix(iree_string_view_t value,
                                                 iree_string_view_t suffix) {
  iree_string_view_consume_suffix(&value, suffix);
  return value;
}

bool iree_string_view_consume_prefix(iree_string_view_t* value, iree_string_view_t prefix) {
  if (!iree_string_view_starts_with(*value, prefix))
    return false;
  *value = iree_string_view_remove_prefix(*value, prefix.size);
  return true;
}

bool iree_string_view_consume_suffix(iree_string_view_t* value, iree_string_view_t suffix) {
  if (!iree_string_view_ends_with(*value, suffix))
    return false;
  *value = iree_string_view_remove_suffix(*value, suffix.size);
  return true;
}

iree_string_view_t iree_string_view_trim(iree_string_view_t value) {
  std::string_view view = View(value);
  while (!view.empty() && IsSpace(view.front()))
    view.remove_prefix(1);
  while (!view.empty() && IsSpace(view.back()))
    view.remove_suffix(1);
  return Wrap(view);
}

iree_string_view_t iree_string_view_substr(iree_string_view_t value, iree_host_size_t pos,
                                           iree_host_size_t n) {
  std::string_view view = View(value);
  return Wrap(view.substr(std::min(pos, view.size()), n));
}

intptr_t iree_string_view_split(iree_string_view_t value, char split_char,
                                iree_string_view_t* out_lhs, iree_string_view_t* out_rhs) {
  std::string_view view = View(value);
  std::size_t pos = view.find(split_char);
  bool found = pos != std::string_view::npos;
  if (out_lhs)
    *out_lhs = Wrap(view.substr(0, pos));
  if (out_rhs)
    *out_rhs = found ? Wrap(view.substr(pos + 1)) : iree_string_view_empty();
  return found ? static_cast<intptr_t>(pos) : -1;
}

void iree_string_view_replace_char(iree_string_view_t value, char old_char, char new_char) {
  char* data = const_cast<char*>(value.data);
  std::replace(data, data + value.size, old_char, new_char);
}

bool iree_string_view_match_pattern(iree_string_view_t value, iree_string_view_t pattern) {
  std::string_view text = View(value);
  std::string_view glob = View(pattern);
  // Only the last star needs to be remembered: an earlier one that matched more would only leave
  // less for the later one.
  std::size_t t = 0, g = 0;
  std::size_t star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*')
    ++g;
  return g == glob.size();
}

void iree_string_view_to_cstring(iree_string_view_t value, char* buffer,
                                 iree_host_size_t buffer_length) {
  if (buffer_length == 0)
    return;
  iree_host_size_t size = std::min(value.size, buffer_length - 1);
  if (size)
    std::memcpy(buffer, value.data, size);
  buffer[size] = 0;
}

iree_host_size_t iree_string_view_append_to_buffer(iree_string_view_t source_value,
                                                   iree_string_view_t* target_value, char* buffer) {
  if (source_value.size)
    std::memcpy(buffer, source_value.data, source_value.size);
  *target_value = iree_make_string_view(buffer, source_value.size);
  return source_value.size;
}

bool iree_string_view_atoi_int32_base(iree_string_view_t value, int base, int32_t* out_value) {
  return ParseInteger(value, base, out_value);
}
bool iree_string_view_atoi_int32(iree_string_view_t value, int32_t* out_value) {
  return ParseInteger(value, 0, out_value);
}
bool iree_string_view_atoi_uint32_base(iree_string_view_t value, int base, uint32_t* out_value) {
  return ParseInteger(value, base, out_value);
}
bool iree_string_view_atoi_uint32(iree_string_view_t value, uint32_t* out_value) {
  return ParseInteger(value, 0, out_value);
}
bool iree_string_view_atoi_int64_base(iree_string_view_t value, int base, int64_t* out_value) {
  return ParseInteger(value, base, out_value);
}
bool iree_string_view_atoi_int64(iree_string_view_t value, int64_t* out_value) {
  return ParseInteger(value, 0, out_value);
}
bool iree_string_view_atoi_uint64_base(iree_string_view_t value, int base, uint64_t* out_value) {
  return ParseInteger(value, base, out_value);
}
bool iree_string_view_atoi_uint64(iree_string_view_t value, uint64_t* out_value) {
  return ParseInteger(value, 0, out_value);
}
bool iree_string_view_atof(iree_string_view_t value, float* out_value) {
  return ParseFloat<float, std::strtof>(value, out_value);
}
bool iree_string_view_atod(iree_string_view_t value, double* out_value) {
  return ParseFloat<double, std::strtod>(value, out_value);
}

bool iree_string_view_parse_hex_bytes(iree_string_view_t value, iree_host_size_t buffer_length,
                                      uint8_t* out_buffer) {
  std::string_view text = View(value);
  auto skip_separators = [&] {
    while (!text.empty() && (IsSpace(text[0]) || text[0] == '-'))
      text.remove_prefix(1);
  };
  for (iree_host_size_t i = 0; i < buffer_length; ++i) {
    skip_separators();
    if (text.size() < 2)
      return false;
    int high = HexDigit(text[0]), low = HexDigit(text[1]);
    if (high < 0 || low < 0)
      return false;
    out_buffer[i] = static_cast<uint8_t>(high << 4 | low);
    text.remove_prefix(2);
  }
  skip_separators();
  return text.empty();
}

iree_status_t iree_string_view_parse_device_size(iree_string_view_t value,
                                                 iree_device_size_t* out_size) {
  static constexpr struct {
    const char* suffix;
    uint64_t scale;
  } kUnits[] = {
      {"kib", 1ull << 10},
      {"mib", 1ull << 20},
      {"gib", 1ull << 30},
      {"kb", 1000},
      {"mb", 1000000},
      {"gb", 1000000000},
      {"b", 1},
      {"", 1},
  };
  *out_size = 0;
  iree_string_view_t text = iree_string_view_trim(value);
  for (const auto& unit : kUnits) {
    iree_host_size_t suffix_size = std::strlen(unit.suffix);
    if (suffix_size > text.size)
      continue;
    iree_string_view_t suffix = iree_string_view_substr(text, text.size - suffix_size, suffix_size);
    if (!iree_string_view_equal_case(suffix, iree_make_cstring_view(unit.suffix)))
      continue;
    uint64_t count = 0, bytes = 0;
    if (!ParseInteger(iree_string_view_remove_suffix(text, suffix_size), 10, &count))
      break;
    if (__builtin_mul_overflow(count, unit.scale, &bytes)) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "size '%.*s' does not fit 64 bits",
                              static_cast<int>(value.size), value.data);
    }
    *out_size = bytes;
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "'%.*s' is not a size, as '1024', '64kb' or '2gib' are",
                          static_cast<int>(value.size), value.data);
}

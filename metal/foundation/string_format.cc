#include "metal/foundation/string_format.h"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "metal/foundation/string.h"
#include "metal/foundation/string_encoding.h"

namespace ns {
namespace {

enum class Length { None, Char, Short, Long, LongLong, IntMax, Size, PtrDiff, LongDouble };

struct Conversion {
  size_t position = 0; // 1 for the first argument; 0: the next
  std::string flags;   // flags, width and precision, as printf takes them; * replaced later
  int stars = 0;
  Length length = Length::None;
  char type = 0;
};

union Argument {
  int64_t integer;
  uint64_t unsigned_integer;
  double real;
  long double long_real;
  void* pointer;
};

size_t number_at(std::string_view text, size_t& at) {
  size_t number = 0;
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])))
    number = number * 10 + static_cast<size_t>(text[at++] - '0');
  return number;
}

/// Reads a conversion after its %; `at` ends behind it.
Conversion parse(std::string_view text, size_t& at) {
  Conversion conversion;
  size_t start = at;
  size_t position = number_at(text, at);
  if (position && at < text.size() && text[at] == '$') {
    ++at;
    conversion.position = position;
  } else {
    at = start;
  }
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (c == '*')
      ++conversion.stars;
    else if (std::string_view("-+ #0'.123456789").find(c) == std::string_view::npos)
      break;
    conversion.flags += c;
  }
  auto starts = [&](std::string_view prefix) { return text.substr(at).starts_with(prefix); };
  struct {
    std::string_view text;
    Length length;
  } constexpr kLengths[] = {
      {"hh", Length::Char}, {"h", Length::Short},    {"ll", Length::LongLong},
      {"l", Length::Long},  {"q", Length::LongLong}, {"j", Length::IntMax},
      {"z", Length::Size},  {"t", Length::PtrDiff},  {"L", Length::LongDouble}};
  for (const auto& length : kLengths)
    if (starts(length.text)) {
      conversion.length = length.length;
      at += length.text.size();
      break;
    }
  if (at < text.size())
    conversion.type = text[at++];
  return conversion;
}

bool is_long(Length length) { return length >= Length::Long && length != Length::LongDouble; }

/// Takes the argument of a conversion off the list.
Argument fetch(const Conversion& conversion, va_list* arguments) {
  Argument argument{};
  switch (conversion.type) {
  case 'd':
  case 'i':
    argument.integer =
        is_long(conversion.length) ? va_arg(*arguments, int64_t) : va_arg(*arguments, int);
    if (conversion.length == Length::Char)
      argument.integer = static_cast<signed char>(argument.integer);
    else if (conversion.length == Length::Short)
      argument.integer = static_cast<short>(argument.integer);
    break;
  case 'u':
  case 'x':
  case 'X':
  case 'o':
  case 'D':
  case 'U':
  case 'O':
    argument.unsigned_integer =
        is_long(conversion.length) ? va_arg(*arguments, uint64_t) : va_arg(*arguments, unsigned);
    if (conversion.length == Length::Char)
      argument.unsigned_integer = static_cast<unsigned char>(argument.unsigned_integer);
    else if (conversion.length == Length::Short)
      argument.unsigned_integer = static_cast<unsigned short>(argument.unsigned_integer);
    break;
  case 'c':
  case 'C':
    argument.integer = va_arg(*arguments, int);
    break;
  case 'f':
  case 'F':
  case 'e':
  case 'E':
  case 'g':
  case 'G':
  case 'a':
  case 'A':
    if (conversion.length == Length::LongDouble)
      argument.long_real = va_arg(*arguments, long double);
    else
      argument.real = va_arg(*arguments, double);
    break;
  case '@':
  case 's':
  case 'S':
  case 'p':
    argument.pointer = va_arg(*arguments, void*);
    break;
  default:
    break;
  }
  return argument;
}

template <class T>
void append_printf(std::string& out, const std::string& specification, T value) {
  char small[128];
  int size = std::snprintf(small, sizeof small, specification.c_str(), value);
  if (size < 0)
    return;
  if (static_cast<size_t>(size) < sizeof small) {
    out.append(small, static_cast<size_t>(size));
    return;
  }
  std::string large(static_cast<size_t>(size) + 1, 0);
  std::snprintf(large.data(), large.size(), specification.c_str(), value);
  out.append(large, 0, static_cast<size_t>(size));
}

void append(std::string& out, const Conversion& conversion, const std::string& flags,
            const Argument& argument) {
  std::string start = "%" + flags;
  switch (conversion.type) {
  case 'd':
  case 'i':
    return append_printf(out, start + "lld", static_cast<long long>(argument.integer));
  case 'D':
    return append_printf(out, start + "lld", static_cast<long long>(argument.integer));
  case 'u':
  case 'x':
  case 'X':
  case 'o':
    return append_printf(out, start + "ll" + conversion.type,
                         static_cast<unsigned long long>(argument.unsigned_integer));
  case 'U':
    return append_printf(out, start + "llu",
                         static_cast<unsigned long long>(argument.unsigned_integer));
  case 'O':
    return append_printf(out, start + "llo",
                         static_cast<unsigned long long>(argument.unsigned_integer));
  case 'c':
    return append_printf(out, start + "c", static_cast<int>(argument.integer));
  case 'C': {
    char16_t unit = static_cast<char16_t>(argument.integer);
    return append_printf(out, start + "s", utf16_to_utf8({&unit, 1}).c_str());
  }
  case 'f':
  case 'F':
  case 'e':
  case 'E':
  case 'g':
  case 'G':
  case 'a':
  case 'A':
    if (conversion.length == Length::LongDouble)
      return append_printf(out, start + "L" + conversion.type, argument.long_real);
    return append_printf(out, start + conversion.type, argument.real);
  case 'p':
    return append_printf(out, start + "p", argument.pointer);
  case 's':
    return append_printf(out, start + "s",
                         argument.pointer ? static_cast<const char*>(argument.pointer) : "(null)");
  case 'S': {
    auto* units = static_cast<const char16_t*>(argument.pointer);
    return append_printf(out, start + "s",
                         units ? utf16_to_utf8(std::u16string_view(units)).c_str() : "(null)");
  }
  case '@': {
    auto* object = static_cast<Object*>(argument.pointer);
    return append_printf(out, start + "s", utf8(description_of(object)).c_str());
  }
  case 0:
    return;
  default:
    out += conversion.type;
  }
}

} // namespace

std::string format(std::string_view text, va_list arguments) {
  struct Piece {
    std::string_view plain;
    Conversion conversion;
  };
  std::vector<Piece> pieces;
  bool positional = false;
  size_t highest = 0;
  for (size_t at = 0; at < text.size();) {
    size_t percent = text.find('%', at);
    if (percent == std::string_view::npos) {
      pieces.push_back({text.substr(at), {}});
      break;
    }
    Piece piece{text.substr(at, percent - at), {}};
    at = percent + 1;
    piece.conversion = parse(text, at);
    positional |= piece.conversion.position != 0;
    highest = std::max(highest, piece.conversion.position);
    pieces.push_back(piece);
  }

  va_list list;
  va_copy(list, arguments);
  // A format may name any position, but no one writes a call with hundreds of arguments.
  std::vector<Argument> fetched;
  if (positional && highest <= 256)
    for (size_t position = 1; position <= highest; ++position) {
      const Conversion* user = nullptr;
      for (const Piece& piece : pieces)
        if (piece.conversion.position == position)
          user = &piece.conversion;
      Conversion unused;
      unused.type = 'p';
      fetched.push_back(fetch(user ? *user : unused, &list));
    }
  std::string out;
  for (const Piece& piece : pieces) {
    out += piece.plain;
    const Conversion& conversion = piece.conversion;
    if (!conversion.type)
      continue;
    if (conversion.type == '%') {
      out += '%';
      continue;
    }
    std::string flags;
    for (char c : conversion.flags)
      flags += c == '*' ? (positional ? std::string() : std::to_string(va_arg(list, int)))
                        : std::string(1, c);
    if (positional) {
      if (conversion.position && conversion.position <= fetched.size())
        append(out, conversion, flags, fetched[conversion.position - 1]);
    } else {
      append(out, conversion, flags, fetch(conversion, &list));
    }
  }
  va_end(list);
  return out;
}

} // namespace ns

// The methods of NSString and NSMutableString. A receiver may be a literal, hence functions.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "metal/foundation/array.h"
#include "metal/foundation/data.h"
#include "metal/foundation/error.h"
#include "metal/foundation/file.h"
#include "metal/foundation/string_encoding.h"
#include "metal/foundation/string_format.h"
#include "metal/foundation/string_text.h"
#include "metal/foundation/url.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

template <>
inline constexpr std::string_view objc::encoding<va_list> = "[1{?=IIrr}]";
template <>
inline constexpr std::string_view objc::encoding<std::remove_reference_t<va_list*>> = "^v";

namespace ns {
namespace {

// --- Making strings ---------------------------------------------------------------------------

/// -init... of a string: null, with the receiver released, when there is no text.
String* init_with(String* self, std::optional<std::string> text) {
  if (!text) {
    objc_release(self);
    return nullptr;
  }
  self->assign(std::move(*text));
  return self;
}

/// +string... of a string class, which may be a mutable or a client's one.
String* make_with(objc::Class* cls, std::optional<std::string> text) {
  if (!text)
    return nullptr;
  auto* made = objc::send<String*, "init">(objc::send<Object*, "alloc">(cls));
  made->assign(std::move(*text));
  objc_autorelease(made);
  return made;
}

std::optional<std::string> from_c(const char* text, Encoding encoding) {
  return text ? decode(text, encoding) : std::nullopt;
}
std::optional<std::string> from_units(const char16_t* units, UInteger count) {
  return utf16_to_utf8({units, count});
}
std::optional<std::string> from_file(String* path, Encoding encoding, Error** error) {
  auto bytes = read_file(utf8(path), error);
  if (!bytes)
    return std::nullopt;
  auto text = decode(*bytes, encoding);
  if (!text)
    set_error(error, ns::error(NSCocoaErrorDomain, 261 /* NSFileReadInapplicableStringEncoding */,
                               utf8(path) + ": not text of the encoding asked for"));
  return text;
}

String* make_empty(objc::Class* cls) { return make_with(cls, std::string()); }
String* make_with_string(objc::Class* cls, String* other) { return make_with(cls, utf8(other)); }
String* make_with_utf8(objc::Class* cls, const char* text) {
  return make_with(cls, from_c(text, Encoding::UTF8));
}
String* make_with_c_string(objc::Class* cls, const char* text, Encoding encoding) {
  return make_with(cls, from_c(text, encoding));
}
String* make_with_units(objc::Class* cls, const char16_t* units, UInteger count) {
  return make_with(cls, from_units(units, count));
}
String* make_with_file(objc::Class* cls, String* path, Encoding encoding, Error** error) {
  return make_with(cls, from_file(path, encoding, error));
}
String* make_with_url(objc::Class* cls, URL* url, Encoding encoding, Error** error) {
  return make_with(cls,
                   from_file(url ? string(url->path()).autorelease() : nullptr, encoding, error));
}
String* make_with_capacity(objc::Class* cls, UInteger) { return make_with(cls, std::string()); }
String* make_with_format(objc::Class* cls, objc::Selector*, String* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  std::string formatted = format(utf8(text), arguments);
  va_end(arguments);
  return make_with(cls, std::move(formatted));
}

String* init_with_string(String* self, String* other) { return init_with(self, utf8(other)); }
String* init_with_utf8(String* self, const char* text) {
  return init_with(self, from_c(text, Encoding::UTF8));
}
String* init_with_c_string(String* self, const char* text, Encoding encoding) {
  return init_with(self, from_c(text, encoding));
}
String* init_with_bytes(String* self, const void* bytes, UInteger length, Encoding encoding) {
  return init_with(self, decode({static_cast<const char*>(bytes), length}, encoding));
}
String* init_with_bytes_no_copy(String* self, void* bytes, UInteger length, Encoding encoding,
                                bool free_when_done) {
  auto text = decode({static_cast<const char*>(bytes), length}, encoding);
  // On failure the bytes stay the caller's.
  if (text && free_when_done)
    std::free(bytes);
  return init_with(self, std::move(text));
}
String* init_with_units(String* self, const char16_t* units, UInteger count) {
  return init_with(self, from_units(units, count));
}
String* init_with_data(String* self, Object* data, Encoding encoding) {
  auto bytes = bytes_of(data);
  return init_with(
      self, bytes ? decode({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, encoding)
                  : std::nullopt);
}
String* init_with_file(String* self, String* path, Encoding encoding, Error** error) {
  return init_with(self, from_file(path, encoding, error));
}
String* init_with_capacity(String* self, UInteger) { return self; }
String* init_with_format(String* self, objc::Selector*, String* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  self->assign(format(utf8(text), arguments));
  va_end(arguments);
  return self;
}
String* init_with_format_list(String* self, objc::Selector*, String* text, va_list arguments) {
  self->assign(format(utf8(text), arguments));
  return self;
}

// --- Reading ----------------------------------------------------------------------------------

UInteger length(String* self) { return Text(self).utf16_length(); }

[[noreturn]] void out_of_bounds(String* self, const char* method, UInteger index) {
  objc::fatal("-[%s %s]: index %lu is out of bounds; length is %lu", objc::class_of(self)->name,
              method, index, length(self));
}

char16_t character_at(String* self, UInteger index) {
  Text text(self);
  if (index >= text.utf16_length())
    out_of_bounds(self, "characterAtIndex:", index);
  return text.is_ascii() ? static_cast<char16_t>(text.view()[index])
                         : utf8_to_utf16(text.view())[index];
}

void get_characters(String* self, char16_t* buffer, Range range) {
  std::u16string units = utf8_to_utf16(Text(self).view());
  if (range.location > units.size() || range.length > units.size() - range.location)
    out_of_bounds(self, "getCharacters:range:", range.location + range.length);
  std::copy_n(units.data() + range.location, range.length, buffer);
}

const char* utf8_string(String* self) { return c_string(self); }

const char* c_string_in(String* self, Encoding encoding) {
  if (encoding == Encoding::UTF8)
    return c_string(self);
  auto bytes = encode(Text(self).view(), encoding);
  if (!bytes)
    return nullptr;
  // Ends in enough zeros for the widest unit.
  bytes->append(3, '\0');
  return objc::make<Data>(std::move(*bytes)).autorelease()->bytes().c_str();
}

bool get_c_string(String* self, char* buffer, UInteger capacity, Encoding encoding) {
  auto bytes = encode(Text(self).view(), encoding);
  if (!bytes || bytes->size() + 1 > capacity)
    return false;
  std::memcpy(buffer, bytes->c_str(), bytes->size() + 1);
  return true;
}

UInteger encoded_length(String* self, Encoding encoding) {
  auto bytes = encode(Text(self).view(), encoding);
  return bytes ? bytes->size() : 0;
}

UInteger maximum_encoded_length(String* self, Encoding encoding) {
  UInteger units = length(self);
  switch (encoding) {
  case Encoding::ASCII:
  case Encoding::ISOLatin1:
    return units;
  case Encoding::UTF8:
    return units * 3;
  case Encoding::UTF16:
  case Encoding::UTF16BigEndian:
  case Encoding::UTF16LittleEndian:
    return units * 2 + 2;
  default:
    return units * 4 + 4;
  }
}

Data* data_using(String* self, Encoding encoding) {
  auto bytes = encode(Text(self).view(), encoding);
  return bytes ? objc::make<Data>(std::move(*bytes)).autorelease() : nullptr;
}

bool is_equal_to_string(String* self, String* other) {
  return other && (self == other || Text(self).view() == Text(other).view());
}
bool is_equal_to(String* self, Object* other) {
  return is_string(other) && is_equal_to_string(self, static_cast<String*>(other));
}
UInteger hash(String* self) { return std::hash<std::string_view>()(Text(self).view()); }

// --- Comparing and searching ------------------------------------------------------------------

enum : UInteger {
  kCaseInsensitive = 1,
  kLiteral = 2,
  kBackwards = 4,
  kAnchored = 8,
  kNumeric = 64
};

/// Lower case of the ASCII, Latin, Greek and Cyrillic letters whose pairs are a constant apart.
char32_t lower(char32_t c) {
  if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
      (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
    return c + 32;
  return c >= 0x400 && c <= 0x40f ? c + 80 : c;
}
char32_t upper(char32_t c) {
  if ((c >= 'a' && c <= 'z') || (c >= 0xe0 && c <= 0xfe && c != 0xf7) ||
      (c >= 0x3b1 && c <= 0x3c9 && c != 0x3c2) || (c >= 0x430 && c <= 0x44f))
    return c - 32;
  return c >= 0x450 && c <= 0x45f ? c - 80 : c;
}

std::string mapped(String* self, char32_t (*map)(char32_t)) {
  std::string text;
  for (char32_t c : utf8_to_utf32(Text(self).view()))
    append_utf8(text, map(c));
  return text;
}

ComparisonResult compare_numeric(std::u32string_view a, std::u32string_view b) {
  auto digit = [](char32_t c) { return c >= '0' && c <= '9'; };
  size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (digit(a[i]) && digit(b[k])) {
      auto number = [&](std::u32string_view text, size_t& at) {
        while (at < text.size() && text[at] == '0')
          ++at;
        size_t start = at;
        while (at < text.size() && digit(text[at]))
          ++at;
        return text.substr(start, at - start);
      };
      std::u32string_view x = number(a, i), y = number(b, k);
      if (x.size() != y.size())
        return x.size() < y.size() ? ComparisonResult::Ascending : ComparisonResult::Descending;
      if (int order = x.compare(y))
        return order < 0 ? ComparisonResult::Ascending : ComparisonResult::Descending;
    } else if (a[i] != b[k]) {
      return a[i] < b[k] ? ComparisonResult::Ascending : ComparisonResult::Descending;
    } else {
      ++i, ++k;
    }
  }
  return i < a.size()   ? ComparisonResult::Descending
         : k < b.size() ? ComparisonResult::Ascending
                        : ComparisonResult::Same;
}

ComparisonResult compare_with(String* self, String* other, UInteger options) {
  std::u32string a = utf8_to_utf32(Text(self).view()), b = utf8_to_utf32(Text(other).view());
  if (options & kCaseInsensitive)
    for (std::u32string* text : {&a, &b})
      std::ranges::transform(*text, text->begin(), lower);
  if (options & kNumeric)
    return compare_numeric(a, b);
  int order = a.compare(b);
  return order < 0 ? ComparisonResult::Ascending
         : order   ? ComparisonResult::Descending
                   : ComparisonResult::Same;
}
ComparisonResult compare(String* self, String* other) { return compare_with(self, other, 0); }
ComparisonResult case_insensitive_compare(String* self, String* other) {
  return compare_with(self, other, kCaseInsensitive);
}

Range range_of_with(String* self, String* other, UInteger options) {
  std::u16string text = utf8_to_utf16(Text(self).view()),
                 wanted = utf8_to_utf16(Text(other).view());
  if (options & kCaseInsensitive)
    for (std::u16string* t : {&text, &wanted})
      for (char16_t& c : *t)
        c = static_cast<char16_t>(lower(c));
  size_t at = std::u16string::npos;
  if (!wanted.empty() && wanted.size() <= text.size()) {
    size_t last = text.size() - wanted.size();
    if (options & kAnchored) {
      size_t anchor = options & kBackwards ? last : 0;
      if (text.compare(anchor, wanted.size(), wanted) == 0)
        at = anchor;
    } else {
      at = options & kBackwards ? text.rfind(wanted) : text.find(wanted);
    }
  }
  return at == std::u16string::npos ? Range{kNotFound, 0} : Range{at, wanted.size()};
}
Range range_of(String* self, String* other) { return range_of_with(self, other, 0); }
bool contains(String* self, String* other) {
  return Text(self).view().find(Text(other).view()) != std::string_view::npos;
}
bool has_prefix(String* self, String* other) {
  return Text(self).view().starts_with(Text(other).view());
}
bool has_suffix(String* self, String* other) {
  return Text(self).view().ends_with(Text(other).view());
}

// --- Parts and changes ------------------------------------------------------------------------

String* substring(String* self, Range range) {
  Text text(self);
  if (range.location > text.utf16_length() || range.length > text.utf16_length() - range.location)
    out_of_bounds(self, "substringWithRange:", range.location + range.length);
  if (text.is_ascii())
    return autoreleased_string(text.view().substr(range.location, range.length));
  std::u16string units = utf8_to_utf16(text.view());
  return autoreleased_string(
      utf16_to_utf8(std::u16string_view(units).substr(range.location, range.length)));
}
String* substring_to(String* self, UInteger end) { return substring(self, {0, end}); }
String* substring_from(String* self, UInteger start) {
  UInteger end = length(self);
  if (start > end)
    out_of_bounds(self, "substringFromIndex:", start);
  return substring(self, {start, end - start});
}

String* appending(String* self, String* other) {
  return autoreleased_string(utf8(self) + utf8(other));
}
String* appending_format(String* self, objc::Selector*, String* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  std::string all = utf8(self) + format(utf8(text), arguments);
  va_end(arguments);
  return autoreleased_string(all);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  size_t at = 0;
  for (size_t found; !from.empty() && (found = text.find(from, at)) != std::string_view::npos;
       at = found + from.size()) {
    result += text.substr(at, found - at);
    result += to;
  }
  return result += text.substr(at);
}
String* replacing(String* self, String* from, String* to) {
  return autoreleased_string(replaced(Text(self).view(), Text(from).view(), Text(to).view()));
}

Array* components(String* self, String* separator) {
  Text text(self), between(separator);
  std::vector<Ref<String>> parts;
  size_t at = 0;
  for (size_t found; !between.view().empty() &&
                     (found = text.view().find(between.view(), at)) != std::string_view::npos;
       at = found + between.view().size())
    parts.push_back(string(text.view().substr(at, found - at)));
  parts.push_back(string(text.view().substr(at)));
  return array(parts).autorelease();
}

String* lowercase(String* self) { return autoreleased_string(mapped(self, lower)); }
String* uppercase(String* self) { return autoreleased_string(mapped(self, upper)); }

// --- Numbers in text --------------------------------------------------------------------------

template <class T>
T integer_value(String* self) {
  std::string text = utf8(self);
  const char* start = text.c_str();
  while (std::isspace(static_cast<unsigned char>(*start)))
    ++start;
  errno = 0;
  long long value = std::strtoll(start, nullptr, 10);
  return static_cast<T>(
      std::clamp<long long>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
int int_value(String* self) { return integer_value<int>(self); }
Integer integer_value_of(String* self) { return integer_value<Integer>(self); }
long long long_long_value(String* self) { return integer_value<long long>(self); }
double double_value(String* self) {
  std::string text = utf8(self);
  return std::strtod(text.c_str(), nullptr);
}
float float_value(String* self) { return static_cast<float>(double_value(self)); }
bool bool_value(String* self) {
  std::string text = utf8(self);
  size_t at = text.find_first_not_of(" \t\n");
  if (at != std::string::npos && (text[at] == '+' || text[at] == '-'))
    ++at;
  at = std::min(at, text.size());
  while (at < text.size() && text[at] == '0')
    ++at;
  return at < text.size() &&
         std::string_view("YyTt123456789").find(text[at]) != std::string_view::npos;
}

// --- Files ------------------------------------------------------------------------------------

bool write_to_file(String* self, String* path, bool atomically, Encoding encoding, Error** error) {
  auto bytes = encode(Text(self).view(), encoding);
  if (!bytes) {
    set_error(error, ns::error(NSCocoaErrorDomain, 517 /* NSFileWriteInapplicableStringEncoding */,
                               utf8(path) + ": the encoding cannot hold the text"));
    return false;
  }
  return write_file(utf8(path), *bytes, atomically, error);
}

// --- Copies -----------------------------------------------------------------------------------

String* copied(String* self) { return copy(self).take(); }
String* copied_with_zone(String* self, void*) { return copy(self).take(); }
MutableString* mutable_copied(String* self) { return objc::make<MutableString>(utf8(self)).take(); }
MutableString* mutable_copied_with_zone(String* self, void*) { return mutable_copied(self); }
String* description(String* self) { return objc::retain_autorelease(self); }

// --- NSMutableString --------------------------------------------------------------------------

void set_string(MutableString* self, String* other) { self->assign(utf8(other)); }
void append_string(MutableString* self, String* other) { self->assign(self->text() + utf8(other)); }
void append_format(MutableString* self, objc::Selector*, String* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  self->assign(self->text() + format(utf8(text), arguments));
  va_end(arguments);
}
void replace_range(MutableString* self, Range range, String* other) {
  std::u16string units = utf8_to_utf16(self->text());
  if (range.location > units.size() || range.length > units.size() - range.location)
    out_of_bounds(self, "replaceCharactersInRange:withString:", range.location + range.length);
  units.replace(range.location, range.length, utf8_to_utf16(utf8(other)));
  self->assign(utf16_to_utf8(units));
}
void delete_range(MutableString* self, Range range) { replace_range(self, range, nullptr); }
void insert_string(MutableString* self, String* other, UInteger index) {
  replace_range(self, {index, 0}, other);
}

// --- Literals ---------------------------------------------------------------------------------

Object* keep(Object* self) { return self; }
void ignore(Object*) {}
UInteger for_ever(Object*) { return UINT64_MAX; }

#define LITERAL_METHODS                                                                            \
  objc::method<&keep>("retain"), objc::method<&ignore>("release"),                                 \
      objc::method<&keep>("autorelease"), objc::method<&for_ever>("retainCount")

} // namespace

OBJC_DEFINE_CLASS(
    String, "NSString", objc::Object,
    .methods =
        {
            objc::method<&init_with_string>("initWithString:"),
            objc::method<&init_with_utf8>("initWithUTF8String:"),
            objc::method<&init_with_c_string>("initWithCString:encoding:"),
            objc::method<&init_with_bytes>("initWithBytes:length:encoding:"),
            objc::method<&init_with_bytes_no_copy>(
                "initWithBytesNoCopy:length:encoding:freeWhenDone:"),
            objc::method<&init_with_units>("initWithCharacters:length:"),
            objc::method<&init_with_data>("initWithData:encoding:"),
            objc::method<&init_with_file>("initWithContentsOfFile:encoding:error:"),
            objc::raw_method<&init_with_format>("initWithFormat:", "@@:@"),
            objc::raw_method<&init_with_format_list>("initWithFormat:arguments:", "@@:@^v"),
            objc::method<&length>("length"),
            objc::method<&character_at>("characterAtIndex:"),
            objc::method<&get_characters>("getCharacters:range:"),
            objc::method<&utf8_string>("UTF8String"),
            objc::method<&utf8_string>("fileSystemRepresentation"),
            objc::method<&c_string_in>("cStringUsingEncoding:"),
            objc::method<&get_c_string>("getCString:maxLength:encoding:"),
            objc::method<&encoded_length>("lengthOfBytesUsingEncoding:"),
            objc::method<&maximum_encoded_length>("maximumLengthOfBytesUsingEncoding:"),
            objc::method<&data_using>("dataUsingEncoding:"),
            objc::method<&is_equal_to_string>("isEqualToString:"),
            objc::method<&is_equal_to>("isEqual:"),
            objc::method<&hash>("hash"),
            objc::method<&compare>("compare:"),
            objc::method<&compare_with>("compare:options:"),
            objc::method<&case_insensitive_compare>("caseInsensitiveCompare:"),
            objc::method<&compare>("localizedCompare:"),
            objc::method<&range_of>("rangeOfString:"),
            objc::method<&range_of_with>("rangeOfString:options:"),
            objc::method<&contains>("containsString:"),
            objc::method<&has_prefix>("hasPrefix:"),
            objc::method<&has_suffix>("hasSuffix:"),
            objc::method<&substring>("substringWithRange:"),
            objc::method<&substring_to>("substringToIndex:"),
            objc::method<&substring_from>("substringFromIndex:"),
            objc::method<&appending>("stringByAppendingString:"),
            objc::raw_method<&appending_format>("stringByAppendingFormat:", "@@:@"),
            objc::method<&replacing>("stringByReplacingOccurrencesOfString:withString:"),
            objc::method<&components>("componentsSeparatedByString:"),
            objc::method<&lowercase>("lowercaseString"),
            objc::method<&uppercase>("uppercaseString"),
            objc::method<&int_value>("intValue"),
            objc::method<&integer_value_of>("integerValue"),
            objc::method<&long_long_value>("longLongValue"),
            objc::method<&double_value>("doubleValue"),
            objc::method<&float_value>("floatValue"),
            objc::method<&bool_value>("boolValue"),
            objc::method<&write_to_file>("writeToFile:atomically:encoding:error:"),
            objc::method<&copied>("copy"),
            objc::method<&copied_with_zone>("copyWithZone:"),
            objc::method<&mutable_copied>("mutableCopy"),
            objc::method<&mutable_copied_with_zone>("mutableCopyWithZone:"),
            objc::method<&description>("description"),
            objc::method<&path_appending>("stringByAppendingPathComponent:"),
            objc::method<&path_without_last>("stringByDeletingLastPathComponent"),
            objc::method<&path_last>("lastPathComponent"),
            objc::method<&path_extension>("pathExtension"),
            objc::method<&path_without_extension>("stringByDeletingPathExtension"),
            objc::method<&path_with_extension>("stringByAppendingPathExtension:"),
            objc::method<&path_components>("pathComponents"),
            objc::method<&path_expanding_tilde>("stringByExpandingTildeInPath"),
            objc::method<&path_standardized>("stringByStandardizingPath"),
            objc::method<&path_is_absolute>("isAbsolutePath"),
        },
    .class_methods =
        {
            objc::method<&make_empty>("string"),
            objc::method<&make_with_string>("stringWithString:"),
            objc::method<&make_with_utf8>("stringWithUTF8String:"),
            objc::method<&make_with_c_string>("stringWithCString:encoding:"),
            objc::method<&make_with_units>("stringWithCharacters:length:"),
            objc::method<&make_with_file>("stringWithContentsOfFile:encoding:error:"),
            objc::method<&make_with_url>("stringWithContentsOfURL:encoding:error:"),
            objc::raw_method<&make_with_format>("stringWithFormat:", "@@:@"),
            objc::raw_method<&make_with_format>("localizedStringWithFormat:", "@@:@"),
            objc::method<&path_with_components>("pathWithComponents:"),
        },
    .protocols = {"NSCopying", "NSMutableCopying", "NSSecureCoding"});

OBJC_DEFINE_CLASS(MutableString, "NSMutableString", String,
                  .methods =
                      {
                          objc::method<&init_with_capacity>("initWithCapacity:"),
                          objc::method<&set_string>("setString:"),
                          objc::method<&append_string>("appendString:"),
                          objc::raw_method<&append_format>("appendFormat:", "v@:@"),
                          objc::method<&replace_range>("replaceCharactersInRange:withString:"),
                          objc::method<&delete_range>("deleteCharactersInRange:"),
                          objc::method<&insert_string>("insertString:atIndex:"),
                      },
                  .class_methods = {objc::method<&make_with_capacity>("stringWithCapacity:")});

OBJC_DEFINE_FOREIGN_CLASS(ConstantString, "NSConstantString", String, .methods = {LITERAL_METHODS},
                          .info = objc::kClassForeignLayout);

OBJC_DEFINE_FOREIGN_CLASS(TinyString, "NSTinyString", String, .methods = {LITERAL_METHODS},
                          .info = objc::kClassForeignLayout);

namespace {
// clang puts ASCII literals of up to 8 characters in pointers whose low bits are 4.
[[gnu::constructor(102)]] void register_tiny_strings() {
  objc::tagged_classes[4] = &TinyString::class_object;
}
} // namespace

} // namespace ns

// NSString and NSMutableString.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "metal/foundation/types.h"

namespace ns {

/// Text, kept as UTF-8; lengths and indices of the Objective-C methods count UTF-16 units.
/// An `ns::String*` may also be a literal of the client's (ConstantString, or text in a tagged
/// pointer), which is laid out otherwise: read one through the functions below.
class String : public objc::Object {
public:
  OBJC_CLASS(String, "NSString");

  String() = default;
  explicit String(std::string utf8) { assign(std::move(utf8)); }

  void assign(std::string utf8);
  const std::string& text() const { return text_; }
  UInteger utf16_length() const { return utf16_length_; }

private:
  std::string text_;
  UInteger utf16_length_ = 0;
};

class MutableString : public String {
public:
  OBJC_CLASS(MutableString, "NSMutableString");
  using String::String;
};

/// A string literal as clang lays one out: @"..." of 9 characters or more.
struct ConstantString {
  objc::Class* isa;
  uint32_t flags;  // low bits: 0 ASCII, 1 UTF-8, 2 UTF-16, 3 UTF-32
  uint32_t length; // UTF-16 units
  uint32_t size;   // bytes
  uint32_t hash;
  const void* data;

  OBJC_CLASS(ConstantString, "NSConstantString");
};

template <size_t N>
struct LiteralText {
  char text[N];
  consteval LiteralText(const char (&literal)[N]) { std::copy_n(literal, N, text); }
};
template <LiteralText Text>
inline constinit ConstantString literal_storage = {
    &ConstantString::class_object, 0, sizeof(Text.text) - 1, sizeof(Text.text) - 1, 0, Text.text};

/// An ASCII string that exists for ever, without start-up cost.
template <LiteralText Text>
String* literal() {
  return reinterpret_cast<String*>(&literal_storage<Text>);
}

/// A new string. Bytes that are not UTF-8 become U+FFFD.
Ref<String> string(std::string_view utf8);
/// The same, autoreleased.
String* autoreleased_string(std::string_view utf8);
/// The text of any string; empty for null.
std::string utf8(String* string);
/// NUL-terminated text that lives as long as the string or the current autorelease pool; "" for
/// null.
const char* c_string(String* string);
/// A copy that nobody can change: the string itself unless it is mutable. Null for null.
Ref<String> copy(String* string);

/// Whether the bytes are UTF-8 (surrogates and overlong forms are not).
bool is_utf8(std::string_view bytes);
std::u16string utf8_to_utf16(std::string_view utf8);
std::string utf16_to_utf8(std::u16string_view utf16);

} // namespace ns

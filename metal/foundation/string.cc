#include "metal/foundation/string.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "metal/foundation/string_encoding.h"
#include "metal/foundation/string_text.h"
#include "metal/objc/runtime.h"

namespace ns {
namespace {

UInteger count_utf16(std::string_view utf8) {
  UInteger count = 0;
  for (char c : utf8) {
    auto byte = static_cast<unsigned char>(c);
    // Each code point counts at its first byte, one beyond the basic plane twice.
    count += (byte & 0xc0) != 0x80;
    count += byte >= 0xf0;
  }
  return count;
}

/// UTF-8 of a literal that clang stored as UTF-16 or UTF-32; literals live as long as their image,
/// so one conversion each.
std::string_view converted(const ConstantString* literal, Encoding encoding) {
  static auto& mutex = *new std::mutex;
  static auto& texts = *new std::unordered_map<const ConstantString*, std::string>;
  std::lock_guard lock(mutex);
  auto [entry, is_new] = texts.try_emplace(literal);
  if (is_new)
    entry->second = decode({static_cast<const char*>(literal->data), literal->size}, encoding)
                        .value_or(std::string());
  return entry->second;
}

} // namespace

void String::assign(std::string utf8) {
  text_ = repair_utf8(std::move(utf8));
  utf16_length_ = count_utf16(text_);
}

Text::Text(String* string) {
  if (!string)
    return;
  if (objc::is_tagged(string)) {
    auto bits = reinterpret_cast<uintptr_t>(string);
    size_t length = std::min<size_t>(bits >> 3 & 31, 8);
    for (size_t i = 0; i < length; ++i)
      tiny_[i] = static_cast<char>(bits >> (57 - 7 * i) & 127);
    tiny_[length] = 0;
    view_ = {tiny_, length};
    utf16_length_ = length;
    return;
  }
  if (objc::is_subclass(string->isa, &ConstantString::class_object)) {
    auto* literal = reinterpret_cast<const ConstantString*>(string);
    utf16_length_ = literal->length;
    switch (literal->flags & 3) {
    case 0:
    case 1:
      view_ = {static_cast<const char*>(literal->data), literal->size};
      break;
    case 2:
      view_ = converted(literal, Encoding::UTF16LittleEndian);
      break;
    case 3:
      view_ = converted(literal, Encoding::UTF32LittleEndian);
      break;
    }
  } else if (is_string(string)) {
    view_ = string->text();
    utf16_length_ = string->utf16_length();
  } else {
    objc::fatal("a string is expected where a %s was passed", string->isa->name);
  }
  is_ascii_ = view_.size() == utf16_length_;
}

bool is_string(Object* object) {
  return object && objc::is_subclass(objc::class_of(object), &String::class_object);
}

Ref<String> string(std::string_view utf8) { return objc::make<String>(std::string(utf8)); }

String* autoreleased_string(std::string_view utf8) { return string(utf8).autorelease(); }

std::string utf8(String* string) { return std::string(Text(string).view()); }

const char* c_string(String* string) {
  if (!string)
    return "";
  if (objc::is_tagged(string))
    return autoreleased_string(Text(string).view())->text().c_str();
  // The pool holds a mutable string's text as it is now.
  if (objc::cast<MutableString>(string))
    return autoreleased_string(string->text())->text().c_str();
  return Text(string).view().data();
}

Ref<String> copy(String* string) {
  if (string && objc::cast<MutableString>(string))
    return ns::string(string->text());
  return Ref<String>(string);
}

} // namespace ns

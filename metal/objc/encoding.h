// Objective-C type encodings, made from C++ types at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace objc {

struct Class;
struct Object;
struct Selector;
template <class Signature>
struct Block;

// Text of a type as @encode gives it. Specialise for a struct that methods take or give by value:
//   template <> inline constexpr std::string_view objc::encoding<metal::Size> = "{?=QQQ}";
template <class T>
inline constexpr std::string_view encoding = [] {
  if constexpr (std::is_enum_v<T>)
    return encoding<std::underlying_type_t<T>>;
  else if constexpr (std::is_pointer_v<T>) {
    using Pointee = std::remove_pointer_t<T>;
    // Objects are passed as T*, plain structs as const T* or T**: enough for the encodings'
    // readers.
    if constexpr (std::is_class_v<Pointee> && !std::is_const_v<Pointee>)
      return std::string_view("@");
    else if constexpr (std::is_pointer_v<Pointee>)
      return std::string_view(std::is_class_v<std::remove_pointer_t<Pointee>> ? "^@" : "^^v");
    else
      return std::string_view("^v");
  } else
    static_assert(sizeof(T) == 0, "specialise objc::encoding for this type");
}();
template <>
inline constexpr std::string_view encoding<void> = "v";
template <>
inline constexpr std::string_view encoding<bool> = "B";
template <>
inline constexpr std::string_view encoding<char> = "c";
template <>
inline constexpr std::string_view encoding<signed char> = "c";
template <>
inline constexpr std::string_view encoding<unsigned char> = "C";
template <>
inline constexpr std::string_view encoding<short> = "s";
template <>
inline constexpr std::string_view encoding<unsigned short> = "S";
template <>
inline constexpr std::string_view encoding<char16_t> = "S";
template <>
inline constexpr std::string_view encoding<int> = "i";
template <>
inline constexpr std::string_view encoding<unsigned> = "I";
template <>
inline constexpr std::string_view encoding<long> = "q";
template <>
inline constexpr std::string_view encoding<unsigned long> = "Q";
template <>
inline constexpr std::string_view encoding<long long> = "q";
template <>
inline constexpr std::string_view encoding<unsigned long long> = "Q";
template <>
inline constexpr std::string_view encoding<float> = "f";
template <>
inline constexpr std::string_view encoding<double> = "d";
template <>
inline constexpr std::string_view encoding<char*> = "*";
template <>
inline constexpr std::string_view encoding<const char*> = "r*";
template <>
inline constexpr std::string_view encoding<Class*> = "#";
template <>
inline constexpr std::string_view encoding<Selector*> = ":";
template <class Signature>
inline constexpr std::string_view encoding<Block<Signature>*> = "@?";

// Encoding of a method that gives R and takes Arguments after self and _cmd, ending in NUL.
template <class R, class... Arguments>
inline constexpr auto method_encoding = [] {
  constexpr size_t size =
      encoding<R>.size() + 2 + (encoding<std::remove_cv_t<Arguments>>.size() + ... + 0);
  std::array<char, size + 1> text{};
  size_t at = 0;
  auto append = [&](std::string_view part) {
    for (char c : part)
      text[at++] = c;
  };
  append(encoding<R>);
  append("@:");
  (append(encoding<std::remove_cv_t<Arguments>>), ...);
  return text;
}();

} // namespace objc

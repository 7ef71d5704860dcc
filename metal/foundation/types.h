// Foundation's plain types.
#pragma once

#include <cstdint>

#include "metal/objc/class.h"

namespace ns {

using objc::Object;
using objc::Ref;

using UInteger = uint64_t;
using Integer = int64_t;

/// NSNotFound.
inline constexpr UInteger kNotFound = INT64_MAX;

struct Range {
  UInteger location, length;
};

enum class ComparisonResult : Integer { Ascending = -1, Same = 0, Descending = 1 };

/// The state of a `for (x in collection)` loop.
struct FastEnumerationState {
  unsigned long state;
  Object** items;
  unsigned long* mutations;
  unsigned long extra[5];
};

class String;

/// Equality and hash as the objects' own classes define them; null equals null only.
bool is_equal(Object* a, Object* b);
UInteger hash_of(Object* object);
/// The text of -description.
String* description_of(Object* object);

} // namespace ns

template <>
inline constexpr std::string_view objc::encoding<ns::Range> = "{_NSRange=QQ}";

// Reading a string of any layout.
#pragma once

#include "metal/foundation/string.h"

namespace ns {

/// Text of 8 ASCII characters or fewer, held in the pointer itself by clang's literals.
struct TinyString {
  OBJC_CLASS(TinyString, "NSTinyString");
};

/// The UTF-8 text of a string, valid while both this and the string live and do not change.
class Text {
public:
  explicit Text(String* string);
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  std::string_view view() const { return view_; }
  bool is_ascii() const { return is_ascii_; }
  UInteger utf16_length() const { return utf16_length_; }

private:
  std::string_view view_;
  UInteger utf16_length_ = 0;
  bool is_ascii_ = true;
  char tiny_[9];
};

bool is_string(Object* object);

} // namespace ns

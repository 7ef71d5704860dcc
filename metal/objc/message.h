// Messages from C++ to objects of unknown class (a client may subclass anything). To objects of our
// own classes call the member function.
#pragma once

#include <algorithm>
#include <cstddef>

#include "metal/objc/object.h"

namespace objc {

extern "C" {
void objc_msgSend();
void objc_msgSend_stret();
// The selector with a name; the same for the same name. Never null for a name that is not.
Selector* sel_registerName(const char* name);
const char* sel_getName(const Selector* selector);
}

namespace detail {
template <size_t N>
struct Name {
  char text[N];
  consteval Name(const char (&name)[N]) { std::copy_n(name, N, text); }
};
} // namespace detail

// selector<"setLabel:">(), registered once.
template <detail::Name Text>
Selector* selector() {
  static Selector* const registered = sel_registerName(Text.text);
  return registered;
}

// send<ns::String*, "description">(object). A message to null gives zero.
template <class R, detail::Name Text, class... Arguments>
R send(void* receiver, Arguments... arguments) {
  using Function = R (*)(void*, Selector*, Arguments...);
  if constexpr (!std::is_void_v<R>) {
    if (!receiver)
      return R{};
#if defined(__x86_64__)
    if constexpr (sizeof(R) > 16)
      return reinterpret_cast<Function>(&objc_msgSend_stret)(receiver, selector<Text>(),
                                                             arguments...);
#endif
  }
  return reinterpret_cast<Function>(&objc_msgSend)(receiver, selector<Text>(), arguments...);
}

// Whether the object's class, or one above it, has a method for the selector.
bool responds_to(const Object* object, const Selector* selector);

} // namespace objc

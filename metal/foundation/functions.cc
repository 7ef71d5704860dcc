// NSNull, and Foundation's C functions.
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include <unistd.h>

#include "metal/foundation/array.h"
#include "metal/foundation/string.h"
#include "metal/foundation/string_format.h"
#include "metal/objc/message.h"

namespace ns {

class Null : public objc::Object {
public:
  OBJC_CLASS(Null, "NSNull");
};

namespace {

Null* null(objc::Class*) {
  static Null* const instance = objc::make<Null>().take();
  return instance;
}
String* description(Null*) { return literal<"<null>">(); }
Null* copied(Null* self, void*) { return self; }

} // namespace

OBJC_DEFINE_CLASS(Null, "NSNull", objc::Object,
                  .methods =
                      {
                          objc::method<&description>("description"),
                          objc::method<&copied>("copyWithZone:"),
                      },
                  .class_methods = {objc::method<&null>("null")}, .protocols = {"NSCopying"});

extern "C" {

void NSLogv(String* text, va_list arguments) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  localtime_r(&now.tv_sec, &parts);
  char time[32];
  std::strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S", &parts);
  std::string line = format(utf8(text), arguments);
  std::fprintf(stderr, "%s.%03ld %s[%d:%d] %s\n", time, now.tv_nsec / 1'000'000,
               program_invocation_short_name, getpid(), gettid(), line.c_str());
}

void NSLog(String* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  NSLogv(text, arguments);
  va_end(arguments);
}

String* NSStringFromClass(objc::Class* cls) {
  return cls ? autoreleased_string(cls->name) : nullptr;
}
objc::Class* objc_lookUpClass(const char* name);
objc::Class* NSClassFromString(String* name) {
  return name ? objc_lookUpClass(utf8(name).c_str()) : nullptr;
}
String* NSStringFromSelector(objc::Selector* selector) {
  return selector ? autoreleased_string(objc::sel_getName(selector)) : nullptr;
}
objc::Selector* NSSelectorFromString(String* name) {
  return name ? objc::sel_registerName(utf8(name).c_str()) : nullptr;
}
String* NSStringFromRange(Range range) {
  return autoreleased_string("{" + std::to_string(range.location) + ", " +
                             std::to_string(range.length) + "}");
}
String* NSHomeDirectory() {
  const char* home = std::getenv("HOME");
  return autoreleased_string(home ? home : "/");
}
String* NSTemporaryDirectory() {
  const char* directory = std::getenv("TMPDIR");
  return autoreleased_string(directory && *directory ? directory : "/tmp/");
}
String* NSUserName() {
  return objc::send<String*, "userName">(
      objc::send<Object*, "processInfo">(objc_lookUpClass("NSProcessInfo")));
}
}

} // namespace ns

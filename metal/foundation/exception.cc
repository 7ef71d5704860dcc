// NSException.
#include <cstdarg>

#include "metal/foundation/dictionary.h"
#include "metal/foundation/string.h"
#include "metal/foundation/string_format.h"
#include "metal/objc/message.h"

namespace ns {

class Exception : public objc::Object {
public:
  OBJC_CLASS(Exception, "NSException");

  Exception() = default;
  Exception(String* name, String* reason, Dictionary* user_info) {
    initialize(name, reason, user_info);
  }
  void initialize(String* name, String* reason, Dictionary* user_info) {
    name_ = copy(name);
    reason_ = copy(reason);
    user_info_ = Ref<Dictionary>(user_info);
  }

  String* name() const { return name_.get(); }
  String* reason() const { return reason_.get(); }
  Dictionary* user_info() const { return user_info_.get(); }

private:
  Ref<String> name_;
  Ref<String> reason_;
  Ref<Dictionary> user_info_;
};

extern "C" [[noreturn]] void objc_exception_throw(Object* object);

namespace {

Exception* make(objc::Class* cls, String* name, String* reason, Dictionary* user_info) {
  auto* made = objc::send<Exception*, "init">(objc::send<Object*, "alloc">(cls));
  made->initialize(name, reason, user_info);
  objc_autorelease(made);
  return made;
}
Exception* init(Exception* self, String* name, String* reason, Dictionary* user_info) {
  self->initialize(name, reason, user_info);
  return self;
}
void raise(Exception* self) { objc_exception_throw(self); }
void raise_format(objc::Class* cls, objc::Selector*, String* name, String* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  String* reason = autoreleased_string(format(utf8(text), arguments));
  va_end(arguments);
  objc_exception_throw(make(cls, name, reason, nullptr));
}
String* description(Exception* self) { return self->reason() ? self->reason() : self->name(); }
Exception* copied(Exception* self, void*) { return Ref<Exception>(self).take(); }

} // namespace

OBJC_DEFINE_CLASS(Exception, "NSException", objc::Object,
                  .methods =
                      {
                          objc::method<&init>("initWithName:reason:userInfo:"),
                          objc::method<&raise>("raise"),
                          objc::method<&Exception::name>("name"),
                          objc::method<&Exception::reason>("reason"),
                          objc::method<&Exception::user_info>("userInfo"),
                          objc::method<&description>("description"),
                          objc::method<&copied>("copyWithZone:"),
                      },
                  .class_methods =
                      {
                          objc::method<&make>("exceptionWithName:reason:userInfo:"),
                          objc::raw_method<&raise_format>("raise:format:", "v@:@@"),
                      },
                  .protocols = {"NSCopying"});

} // namespace ns

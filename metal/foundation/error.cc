#include "metal/foundation/error.h"

#include <cstring>

#include "metal/objc/message.h"

namespace ns {

Error::Error(String* domain, Integer code, Dictionary* user_info) {
  initialize(domain, code, user_info);
}

void Error::initialize(String* domain, Integer code, Dictionary* user_info) {
  domain_ = copy(domain);
  code_ = code;
  user_info_ = user_info ? Ref<Dictionary>::adopt(objc::send<Dictionary*, "copy">(user_info))
                         : Ref<Dictionary>();
}

Dictionary* Error::user_info() const {
  static Dictionary* const empty = objc::make<Dictionary>().take();
  return user_info_ ? user_info_.get() : empty;
}

String* Error::localized_description() const {
  if (Object* text = user_info()->object_for(NSLocalizedDescriptionKey))
    return objc::retain_autorelease(static_cast<String*>(text));
  std::string domain = utf8(domain_.get());
  if (domain == utf8(NSPOSIXErrorDomain))
    return autoreleased_string(std::strerror(static_cast<int>(code_)));
  return autoreleased_string("The operation couldn't be completed. (" + domain + " error " +
                             std::to_string(code_) + ".)");
}

Ref<Error> error(String* domain, Integer code, std::string_view description) {
  Ref<String> text = string(description);
  Object* object = text.get();
  Object* key = NSLocalizedDescriptionKey;
  auto info = objc::make<Dictionary>(std::span<Object* const>(&object, 1),
                                     std::span<Object* const>(&key, 1));
  return objc::make<Error>(domain, code, info.get());
}

void set_error(Error** out, Ref<Error> error) {
  if (out)
    *out = error.autorelease();
}

namespace {

Error* make_error(objc::Class* cls, String* domain, Integer code, Dictionary* user_info) {
  auto* made = objc::send<Error*, "init">(objc::send<Object*, "alloc">(cls));
  made->initialize(domain, code, user_info);
  objc_autorelease(made);
  return made;
}
Error* init_error(Error* self, String* domain, Integer code, Dictionary* user_info) {
  self->initialize(domain, code, user_info);
  return self;
}
Object* info(Error* self, String* key) { return self->user_info()->object_for(key); }
Object* failure_reason(Error* self) { return info(self, NSLocalizedFailureReasonErrorKey); }
Object* recovery_suggestion(Error* self) {
  return info(self, NSLocalizedRecoverySuggestionErrorKey);
}
Object* recovery_options(Error* self) { return info(self, NSLocalizedRecoveryOptionsErrorKey); }
Object* help_anchor(Error* self) { return info(self, NSHelpAnchorErrorKey); }
Array* underlying_errors(Error* self) {
  Object* error = info(self, NSUnderlyingErrorKey);
  return array(std::span<Object* const>(&error, error ? 1 : 0)).autorelease();
}
String* description(Error* self) {
  return autoreleased_string("Error Domain=" + utf8(self->domain()) +
                             " Code=" + std::to_string(self->code()) + " \"" +
                             utf8(self->localized_description()) + "\"");
}
Error* copied(Error* self, void*) { return Ref<Error>(self).take(); }

} // namespace

OBJC_DEFINE_CLASS(Error, "NSError", objc::Object,
                  .methods =
                      {
                          objc::method<&init_error>("initWithDomain:code:userInfo:"),
                          objc::method<&Error::domain>("domain"),
                          objc::method<&Error::code>("code"),
                          objc::method<&Error::user_info>("userInfo"),
                          objc::method<&Error::localized_description>("localizedDescription"),
                          objc::method<&failure_reason>("localizedFailureReason"),
                          objc::method<&recovery_suggestion>("localizedRecoverySuggestion"),
                          objc::method<&recovery_options>("localizedRecoveryOptions"),
                          objc::method<&help_anchor>("helpAnchor"),
                          objc::method<&underlying_errors>("underlyingErrors"),
                          objc::method<&description>("description"),
                          objc::method<&copied>("copyWithZone:"),
                      },
                  .class_methods = {objc::method<&make_error>("errorWithDomain:code:userInfo:")},
                  .protocols = {"NSCopying", "NSSecureCoding"});

} // namespace ns

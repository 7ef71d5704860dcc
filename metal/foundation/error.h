// NSError, and how the runtime reports through one.
#pragma once

#include "metal/foundation/dictionary.h"
#include "metal/foundation/string.h"

namespace ns {

class Error : public objc::Object {
public:
  OBJC_CLASS(Error, "NSError");

  Error() = default;
  Error(String* domain, Integer code, Dictionary* user_info);

  void initialize(String* domain, Integer code, Dictionary* user_info);
  String* domain() const { return domain_.get(); }
  Integer code() const { return code_; }
  /// Never null.
  Dictionary* user_info() const;
  /// What NSLocalizedDescriptionKey says, else a text made of domain and code. Autoreleased.
  String* localized_description() const;

private:
  Ref<String> domain_;
  Integer code_ = 0;
  Ref<Dictionary> user_info_;
};

/// A new error; `domain` is a constant string such as MTLLibraryErrorDomain.
Ref<Error> error(String* domain, Integer code, std::string_view description);

/// Stores the error, autoreleased, where `out` points; `out` may be null.
void set_error(Error** out, Ref<Error> error);

} // namespace ns

extern "C" {
// Keys and domains that Foundation exports.
extern ns::String* const NSCocoaErrorDomain;
extern ns::String* const NSPOSIXErrorDomain;
extern ns::String* const NSOSStatusErrorDomain;
extern ns::String* const NSMachErrorDomain;
extern ns::String* const NSUnderlyingErrorKey;
extern ns::String* const NSLocalizedDescriptionKey;
extern ns::String* const NSLocalizedFailureReasonErrorKey;
extern ns::String* const NSLocalizedRecoverySuggestionErrorKey;
extern ns::String* const NSLocalizedRecoveryOptionsErrorKey;
extern ns::String* const NSRecoveryAttempterErrorKey;
extern ns::String* const NSHelpAnchorErrorKey;
extern ns::String* const NSDebugDescriptionErrorKey;
extern ns::String* const NSLocalizedFailureErrorKey;
extern ns::String* const NSStringEncodingErrorKey;
extern ns::String* const NSURLErrorKey;
extern ns::String* const NSFilePathErrorKey;
}

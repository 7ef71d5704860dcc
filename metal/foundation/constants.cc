// The string constants that Foundation exports. The text of each is its own name, as on a Mac.
#include "metal/foundation/string.h"

// Other files declare these as `ns::String* const`; a constant initialiser needs the literal's own
// type.
#define CONSTANT(name)                                                                             \
  [[gnu::visibility("default"), gnu::used]] extern constinit ns::ConstantString* const name =      \
      &ns::literal_storage<#name>

extern "C" {
CONSTANT(NSCocoaErrorDomain);
CONSTANT(NSPOSIXErrorDomain);
CONSTANT(NSOSStatusErrorDomain);
CONSTANT(NSMachErrorDomain);
CONSTANT(NSUnderlyingErrorKey);
CONSTANT(NSLocalizedDescriptionKey);
CONSTANT(NSLocalizedFailureReasonErrorKey);
CONSTANT(NSLocalizedRecoverySuggestionErrorKey);
CONSTANT(NSLocalizedRecoveryOptionsErrorKey);
CONSTANT(NSRecoveryAttempterErrorKey);
CONSTANT(NSHelpAnchorErrorKey);
CONSTANT(NSDebugDescriptionErrorKey);
CONSTANT(NSLocalizedFailureErrorKey);
CONSTANT(NSStringEncodingErrorKey);
CONSTANT(NSURLErrorKey);
CONSTANT(NSFilePathErrorKey);
CONSTANT(NSBundleDidLoadNotification);
CONSTANT(NSBundleResourceRequestLowDiskSpaceNotification);
CONSTANT(NSProcessInfoThermalStateDidChangeNotification);
CONSTANT(NSProcessInfoPowerStateDidChangeNotification);
CONSTANT(NSProcessInfoPerformanceProfileDidChangeNotification);
CONSTANT(NSDeviceCertificationiPhonePerformanceGaming);
CONSTANT(NSProcessPerformanceProfileDefault);
CONSTANT(NSProcessPerformanceProfileSustained);
CONSTANT(NSFileType);
CONSTANT(NSFileTypeRegular);
CONSTANT(NSFileTypeDirectory);
CONSTANT(NSFileTypeSymbolicLink);
CONSTANT(NSFileTypeUnknown);
CONSTANT(NSFileSize);
CONSTANT(NSFileModificationDate);
CONSTANT(NSFilePosixPermissions);
CONSTANT(NSGenericException);
CONSTANT(NSRangeException);
CONSTANT(NSInvalidArgumentException);
CONSTANT(NSInternalInconsistencyException);
}

// Error domains, keys and names that libMetal exports; clients find them with dlsym.
#pragma once

#include "metal/foundation/string.h"

extern "C" {
extern ns::String* const MTLCommandBufferErrorDomain;
extern ns::String* const MTLCommandBufferEncoderInfoErrorKey;
extern ns::String* const MTLCaptureErrorDomain;
extern ns::String* const MTLCounterErrorDomain;
extern ns::String* const MTLIOErrorDomain;
extern ns::String* const MTLLogStateErrorDomain;
extern ns::String* const MTLDeviceWasAddedNotification;
extern ns::String* const MTLDeviceRemovalRequestedNotification;
extern ns::String* const MTLDeviceWasRemovedNotification;
extern ns::String* const MTLCommonCounterTimestamp;
extern ns::String* const MTLCommonCounterSetTimestamp;
}

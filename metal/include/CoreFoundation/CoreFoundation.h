/* The types of Core Foundation that Metal's headers name. */
#pragma once

#include <dispatch/dispatch.h> /* as Apple's does; metal-cpp counts on it */
#include <stddef.h>
#include <stdint.h>

typedef double CFTimeInterval;
typedef double CFAbsoluteTime;
typedef const void *CFTypeRef;
typedef long CFIndex;
typedef unsigned long CFTypeID;
typedef const struct __CFString *CFStringRef;
typedef const struct __CFArray *CFArrayRef;
typedef const struct __CFDictionary *CFDictionaryRef;
typedef const struct __CFAllocator *CFAllocatorRef;

#ifdef __cplusplus
extern "C" {
#endif
/* Every object here is an Objective-C object. */
CFTypeRef CFRetain(CFTypeRef object);
void CFRelease(CFTypeRef object);
/* Seconds since 2001. */
CFAbsoluteTime CFAbsoluteTimeGetCurrent(void);
#ifdef __cplusplus
}
#endif

/* Marks of Apple's headers that say from which system on a declaration exists: all of it does. */
#pragma once

#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define NS_AVAILABLE(...)
#define NS_AVAILABLE_MAC(...)
#define NS_AVAILABLE_IOS(...)
#define NS_CLASS_AVAILABLE(...)
#define NS_ENUM_AVAILABLE(...)
#define NS_DEPRECATED(...)
#define NS_SWIFT_NAME(...)
#define NS_REFINED_FOR_SWIFT
#define NS_SWIFT_SENDABLE

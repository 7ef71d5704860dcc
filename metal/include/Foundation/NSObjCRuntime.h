/* The types and macros that all of Foundation uses. */
#pragma once

#import <Availability.h>
#import <TargetConditionals.h>
#import <objc/NSObject.h>
#import <stdarg.h>
#import <stdbool.h>
#import <stdint.h>
#import <string.h>

#ifdef __cplusplus
#define FOUNDATION_EXTERN extern "C"
#else
#define FOUNDATION_EXTERN extern
#endif
#define FOUNDATION_EXPORT FOUNDATION_EXTERN
#define NS_INLINE static inline
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_ENUM(type, name)                                                                        \
  enum name : type name;                                                                           \
  enum name : type
#define NS_OPTIONS(type, name)                                                                     \
  type name;                                                                                       \
  enum : type
#define NS_ERROR_ENUM(type, name, ...) NS_ENUM(type, name)
#define NS_CLOSED_ENUM(type, name) NS_ENUM(type, name)
#define NS_TYPED_ENUM
#define NS_STRING_ENUM
#define NS_EXTENSIBLE_STRING_ENUM
#define NS_NOESCAPE __attribute__((noescape))
#define NS_REQUIRES_NIL_TERMINATION __attribute__((sentinel))
#define NS_FORMAT_FUNCTION(text, first) __attribute__((format(__NSString__, text, first)))
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_DESIGNATED_INITIALIZER __attribute__((objc_designated_initializer))
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_RETURNS_NOT_RETAINED __attribute__((ns_returns_not_retained))
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define NS_REQUIRES_SUPER __attribute__((objc_requires_super))
#define NS_SWIFT_UNAVAILABLE(...)

#define NSIntegerMax LONG_MAX
#define NSIntegerMin LONG_MIN
#define NSUIntegerMax ULONG_MAX
#define NSNotFound NSIntegerMax
#include <limits.h>

typedef double NSTimeInterval;
typedef uint16_t unichar;
typedef NS_ENUM(NSInteger, NSComparisonResult) {
  NSOrderedAscending = -1,
  NSOrderedSame = 0,
  NSOrderedDescending = 1
};
typedef NSComparisonResult (^NSComparator)(id a, id b);
typedef NS_OPTIONS(NSUInteger, NSEnumerationOptions) {
  NSEnumerationConcurrent = 1,
  NSEnumerationReverse = 2
};

typedef struct _NSRange {
  NSUInteger location;
  NSUInteger length;
} NSRange;
typedef NSRange *NSRangePointer;
NS_INLINE NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  NSRange range = {location, length};
  return range;
}
NS_INLINE NSUInteger NSMaxRange(NSRange range) { return range.location + range.length; }
NS_INLINE BOOL NSLocationInRange(NSUInteger location, NSRange range) {
  return location >= range.location && location - range.location < range.length;
}
NS_INLINE BOOL NSEqualRanges(NSRange a, NSRange b) {
  return a.location == b.location && a.length == b.length;
}

#ifndef MIN
#define MIN(a, b)                                                                                  \
  ({                                                                                               \
    __typeof__(a) _a = (a);                                                                        \
    __typeof__(b) _b = (b);                                                                        \
    _a < _b ? _a : _b;                                                                             \
  })
#define MAX(a, b)                                                                                  \
  ({                                                                                               \
    __typeof__(a) _a = (a);                                                                        \
    __typeof__(b) _b = (b);                                                                        \
    _a > _b ? _a : _b;                                                                             \
  })
#endif

@class NSCoder, NSData, NSDate, NSError, NSString, NSURL;
@class NSArray<__covariant ObjectType>, NSSet<__covariant ObjectType>;
@class NSDictionary<__covariant KeyType, __covariant ObjectType>;

@protocol NSCopying
- (id)copyWithZone:(NSZone *)zone;
@end
@protocol NSMutableCopying
- (id)mutableCopyWithZone:(NSZone *)zone;
@end
@protocol NSCoding
@end
@protocol NSSecureCoding <NSCoding>
@end

FOUNDATION_EXPORT void NSLog(NSString *format, ...) NS_FORMAT_FUNCTION(1, 2);
FOUNDATION_EXPORT void NSLogv(NSString *format, va_list arguments);
FOUNDATION_EXPORT NSString *NSStringFromClass(Class cls);
FOUNDATION_EXPORT Class NSClassFromString(NSString *name);
FOUNDATION_EXPORT NSString *NSStringFromSelector(SEL selector);
FOUNDATION_EXPORT SEL NSSelectorFromString(NSString *name);
FOUNDATION_EXPORT NSString *NSStringFromRange(NSRange range);
FOUNDATION_EXPORT NSString *NSHomeDirectory(void);
FOUNDATION_EXPORT NSString *NSTemporaryDirectory(void);
FOUNDATION_EXPORT NSString *NSUserName(void);

#define NSAssert(condition, ...) ((condition) ? (void)0 : (NSLog(__VA_ARGS__), __builtin_trap()))
#define NSCAssert(condition, ...) NSAssert(condition, __VA_ARGS__)
#define NSParameterAssert(condition) NSAssert(condition, @"%s is false", #condition)

@interface NSNull : NSObject <NSCopying>
+ (NSNull *)null;
@end

@interface NSMethodSignature : NSObject
+ (NSMethodSignature *)signatureWithObjCTypes:(const char *)types;
@property(readonly) NSUInteger numberOfArguments;
@property(readonly) const char *methodReturnType;
@property(readonly) NSUInteger methodReturnLength;
- (const char *)getArgumentTypeAtIndex:(NSUInteger)index;
@end

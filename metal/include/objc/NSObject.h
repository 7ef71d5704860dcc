/* The root class. */
#pragma once

#import <objc/objc.h>
#import <objc/runtime.h>

typedef long NSInteger;
typedef unsigned long NSUInteger;

@class NSString, NSMethodSignature, NSInvocation;
typedef struct _NSZone NSZone;

@protocol NSObject
- (instancetype)self;
- (Class)class;
@property(readonly) Class superclass;
@property(readonly) NSUInteger hash;
@property(readonly, copy) NSString *description;
@property(readonly, copy) NSString *debugDescription;
- (BOOL)isEqual:(id)object;
- (BOOL)isProxy;
- (BOOL)isKindOfClass:(Class)cls;
- (BOOL)isMemberOfClass:(Class)cls;
- (BOOL)conformsToProtocol:(Protocol *)protocol;
- (BOOL)respondsToSelector:(SEL)selector;
- (id)performSelector:(SEL)selector;
- (id)performSelector:(SEL)selector withObject:(id)object;
- (id)performSelector:(SEL)selector withObject:(id)object withObject:(id)other;
- (instancetype)retain __attribute__((objc_method_family(none)));
- (oneway void)release;
- (instancetype)autorelease;
- (NSUInteger)retainCount;
- (NSZone *)zone;
@end

OBJC_ROOT_CLASS
@interface NSObject <NSObject> {
  Class isa;
  /* Owners, kept by the runtime. */
  uint64_t _references;
}
+ (void)load;
+ (void)initialize;
+ (instancetype)new;
+ (instancetype)alloc;
+ (instancetype)allocWithZone:(NSZone *)zone;
+ (Class)class;
+ (Class)superclass;
+ (BOOL)isSubclassOfClass:(Class)cls;
+ (BOOL)instancesRespondToSelector:(SEL)selector;
+ (BOOL)conformsToProtocol:(Protocol *)protocol;
+ (IMP)instanceMethodForSelector:(SEL)selector;
+ (NSMethodSignature *)instanceMethodSignatureForSelector:(SEL)selector;
+ (BOOL)resolveInstanceMethod:(SEL)selector;
+ (BOOL)resolveClassMethod:(SEL)selector;
+ (NSString *)description;
- (instancetype)init;
- (void)dealloc;
- (id)copy;
- (id)mutableCopy;
- (IMP)methodForSelector:(SEL)selector;
- (id)forwardingTargetForSelector:(SEL)selector;
- (void)doesNotRecognizeSelector:(SEL)selector;
- (NSMethodSignature *)methodSignatureForSelector:(SEL)selector;
@end

/* Autorelease pools as objects. */
#pragma once

#import <Foundation/NSObjCRuntime.h>

#if !__has_feature(objc_arc)
@interface NSAutoreleasePool : NSObject
+ (void)addObject:(id)object;
+ (void)showPools;
- (void)addObject:(id)object;
- (void)drain;
@end
#endif

/* Foundation, as far as Metal programs use it, for Objective-C compiled with
 *   clang -fblocks -fobjc-runtime=gnustep-2.2 [-fobjc-arc] */
#pragma once

#import <Foundation/NSObjCRuntime.h>
#import <Foundation/NSArray.h>
#import <Foundation/NSAutoreleasePool.h>
#import <Foundation/NSBundle.h>
#import <Foundation/NSData.h>
#import <Foundation/NSDate.h>
#import <Foundation/NSDictionary.h>
#import <Foundation/NSEnumerator.h>
#import <Foundation/NSError.h>
#import <Foundation/NSException.h>
#import <Foundation/NSFileManager.h>
#import <Foundation/NSLock.h>
#import <Foundation/NSNotification.h>
#import <Foundation/NSProcessInfo.h>
#import <Foundation/NSSet.h>
#import <Foundation/NSString.h>
#import <Foundation/NSURL.h>
#import <Foundation/NSValue.h>

/* Apple's Foundation brings these, and clients count on it. */
#import <CoreFoundation/CoreFoundation.h>
#import <dispatch/dispatch.h>
#import <mach/mach.h>
#import <inttypes.h>
#import <sys/types.h>
#import <unistd.h>

/* Notifications. */
#pragma once

#import <Foundation/NSObjCRuntime.h>

typedef NSString *NSNotificationName;

@interface NSNotification : NSObject
+ (instancetype)notificationWithName:(NSNotificationName)name object:(id)object;
@property(readonly, copy) NSNotificationName name;
@property(readonly, retain) id object;
@property(readonly, copy) NSDictionary *userInfo;
@end

@interface NSNotificationCenter : NSObject
@property(class, readonly, strong) NSNotificationCenter *defaultCenter;
/* The queue is not used: blocks run on the thread that posts. */
- (id<NSObject>)addObserverForName:(NSNotificationName)name
                            object:(id)object
                             queue:(id)queue
                        usingBlock:(void (^)(NSNotification *notification))block;
- (void)addObserver:(id)observer
           selector:(SEL)selector
               name:(NSNotificationName)name
             object:(id)object;
- (void)removeObserver:(id)observer;
- (void)postNotification:(NSNotification *)notification;
- (void)postNotificationName:(NSNotificationName)name object:(id)object;
- (void)postNotificationName:(NSNotificationName)name
                      object:(id)object
                    userInfo:(NSDictionary *)user_info;
@end

/* Bundles. */
#pragma once

#import <Foundation/NSObjCRuntime.h>

@interface NSBundle : NSObject
@property(class, readonly, strong) NSBundle *mainBundle;
+ (instancetype)bundleWithPath:(NSString *)path;
+ (instancetype)bundleWithURL:(NSURL *)url;
+ (NSBundle *)bundleForClass:(Class)cls;
+ (NSBundle *)bundleWithIdentifier:(NSString *)identifier;
+ (NSArray<NSBundle *> *)allBundles;
+ (NSArray<NSBundle *> *)allFrameworks;
- (instancetype)initWithPath:(NSString *)path;
- (instancetype)initWithURL:(NSURL *)url;
@property(readonly, copy) NSString *bundlePath;
@property(readonly, copy) NSURL *bundleURL;
@property(readonly, copy) NSString *resourcePath;
@property(readonly, copy) NSURL *resourceURL;
@property(readonly, copy) NSString *executablePath;
@property(readonly, copy) NSURL *executableURL;
@property(readonly, copy) NSString *bundleIdentifier;
@property(readonly, copy) NSDictionary<NSString *, id> *infoDictionary;
- (id)objectForInfoDictionaryKey:(NSString *)key;
- (NSString *)pathForResource:(NSString *)name ofType:(NSString *)type;
- (NSString *)pathForResource:(NSString *)name
                       ofType:(NSString *)type
                  inDirectory:(NSString *)directory;
- (NSURL *)URLForResource:(NSString *)name withExtension:(NSString *)extension;
- (NSString *)localizedStringForKey:(NSString *)key
                              value:(NSString *)value
                              table:(NSString *)table;
@end

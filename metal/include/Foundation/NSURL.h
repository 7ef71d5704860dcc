/* URLs, of files above all. */
#pragma once

#import <Foundation/NSObjCRuntime.h>

@interface NSURL : NSObject <NSCopying, NSSecureCoding>
+ (NSURL *)fileURLWithPath:(NSString *)path;
+ (NSURL *)fileURLWithPath:(NSString *)path isDirectory:(BOOL)is_directory;
+ (instancetype)URLWithString:(NSString *)text;
- (instancetype)initFileURLWithPath:(NSString *)path;
- (instancetype)initFileURLWithPath:(NSString *)path isDirectory:(BOOL)is_directory;
- (instancetype)initWithString:(NSString *)text;
@property(readonly) const char *fileSystemRepresentation NS_RETURNS_INNER_POINTER;
@property(readonly, copy) NSString *path;
@property(readonly, copy) NSString *absoluteString;
@property(readonly, copy) NSString *scheme;
@property(readonly, copy) NSString *lastPathComponent;
@property(readonly, copy) NSString *pathExtension;
@property(readonly, getter=isFileURL) BOOL fileURL;
@property(readonly, copy) NSURL *URLByDeletingLastPathComponent;
@property(readonly, copy) NSURL *URLByDeletingPathExtension;
- (NSURL *)URLByAppendingPathComponent:(NSString *)component;
- (NSURL *)URLByAppendingPathComponent:(NSString *)component isDirectory:(BOOL)is_directory;
- (NSURL *)URLByAppendingPathExtension:(NSString *)extension;
- (BOOL)checkResourceIsReachableAndReturnError:(NSError **)error;
@end

// Foundation's classes as Objective-C sees them. Expected values are written out, from Unicode's tables,
// C's printf and Apple's documents.
#import <Foundation/Foundation.h>
#import <stdio.h>
#import <stdlib.h>

static int failures;
#define CHECK(...)                                                                                 \
  do {                                                                                             \
    if (!(__VA_ARGS__)) {                                                                          \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__);                                     \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)
#define EQUAL(string, expected)                                                                    \
  do {                                                                                             \
    NSString *_got = (string);                                                                     \
    if (![_got isEqualToString:(expected)]) {                                                      \
      printf("%s:%d: \"%s\", expected \"%s\"\n", __FILE__, __LINE__, _got.UTF8String,              \
             (expected).UTF8String);                                                               \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

#if __has_feature(objc_arc)
#define AUTORELEASE(x) (x)
#else
#define AUTORELEASE(x) [(x) autorelease]
#endif

static void strings(void) {
  // Text in a pointer, in ASCII, and in UTF-16: clang's three kinds of literals, and made at run time.
  NSString *tiny = @"abc", *ascii = @"a longer literal", *wide = @"grüße, мир, 𝄞";
  CHECK(tiny.length == 3 && ascii.length == 16 && wide.length == 14);
  CHECK(!strcmp(wide.UTF8String, "grüße, мир, 𝄞") && strlen(wide.UTF8String) == 21);
  EQUAL([NSString stringWithUTF8String:"abc"], tiny);
  CHECK([tiny hash] == [[NSString stringWithUTF8String:"abc"] hash]);
  CHECK([wide hash] == [[NSString stringWithUTF8String:"grüße, мир, 𝄞"] hash]);
  CHECK([wide characterAtIndex:2] == 0xfc && [wide characterAtIndex:12] == 0xd834);
  CHECK(strcmp(tiny.UTF8String, "abc") == 0 && strcmp([@"" UTF8String], "") == 0);

  const unichar units[] = {'x', 0x20ac, 0xd83d, 0xde00};
  NSString *fromUnits = [NSString stringWithCharacters:units length:4];
  EQUAL(fromUnits, @"x€😀");
  unichar back[4] = {0};
  [fromUnits getCharacters:back range:NSMakeRange(0, 4)];
  CHECK(memcmp(units, back, sizeof units) == 0);
  CHECK([NSString stringWithUTF8String:"\xff\xfe"] == nil);

  const unsigned char utf16[] = {0xff, 0xfe, 'h', 0, 'i', 0};
  EQUAL(AUTORELEASE([[NSString alloc] initWithBytes:utf16 length:6 encoding:NSUTF16StringEncoding]),
        @"hi");
  const unsigned char big[] = {0x20, 0xac};
  EQUAL(AUTORELEASE([[NSString alloc] initWithBytes:big
                                             length:2
                                           encoding:NSUTF16BigEndianStringEncoding]),
        @"€");
  EQUAL(AUTORELEASE([[NSString alloc] initWithBytes:"\xe9"
                                             length:1
                                           encoding:NSISOLatin1StringEncoding]),
        @"é");
  CHECK([@"é" lengthOfBytesUsingEncoding:NSUTF8StringEncoding] == 2);
  CHECK([@"é" lengthOfBytesUsingEncoding:NSASCIIStringEncoding] == 0);
  CHECK([[@"€" dataUsingEncoding:NSUTF16LittleEndianStringEncoding] length] == 2);
  char buffer[4];
  CHECK([@"abc" getCString:buffer maxLength:4 encoding:NSUTF8StringEncoding] && buffer[2] == 'c');
  CHECK(![@"abcd" getCString:buffer maxLength:4 encoding:NSUTF8StringEncoding]);

  EQUAL([wide substringWithRange:NSMakeRange(7, 3)], @"мир");
  EQUAL([wide substringFromIndex:12], @"𝄞");
  EQUAL([ascii substringToIndex:8], @"a longer");
  NSRange found = [wide rangeOfString:@"мир"];
  CHECK(found.location == 7 && found.length == 3);
  CHECK([wide rangeOfString:@"nope"].location == NSNotFound);
  CHECK([@"aXbxb" rangeOfString:@"XB" options:NSCaseInsensitiveSearch | NSBackwardsSearch].location ==
        3);
  CHECK([ascii containsString:@"longer"] && [ascii hasPrefix:@"a l"] && [ascii hasSuffix:@"ral"]);
  CHECK([@"a" compare:@"b"] == NSOrderedAscending && [@"b" compare:@"a"] == NSOrderedDescending);
  CHECK([@"ÄB" caseInsensitiveCompare:@"äb"] == NSOrderedSame);
  CHECK([@"file9" compare:@"file10" options:NSNumericSearch] == NSOrderedAscending);
  EQUAL([@"a,b,,c" stringByReplacingOccurrencesOfString:@"," withString:@"--"], @"a--b----c");
  NSArray *parts = [@"a,b,,c" componentsSeparatedByString:@","];
  CHECK(parts.count == 4 && [parts[2] length] == 0);
  EQUAL([parts componentsJoinedByString:@"+"], @"a+b++c");
  EQUAL([@"MiXed Ж" lowercaseString], @"mixed ж");
  EQUAL([@"MiXed ж" uppercaseString], @"MIXED Ж");

  CHECK([@" -42x" intValue] == -42 && [@"9999999999" intValue] == 2147483647);
  CHECK([@"9223372036854775807" longLongValue] == 9223372036854775807ll);
  CHECK([@"2.5e3" doubleValue] == 2500 && [@"YES" boolValue] && ![@"no" boolValue]);

  NSMutableString *text = [NSMutableString stringWithString:@"12345"];
  [text insertString:@"ab" atIndex:2];
  [text deleteCharactersInRange:NSMakeRange(0, 1)];
  [text appendFormat:@"-%d", 7];
  EQUAL(text, @"2ab345-7");
  NSString *frozen = AUTORELEASE([text copy]);
  [text setString:@"other"];
  EQUAL(frozen, @"2ab345-7");
}

static void formats(void) {
  EQUAL(([NSString stringWithFormat:@"%d %5.2f|%-4s|%c%%", -3, 3.14159, "ab", 'z']),
        @"-3  3.14|ab  |z%");
  EQUAL(([NSString stringWithFormat:@"%@ %@ %@", @"s", @7, nil]), @"s 7 (null)");
  EQUAL(([NSString stringWithFormat:@"%lu %lld %hhd %zu %x %#o", 18446744073709551615ul,
                                   (long long)-5, (signed char)-1, (size_t)9, 255, 8]),
        @"18446744073709551615 -5 -1 9 ff 010");
  EQUAL(([NSString stringWithFormat:@"%2$@-%1$@", @"a", @"b"]), @"b-a");
  EQUAL(([NSString stringWithFormat:@"%*d|%.3s", 5, 42, "abcdef"]), @"   42|abc");
  EQUAL(([NSString stringWithFormat:@"%C%S", (unichar)0x20ac, (const unichar[]){'h', 'i', 0}]), @"€hi");
  NSString *longText = [@"" stringByAppendingFormat:@"%0200d", 1];
  CHECK(longText.length == 200);
}

static void paths(void) {
  EQUAL([@"/a/b" stringByAppendingPathComponent:@"c.txt"], @"/a/b/c.txt");
  EQUAL([@"/a/b/" stringByAppendingPathComponent:@"/c/"], @"/a/b/c");
  EQUAL([@"/a/b/c.txt" stringByDeletingLastPathComponent], @"/a/b");
  EQUAL([@"/a" stringByDeletingLastPathComponent], @"/");
  EQUAL([@"a" stringByDeletingLastPathComponent], @"");
  EQUAL([@"/a/b/c.tar.gz" lastPathComponent], @"c.tar.gz");
  EQUAL([@"/a/b/c.tar.gz" pathExtension], @"gz");
  EQUAL([@"/a/.hidden" pathExtension], @"");
  EQUAL([@"/a/c.txt" stringByDeletingPathExtension], @"/a/c");
  EQUAL(([NSString pathWithComponents:@[ @"/", @"usr", @"lib" ]]), @"/usr/lib");
  CHECK([[@"/usr//lib" pathComponents] isEqual:@[ @"/", @"usr", @"lib" ]]);
  NSURL *url = [NSURL fileURLWithPath:@"/tmp/a b"];
  EQUAL(url.absoluteString, @"file:///tmp/a%20b");
  EQUAL([NSURL URLWithString:@"file:///tmp/a%20b"].path, @"/tmp/a b");
  EQUAL([url URLByAppendingPathComponent:@"c"].path, @"/tmp/a b/c");
  CHECK(url.isFileURL && ![NSURL URLWithString:@"http://x/y"].isFileURL);
}

static void numbers(void) {
  CHECK([@3.9 intValue] == 3 && [@(-1) unsignedCharValue] == 255);
  CHECK([@(1e30) longLongValue] == 9223372036854775807ll && [@YES boolValue]);
  CHECK([@2 isEqual:@2.0] && [@2 hash] == [@2.0 hash] && ![@2 isEqual:@"2"]);
  CHECK([@(-1) compare:@(18446744073709551615ull)] == NSOrderedAscending);
  CHECK([@(9007199254740993ll) compare:@(9007199254740992ll)] == NSOrderedDescending);
  EQUAL([@0.1 stringValue], @"0.1");
  EQUAL([@0.1f stringValue], @"0.1");
  EQUAL([@(18446744073709551615ull) stringValue], @"18446744073709551615");
  CHECK(!strcmp([@1.5f objCType], "f") && !strcmp([@1 objCType], "i"));
  int x = 5;
  NSValue *value = [NSValue valueWithPointer:&x];
  CHECK(value.pointerValue == &x);
  struct {
    int a;
    double b;
  } pair = {1, 2.5}, copied;
  value = [NSValue valueWithBytes:&pair objCType:@encode(__typeof__(pair))];
  [value getValue:&copied size:sizeof copied];
  CHECK(copied.a == 1 && copied.b == 2.5);
}

static void collections(void) {
  NSMutableArray *array = [NSMutableArray arrayWithObjects:@3, @1, @2, nil];
  [array insertObject:@"x" atIndex:1];
  array[4] = @9;
  CHECK([array isEqual:@[ @3, @"x", @1, @2, @9 ]]);
  [array removeObject:@"x"];
  [array sortUsingComparator:^(id a, id b) {
    return [a compare:b];
  }];
  CHECK([array isEqual:@[ @1, @2, @3, @9 ]]);
  NSArray *byName = [@[ @"b", @"a" ] sortedArrayUsingSelector:@selector(compare:)];
  EQUAL(byName[0], @"a");
  int sum = 0;
  for (NSNumber *number in array)
    sum += number.intValue;
  CHECK(sum == 15);
  __block NSUInteger visited = 0;
  [array enumerateObjectsUsingBlock:^(id object, NSUInteger index, BOOL *stop) {
    ++visited;
    *stop = index == 1;
  }];
  CHECK(visited == 2);
  NSMutableArray *reversed = [NSMutableArray array];
  for (id object in [array reverseObjectEnumerator])
    [reversed addObject:object];
  CHECK([reversed isEqual:@[ @9, @3, @2, @1 ]] && [array indexOfObject:@7] == NSNotFound);
  NSArray *frozen = AUTORELEASE([array copy]);
  [array removeAllObjects];
  CHECK(frozen.count == 4 && array.count == 0 && array.firstObject == nil);

  NSMutableDictionary *dictionary = [@{@"one" : @1, @"two" : @2} mutableCopy];
  NSMutableString *key = [NSMutableString stringWithString:@"key"];
  dictionary[key] = @3;
  [key appendString:@" changed"];
  CHECK([dictionary[@"key"] intValue] == 3 && dictionary[@"none"] == nil);
  [dictionary removeObjectForKey:@"one"];
  CHECK([dictionary isEqual:@{@"two" : @2, @"key" : @3}]);
  sum = 0;
  for (int i = 0; i < 100; ++i)
    dictionary[@(i)] = @(i);
  for (id k in dictionary)
    sum += [dictionary[k] intValue];
  CHECK(sum == 4950 + 5 && dictionary.allKeys.count == 102);
#if !__has_feature(objc_arc)
  [dictionary release];
#endif

  NSMutableSet *set = [NSMutableSet setWithObjects:@1, @2, @2, @3, nil];
  CHECK(set.count == 3 && [set containsObject:@2]);
  [set minusSet:[NSSet setWithObject:@2]];
  CHECK([set isEqual:[NSSet setWithArray:@[ @3, @1 ]]]);
}

static void filesAndErrors(void) {
  char directory[] = "/tmp/foundation_test.XXXXXX";
  CHECK(mkdtemp(directory));
  NSString *base = @(directory), *path = [base stringByAppendingPathComponent:@"file"];
  NSError *error = nil;
  CHECK([@"text ü" writeToFile:path atomically:YES encoding:NSUTF8StringEncoding error:&error]);
  EQUAL([NSString stringWithContentsOfFile:path encoding:NSUTF8StringEncoding error:&error],
        @"text ü");
  CHECK([NSData dataWithContentsOfFile:path].length == 7);
  CHECK([NSString stringWithContentsOfFile:path encoding:NSASCIIStringEncoding error:&error] == nil);
  CHECK(error.code == 261 && [error.domain isEqual:NSCocoaErrorDomain]);
  NSString *missing = [base stringByAppendingPathComponent:@"missing"];
  CHECK([NSString stringWithContentsOfFile:missing encoding:NSUTF8StringEncoding error:&error] == nil);
  CHECK(error.code == 260 && [error.userInfo[NSFilePathErrorKey] isEqual:missing]);
  CHECK([error.userInfo[NSUnderlyingErrorKey] code] == 2);
  NSFileManager *files = [NSFileManager defaultManager];
  CHECK([[files attributesOfItemAtPath:path error:NULL][NSFileSize] intValue] == 7);
  CHECK([files fileExistsAtPath:path] && ![files fileExistsAtPath:missing]);
  CHECK([[files contentsOfDirectoryAtPath:base error:NULL] isEqual:@[ @"file" ]]);
  CHECK([files removeItemAtPath:base error:NULL] && ![files fileExistsAtPath:path]);

  NSError *plain = [NSError errorWithDomain:@"D" code:5 userInfo:@{NSLocalizedDescriptionKey : @"why"}];
  EQUAL(plain.localizedDescription, @"why");
  EQUAL([NSError errorWithDomain:NSPOSIXErrorDomain code:2 userInfo:nil].localizedDescription,
        @"No such file or directory");
  setenv("FOUNDATION_TEST", "yes", 1);
  NSProcessInfo *process = [NSProcessInfo processInfo];
  EQUAL(process.environment[@"FOUNDATION_TEST"], @"yes");
  CHECK(process.arguments.count == 1);
  CHECK([process isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion){14, 5, 0}]);
  CHECK(process.processIdentifier == getpid());
  EQUAL([NSBundle mainBundle].executablePath.lastPathComponent,
        [process.arguments[0] lastPathComponent]);
}

static void notifications(void) {
  NSNotificationCenter *center = [NSNotificationCenter defaultCenter];
  __block int seen = 0;
  id token = [center addObserverForName:@"N"
                                 object:nil
                                  queue:nil
                             usingBlock:^(NSNotification *n) {
                               seen += [n.userInfo[@"by"] intValue];
                             }];
  [center postNotificationName:@"N" object:nil userInfo:@{@"by" : @2}];
  [center postNotificationName:@"M" object:nil userInfo:@{@"by" : @20}];
  CHECK(seen == 2);
  [center removeObserver:token];
  [center postNotificationName:@"N" object:nil userInfo:@{@"by" : @2}];
  CHECK(seen == 2);
}

int main(void) {
  @autoreleasepool {
    strings();
    formats();
    paths();
    numbers();
    collections();
    filesAndErrors();
    notifications();
  }
  printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
  return failures != 0;
}

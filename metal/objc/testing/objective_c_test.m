// The Objective-C language over the runtime. Compiled twice: with ARC and without.
#import <Foundation/Foundation.h>
#import <objc/message.h>
#import <pthread.h>
#import <stdio.h>
#import <stdlib.h>
#import <unistd.h>

static int failures;
#define CHECK(...)                                                                                 \
  do {                                                                                             \
    if (!(__VA_ARGS__)) {                                                                          \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__);                                     \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

#if __has_feature(objc_arc)
#define RELEASE(x) ((x) = nil)
#define AUTORELEASE(x) (x)
#else
#define RELEASE(x) [(x) release]
#define AUTORELEASE(x) [(x) autorelease]
#endif

// --- Objects, properties, the end of an object ---------------------------------------------------

static int deallocated;

@interface Part : NSObject
@property(nonatomic) int number;
@end
@implementation Part
- (void)dealloc {
  ++deallocated;
#if !__has_feature(objc_arc)
  [super dealloc];
#endif
}
@end

struct Point3 {
  double x, y, z;
};

@protocol Shape <NSObject>
- (double)area;
@optional
- (int)corners;
@end

@interface Whole : Part <Shape, NSCopying> {
@public
  char small;
  long long large;
}
@property(nonatomic, strong) Part *strong;
@property(atomic, strong) Part *atomicStrong;
@property(nonatomic, copy) NSString *name;
#if __has_feature(objc_arc)
@property(nonatomic, weak) Part *weak;
#endif
@property(atomic) struct Point3 position;
- (struct Point3)scaled:(double)factor by:(struct Point3)other;
@end

@implementation Whole
- (double)area {
  return 2.5;
}
- (struct Point3)scaled:(double)factor by:(struct Point3)other {
  struct Point3 p = self.position;
  struct Point3 r = {p.x * factor + other.x, p.y * factor + other.y, p.z * factor + other.z};
  small = 1;
  large = 1ll << 40;
  return r;
}
- (id)copyWithZone:(NSZone *)zone {
  Whole *copy = [[Whole alloc] init];
  copy.number = self.number;
  return copy;
}
#if !__has_feature(objc_arc)
- (void)dealloc {
  [_strong release];
  [_atomicStrong release];
  [_name release];
  [super dealloc];
}
#endif
@end

static void properties(void) {
  deallocated = 0;
  @autoreleasepool {
    Whole *whole = [[Whole alloc] init];
    Part *part = [[Part alloc] init];
    part.number = 7;
    whole.strong = part;
    whole.atomicStrong = part;
    NSMutableString *text = [NSMutableString stringWithUTF8String:"mutable name"];
    whole.name = text;
    [text appendString:@" changed"];
    CHECK([whole.name isEqualToString:@"mutable name"]);
    struct Point3 p = {1, 2, 3}, other = {10, 20, 30};
    whole.position = p;
    struct Point3 scaled = [whole scaled:2 by:other];
    CHECK(scaled.x == 12 && scaled.y == 24 && scaled.z == 36);
    CHECK(whole->large == 1ll << 40 && whole->small == 1);
    CHECK(whole.strong.number == 7 && whole.atomicStrong == part);
    CHECK([whole area] == 2.5);
    RELEASE(part);
    CHECK(deallocated == 0);
    RELEASE(whole);
  }
  CHECK(deallocated == 2);

  Whole *nothing = nil;
  struct Point3 zero = [nothing scaled:1 by:(struct Point3){1, 1, 1}];
  CHECK(zero.x == 0 && zero.z == 0 && [nothing area] == 0 && nothing.name == nil);
}

static void reflection(void) {
  Whole *whole = AUTORELEASE([[Whole alloc] init]);
  CHECK([whole conformsToProtocol:@protocol(Shape)]);
  CHECK([Whole conformsToProtocol:@protocol(NSCopying)]);
  CHECK(![whole conformsToProtocol:@protocol(NSLocking)]);
  CHECK([whole respondsToSelector:@selector(area)] && ![whole respondsToSelector:@selector(corners)]);
  CHECK([whole isKindOfClass:[Part class]] && ![whole isMemberOfClass:[Part class]]);
  CHECK([Whole isSubclassOfClass:[NSObject class]] && [Whole superclass] == [Part class]);
  CHECK([NSStringFromClass([whole class]) isEqualToString:@"Whole"]);
  CHECK([whole hash] == [whole hash] && [whole isEqual:whole]);
  CHECK(class_getInstanceSize([Whole class]) > class_getInstanceSize([Part class]));
  CHECK(class_getProperty([Whole class], "name") != NULL);
  CHECK([whole performSelector:@selector(name)] == nil);
  NSMethodSignature *signature = [whole methodSignatureForSelector:@selector(scaled:by:)];
  CHECK(signature.numberOfArguments == 4 && signature.methodReturnLength == 24);
  CHECK(!strcmp([signature getArgumentTypeAtIndex:2], "d"));
  CHECK([whole methodSignatureForSelector:NSSelectorFromString(@"noSuchMethod")] == nil);
  Whole *copy = [whole copy];
  CHECK(copy != whole && copy.number == whole.number);
  RELEASE(copy);
}

// --- Categories, +load, +initialize ---------------------------------------------------------------

@interface NSString (Twice)
- (NSString *)twice;
@end
@implementation NSString (Twice)
- (NSString *)twice {
  return [self stringByAppendingString:self];
}
@end

static int loaded;
static int initialized;
@interface Loaded : NSObject
@end
@implementation Loaded
+ (void)load {
  ++loaded;
}
+ (void)initialize {
  if (self == [Loaded class])
    ++initialized;
}
@end
@interface LoadedBelow : Loaded
@end
@implementation LoadedBelow
@end
@interface Loaded (More)
@end
@implementation Loaded (More)
+ (void)load {
  loaded += 10;
}
@end

// The subclass comes first in the image.
static int loadOrder;
@interface LoadedFirst : NSObject
@end
@interface LoadedSecond : LoadedFirst
@end
@implementation LoadedSecond
+ (void)load {
  loadOrder = loadOrder * 10 + 2;
}
@end
@implementation LoadedFirst
+ (void)load {
  loadOrder = loadOrder * 10 + 1;
}
@end

static volatile int slowInitialized;
@interface Slow : NSObject
+ (int)value;
@end
@implementation Slow
+ (void)initialize {
  usleep(20000);
  slowInitialized = 1;
}
+ (int)value {
  return slowInitialized;
}
@end
static void *readSlow(void *unused) {
  return (void *)(long)[Slow value];
}

static void initializers(void) {
  CHECK(loaded == 11 && initialized == 0 && loadOrder == 12);
  [LoadedBelow class];
  CHECK(initialized == 1);
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i)
    pthread_create(&threads[i], NULL, readSlow, NULL);
  for (int i = 0; i < 8; ++i) {
    void *seen;
    pthread_join(threads[i], &seen);
    CHECK(seen == (void *)1);
  }
  CHECK([[@"ab" twice] isEqualToString:@"abab"]);
}

// --- Forwarding, methods that appear at run time -------------------------------------------------

@interface Target : NSObject
- (int)answer:(int)x;
@end
@implementation Target
- (int)answer:(int)x {
  return x + 42;
}
@end
@interface Forwarder : NSObject
@end
@implementation Forwarder
- (id)forwardingTargetForSelector:(SEL)selector {
  return sel_isEqual(selector, @selector(answer:)) ? AUTORELEASE([[Target alloc] init]) : nil;
}
@end

static int dynamicMethod(id self, SEL _cmd, int x) { return x * 2; }
static int otherMethod(id self, SEL _cmd, int x) { return x * 3; }
@interface Resolver : NSObject
@end
@interface Resolver (Dynamic)
- (int)dynamic:(int)x;
@end
@implementation Resolver
+ (BOOL)resolveInstanceMethod:(SEL)selector {
  if (!sel_isEqual(selector, @selector(dynamic:)))
    return NO;
  return class_addMethod(self, selector, (IMP)dynamicMethod, "i@:i");
}
- (int)tripled:(int)x {
  return -1;
}
@end

static void forwarding(void) {
  CHECK([(Target *)AUTORELEASE([[Forwarder alloc] init]) answer:1] == 43);
  Resolver *resolver = AUTORELEASE([[Resolver alloc] init]);
  CHECK([resolver dynamic:21] == 42);
  CHECK([resolver tripled:5] == -1);
  class_replaceMethod([Resolver class], @selector(tripled:), (IMP)otherMethod, "i@:i");
  CHECK([resolver tripled:5] == 15);
  method_exchangeImplementations(class_getInstanceMethod([Resolver class], @selector(tripled:)),
                                 class_getInstanceMethod([Resolver class], @selector(dynamic:)));
  CHECK([resolver tripled:5] == 10 && [resolver dynamic:5] == 15);

  Class made = objc_allocateClassPair([Part class], "MadeAtRunTime", 0);
  CHECK(class_addIvar(made, "extra", sizeof(int), 2, "i"));
  class_addMethod(made, @selector(answer:), (IMP)otherMethod, "i@:i");
  objc_registerClassPair(made);
  id object = AUTORELEASE([[made alloc] init]);
  CHECK([object answer:4] == 12 && [object isKindOfClass:[Part class]]);
  CHECK(ivar_getOffset(class_getInstanceVariable(made, "extra")) >=
        (ptrdiff_t)class_getInstanceSize([Part class]));
  CHECK(objc_getClass("MadeAtRunTime") == made);

  static char key;
  deallocated = 0;
  @autoreleasepool {
    NSObject *owner = [[NSObject alloc] init];
    Part *value = [[Part alloc] init];
    objc_setAssociatedObject(owner, &key, value, OBJC_ASSOCIATION_RETAIN);
    CHECK(objc_getAssociatedObject(owner, &key) == value);
    RELEASE(value);
    CHECK(deallocated == 0);
    RELEASE(owner);
  }
  CHECK(deallocated == 1);
}

// --- Blocks --------------------------------------------------------------------------------------

static void blocks(void) {
  deallocated = 0;
  @autoreleasepool {
    __block int counter = 0;
    Part *part = [[Part alloc] init];
    part.number = 5;
    int (^block)(int) = [^(int x) {
      counter += part.number;
      return x + part.number;
    } copy];
    CHECK(block(1) == 6 && counter == 5);
    void (^outer)(void) = [^{
      counter += block(0);
    } copy];
    outer();
    CHECK(counter == 15);
    NSMutableArray *list = [NSMutableArray array];
    [list addObject:block];
    int (^fromArray)(int) = list[0];
    CHECK(fromArray(10) == 15);
    RELEASE(part);
    CHECK(deallocated == 0);
    RELEASE(outer);
    RELEASE(block);
  }
  CHECK(deallocated == 1);

  dispatch_block_t global = ^{
  };
  CHECK([(id)global isKindOfClass:[NSObject class]]);
#if __has_feature(objc_arc)
  __block Part *held = [Part new];
  deallocated = 0;
  @autoreleasepool {
    dispatch_block_t clear = ^{
      held = nil;
    };
    clear();
  }
  CHECK(deallocated == 1);
#endif
}

// --- Weak references -----------------------------------------------------------------------------

#if __has_feature(objc_arc)
static void weakReferences(void) {
  __weak Part *weak = nil;
  Whole *whole = [Whole new];
  @autoreleasepool {
    Part *part = [Part new];
    weak = part;
    whole.weak = part;
    __weak Part *copied = weak;
    CHECK(weak == part && whole.weak == part && copied == part);
  }
  CHECK(weak == nil && whole.weak == nil);

  // Many threads read a weak reference while the object dies.
  for (int round = 0; round < 200; ++round) {
    @autoreleasepool {
      __block Part *part = [Part new];
      part.number = round;
      __weak Part *shared = part;
      dispatch_group_t group = dispatch_group_create();
      __block int wrong = 0;
      for (int i = 0; i < 3; ++i)
        dispatch_group_async(group, dispatch_get_global_queue(0, 0), ^{
          Part *strong = shared;
          if (strong && strong.number != round)
            ++wrong;
        });
      part = nil;
      dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
      CHECK(wrong == 0 && shared == nil);
    }
  }
}
#endif

// --- Locks and exceptions ------------------------------------------------------------------------

@interface AppError : NSException
@end
@implementation AppError
@end

static int order;
static void throwThrough(id object) {
  @try {
    @throw object;
  } @finally {
    order = order * 10 + 1;
  }
}

static void exceptions(void) {
  order = 0;
  @try {
    throwThrough([AppError exceptionWithName:@"App" reason:@"because" userInfo:nil]);
    CHECK(!"reached");
  } @catch (AppError *error) {
    order = order * 10 + 2;
    CHECK([error.reason isEqualToString:@"because"]);
  } @finally {
    order = order * 10 + 3;
  }
  CHECK(order == 123);

  int caught = 0;
  @try {
    @try {
      [NSException raise:NSRangeException format:@"index %d", 9];
    } @catch (AppError *error) {
      caught = 1;
    }
  } @catch (NSException *error) {
    caught = 2;
    CHECK([error.name isEqualToString:NSRangeException] && [error.reason isEqual:@"index 9"]);
  }
  CHECK(caught == 2);

  @try {
    @try {
      @throw @"text";
    } @catch (id object) {
      CHECK([object isEqual:@"text"]);
      @throw;
    }
  } @catch (NSString *text) {
    caught = 3;
  }
  CHECK(caught == 3);
}

static long shared;
static void *incrementSynchronized(void *lock) {
  for (int i = 0; i < 20000; ++i)
    @synchronized((__bridge id)lock) {
      @synchronized((__bridge id)lock) {
        ++shared;
      }
    }
  return NULL;
}
static void synchronized(void) {
  NSObject *lock = [[NSObject alloc] init];
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, incrementSynchronized, (__bridge void *)lock);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  CHECK(shared == 80000);
  @try {
    @synchronized(lock) {
      @throw @"out";
    }
  } @catch (id object) {
  }
  // Still free: the throw has left it.
  CHECK(objc_sync_enter(lock) == 0 && objc_sync_exit(lock) == 0);
  RELEASE(lock);
}

// --- Many threads --------------------------------------------------------------------------------

static void *stress(void *argument) {
  Whole *common = (__bridge Whole *)argument;
  for (int i = 0; i < 20000; ++i) {
    @autoreleasepool {
      Part *part = AUTORELEASE([[Part alloc] init]);
      part.number = i;
      common.atomicStrong = part;
      Part *seen = common.atomicStrong;
      if (seen.number < 0)
        abort();
      if (i % 64 == 0)
        sel_registerName([NSString stringWithFormat:@"stress%d:", i].UTF8String);
    }
  }
  return NULL;
}
static void manyThreads(void) {
  deallocated = 0;
  @autoreleasepool {
    Whole *common = [[Whole alloc] init];
    pthread_t threads[8];
    for (int i = 0; i < 8; ++i)
      pthread_create(&threads[i], NULL, stress, (__bridge void *)common);
    for (int i = 0; i < 8; ++i)
      pthread_join(threads[i], NULL);
    RELEASE(common);
  }
}

int main(void) {
  @autoreleasepool {
    properties();
    reflection();
    initializers();
    forwarding();
    blocks();
#if __has_feature(objc_arc)
    weakReferences();
#endif
    exceptions();
    synchronized();
    manyThreads();
  }
  printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
  return failures != 0;
}

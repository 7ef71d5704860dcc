// Grand Central Dispatch.
#import <Foundation/Foundation.h>
#import <stdatomic.h>
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

#if __has_feature(objc_arc)
#define RELEASE(x) ((x) = nil)
#else
#define RELEASE(x) dispatch_release(x)
#endif

static void serialKeepsOrder(void) {
  dispatch_queue_t queue = dispatch_queue_create("serial", DISPATCH_QUEUE_SERIAL);
  __block int next = 0, wrong = 0;
  for (int i = 0; i < 1000; ++i)
    dispatch_async(queue, ^{
      if (next++ != i)
        ++wrong;
    });
  dispatch_sync(queue, ^{
    CHECK(next == 1000 && wrong == 0);
  });
  CHECK(!strcmp(dispatch_queue_get_label(queue), "serial"));
  RELEASE(queue);
}

static void barriersRunAlone(void) {
  dispatch_queue_t queue = dispatch_queue_create("concurrent", DISPATCH_QUEUE_CONCURRENT);
  __block atomic_int running = 0;
  __block int plain = 0, wrong = 0;
  for (int i = 0; i < 200; ++i) {
    dispatch_async(queue, ^{
      atomic_fetch_add(&running, 1);
      usleep(10);
      atomic_fetch_sub(&running, 1);
    });
    if (i % 10 == 0)
      dispatch_barrier_async(queue, ^{
        if (atomic_load(&running))
          ++wrong;
        ++plain;
      });
  }
  dispatch_barrier_sync(queue, ^{
    CHECK(plain == 20 && wrong == 0);
  });
  RELEASE(queue);
}

static void applyCoversEachIndexOnce(void) {
  enum { kCount = 10000 };
  char *hits = calloc(kCount, 1);
  dispatch_apply(kCount, dispatch_get_global_queue(0, 0), ^(size_t i) {
    ++hits[i];
  });
  int wrong = 0;
  for (int i = 0; i < kCount; ++i)
    wrong += hits[i] != 1;
  CHECK(wrong == 0);
  __block size_t last = 0;
  dispatch_queue_t serial = dispatch_queue_create("s", NULL);
  dispatch_apply(100, serial, ^(size_t i) {
    if (i && i != last + 1)
      abort();
    last = i;
  });
  CHECK(last == 99);
  // Apply within apply: no thread waits for another that cannot start.
  __block atomic_int total = 0;
  dispatch_apply(16, DISPATCH_APPLY_AUTO, ^(size_t i) {
    (void)i;
    dispatch_apply(16, DISPATCH_APPLY_AUTO, ^(size_t k) {
      (void)k;
      atomic_fetch_add(&total, 1);
    });
  });
  CHECK(total == 256);
  RELEASE(serial);
  free(hits);
}

static void groupsWaitAndNotify(void) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_queue_t queue = dispatch_get_global_queue(QOS_CLASS_USER_INITIATED, 0);
  __block atomic_int done = 0;
  dispatch_semaphore_t gate = dispatch_semaphore_create(0);
  for (int i = 0; i < 4; ++i)
    dispatch_group_async(group, queue, ^{
      dispatch_semaphore_wait(gate, DISPATCH_TIME_FOREVER);
      atomic_fetch_add(&done, 1);
    });
  CHECK(dispatch_group_wait(group, DISPATCH_TIME_NOW) != 0);
  dispatch_semaphore_t told = dispatch_semaphore_create(0);
  __block int atNotice = -1;
  dispatch_group_notify(group, queue, ^{
    atNotice = done;
    dispatch_semaphore_signal(told);
  });
  for (int i = 0; i < 4; ++i)
    dispatch_semaphore_signal(gate);
  CHECK(dispatch_group_wait(group, DISPATCH_TIME_FOREVER) == 0 && done == 4);
  CHECK(dispatch_semaphore_wait(told, DISPATCH_TIME_FOREVER) == 0 && atNotice == 4);
  CHECK(dispatch_semaphore_wait(told, dispatch_time(DISPATCH_TIME_NOW, 1000000)) != 0);
  CHECK(dispatch_semaphore_wait(told, dispatch_walltime(NULL, 1000000)) != 0);
  RELEASE(group);
  RELEASE(gate);
  RELEASE(told);
}

static void onceRunsOnce(void) {
  static dispatch_once_t once;
  __block atomic_int runs = 0;
  dispatch_apply(64, dispatch_get_global_queue(0, 0), ^(size_t i) {
    (void)i;
    dispatch_once(&once, ^{
      usleep(2000);
      atomic_fetch_add(&runs, 1);
    });
    if (runs != 1)
      abort();
  });
  CHECK(runs == 1);
}

static void afterIsNotBefore(void) {
  dispatch_semaphore_t told = dispatch_semaphore_create(0);
  uint64_t start = dispatch_time(DISPATCH_TIME_NOW, 0);
  __block uint64_t at = 0;
  dispatch_after(dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_MSEC), dispatch_get_main_queue(), ^{
    at = dispatch_time(DISPATCH_TIME_NOW, 0);
    dispatch_semaphore_signal(told);
  });
  dispatch_semaphore_wait(told, DISPATCH_TIME_FOREVER);
  CHECK(at - start >= 20 * NSEC_PER_MSEC);
  RELEASE(told);
}

static void dataKeepsBytes(void) {
  static char bytes[] = "0123456789";
  dispatch_data_t copied = dispatch_data_create(bytes, 10, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  bytes[0] = 'x';
  const void *mapped;
  size_t size;
  dispatch_data_t map = dispatch_data_create_map(copied, &mapped, &size);
  CHECK(size == 10 && !memcmp(mapped, "0123456789", 10));
  RELEASE(map);
  dispatch_data_t part = dispatch_data_create_subrange(copied, 4, 100);
  CHECK(dispatch_data_get_size(part) == 6);
  dispatch_data_t both = dispatch_data_create_concat(part, copied);
  CHECK(dispatch_data_get_size(both) == 16);
  __block size_t visited = 0;
  dispatch_data_apply(both, ^bool(dispatch_data_t region, size_t offset, const void *buffer, size_t n) {
    (void)region, (void)offset, (void)buffer;
    visited += n;
    return true;
  });
  CHECK(visited == 16);
  RELEASE(both);
  RELEASE(part);
  RELEASE(copied);

  __block int destroyed = 0;
  @autoreleasepool {
    dispatch_data_t held = dispatch_data_create(bytes, 10, NULL, ^{
      destroyed = 1;
    });
    dispatch_data_create_map(held, &mapped, NULL);
#if !__has_feature(objc_arc)
    dispatch_release(held); // the map's
#endif
    CHECK(mapped == bytes && destroyed == 0);
    RELEASE(held);
  }
  CHECK(destroyed == 1);
  dispatch_data_t owned = dispatch_data_create(strdup("abc"), 3, NULL, DISPATCH_DATA_DESTRUCTOR_FREE);
  CHECK(dispatch_data_get_size(owned) == 3);
  RELEASE(owned);
}

int main(void) {
  @autoreleasepool {
    serialKeepsOrder();
    barriersRunAlone();
    applyCoversEachIndexOnce();
    groupsWaitAndNotify();
    onceRunsOnce();
    afterIsNotBefore();
    dataKeepsBytes();
  }
  printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
  return failures != 0;
}

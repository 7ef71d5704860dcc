// NSAutoreleasePool: a pool as an object, for code without @autoreleasepool.
#include "metal/foundation/types.h"
#include "metal/objc/runtime.h"

namespace ns {

class AutoreleasePool : public objc::Object {
public:
  OBJC_CLASS(AutoreleasePool, "NSAutoreleasePool");

  AutoreleasePool() : pool_(objc::objc_autoreleasePoolPush()) {}

  /// Release and drain are the same: pools are not shared. Pools opened after this one, and not
  /// yet drained, are drained with it.
  void drain() {
    objc::objc_autoreleasePoolPop(pool_);
    objc::dispose(this);
  }

private:
  void* pool_;
};

namespace {

void add_object(objc::Class*, Object* object) { objc::objc_autorelease(object); }
void add(AutoreleasePool*, Object* object) { objc::objc_autorelease(object); }
AutoreleasePool* refuse_retain(AutoreleasePool*) {
  objc::fatal("-[NSAutoreleasePool retain]: a pool is not retained or autoreleased");
}
void show_pools(objc::Class*) {
  std::fprintf(stderr, "autorelease pools of this thread: %zu objects\n",
               objc::autorelease_count());
}

} // namespace

OBJC_DEFINE_CLASS(AutoreleasePool, "NSAutoreleasePool", objc::Object,
                  .methods =
                      {
                          objc::method<&AutoreleasePool::drain>("drain"),
                          objc::method<&AutoreleasePool::drain>("release"),
                          objc::method<&refuse_retain>("retain"),
                          objc::method<&refuse_retain>("autorelease"),
                          objc::method<&add>("addObject:"),
                      },
                  .class_methods = {
                      objc::method<&add_object>("addObject:"),
                      objc::method<&show_pools>("showPools"),
                  });

} // namespace ns

// NSLock, NSRecursiveLock, NSCondition.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "metal/foundation/date.h"
#include "metal/foundation/string.h"

namespace ns {

template <class Mutex>
class Locking : public objc::Object {
public:
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool try_lock() { return mutex_.try_lock(); }
  bool lock_before(Date* date) {
    using namespace std::chrono;
    // The wall clock, as the date is.
    return date ? mutex_.try_lock_until(date->as_time_point()) : mutex_.try_lock();
  }
  String* name() const { return name_.get(); }
  void set_name(String* name) { name_ = copy(name); }

protected:
  Mutex mutex_;
  Ref<String> name_;
};

class Lock : public Locking<std::timed_mutex> {
public:
  OBJC_CLASS(Lock, "NSLock");
};

class RecursiveLock : public Locking<std::recursive_timed_mutex> {
public:
  OBJC_CLASS(RecursiveLock, "NSRecursiveLock");
};

class Condition : public objc::Object {
public:
  OBJC_CLASS(Condition, "NSCondition");

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void wait() {
    std::unique_lock held(mutex_, std::adopt_lock);
    changed_.wait(held);
    held.release();
  }
  bool wait_until(Date* date) {
    std::unique_lock held(mutex_, std::adopt_lock);
    bool signalled =
        date && changed_.wait_until(held, date->as_time_point()) == std::cv_status::no_timeout;
    held.release();
    return signalled;
  }
  void signal() { changed_.notify_one(); }
  void broadcast() { changed_.notify_all(); }
  String* name() const { return name_.get(); }
  void set_name(String* name) { name_ = copy(name); }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Ref<String> name_;
};

OBJC_DEFINE_CLASS(Lock, "NSLock", objc::Object,
                  .methods =
                      {
                          objc::method<&Lock::lock>("lock"),
                          objc::method<&Lock::unlock>("unlock"),
                          objc::method<&Lock::try_lock>("tryLock"),
                          objc::method<&Lock::lock_before>("lockBeforeDate:"),
                          objc::method<&Lock::name>("name"),
                          objc::method<&Lock::set_name>("setName:"),
                      },
                  .protocols = {"NSLocking"});

OBJC_DEFINE_CLASS(RecursiveLock, "NSRecursiveLock", objc::Object,
                  .methods =
                      {
                          objc::method<&RecursiveLock::lock>("lock"),
                          objc::method<&RecursiveLock::unlock>("unlock"),
                          objc::method<&RecursiveLock::try_lock>("tryLock"),
                          objc::method<&RecursiveLock::lock_before>("lockBeforeDate:"),
                          objc::method<&RecursiveLock::name>("name"),
                          objc::method<&RecursiveLock::set_name>("setName:"),
                      },
                  .protocols = {"NSLocking"});

OBJC_DEFINE_CLASS(Condition, "NSCondition", objc::Object,
                  .methods =
                      {
                          objc::method<&Condition::lock>("lock"),
                          objc::method<&Condition::unlock>("unlock"),
                          objc::method<&Condition::wait>("wait"),
                          objc::method<&Condition::wait_until>("waitUntilDate:"),
                          objc::method<&Condition::signal>("signal"),
                          objc::method<&Condition::broadcast>("broadcast"),
                          objc::method<&Condition::name>("name"),
                          objc::method<&Condition::set_name>("setName:"),
                      },
                  .protocols = {"NSLocking"});

} // namespace ns

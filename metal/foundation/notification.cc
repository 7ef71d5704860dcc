// NSNotification and NSNotificationCenter.
#include <mutex>
#include <vector>

#include "metal/foundation/dictionary.h"
#include "metal/foundation/string.h"
#include "metal/objc/block.h"
#include "metal/objc/message.h"

namespace ns {

class Notification : public objc::Object {
public:
  OBJC_CLASS(Notification, "NSNotification");

  Notification() = default;
  Notification(String* name, Object* object, Dictionary* user_info)
      : name_(copy(name)), object_(object), user_info_(user_info) {}

  String* name() const { return name_.get(); }
  Object* object() const { return object_.get(); }
  Dictionary* user_info() const { return user_info_.get(); }

private:
  Ref<String> name_;
  Ref<Object> object_;
  Ref<Dictionary> user_info_;
};

/// What a block was registered under; the token that addObserver... gives.
class NotificationObserver : public objc::Object {
public:
  OBJC_CLASS(NotificationObserver, "BSMNotificationObserver");

  std::string name; // empty: any
  Object* object;   // null: any; not retained
  objc::BlockRef<void(Notification*)> block;
  // For addObserver:selector:name:object: an object that is not retained, and its method.
  Object* target = nullptr;
  objc::Selector* selector = nullptr;

  bool wants(const Notification& notification) const {
    return (name.empty() || name == utf8(notification.name())) &&
           (!object || object == notification.object());
  }
  void tell(Notification* notification) const {
    if (block)
      block(notification);
    else
      reinterpret_cast<void (*)(Object*, objc::Selector*, Notification*)>(&objc::objc_msgSend)(
          target, selector, notification);
  }
};

class NotificationCenter : public objc::Object {
public:
  OBJC_CLASS(NotificationCenter, "NSNotificationCenter");

  void add(Ref<NotificationObserver> observer) {
    std::lock_guard lock(mutex_);
    observers_.push_back(std::move(observer));
  }
  /// By the token, or by the target.
  void remove(Object* observer) {
    std::vector<Ref<NotificationObserver>> removed;
    std::lock_guard lock(mutex_);
    std::erase_if(observers_, [&](const Ref<NotificationObserver>& o) {
      bool gone = o.get() == observer || (o->target && o->target == observer);
      if (gone)
        removed.push_back(o);
      return gone;
    });
  }
  /// Observers are called on this thread, in the order they were added.
  void post(Notification* notification) {
    std::vector<Ref<NotificationObserver>> told;
    {
      std::lock_guard lock(mutex_);
      for (const auto& observer : observers_)
        if (observer->wants(*notification))
          told.push_back(observer);
    }
    for (const auto& observer : told)
      observer->tell(notification);
  }

private:
  std::mutex mutex_;
  std::vector<Ref<NotificationObserver>> observers_;
};

namespace {

NotificationCenter* default_center(objc::Class*) {
  static NotificationCenter* const center = objc::make<NotificationCenter>().take();
  return center;
}

/// The queue is not used: the poster's thread calls the block.
Object* add_block(NotificationCenter* self, String* name, Object* object, Object* /*queue*/,
                  objc::Block<void(Notification*)>* block) {
  auto observer = objc::make<NotificationObserver>();
  observer->name = utf8(name);
  observer->object = object;
  observer->block = objc::BlockRef<void(Notification*)>(block);
  self->add(observer);
  return observer.autorelease();
}
void add_target(NotificationCenter* self, Object* target, objc::Selector* selector, String* name,
                Object* object) {
  auto observer = objc::make<NotificationObserver>();
  observer->name = utf8(name);
  observer->object = object;
  observer->target = target;
  observer->selector = selector;
  self->add(std::move(observer));
}
void post_info(NotificationCenter* self, String* name, Object* object, Dictionary* user_info) {
  self->post(objc::make<Notification>(name, object, user_info).get());
}
void post_name(NotificationCenter* self, String* name, Object* object) {
  post_info(self, name, object, nullptr);
}
Notification* make(objc::Class*, String* name, Object* object) {
  return objc::make<Notification>(name, object, nullptr).autorelease();
}

} // namespace

OBJC_DEFINE_CLASS(Notification, "NSNotification", objc::Object,
                  .methods =
                      {
                          objc::method<&Notification::name>("name"),
                          objc::method<&Notification::object>("object"),
                          objc::method<&Notification::user_info>("userInfo"),
                      },
                  .class_methods = {objc::method<&make>("notificationWithName:object:")});

OBJC_DEFINE_CLASS(NotificationObserver, "BSMNotificationObserver", objc::Object, );

OBJC_DEFINE_CLASS(NotificationCenter, "NSNotificationCenter", objc::Object,
                  .methods =
                      {
                          objc::method<&add_block>("addObserverForName:object:queue:usingBlock:"),
                          objc::method<&add_target>("addObserver:selector:name:object:"),
                          objc::method<&NotificationCenter::remove>("removeObserver:"),
                          objc::method<&NotificationCenter::post>("postNotification:"),
                          objc::method<&post_name>("postNotificationName:object:"),
                          objc::method<&post_info>("postNotificationName:object:userInfo:"),
                      },
                  .class_methods = {objc::method<&default_center>("defaultCenter")});

} // namespace ns

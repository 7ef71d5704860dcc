// NSSet and NSMutableSet.
#include <cstdarg>
#include <span>
#include <unordered_set>

#include "metal/foundation/array.h"
#include "metal/foundation/dictionary.h"
#include "metal/foundation/enumerator.h"
#include "metal/foundation/string.h"
#include "metal/objc/block.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace ns {

class Set : public objc::Object {
public:
  OBJC_CLASS(Set, "NSSet");

  using Members = std::unordered_set<Ref<Object>, Dictionary::KeyHash, Dictionary::KeyEqual>;

  UInteger count() const { return members_.size(); }
  const Members& members() const { return members_; }
  Object* member(Object* object) const {
    auto found = object ? members_.find(Ref<Object>(object)) : members_.end();
    return found == members_.end() ? nullptr : found->get();
  }
  bool contains(Object* object) const { return member(object) != nullptr; }

  void add(Object* object) {
    if (!object)
      objc::fatal("NSSet: the object is nil");
    ++mutations_;
    members_.insert(Ref<Object>(object));
  }
  void remove(Object* object) {
    ++mutations_;
    if (object)
      members_.erase(Ref<Object>(object));
  }
  void clear() {
    ++mutations_;
    Members removed;
    removed.swap(members_);
  }

  std::vector<Ref<Object>> list() const { return {members_.begin(), members_.end()}; }

  UInteger enumerate(FastEnumerationState* state, Object** buffer, UInteger capacity) {
    state->mutations = &mutations_;
    state->items = buffer;
    UInteger given = 0;
    auto at = std::next(members_.begin(),
                        static_cast<ptrdiff_t>(std::min<size_t>(state->state, members_.size())));
    for (; at != members_.end() && given < capacity; ++at)
      buffer[given++] = at->get();
    state->state += given;
    return given;
  }

private:
  Members members_;
  unsigned long mutations_ = 0;
};

class MutableSet : public Set {
public:
  OBJC_CLASS(MutableSet, "NSMutableSet");
};

namespace {

Set* init_with_objects(Set* self, Object* const* objects, UInteger count) {
  for (UInteger i = 0; i < count; ++i)
    self->add(objects[i]);
  return self;
}
Set* init_with_array(Set* self, Array* array) {
  if (array)
    for (const Ref<Object>& object : array->items())
      self->add(object.get());
  return self;
}
Set* init_with_set(Set* self, Set* other) {
  if (other)
    for (const Ref<Object>& object : other->list())
      self->add(object.get());
  return self;
}
Set* init_with_capacity(Set* self, UInteger) { return self; }

Set* make_empty(objc::Class* cls) {
  auto* made = objc::send<Set*, "init">(objc::send<Object*, "alloc">(cls));
  objc_autorelease(made);
  return made;
}
Set* make_with_capacity(objc::Class* cls, UInteger) { return make_empty(cls); }
Set* make_with_object(objc::Class* cls, Object* object) {
  return init_with_objects(make_empty(cls), &object, 1);
}
Set* make_with_objects(objc::Class* cls, Object* const* objects, UInteger count) {
  return init_with_objects(make_empty(cls), objects, count);
}
Set* make_with_list(objc::Class* cls, objc::Selector*, Object* first, ...) {
  Set* made = make_empty(cls);
  va_list rest;
  va_start(rest, first);
  for (Object* object = first; object; object = va_arg(rest, Object*))
    made->add(object);
  va_end(rest);
  return made;
}
Set* make_with_array(objc::Class* cls, Array* array) {
  return init_with_array(make_empty(cls), array);
}
Set* make_with_set(objc::Class* cls, Set* other) { return init_with_set(make_empty(cls), other); }

Object* any(Set* self) { return self->count() ? self->members().begin()->get() : nullptr; }
Array* all_objects(Set* self) { return array(self->list()).autorelease(); }
Enumerator* enumerator(Set* self) {
  return objc::make<Enumerator>(self, self->list()).autorelease();
}
bool is_subset(Set* self, Set* other) {
  for (const Ref<Object>& object : self->members())
    if (!other || !other->contains(object.get()))
      return false;
  return true;
}
bool intersects(Set* self, Set* other) {
  for (const Ref<Object>& object : self->members())
    if (other && other->contains(object.get()))
      return true;
  return false;
}
bool is_equal_to_set(Set* self, Set* other) {
  return other && other->count() == self->count() && is_subset(self, other);
}
bool is_equal_to(Set* self, Object* other) { return is_equal_to_set(self, objc::cast<Set>(other)); }
UInteger hash(Set* self) { return self->count(); }
String* description(Set* self) {
  std::string text = "{(\n";
  for (const Ref<Object>& object : self->members())
    text += "    " + utf8(description_of(object.get())) + "\n";
  return autoreleased_string(text + ")}");
}
void for_each(Set* self, objc::Block<void(Object*, bool*)>* block) {
  bool stop = false;
  for (const Ref<Object>& object : self->list()) {
    (*block)(object.get(), &stop);
    if (stop)
      break;
  }
}
Set* copied(Set* self, void*) {
  if (!objc::cast<MutableSet>(self))
    return Ref<Set>(self).take();
  return init_with_set(objc::make<Set>().take(), self);
}
Set* mutable_copied(Set* self, void*) {
  return init_with_set(objc::make<MutableSet>().take(), self);
}

void add_from_array(Set* self, Array* array) { init_with_array(self, array); }
void unite(Set* self, Set* other) { init_with_set(self, other); }
void minus(Set* self, Set* other) {
  if (other)
    for (const Ref<Object>& object : other->list())
      self->remove(object.get());
}
void intersect(Set* self, Set* other) {
  for (const Ref<Object>& object : self->list())
    if (!other || !other->contains(object.get()))
      self->remove(object.get());
}

} // namespace

OBJC_DEFINE_CLASS(
    Set, "NSSet", objc::Object,
    .methods =
        {
            objc::method<&init_with_objects>("initWithObjects:count:"),
            objc::method<&init_with_array>("initWithArray:"),
            objc::method<&init_with_set>("initWithSet:"),
            objc::method<&Set::count>("count"),
            objc::method<&Set::member>("member:"),
            objc::method<&Set::contains>("containsObject:"),
            objc::method<&any>("anyObject"),
            objc::method<&all_objects>("allObjects"),
            objc::method<&enumerator>("objectEnumerator"),
            objc::method<&is_subset>("isSubsetOfSet:"),
            objc::method<&intersects>("intersectsSet:"),
            objc::method<&is_equal_to_set>("isEqualToSet:"),
            objc::method<&is_equal_to>("isEqual:"),
            objc::method<&hash>("hash"),
            objc::method<&description>("description"),
            objc::method<&for_each>("enumerateObjectsUsingBlock:"),
            objc::method<&Set::enumerate>("countByEnumeratingWithState:objects:count:"),
            objc::method<&copied>("copyWithZone:"),
            objc::method<&mutable_copied>("mutableCopyWithZone:"),
        },
    .class_methods =
        {
            objc::method<&make_empty>("set"),
            objc::method<&make_with_object>("setWithObject:"),
            objc::method<&make_with_objects>("setWithObjects:count:"),
            objc::raw_method<&make_with_list>("setWithObjects:", "@@:@"),
            objc::method<&make_with_array>("setWithArray:"),
            objc::method<&make_with_set>("setWithSet:"),
        },
    .protocols = {"NSCopying", "NSMutableCopying", "NSFastEnumeration", "NSSecureCoding"});

OBJC_DEFINE_CLASS(MutableSet, "NSMutableSet", Set,
                  .methods =
                      {
                          objc::method<&init_with_capacity>("initWithCapacity:"),
                          objc::method<&Set::add>("addObject:"),
                          objc::method<&Set::remove>("removeObject:"),
                          objc::method<&Set::clear>("removeAllObjects"),
                          objc::method<&add_from_array>("addObjectsFromArray:"),
                          objc::method<&unite>("unionSet:"),
                          objc::method<&minus>("minusSet:"),
                          objc::method<&intersect>("intersectSet:"),
                      },
                  .class_methods = {objc::method<&make_with_capacity>("setWithCapacity:")});

} // namespace ns

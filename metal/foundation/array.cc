#include "metal/foundation/array.h"

#include <algorithm>
#include <cstdarg>
#include <numeric>

#include "metal/foundation/enumerator.h"
#include "metal/foundation/string.h"
#include "metal/objc/block.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace ns {

Array::Array(std::span<Object* const> objects) {
  items_.reserve(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    if (!objects[i])
      objc::fatal("NSArray: object %zu of %zu is nil", i, objects.size());
    items_.emplace_back(objects[i]);
  }
}

Object* Array::object_at(UInteger index) const {
  if (index >= items_.size())
    objc::fatal("-[%s objectAtIndex:]: index %lu is out of bounds; count is %zu", isa->name, index,
                items_.size());
  return items_[index].get();
}

UInteger Array::index_of(Object* object) const {
  for (size_t i = 0; i < items_.size(); ++i)
    if (is_equal(items_[i].get(), object))
      return i;
  return kNotFound;
}

UInteger Array::enumerate(FastEnumerationState* state, Object**, UInteger) {
  static_assert(sizeof(Ref<Object>) == sizeof(Object*));
  if (state->state)
    return 0;
  state->state = 1;
  state->items = reinterpret_cast<Object**>(items_.data());
  state->mutations = &mutations_;
  return items_.size();
}

void MutableArray::add(Object* object) {
  if (!object)
    objc::fatal("-[NSMutableArray addObject:]: the object is nil");
  mutable_items().emplace_back(object);
}

Ref<Array> array(std::span<Object* const> objects) { return objc::make<Array>(objects); }

namespace {

Array* make_in(objc::Class* cls, std::span<Object* const> objects) {
  auto* made = objc::send<Array*, "init">(objc::send<Object*, "alloc">(cls));
  made->mutable_items() = Array(objects).items();
  objc_autorelease(made);
  return made;
}

Array* make_empty(objc::Class* cls) { return make_in(cls, {}); }
Array* make_with_object(objc::Class* cls, Object* object) { return make_in(cls, {&object, 1}); }
Array* make_with_objects(objc::Class* cls, Object* const* objects, UInteger count) {
  return make_in(cls, {objects, count});
}
Array* make_with_array(objc::Class* cls, Array* other) {
  Array* made = make_in(cls, {});
  if (other)
    made->mutable_items() = other->items();
  return made;
}
Array* make_with_capacity(objc::Class* cls, UInteger) { return make_in(cls, {}); }
std::vector<Object*> listed(Object* first, va_list rest) {
  std::vector<Object*> objects;
  for (Object* object = first; object; object = va_arg(rest, Object*))
    objects.push_back(object);
  return objects;
}
Array* make_with_list(objc::Class* cls, objc::Selector*, Object* first, ...) {
  va_list rest;
  va_start(rest, first);
  std::vector<Object*> objects = listed(first, rest);
  va_end(rest);
  return make_in(cls, objects);
}

Array* init_with_objects(Array* self, Object* const* objects, UInteger count) {
  self->mutable_items() = Array(std::span(objects, count)).items();
  return self;
}
Array* init_with_list(Array* self, objc::Selector*, Object* first, ...) {
  va_list rest;
  va_start(rest, first);
  std::vector<Object*> objects = listed(first, rest);
  va_end(rest);
  return init_with_objects(self, objects.data(), objects.size());
}
Array* init_with_array(Array* self, Array* other) {
  if (other)
    self->mutable_items() = other->items();
  return self;
}
Array* init_with_capacity(Array* self, UInteger capacity) {
  self->mutable_items().reserve(std::min<UInteger>(capacity, 1 << 20));
  return self;
}

Object* first(Array* self) { return self->count() ? self->object_at(0) : nullptr; }
Object* last(Array* self) { return self->count() ? self->object_at(self->count() - 1) : nullptr; }
bool contains(Array* self, Object* object) { return self->index_of(object) != kNotFound; }
UInteger index_of_identical(Array* self, Object* object) {
  auto found = std::ranges::find(self->items(), object, &Ref<Object>::get);
  return found == self->items().end() ? kNotFound
                                      : static_cast<UInteger>(found - self->items().begin());
}

bool is_equal_to_array(Array* self, Array* other) {
  if (!other || self->count() != other->count())
    return false;
  for (UInteger i = 0; i < self->count(); ++i)
    if (!is_equal(self->object_at(i), other->object_at(i)))
      return false;
  return true;
}
bool is_equal_to(Array* self, Object* other) {
  return is_equal_to_array(self, objc::cast<Array>(other));
}
UInteger hash(Array* self) { return self->count(); }

String* description(Array* self) {
  std::string text = "(\n";
  for (UInteger i = 0; i < self->count(); ++i)
    text +=
        "    " + utf8(description_of(self->object_at(i))) + (i + 1 < self->count() ? ",\n" : "\n");
  return autoreleased_string(text + ")");
}

String* components_joined(Array* self, String* separator) {
  std::string text;
  for (UInteger i = 0; i < self->count(); ++i)
    text += (i ? utf8(separator) : "") + utf8(description_of(self->object_at(i)));
  return autoreleased_string(text);
}

Array* adding(Array* self, Object* object) {
  auto made = objc::make<Array>();
  made->mutable_items() = self->items();
  made->mutable_items().emplace_back(object);
  return made.autorelease();
}
Array* adding_from(Array* self, Array* other) {
  auto made = objc::make<Array>();
  made->mutable_items() = self->items();
  if (other)
    for (const Ref<Object>& object : other->items())
      made->mutable_items().push_back(object);
  return made.autorelease();
}
Array* subarray(Array* self, Range range) {
  if (range.location > self->count() || range.length > self->count() - range.location)
    objc::fatal("-[NSArray subarrayWithRange:]: range {%lu, %lu} of %lu", range.location,
                range.length, self->count());
  auto made = objc::make<Array>();
  auto begin = self->items().begin() + static_cast<ptrdiff_t>(range.location);
  made->mutable_items().assign(begin, begin + static_cast<ptrdiff_t>(range.length));
  return made.autorelease();
}

using EachBlock = objc::Block<void(Object*, UInteger, bool*)>;
void for_each(Array* self, EachBlock* block) {
  bool stop = false;
  for (UInteger i = 0; i < self->count() && !stop; ++i)
    (*block)(self->object_at(i), i, &stop);
}

/// A stable sort; `before` says whether one object goes before another.
template <class Before>
std::vector<Ref<Object>> sorted(const std::vector<Ref<Object>>& items, Before before) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    if (before(items[a].get(), items[b].get()))
      return true;
    return a < b && !before(items[b].get(), items[a].get());
  });
  std::vector<Ref<Object>> result;
  for (size_t i : order)
    result.push_back(items[i]);
  return result;
}

using Comparator = objc::Block<Integer(Object*, Object*)>;
std::vector<Ref<Object>> sorted_with(const std::vector<Ref<Object>>& items,
                                     Comparator* comparator) {
  return sorted(items, [&](Object* a, Object* b) { return (*comparator)(a, b) < 0; });
}
std::vector<Ref<Object>> sorted_by(const std::vector<Ref<Object>>& items,
                                   objc::Selector* selector) {
  auto compare =
      reinterpret_cast<Integer (*)(Object*, objc::Selector*, Object*)>(&objc::objc_msgSend);
  return sorted(items, [&](Object* a, Object* b) { return compare(a, selector, b) < 0; });
}
Array* sorted_with_comparator(Array* self, Comparator* comparator) {
  auto made = objc::make<Array>();
  made->mutable_items() = sorted_with(self->items(), comparator);
  return made.autorelease();
}
Array* sorted_with_selector(Array* self, objc::Selector* selector) {
  auto made = objc::make<Array>();
  made->mutable_items() = sorted_by(self->items(), selector);
  return made.autorelease();
}

Enumerator* object_enumerator(Array* self) {
  return objc::make<Enumerator>(self, self->items()).autorelease();
}
Enumerator* reverse_enumerator(Array* self) {
  return objc::make<Enumerator>(
             self, std::vector<Ref<Object>>(self->items().rbegin(), self->items().rend()))
      .autorelease();
}
void get_objects(Array* self, Object** buffer, Range range) {
  for (UInteger i = 0; i < range.length; ++i)
    buffer[i] = self->object_at(range.location + i);
}

bool is_mutable(Array* self) { return objc::cast<MutableArray>(self); }
Array* copied(Array* self) {
  if (!is_mutable(self))
    return Ref<Array>(self).take();
  auto made = objc::make<Array>();
  made->mutable_items() = self->items();
  return made.take();
}
Array* copied_with_zone(Array* self, void*) { return copied(self); }
MutableArray* mutable_copy(Array* self) {
  auto made = objc::make<MutableArray>();
  made->mutable_items() = self->items();
  return made.take();
}
MutableArray* mutable_copy_with_zone(Array* self, void*) { return mutable_copy(self); }

// --- NSMutableArray ---------------------------------------------------------------------------

void add_from(MutableArray* self, Array* other) {
  if (!other)
    return;
  std::vector<Ref<Object>> added = other->items(); // `other` may be self
  for (Ref<Object>& object : added)
    self->mutable_items().push_back(std::move(object));
}
void check_index(MutableArray* self, const char* method, UInteger index, UInteger end) {
  if (index >= end)
    objc::fatal("-[NSMutableArray %s]: index %lu is out of bounds; count is %lu", method, index,
                self->count());
}
void check_object(const char* method, Object* object) {
  if (!object)
    objc::fatal("-[NSMutableArray %s]: the object is nil", method);
}
auto position(MutableArray* self, UInteger index) {
  return self->mutable_items().begin() + static_cast<ptrdiff_t>(index);
}
void insert_at(MutableArray* self, Object* object, UInteger index) {
  check_object("insertObject:atIndex:", object);
  check_index(self, "insertObject:atIndex:", index, self->count() + 1);
  self->mutable_items().insert(position(self, index), Ref<Object>(object));
}
void replace_at(MutableArray* self, UInteger index, Object* object) {
  check_object("replaceObjectAtIndex:withObject:", object);
  check_index(self, "replaceObjectAtIndex:withObject:", index, self->count());
  *position(self, index) = Ref<Object>(object);
}
void set_subscript(MutableArray* self, Object* object, UInteger index) {
  if (index == self->count())
    self->add(object);
  else
    replace_at(self, index, object);
}
void remove_at(MutableArray* self, UInteger index) {
  check_index(self, "removeObjectAtIndex:", index, self->count());
  // Released when the array is whole again: a dealloc may look at it.
  Ref<Object> removed = *position(self, index);
  self->mutable_items().erase(position(self, index));
}
void remove_last(MutableArray* self) { remove_at(self, self->count() - 1); }
void remove_object(MutableArray* self, Object* object) {
  std::vector<Ref<Object>> kept, removed;
  for (const Ref<Object>& item : self->items())
    (is_equal(item.get(), object) ? removed : kept).push_back(item);
  self->mutable_items() = std::move(kept);
}
void remove_identical(MutableArray* self, Object* object) {
  std::vector<Ref<Object>> kept, removed;
  for (const Ref<Object>& item : self->items())
    (item == object ? removed : kept).push_back(item);
  self->mutable_items() = std::move(kept);
}
void remove_all(MutableArray* self) {
  std::vector<Ref<Object>> removed;
  removed.swap(self->mutable_items());
}
void exchange(MutableArray* self, UInteger a, UInteger b) {
  check_index(self, "exchangeObjectAtIndex:withObjectAtIndex:", std::max(a, b), self->count());
  std::swap(*position(self, a), *position(self, b));
}
void sort_with_comparator(MutableArray* self, Comparator* comparator) {
  self->mutable_items() = sorted_with(self->items(), comparator);
}
void sort_with_selector(MutableArray* self, objc::Selector* selector) {
  self->mutable_items() = sorted_by(self->items(), selector);
}
void set_array(MutableArray* self, Array* other) {
  self->mutable_items() = other ? other->items() : std::vector<Ref<Object>>();
}

} // namespace

OBJC_DEFINE_CLASS(
    Array, "NSArray", objc::Object,
    .methods =
        {
            objc::method<&init_with_objects>("initWithObjects:count:"),
            objc::raw_method<&init_with_list>("initWithObjects:", "@@:@"),
            objc::method<&init_with_array>("initWithArray:"),
            objc::method<&Array::count>("count"),
            objc::method<&Array::object_at>("objectAtIndex:"),
            objc::method<&Array::object_at>("objectAtIndexedSubscript:"),
            objc::method<&first>("firstObject"),
            objc::method<&last>("lastObject"),
            objc::method<&contains>("containsObject:"),
            objc::method<&Array::index_of>("indexOfObject:"),
            objc::method<&index_of_identical>("indexOfObjectIdenticalTo:"),
            objc::method<&is_equal_to_array>("isEqualToArray:"),
            objc::method<&is_equal_to>("isEqual:"),
            objc::method<&hash>("hash"),
            objc::method<&description>("description"),
            objc::method<&components_joined>("componentsJoinedByString:"),
            objc::method<&adding>("arrayByAddingObject:"),
            objc::method<&adding_from>("arrayByAddingObjectsFromArray:"),
            objc::method<&subarray>("subarrayWithRange:"),
            objc::method<&for_each>("enumerateObjectsUsingBlock:"),
            objc::method<&sorted_with_comparator>("sortedArrayUsingComparator:"),
            objc::method<&sorted_with_selector>("sortedArrayUsingSelector:"),
            objc::method<&object_enumerator>("objectEnumerator"),
            objc::method<&reverse_enumerator>("reverseObjectEnumerator"),
            objc::method<&get_objects>("getObjects:range:"),
            objc::method<&Array::enumerate>("countByEnumeratingWithState:objects:count:"),
            objc::method<&copied>("copy"),
            objc::method<&copied_with_zone>("copyWithZone:"),
            objc::method<&mutable_copy>("mutableCopy"),
            objc::method<&mutable_copy_with_zone>("mutableCopyWithZone:"),
        },
    .class_methods =
        {
            objc::method<&make_empty>("array"),
            objc::method<&make_with_object>("arrayWithObject:"),
            objc::method<&make_with_objects>("arrayWithObjects:count:"),
            objc::raw_method<&make_with_list>("arrayWithObjects:", "@@:@"),
            objc::method<&make_with_array>("arrayWithArray:"),
        },
    .protocols = {"NSCopying", "NSMutableCopying", "NSFastEnumeration", "NSSecureCoding"});

OBJC_DEFINE_CLASS(MutableArray, "NSMutableArray", Array,
                  .methods =
                      {
                          objc::method<&init_with_capacity>("initWithCapacity:"),
                          objc::method<&MutableArray::add>("addObject:"),
                          objc::method<&add_from>("addObjectsFromArray:"),
                          objc::method<&insert_at>("insertObject:atIndex:"),
                          objc::method<&replace_at>("replaceObjectAtIndex:withObject:"),
                          objc::method<&set_subscript>("setObject:atIndexedSubscript:"),
                          objc::method<&remove_at>("removeObjectAtIndex:"),
                          objc::method<&remove_last>("removeLastObject"),
                          objc::method<&remove_object>("removeObject:"),
                          objc::method<&remove_identical>("removeObjectIdenticalTo:"),
                          objc::method<&remove_all>("removeAllObjects"),
                          objc::method<&exchange>("exchangeObjectAtIndex:withObjectAtIndex:"),
                          objc::method<&sort_with_comparator>("sortUsingComparator:"),
                          objc::method<&sort_with_selector>("sortUsingSelector:"),
                          objc::method<&set_array>("setArray:"),
                      },
                  .class_methods = {objc::method<&make_with_capacity>("arrayWithCapacity:")});

} // namespace ns

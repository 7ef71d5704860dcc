#include "metal/foundation/dictionary.h"

#include <cstdarg>

#include "metal/foundation/enumerator.h"
#include "metal/foundation/string.h"
#include "metal/objc/block.h"
#include "metal/objc/message.h"
#include "metal/objc/runtime.h"

namespace ns {

Dictionary::Dictionary(std::span<Object* const> objects, std::span<Object* const> keys) {
  for (size_t i = 0; i < objects.size(); ++i)
    set(objects[i], keys[i]);
}

Object* Dictionary::object_for(Object* key) const {
  if (!key)
    return nullptr;
  // The table's keys are owned; this one need not be for a look-up, but a retain is cheap.
  auto found = entries_.find(Ref<Object>(key));
  return found == entries_.end() ? nullptr : found->second.get();
}

void Dictionary::set(Object* object, Object* key) {
  if (!object || !key)
    objc::fatal("NSDictionary: the %s is nil", key ? "object" : "key");
  ++mutations_;
  entries_.insert_or_assign(Ref<Object>::adopt(objc::send<Object*, "copy">(key)),
                            Ref<Object>(object));
}

void Dictionary::remove(Object* key) {
  ++mutations_;
  if (key)
    entries_.erase(Ref<Object>(key));
}

void Dictionary::clear() {
  ++mutations_;
  Entries removed;
  removed.swap(entries_);
}

UInteger Dictionary::enumerate_keys(FastEnumerationState* state, Object** buffer,
                                    UInteger capacity) {
  state->mutations = &mutations_;
  state->items = buffer;
  UInteger given = 0;
  auto entry = std::next(entries_.begin(),
                         static_cast<ptrdiff_t>(std::min<size_t>(state->state, entries_.size())));
  for (; entry != entries_.end() && given < capacity; ++entry)
    buffer[given++] = entry->first.get();
  state->state += given;
  return given;
}

namespace {

Dictionary* make_in(objc::Class* cls, Dictionary* other = nullptr) {
  auto* made = objc::send<Dictionary*, "init">(objc::send<Object*, "alloc">(cls));
  if (other)
    for (const auto& [key, object] : other->entries())
      made->set(object.get(), key.get());
  objc_autorelease(made);
  return made;
}

Dictionary* make_empty(objc::Class* cls) { return make_in(cls); }
Dictionary* make_with_capacity(objc::Class* cls, UInteger) { return make_in(cls); }
Dictionary* make_with_object(objc::Class* cls, Object* object, Object* key) {
  Dictionary* made = make_in(cls);
  made->set(object, key);
  return made;
}
Dictionary* init_with_objects(Dictionary* self, Object* const* objects, Object* const* keys,
                              UInteger count) {
  for (UInteger i = 0; i < count; ++i)
    self->set(objects[i], keys[i]);
  return self;
}
Dictionary* make_with_objects(objc::Class* cls, Object* const* objects, Object* const* keys,
                              UInteger count) {
  return init_with_objects(make_in(cls), objects, keys, count);
}
Dictionary* make_with_arrays(objc::Class* cls, Array* objects, Array* keys) {
  Dictionary* made = make_in(cls);
  for (UInteger i = 0; keys && i < keys->count(); ++i)
    made->set(objects->object_at(i), keys->object_at(i));
  return made;
}
Dictionary* make_with_dictionary(objc::Class* cls, Dictionary* other) {
  return make_in(cls, other);
}
void add_list(Dictionary* made, Object* first, va_list rest) {
  for (Object* object = first; object; object = va_arg(rest, Object*))
    made->set(object, va_arg(rest, Object*));
}
Dictionary* make_with_list(objc::Class* cls, objc::Selector*, Object* first, ...) {
  Dictionary* made = make_in(cls);
  va_list rest;
  va_start(rest, first);
  add_list(made, first, rest);
  va_end(rest);
  return made;
}
Dictionary* init_with_list(Dictionary* self, objc::Selector*, Object* first, ...) {
  va_list rest;
  va_start(rest, first);
  add_list(self, first, rest);
  va_end(rest);
  return self;
}
Dictionary* init_with_dictionary(Dictionary* self, Dictionary* other) {
  if (other)
    for (const auto& [key, object] : other->entries())
      self->set(object.get(), key.get());
  return self;
}
Dictionary* init_with_capacity(Dictionary* self, UInteger) { return self; }

std::vector<Ref<Object>> keys_of(Dictionary* self) {
  std::vector<Ref<Object>> keys;
  for (const auto& [key, object] : self->entries())
    keys.push_back(key);
  return keys;
}
std::vector<Ref<Object>> values_of(Dictionary* self) {
  std::vector<Ref<Object>> values;
  for (const auto& [key, object] : self->entries())
    values.push_back(object);
  return values;
}
Array* all_keys(Dictionary* self) { return array(keys_of(self)).autorelease(); }
Array* all_values(Dictionary* self) { return array(values_of(self)).autorelease(); }
Enumerator* key_enumerator(Dictionary* self) {
  return objc::make<Enumerator>(self, keys_of(self)).autorelease();
}
Enumerator* object_enumerator(Dictionary* self) {
  return objc::make<Enumerator>(self, values_of(self)).autorelease();
}

bool is_equal_to_dictionary(Dictionary* self, Dictionary* other) {
  if (!other || self->count() != other->count())
    return false;
  for (const auto& [key, object] : self->entries())
    if (!is_equal(object.get(), other->object_for(key.get())))
      return false;
  return true;
}
bool is_equal_to(Dictionary* self, Object* other) {
  return is_equal_to_dictionary(self, objc::cast<Dictionary>(other));
}
UInteger hash(Dictionary* self) { return self->count(); }
String* description(Dictionary* self) {
  std::string text = "{\n";
  for (const auto& [key, object] : self->entries())
    text += "    " + utf8(description_of(key.get())) + " = " + utf8(description_of(object.get())) +
            ";\n";
  return autoreleased_string(text + "}");
}

using EachBlock = objc::Block<void(Object*, Object*, bool*)>;
void for_each(Dictionary* self, EachBlock* block) {
  bool stop = false;
  for (const auto& [key, object] : self->entries()) {
    (*block)(key.get(), object.get(), &stop);
    if (stop)
      break;
  }
}

Dictionary* copied(Dictionary* self) {
  if (!objc::cast<MutableDictionary>(self))
    return Ref<Dictionary>(self).take();
  auto made = objc::make<Dictionary>();
  return init_with_dictionary(made.take(), self);
}
Dictionary* copied_with_zone(Dictionary* self, void*) { return copied(self); }
Dictionary* mutable_copy(Dictionary* self) {
  return init_with_dictionary(objc::make<MutableDictionary>().take(), self);
}
Dictionary* mutable_copy_with_zone(Dictionary* self, void*) { return mutable_copy(self); }

void set_subscript(Dictionary* self, Object* object, Object* key) {
  if (object)
    self->set(object, key);
  else
    self->remove(key);
}
void add_entries(Dictionary* self, Dictionary* other) {
  if (other != self)
    init_with_dictionary(self, other);
}
void remove_for_keys(Dictionary* self, Array* keys) {
  if (keys)
    for (const Ref<Object>& key : keys->items())
      self->remove(key.get());
}

} // namespace

OBJC_DEFINE_CLASS(
    Dictionary, "NSDictionary", objc::Object,
    .methods =
        {
            objc::method<&init_with_objects>("initWithObjects:forKeys:count:"),
            objc::raw_method<&init_with_list>("initWithObjectsAndKeys:", "@@:@"),
            objc::method<&init_with_dictionary>("initWithDictionary:"),
            objc::method<&Dictionary::count>("count"),
            objc::method<&Dictionary::object_for>("objectForKey:"),
            objc::method<&Dictionary::object_for>("objectForKeyedSubscript:"),
            objc::method<&Dictionary::object_for>("valueForKey:"),
            objc::method<&all_keys>("allKeys"),
            objc::method<&all_values>("allValues"),
            objc::method<&key_enumerator>("keyEnumerator"),
            objc::method<&object_enumerator>("objectEnumerator"),
            objc::method<&is_equal_to_dictionary>("isEqualToDictionary:"),
            objc::method<&is_equal_to>("isEqual:"),
            objc::method<&hash>("hash"),
            objc::method<&description>("description"),
            objc::method<&for_each>("enumerateKeysAndObjectsUsingBlock:"),
            objc::method<&Dictionary::enumerate_keys>("countByEnumeratingWithState:objects:count:"),
            objc::method<&copied>("copy"),
            objc::method<&copied_with_zone>("copyWithZone:"),
            objc::method<&mutable_copy>("mutableCopy"),
            objc::method<&mutable_copy_with_zone>("mutableCopyWithZone:"),
        },
    .class_methods =
        {
            objc::method<&make_empty>("dictionary"),
            objc::method<&make_with_object>("dictionaryWithObject:forKey:"),
            objc::method<&make_with_objects>("dictionaryWithObjects:forKeys:count:"),
            objc::method<&make_with_arrays>("dictionaryWithObjects:forKeys:"),
            objc::raw_method<&make_with_list>("dictionaryWithObjectsAndKeys:", "@@:@"),
            objc::method<&make_with_dictionary>("dictionaryWithDictionary:"),
        },
    .protocols = {"NSCopying", "NSMutableCopying", "NSFastEnumeration", "NSSecureCoding"});

OBJC_DEFINE_CLASS(MutableDictionary, "NSMutableDictionary", Dictionary,
                  .methods =
                      {
                          objc::method<&init_with_capacity>("initWithCapacity:"),
                          objc::method<&Dictionary::set>("setObject:forKey:"),
                          objc::method<&set_subscript>("setObject:forKeyedSubscript:"),
                          objc::method<&set_subscript>("setValue:forKey:"),
                          objc::method<&Dictionary::remove>("removeObjectForKey:"),
                          objc::method<&remove_for_keys>("removeObjectsForKeys:"),
                          objc::method<&Dictionary::clear>("removeAllObjects"),
                          objc::method<&add_entries>("addEntriesFromDictionary:"),
                      },
                  .class_methods = {objc::method<&make_with_capacity>("dictionaryWithCapacity:")});

} // namespace ns

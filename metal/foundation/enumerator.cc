#include "metal/foundation/enumerator.h"

#include "metal/foundation/array.h"

namespace ns {

Object* Enumerator::next() { return at_ < objects_.size() ? objects_[at_++].get() : nullptr; }

UInteger Enumerator::enumerate(FastEnumerationState* state, Object**, UInteger) {
  // The collection was copied, so that it may change meanwhile.
  static unsigned long never_changes = 0;
  state->state = 1;
  state->mutations = &never_changes;
  state->items = reinterpret_cast<Object**>(objects_.data() + at_);
  UInteger count = objects_.size() - at_;
  at_ = objects_.size();
  return count;
}

std::vector<Ref<Object>> Enumerator::rest() {
  std::vector<Ref<Object>> objects(objects_.begin() + static_cast<ptrdiff_t>(at_), objects_.end());
  at_ = objects_.size();
  return objects;
}

namespace {

Array* all_objects(Enumerator* self) { return array(self->rest()).autorelease(); }

} // namespace

OBJC_DEFINE_CLASS(
    Enumerator, "NSEnumerator", objc::Object,
    .methods =
        {
            objc::method<&Enumerator::next>("nextObject"),
            objc::method<&all_objects>("allObjects"),
            objc::method<&Enumerator::enumerate>("countByEnumeratingWithState:objects:count:"),
        },
    .protocols = {"NSFastEnumeration"});

} // namespace ns

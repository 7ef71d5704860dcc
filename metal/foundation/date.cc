#include "metal/foundation/date.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "metal/foundation/string.h"

namespace ns {

Date::Date() : since_reference_(now()) {}

double Date::now() {
  std::chrono::duration<double> since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return since_1970.count() - kReference;
}

std::chrono::system_clock::time_point Date::as_time_point() const {
  // Within what the clock counts: +distantFuture is past it.
  double seconds = std::clamp(since_reference_ + kReference, -9e9, 9e9);
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::duration<double>(seconds)));
}

namespace {

Date* make(objc::Class*, double since_reference) {
  return objc::make<Date>(since_reference).autorelease();
}
Date* date(objc::Class* cls) { return make(cls, Date::now()); }
Date* since_now(objc::Class* cls, double seconds) { return make(cls, Date::now() + seconds); }
Date* since_1970(objc::Class* cls, double seconds) { return make(cls, seconds - Date::kReference); }
Date* distant_future(objc::Class* cls) { return make(cls, 63113904000.0); } // year 4001
Date* distant_past(objc::Class* cls) { return make(cls, -63114076800.0); }  // year 1
double class_since_reference(objc::Class*) { return Date::now(); }

Date* init_since_now(Date* self, double seconds) {
  self->set_since_reference(Date::now() + seconds);
  return self;
}
Date* init_since_1970(Date* self, double seconds) {
  self->set_since_reference(seconds - Date::kReference);
  return self;
}
double seconds_since_now(Date* self) { return self->since_reference() - Date::now(); }
double seconds_since_1970(Date* self) { return self->since_reference() + Date::kReference; }
double seconds_since(Date* self, Date* other) {
  return self->since_reference() - (other ? other->since_reference() : 0);
}
Date* adding(Date* self, double seconds) {
  return objc::make<Date>(self->since_reference() + seconds).autorelease();
}
ComparisonResult compare(Date* self, Date* other) {
  double difference = seconds_since(self, other);
  return difference < 0   ? ComparisonResult::Ascending
         : difference > 0 ? ComparisonResult::Descending
                          : ComparisonResult::Same;
}
bool is_equal_to(Date* self, Object* other) {
  auto* date = objc::cast<Date>(other);
  return date && date->since_reference() == self->since_reference();
}
UInteger hash(Date* self) { return std::hash<double>()(self->since_reference()); }
String* description(Date* self) {
  auto seconds = static_cast<time_t>(std::floor(seconds_since_1970(self)));
  std::tm parts{};
  char text[64] = "";
  if (gmtime_r(&seconds, &parts))
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S +0000", &parts);
  return autoreleased_string(text);
}
Date* copied(Date* self, void*) { return Ref<Date>(self).take(); }

} // namespace

OBJC_DEFINE_CLASS(Date, "NSDate", objc::Object,
                  .methods =
                      {
                          objc::method<&init_since_now>("initWithTimeIntervalSinceNow:"),
                          objc::method<&init_since_1970>("initWithTimeIntervalSince1970:"),
                          objc::method<&Date::since_reference>("timeIntervalSinceReferenceDate"),
                          objc::method<&seconds_since_now>("timeIntervalSinceNow"),
                          objc::method<&seconds_since_1970>("timeIntervalSince1970"),
                          objc::method<&seconds_since>("timeIntervalSinceDate:"),
                          objc::method<&adding>("dateByAddingTimeInterval:"),
                          objc::method<&compare>("compare:"),
                          objc::method<&is_equal_to>("isEqual:"),
                          objc::method<&is_equal_to>("isEqualToDate:"),
                          objc::method<&hash>("hash"),
                          objc::method<&description>("description"),
                          objc::method<&copied>("copyWithZone:"),
                      },
                  .class_methods =
                      {
                          objc::method<&date>("date"),
                          objc::method<&date>("now"),
                          objc::method<&since_now>("dateWithTimeIntervalSinceNow:"),
                          objc::method<&since_1970>("dateWithTimeIntervalSince1970:"),
                          objc::method<&make>("dateWithTimeIntervalSinceReferenceDate:"),
                          objc::method<&distant_future>("distantFuture"),
                          objc::method<&distant_past>("distantPast"),
                          objc::method<&class_since_reference>("timeIntervalSinceReferenceDate"),
                      },
                  .protocols = {"NSCopying", "NSSecureCoding"});

} // namespace ns

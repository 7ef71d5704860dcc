// MTLCounter and MTLCounterSet. The device counts one thing: time.
#pragma once

#include "metal/foundation/array.h"
#include "metal/foundation/string.h"

namespace mtl {

class Counter : public objc::Object {
public:
  OBJC_CLASS(Counter, "BSMCounter");
  explicit Counter(ns::String* name) : name_(name) {}
  ns::String* name() const { return name_.get(); }

private:
  objc::Ref<ns::String> name_;
};

class CounterSet : public objc::Object {
public:
  OBJC_CLASS(CounterSet, "BSMCounterSet");
  /// MTLCommonCounterSetTimestamp with MTLCommonCounterTimestamp in it.
  static CounterSet* timestamp();

  CounterSet(ns::String* name, objc::Ref<ns::Array> counters)
      : name_(name), counters_(std::move(counters)) {}
  ns::String* name() const { return name_.get(); }
  ns::Array* counters() const { return counters_.get(); }

private:
  objc::Ref<ns::String> name_;
  objc::Ref<ns::Array> counters_;
};

} // namespace mtl

#include "metal/runtime/counter_set.h"

#include "metal/runtime/constants.h"

namespace mtl {

CounterSet* CounterSet::timestamp() {
  static CounterSet* const set = [] {
    std::vector<objc::Ref<Counter>> counters{objc::make<Counter>(MTLCommonCounterTimestamp)};
    return objc::make<CounterSet>(MTLCommonCounterSetTimestamp, ns::array(counters)).take();
  }();
  return set;
}

OBJC_DEFINE_CLASS(Counter, "BSMCounter", objc::Object,
                  .methods = {objc::method<&Counter::name>("name")}, .protocols = {"MTLCounter"});

OBJC_DEFINE_CLASS(CounterSet, "BSMCounterSet", objc::Object,
                  .methods =
                      {
                          objc::method<&CounterSet::name>("name"),
                          objc::method<&CounterSet::counters>("counters"),
                      },
                  .protocols = {"MTLCounterSet"});

} // namespace mtl

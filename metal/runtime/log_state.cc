#include "metal/runtime/log_state.h"

#include "metal/runtime/constants.h"
#include "metal/runtime/property.h"

namespace mtl {

objc::Ref<LogState> LogState::create(LogStateDescriptor* descriptor, ns::Error** error) {
  constexpr Integer kSmallest = 1024;
  Integer size = descriptor ? descriptor->buffer_size : kSmallest;
  if (size < kSmallest) {
    ns::set_error(error, ns::error(MTLLogStateErrorDomain, Integer(LogStateError::InvalidSize),
                                   "log buffer size " + std::to_string(size) +
                                       " is below the minimum of 1024 bytes"));
    return nullptr;
  }
  return objc::make<LogState>();
}

void LogState::add_handler(objc::Block<Handler>* handler) {
  std::lock_guard lock(mutex_);
  handlers_.emplace_back(handler);
}

using P = Properties<LogStateDescriptor, LogStateDescriptorValues>;

OBJC_DEFINE_CLASS(LogStateDescriptor, "MTLLogStateDescriptor", objc::Object,
                  .methods = {
                      objc::method<&P::get<&LogStateDescriptor::level>>("level"),
                      objc::method<&P::set<&LogStateDescriptor::level>>("setLevel:"),
                      objc::method<&P::get<&LogStateDescriptor::buffer_size>>("bufferSize"),
                      objc::method<&P::set<&LogStateDescriptor::buffer_size>>("setBufferSize:"),
                      objc::method<&P::copy>("copyWithZone:"),
                  });

OBJC_DEFINE_CLASS(LogState, "BSMLogState", objc::Object,
                  .methods = {objc::method<&LogState::add_handler>("addLogHandler:")},
                  .protocols = {"MTLLogState"});

} // namespace mtl

// MTLLogState and its descriptor: where os_log of kernels would arrive. Kernels on this device do
// not log, so that handlers are kept and never called.
#pragma once

#include "metal/foundation/error.h"
#include "metal/objc/block.h"
#include "metal/objc/class.h"
#include "metal/runtime/types.h"

#include <mutex>
#include <vector>

namespace mtl {

struct LogStateDescriptorValues {
  LogLevel level = LogLevel::Debug;
  Integer buffer_size = 1024;
};

class LogStateDescriptor : public objc::Object, public LogStateDescriptorValues {
public:
  OBJC_CLASS(LogStateDescriptor, "MTLLogStateDescriptor");
};

class LogState : public objc::Object {
public:
  OBJC_CLASS(LogState, "BSMLogState");

  using Handler = void(ns::String* subsystem, ns::String* category, LogLevel level,
                       ns::String* message);

  /// An error of MTLLogStateErrorDomain when the buffer's size is below Metal's minimum of 1 KiB.
  static objc::Ref<LogState> create(LogStateDescriptor* descriptor, ns::Error** error);

  void add_handler(objc::Block<Handler>* handler);

private:
  std::mutex mutex_;
  std::vector<objc::BlockRef<Handler>> handlers_;
};

} // namespace mtl

// MTLCounterSampleBuffer and its descriptor: timestamps that encoders write.
#pragma once

#include <atomic>
#include <memory>

#include "metal/foundation/data.h"
#include "metal/foundation/error.h"
#include "metal/runtime/counter_set.h"
#include "metal/runtime/device_object.h"

namespace mtl {

struct CounterSampleBufferDescriptorValues {
  objc::Ref<CounterSet> counter_set;
  objc::Ref<ns::String> label;
  StorageMode storage_mode = StorageMode::Shared;
  UInteger sample_count = 0;
};

class CounterSampleBufferDescriptor : public objc::Object,
                                      public CounterSampleBufferDescriptorValues {
public:
  OBJC_CLASS(CounterSampleBufferDescriptor, "MTLCounterSampleBufferDescriptor");
};

class CounterSampleBuffer : public DeviceObject {
public:
  OBJC_CLASS(CounterSampleBuffer, "BSMCounterSampleBuffer");

  /// Errors of MTLCounterErrorDomain: no counter set, no samples or more than 4,096.
  static objc::Ref<CounterSampleBuffer>
  create(Device* device, CounterSampleBufferDescriptor* descriptor, ns::Error** error);
  CounterSampleBuffer(Device* device, UInteger sample_count);

  UInteger sample_count() const { return sample_count_; }
  /// Nanoseconds of CLOCK_MONOTONIC, now. Any thread.
  void sample(UInteger index);
  /// MTLCounterErrorValue (all ones) where nothing was sampled.
  uint64_t value(UInteger index) const { return samples_[index].load(std::memory_order_relaxed); }
  /// An array of MTLCounterResultTimestamp, autoreleased; null, with a message, past the end.
  ns::Data* resolve(Range range);

private:
  UInteger sample_count_;
  std::unique_ptr<std::atomic<uint64_t>[]> samples_;
};

} // namespace mtl

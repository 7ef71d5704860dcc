#include "metal/runtime/counter_sample_buffer.h"

#include <ctime>

#include "metal/runtime/constants.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/property.h"

namespace mtl {

objc::Ref<CounterSampleBuffer>
CounterSampleBuffer::create(Device* device, CounterSampleBufferDescriptor* descriptor,
                            ns::Error** error) {
  constexpr UInteger kMostSamples = 4096; // 32 KiB of timestamps, the limit of Apple's devices
  const char* problem = nullptr;
  if (!descriptor || !descriptor->counter_set)
    problem = "the descriptor has no counter set";
  else if (descriptor->sample_count == 0 || descriptor->sample_count > kMostSamples)
    problem = "sampleCount is not between 1 and 4096";
  else if (descriptor->storage_mode > StorageMode::Private)
    problem = "storageMode must be shared or private";
  if (problem) {
    ns::set_error(error, ns::error(MTLCounterErrorDomain,
                                   Integer(CounterSampleBufferError::Invalid), problem));
    return nullptr;
  }
  auto buffer = objc::make<CounterSampleBuffer>(device, descriptor->sample_count);
  buffer->set_label(descriptor->label.get());
  return buffer;
}

CounterSampleBuffer::CounterSampleBuffer(Device* device, UInteger sample_count)
    : DeviceObject(device), sample_count_(sample_count),
      samples_(new std::atomic<uint64_t>[sample_count]) {
  for (UInteger i = 0; i < sample_count; ++i)
    samples_[i].store(~uint64_t{0}, std::memory_order_relaxed);
}

void CounterSampleBuffer::sample(UInteger index) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  samples_[index].store(uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec),
                        std::memory_order_relaxed);
}

ns::Data* CounterSampleBuffer::resolve(Range range) {
  if (range.location > sample_count_ || range.length > sample_count_ - range.location) {
    report_misuse("MTLCounterSampleBuffer resolveCounterRange:",
                  "range {%llu, %llu} ends after the %llu samples",
                  static_cast<unsigned long long>(range.location),
                  static_cast<unsigned long long>(range.length),
                  static_cast<unsigned long long>(sample_count_));
    return nullptr;
  }
  std::string bytes;
  bytes.reserve(range.length * sizeof(uint64_t));
  for (UInteger i = 0; i < range.length; ++i) {
    uint64_t sample = value(range.location + i);
    bytes.append(reinterpret_cast<const char*>(&sample), sizeof sample);
  }
  return objc::make<ns::Data>(std::move(bytes)).autorelease();
}

using D = CounterSampleBufferDescriptor;
using P = Properties<D, CounterSampleBufferDescriptorValues>;

OBJC_DEFINE_CLASS(CounterSampleBufferDescriptor, "MTLCounterSampleBufferDescriptor", objc::Object,
                  .methods = {
                      objc::method<&P::get<&D::counter_set>>("counterSet"),
                      objc::method<&P::set<&D::counter_set>>("setCounterSet:"),
                      objc::method<&P::get<&D::label>>("label"),
                      objc::method<&P::set<&D::label>>("setLabel:"),
                      objc::method<&P::get<&D::storage_mode>>("storageMode"),
                      objc::method<&P::set<&D::storage_mode>>("setStorageMode:"),
                      objc::method<&P::get<&D::sample_count>>("sampleCount"),
                      objc::method<&P::set<&D::sample_count>>("setSampleCount:"),
                      objc::method<&P::copy>("copyWithZone:"),
                  });

OBJC_DEFINE_CLASS(CounterSampleBuffer, "BSMCounterSampleBuffer", DeviceObject,
                  .methods =
                      {
                          objc::method<&CounterSampleBuffer::sample_count>("sampleCount"),
                          objc::method<&CounterSampleBuffer::resolve>("resolveCounterRange:"),
                      },
                  .protocols = {"MTLCounterSampleBuffer"});

} // namespace mtl

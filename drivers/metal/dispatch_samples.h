// Counters of the device around single dispatches.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

/// The counter sets that a session samples. The first is the one of timestamps.
class CounterSets {
public:
  struct Counter {
    std::string name;
    /// Which of the sample's 64-bit words has its value.
    size_t word = 0;
  };
  struct Set {
    MetalPtr<MTL::CounterSet> handle;
    std::string name;
    size_t words_per_sample = 0;
    /// Those that the session asked for; none when it needs the set for its own purposes.
    std::vector<Counter> counters;
  };

  /// Finds what `selections` name: all counters of a set unless they are named too. NOT_FOUND when
  /// the device does not have one of them, RESOURCE_EXHAUSTED for more sets than a pass can sample.
  /// No sets at all when encoders cannot be sampled and nothing was selected.
  static iree_status_t Select(MTL::Device* device,
                              std::span<const iree_hal_profile_counter_set_selection_t> selections,
                              CounterSets* out_sets);

  std::span<const Set> sets() const { return sets_; }

private:
  std::vector<Set> sets_;
};

/// The samples of one command buffer: two for each sampled dispatch, at its start and at its end.
class DispatchSamples {
public:
  /// For up to `dispatch_count` dispatches.
  DispatchSamples(MTL::Device* device, std::span<const CounterSets::Set> sets,
                  size_t dispatch_count)
      : device_(device), sets_(sets), remaining_(dispatch_count) {}

  /// A pass with the samples of the next dispatch attached; NULL when the device has no memory for
  /// samples left.
  MetalPtr<MTL::ComputePassDescriptor> NewPass();

  /// Reads all samples, once the command buffer has completed.
  void Resolve();
  /// The words of the samples of the `index`th pass for a set, NULL if there are none.
  const uint64_t* start(size_t index, size_t set) const { return Sample(2 * index, set); }
  const uint64_t* end(size_t index, size_t set) const { return Sample(2 * index + 1, set); }

private:
  /// As many samples as Metal keeps in one buffer.
  static constexpr size_t kSamplesPerChunk = 4096;

  struct Chunk {
    // By set.
    std::vector<MetalPtr<MTL::CounterSampleBuffer>> buffers;
    std::vector<std::vector<uint64_t>> words;
    size_t capacity = 0;
    size_t used = 0;
  };

  bool AddChunk();
  const uint64_t* Sample(size_t index, size_t set) const;

  MTL::Device* device_;
  std::span<const CounterSets::Set> sets_;
  size_t remaining_;
  std::vector<Chunk> chunks_;
};

} // namespace bessemer::metal_driver

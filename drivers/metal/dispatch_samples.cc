#include "drivers/metal/dispatch_samples.h"

#include <algorithm>
#include <cstring>

namespace bessemer::metal_driver {
namespace {

/// Sets that a pass can sample at once.
constexpr size_t kMaxSets = 4;

/// What samples of Metal's sets hold, in order (MTLCounterResult...).
struct Layout {
  std::string_view set;
  std::vector<std::string_view> counters;
};
const std::vector<Layout>& Layouts() {
  static const auto* layouts = new std::vector<Layout>{
      {"timestamp", {"GPUTimestamp"}},
      {"stageutilization",
       {"TotalCycles", "VertexCycles", "TessellationCycles", "PostTessellationVertexCycles",
        "FragmentCycles", "RenderTargetWriteCycles"}},
      {"statistic",
       {"TessellationInputPatches", "VertexInvocations", "PostTessellationVertexInvocations",
        "ClipperInvocations", "ClipperPrimitivesOut", "FragmentInvocations", "FragmentsPassed",
        "ComputeKernelInvocations"}},
  };
  return *layouts;
}

/// metal-cpp knows the bytes of mutable data only.
const void* BytesOf(NS::Data* data) {
  using Bytes = const void* (*)(const void*, SEL);
  return reinterpret_cast<Bytes>(&objc_msgSend)(data, sel_registerName("bytes"));
}

bool FindSet(MTL::Device* device, std::string_view name, CounterSets::Set* out_set) {
  auto layout = std::find_if(Layouts().begin(), Layouts().end(),
                             [&](const Layout& each) { return each.set == name; });
  NS::Array* sets = device->counterSets();
  for (NS::UInteger i = 0; layout != Layouts().end() && sets && i < sets->count(); ++i) {
    auto* set = sets->object<MTL::CounterSet>(i);
    if (set->name()->utf8String() == name) {
      *out_set = {RetainMetal(set), std::string(name), layout->counters.size(), {}};
      return true;
    }
  }
  return false;
}

/// What the device has of the set, or those of it that are named.
iree_status_t SelectCounters(const iree_hal_profile_counter_set_selection_t& selection,
                             CounterSets::Set& set) {
  const std::vector<std::string_view>& words =
      std::find_if(Layouts().begin(), Layouts().end(), [&](const Layout& each) {
        return each.set == set.name;
      })->counters;
  NS::Array* available = set.handle->counters();
  for (NS::UInteger i = 0; i < available->count(); ++i) {
    std::string name = available->object<MTL::Counter>(i)->name()->utf8String();
    auto word = std::find(words.begin(), words.end(), name);
    auto is_named = [&](iree_string_view_t wanted) { return ToStd(wanted) == name; };
    const iree_string_view_t* names = selection.counter_names;
    bool wanted = selection.counter_name_count == 0 ||
                  std::any_of(names, names + selection.counter_name_count, is_named);
    if (word != words.end() && wanted)
      set.counters.push_back({name, static_cast<size_t>(word - words.begin())});
  }
  for (iree_host_size_t i = 0; i < selection.counter_name_count; ++i) {
    iree_string_view_t name = selection.counter_names[i];
    if (std::none_of(set.counters.begin(), set.counters.end(),
                     [&](const CounterSets::Counter& each) { return each.name == ToStd(name); })) {
      return iree_make_status(IREE_STATUS_NOT_FOUND, "the device's counter set '%s' has no '%.*s'",
                              set.name.c_str(), static_cast<int>(name.size), name.data);
    }
  }
  return iree_ok_status();
}

} // namespace

iree_status_t
CounterSets::Select(MTL::Device* device,
                    std::span<const iree_hal_profile_counter_set_selection_t> selections,
                    CounterSets* out_sets) {
  CounterSets result;
  Set timestamps;
  if (device->supportsCounterSampling(MTL::CounterSamplingPointAtStageBoundary) &&
      FindSet(device, "timestamp", &timestamps))
    result.sets_.push_back(std::move(timestamps));
  for (const iree_hal_profile_counter_set_selection_t& selection : selections) {
    std::string_view name = ToStd(selection.name);
    auto known = std::find_if(result.sets_.begin(), result.sets_.end(),
                              [&](const Set& set) { return set.name == name; });
    if (known == result.sets_.end()) {
      Set set;
      if (result.sets_.empty() || !FindSet(device, name, &set)) {
        std::string all;
        NS::Array* sets = device->counterSets();
        for (NS::UInteger i = 0; sets && i < sets->count(); ++i)
          (all += " ") += sets->object<MTL::CounterSet>(i)->name()->utf8String();
        return iree_make_status(
            IREE_STATUS_NOT_FOUND, "the device has no counter set '%.*s' for dispatches; it has:%s",
            static_cast<int>(name.size()), name.data(), all.empty() ? " none" : all.c_str());
      }
      if (result.sets_.size() == kMaxSets) {
        return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                                "a pass samples %zu counter sets at most, timestamps among them",
                                kMaxSets);
      }
      known = result.sets_.insert(result.sets_.end(), std::move(set));
    }
    known->counters.clear();
    IREE_RETURN_IF_ERROR(SelectCounters(selection, *known));
  }
  *out_sets = std::move(result);
  return iree_ok_status();
}

bool DispatchSamples::AddChunk() {
  Chunk chunk;
  chunk.capacity = std::min(kSamplesPerChunk, 2 * remaining_);
  if (sets_.empty() || chunk.capacity == 0)
    return false;
  for (const CounterSets::Set& set : sets_) {
    // Memory for samples is limited in bytes; those of a set may be several words.
    chunk.capacity = std::min(chunk.capacity, kSamplesPerChunk / set.words_per_sample & ~size_t{1});
  }
  for (const CounterSets::Set& set : sets_) {
    auto descriptor = TakeMetal(MTL::CounterSampleBufferDescriptor::alloc()->init());
    descriptor->setCounterSet(set.handle.get());
    descriptor->setStorageMode(MTL::StorageModeShared);
    descriptor->setSampleCount(chunk.capacity);
    NS::Error* error = nullptr;
    auto buffer = TakeMetal(device_->newCounterSampleBuffer(descriptor.get(), &error));
    if (!buffer)
      return false;
    chunk.buffers.push_back(std::move(buffer));
  }
  chunks_.push_back(std::move(chunk));
  return true;
}

MetalPtr<MTL::ComputePassDescriptor> DispatchSamples::NewPass() {
  if ((chunks_.empty() || chunks_.back().used == chunks_.back().capacity) && !AddChunk())
    return {};
  Chunk& chunk = chunks_.back();
  auto descriptor = TakeMetal(MTL::ComputePassDescriptor::alloc()->init());
  for (size_t i = 0; i < sets_.size(); ++i) {
    auto* attachment = descriptor->sampleBufferAttachments()->object(i);
    attachment->setSampleBuffer(chunk.buffers[i].get());
    attachment->setStartOfEncoderSampleIndex(chunk.used);
    attachment->setEndOfEncoderSampleIndex(chunk.used + 1);
  }
  chunk.used += 2;
  --remaining_;
  return descriptor;
}

void DispatchSamples::Resolve() {
  for (Chunk& chunk : chunks_) {
    chunk.words.resize(sets_.size());
    for (size_t i = 0; i < sets_.size(); ++i) {
      NS::Data* data = chunk.buffers[i]->resolveCounterRange(NS::Range(0, chunk.used));
      size_t count = chunk.used * sets_[i].words_per_sample;
      if (!data || data->length() < count * sizeof(uint64_t))
        continue;
      chunk.words[i].resize(count);
      std::memcpy(chunk.words[i].data(), BytesOf(data), count * sizeof(uint64_t));
    }
  }
}

const uint64_t* DispatchSamples::Sample(size_t index, size_t set) const {
  for (const Chunk& chunk : chunks_) {
    if (index >= chunk.used) {
      index -= chunk.used;
      continue;
    }
    if (set >= chunk.words.size() || chunk.words[set].empty())
      return nullptr;
    const uint64_t* words = &chunk.words[set][index * sets_[set].words_per_sample];
    // Metal's value for a sample that was not taken.
    return words[0] == MTL::CounterErrorValue ? nullptr : words;
  }
  return nullptr;
}

} // namespace bessemer::metal_driver

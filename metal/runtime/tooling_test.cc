// Counters, residency sets, captures, logs: what tools and big clients use beside computing.
#include "metal/runtime/client_test.h"

#include <algorithm>
#include <cstring>

namespace metal_test {
namespace {

class ToolingTest : public ClientTest {
protected:
  NS::SharedPtr<MTL::CounterSampleBuffer> samples(size_t count) {
    auto descriptor = own(MTL::CounterSampleBufferDescriptor::alloc()->init());
    descriptor->setCounterSet(device->counterSets()->object<MTL::CounterSet>(0));
    descriptor->setSampleCount(count);
    descriptor->setLabel(text("times"));
    return own(device->newCounterSampleBuffer(descriptor.get(), nullptr));
  }
};

TEST_F(ToolingTest, TheDeviceCountsTime) {
  auto* set = device->counterSets()->object<MTL::CounterSet>(0);
  EXPECT_TRUE(set->name()->isEqualToString(MTL::CommonCounterSetTimestamp));
  EXPECT_TRUE(set->counters()->object<MTL::Counter>(0)->name()->isEqualToString(
      MTL::CommonCounterTimestamp));
  EXPECT_TRUE(device->supportsCounterSampling(MTL::CounterSamplingPointAtStageBoundary));
  EXPECT_TRUE(device->supportsCounterSampling(MTL::CounterSamplingPointAtDispatchBoundary));
  EXPECT_FALSE(device->supportsCounterSampling(MTL::CounterSamplingPointAtDrawBoundary));
}

TEST_F(ToolingTest, SamplesAreTimesInTheOrderOfTheCommands) {
  auto times = samples(6);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->sampleCount(), 6u);
  EXPECT_STREQ(times->label()->utf8String(), "times");
  auto memory = buffer(1 << 20);
  auto resolved = buffer(64);
  MTL::Timestamp cpu_before, before, cpu_after, after;
  device->sampleTimestamps(&cpu_before, &before);
  auto* commands = queue->commandBuffer();
  auto* pass = MTL::BlitPassDescriptor::blitPassDescriptor();
  auto* attachment = pass->sampleBufferAttachments()->object(0);
  EXPECT_EQ(attachment->startOfEncoderSampleIndex(), MTL::CounterDontSample);
  attachment->setSampleBuffer(times.get());
  attachment->setStartOfEncoderSampleIndex(0);
  attachment->setEndOfEncoderSampleIndex(3);
  auto* encoder = commands->blitCommandEncoder(pass);
  encoder->sampleCountersInBuffer(times.get(), 1, true);
  encoder->fillBuffer(memory.get(), NS::Range(0, memory->length()), 1);
  encoder->sampleCountersInBuffer(times.get(), 2, true);
  encoder->endEncoding();
  auto* compute_pass = MTL::ComputePassDescriptor::computePassDescriptor();
  compute_pass->sampleBufferAttachments()->object(1)->setSampleBuffer(times.get());
  compute_pass->sampleBufferAttachments()->object(1)->setEndOfEncoderSampleIndex(4);
  commands->computeCommandEncoder(compute_pass)->endEncoding();
  encoder = commands->blitCommandEncoder();
  encoder->resolveCounters(times.get(), NS::Range(1, 3), resolved.get(), 8);
  encoder->endEncoding();
  run(commands);
  device->sampleTimestamps(&cpu_after, &after);
  NS::Data* data = times->resolveCounterRange(NS::Range(0, 6));
  ASSERT_EQ(data->length(), 6 * sizeof(uint64_t));
  std::vector<uint64_t> value(6);
  std::memcpy(value.data(), data->mutableBytes(), data->length());
  EXPECT_LE(before, value[0]);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_LE(value[i], value[i + 1]) << i;
  EXPECT_LT(value[1], value[2]) << "filling takes time";
  EXPECT_LE(value[4], after);
  EXPECT_EQ(value[5], MTL::CounterErrorValue) << "never sampled";
  auto words = contents<uint64_t>(resolved);
  EXPECT_EQ(words[0], 0u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(words[1 + i], value[1 + i]);
  EXPECT_EQ(words[4], 0u);
  EXPECT_EQ(times->resolveCounterRange(NS::Range(3, 4)), nullptr);
}

TEST_F(ToolingTest, SampleBuffersThatMakeNoSenseAreErrors) {
  NS::Error* error = nullptr;
  auto descriptor = own(MTL::CounterSampleBufferDescriptor::alloc()->init());
  EXPECT_EQ(device->newCounterSampleBuffer(descriptor.get(), &error), nullptr);
  EXPECT_NE(message(error).find("no counter set"), std::string::npos) << message(error);
  EXPECT_FALSE(samples(0));
  EXPECT_FALSE(samples(4097));
  EXPECT_TRUE(samples(4096));
}

TEST_F(ToolingTest, ResidencySetsTellWhatIsInThem) {
  auto descriptor = own(MTL::ResidencySetDescriptor::alloc()->init());
  descriptor->setLabel(text("weights"));
  descriptor->setInitialCapacity(16);
  NS::Error* error = nullptr;
  auto set = own(device->newResidencySet(descriptor.get(), &error));
  ASSERT_TRUE(set);
  EXPECT_STREQ(set->label()->utf8String(), "weights");
  auto a = buffer(1000), b = buffer(100000);
  const MTL::Allocation* both[] = {a.get(), b.get()};
  set->addAllocations(both, 2);
  set->addAllocation(a.get()); // once is enough
  EXPECT_EQ(set->allocationCount(), 2u);
  EXPECT_TRUE(set->containsAllocation(b.get()));
  EXPECT_EQ(set->allAllocations()->count(), 2u);
  EXPECT_EQ(set->allocatedSize(), 0u) << "nothing is committed";
  set->commit();
  EXPECT_EQ(set->allocatedSize(), a->allocatedSize() + b->allocatedSize());
  set->requestResidency();
  queue->addResidencySet(set.get());
  set->removeAllocation(b.get());
  EXPECT_FALSE(set->containsAllocation(b.get()));
  set->commit();
  EXPECT_EQ(set->allocatedSize(), a->allocatedSize());
  set->removeAllAllocations();
  set->commit();
  EXPECT_EQ(set->allocatedSize(), 0u);
  queue->removeResidencySet(set.get());
  set->endResidency();
}

TEST_F(ToolingTest, CapturesAreAnErrorThatSaysWhy) {
  auto* captures = MTL::CaptureManager::sharedCaptureManager();
  EXPECT_EQ(captures, MTL::CaptureManager::sharedCaptureManager());
  EXPECT_FALSE(captures->supportsDestination(MTL::CaptureDestinationGPUTraceDocument));
  auto descriptor = own(MTL::CaptureDescriptor::alloc()->init());
  NS::Error* error = nullptr;
  EXPECT_FALSE(captures->startCapture(descriptor.get(), &error));
  EXPECT_EQ(error->code(), NS::Integer(MTL::CaptureErrorInvalidDescriptor));
  descriptor->setCaptureObject(device.get());
  EXPECT_FALSE(captures->startCapture(descriptor.get(), &error));
  EXPECT_EQ(error->code(), NS::Integer(MTL::CaptureErrorNotSupported));
  EXPECT_STREQ(error->domain()->utf8String(), "MTLCaptureErrorDomain");
  EXPECT_FALSE(captures->isCapturing());
  captures->stopCapture();
  auto scope = own(captures->newCaptureScope(queue.get()));
  EXPECT_EQ(scope->commandQueue(), queue.get());
  EXPECT_EQ(scope->device(), device.get());
  scope->beginScope();
  scope->endScope();
  captures->setDefaultCaptureScope(scope.get());
  EXPECT_EQ(captures->defaultCaptureScope(), scope.get());
  captures->setDefaultCaptureScope(nullptr);
}

TEST_F(ToolingTest, LogStatesHaveASmallestSize) {
  auto descriptor = own(MTL::LogStateDescriptor::alloc()->init());
  NS::Error* error = nullptr;
  auto log = own(device->newLogState(descriptor.get(), &error));
  ASSERT_TRUE(log);
  log->addLogHandler(^(NS::String*, NS::String*, MTL::LogLevel, NS::String*){
  });
  descriptor->setBufferSize(1023);
  EXPECT_EQ(device->newLogState(descriptor.get(), &error), nullptr);
  EXPECT_EQ(error->code(), NS::Integer(MTL::LogStateErrorInvalidSize));
}

TEST_F(ToolingTest, DebugGroupsAndSignpostsAreTaken) {
  auto* commands = queue->commandBuffer();
  commands->pushDebugGroup(text("outer"));
  auto* encoder = commands->computeCommandEncoder();
  encoder->pushDebugGroup(text("inner"));
  encoder->insertDebugSignpost(text("here"));
  encoder->popDebugGroup();
  encoder->endEncoding();
  commands->popDebugGroup();
  run(commands);
  EXPECT_EQ(commands->logs() == nullptr, false);
}

} // namespace
} // namespace metal_test

// Holds our own plain types against Apple's metal-cpp headers.
#include "metal/runtime/types.h"

#include <Metal/Metal.hpp>
#include <gtest/gtest.h>

namespace mtl {
namespace {

template <class Ours, class Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return static_cast<uint64_t>(ours) == static_cast<uint64_t>(theirs) &&
         sizeof(Ours) == sizeof(Theirs);
}

static_assert(sizeof(Size) == sizeof(MTL::Size) && offsetof(Size, depth) == 16);
static_assert(sizeof(Region) == sizeof(MTL::Region));
static_assert(sizeof(Range) == sizeof(NS::Range) &&
              offsetof(Range, length) == offsetof(NS::Range, length));
static_assert(sizeof(SizeAndAlign) == sizeof(MTL::SizeAndAlign));
static_assert(sizeof(ResourceID) == sizeof(MTL::ResourceID));
static_assert(sizeof(AccelerationStructureSizes) == sizeof(MTL::AccelerationStructureSizes));

TEST(Types, EnumerationsHaveMetalsValues) {
#define BESSEMER_SAME(ours, theirs) EXPECT_TRUE(same(ours, theirs)) << #ours
  BESSEMER_SAME(GPUFamily::Apple9, MTL::GPUFamilyApple9);
  BESSEMER_SAME(GPUFamily::Mac2, MTL::GPUFamilyMac2);
  BESSEMER_SAME(GPUFamily::Common3, MTL::GPUFamilyCommon3);
  BESSEMER_SAME(GPUFamily::MacCatalyst2, MTL::GPUFamilyMacCatalyst2);
  BESSEMER_SAME(GPUFamily::Metal3, MTL::GPUFamilyMetal3);
  BESSEMER_SAME(DeviceLocation::External, MTL::DeviceLocationExternal);
  BESSEMER_SAME(ArgumentBuffersTier::Tier2, MTL::ArgumentBuffersTier2);
  BESSEMER_SAME(ReadWriteTextureTier::Tier2, MTL::ReadWriteTextureTier2);
  BESSEMER_SAME(CounterSamplingPoint::DispatchBoundary,
                MTL::CounterSamplingPointAtDispatchBoundary);
  BESSEMER_SAME(CounterSamplingPoint::BlitBoundary, MTL::CounterSamplingPointAtBlitBoundary);
  BESSEMER_SAME(PurgeableState::Empty, MTL::PurgeableStateEmpty);
  BESSEMER_SAME(CPUCacheMode::WriteCombined, MTL::CPUCacheModeWriteCombined);
  BESSEMER_SAME(StorageMode::Memoryless, MTL::StorageModeMemoryless);
  BESSEMER_SAME(HazardTrackingMode::Tracked, MTL::HazardTrackingModeTracked);
  BESSEMER_SAME(HeapType::Placement, MTL::HeapTypePlacement);
  BESSEMER_SAME(DispatchType::Concurrent, MTL::DispatchTypeConcurrent);
  BESSEMER_SAME(CommandBufferStatus::NotEnqueued, MTL::CommandBufferStatusNotEnqueued);
  BESSEMER_SAME(CommandBufferStatus::Enqueued, MTL::CommandBufferStatusEnqueued);
  BESSEMER_SAME(CommandBufferStatus::Committed, MTL::CommandBufferStatusCommitted);
  BESSEMER_SAME(CommandBufferStatus::Scheduled, MTL::CommandBufferStatusScheduled);
  BESSEMER_SAME(CommandBufferStatus::Completed, MTL::CommandBufferStatusCompleted);
  BESSEMER_SAME(CommandBufferStatus::Error, MTL::CommandBufferStatusError);
  BESSEMER_SAME(CommandBufferError::Internal, MTL::CommandBufferErrorInternal);
  BESSEMER_SAME(CommandBufferError::Timeout, MTL::CommandBufferErrorTimeout);
  BESSEMER_SAME(CommandBufferError::PageFault, MTL::CommandBufferErrorPageFault);
  BESSEMER_SAME(CommandBufferError::NotPermitted, MTL::CommandBufferErrorNotPermitted);
  BESSEMER_SAME(CommandBufferError::OutOfMemory, MTL::CommandBufferErrorOutOfMemory);
  BESSEMER_SAME(CommandBufferError::InvalidResource, MTL::CommandBufferErrorInvalidResource);
  BESSEMER_SAME(CommandBufferError::StackOverflow, MTL::CommandBufferErrorStackOverflow);
  BESSEMER_SAME(CommandEncoderErrorState::Faulted, MTL::CommandEncoderErrorStateFaulted);
  BESSEMER_SAME(BarrierScope::Buffers, MTL::BarrierScopeBuffers);
  BESSEMER_SAME(BarrierScope::RenderTargets, MTL::BarrierScopeRenderTargets);
  BESSEMER_SAME(kIndirectCommandTypeConcurrentDispatch, MTL::IndirectCommandTypeConcurrentDispatch);
  BESSEMER_SAME(kIndirectCommandTypeConcurrentDispatchThreads,
                MTL::IndirectCommandTypeConcurrentDispatchThreads);
  BESSEMER_SAME(CaptureError::InvalidDescriptor, MTL::CaptureErrorInvalidDescriptor);
  BESSEMER_SAME(CaptureDestination::GPUTraceDocument, MTL::CaptureDestinationGPUTraceDocument);
  BESSEMER_SAME(CounterSampleBufferError::Internal, MTL::CounterSampleBufferErrorInternal);
  BESSEMER_SAME(kCounterDontSample, MTL::CounterDontSample);
  BESSEMER_SAME(LogLevel::Fault, MTL::LogLevelFault);
  BESSEMER_SAME(LogStateError::Invalid, MTL::LogStateErrorInvalid);
#undef BESSEMER_SAME
}

TEST(Types, ResourceOptionsPackAsMetalPacksThem) {
  auto options = ResourceOptions::make(CPUCacheMode::WriteCombined, StorageMode::Private,
                                       HazardTrackingMode::Untracked);
  EXPECT_EQ(options.bits,
            UInteger(MTL::ResourceCPUCacheModeWriteCombined | MTL::ResourceStorageModePrivate |
                     MTL::ResourceHazardTrackingModeUntracked));
  ResourceOptions theirs{MTL::ResourceStorageModeManaged | MTL::ResourceHazardTrackingModeTracked};
  EXPECT_EQ(theirs.storage_mode(), StorageMode::Managed);
  EXPECT_EQ(theirs.hazard_mode(), HazardTrackingMode::Tracked);
  EXPECT_EQ(theirs.cache_mode(), CPUCacheMode::DefaultCache);
}

} // namespace
} // namespace mtl

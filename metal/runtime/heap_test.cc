#include "metal/runtime/client_test.h"

#include <set>

namespace metal_test {
namespace {

class HeapTest : public ClientTest {
protected:
  NS::SharedPtr<MTL::Heap> heap(size_t size, MTL::HeapType type = MTL::HeapTypeAutomatic) {
    auto descriptor = own(MTL::HeapDescriptor::alloc()->init());
    descriptor->setSize(size);
    descriptor->setType(type);
    descriptor->setStorageMode(MTL::StorageModeShared);
    return own(device->newHeap(descriptor.get()));
  }
};

TEST_F(HeapTest, DescriptorHasMetalsDefaultsAndCanBeCopied) {
  auto descriptor = own(MTL::HeapDescriptor::alloc()->init());
  EXPECT_EQ(descriptor->size(), 0u);
  EXPECT_EQ(descriptor->storageMode(), MTL::StorageModePrivate);
  EXPECT_EQ(descriptor->type(), MTL::HeapTypeAutomatic);
  descriptor->setResourceOptions(MTL::ResourceStorageModeShared |
                                 MTL::ResourceHazardTrackingModeTracked);
  EXPECT_EQ(descriptor->storageMode(), MTL::StorageModeShared);
  EXPECT_EQ(descriptor->hazardTrackingMode(), MTL::HazardTrackingModeTracked);
  descriptor->setSize(77);
  auto copy = own(descriptor->copy());
  EXPECT_NE(copy.get(), descriptor.get());
  EXPECT_EQ(copy->size(), 77u);
  EXPECT_EQ(copy->resourceOptions(), descriptor->resourceOptions());
}

TEST_F(HeapTest, BuffersOfAnAutomaticHeapDoNotOverlapAndComeBack) {
  auto memory = heap(64 * 1024);
  EXPECT_EQ(memory->usedSize(), 0u);
  EXPECT_EQ(memory->maxAvailableSize(256), memory->size());
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;
  std::set<uint64_t> addresses;
  while (MTL::Buffer* next = memory->newBuffer(1000, MTL::ResourceStorageModeShared)) {
    buffers.push_back(own(next));
    EXPECT_EQ(next->heap(), memory.get());
    EXPECT_EQ(next->gpuAddress() % 256, 0u);
    addresses.insert(next->gpuAddress());
  }
  EXPECT_EQ(buffers.size(), memory->size() / 1024); // 1,000 bytes take 1,024
  EXPECT_EQ(memory->usedSize(), buffers.size() * 1024);
  ASSERT_EQ(addresses.size(), buffers.size());
  for (auto a = addresses.begin(), b = std::next(a); b != addresses.end(); ++a, ++b)
    EXPECT_GE(*b - *a, 1000u);
  buffers.clear();
  EXPECT_EQ(memory->usedSize(), 0u);
  EXPECT_EQ(memory->maxAvailableSize(256), memory->size());
}

TEST_F(HeapTest, ABufferKeepsItsHeap) {
  NS::UInteger before = device->currentAllocatedSize();
  NS::SharedPtr<MTL::Buffer> part;
  {
    auto memory = heap(1 << 16);
    part = own(memory->newBuffer(4096, MTL::ResourceStorageModeShared));
  }
  contents<char>(part)[4095] = 1;
  EXPECT_EQ(part->heap()->size(), 1u << 16);
  EXPECT_EQ(device->currentAllocatedSize(), before + (1 << 16));
  part.reset();
  EXPECT_EQ(device->currentAllocatedSize(), before);
}

TEST_F(HeapTest, AnAliasableBufferLendsItsPlaceToTheNext) {
  auto memory = heap(1 << 16);
  auto first = own(memory->newBuffer(1 << 16, MTL::ResourceStorageModeShared));
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->isAliasable());
  EXPECT_EQ(memory->newBuffer(256, MTL::ResourceStorageModeShared), nullptr);
  first->makeAliasable();
  EXPECT_TRUE(first->isAliasable());
  auto second = own(memory->newBuffer(1 << 16, MTL::ResourceStorageModeShared));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->gpuAddress(), first->gpuAddress());
  first.reset(); // gives nothing back twice
  EXPECT_EQ(memory->usedSize(), 1u << 16);
  second.reset();
  EXPECT_EQ(memory->usedSize(), 0u);
}

TEST_F(HeapTest, PlacementHeapsPutBuffersWhereTheClientSays) {
  auto memory = heap(1 << 16, MTL::HeapTypePlacement);
  EXPECT_EQ(memory->type(), MTL::HeapTypePlacement);
  auto a = own(memory->newBuffer(4096, MTL::ResourceStorageModeShared, 0));
  auto b = own(memory->newBuffer(4096, MTL::ResourceStorageModeShared, 2048)); // may overlap
  ASSERT_TRUE(a && b);
  EXPECT_EQ(b->gpuAddress(), a->gpuAddress() + 2048);
  EXPECT_EQ(b->heapOffset(), 2048u);
  EXPECT_EQ(memory->newBuffer(4096, MTL::ResourceStorageModeShared, 100), nullptr);
  EXPECT_EQ(memory->newBuffer(4096, MTL::ResourceStorageModeShared, 1 << 16), nullptr);
  EXPECT_EQ(memory->newBuffer(4096, MTL::ResourceStorageModeShared), nullptr);
  EXPECT_EQ(memory->newBuffer(4096, MTL::ResourceStorageModePrivate, 0), nullptr);
}

TEST_F(HeapTest, SizeAndAlignIsWhatABufferTakes) {
  for (size_t length : {1u, 255u, 256u, 257u, 100000u}) {
    MTL::SizeAndAlign need = device->heapBufferSizeAndAlign(length, MTL::ResourceStorageModeShared);
    EXPECT_GE(need.size, length);
    EXPECT_EQ(need.size % need.align, 0u);
    auto memory = heap(1 << 20);
    auto part = own(memory->newBuffer(length, MTL::ResourceStorageModeShared));
    EXPECT_EQ(memory->usedSize(), need.size);
    EXPECT_EQ(part->allocatedSize(), need.size);
  }
}

TEST_F(HeapTest, RefusesHeapsThatHoldNoBuffers) {
  EXPECT_EQ(heap(0).get(), nullptr);
  EXPECT_EQ(heap(1 << 20, MTL::HeapTypeSparse).get(), nullptr);
  EXPECT_EQ(heap(device->maxBufferLength() + 1).get(), nullptr);
  EXPECT_EQ(device->newHeap(nullptr), nullptr);
}

} // namespace
} // namespace metal_test

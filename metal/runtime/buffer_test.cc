#include "metal/runtime/client_test.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

namespace metal_test {
namespace {

using BufferTest = ClientTest;

bool is_zero(const void* bytes, size_t length) {
  auto* first = static_cast<const unsigned char*>(bytes);
  return std::all_of(first, first + length, [](unsigned char byte) { return byte == 0; });
}

TEST_F(BufferTest, StartsZeroedWhateverItsSize) {
  for (size_t length : {1u, 3u, 256u, 4095u, 4096u, 65535u, 65536u, 1u << 20, (1u << 20) + 1}) {
    auto memory = buffer(length);
    ASSERT_TRUE(memory) << length;
    EXPECT_EQ(memory->length(), length);
    EXPECT_GE(memory->allocatedSize(), length);
    EXPECT_TRUE(is_zero(memory->contents(), length)) << length;
    EXPECT_EQ(memory->gpuAddress() % 256, 0u) << length;
    std::memset(memory->contents(), 0xff, length); // the next allocation of the size is zero again
  }
}

TEST_F(BufferTest, TellsItsStorageCacheAndTracking) {
  auto memory =
      buffer(16, MTL::ResourceStorageModePrivate | MTL::ResourceCPUCacheModeWriteCombined |
                     MTL::ResourceHazardTrackingModeUntracked);
  EXPECT_EQ(memory->storageMode(), MTL::StorageModePrivate);
  EXPECT_EQ(memory->cpuCacheMode(), MTL::CPUCacheModeWriteCombined);
  EXPECT_EQ(memory->hazardTrackingMode(), MTL::HazardTrackingModeUntracked);
  EXPECT_EQ(memory->contents(), nullptr);
  EXPECT_NE(memory->gpuAddress(), 0u);
  EXPECT_EQ(memory->heap(), nullptr);
  EXPECT_EQ(memory->remoteStorageBuffer(), nullptr);
  EXPECT_EQ(memory->device(), device.get());
  auto managed = buffer(16, MTL::ResourceStorageModeManaged);
  EXPECT_EQ(managed->hazardTrackingMode(), MTL::HazardTrackingModeTracked);
  EXPECT_NE(managed->contents(), nullptr);
  managed->didModifyRange(NS::Range(0, 16));
}

TEST_F(BufferTest, CopiesTheBytesGiven) {
  const char bytes[] = "what the client has";
  auto memory = own(device->newBuffer(bytes, sizeof bytes, MTL::ResourceStorageModeShared));
  EXPECT_EQ(std::memcmp(memory->contents(), bytes, sizeof bytes), 0);
  EXPECT_NE(memory->contents(), bytes);
}

TEST_F(BufferTest, UsesTheClientsMemoryAndGivesItBackOnce) {
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  void* pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  __block int calls = 0;
  __block void* given_pointer = nullptr;
  __block NS::UInteger given_length = 0;
  {
    auto memory = own(device->newBuffer(pages, 2 * page, MTL::ResourceStorageModeShared,
                                        ^(void* pointer, NS::UInteger length) {
                                          ++calls;
                                          given_pointer = pointer;
                                          given_length = length;
                                        }));
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->contents(), pages);
    EXPECT_EQ(memory->gpuAddress(), reinterpret_cast<uint64_t>(pages));
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(given_pointer, pages);
  EXPECT_EQ(given_length, 2 * page);
  EXPECT_EQ(own(device->newBuffer(static_cast<char*>(pages) + 64, page,
                                  MTL::ResourceStorageModeShared, nullptr))
                .get(),
            nullptr)
      << "memory that is not aligned to a page";
  munmap(pages, 2 * page);
}

TEST_F(BufferTest, RefusesWhatADeviceCanNotGive) {
  EXPECT_EQ(device->newBuffer(NS::UInteger(0), MTL::ResourceStorageModeShared), nullptr);
  EXPECT_EQ(device->newBuffer(device->maxBufferLength() + 1, MTL::ResourceStorageModeShared),
            nullptr);
  EXPECT_EQ(
      device->newBuffer(std::numeric_limits<NS::UInteger>::max(), MTL::ResourceStorageModeShared),
      nullptr);
  EXPECT_EQ(device->newBuffer(NS::UInteger(16), MTL::ResourceStorageModeMemoryless), nullptr);
  EXPECT_EQ(
      device->newBuffer(static_cast<const void*>(nullptr), 16, MTL::ResourceStorageModeShared),
      nullptr);
}

TEST_F(BufferTest, DeviceCountsWhatIsAllocated) {
  NS::UInteger before = device->currentAllocatedSize();
  {
    auto memory = buffer(1 << 20);
    EXPECT_EQ(device->currentAllocatedSize(), before + memory->allocatedSize());
  }
  EXPECT_EQ(device->currentAllocatedSize(), before);
}

TEST_F(BufferTest, PurgeableStateIsRemembered) {
  auto memory = buffer(16);
  EXPECT_EQ(memory->setPurgeableState(MTL::PurgeableStateKeepCurrent),
            MTL::PurgeableStateNonVolatile);
  EXPECT_EQ(memory->setPurgeableState(MTL::PurgeableStateVolatile), MTL::PurgeableStateNonVolatile);
  EXPECT_EQ(memory->setPurgeableState(MTL::PurgeableStateNonVolatile), MTL::PurgeableStateVolatile);
}

} // namespace
} // namespace metal_test

#include "metal/runtime/client_test.h"

#include <ctime>
#include <unistd.h>

namespace metal_test {
namespace {

using DeviceTest = ClientTest;

TEST_F(DeviceTest, IsTheSameHoweverItIsAskedFor) {
  auto again = own(MTL::CreateSystemDefaultDevice());
  EXPECT_EQ(again.get(), device.get());
  auto all = own(MTL::CopyAllDevices());
  ASSERT_EQ(all->count(), 1u);
  EXPECT_EQ(all->object(0), device.get());
  NS::Object* observer = nullptr;
  auto observed =
      own(MTL::CopyAllDevicesWithObserver(&observer, ^(MTL::Device*, MTL::DeviceNotificationName) {
        FAIL() << "no device comes or goes";
      }));
  EXPECT_EQ(observed->object(0), device.get());
  EXPECT_NE(observer, nullptr);
  MTL::RemoveDeviceObserver(observer);
}

TEST_F(DeviceTest, HasTheLimitsOfItsFamily) {
  EXPECT_TRUE(device->supportsFamily(MTL::GPUFamilyApple9));
  EXPECT_TRUE(device->supportsFamily(MTL::GPUFamilyMetal3));
  EXPECT_FALSE(device->supportsFamily(MTL::GPUFamily(1010)));
  EXPECT_EQ(device->maxThreadsPerThreadgroup().width, 1024u);
  EXPECT_EQ(device->maxThreadsPerThreadgroup().depth, 1024u);
  EXPECT_EQ(device->maxThreadgroupMemoryLength(), 32768u);
  EXPECT_EQ(device->argumentBuffersSupport(), MTL::ArgumentBuffersTier2);
  EXPECT_STREQ(device->architecture()->name()->utf8String(), "applegpu_g15g");
  EXPECT_FALSE(std::string(device->name()->utf8String()).empty());
  EXPECT_NE(device->registryID(), 0u);
  EXPECT_TRUE(device->hasUnifiedMemory());
  EXPECT_EQ(device->location(), MTL::DeviceLocationBuiltIn);
  uint64_t physical = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
  EXPECT_LE(device->recommendedMaxWorkingSetSize(), physical);
  EXPECT_GE(device->recommendedMaxWorkingSetSize(), 64u << 20);
  EXPECT_LE(device->maxBufferLength(), device->recommendedMaxWorkingSetSize());
}

TEST_F(DeviceTest, TimestampsAreOnTheMonotonicClock) {
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
  };
  MTL::Timestamp cpu = 0, gpu = 0;
  uint64_t before = now();
  device->sampleTimestamps(&cpu, &gpu);
  EXPECT_GE(cpu, before);
  EXPECT_GE(gpu, before);
  EXPECT_LE(cpu, now());
}

TEST_F(DeviceTest, GraphicsIsRefusedWithAReason) {
  EXPECT_EQ(device->newTexture(nullptr), nullptr);
  EXPECT_EQ(device->newDepthStencilState(nullptr), nullptr);
  NS::Error* error = nullptr;
  EXPECT_EQ(
      device->newRenderPipelineState(static_cast<MTL::RenderPipelineDescriptor*>(nullptr), &error),
      nullptr);
  EXPECT_NE(message(error).find("this device computes only"), std::string::npos) << message(error);
  MTL::SizeAndAlign size = device->heapTextureSizeAndAlign(nullptr);
  EXPECT_EQ(size.size, 0u);
}

TEST_F(DeviceTest, LabelsAreCopied) {
  EXPECT_EQ(queue->label(), nullptr);
  queue->setLabel(text("first"));
  EXPECT_STREQ(queue->label()->utf8String(), "first");
  queue->setLabel(text("second queue with a longer name"));
  EXPECT_STREQ(queue->label()->utf8String(), "second queue with a longer name");
  queue->setLabel(nullptr);
  EXPECT_EQ(queue->label(), nullptr);
}

} // namespace
} // namespace metal_test

#include "metal/runtime/client_test.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace metal_test {
namespace {

class EventTest : public ClientTest {
protected:
  static void fill(MTL::CommandBuffer* commands, MTL::Buffer* target, unsigned char value) {
    auto* encoder = commands->blitCommandEncoder();
    encoder->fillBuffer(target, NS::Range(0, target->length()), value);
    encoder->endEncoding();
  }
  static void copy(MTL::CommandBuffer* commands, MTL::Buffer* source, MTL::Buffer* target) {
    auto* encoder = commands->blitCommandEncoder();
    encoder->copyFromBuffer(source, 0, target, 0, target->length());
    encoder->endEncoding();
  }
  NS::SharedPtr<MTL::CommandQueue> other = own(device->newCommandQueue());
};

TEST_F(EventTest, OrderWorkOfTwoQueuesHoweverTheyAreCommitted) {
  auto event = own(device->newEvent());
  auto memory = buffer(4096), result = buffer(4096);
  auto* consumer = other->commandBuffer(); // committed first: it waits before the signal
  consumer->encodeWait(event.get(), 1);
  copy(consumer, memory.get(), result.get());
  consumer->commit();
  auto* producer = queue->commandBuffer();
  fill(producer, memory.get(), 9);
  producer->encodeSignalEvent(event.get(), 1);
  producer->commit();
  consumer->waitUntilCompleted();
  EXPECT_EQ(contents<unsigned char>(result)[4095], 9);
}

TEST_F(EventTest, PingPongBetweenQueues) {
  auto event = own(device->newSharedEvent());
  auto a = buffer(64), b = buffer(64);
  constexpr int kRounds = 100;
  for (int i = 0; i < kRounds; ++i) {
    auto* left = queue->commandBuffer();
    left->encodeWait(event.get(), uint64_t(2 * i));
    fill(left, a.get(), static_cast<unsigned char>(i + 1));
    left->encodeSignalEvent(event.get(), uint64_t(2 * i + 1));
    left->commit();
    auto* right = other->commandBuffer();
    right->encodeWait(event.get(), uint64_t(2 * i + 1));
    copy(right, a.get(), b.get());
    right->encodeSignalEvent(event.get(), uint64_t(2 * i + 2));
    right->commit();
  }
  ASSERT_TRUE(event->waitUntilSignaledValue(2 * kRounds, 60'000));
  EXPECT_EQ(contents<unsigned char>(b)[63], kRounds);
}

TEST_F(EventTest, AWaitingQueueHoldsUpNoOther) {
  auto gate = own(device->newSharedEvent());
  auto memory = buffer(64);
  std::vector<NS::SharedPtr<MTL::CommandQueue>> stuck;
  std::vector<MTL::CommandBuffer*> waiting;
  for (int i = 0; i < 32; ++i) { // more than there are workers
    stuck.push_back(own(device->newCommandQueue()));
    waiting.push_back(stuck.back()->commandBuffer());
    waiting.back()->encodeWait(gate.get(), 1);
    waiting.back()->commit();
  }
  auto* commands = queue->commandBuffer();
  fill(commands, memory.get(), 4);
  run(commands);
  EXPECT_EQ(contents<unsigned char>(memory)[0], 4);
  EXPECT_NE(waiting[0]->status(), MTL::CommandBufferStatusCompleted);
  gate->setSignaledValue(1);
  for (auto* each : waiting)
    each->waitUntilCompleted();
}

TEST_F(EventTest, HostWaitsForWorkAndWorkForTheHost) {
  auto event = own(device->newSharedEvent());
  auto memory = buffer(64);
  EXPECT_EQ(event->signaledValue(), 0u);
  auto* commands = queue->commandBuffer();
  commands->encodeWait(event.get(), 5);
  fill(commands, memory.get(), 1);
  commands->encodeSignalEvent(event.get(), 6);
  commands->commit();
  EXPECT_FALSE(event->waitUntilSignaledValue(6, 10));
  EXPECT_EQ(contents<unsigned char>(memory)[0], 0);
  event->setSignaledValue(5);
  EXPECT_TRUE(event->waitUntilSignaledValue(6, 60'000));
  EXPECT_EQ(event->signaledValue(), 6u);
  EXPECT_EQ(contents<unsigned char>(memory)[0], 1);
  EXPECT_TRUE(event->waitUntilSignaledValue(3, 0));
  EXPECT_TRUE(event->waitUntilSignaledValue(6, ~uint64_t{0}));
}

TEST_F(EventTest, TimeoutsAreKept) {
  auto event = own(device->newSharedEvent());
  auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(event->waitUntilSignaledValue(1, 30));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
}

TEST_F(EventTest, ListenersHearOnceOnTheirQueue) {
  auto event = own(device->newSharedEvent());
  dispatch_queue_t target = dispatch_queue_create("test listener", nullptr);
  auto listener = own(MTL::SharedEventListener::alloc()->init(target));
  EXPECT_EQ(listener->dispatchQueue(), target);
  std::atomic<int> calls{0};
  auto* calls_in_block = &calls;
  std::atomic<uint64_t> heard{0};
  auto* heard_in_block = &heard;
  MTL::SharedEvent* same = event.get();
  event->notifyListener(listener.get(), 3, ^(MTL::SharedEvent* notified, uint64_t value) {
    EXPECT_EQ(notified, same);
    *heard_in_block = value;
    calls_in_block->fetch_add(1);
  });
  event->setSignaledValue(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(calls.load(), 0);
  auto* commands = queue->commandBuffer();
  commands->encodeSignalEvent(event.get(), 4);
  run(commands);
  while (calls.load() == 0)
    std::this_thread::yield();
  EXPECT_GE(heard.load(), 3u);
  // One that is reached already is called too.
  event->notifyListener(listener.get(), 1, ^(MTL::SharedEvent*, uint64_t) {
    calls_in_block->fetch_add(1);
  });
  while (calls.load() == 1)
    std::this_thread::yield();
  event->setSignaledValue(9);
  dispatch_sync(target, ^{
                });
  EXPECT_EQ(calls.load(), 2);
  dispatch_release(target);
}

TEST_F(EventTest, AListenerHearsOfAnEventThatTheClientLetGo) {
  auto listener = own(MTL::SharedEventListener::alloc()->init());
  std::atomic<int> calls{0};
  auto* calls_in_block = &calls;
  auto gate = own(device->newSharedEvent());
  {
    auto event = own(device->newSharedEvent());
    event->notifyListener(listener.get(), 1, ^(MTL::SharedEvent* notified, uint64_t) {
      EXPECT_GE(notified->signaledValue(), 1u);
      calls_in_block->fetch_add(1);
    });
    auto* commands = queue->commandBuffer();
    commands->encodeWait(gate.get(), 1);
    commands->encodeSignalEvent(event.get(), 1);
    commands->commit();
  }
  gate->setSignaledValue(1);
  while (calls.load() == 0)
    std::this_thread::yield();
}

TEST_F(EventTest, AHandleMakesTheSameEventAgain) {
  auto event = own(device->newSharedEvent());
  event->setLabel(text("timeline"));
  auto handle = own(event->newSharedEventHandle());
  EXPECT_STREQ(handle->label()->utf8String(), "timeline");
  auto again = own(device->newSharedEvent(handle.get()));
  event->setSignaledValue(12);
  EXPECT_EQ(again->signaledValue(), 12u);
  EXPECT_EQ(device->newSharedEvent(static_cast<MTL::SharedEventHandle*>(nullptr)), nullptr);
}

TEST_F(EventTest, ASignalAfterAFailureStillComes) {
  auto event = own(device->newSharedEvent());
  auto memory = buffer(16);
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->blitCommandEncoder();
  encoder->fillBuffer(memory.get(), NS::Range(0, 17), 1);
  encoder->endEncoding();
  commands->encodeSignalEvent(event.get(), 1);
  commands->commit();
  EXPECT_TRUE(event->waitUntilSignaledValue(1, 60'000)) << "nobody is to wait for ever";
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError);
}

} // namespace
} // namespace metal_test

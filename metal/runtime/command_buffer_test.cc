#include "metal/runtime/client_test.h"

#include <atomic>
#include <pthread.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace metal_test {
namespace {

class CommandBufferTest : public ClientTest {
protected:
  MTL::CommandBuffer* fill(MTL::Buffer* target, unsigned char value) {
    auto* commands = queue->commandBuffer();
    auto* encoder = commands->blitCommandEncoder();
    encoder->fillBuffer(target, NS::Range(0, target->length()), value);
    encoder->endEncoding();
    return commands;
  }
};

TEST_F(CommandBufferTest, GoesThroughItsStates) {
  auto gate = own(device->newSharedEvent());
  auto* commands = queue->commandBuffer();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusNotEnqueued);
  EXPECT_TRUE(commands->retainedReferences());
  EXPECT_EQ(commands->commandQueue(), queue.get());
  EXPECT_EQ(commands->device(), device.get());
  commands->enqueue();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusEnqueued);
  commands->encodeWait(gate.get(), 1);
  commands->commit();
  commands->waitUntilScheduled();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusScheduled);
  EXPECT_EQ(commands->GPUEndTime(), 0);
  gate->setSignaledValue(1);
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(commands->error(), nullptr);
  EXPECT_GT(commands->GPUStartTime(), 0);
  EXPECT_GE(commands->GPUEndTime(), commands->GPUStartTime());
  EXPECT_GT(commands->kernelStartTime(), 0);
  EXPECT_GE(commands->kernelEndTime(), commands->kernelStartTime());
}

TEST_F(CommandBufferTest, RunsInTheOrderOfEnqueueNotOfCommit) {
  auto memory = buffer(64);
  auto* first = fill(memory.get(), 1);
  auto* second = fill(memory.get(), 2);
  auto* third = fill(memory.get(), 3);
  first->enqueue();
  second->enqueue();
  third->enqueue();
  third->commit();
  second->commit();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_NE(third->status(), MTL::CommandBufferStatusCompleted) << "ran before the first";
  first->commit();
  third->waitUntilCompleted();
  EXPECT_EQ(second->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(contents<unsigned char>(memory)[63], 3);
}

TEST_F(CommandBufferTest, OneThatIsDroppedBeforeCommitHoldsUpNoOther) {
  auto memory = buffer(64);
  {
    auto inner = own(NS::AutoreleasePool::alloc()->init());
    fill(memory.get(), 1)->enqueue();
  }
  run(fill(memory.get(), 2));
  EXPECT_EQ(contents<unsigned char>(memory)[0], 2);
}

TEST_F(CommandBufferTest, HandlersRunOnceInOrderAfterTheWorkAndBeforeTheWaitReturns) {
  auto memory = buffer(64);
  auto* commands = fill(memory.get(), 7);
  __block std::vector<std::string> calls;
  __block std::string handler_thread;
  MTL::Buffer* target = memory.get();
  commands->addScheduledHandler(^(MTL::CommandBuffer*) {
    calls.push_back("scheduled");
  });
  for (const char* name : {"a", "b", "c"})
    commands->addCompletedHandler(^(MTL::CommandBuffer* self) {
      calls.push_back(name);
      char name[16] = {};
      pthread_getname_np(pthread_self(), name, sizeof name);
      handler_thread = name;
      EXPECT_EQ(self, commands);
      EXPECT_EQ(self->status(), MTL::CommandBufferStatusCompleted);
      EXPECT_EQ(static_cast<unsigned char*>(target->contents())[63], 7);
    });
  run(commands);
  EXPECT_EQ(calls, (std::vector<std::string>{"scheduled", "a", "b", "c"}));
  // On this thread, which waits, or the notification thread; workers are named by number.
  EXPECT_FALSE(handler_thread.starts_with("bessemer-") && handler_thread != "bessemer-notify")
      << handler_thread;
}

TEST_F(CommandBufferTest, HandlersOfOneQueueFollowTheOrderOfTheCommandBuffers) {
  auto memory = buffer(64);
  __block std::vector<int> order;
  MTL::CommandBuffer* last = nullptr;
  for (int i = 0; i < 50; ++i) {
    last = fill(memory.get(), 1);
    last->addCompletedHandler(^(MTL::CommandBuffer*) {
      order.push_back(i);
    });
    last->commit();
  }
  last->waitUntilCompleted();
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(order[size_t(i)], i);
}

TEST_F(CommandBufferTest, AHandlerMayMakeAndWaitForFurtherWork) {
  auto memory = buffer(64);
  auto* commands = fill(memory.get(), 1);
  __block bool done = false;
  MTL::CommandQueue* same = queue.get();
  MTL::Buffer* target = memory.get();
  commands->addCompletedHandler(^(MTL::CommandBuffer*) {
    auto* next = same->commandBuffer();
    auto* encoder = next->blitCommandEncoder();
    encoder->fillBuffer(target, NS::Range(0, 64), 2);
    encoder->endEncoding();
    next->addCompletedHandler(^(MTL::CommandBuffer*){
    });
    next->commit();
    next->waitUntilCompleted();
    done = static_cast<unsigned char*>(target->contents())[0] == 2;
  });
  run(commands);
  EXPECT_TRUE(done);
}

TEST_F(CommandBufferTest, KeepsResourcesUntilItHasCompleted) {
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  auto gate = own(device->newSharedEvent());
  auto result = buffer(64);
  void* pages = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static_cast<char*>(pages)[0] = 42;
  std::atomic<int> freed{0};
  auto* freed_in_block = &freed;
  NS::SharedPtr<MTL::CommandBuffer> commands;
  {
    auto inner = own(NS::AutoreleasePool::alloc()->init());
    auto source =
        own(device->newBuffer(pages, page, MTL::ResourceStorageModeShared, ^(void*, NS::UInteger) {
          freed_in_block->fetch_add(1);
        }));
    commands = NS::RetainPtr(queue->commandBuffer());
    commands->encodeWait(gate.get(), 1);
    auto* encoder = commands->blitCommandEncoder();
    encoder->copyFromBuffer(source.get(), 0, result.get(), 0, 64);
    encoder->copyFromBuffer(source.get(), 0, result.get(), 0, 64);
    encoder->endEncoding();
    commands->commit();
  }
  EXPECT_EQ(freed.load(), 0);
  gate->setSignaledValue(1);
  commands->waitUntilCompleted();
  EXPECT_EQ(contents<char>(result)[0], 42);
  EXPECT_EQ(freed.load(), 1) << "released on completion, not with the command buffer";
  munmap(pages, page);
}

TEST_F(CommandBufferTest, UnretainedReferencesAreNotKept) {
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  void* pages = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  __block int freed = 0;
  auto* commands = queue->commandBufferWithUnretainedReferences();
  EXPECT_FALSE(commands->retainedReferences());
  {
    auto source =
        own(device->newBuffer(pages, page, MTL::ResourceStorageModeShared, ^(void*, NS::UInteger) {
          ++freed;
        }));
    auto* encoder = commands->blitCommandEncoder();
    encoder->fillBuffer(source.get(), NS::Range(0, page), 3);
    encoder->endEncoding();
    run(commands);
  }
  EXPECT_EQ(freed, 1);
  munmap(pages, page);
}

TEST_F(CommandBufferTest, MayBeDroppedWhileItRuns) {
  auto memory = buffer(1 << 20);
  auto event = own(device->newSharedEvent());
  for (uint64_t i = 1; i <= 200; ++i) {
    auto inner = own(NS::AutoreleasePool::alloc()->init());
    auto* commands = fill(memory.get(), static_cast<unsigned char>(i));
    commands->encodeSignalEvent(event.get(), i);
    commands->commit();
  }
  ASSERT_TRUE(event->waitUntilSignaledValue(200, 60'000));
  EXPECT_EQ(contents<unsigned char>(memory)[12345], 200);
}

TEST_F(CommandBufferTest, OneThatWasDroppedLetsItsResourcesGoWhenItHasRun) {
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  auto gate = own(device->newSharedEvent());
  void* pages = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::atomic<int> freed{0};
  auto* freed_in_block = &freed;
  {
    auto inner = own(NS::AutoreleasePool::alloc()->init());
    auto target =
        own(device->newBuffer(pages, page, MTL::ResourceStorageModeShared, ^(void*, NS::UInteger) {
          freed_in_block->fetch_add(1);
        }));
    auto* commands = queue->commandBuffer();
    commands->encodeWait(gate.get(), 1);
    auto* encoder = commands->blitCommandEncoder();
    encoder->fillBuffer(target.get(), NS::Range(0, page), 8);
    encoder->endEncoding();
    commands->commit();
  }
  EXPECT_EQ(freed.load(), 0);
  gate->setSignaledValue(1);
  while (freed.load() == 0) // or the test's own time limit
    std::this_thread::yield();
  EXPECT_EQ(static_cast<unsigned char*>(pages)[page - 1], 8);
  munmap(pages, page);
}

TEST_F(CommandBufferTest, AQueueLetsOnlySoManyRunAtATime) {
  auto narrow = own(device->newCommandQueue(2));
  auto gate = own(device->newSharedEvent());
  for (int i = 0; i < 2; ++i) {
    auto* commands = narrow->commandBuffer();
    commands->encodeWait(gate.get(), 1);
    commands->commit();
  }
  std::atomic<bool> got_third{false};
  std::thread client([&] {
    auto inner = own(NS::AutoreleasePool::alloc()->init());
    auto* third = narrow->commandBuffer();
    got_third = true;
    third->commit();
    third->waitUntilCompleted();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(got_third.load());
  gate->setSignaledValue(1);
  client.join();
  EXPECT_TRUE(got_third.load());
}

TEST_F(CommandBufferTest, WrongUseEndsInAnErrorThatNamesTheCall) {
  auto memory = buffer(64);
  auto event = own(device->newEvent());
  struct Case {
    const char* text;
    void (^encode)(MTL::CommandBuffer*);
  };
  MTL::Buffer* target = memory.get();
  MTL::Event* some_event = event.get();
  const Case cases[] = {
      {"-[MTLCommandBuffer commit]: an encoder has not been ended", ^(MTL::CommandBuffer* commands){
           commands->computeCommandEncoder();
}
} // namespace
, {"the encoder before has not been ended", ^(MTL::CommandBuffer* commands){
       commands->computeCommandEncoder();
commands->blitCommandEncoder()->endEncoding();
} // namespace metal_test
}
, {"-[MTLBlitCommandEncoder fillBuffer:range:value:]: the encoder has ended",
   ^(MTL::CommandBuffer* commands){
       auto* encoder = commands->blitCommandEncoder();
encoder->endEncoding();
encoder->fillBuffer(target, NS::Range(0, 1), 1);
}
}
, {"-[MTLBlitCommandEncoder endEncoding]: the encoder has ended", ^(MTL::CommandBuffer* commands){
       auto* encoder = commands->blitCommandEncoder();
encoder->endEncoding();
encoder->endEncoding();
}
}
, {"encodeSignalEvent:value:]: an encoder is open", ^(MTL::CommandBuffer* commands){
       auto* encoder = commands->blitCommandEncoder();
commands->encodeSignalEvent(some_event, 1);
encoder->endEncoding();
}
}
, {"encodeWaitForEvent:value:]: event is null", ^(MTL::CommandBuffer* commands){
       commands->encodeWait(nullptr, 1);
}
}
,
}
;
for (const Case& wrong : cases) {
  auto* commands = queue->commandBuffer();
  wrong.encode(commands);
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError) << wrong.text;
  ASSERT_NE(commands->error(), nullptr) << wrong.text;
  EXPECT_STREQ(commands->error()->domain()->utf8String(), "MTLCommandBufferErrorDomain");
  EXPECT_EQ(commands->error()->code(), NS::Integer(MTL::CommandBufferErrorInvalidResource));
  EXPECT_NE(message(commands->error()).find(wrong.text), std::string::npos)
      << message(commands->error());
}
// The queue goes on.
run(fill(memory.get(), 5));
EXPECT_EQ(contents<unsigned char>(memory)[0], 5);
}

TEST_F(CommandBufferTest, CallsAfterCommitDoNothing) {
  auto memory = buffer(64);
  auto* commands = queue->commandBuffer();
  commands->waitUntilCompleted(); // not committed: reported, and no wait for ever
  run(commands);
  auto* encoder = commands->blitCommandEncoder();
  ASSERT_NE(encoder, nullptr);
  encoder->fillBuffer(memory.get(), NS::Range(0, 64), 1);
  encoder->endEncoding();
  commands->commit();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(contents<unsigned char>(memory)[0], 0);
}

TEST_F(CommandBufferTest, AnErrorTellsOfTheEncodersWhenAsked) {
  auto descriptor = own(MTL::CommandBufferDescriptor::alloc()->init());
  EXPECT_TRUE(descriptor->retainedReferences());
  descriptor->setErrorOptions(MTL::CommandBufferErrorOptionEncoderExecutionStatus);
  auto memory = buffer(64);
  auto* commands = queue->commandBuffer(descriptor.get());
  EXPECT_EQ(commands->errorOptions(), MTL::CommandBufferErrorOptionEncoderExecutionStatus);
  auto* good = commands->blitCommandEncoder();
  good->setLabel(text("good"));
  good->endEncoding();
  auto* bad = commands->blitCommandEncoder();
  bad->setLabel(text("bad"));
  bad->fillBuffer(memory.get(), NS::Range(0, 65), 1);
  bad->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  ASSERT_NE(commands->error(), nullptr);
  auto* infos =
      commands->error()->userInfo()->object<NS::Array>(MTL::CommandBufferEncoderInfoErrorKey);
  ASSERT_NE(infos, nullptr);
  ASSERT_EQ(infos->count(), 2u);
  EXPECT_STREQ(infos->object<MTL::CommandBufferEncoderInfo>(0)->label()->utf8String(), "good");
  EXPECT_STREQ(infos->object<MTL::CommandBufferEncoderInfo>(1)->label()->utf8String(), "bad");
}

TEST_F(CommandBufferTest, GraphicsIsRefused) {
  auto* commands = queue->commandBuffer();
  EXPECT_EQ(commands->renderCommandEncoder(nullptr), nullptr);
  EXPECT_EQ(commands->resourceStateCommandEncoder(), nullptr);
  EXPECT_EQ(commands->accelerationStructureCommandEncoder(), nullptr);
  run(commands);
}

} // namespace
} // namespace metal_test

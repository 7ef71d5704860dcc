// Kernels end to end: MSL text, compiled at run time, on data whose results a loop on the host
// tells.
#include "metal/runtime/client_test.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

namespace metal_test {
namespace {

const char* const kSource = R"(
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  y[i] = a * x[i] + y[i];
}

kernel void add_one(device uint* data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  data[i] += 1;
}

// Where each thread is, for every way to give a grid.
kernel void positions(device uint4* out [[buffer(0)]], constant uint3& size [[buffer(1)]],
                      uint3 position [[thread_position_in_grid]],
                      uint3 group [[threadgroup_position_in_grid]],
                      uint index [[thread_index_in_threadgroup]]) {
  if (any(position >= size)) return;
  out[(position.z * size.y + position.y) * size.x + position.x] =
      uint4(position.x | position.y << 10 | position.z << 20,
            group.x | group.y << 10 | group.z << 20, index, 1);
}

kernel void reverse(device uint* data [[buffer(0)]], threadgroup uint* shared [[threadgroup(0)]],
                    uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]]) {
  shared[local] = data[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  data[i] = shared[size - 1 - local];
}

struct Arguments {
  device uint* target [[id(0)]];
  device const uint* source [[id(1)]];
  uint factor [[id(2)]];
};
kernel void through_arguments(constant Arguments& arguments [[buffer(0)]],
                              uint i [[thread_position_in_grid]]) {
  arguments.target[i] = arguments.source[i] * arguments.factor;
}

kernel void write_counts(device uint* counts [[buffer(0)]], constant uint3& value [[buffer(1)]]) {
  counts[0] = value.x; counts[1] = value.y; counts[2] = value.z;
}

constant uint scale [[function_constant(0)]];
kernel void scaled(device uint* data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  data[i] *= scale;
}
)";

class ComputeTest : public ClientTest {
protected:
  void SetUp() override {
    if (!may_compile())
      GTEST_SKIP() << "no libMetalCompiler";
  }

  static MTL::Library* library() {
    static MTL::Library* const library = [] {
      auto device = own(MTL::CreateSystemDefaultDevice());
      NS::Error* error = nullptr;
      MTL::Library* made = device->newLibrary(text(kSource), nullptr, &error);
      EXPECT_NE(made, nullptr) << message(error);
      return made;
    }();
    return library;
  }

  NS::SharedPtr<MTL::ComputePipelineState> pipeline(const char* name) {
    auto function = own(library()->newFunction(text(name)));
    EXPECT_TRUE(function) << name;
    NS::Error* error = nullptr;
    auto made = own(device->newComputePipelineState(function.get(), &error));
    EXPECT_TRUE(made) << message(error);
    return made;
  }

  NS::SharedPtr<MTL::Buffer> numbers(size_t count) {
    auto made = buffer(count * sizeof(uint32_t));
    std::iota(contents<uint32_t>(made).begin(), contents<uint32_t>(made).end(), 0u);
    return made;
  }
};

TEST_F(ComputeTest, Saxpy) {
  auto saxpy = pipeline("saxpy");
  EXPECT_EQ(saxpy->threadExecutionWidth(), 32u);
  EXPECT_EQ(saxpy->maxTotalThreadsPerThreadgroup(), 1024u);
  for (size_t count : {1u, 31u, 64u, 1000u, 100003u}) {
    auto x = buffer(count * sizeof(float)), y = buffer(count * sizeof(float));
    for (size_t i = 0; i < count; ++i) {
      contents<float>(x)[i] = float(i % 1000) * 0.25f; // exact in float, however it is rounded
      contents<float>(y)[i] = float(i % 77);
    }
    const float a = 3;
    auto* commands = queue->commandBuffer();
    auto* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(saxpy.get());
    encoder->setBuffer(x.get(), 0, 0);
    encoder->setBuffer(y.get(), 0, 1);
    encoder->setBytes(&a, sizeof a, 2);
    encoder->dispatchThreads(MTL::Size(count, 1, 1), MTL::Size(64, 1, 1));
    encoder->endEncoding();
    run(commands);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(contents<float>(y)[i], 3 * (float(i % 1000) * 0.25f) + float(i % 77)) << i;
  }
}

TEST_F(ComputeTest, EveryThreadOfAGridRunsOnceAtItsPlace) {
  auto positions = pipeline("positions");
  const MTL::Size grids[] = {{1, 1, 1}, {33, 1, 1}, {7, 5, 3}, {64, 8, 2}, {100, 3, 1}, {1, 1, 9}};
  const MTL::Size groups[] = {{1, 1, 1}, {32, 1, 1}, {4, 4, 4}, {33, 3, 1}, {8, 2, 3}};
  for (MTL::Size grid : grids)
    for (MTL::Size group : groups) {
      auto out = buffer(grid.width * grid.height * grid.depth * 16);
      const uint32_t size[4] = {uint32_t(grid.width), uint32_t(grid.height), uint32_t(grid.depth)};
      auto* commands = queue->commandBuffer();
      auto* encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(positions.get());
      encoder->setBuffer(out.get(), 0, 0);
      encoder->setBytes(size, sizeof size, 1);
      encoder->dispatchThreads(grid, group);
      encoder->endEncoding();
      run(commands);
      auto words = contents<uint32_t>(out);
      for (size_t z = 0; z < grid.depth; ++z)
        for (size_t y = 0; y < grid.height; ++y)
          for (size_t x = 0; x < grid.width; ++x) {
            size_t at = ((z * grid.height + y) * grid.width + x) * 4;
            size_t gx = x / group.width, gy = y / group.height, gz = z / group.depth;
            // A threadgroup at the grid's edge is as small as what is left.
            size_t width = std::min(group.width, grid.width - gx * group.width);
            size_t height = std::min(group.height, grid.height - gy * group.height);
            size_t index = ((z - gz * group.depth) * height + (y - gy * group.height)) * width +
                           (x - gx * group.width);
            ASSERT_EQ(words[at], x | y << 10 | z << 20);
            ASSERT_EQ(words[at + 1], gx | gy << 10 | gz << 20);
            ASSERT_EQ(words[at + 2], index) << x << " " << y << " " << z;
            ASSERT_EQ(words[at + 3], 1u);
          }
    }
}

TEST_F(ComputeTest, SerialDispatchesSeeWhatTheOnesBeforeWrote) {
  auto add_one = pipeline("add_one");
  auto data = numbers(1000);
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  EXPECT_EQ(encoder->dispatchType(), MTL::DispatchTypeSerial);
  encoder->setComputePipelineState(add_one.get());
  encoder->setBuffer(data.get(), 0, 0);
  for (int i = 0; i < 100; ++i)
    encoder->dispatchThreads(MTL::Size(1000, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  run(commands);
  for (uint32_t i = 0; i < 1000; ++i)
    ASSERT_EQ(contents<uint32_t>(data)[i], i + 100);
}

TEST_F(ComputeTest, ConcurrentDispatchesAreOrderedByBarriers) {
  auto add_one = pipeline("add_one");
  auto data = numbers(4096);
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  EXPECT_EQ(encoder->dispatchType(), MTL::DispatchTypeConcurrent);
  encoder->setComputePipelineState(add_one.get());
  const MTL::Resource* resources[] = {data.get()};
  encoder->useResources(resources, 1, MTL::ResourceUsageRead | MTL::ResourceUsageWrite);
  for (int i = 0; i < 60; ++i) {
    // Two halves that may run at once, then a barrier.
    encoder->setBuffer(data.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(2048, 1, 1), MTL::Size(64, 1, 1));
    encoder->setBufferOffset(2048 * 4, 0);
    encoder->dispatchThreads(MTL::Size(2048, 1, 1), MTL::Size(64, 1, 1));
    if (i % 2)
      encoder->memoryBarrier(MTL::BarrierScopeBuffers);
    else
      encoder->memoryBarrier(resources, 1);
  }
  encoder->endEncoding();
  run(commands);
  for (uint32_t i = 0; i < 4096; ++i)
    ASSERT_EQ(contents<uint32_t>(data)[i], i + 60);
}

TEST_F(ComputeTest, ThreadgroupMemoryIsSizedByTheHost) {
  auto reverse = pipeline("reverse");
  constexpr uint32_t kGroup = 96, kCount = kGroup * 10;
  auto data = numbers(kCount);
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(reverse.get());
  encoder->setBuffer(data.get(), 0, 0);
  encoder->setThreadgroupMemoryLength(kGroup * 4, 0);
  encoder->dispatchThreadgroups(MTL::Size(kCount / kGroup, 1, 1), MTL::Size(kGroup, 1, 1));
  encoder->endEncoding();
  run(commands);
  for (uint32_t i = 0; i < kCount; ++i)
    ASSERT_EQ(contents<uint32_t>(data)[i], i / kGroup * kGroup + kGroup - 1 - i % kGroup);
}

TEST_F(ComputeTest, IndirectCountsAreReadWhenTheDispatchRuns) {
  auto write_counts = pipeline("write_counts"), add_one = pipeline("add_one");
  auto counts = buffer(64), data = numbers(320);
  const uint32_t value[4] = {9, 1, 1};
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(write_counts.get());
  encoder->setBuffer(counts.get(), 16, 0);
  encoder->setBytes(value, sizeof value, 1);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->setComputePipelineState(add_one.get());
  encoder->setBuffer(data.get(), 0, 0);
  encoder->dispatchThreadgroups(counts.get(), 16, MTL::Size(32, 1, 1));
  encoder->dispatchThreadgroups(counts.get(), 0, MTL::Size(32, 1, 1)); // 0 threadgroups: nothing
  encoder->endEncoding();
  run(commands);
  for (uint32_t i = 0; i < 320; ++i)
    ASSERT_EQ(contents<uint32_t>(data)[i], i + (i < 9 * 32));
}

TEST_F(ComputeTest, ArgumentBuffersByEncoderAndByAddress) {
  auto kernel = pipeline("through_arguments");
  auto function = own(library()->newFunction(text("through_arguments")));
  auto arguments = own(function->newArgumentEncoder(0));
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->encodedLength(), 24u);
  auto source = numbers(100), by_encoder = buffer(400), by_address = buffer(400);
  auto table = buffer(arguments->encodedLength() + 64), raw = buffer(24);
  arguments->setArgumentBuffer(table.get(), 64);
  arguments->setBuffer(by_encoder.get(), 0, 0);
  arguments->setBuffer(source.get(), 40, 1);
  const uint32_t factor = 3;
  std::memcpy(arguments->constantData(2), &factor, sizeof factor);
  contents<uint64_t>(raw)[0] = by_address->gpuAddress();
  contents<uint64_t>(raw)[1] = source->gpuAddress();
  contents<uint32_t>(raw)[4] = 5;
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(kernel.get());
  encoder->useResource(source.get(), MTL::ResourceUsageRead);
  encoder->useResource(by_encoder.get(), MTL::ResourceUsageWrite);
  encoder->useResource(by_address.get(), MTL::ResourceUsageWrite);
  encoder->setBuffer(table.get(), 64, 0);
  encoder->dispatchThreads(MTL::Size(90, 1, 1), MTL::Size(32, 1, 1));
  encoder->setBuffer(raw.get(), 0, 0);
  encoder->dispatchThreads(MTL::Size(100, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  run(commands);
  for (uint32_t i = 0; i < 100; ++i) {
    ASSERT_EQ(contents<uint32_t>(by_encoder)[i], i < 90 ? (i + 10) * 3 : 0);
    ASSERT_EQ(contents<uint32_t>(by_address)[i], i * 5);
  }
}

TEST_F(ComputeTest, FunctionConstantsMakeKernelsOfTheirOwn) {
  for (uint32_t scale : {2u, 7u}) {
    auto values = own(MTL::FunctionConstantValues::alloc()->init());
    values->setConstantValue(&scale, MTL::DataTypeUInt, NS::UInteger(0));
    NS::Error* error = nullptr;
    auto function = own(library()->newFunction(text("scaled"), values.get(), &error));
    ASSERT_TRUE(function) << message(error);
    auto kernel = own(device->newComputePipelineState(function.get(), &error));
    ASSERT_TRUE(kernel) << message(error);
    auto data = numbers(50);
    auto* commands = queue->commandBuffer();
    auto* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(kernel.get());
    encoder->setBuffer(data.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(50, 1, 1), MTL::Size(50, 1, 1));
    encoder->endEncoding();
    run(commands);
    for (uint32_t i = 0; i < 50; ++i)
      ASSERT_EQ(contents<uint32_t>(data)[i], i * scale);
  }
}

TEST_F(ComputeTest, IndirectCommandBuffersRunWhatTheyHoldThen) {
  auto descriptor = own(MTL::ComputePipelineDescriptor::alloc()->init());
  auto function = own(library()->newFunction(text("add_one")));
  descriptor->setComputeFunction(function.get());
  descriptor->setSupportIndirectCommandBuffers(true);
  NS::Error* error = nullptr;
  auto add_one = own(
      device->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, &error));
  ASSERT_TRUE(add_one) << message(error);
  auto commands_descriptor = own(MTL::IndirectCommandBufferDescriptor::alloc()->init());
  commands_descriptor->setCommandTypes(MTL::IndirectCommandTypeConcurrentDispatch);
  commands_descriptor->setInheritBuffers(false);
  commands_descriptor->setInheritPipelineState(false);
  commands_descriptor->setMaxKernelBufferBindCount(31);
  auto indirect = own(device->newIndirectCommandBuffer(commands_descriptor.get(), 4,
                                                       MTL::ResourceStorageModeShared));
  ASSERT_TRUE(indirect);
  EXPECT_EQ(indirect->size(), 4u);
  auto first = numbers(64), second = numbers(64);
  auto encode = [&](size_t index, MTL::Buffer* target, size_t groups) {
    auto* command = indirect->indirectComputeCommand(index);
    command->setComputePipelineState(add_one.get());
    command->setKernelBuffer(target, 0, 0);
    command->concurrentDispatchThreadgroups(MTL::Size(groups, 1, 1), MTL::Size(32, 1, 1));
    command->setBarrier();
  };
  encode(0, first.get(), 2);
  encode(1, first.get(), 2);
  encode(2, second.get(), 2); // index 3 stays empty
  auto execute = [&](auto encode_execution) {
    auto* commands = queue->commandBuffer();
    auto* encoder = commands->computeCommandEncoder();
    encoder->useResource(first.get(), MTL::ResourceUsageWrite);
    encoder->useResource(second.get(), MTL::ResourceUsageWrite);
    encode_execution(encoder);
    encoder->endEncoding();
    return commands;
  };
  run(execute([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->executeCommandsInBuffer(indirect.get(), NS::Range(0, 4));
  }));
  EXPECT_EQ(contents<uint32_t>(first)[63], 63u + 2);
  EXPECT_EQ(contents<uint32_t>(second)[63], 63u + 1);
  // Changed after encoding, before commit: the change counts.
  auto* late = execute([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->executeCommandsInBuffer(indirect.get(), NS::Range(2, 1));
  });
  encode(2, first.get(), 1);
  run(late);
  EXPECT_EQ(contents<uint32_t>(first)[31], 31u + 3);
  EXPECT_EQ(contents<uint32_t>(first)[63], 63u + 2);
  EXPECT_EQ(contents<uint32_t>(second)[0], 0u + 1);
  // The range from memory that a kernel or blit wrote.
  auto range = buffer(64);
  contents<uint32_t>(range)[4] = 1;
  auto* commands = queue->commandBuffer();
  auto* blit = commands->blitCommandEncoder();
  blit->fillBuffer(range.get(), NS::Range(20, 1), 200); // length 200: cut at the end
  blit->resetCommandsInBuffer(indirect.get(), NS::Range(2, 1));
  blit->endEncoding();
  auto* encoder = commands->computeCommandEncoder();
  encoder->executeCommandsInBuffer(indirect.get(), range.get(), 16);
  encoder->endEncoding();
  run(commands);
  EXPECT_EQ(contents<uint32_t>(first)[31], 31u + 4); // command 1 only
}

TEST_F(ComputeTest, WrongUseEndsInAnErrorThatNamesTheCall) {
  auto saxpy = pipeline("saxpy"), reverse = pipeline("reverse");
  auto memory = numbers(64);
  struct Case {
    const char* text;
    void (^encode)(MTL::ComputeCommandEncoder*);
  };
  MTL::Buffer* some = memory.get();
  MTL::ComputePipelineState *with_buffers = saxpy.get(), *with_threadgroup = reverse.get();
  const MTL::Size one(1, 1, 1);
  const Case cases[] = {
      {"dispatchThreads:threadsPerThreadgroup:]: no compute pipeline state is set",
       ^(MTL::ComputeCommandEncoder* encoder){
           encoder->dispatchThreads(one, one);
}
} // namespace
, {"nothing is bound at buffer index 1, which kernel 'saxpy' uses",
   ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setComputePipelineState(with_buffers);
encoder->setBuffer(some, 0, 0);
encoder->setBuffer(some, 0, 2);
encoder->dispatchThreads(one, one);
} // namespace metal_test
}
, {"threadsPerThreadgroup 1025x1x1", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setComputePipelineState(with_buffers);
encoder->dispatchThreads(one, MTL::Size(1025, 1, 1));
}
}
, {"threadsPerThreadgroup 32x0x1", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setComputePipelineState(with_buffers);
encoder->dispatchThreadgroups(one, MTL::Size(32, 0, 1));
}
}
,
    {"threadsPerThreadgroup 2147483648x4294967296x2", // the product is 0 in 64 bits
     ^(MTL::ComputeCommandEncoder* encoder){
         encoder->setComputePipelineState(with_buffers);
encoder->dispatchThreadgroups(one, MTL::Size(1ull << 31, 1ull << 32, 2));
}
}
, {"setBuffer:offset:atIndex:]: offset 257 is not within the buffer's 256 bytes",
   ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setBuffer(some, 257, 0);
}
}
, {"setBuffer:offset:atIndex:]: index 31 is not below 31", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setBuffer(some, 0, 31);
}
}
, {"setBufferOffset:atIndex:]: no buffer is set at index 3", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setBufferOffset(0, 3);
}
}
, {"setBytes:length:atIndex:]: length 4097", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setBytes(std::vector<char>(5000).data(), 4097, 0);
}
}
, {"setThreadgroupMemoryLength:atIndex:]: length 32784 is over 32768",
   ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setThreadgroupMemoryLength(32784, 0);
}
}
, {"setThreadgroupMemoryLength:atIndex:]: length 20 is no multiple of 16",
   ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setThreadgroupMemoryLength(20, 0);
}
}
, {"bytes of threadgroup memory", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setComputePipelineState(with_threadgroup);
encoder->setBuffer(some, 0, 0);
encoder->setThreadgroupMemoryLength(32768, 0);
encoder->setThreadgroupMemoryLength(32, 1);
encoder->dispatchThreadgroups(one, one);
}
}
, {"setComputePipelineState:]: the pipeline state is null", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setComputePipelineState(nullptr);
}
}
, {"indirectBuffer: offset 248 and size 12 end after the buffer's 256 bytes",
   ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setComputePipelineState(with_threadgroup);
encoder->setBuffer(some, 0, 0);
encoder->dispatchThreadgroups(some, 248, one);
}
}
, {"threadgroupsPerGrid 4294967295x1x1 is too large a grid", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setComputePipelineState(with_threadgroup);
encoder->setBuffer(some, 0, 0);
encoder->dispatchThreadgroups(MTL::Size(0xffffffff, 1, 1), MTL::Size(2, 1, 1));
}
}
, {"waitForFence:]: fence is null", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->waitForFence(nullptr);
}
}
, {"setTexture:atIndex:]: this device computes only", ^(MTL::ComputeCommandEncoder* encoder){
       encoder->setTexture(reinterpret_cast<MTL::Texture*>(some), 0);
}
}
,
}
;
for (const Case& wrong : cases) {
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  wrong.encode(encoder);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError) << wrong.text;
  EXPECT_NE(message(commands->error()).find(wrong.text), std::string::npos)
      << wrong.text << "\n  but: " << message(commands->error());
}
for (uint32_t i = 0; i < 64; ++i)
  ASSERT_EQ(contents<uint32_t>(memory)[i], i) << "nothing ran";
}

TEST_F(ComputeTest, FencesOrderEncodersOfUntrackedBuffers) {
  auto add_one = pipeline("add_one");
  auto fence = own(device->newFence());
  auto data =
      buffer(4096, MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeUntracked);
  auto* commands = queue->commandBufferWithUnretainedReferences();
  for (int i = 0; i < 50; ++i) {
    auto* encoder = commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
    encoder->waitForFence(fence.get());
    encoder->setComputePipelineState(add_one.get());
    encoder->setBuffer(data.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(1024, 1, 1), MTL::Size(128, 1, 1));
    encoder->updateFence(fence.get());
    encoder->endEncoding();
  }
  run(commands);
  EXPECT_TRUE(
      std::ranges::all_of(contents<uint32_t>(data), [](uint32_t value) { return value == 50; }));
}

TEST_F(ComputeTest, AKernelFaultIsAnErrorAndTheProcessLives) {
  auto kernel = pipeline("through_arguments");
  auto table = buffer(24), data = numbers(16);
  contents<uint64_t>(table)[0] = 0x10; // where nothing is
  contents<uint64_t>(table)[1] = data->gpuAddress();
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(kernel.get());
  encoder->setBuffer(table.get(), 0, 0);
  encoder->dispatchThreads(MTL::Size(16, 1, 1), MTL::Size(16, 1, 1));
  encoder->endEncoding();
  __block bool handled = false;
  commands->addCompletedHandler(^(MTL::CommandBuffer* self) {
    handled = self->status() == MTL::CommandBufferStatusError && self->error() != nullptr;
  });
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError);
  ASSERT_NE(commands->error(), nullptr);
  EXPECT_EQ(commands->error()->code(), NS::Integer(MTL::CommandBufferErrorPageFault));
  EXPECT_NE(message(commands->error()).find("through_arguments"), std::string::npos)
      << message(commands->error());
  EXPECT_TRUE(handled);
}

TEST_F(ComputeTest, ManyThreadsEncodeAtOnce) {
  auto add_one = pipeline("add_one");
  constexpr int kThreads = 4, kRounds = 50;
  std::vector<NS::SharedPtr<MTL::Buffer>> data;
  for (int i = 0; i < kThreads; ++i)
    data.push_back(numbers(256));
  std::vector<std::thread> clients;
  for (int t = 0; t < kThreads; ++t)
    clients.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        auto inner = own(NS::AutoreleasePool::alloc()->init());
        auto* commands = queue->commandBuffer();
        auto* encoder = commands->computeCommandEncoder();
        encoder->setComputePipelineState(add_one.get());
        encoder->setBuffer(data[size_t(t)].get(), 0, 0);
        encoder->dispatchThreads(MTL::Size(256, 1, 1), MTL::Size(64, 1, 1));
        encoder->endEncoding();
        commands->commit();
        if (i % 7 == 0)
          commands->waitUntilCompleted();
      }
    });
  for (auto& client : clients)
    client.join();
  run(queue->commandBuffer());
  for (auto& each : data)
    for (uint32_t i = 0; i < 256; ++i)
      ASSERT_EQ(contents<uint32_t>(each)[i], i + kRounds);
}

TEST_F(ComputeTest, SourceErrorsAreThoseOfTheUsersLines) {
  NS::Error* error = nullptr;
  auto made = own(device->newLibrary(text("kernel void k(device int* p [[buffer(0)]]) {\n"
                                          "  p[0] = no_such_name;\n}\n"),
                                     nullptr, &error));
  EXPECT_FALSE(made);
  ASSERT_NE(error, nullptr);
  EXPECT_STREQ(error->domain()->utf8String(), "MTLLibraryErrorDomain");
  EXPECT_NE(message(error).find(":2:10: error: use of undeclared identifier 'no_such_name'"),
            std::string::npos)
      << message(error);
}

} // namespace
} // namespace metal_test

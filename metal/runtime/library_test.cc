// Libraries, functions, pipelines and what reflection says of them. Offsets and sizes are those
// that the Metal Shading Language's layout rules give.
#include "metal/runtime/client_test.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <string>

#include <unistd.h>

namespace metal_test {
namespace {

const char* const kSource = R"(
#include <metal_stdlib>
using namespace metal;

struct Inner { half2 a; float3 b; };
struct Outer {
  uint count;
  packed_float3 tight;
  Inner inner;
  float list[5];
  float4x4 matrix;
};
kernel void reflected(constant Outer& parameters [[buffer(2)]],
                      device float* out [[buffer(5)]],
                      threadgroup float4* shared [[threadgroup(1)]],
                      uint i [[thread_position_in_grid]]) {
  shared[i] = parameters.matrix[0] + float(parameters.count) + parameters.inner.b.x +
              parameters.list[i] + parameters.tight[0] + float(parameters.inner.a.x);
  out[i] = shared[i].x;
}

struct Node { device uint* data [[id(0)]]; uint value [[id(1)]]; };
struct Root { device Node* node [[id(0)]]; float4 color [[id(1)]]; };
kernel void nested(constant Root& root [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  root.node->data[i] = root.node->value + uint(root.color.y);
}

[[max_total_threads_per_threadgroup(128)]]
kernel void limited(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup uint memory[64];
  memory[i % 64] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = memory[(i + 1) % 64];
}
)";

class LibraryTest : public ClientTest {
protected:
  void SetUp() override {
    if (!may_compile())
      GTEST_SKIP() << "no libMetalCompiler";
    NS::Error* error = nullptr;
    library = NS::TransferPtr(device->newLibrary(text(kSource), nullptr, &error));
    ASSERT_TRUE(library) << error->localizedDescription()->utf8String();
  }
  NS::SharedPtr<MTL::Function> function(const char* name) {
    return NS::TransferPtr(library->newFunction(text(name)));
  }

  NS::SharedPtr<MTL::Library> library;
};

TEST_F(LibraryTest, ReflectionTellsStructsAsTheyAreLaidOut) {
  NS::Error* error = nullptr;
  MTL::AutoreleasedComputePipelineReflection reflection = nullptr;
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(
      function("reflected").get(), MTL::PipelineOptionBufferTypeInfo, &reflection, &error));
  ASSERT_TRUE(pipeline) << error->localizedDescription()->utf8String();
  ASSERT_EQ(reflection->bindings()->count(), 3u);
  auto* parameters = reflection->bindings()->object<MTL::BufferBinding>(0);
  EXPECT_STREQ(parameters->name()->utf8String(), "parameters");
  EXPECT_EQ(parameters->index(), 2u);
  EXPECT_EQ(parameters->access(), MTL::BindingAccessReadOnly);
  EXPECT_TRUE(parameters->used());
  EXPECT_EQ(parameters->bufferDataType(), MTL::DataTypeStruct);
  EXPECT_EQ(parameters->bufferDataSize(), 144u);
  EXPECT_EQ(parameters->bufferAlignment(), 16u);

  MTL::StructType* outer = parameters->bufferStructType();
  ASSERT_NE(outer, nullptr);
  struct {
    const char* name;
    NS::UInteger offset;
    MTL::DataType type;
  } const expected[] = {{"count", 0, MTL::DataTypeUInt},
                        {"tight", 4, MTL::DataTypeFloat3},
                        {"inner", 16, MTL::DataTypeStruct},
                        {"list", 48, MTL::DataTypeArray},
                        {"matrix", 80, MTL::DataTypeFloat4x4}};
  ASSERT_EQ(outer->members()->count(), std::size(expected));
  for (const auto& member : expected) {
    MTL::StructMember* found = outer->memberByName(text(member.name));
    ASSERT_NE(found, nullptr) << member.name;
    EXPECT_EQ(found->offset(), member.offset) << member.name;
    EXPECT_EQ(found->dataType(), member.type) << member.name;
  }
  MTL::StructType* inner = outer->memberByName(text("inner"))->structType();
  EXPECT_EQ(inner->memberByName(text("a"))->dataType(), MTL::DataTypeHalf2);
  EXPECT_EQ(inner->memberByName(text("b"))->offset(), 16u);
  MTL::ArrayType* list = outer->memberByName(text("list"))->arrayType();
  EXPECT_EQ(list->arrayLength(), 5u);
  EXPECT_EQ(list->stride(), 4u);
  EXPECT_EQ(list->elementType(), MTL::DataTypeFloat);

  auto* out = reflection->bindings()->object<MTL::BufferBinding>(1);
  EXPECT_EQ(out->index(), 5u);
  EXPECT_NE(out->access(), MTL::BindingAccessReadOnly);
  EXPECT_EQ(out->bufferPointerType()->elementType(), MTL::DataTypeFloat);
  auto* shared = reflection->bindings()->object<MTL::ThreadgroupBinding>(2);
  EXPECT_EQ(shared->type(), MTL::BindingTypeThreadgroupMemory);
  EXPECT_EQ(shared->index(), 1u);
}

TEST_F(LibraryTest, NestedArgumentBuffersReachTheKernel) {
  NS::Error* error = nullptr;
  auto kernel = function("nested");
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(kernel.get(), &error));
  ASSERT_TRUE(pipeline);
  auto root_encoder = NS::TransferPtr(kernel->newArgumentEncoder(0));
  ASSERT_TRUE(root_encoder);
  EXPECT_EQ(root_encoder->encodedLength(), 32u);
  auto pointer = MTL::ArgumentDescriptor::argumentDescriptor();
  pointer->setDataType(MTL::DataTypePointer);
  auto value = MTL::ArgumentDescriptor::argumentDescriptor();
  value->setDataType(MTL::DataTypeUInt);
  value->setIndex(1);
  const NS::Object* arguments[] = {value, pointer}; // in no order
  auto node_encoder = NS::TransferPtr(device->newArgumentEncoder(NS::Array::array(arguments, 2)));
  ASSERT_TRUE(node_encoder);
  EXPECT_EQ(node_encoder->encodedLength(), 16u);
  auto root = NS::TransferPtr(device->newBuffer(32, MTL::ResourceStorageModeShared));
  auto node = NS::TransferPtr(device->newBuffer(16, MTL::ResourceStorageModeShared));
  auto data = NS::TransferPtr(device->newBuffer(64 * 4, MTL::ResourceStorageModeShared));
  root_encoder->setArgumentBuffer(root.get(), 0);
  root_encoder->setBuffer(node.get(), 0, 0);
  static_cast<float*>(root_encoder->constantData(1))[1] = 7;
  node_encoder->setArgumentBuffer(node.get(), 0);
  node_encoder->setBuffer(data.get(), 0, 0);
  *static_cast<uint32_t*>(node_encoder->constantData(1)) = 100;

  auto queue = NS::TransferPtr(device->newCommandQueue());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(root.get(), 0, 0);
  encoder->useResource(node.get(), MTL::ResourceUsageRead);
  encoder->useResource(data.get(), MTL::ResourceUsageWrite);
  encoder->dispatchThreads(MTL::Size(64, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  ASSERT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(static_cast<uint32_t*>(data->contents())[i], 107u) << i;
}

TEST_F(LibraryTest, PipelinesKnowTheirLimits) {
  NS::Error* error = nullptr;
  auto pipeline =
      NS::TransferPtr(device->newComputePipelineState(function("limited").get(), &error));
  ASSERT_TRUE(pipeline);
  EXPECT_EQ(pipeline->maxTotalThreadsPerThreadgroup(), 128u);
  EXPECT_EQ(pipeline->threadExecutionWidth(), 32u);
  EXPECT_EQ(pipeline->staticThreadgroupMemoryLength(), 256u);

  auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function("limited").get());
  descriptor->setMaxTotalThreadsPerThreadgroup(64);
  descriptor->setSupportIndirectCommandBuffers(true);
  auto copy = NS::TransferPtr(descriptor->copy());
  descriptor->setMaxTotalThreadsPerThreadgroup(1025);
  auto small = NS::TransferPtr(
      device->newComputePipelineState(copy.get(), MTL::PipelineOptionNone, nullptr, &error));
  ASSERT_TRUE(small);
  EXPECT_EQ(small->maxTotalThreadsPerThreadgroup(), 64u);
  EXPECT_TRUE(small->supportIndirectCommandBuffers());
  EXPECT_FALSE(
      device->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, &error));
  EXPECT_THAT(error->localizedDescription()->utf8String(),
              testing::HasSubstr("maxTotalThreadsPerThreadgroup: 1025"));
}

TEST_F(LibraryTest, FunctionsComeByDescriptorAndByHandler) {
  auto* descriptor = MTL::FunctionDescriptor::functionDescriptor();
  descriptor->setName(text("limited"));
  descriptor->setSpecializedName(text("another name"));
  NS::Error* error = nullptr;
  auto named = NS::TransferPtr(library->newFunction(descriptor, &error));
  ASSERT_TRUE(named);
  EXPECT_STREQ(named->name()->utf8String(), "another name");
  descriptor->setName(text("missing"));
  EXPECT_EQ(library->newFunction(descriptor, &error), nullptr);
  EXPECT_EQ(error->code(), NS::Integer(MTL::LibraryErrorFunctionNotFound));

  std::promise<std::string> told;
  device->newComputePipelineState(function("limited").get(),
                                  [&](MTL::ComputePipelineState* state, NS::Error*) {
                                    told.set_value(state ? "made" : "not made");
                                  });
  EXPECT_EQ(told.get_future().get(), "made");
}

TEST_F(LibraryTest, BinaryArchivesListWhatWasCompiled) {
  NS::Error* error = nullptr;
  auto archives = NS::TransferPtr(MTL::BinaryArchiveDescriptor::alloc()->init());
  auto archive = NS::TransferPtr(device->newBinaryArchive(archives.get(), &error));
  ASSERT_TRUE(archive);
  auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function("limited").get());
  ASSERT_TRUE(archive->addComputePipelineFunctions(descriptor.get(), &error));
  char path[] = "/tmp/library_test.XXXXXX";
  close(mkstemp(path));
  NS::URL* url = NS::URL::fileURLWithPath(text(path));
  ASSERT_TRUE(archive->serializeToURL(url, &error));

  archives->setUrl(url);
  auto loaded = NS::TransferPtr(device->newBinaryArchive(archives.get(), &error));
  ASSERT_TRUE(loaded) << error->localizedDescription()->utf8String();
  const NS::Object* list[] = {loaded.get()};
  descriptor->setBinaryArchives(NS::Array::array(list, 1));
  constexpr auto kOnlyArchived = MTL::PipelineOptionFailOnBinaryArchiveMiss;
  EXPECT_TRUE(NS::TransferPtr(
      device->newComputePipelineState(descriptor.get(), kOnlyArchived, nullptr, &error)));
  descriptor->setComputeFunction(function("nested").get());
  EXPECT_FALSE(device->newComputePipelineState(descriptor.get(), kOnlyArchived, nullptr, &error));
  EXPECT_THAT(error->localizedDescription()->utf8String(), testing::HasSubstr("'nested'"));

  FILE* file = std::fopen(path, "w");
  std::fputs("junk", file);
  std::fclose(file);
  EXPECT_FALSE(device->newBinaryArchive(archives.get(), &error));
  EXPECT_EQ(error->code(), NS::Integer(MTL::BinaryArchiveErrorInvalidFile));
  unlink(path);
}

TEST_F(LibraryTest, WhatADeviceCannotDoIsAnError) {
  NS::Error* error = nullptr;
  EXPECT_FALSE(device->newDynamicLibrary(library.get(), &error));
  EXPECT_EQ(error->code(), NS::Integer(MTL::DynamicLibraryErrorUnsupported));
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setLibraryType(MTL::LibraryTypeDynamic);
  EXPECT_FALSE(device->newLibrary(text(kSource), options.get(), &error));
  EXPECT_THAT(error->localizedDescription()->utf8String(), testing::HasSubstr("libraryType"));
  EXPECT_EQ(MTL::TextureDescriptor::alloc(), nullptr);
}

} // namespace
} // namespace metal_test

// Every selector that metal-cpp can send to an object of this library has a method: what a client
// compiles against never ends in an unknown selector. The headers themselves are the list.
#include "metal/runtime/client_test.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

namespace metal_test {
namespace {

class SelectorTest : public ClientTest {
protected:
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  /// metal-cpp's names of selectors, "setLabel_", to their text, "setLabel:".
  static const std::map<std::string, std::string>& names() {
    static const std::map<std::string, std::string> names = [] {
      std::map<std::string, std::string> result;
      std::string text = read(METAL_CPP "/Metal/MTLHeaderBridge.hpp");
      std::regex pattern(R"re(_MTL_PRIVATE_DEF_SEL\(\s*(\w+),\s*"([^"]+)"\s*\))re");
      for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end;
           ++match)
        result[(*match)[1]] = (*match)[2];
      return result;
    }();
    return names;
  }

  static std::string name(const std::string& accessor) {
    if (auto it = names().find(accessor); it != names().end())
      return it->second;
    std::string text = accessor; // a few are defined beside their use
    std::ranges::replace(text, '_', ':');
    return text;
  }

  /// Selectors that the instance methods of MTL::`cls` in `header` send.
  static std::vector<std::string> selectors(const std::string& header, const std::string& cls) {
    std::string text = read(METAL_CPP "/Metal/" + header);
    std::vector<std::string> result;
    std::regex start("_MTL_INLINE [^\\n;]*MTL::" + cls + "::\\w+\\(");
    std::regex sends(R"re(sendMessage\w*<[^;]*?>\(this, _MTL_PRIVATE_SEL\((\w+)\))re");
    for (std::sregex_iterator match(text.begin(), text.end(), start), end; match != end; ++match) {
      size_t begin = size_t(match->position());
      std::string body = text.substr(begin, text.find("\n}", begin) - begin);
      if (std::smatch send; std::regex_search(body, send, sends))
        result.push_back(name(send[1]));
    }
    return result;
  }

  void expect_all(NS::Object* object, const std::string& header, const std::string& cls,
                  size_t at_least) {
    ASSERT_NE(object, nullptr) << cls;
    std::vector<std::string> all = selectors(header, cls);
    EXPECT_GE(all.size(), at_least) << cls << ": the headers were not understood";
    for (const std::string& selector : all)
      EXPECT_TRUE(responds(object, selector)) << cls << " " << selector;
  }

  static bool responds(NS::Object* object, const std::string& selector) {
    using Function = bool (*)(void*, SEL, SEL);
    return reinterpret_cast<Function>(&objc_msgSend)(
        object, sel_registerName("respondsToSelector:"), sel_registerName(selector.c_str()));
  }
};

TEST_F(SelectorTest, UnknownOnesAreNotAnswered) {
  EXPECT_FALSE(responds(reinterpret_cast<NS::Object*>(device.get()), "noSuchThing:"));
}

TEST_F(SelectorTest, EveryClassAnswersAllOfItsProtocol) {
  auto as_object = [](auto* pointer) { return reinterpret_cast<NS::Object*>(pointer); };
  expect_all(as_object(device.get()), "MTLDevice.hpp", "Device", 110);
  auto memory = buffer(64);
  expect_all(as_object(memory.get()), "MTLBuffer.hpp", "Buffer", 9);
  expect_all(as_object(memory.get()), "MTLResource.hpp", "Resource", 13);
  expect_all(as_object(memory.get()), "MTLAllocation.hpp", "Allocation", 1);
  auto heap_descriptor = own(MTL::HeapDescriptor::alloc()->init());
  heap_descriptor->setSize(4096);
  expect_all(as_object(heap_descriptor.get()), "MTLHeap.hpp", "HeapDescriptor", 14);
  auto heap = own(device->newHeap(heap_descriptor.get()));
  expect_all(as_object(heap.get()), "MTLHeap.hpp", "Heap", 20);
  expect_all(as_object(heap.get()), "MTLAllocation.hpp", "Allocation", 1);
  expect_all(as_object(queue.get()), "MTLCommandQueue.hpp", "CommandQueue", 10);
  expect_all(as_object(own(MTL::CommandQueueDescriptor::alloc()->init()).get()),
             "MTLCommandQueue.hpp", "CommandQueueDescriptor", 4);
  auto* commands = queue->commandBuffer();
  expect_all(as_object(commands), "MTLCommandBuffer.hpp", "CommandBuffer", 38);
  expect_all(as_object(own(MTL::CommandBufferDescriptor::alloc()->init()).get()),
             "MTLCommandBuffer.hpp", "CommandBufferDescriptor", 6);
  auto* compute = commands->computeCommandEncoder();
  expect_all(as_object(compute), "MTLComputeCommandEncoder.hpp", "ComputeCommandEncoder", 38);
  expect_all(as_object(compute), "MTLCommandEncoder.hpp", "CommandEncoder", 7);
  compute->endEncoding();
  auto* blit = commands->blitCommandEncoder();
  expect_all(as_object(blit), "MTLBlitCommandEncoder.hpp", "BlitCommandEncoder", 24);
  expect_all(as_object(blit), "MTLCommandEncoder.hpp", "CommandEncoder", 7);
  blit->endEncoding();
  expect_all(as_object(own(device->newEvent()).get()), "MTLEvent.hpp", "Event", 3);
  auto shared = own(device->newSharedEvent());
  expect_all(as_object(shared.get()), "MTLEvent.hpp", "Event", 3);
  expect_all(as_object(shared.get()), "MTLEvent.hpp", "SharedEvent", 5);
  expect_all(as_object(own(shared->newSharedEventHandle()).get()), "MTLEvent.hpp",
             "SharedEventHandle", 1);
  expect_all(as_object(own(device->newFence()).get()), "MTLFence.hpp", "Fence", 3);
  auto set_descriptor = own(MTL::ResidencySetDescriptor::alloc()->init());
  expect_all(as_object(set_descriptor.get()), "MTLResidencySet.hpp", "ResidencySetDescriptor", 4);
  expect_all(as_object(own(device->newResidencySet(set_descriptor.get(), nullptr)).get()),
             "MTLResidencySet.hpp", "ResidencySet", 13);
  auto commands_descriptor = own(MTL::IndirectCommandBufferDescriptor::alloc()->init());
  expect_all(as_object(commands_descriptor.get()), "MTLIndirectCommandBuffer.hpp",
             "IndirectCommandBufferDescriptor", 24);
  auto indirect = own(device->newIndirectCommandBuffer(commands_descriptor.get(), 1,
                                                       MTL::ResourceStorageModeShared));
  expect_all(as_object(indirect.get()), "MTLIndirectCommandBuffer.hpp", "IndirectCommandBuffer", 5);
  expect_all(as_object(indirect->indirectComputeCommand(0)), "MTLIndirectCommandEncoder.hpp",
             "IndirectComputeCommand", 11);
  auto* captures = MTL::CaptureManager::sharedCaptureManager();
  expect_all(as_object(captures), "MTLCaptureManager.hpp", "CaptureManager", 11);
  expect_all(as_object(own(MTL::CaptureDescriptor::alloc()->init()).get()), "MTLCaptureManager.hpp",
             "CaptureDescriptor", 6);
  expect_all(as_object(own(captures->newCaptureScope(device.get())).get()), "MTLCaptureScope.hpp",
             "CaptureScope", 6);
  auto* counters = device->counterSets()->object<MTL::CounterSet>(0);
  expect_all(as_object(counters), "MTLCounters.hpp", "CounterSet", 2);
  expect_all(counters->counters()->object(0), "MTLCounters.hpp", "Counter", 1);
  auto samples_descriptor = own(MTL::CounterSampleBufferDescriptor::alloc()->init());
  expect_all(as_object(samples_descriptor.get()), "MTLCounters.hpp",
             "CounterSampleBufferDescriptor", 8);
  samples_descriptor->setCounterSet(counters);
  samples_descriptor->setSampleCount(1);
  expect_all(
      as_object(own(device->newCounterSampleBuffer(samples_descriptor.get(), nullptr)).get()),
      "MTLCounters.hpp", "CounterSampleBuffer", 4);
  auto log_descriptor = own(MTL::LogStateDescriptor::alloc()->init());
  expect_all(as_object(log_descriptor.get()), "MTLLogState.hpp", "LogStateDescriptor", 4);
  expect_all(as_object(own(device->newLogState(log_descriptor.get(), nullptr)).get()),
             "MTLLogState.hpp", "LogState", 1);
  auto* compute_pass = MTL::ComputePassDescriptor::computePassDescriptor();
  expect_all(as_object(compute_pass), "MTLComputePass.hpp", "ComputePassDescriptor", 3);
  expect_all(as_object(compute_pass->sampleBufferAttachments()), "MTLComputePass.hpp",
             "ComputePassSampleBufferAttachmentDescriptorArray", 2);
  expect_all(as_object(compute_pass->sampleBufferAttachments()->object(0)), "MTLComputePass.hpp",
             "ComputePassSampleBufferAttachmentDescriptor", 6);
  auto* blit_pass = MTL::BlitPassDescriptor::blitPassDescriptor();
  expect_all(as_object(blit_pass), "MTLBlitPass.hpp", "BlitPassDescriptor", 1);
  expect_all(as_object(blit_pass->sampleBufferAttachments()->object(3)), "MTLBlitPass.hpp",
             "BlitPassSampleBufferAttachmentDescriptor", 6);
  commands->commit();
  commands->waitUntilCompleted();
}

TEST_F(SelectorTest, LibrariesAndPipelinesAnswerAllOfTheirProtocols) {
  if (!may_compile())
    GTEST_SKIP() << "no libMetalCompiler";
  auto as_object = [](auto* pointer) { return reinterpret_cast<NS::Object*>(pointer); };
  NS::Error* error = nullptr;
  auto library = own(device->newLibrary(
      text("struct S { device int* p [[id(0)]]; };"
           "kernel void k(constant S& s [[buffer(0)]], threadgroup int* t [[threadgroup(0)]])"
           "{ s.p[0] = t[0]; }"),
      nullptr, &error));
  ASSERT_TRUE(library) << message(error);
  expect_all(as_object(library.get()), "MTLLibrary.hpp", "Library", 12);
  auto function = own(library->newFunction(text("k")));
  ASSERT_TRUE(function);
  expect_all(as_object(function.get()), "MTLLibrary.hpp", "Function", 12);
  expect_all(as_object(own(function->newArgumentEncoder(0)).get()), "MTLArgumentEncoder.hpp",
             "ArgumentEncoder", 25);
  auto pipeline = own(device->newComputePipelineState(function.get(), &error));
  ASSERT_TRUE(pipeline) << message(error);
  expect_all(as_object(pipeline.get()), "MTLComputePipeline.hpp", "ComputePipelineState", 12);
  MTL::ComputePipelineReflection* reflection = nullptr;
  own(device->newComputePipelineState(function.get(), MTL::PipelineOptionBufferTypeInfo,
                                      &reflection, &error));
  expect_all(as_object(reflection), "MTLComputePipeline.hpp", "ComputePipelineReflection", 2);
  expect_all(as_object(reflection->bindings()->object<MTL::Binding>(0)), "MTLArgument.hpp",
             "Binding", 6);
  expect_all(as_object(reflection->arguments()->object<MTL::Argument>(0)), "MTLArgument.hpp",
             "Argument", 15);
  auto fresh = [&](const char* cls, const std::string& header, size_t at_least) {
    using Function = NS::Object* (*)(const void*, SEL);
    auto send = reinterpret_cast<Function>(&objc_msgSend);
    const void* class_object = objc_lookUpClass((std::string("MTL") + cls).c_str());
    ASSERT_NE(class_object, nullptr) << cls;
    auto object = own(send(class_object, sel_registerName("new")));
    expect_all(object.get(), header, cls, at_least);
  };
  fresh("CompileOptions", "MTLLibrary.hpp", 26);
  fresh("FunctionConstant", "MTLLibrary.hpp", 4);
  fresh("FunctionConstantValues", "MTLFunctionConstantValues.hpp", 4);
  fresh("FunctionDescriptor", "MTLFunctionDescriptor.hpp", 10);
  fresh("ComputePipelineDescriptor", "MTLComputePipeline.hpp", 27);
  fresh("ArgumentDescriptor", "MTLDevice.hpp", 12);
  fresh("Architecture", "MTLDevice.hpp", 1);
  fresh("BinaryArchiveDescriptor", "MTLBinaryArchive.hpp", 2);
  fresh("LinkedFunctions", "MTLLinkedFunctions.hpp", 8);
  fresh("PipelineBufferDescriptor", "MTLPipeline.hpp", 2);
  fresh("StageInputOutputDescriptor", "MTLStageInputOutputDescriptor.hpp", 7);
  fresh("StructType", "MTLArgument.hpp", 2);
  fresh("StructMember", "MTLArgument.hpp", 8);
  fresh("ArrayType", "MTLArgument.hpp", 8);
  fresh("PointerType", "MTLArgument.hpp", 7);
}

} // namespace
} // namespace metal_test

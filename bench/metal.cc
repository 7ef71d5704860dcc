// Metal backend, through metal-cpp: what a Mac client would write.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "suite.h"

namespace {

[[noreturn]] void fail(const std::string& what, NS::Error* error) {
  fprintf(stderr, "%s: %s\n", what.c_str(),
          error ? error->localizedDescription()->utf8String() : "no error given");
  exit(1);
}

struct Metal : Backend {
  NS::SharedPtr<MTL::Device> device;
  NS::SharedPtr<MTL::CommandQueue> queue;
  NS::SharedPtr<MTL::ComputePipelineState> pipeline;
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;

  Metal() {
    device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
    if (!device)
      fail("no Metal device", nullptr);
    queue = NS::TransferPtr(device->newCommandQueue());
  }
  std::string name() override { return "metal"; }

  double prepare(const Kernel& k) override {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    std::ifstream file(source_dir() + "/msl/" + k.name + ".metal");
    std::stringstream text;
    text << file.rdbuf();
    double begin = now();
    NS::Error* error = nullptr;
    auto source = NS::String::string(text.str().c_str(), NS::UTF8StringEncoding);
    auto library = NS::TransferPtr(device->newLibrary(source, nullptr, &error));
    if (!library)
      fail(k.name, error);
    auto function = NS::TransferPtr(
        library->newFunction(NS::String::string(k.name.c_str(), NS::UTF8StringEncoding)));
    if (!function)
      fail(k.name + ": no such function", nullptr);
    pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
    if (!pipeline)
      fail(k.name, error);
    double build = now() - begin;
    for (auto& b : k.bufs)
      buffers.push_back(
          NS::TransferPtr(device->newBuffer(b.bytes, MTL::ResourceStorageModeShared)));
    reset(k, true);
    return build;
  }

  void reset(const Kernel& k, bool all) override {
    std::vector<void*> memory;
    for (auto& buffer : buffers)
      memory.push_back(buffer->contents());
    restore(k, memory, all);
  }

  void encode(MTL::ComputeCommandEncoder* encoder, const Kernel& k, const Launch& launch) {
    if (!launch.params.empty())
      encoder->setBytes(launch.params.data(), launch.params.size() * sizeof(Word), buffers.size());
    encoder->dispatchThreadgroups(MTL::Size(launch.groups[0], launch.groups[1], launch.groups[2]),
                                  MTL::Size(k.local[0], k.local[1], k.local[2]));
  }

  MTL::ComputeCommandEncoder* begin(MTL::CommandBuffer* commands) {
    auto encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline.get());
    for (size_t i = 0; i < buffers.size(); ++i)
      encoder->setBuffer(buffers[i].get(), 0, i);
    return encoder;
  }

  void finish(MTL::CommandBuffer* commands) {
    commands->commit();
    commands->waitUntilCompleted();
    if (commands->status() != MTL::CommandBufferStatusCompleted)
      fail("command buffer", commands->error());
  }

  void run(const Kernel& k) override {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    auto commands = queue->commandBuffer();
    auto encoder = begin(commands);
    for (auto& launch : k.launches)
      encode(encoder, k, launch);
    encoder->endEncoding();
    finish(commands);
  }

  void read(const Kernel& k, int buf, void* dst) override {
    memcpy(dst, buffers[buf]->contents(), k.bufs[buf].bytes);
  }
  void release() override {
    buffers.clear();
    pipeline.reset();
  }

  double empty_batched(int n) override {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    Launch one{{1, 1, 1}, {}};
    Kernel k = make_kernel("empty");
    double start = now();
    auto commands = queue->commandBuffer();
    auto encoder = begin(commands);
    for (int i = 0; i < n; ++i)
      encode(encoder, k, one);
    encoder->endEncoding();
    finish(commands);
    return (now() - start) / n;
  }
  double empty_each(int n) override {
    Kernel k = make_kernel("empty");
    double start = now();
    for (int i = 0; i < n; ++i)
      run(k);
    return (now() - start) / n;
  }
};

} // namespace

std::unique_ptr<Backend> make_metal() { return std::make_unique<Metal>(); }

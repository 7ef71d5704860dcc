// y = a x + y on the GPU, written with Apple's metal-cpp as one writes it on a Mac: nothing here
// knows of Linux. Builds with
//   clang++ -std=c++17 -fblocks -I<metal/include> -I<metal-cpp> saxpy.cpp -lMetal
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr size_t kCount = 1 << 20;
constexpr float kA = 2.5f;

const char* const kSource = R"(
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                  constant float &a [[buffer(2)]], uint index [[thread_position_in_grid]]) {
  y[index] = a * x[index] + y[index];
}
)";

int fail(const char* what, NS::Error* error) {
  std::fprintf(stderr, "%s: %s\n", what,
               error ? error->localizedDescription()->utf8String() : "no error was given");
  return EXIT_FAILURE;
}

int run() {
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device)
    return fail("MTLCreateSystemDefaultDevice", nullptr);

  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(
      device->newLibrary(NS::String::string(kSource, NS::UTF8StringEncoding), nullptr, &error));
  if (!library)
    return fail("newLibrary", error);
  auto function =
      NS::TransferPtr(library->newFunction(NS::String::string("saxpy", NS::UTF8StringEncoding)));
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  if (!pipeline)
    return fail("newComputePipelineState", error);

  auto x =
      NS::TransferPtr(device->newBuffer(kCount * sizeof(float), MTL::ResourceStorageModeShared));
  auto y =
      NS::TransferPtr(device->newBuffer(kCount * sizeof(float), MTL::ResourceStorageModeShared));
  auto* x_values = static_cast<float*>(x->contents());
  auto* y_values = static_cast<float*>(y->contents());
  for (size_t i = 0; i < kCount; ++i) {
    x_values[i] = static_cast<float>(i % 1000);
    y_values[i] = static_cast<float>(i % 7);
  }

  auto queue = NS::TransferPtr(device->newCommandQueue());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->setBuffer(y.get(), 0, 1);
  encoder->setBytes(&kA, sizeof kA, 2);
  NS::UInteger width = pipeline->maxTotalThreadsPerThreadgroup();
  encoder->dispatchThreads(MTL::Size(kCount, 1, 1), MTL::Size(width, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  if (commands->status() != MTL::CommandBufferStatusCompleted)
    return fail("command buffer", commands->error());

  for (size_t i = 0; i < kCount; ++i) {
    float expected = kA * static_cast<float>(i % 1000) + static_cast<float>(i % 7);
    if (std::fabs(y_values[i] - expected) > 1e-3f) {
      std::fprintf(stderr, "y[%zu] is %g, not %g\n", i, y_values[i], expected);
      return EXIT_FAILURE;
    }
  }
  std::printf("%s: %zu results are right, %.3f ms\n", device->name()->utf8String(), kCount,
              (commands->GPUEndTime() - commands->GPUStartTime()) * 1e3);
  return EXIT_SUCCESS;
}

} // namespace

int main() {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  return run();
}

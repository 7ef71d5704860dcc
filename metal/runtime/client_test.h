// What the tests of libMetal's classes share: they are clients, written against metal-cpp.
#pragma once

#include <Metal/Metal.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

namespace metal_test {

template <class T>
NS::SharedPtr<T> own(T* object) {
  return NS::TransferPtr(object);
}

inline NS::String* text(const char* utf8) {
  return NS::String::string(utf8, NS::UTF8StringEncoding);
}

inline std::string message(NS::Error* error) {
  return error ? error->localizedDescription()->utf8String() : "";
}

/// A device, a queue, and an autorelease pool around each test.
class ClientTest : public testing::Test {
protected:
  ClientTest()
      : pool(own(NS::AutoreleasePool::alloc()->init())),
        device(own(MTL::CreateSystemDefaultDevice())), queue(own(device->newCommandQueue())) {}

  NS::SharedPtr<MTL::Buffer> buffer(size_t length,
                                    MTL::ResourceOptions options = MTL::ResourceStorageModeShared) {
    return own(device->newBuffer(length, options));
  }

  template <class T>
  static std::span<T> contents(const NS::SharedPtr<MTL::Buffer>& buffer) {
    return {static_cast<T*>(buffer->contents()), buffer->length() / sizeof(T)};
  }

  /// Whether MSL can be compiled; true, too, where it must be, so that the tests then fail.
  bool may_compile() {
#ifdef BESSEMER_MAY_LACK_COMPILER
    const char* path = std::getenv("BESSEMER_COMPILER");
    return path && access(path, R_OK) == 0;
#else
    return true;
#endif
  }

  /// Commits, waits and expects success.
  static void run(MTL::CommandBuffer* commands) {
    commands->commit();
    commands->waitUntilCompleted();
    EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted) << message(commands->error());
  }

  NS::SharedPtr<NS::AutoreleasePool> pool;
  NS::SharedPtr<MTL::Device> device;
  NS::SharedPtr<MTL::CommandQueue> queue;
};

} // namespace metal_test

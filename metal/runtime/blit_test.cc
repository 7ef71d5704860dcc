#include "metal/runtime/client_test.h"

#include <algorithm>
#include <cstring>

namespace metal_test {
namespace {

class BlitTest : public ClientTest {
protected:
  // Bytes that differ from their neighbours and from every fill value used.
  static unsigned char pattern(size_t i) { return static_cast<unsigned char>(1 + i * 7 % 97); }
  static constexpr unsigned char kGuard = 0xee;
};

TEST_F(BlitTest, FillsEveryAlignmentAndLengthAndNothingElse) {
  constexpr size_t kAlignments = 16, kLengths = 68, kSlot = 128;
  auto memory = buffer(kAlignments * kLengths * kSlot);
  auto bytes = contents<unsigned char>(memory);
  std::ranges::fill(bytes, kGuard);
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->blitCommandEncoder();
  auto slot = [&](size_t alignment, size_t length) {
    return (alignment * kLengths + length) * kSlot;
  };
  auto value = [](size_t alignment, size_t length) {
    return static_cast<unsigned char>(1 + (alignment * 5 + length) % 200);
  };
  for (size_t a = 0; a < kAlignments; ++a)
    for (size_t n = 0; n < kLengths; ++n)
      encoder->fillBuffer(memory.get(), NS::Range(slot(a, n) + 16 + a, n), value(a, n));
  encoder->endEncoding();
  run(commands);
  for (size_t a = 0; a < kAlignments; ++a)
    for (size_t n = 0; n < kLengths; ++n)
      for (size_t i = 0; i < kSlot; ++i) {
        bool inside = i >= 16 + a && i < 16 + a + n;
        ASSERT_EQ(bytes[slot(a, n) + i], inside ? value(a, n) : kGuard)
            << "alignment " << a << ", length " << n << ", byte " << i;
      }
}

TEST_F(BlitTest, CopiesEveryAlignmentAndLengthAndNothingElse) {
  constexpr size_t kAlignments = 16, kLengths = 68, kSlot = 128;
  auto source = buffer(4096);
  auto from = contents<unsigned char>(source);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = pattern(i);
  // The source's alignment runs against the target's, so that all pairs of difference appear.
  for (size_t shift : {0u, 1u, 5u, 8u, 15u}) {
    auto target = buffer(kAlignments * kLengths * kSlot);
    auto to = contents<unsigned char>(target);
    std::ranges::fill(to, kGuard);
    auto* commands = queue->commandBuffer();
    auto* encoder = commands->blitCommandEncoder();
    auto slot = [&](size_t a, size_t n) { return (a * kLengths + n) * kSlot; };
    auto origin = [&](size_t a, size_t n) {
      return (a * 131 + n * 17) % 3900 / 16 * 16 + (a + shift) % 16;
    };
    for (size_t a = 0; a < kAlignments; ++a)
      for (size_t n = 0; n < kLengths; ++n)
        encoder->copyFromBuffer(source.get(), origin(a, n), target.get(), slot(a, n) + 16 + a, n);
    encoder->endEncoding();
    run(commands);
    for (size_t a = 0; a < kAlignments; ++a)
      for (size_t n = 0; n < kLengths; ++n)
        for (size_t i = 0; i < kSlot; ++i) {
          bool inside = i >= 16 + a && i < 16 + a + n;
          ASSERT_EQ(to[slot(a, n) + i], inside ? pattern(origin(a, n) + i - 16 - a) : kGuard)
              << "alignment " << a << ", length " << n << ", byte " << i;
        }
  }
}

TEST_F(BlitTest, LargeOddSizesAreExact) {
  for (size_t length : {65535u, 65537u, (1u << 20) + 31, (5u << 20) + 3}) {
    auto source = buffer(length + 64), target = buffer(length + 64);
    auto from = contents<unsigned char>(source), to = contents<unsigned char>(target);
    for (size_t i = 0; i < from.size(); ++i)
      from[i] = pattern(i);
    std::ranges::fill(to, kGuard);
    auto* commands = queue->commandBuffer();
    auto* encoder = commands->blitCommandEncoder();
    encoder->copyFromBuffer(source.get(), 3, target.get(), 17, length);
    encoder->endEncoding();
    run(commands);
    EXPECT_EQ(std::memcmp(&to[17], &from[3], length), 0) << length;
    EXPECT_TRUE(std::all_of(&to[0], &to[17], [](auto byte) { return byte == kGuard; }));
    EXPECT_TRUE(std::all_of(&to[17 + length], to.data() + to.size(),
                            [](auto byte) { return byte == kGuard; }));
    commands = queue->commandBuffer();
    encoder = commands->blitCommandEncoder();
    encoder->fillBuffer(target.get(), NS::Range(5, length), 9);
    encoder->endEncoding();
    run(commands);
    EXPECT_EQ(to[4], kGuard);
    EXPECT_TRUE(std::all_of(&to[5], &to[5 + length], [](auto byte) { return byte == 9; }));
    EXPECT_NE(to[5 + length], 9);
  }
}

TEST_F(BlitTest, CommandsSeeWhatTheOnesBeforeWrote) {
  // A chain of copies through private memory: any two out of order lose the value.
  constexpr size_t kLinks = 64, kLength = 4097;
  std::vector<NS::SharedPtr<MTL::Buffer>> chain;
  for (size_t i = 0; i < kLinks; ++i)
    chain.push_back(buffer(kLength, MTL::ResourceStorageModePrivate));
  auto last = buffer(kLength);
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->blitCommandEncoder();
  encoder->fillBuffer(chain[0].get(), NS::Range(0, kLength), 0x5a);
  for (size_t i = 1; i < kLinks; ++i) {
    encoder->copyFromBuffer(chain[i - 1].get(), 0, chain[i].get(), 0, kLength);
    if (i % 8 == 0) { // across encoders too
      encoder->endEncoding();
      encoder = commands->blitCommandEncoder();
    }
  }
  encoder->copyFromBuffer(chain.back().get(), 0, last.get(), 0, kLength);
  encoder->synchronizeResource(last.get());
  encoder->endEncoding();
  run(commands);
  EXPECT_TRUE(
      std::ranges::all_of(contents<unsigned char>(last), [](auto byte) { return byte == 0x5a; }));
}

TEST_F(BlitTest, MovesWithinOneBufferWhenTheRangesAreApart) {
  auto memory = buffer(256);
  auto bytes = contents<unsigned char>(memory);
  for (size_t i = 0; i < 256; ++i)
    bytes[i] = pattern(i);
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->blitCommandEncoder();
  encoder->copyFromBuffer(memory.get(), 0, memory.get(), 100, 100); // they touch, no more
  encoder->endEncoding();
  run(commands);
  for (size_t i = 0; i < 100; ++i)
    ASSERT_EQ(bytes[100 + i], pattern(i));
}

TEST_F(BlitTest, RangesPastTheEndFailTheCommandBuffer) {
  auto memory = buffer(100), other = buffer(100);
  struct Case {
    const char* text;
    void (^encode)(MTL::BlitCommandEncoder*);
  };
  MTL::Buffer *a = memory.get(), *b = other.get();
  const Case cases[] = {
      {"fillBuffer:range:value:]: buffer: offset 90 and size 11 end after the buffer's 100 bytes",
       ^(MTL::BlitCommandEncoder* encoder){
           encoder->fillBuffer(a, NS::Range(90, 11), 1);
}
} // namespace
, {"destinationBuffer: offset 101 and size 0", ^(MTL::BlitCommandEncoder* encoder){
       encoder->copyFromBuffer(a, 0, b, 101, 0);
} // namespace metal_test
}
, {"sourceBuffer: offset 18446744073709551615", ^(MTL::BlitCommandEncoder* encoder){
       encoder->copyFromBuffer(a, ~0ull, b, 0, 2);
}
}
, {"sourceBuffer is null", ^(MTL::BlitCommandEncoder* encoder){
       encoder->copyFromBuffer(nullptr, 0, b, 0, 2);
}
}
, {"source and destination overlap", ^(MTL::BlitCommandEncoder* encoder){
       encoder->copyFromBuffer(a, 0, a, 9, 10);
}
}
,
}
;
for (const Case& wrong : cases) {
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->blitCommandEncoder();
  wrong.encode(encoder);
  encoder->fillBuffer(a, NS::Range(0, 1), 7); // dropped: it might rely on the wrong one
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError) << wrong.text;
  EXPECT_NE(message(commands->error()).find(wrong.text), std::string::npos)
      << message(commands->error());
  EXPECT_EQ(contents<unsigned char>(memory)[0], 0);
}
}

} // namespace
} // namespace metal_test

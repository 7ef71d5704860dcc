#include "vm/interpreter/siphash.h"

#include <bit>
#include <cstring>

namespace bessemer::vm::interpreter {

namespace {

struct State {
  uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void add(uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

} // namespace

uint64_t siphash24(std::span<const std::byte> bytes, uint64_t key0, uint64_t key1) {
  State state{key0 ^ 0x736f6d6570736575, key1 ^ 0x646f72616e646f6d, key0 ^ 0x6c7967656e657261,
              key1 ^ 0x7465646279746573};
  size_t whole = bytes.size() & ~size_t{7};
  for (size_t at = 0; at < whole; at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    state.add(word);
  }
  uint64_t last = static_cast<uint64_t>(bytes.size()) << 56;
  for (size_t at = whole; at < bytes.size(); ++at)
    last |= static_cast<uint64_t>(bytes[at]) << (8 * (at - whole));
  state.add(last);
  state.v2 ^= 0xFF;
  for (int i = 0; i < 4; ++i)
    state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

} // namespace bessemer::vm::interpreter

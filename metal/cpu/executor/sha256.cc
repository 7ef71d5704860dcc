#include "metal/cpu/executor/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bessemer::metal::cpu {

namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void blocks_portable(uint32_t* state, const uint8_t* bytes, size_t count) {
  for (; count != 0; --count, bytes += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i) {
      std::memcpy(&w[i], bytes + 4 * i, 4);
      w[i] = std::byteswap(w[i]); // words are big-endian
    }
    for (int i = 16; i < 64; ++i) {
      const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
      const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t s[8];
    std::copy(state, state + 8, s);
    for (int i = 0; i < 64; ++i) {
      const uint32_t e1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
      const uint32_t choose = (s[4] & s[5]) ^ (~s[4] & s[6]);
      const uint32_t t1 = s[7] + e1 + choose + kRound[i] + w[i];
      const uint32_t e0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
      const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      for (int k = 7; k > 0; --k)
        s[k] = s[k - 1];
      s[4] += t1;
      s[0] = t1 + e0 + majority;
    }
    for (int i = 0; i < 8; ++i)
      state[i] += s[i];
  }
}

#if defined(__x86_64__)
// With the SHA extensions: they hold the state as (a b e f) and (c d g h), high words first, and do
// two rounds at a time.
[[gnu::target("sha,ssse3,sse4.1")]] void blocks_sha(uint32_t* state, const uint8_t* bytes,
                                                    size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i dcba = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state));
  __m128i hgfe = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 4));
  __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1);
  __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; count != 0; --count, bytes += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * i)),
                              big_endian);
    for (int i = 0; i < 16; ++i) {
      const __m128i round = _mm_load_si128(reinterpret_cast<const __m128i*>(kRound + 4 * i));
      __m128i sum = _mm_add_epi32(w[i % 4], round);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      sum = _mm_shuffle_epi32(sum, 0x0e);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, sum);
      if (i < 12) {
        const __m128i seven_back = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
        __m128i next = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);
        next = _mm_add_epi32(next, seven_back);
        w[i % 4] = _mm_sha256msg2_epu32(next, w[(i + 3) % 4]);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool has_sha_extensions() {
  uint32_t a, b, c, d;
  asm("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
  return b >> 29 & 1;
}
#endif

} // namespace

void Sha256::block(const uint8_t* bytes, size_t count) {
#if defined(__x86_64__)
  static const bool extensions = has_sha_extensions();
  if (extensions)
    return blocks_sha(state_, bytes, count);
#endif
  blocks_portable(state_, bytes, count);
}

Sha256& Sha256::add(std::span<const uint8_t> bytes) {
  if (bytes.empty()) // whose address may be null
    return *this;
  const size_t held = length_ % 64;
  length_ += bytes.size();
  if (held != 0) {
    const size_t taken = std::min(bytes.size(), 64 - held);
    std::memcpy(buffer_ + held, bytes.data(), taken);
    bytes = bytes.subspan(taken);
    if (held + taken < 64)
      return *this;
    block(buffer_, 1);
  }
  block(bytes.data(), bytes.size() / 64);
  const size_t left = bytes.size() % 64;
  if (left != 0)
    std::memcpy(buffer_, bytes.data() + bytes.size() - left, left);
  return *this;
}

Sha256& Sha256::add_number(uint64_t number) {
  uint8_t bytes[8];
  std::memcpy(bytes, &number, sizeof bytes);
  return add(bytes);
}

Sha256& Sha256::add_field(std::span<const uint8_t> bytes) {
  add_number(bytes.size());
  return add(bytes);
}

Sha256& Sha256::add_field(std::string_view text) {
  return add_field(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

Digest Sha256::finish() {
  const uint64_t bits = std::byteswap(length_ * 8);
  const uint8_t one = 0x80;
  add({&one, 1});
  static constexpr uint8_t zeros[64] = {};
  add({zeros, (64 + 56 - length_ % 64) % 64});
  uint8_t length[8];
  std::memcpy(length, &bits, sizeof length);
  add(length);
  Digest digest;
  for (int i = 0; i < 8; ++i) {
    const uint32_t word = std::byteswap(state_[i]);
    std::memcpy(digest.data() + 4 * i, &word, 4);
  }
  return digest;
}

std::string hexadecimal(const Digest& digest) {
  std::string text;
  for (uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

} // namespace bessemer::metal::cpu

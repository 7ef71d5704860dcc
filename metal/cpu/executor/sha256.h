// SHA-256 (FIPS 180-4), for cache keys and checksums.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bessemer::metal::cpu {

using Digest = std::array<uint8_t, 32>;

class Sha256 {
public:
  Sha256& add(std::span<const uint8_t> bytes);
  // Text with its length, so that two in a row cannot be taken for another two.
  Sha256& add_field(std::string_view text);
  Sha256& add_field(std::span<const uint8_t> bytes);
  Sha256& add_number(uint64_t number);

  Digest finish();

private:
  void block(const uint8_t* bytes, size_t count);

  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t buffer_[64];
  uint64_t length_ = 0;
};

std::string hexadecimal(const Digest& digest);

} // namespace bessemer::metal::cpu

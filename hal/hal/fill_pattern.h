#pragma once

#include <cstdint>
#include <cstring>

namespace bessemer::hal {

/// Repeats a pattern of 1, 2 or 4 bytes over [target, target + length); `length` is a multiple of
/// `patternLength`, `target` may have any alignment.
inline void fillPattern(uint8_t* target, size_t length, const void* pattern, size_t patternLength) {
  auto repeat = [&]<size_t N>() {
    uint8_t value[N];
    std::memcpy(value, pattern, N);
    for (size_t i = 0; i < length; i += N)
      std::memcpy(target + i, value, N);
  };
  switch (patternLength) {
  case 1:
    std::memset(target, *static_cast<const uint8_t*>(pattern), length);
    break;
  case 2:
    repeat.operator()<2>();
    break;
  case 4:
    repeat.operator()<4>();
    break;
  }
}

} // namespace bessemer::hal

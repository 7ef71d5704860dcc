// Memory that a kernel is given.
#pragma once

#include <cstdint>

namespace bessemer::metal::cpu {

// What is bound to a [[buffer(n)]]: the offset is added, `length` is what is left of the buffer.
struct Binding {
  void* address = nullptr;
  uint64_t length = 0;
};

} // namespace bessemer::metal::cpu

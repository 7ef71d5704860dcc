// The MSL kernels that a compiled module carries, with how it launches each.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace bessemer::kernels {

struct KernelText {
  std::string entry;
  std::string source;
  uint32_t language_version = 0;
  std::array<uint32_t, 3> threads = {1, 1, 1};
  uint32_t constant_words = 0; // at [[buffer(3)]]
};

// Every kernel in the executables of a .vmfb file.
std::expected<std::vector<KernelText>, std::string> readKernelTexts(const std::string& path);

} // namespace bessemer::kernels

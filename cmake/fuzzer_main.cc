// Runs a fuzz target once over each file named on the command line (folders are walked), and over every
// truncation and some bit flips of small ones: the part of fuzzing that fits in the ordinary tests.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

size_t inputs = 0;

void run(const std::vector<uint8_t>& bytes) {
  // A copy of the exact size, so that AddressSanitizer sees reads past the end.
  std::vector<uint8_t> copy(bytes);
  copy.shrink_to_fit();
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
  ++inputs;
}

void run_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(stream)), {});
  run(bytes);
  constexpr size_t kSmall = 16 * 1024;
  const size_t step = bytes.size() / 512 + 1;
  if (bytes.size() > kSmall)
    return;
  for (size_t size = 0; size < bytes.size(); size += step)
    run({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)});
  for (size_t at = 0; at < bytes.size(); at += step) {
    for (uint8_t flip : {0x01, 0x80, 0xFF}) {
      bytes[at] ^= flip;
      run(bytes);
      bytes[at] ^= flip;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
        if (entry.is_regular_file())
          run_file(entry.path());
      }
    } else {
      run_file(argv[i]);
    }
  }
  std::printf("%zu inputs\n", inputs);
  return inputs == 0;
}

// Loads and stores by every kind of index, against a loop over threads; memory that no thread owns
// cannot be touched.
#include "metal/cpu/codegen/testing/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <sys/mman.h>

namespace bessemer::metal::cpu {
namespace {

using testing::Kernel;
using testing::random_words;

constexpr int threads = 256;

struct Index {
  const char* text;
  int (*value)(int t, int j);
};
#define INDEX(expression) {#expression, [](int t, [[maybe_unused]] int j) { return expression; }}

// By lane numbers and a value that all threads share.
const Index indices[] = {
    INDEX(2 * t - (t & (j - 1))),
    INDEX(2 * t - (t & (j - 1)) + j),
    INDEX(((t & ~(j - 1)) << 1) | (t & (j - 1))),
    INDEX(t ^ j),
    INDEX((t ^ j) + 3),
    INDEX(t | j),
    INDEX((t | j) - j),
    INDEX(t& j),
    INDEX(t >> (j & 31)),
    INDEX((t >> (j & 31)) + t),
    INDEX((t << 1) - (t >> (j & 31))),
    INDEX(t*(j & 7)),
    INDEX(t* j - t * (j - 1)),
    INDEX(t + j),
    INDEX(j - t),
    INDEX(4 * t + (t & j)),
    INDEX((t & 3) * 4 + (t >> 2)),
};
const int uniform_values[] = {0, 1, 2, 3, 4, 5, 8, 16, 31, 32, 64, -1, -8};

std::string kernel_text(const Index& index, bool stores) {
  std::string place = stores ? "out[" + std::string(index.text) + "] = in[t];"
                             : "out[t] = in[" + std::string(index.text) + "];";
  return "#include <metal_stdlib>\nusing namespace metal;\n"
         "kernel void test(device const uint* in [[buffer(0)]], device uint* out [[buffer(1)]],\n"
         "                 constant int& j [[buffer(2)]], constant int& skip [[buffer(3)]],\n"
         "                 uint i [[thread_position_in_grid]]) {\n"
         "  int t = int(i);\n"
         "  if (t % 5 != skip) " +
         place + "\n}\n";
}

// Words between two pages that cannot be touched; word 0 and up, or the last word and down, lie at
// the edge.
class GuardedWords {
public:
  explicit GuardedWords(size_t count) {
    size_t page = 4096;
    size_ = (count * 4 + page - 1) / page * page;
    memory_ = static_cast<char*>(
        mmap(nullptr, size_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + page, size_, PROT_READ | PROT_WRITE);
    total_ = size_ + 2 * page;
    first_ = reinterpret_cast<unsigned*>(memory_ + page);
  }
  GuardedWords(const GuardedWords&) = delete;
  ~GuardedWords() { munmap(memory_, total_); }
  unsigned* begin() const { return first_; }
  unsigned* end() const { return first_ + size_ / 4; }

private:
  char* memory_;
  unsigned* first_;
  size_t size_, total_;
};

class Addresses : public ::testing::TestWithParam<const char*> {};

// The least and the largest index lie at the edge of what can be touched, one after the other.
TEST_P(Addresses, IndicesByLaneNumbersTouchWhatEachThreadOwns) {
  const std::vector<unsigned> values = random_words(threads);
  for (const Index& index : indices)
    for (bool stores : {false, true}) {
      Kernel kernel(kernel_text(index, stores), "test", {threads, 1, 1}, 0, GetParam(), "");
      for (int j : uniform_values)
        for (int skip : {-1, 0, 2}) {
          std::vector<int> own;
          for (int t = 0; t < threads; ++t)
            if (t % 5 != skip)
              own.push_back(index.value(t, j));
          if (stores && std::set<int>(own.begin(), own.end()).size() != own.size())
            continue; // threads race
          auto [least, largest] = std::minmax_element(own.begin(), own.end());
          for (bool at_end : {false, true}) {
            GuardedWords indexed(size_t(*largest - *least + 1));
            unsigned* origin = at_end ? indexed.end() - 1 - *largest : indexed.begin() - *least;
            std::vector<unsigned> linear(threads, 0xcccccccc);
            if (stores) {
              std::copy(values.begin(), values.end(), linear.begin());
              std::fill(indexed.begin(), indexed.end(), 0xcccccccc);
            } else {
              unsigned state = 1;
              for (unsigned& word : std::span(indexed.begin(), indexed.end()))
                word = state = state * 1664525u + 1013904223u;
            }
            std::vector<unsigned> expected(indexed.begin(), indexed.end());
            std::vector<unsigned> expected_linear = linear;
            int64_t base = origin - indexed.begin();
            for (int t = 0; t < threads; ++t)
              if (t % 5 != skip) {
                auto place = size_t(base + index.value(t, j));
                if (stores)
                  expected[place] = linear[size_t(t)];
                else
                  expected_linear[size_t(t)] = expected[place];
              }
            kernel.run(
                {stores ? linear.data() : origin, stores ? origin : linear.data(), &j, &skip},
                {1, 1, 1}, {threads, 1, 1});
            ASSERT_EQ(linear, expected_linear) << index.text << ", j " << j << ", skip " << skip;
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), indexed.begin()))
                << index.text << ", j " << j << ", skip " << skip << (stores ? ", stored" : "");
          }
        }
    }
}

#if defined(__x86_64__)
INSTANTIATE_TEST_SUITE_P(Processors, Addresses, ::testing::Values("", "haswell"),
                         [](const auto& info) {
                           return *info.param ? std::string(info.param) : std::string("This");
                         });
#else
INSTANTIATE_TEST_SUITE_P(Processors, Addresses, ::testing::Values(""));
#endif

} // namespace
} // namespace bessemer::metal::cpu

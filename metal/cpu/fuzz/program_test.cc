// The fuzzer's own parts: that it generates the same programs always, and that what it makes
// smaller stays what it was looked at for.
#include "metal/cpu/fuzz/generator.h"
#include "metal/cpu/fuzz/program.h"

#include <gtest/gtest.h>

#include <set>

namespace bessemer::metal::cpu::fuzz {
namespace {

TEST(Generator, EqualSeedsGiveEqualPrograms) {
  for (uint64_t seed = 1; seed < 50; ++seed)
    EXPECT_EQ(generate(seed).text(), generate(seed).text());
  EXPECT_NE(generate(1).text(), generate(2).text());
}

TEST(Generator, CoversTheLanguage) {
  std::string all;
  std::set<std::array<uint32_t, 3>> sizes;
  bool edges = false, fast = false, safe = false;
  for (uint64_t seed = 1; seed < 2000; ++seed) {
    const Program program = generate(seed);
    const std::string text = program.text();
    all += text.substr(program.prelude.size());
    sizes.insert(program.threads);
    edges |= program.grid[0] % program.threads[0] != 0;
    (program.fast_math ? fast : safe) = true;
    EXPECT_LE(program.thread_count(), 1024u);
    EXPECT_LE(program.threads[0] * program.threads[1] * program.threads[2], 1024u);
  }
  for (const char* part : {"switch (",
                           "do {",
                           "while (",
                           "break;",
                           "continue;",
                           "return;",
                           "threadgroup_barrier",
                           "shared_f[",
                           "simd_sum",
                           "simd_prefix_",
                           "shuffle_or(",
                           "shuffle_up_or(",
                           "broadcast_or(",
                           "quad_xor_or(",
                           "ballot(",
                           "simd_any(",
                           "simd_all(",
                           "atomic_fetch_",
                           "&tally[",
                           "pairs[",
                           "records[gid]",
                           "quads[gid]",
                           "bfloat",
                           "half4",
                           "char3",
                           "ulong",
                           "thread uint* q",
                           "device const uchar* ",
                           "p.big + gid",
                           "as_type<",
                           "f0(",
                           "mulhi(",
                           "fma("})
    EXPECT_NE(all.find(part), all.npos) << part;
  EXPECT_GE(sizes.size(), 15u);
  EXPECT_TRUE(edges && fast && safe);
}

TEST(Reduce, KeepsOnlyWhatTheFaultNeeds) {
  // A "fault" that needs one store below a condition.
  const auto fails = [](const Program& program) {
    const std::string text = program.text();
    return text.find("atomic_fetch_") != text.npos;
  };
  uint64_t seed = 1;
  while (!fails(generate(seed)))
    ++seed;
  const Program program = generate(seed);
  const Program small = reduce(program, fails, 5000);
  EXPECT_TRUE(fails(small));
  EXPECT_EQ(small.functions.size(), 0u);
  EXPECT_EQ(small.body.size(), 1u);
  EXPECT_LT(small.text().size(), program.text().size());
}

TEST(Reduce, StopsAfterItsAttempts) {
  size_t calls = 0;
  reduce(generate(3), [&](const Program&) { return ++calls, false; }, 7);
  EXPECT_EQ(calls, 7u);
}

} // namespace
} // namespace bessemer::metal::cpu::fuzz

// A kernel as the fuzzer makes it: a tree that prints as Metal text and that can be made smaller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bessemer::metal::cpu::fuzz {

/// An expression: `form` with $0, $1, ... in place of the operands.
struct Expression {
  std::string form;
  std::string type; ///< as Metal writes it
  std::vector<Expression> operands;

  std::string text() const;
};

struct Statement;
using Block = std::vector<Statement>;

/// A statement: `form` with $n for expressions and #n for blocks.
struct Statement {
  std::string form;
  std::vector<Expression> expressions;
  std::vector<Block> blocks;
  /// What it needs around it holds anywhere that the statement itself may stand, so that a block of
  /// it may take its place.
  bool may_dissolve = false;
};

/// Data that a kernel reads and writes; what is in them is a matter of check.cc.
struct Program {
  uint64_t seed = 0;
  /// Metal's fast mode. Then all floating-point values are small whole numbers, whose arithmetic is
  /// exact in any order.
  bool fast_math = false;
  /// Lanes may speak to each other: then a vector has the simdgroup's 32.
  bool cross_lane = false;
  /// The reference runs what clang emits rather than what our simplification makes of it.
  bool reference_unsimplified = false;
  std::array<uint32_t, 3> threads = {32, 1, 1}; ///< of a threadgroup
  std::array<uint32_t, 3> grid = {32, 1, 1};    ///< in threads
  std::string prelude;                          ///< types and functions that all programs have
  Block functions;                              ///< one statement each
  std::string head;                             ///< the kernel up to its body
  Block body;

  std::string text() const;
  uint32_t thread_count() const { return grid[0] * grid[1] * grid[2]; }
};

/// The smallest program found that `fails` too, by leaving out statements, putting blocks in place
/// of the statements around them and simpler expressions in place of others. At most `attempts`
/// calls.
Program reduce(const Program& program, const std::function<bool(const Program&)>& fails,
               size_t attempts);

} // namespace bessemer::metal::cpu::fuzz

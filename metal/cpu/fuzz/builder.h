// Inside of the generator: the expressions and statements that a place in a program allows.
#pragma once

#include "metal/cpu/fuzz/program.h"

#include <random>
#include <string_view>

namespace bessemer::metal::cpu::fuzz {

enum class Scalar : uint8_t {
  Bool,
  Char,
  UChar,
  Short,
  UShort,
  Int,
  UInt,
  Long,
  ULong,
  Half,
  BFloat,
  Float,
};

struct Type {
  Scalar scalar = Scalar::UInt;
  unsigned width = 1; ///< elements

  std::string name() const;
  Type element() const { return {scalar, 1}; }
  bool is_float() const { return scalar >= Scalar::Half; }
  bool is_integer() const { return scalar > Scalar::Bool && scalar < Scalar::Half; }
  bool is_signed() const;
  unsigned bits() const;
  /// An unsigned type in which arithmetic on this one wraps: nothing narrower than 32 bits, which
  /// would be promoted to int.
  std::string wrapping() const;
  friend bool operator==(const Type&, const Type&) = default;
};

struct Variable {
  std::string name;
  Type type;
  bool uniform = false; ///< the same for all threads of a threadgroup
  bool assignable = true;
};

struct Array {
  std::string name;
  Type type;
  unsigned size; ///< a power of two
};

/// What the place of a statement allows.
struct Place {
  enum class Loop : uint8_t { None, Uniform, Divergent };
  enum class Shared : uint8_t { None, WriteOwn, ReadAny, Count };

  bool kernel = true;     ///< in the kernel itself: all buffers are there
  bool uniform = true;    ///< all threads of the threadgroup come here together
  bool barriers = false;  ///< the program has them, and here too when uniform
  bool in_switch = false; ///< `break` leaves a switch
  bool may_return = false;
  Loop loop = Loop::None; ///< the innermost loop around it
  Shared shared = Shared::None;
  unsigned depth = 0;
  unsigned trips = 1; ///< how often at most it runs, loops around it multiplied
  std::string result; ///< type that a function returns
};

class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint32_t below(uint32_t count) { return static_cast<uint32_t>((engine_() >> 16) % count); }
  bool one_in(uint32_t count) { return below(count) == 0; }
  uint64_t bits() { return engine_(); }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(static_cast<uint32_t>(choices.size()))];
  }

private:
  std::mt19937_64 engine_;
};

class Builder {
public:
  explicit Builder(uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15u + 1) {}
  Program build(uint64_t seed);

private:
  // expressions.cc
  Expression value(Type type, unsigned depth, bool uniform = false);
  Expression leaf(Type type, bool uniform);
  Expression literal(Type type);
  Expression integer(Type type, unsigned depth, bool uniform);
  Expression arithmetic(Type type, unsigned depth, bool uniform);
  Expression real(Type type, unsigned depth, bool uniform);
  Expression exact_real(Type type, unsigned depth, bool uniform);
  Expression boolean(unsigned depth, bool uniform);
  Expression vector(Type type, unsigned depth, bool uniform);
  Expression cross_lane(Type type, unsigned depth);
  Expression load(Type type, unsigned depth, bool uniform);
  Expression index(unsigned depth, bool uniform);
  Expression call(Type type, unsigned depth);
  Type integer_type();
  Type real_type();
  Type any_type();

  // statements.cc
  Block block(unsigned count, Place place);
  Statement statement(Place& place);
  Statement assignment(const Place& place);
  Statement branch(const Place& place);
  Statement loop(const Place& place);
  Statement choose(const Place& place);
  Statement exchange(const Place& place);
  Statement count_together(const Place& place);
  Statement memory(const Place& place);
  Statement leave(const Place& place);
  Statement walk(const Place& place);
  Statement record(const Place& place);
  Statement declaration(const Place& place);
  Statement function(unsigned index);
  Block arrays();
  std::string fresh(const char* stem) { return stem + std::to_string(names_++); }
  const Variable* assignable(bool uniform_place);
  Block stores();

  Random random_;
  Program program_;
  std::vector<Variable> variables_;
  std::vector<Array> arrays_;
  std::vector<std::pair<std::string, Type>> functions_; ///< that may be called, with result
  Place place_;                                         ///< of the statement that is being made
  bool cross_lane_ = false; ///< the program has operations of the simdgroup
  bool pairs_ = false;      ///< it has structs
  bool rows_ = false;       ///< a thread's words lie together, else a word of all threads does
  unsigned budget_ = 0;     ///< statements still to make
  unsigned names_ = 0;
};

} // namespace bessemer::metal::cpu::fuzz

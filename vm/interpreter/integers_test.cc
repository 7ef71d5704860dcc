// Every integer operation against plain C++, over values at the edges of their ranges.
#include <gtest/gtest.h>

#include <climits>
#include <functional>

#include "vm/testing/harness.h"

namespace bessemer::vm {
namespace {

using namespace testing;

const std::vector<int64_t> kValues = {0,
                                      1,
                                      -1,
                                      2,
                                      -2,
                                      3,
                                      7,
                                      -7,
                                      31,
                                      32,
                                      33,
                                      63,
                                      64,
                                      127,
                                      128,
                                      -128,
                                      -129,
                                      255,
                                      256,
                                      32767,
                                      32768,
                                      -32769,
                                      65535,
                                      65536,
                                      INT_MAX,
                                      INT_MIN,
                                      INT_MAX - 1,
                                      0x5A5A5A5A,
                                      INT64_MAX,
                                      INT64_MIN,
                                      0x0123456789ABCDEF};

// An operation on up to three numbers, with its meaning. Letters: i 32 bits, I 64 bits.
struct Case {
  Op op;
  std::string operands;
  char result;
  std::function<int64_t(int64_t, int64_t, int64_t)> reference;
};

Value valueOf(char letter, int64_t number) {
  return letter == 'i' ? Value(static_cast<int32_t>(number)) : Value(number);
}

// What the operation sees of a number that is passed as this letter.
int64_t seen(char letter, int64_t number) {
  return letter == 'i' ? static_cast<int32_t>(number) : number;
}

ModuleBuilder moduleFor(const Case& test) {
  FunctionBuilder function("0" + test.operands + "_" + test.result, 12, 0);
  function.block();
  std::vector<Operand> operands;
  uint16_t next = 0;
  for (char letter : test.operands) {
    if (letter == 'I')
      next = (next + 1) & ~1;
    operands.push_back(i(next));
    next += letter == 'I' ? 2 : 1;
  }
  operands.push_back(i(10));
  function.emit(test.op, operands);
  function.emit(Op::Return, {list({i(10)})});
  ModuleBuilder module("test");
  module.function("f", function);
  return module;
}

void check(const Case& test) {
  SCOPED_TRACE(bytecode::findOp(static_cast<uint32_t>(test.op))->name);
  Program program(moduleFor(test));
  size_t arity = test.operands.size();
  for (int64_t a : kValues) {
    for (int64_t b : arity > 1 ? kValues : std::vector<int64_t>{0}) {
      for (int64_t c : arity > 2 ? std::vector<int64_t>{0, 5, -9, INT_MIN, INT64_MAX}
                                 : std::vector<int64_t>{0}) {
        std::vector<Value> arguments;
        int64_t numbers[] = {a, b, c};
        for (size_t k = 0; k < arity; ++k)
          arguments.push_back(valueOf(test.operands[k], numbers[k]));
        auto results = program.call("f", arguments);
        ASSERT_TRUE(results) << results.error().toString();
        int64_t expected =
            test.reference(seen(test.operands[0], a), arity > 1 ? seen(test.operands[1], b) : 0,
                           arity > 2 ? seen(test.operands[2], c) : 0);
        int64_t found = test.result == 'i' ? (*results)[0].i32() : (*results)[0].i64();
        ASSERT_EQ(found, seen(test.result, expected)) << a << ", " << b << ", " << c;
      }
    }
  }
}

using N = int64_t;
uint32_t u32(N a) { return static_cast<uint32_t>(a); }
uint64_t u64(N a) { return static_cast<uint64_t>(a); }
// Wrapping: computed wider than the operation.
N wide(__int128 value) { return static_cast<N>(static_cast<unsigned __int128>(value)); }

const Case kCases[] = {
    {Op::AddI32, "ii", 'i', [](N a, N b, N) { return a + b; }},
    {Op::SubI32, "ii", 'i', [](N a, N b, N) { return a - b; }},
    {Op::MulI32, "ii", 'i', [](N a, N b, N) { return a * b; }},
    {Op::FmaI32, "iii", 'i', [](N a, N b, N c) { return wide(__int128{a} * b + c); }},
    {Op::AddI64, "II", 'I', [](N a, N b, N) { return wide(__int128{a} + b); }},
    {Op::SubI64, "II", 'I', [](N a, N b, N) { return wide(__int128{a} - b); }},
    {Op::MulI64, "II", 'I', [](N a, N b, N) { return wide(__int128{a} * b); }},
    {Op::FmaI64, "III", 'I', [](N a, N b, N c) { return wide(__int128{a} * b + c); }},
    {Op::NotI32, "i", 'i', [](N a, N, N) { return -a - 1; }},
    {Op::NotI64, "I", 'I', [](N a, N, N) { return wide(-__int128{a} - 1); }},
    {Op::AndI32, "ii", 'i', [](N a, N b, N) { return a & b; }},
    {Op::OrI32, "ii", 'i', [](N a, N b, N) { return a | b; }},
    {Op::XorI32, "ii", 'i', [](N a, N b, N) { return a ^ b; }},
    {Op::AndI64, "II", 'I', [](N a, N b, N) { return a & b; }},
    {Op::OrI64, "II", 'I', [](N a, N b, N) { return a | b; }},
    {Op::XorI64, "II", 'I', [](N a, N b, N) { return a ^ b; }},
    // Amounts are taken modulo the width.
    {Op::ShlI32, "ii", 'i', [](N a, N b, N) { return N{u32(a)} << (b & 31); }},
    {Op::ShrI32S, "ii", 'i', [](N a, N b, N) { return a >> (b & 31); }},
    {Op::ShrI32U, "ii", 'i', [](N a, N b, N) { return N{u32(a)} >> (b & 31); }},
    {Op::ShlI64, "Ii", 'I', [](N a, N b, N) { return N(u64(a) << (b & 63)); }},
    {Op::ShrI64S, "Ii", 'I', [](N a, N b, N) { return a >> (b & 63); }},
    {Op::ShrI64U, "Ii", 'I', [](N a, N b, N) { return N(u64(a) >> (b & 63)); }},
    {Op::TruncI32I8, "i", 'i', [](N a, N, N) { return a & 255; }},
    {Op::TruncI32I16, "i", 'i', [](N a, N, N) { return a & 65535; }},
    {Op::TruncI64I32, "I", 'i', [](N a, N, N) { return a; }},
    {Op::ExtI8I32S, "i", 'i', [](N a, N, N) { return (a & 255) - ((a & 128) ? 256 : 0); }},
    {Op::ExtI8I32U, "i", 'i', [](N a, N, N) { return a & 255; }},
    {Op::ExtI16I32S, "i", 'i', [](N a, N, N) { return (a & 65535) - ((a & 32768) ? 65536 : 0); }},
    {Op::ExtI16I32U, "i", 'i', [](N a, N, N) { return a & 65535; }},
    {Op::ExtI32I64S, "i", 'I', [](N a, N, N) { return a; }},
    {Op::ExtI32I64U, "i", 'I', [](N a, N, N) { return N{u32(a)}; }},
    {Op::CmpEqI32, "ii", 'i', [](N a, N b, N) { return N{a == b}; }},
    {Op::CmpNeI32, "ii", 'i', [](N a, N b, N) { return N{a != b}; }},
    {Op::CmpLtI32S, "ii", 'i', [](N a, N b, N) { return N{a < b}; }},
    {Op::CmpLtI32U, "ii", 'i', [](N a, N b, N) { return N{u32(a) < u32(b)}; }},
    {Op::CmpNzI32, "i", 'i', [](N a, N, N) { return N{a != 0}; }},
    {Op::CmpEqI64, "II", 'i', [](N a, N b, N) { return N{a == b}; }},
    {Op::CmpNeI64, "II", 'i', [](N a, N b, N) { return N{a != b}; }},
    {Op::CmpLtI64S, "II", 'i', [](N a, N b, N) { return N{a < b}; }},
    {Op::CmpLtI64U, "II", 'i', [](N a, N b, N) { return N{u64(a) < u64(b)}; }},
    {Op::CmpNzI64, "I", 'i', [](N a, N, N) { return N{a != 0}; }},
    {Op::MinI32S, "ii", 'i', [](N a, N b, N) { return a < b ? a : b; }},
    {Op::MinI32U, "ii", 'i', [](N a, N b, N) { return u32(a) < u32(b) ? a : b; }},
    {Op::MaxI32S, "ii", 'i', [](N a, N b, N) { return a > b ? a : b; }},
    {Op::MaxI32U, "ii", 'i', [](N a, N b, N) { return u32(a) > u32(b) ? a : b; }},
    {Op::MinI64S, "II", 'I', [](N a, N b, N) { return a < b ? a : b; }},
    {Op::MinI64U, "II", 'I', [](N a, N b, N) { return u64(a) < u64(b) ? a : b; }},
    {Op::MaxI64S, "II", 'I', [](N a, N b, N) { return a > b ? a : b; }},
    {Op::MaxI64U, "II", 'I', [](N a, N b, N) { return u64(a) > u64(b) ? a : b; }},
    {Op::CtlzI32, "i", 'i',
     [](N a, N, N) {
       N zeros = 0;
       for (N bit = 31; bit >= 0 && !(u32(a) >> bit & 1); --bit)
         ++zeros;
       return zeros;
     }},
    {Op::CtlzI64, "I", 'I',
     [](N a, N, N) {
       N zeros = 0;
       for (N bit = 63; bit >= 0 && !(u64(a) >> bit & 1); --bit)
         ++zeros;
       return zeros;
     }},
    {Op::AbsI32, "i", 'i', [](N a, N, N) { return a < 0 ? -a : a; }},
    {Op::AbsI64, "I", 'I', [](N a, N, N) { return wide(a < 0 ? -__int128{a} : a); }},
    {Op::SelectI32, "iii", 'i', [](N a, N b, N c) { return a ? b : c; }},
    {Op::SelectI64, "iII", 'I', [](N a, N b, N c) { return a ? b : c; }},
};

class Integers : public ::testing::TestWithParam<size_t> {};

TEST_P(Integers, AgreeWithPlainCpp) { check(kCases[GetParam()]); }

std::string nameOf(const ::testing::TestParamInfo<size_t>& info) {
  std::string name(bytecode::findOp(static_cast<uint32_t>(kCases[info.param].op))->name);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Operations, Integers, ::testing::Range(size_t{0}, std::size(kCases)),
                         nameOf);

// Division has two exceptions: zero is an error, and INT_MIN / -1 wraps.
template <class T>
void checkDivision(Op op, bool remainder, char letter) {
  Case test{op, std::string(2, letter), letter, nullptr};
  Program program(moduleFor(test));
  for (int64_t a : kValues) {
    for (int64_t b : kValues) {
      auto results = program.call("f", {valueOf(letter, a), valueOf(letter, b)});
      T x = static_cast<T>(a);
      T y = static_cast<T>(b);
      if (y == 0) {
        ASSERT_FALSE(results);
        EXPECT_EQ(results.error().code(), StatusCode::InvalidArgument);
        continue;
      }
      ASSERT_TRUE(results) << results.error().toString();
      __int128 expected = remainder ? __int128{x} % y : __int128{x} / y;
      T found = static_cast<T>(letter == 'i' ? (*results)[0].i32() : (*results)[0].i64());
      ASSERT_EQ(found, static_cast<T>(expected)) << a << ", " << b;
    }
  }
}

TEST(Division, TruncatesWrapsAndRefusesZero) {
  checkDivision<int32_t>(Op::DivI32S, false, 'i');
  checkDivision<uint32_t>(Op::DivI32U, false, 'i');
  checkDivision<int32_t>(Op::RemI32S, true, 'i');
  checkDivision<uint32_t>(Op::RemI32U, true, 'i');
  checkDivision<int64_t>(Op::DivI64S, false, 'I');
  checkDivision<uint64_t>(Op::DivI64U, false, 'I');
  checkDivision<int64_t>(Op::RemI64S, true, 'I');
  checkDivision<uint64_t>(Op::RemI64U, true, 'I');
}

// A comparison and the branch on it become one operation; its result register is written all the
// same.
TEST(CompareAndBranch, BranchesAsTheComparisonSays) {
  for (const Case& test : kCases) {
    if (test.result != 'i' ||
        !bytecode::findOp(static_cast<uint32_t>(test.op))->name.starts_with("cmp."))
      continue;
    SCOPED_TRACE(bytecode::findOp(static_cast<uint32_t>(test.op))->name);
    // Both orders: the block that is next is the true one, then the false one.
    for (bool true_first : {false, true}) {
      bool wide = test.operands[0] == 'I';
      FunctionBuilder function("0" + test.operands + "_ii", 12, 0);
      function.block();
      Label if_true = function.label();
      Label if_false = function.label();
      std::vector<Operand> operands = {i(0)};
      if (test.operands.size() > 1)
        operands.push_back(i(wide ? 2 : 1));
      operands.push_back(i(10));
      function.emit(test.op, operands);
      function.emit(Op::CondBr, {i(10), to(if_true), to(if_false)});
      for (bool which : {true_first, !true_first}) {
        function.block(which ? if_true : if_false);
        function.emit(Op::ConstI32, {imm(which ? 100 : 200), i(11)});
        function.emit(Op::Return, {list({i(10), i(11)})});
      }
      ModuleBuilder module("test");
      module.function("f", function);
      Program program(module);
      for (int64_t a : {0L, 1L, -1L, 5L, INT64_MAX}) {
        for (int64_t b : {0L, 1L, -1L, 5L}) {
          std::vector<Value> arguments = {valueOf(test.operands[0], a)};
          if (test.operands.size() > 1)
            arguments.push_back(valueOf(test.operands[1], b));
          auto results = program.call("f", arguments);
          ASSERT_TRUE(results) << results.error().toString();
          int64_t expected =
              test.reference(seen(test.operands[0], a), seen(test.operands[0], b), 0);
          EXPECT_EQ((*results)[0].i32(), expected);
          EXPECT_EQ((*results)[1].i32(), expected ? 100 : 200);
        }
      }
    }
  }
}

} // namespace
} // namespace bessemer::vm

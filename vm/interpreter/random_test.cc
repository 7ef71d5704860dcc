// Random functions, run as they are in the file (the translator changes nothing when it traces) and
// as the translator makes them fast: both must come to the same.
#include <gtest/gtest.h>

#include <random>

#include "vm/testing/harness.h"

namespace bessemer::vm {
namespace {

using namespace testing;

class Nothing final : public Tracer {
public:
  void operation(std::string_view) override { ++count; }
  size_t count = 0;
};

// Words 0..15 are anyone's; the counter that ends loops is apart.
constexpr uint16_t kWords = 16;
constexpr uint16_t kCounter = 16, kOne = 18, kLimit = 20, kTest = 22, kSpare = 24, kScratch = 26;
// Finite numbers only: which of two NaNs an addition hands on is the machine's choice.
constexpr uint16_t kSingles = 28, kDoubles = 32; // four and two of them

class Generator {
public:
  explicit Generator(uint32_t seed) : random_(seed), function_("0IIIIIIII_IIIIIIIII", 36, 0) {}

  FunctionBuilder make() {
    size_t count = 3 + pick(8);
    for (size_t k = 0; k <= count; ++k)
      labels_.push_back(function_.label());
    exit_ = labels_[count];
    function_.block();
    function_.emit(Op::ConstI64Zero, {i(kCounter)});
    function_.emit(Op::ConstI64, {imm(1), i(kOne)});
    function_.emit(Op::ConstI64, {imm(5 + pick(20)), i(kLimit)});
    function_.emit(Op::Br, {to(labels_[0])});
    for (size_t k = 0; k < count; ++k) {
      function_.block(labels_[k]);
      emitBlock(k, count);
    }
    function_.block(exit_);
    std::vector<Operand> all;
    for (uint16_t word = 0; word < kWords; word += 2)
      all.push_back(i(word));
    all.push_back(i(kCounter));
    function_.emit(Op::Return, {list(all)});
    return std::move(function_);
  }

private:
  size_t pick(size_t bound) { return random_() % bound; }
  Operand word() { return i(static_cast<uint16_t>(pick(kWords))); }
  Operand pair() { return i(static_cast<uint16_t>(pick(kWords / 2) * 2)); }
  Operand single() { return i(static_cast<uint16_t>(kSingles + pick(4))); }
  Operand wide() { return i(static_cast<uint16_t>(kDoubles + 2 * pick(2))); }
  Label later(size_t block, size_t count) { return labels_[block + 1 + pick(count - block)]; }

  std::vector<Operand> copies() {
    std::vector<Operand> list;
    for (size_t n = pick(4); n; --n) {
      if (pick(2)) {
        list.push_back(word());
        list.push_back(word());
      } else {
        auto from = static_cast<uint16_t>(pair().number);
        auto into = static_cast<uint16_t>(pair().number);
        for (uint16_t half : {0, 1}) {
          list.push_back(i(static_cast<uint16_t>(from + half)));
          list.push_back(i(static_cast<uint16_t>(into + half)));
        }
      }
    }
    return list;
  }

  void emitFloat() {
    switch (pick(9)) {
    case 0:
      return function_.emit(Op::CastSi32F32, {word(), single()});
    case 1:
      return function_.emit(Op::AddF32, {single(), single(), single()});
    case 2:
      return function_.emit(Op::MaxF32, {single(), single(), single()});
    case 3:
      return function_.emit(Op::SelectF32, {word(), single(), single(), single()});
    case 4:
      return function_.emit(Op::CmpLtF32O, {single(), single(), word()});
    case 5:
      return function_.emit(Op::BitcastF32I32, {single(), word()});
    case 6:
      return function_.emit(Op::ExtF32F64, {single(), wide()});
    case 7:
      return function_.emit(Op::MinF64, {wide(), wide(), wide()});
    default:
      return function_.emit(Op::BitcastF64I64, {wide(), pair()});
    }
  }

  void emitOperation() {
    switch (pick(14)) {
    case 9:
    case 10:
      return emitFloat();
    case 11:
      return function_.emit(Op::SelectI64, {word(), pair(), pair(), pair()});
    case 12:
      return function_.emit(Op::ShrI64U, {pair(), word(), pair()});
    case 13:
      return function_.emit(Op::RemI32U, {word(), i(kOne), word()});
    case 0:
      return function_.emit(Op::AddI64, {pair(), pair(), pair()});
    case 1:
      return function_.emit(Op::MulI64, {pair(), pair(), pair()});
    case 2:
      return function_.emit(Op::XorI32, {word(), word(), word()});
    case 3:
      return function_.emit(Op::AddI32, {word(), word(), word()});
    case 4:
      return function_.emit(Op::CmpLtI64S, {pair(), pair(), word()});
    case 5:
      return function_.emit(Op::SelectI32, {word(), word(), word(), word()});
    case 6:
      return function_.emit(Op::FmaI32, {word(), word(), word(), word()});
    case 7:
      return function_.emit(Op::SwitchI64, {word(), pair(), list({pair(), pair()}), pair()});
    default:
      return function_.emit(Op::ExtI32I64S, {word(), pair()});
    }
  }

  // A branch back is taken only after counting, and its target looks at the counter.
  void emitBlock(size_t block, size_t count) {
    if (pick(4) == 0) { // a loop's head
      heads_.push_back(block);
      function_.emit(Op::CmpLtI64S, {i(kCounter), i(kLimit), i(kTest)});
      function_.emit(Op::CondBr, {i(kTest), to(later(block, count)), to(exit_)});
      return;
    }
    for (size_t n = pick(6); n; --n)
      emitOperation();
    switch (pick(heads_.empty() ? 3 : 5)) {
    case 0: { // a value that only the target needs, in another register
      std::vector<Operand> list = copies();
      function_.emit(Op::AddI64, {pair(), pair(), i(kScratch)});
      for (size_t n = pick(3); n; --n)
        emitOperation();
      auto into = static_cast<uint16_t>(pair().number);
      for (uint16_t half : {0, 1}) {
        list.push_back(i(static_cast<uint16_t>(kScratch + half)));
        list.push_back(i(static_cast<uint16_t>(into + half)));
      }
      return function_.emit(Op::Br, {to(later(block, count), list)});
    }
    case 1: {
      Operand test = word();
      if (pick(2))
        function_.emit(Op::CmpEqI32, {word(), word(), test});
      if (pick(2))
        function_.emit(Op::AddI32, {word(), word(), word()});
      return function_.emit(
          Op::CondBr, {test, to(later(block, count), copies()), to(later(block, count), copies())});
    }
    case 2:
      return function_.emit(Op::BrTable,
                            {word(), to(later(block, count), copies()),
                             to(later(block, count), copies()), to(later(block, count), copies())});
    case 3: { // back to a head
      function_.emit(Op::AddI64, {i(kCounter), i(kOne), i(kCounter)});
      return function_.emit(Op::Br, {to(labels_[heads_[pick(heads_.size())]], copies())});
    }
    default: { // the counter itself by a copy, as compilers write loops
      function_.emit(Op::AddI64, {i(kCounter), i(kOne), i(kSpare)});
      std::vector<Operand> list = copies();
      for (Operand copy : {i(kSpare), i(kCounter), i(kSpare + 1), i(kCounter + 1)})
        list.push_back(copy);
      return function_.emit(Op::Br, {to(labels_[heads_[pick(heads_.size())]], list)});
    }
    }
  }

  std::mt19937 random_;
  FunctionBuilder function_;
  std::vector<Label> labels_;
  std::vector<size_t> heads_;
  Label exit_;
};

TEST(RandomFunctions, FastCodeDoesWhatTheFileSays) {
  size_t operations = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    FunctionBuilder function = Generator(seed).make();
    ModuleBuilder module("random");
    module.function("f", function);
    Nothing tracer;
    Program plain(module, {}, &tracer);
    Program fast(module);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 3; ++round) {
      std::vector<Value> arguments;
      for (int k = 0; k < 8; ++k)
        arguments.push_back(static_cast<int64_t>(round ? random() : random() % 4));
      auto expected = plain.call("f", arguments);
      auto found = fast.call("f", arguments);
      ASSERT_TRUE(expected && found) << seed;
      for (size_t k = 0; k < expected->size(); ++k)
        ASSERT_EQ((*found)[k].i64(), (*expected)[k].i64()) << "seed " << seed << ", result " << k;
    }
    operations += tracer.count;
  }
  EXPECT_GT(operations, 100000u); // loops did run
}

} // namespace
} // namespace bessemer::vm

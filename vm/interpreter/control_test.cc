// Branches, calls, switches, failures and yields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vm/buffer.h"
#include "vm/testing/harness.h"

namespace bessemer::vm {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(Branches, CopiesAreMadeInOrderAndByWords) {
  // (a: i64, b: i64) to (b, a + b, last word written twice): a loop header with three values.
  FunctionBuilder function("0II_IIi", 12, 0);
  function.block();
  Label next = function.label();
  // i4:5 = i2:3 (b), then i0:1 = i4:5: the second copy sees what the first one wrote.
  function.emit(Op::Br, {to(next, {i(2), i(4), i(3), i(5), i(4), i(0), i(5), i(1), i(2), i(8)})});
  function.block(next);
  function.emit(Op::Return, {list({i(0), i(4), i(8)})});
  ModuleBuilder module("test");
  module.function("f", function);
  Program program(module);
  auto results = program.call("f", {Value(int64_t{7}), Value(int64_t{0x1122334455667788})});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].i64(), 0x1122334455667788);
  EXPECT_EQ((*results)[1].i64(), 0x1122334455667788);
  EXPECT_EQ((*results)[2].i32(), 0x55667788);
}

// An odd source or target, or words that are not neighbours, is two copies and no pair.
TEST(Branches, WordsThatAreNoPairAreCopiedAlone) {
  FunctionBuilder function("0iiii_iiii", 12, 0);
  function.block();
  Label next = function.label();
  function.emit(Op::Br, {to(next, {i(1), i(4), i(2), i(5), i(0), i(7), i(1), i(8), i(3), i(6)})});
  function.block(next);
  function.emit(Op::Return, {list({i(4), i(5), i(7), i(8)})});
  ModuleBuilder module("test");
  module.function("f", function);
  Program program(module);
  auto results = program.call("f", {10, 20, 30, 40});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].i32(), 20);
  EXPECT_EQ((*results)[1].i32(), 30);
  EXPECT_EQ((*results)[2].i32(), 10);
  EXPECT_EQ((*results)[3].i32(), 20);
}

// sum = 0; for (i = 0; i < n; ++i) sum += i * i, with every number of extra loop-carried values, so
// that every form of copying is used.
class LoopCopies : public ::testing::TestWithParam<int> {};

TEST_P(LoopCopies, CarryAllValues) {
  int extra = GetParam();
  FunctionBuilder function("0I_I", static_cast<int16_t>(20 + 4 * extra), 0);
  function.block();
  function.emit(Op::ConstI64Zero, {i(2)});
  function.emit(Op::ConstI64Zero, {i(4)});
  function.emit(Op::ConstI64, {imm(1), i(6)});
  Label head = function.label();
  Label body = function.label();
  Label end = function.label();
  function.emit(Op::Br, {to(head)});
  function.block(head);
  function.emit(Op::CmpLtI64S, {i(2), i(0), i(8)});
  function.emit(Op::CondBr, {i(8), to(body), to(end)});
  function.block(body);
  function.emit(Op::MulI64, {i(2), i(2), i(10)});
  function.emit(Op::AddI64, {i(4), i(10), i(12)});
  function.emit(Op::AddI64, {i(2), i(6), i(14)});
  std::vector<Operand> copies = {i(12), i(4), i(13), i(5), i(14), i(2), i(15), i(3)};
  for (int k = 0; k < extra; ++k) {
    auto base = static_cast<uint16_t>(16 + 2 * k);
    copies.push_back(i(14));
    copies.push_back(i(base));
    if (k % 2 == 0) { // a pair; else a single word
      copies.push_back(i(15));
      copies.push_back(i(static_cast<uint16_t>(base + 1)));
    }
  }
  function.emit(Op::Br, {to(head, copies)});
  function.block(end);
  function.emit(Op::Return, {list({i(4)})});
  ModuleBuilder module("test");
  module.function("f", function);
  Program program(module);
  auto results = program.call("f", {Value(int64_t{100})});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].i64(), 328350);
}

INSTANTIATE_TEST_SUITE_P(Extra, LoopCopies, ::testing::Range(0, 7));

TEST(Branches, TableTakesTheCaseOrTheDefault) {
  FunctionBuilder function("0i_i", 3, 0);
  function.block();
  std::vector<Label> labels = {function.label(), function.label(), function.label()};
  Label shared = function.label();
  function.emit(Op::ConstI32, {imm(7), i(1)});
  function.emit(Op::BrTable, {i(0), to(shared, {i(1), i(2)}), to(labels[0]), to(labels[1]),
                              to(shared, {i(0), i(2)})});
  for (int k = 0; k < 2; ++k) {
    function.block(labels[static_cast<size_t>(k)]);
    function.emit(Op::ConstI32, {imm(static_cast<uint64_t>(100 + k)), i(2)});
    function.emit(Op::Return, {list({i(2)})});
  }
  function.block(shared);
  function.emit(Op::Return, {list({i(2)})});
  ModuleBuilder module("test");
  module.function("f", function);
  Program program(module);
  std::pair<int, int> cases[] = {{0, 100}, {1, 101}, {2, 2}, {3, 7}, {-1, 7}, {INT32_MIN, 7}};
  for (auto [index, expected] : cases) {
    auto results = program.call("f", {index});
    ASSERT_TRUE(results) << results.error().toString();
    EXPECT_EQ((*results)[0].i32(), expected) << index;
  }
}

TEST(Switches, ChooseByIndexOrTakeTheDefault) {
  for (bool wide : {false, true}) {
    for (bool real : {false, true}) {
      Op op =
          wide ? (real ? Op::SwitchF64 : Op::SwitchI64) : (real ? Op::SwitchF32 : Op::SwitchI32);
      FunctionBuilder function(wide ? "0iIII_I" : "0iiii_i", 12, 0);
      function.block();
      auto at = [&](int k) { return i(static_cast<uint16_t>(wide ? 2 + 2 * k : 1 + k)); };
      function.emit(op, {i(0), at(0), list({at(1), at(2)}), i(10)});
      function.emit(Op::Return, {list({i(10)})});
      ModuleBuilder module("test");
      module.function("f", function);
      Program program(module);
      std::pair<int, int64_t> cases[] = {{0, 11}, {1, 12}, {2, 10}, {-1, 10}};
      for (auto [index, expected] : cases) {
        std::vector<Value> arguments = {index};
        for (int64_t value : {10, 11, 12})
          arguments.push_back(wide ? Value(value) : Value(static_cast<int32_t>(value)));
        auto results = program.call("f", arguments);
        ASSERT_TRUE(results) << results.error().toString();
        EXPECT_EQ(wide ? (*results)[0].i64() : (*results)[0].i32(), expected);
      }
    }
  }
}

TEST(Calls, PassMixedArgumentsByTheConventionAndBack) {
  // callee(i, I, i, f, F, r) returns them in another order.
  FunctionBuilder callee("0iIifFr_rFIfii", 10, 1);
  callee.block();
  // i0 | i2:3 | i4 | i5 | i6:7 | r0
  callee.emit(Op::Return, {list({moved(0), i(6), i(2), i(5), i(4), i(0)})});
  FunctionBuilder caller("0iIifFr_rFIfii", 24, 3);
  caller.block();
  caller.emit(Op::Call, {imm(0), list({i(0), i(2), i(4), i(5), i(6), moved(0)}),
                         list({r(2), i(10), i(12), i(14), i(15), i(16)})});
  caller.emit(Op::Return, {list({moved(2), i(10), i(12), i(14), i(15), i(16)})});
  ModuleBuilder module("test");
  module.function("", callee);
  module.function("f", caller);
  Program program(module);
  RefPtr<Buffer> buffer = Buffer::fromText("x");
  auto results = program.call("f", {1, int64_t{2} << 40, 3, 4.5f, 5.25, buffer});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].as<Buffer>(), buffer.get());
  EXPECT_EQ((*results)[1].f64(), 5.25);
  EXPECT_EQ((*results)[2].i64(), int64_t{2} << 40);
  EXPECT_EQ((*results)[3].f32(), 4.5f);
  EXPECT_EQ((*results)[4].i32(), 3);
  EXPECT_EQ((*results)[5].i32(), 1);
}

TEST(Calls, RecursionComputesAndEndsInAnErrorWhenTheStackIsFull) {
  // f(n) = n == 0 ? 0 : n + f(n - 1)
  FunctionBuilder function("0I_I", 10, 0);
  Label zero = function.label();
  Label more = function.label();
  function.block();
  function.emit(Op::CmpNzI64, {i(0), i(2)});
  function.emit(Op::CondBr, {i(2), to(more), to(zero)});
  function.block(more);
  function.emit(Op::ConstI64, {imm(1), i(4)});
  function.emit(Op::SubI64, {i(0), i(4), i(4)});
  function.emit(Op::Call, {imm(0), list({i(4)}), list({i(6)})});
  function.emit(Op::AddI64, {i(0), i(6), i(6)});
  function.emit(Op::Return, {list({i(6)})});
  function.block(zero);
  function.emit(Op::ConstI64Zero, {i(6)});
  function.emit(Op::Return, {list({i(6)})});
  ModuleBuilder module("test");
  module.function("f", function);
  Program program(module);
  auto results = program.call("f", {Value(int64_t{1000})});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].i64(), 500500);
  auto endless = program.call("f", {Value(int64_t{-1})});
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code(), StatusCode::ResourceExhausted);
  EXPECT_TRUE(program.call("f", {Value(int64_t{3})})); // the context is still good
}

TEST(Fail, NamesCodeTextAndPlaces) {
  FunctionBuilder inner("0i_v", 1, 0);
  inner.block();
  inner.emit(Op::Fail, {i(0), text("no such device")});
  Label rest = inner.label();
  inner.block(rest);
  inner.emit(Op::Return, {list({})});
  FunctionBuilder outer("0i_v", 1, 0);
  outer.block();
  outer.emit(Op::Call, {imm(0), list({i(0)}), list({})});
  outer.emit(Op::Return, {list({})});
  ModuleBuilder module("prog");
  module.function("", inner);
  module.function("main", outer);
  module.lines(0, "inner", {{0, 11}, {1, 12}});
  module.lines(1, "main", {{0, 33}});
  Program program(module);
  auto failed = program.call("main", {5});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), StatusCode::NotFound);
  EXPECT_EQ(failed.error().message(), "no such device");
  ASSERT_EQ(failed.error().trace().size(), 2u);
  EXPECT_EQ(failed.error().trace()[0].function, "inner");
  EXPECT_EQ(failed.error().trace()[0].pc, 1u);
  EXPECT_EQ(failed.error().trace()[0].location, "model.mlir:12:7");
  EXPECT_EQ(failed.error().trace()[1].location, "model.mlir:33:7");
  EXPECT_THAT(failed.error().toString(),
              HasSubstr("NOT_FOUND; no such device\n  [ 0] prog.inner+1 at model.mlir:12:7"));
  EXPECT_TRUE(program.call("main", {0})); // code 0 goes on
}

// The compiler describes only some functions: then their names say which.
TEST(Fail, LocationsOfSomeFunctionsGoByName) {
  FunctionBuilder inner("0i_v", 1, 0);
  inner.block();
  inner.emit(Op::Fail, {i(0), text("bad")});
  Label rest = inner.label();
  inner.block(rest);
  inner.emit(Op::Return, {list({})});
  FunctionBuilder outer("0i_v", 1, 0);
  outer.block();
  outer.emit(Op::Call, {imm(0), list({i(0)}), list({})});
  outer.emit(Op::Return, {list({})});
  ModuleBuilder module("prog");
  module.function("", inner);
  module.function("main", outer);
  module.lines(0, "main", {{0, 33}}); // the table's only entry is not function 0
  Program program(module);
  auto failed = program.call("main", {5});
  ASSERT_FALSE(failed);
  ASSERT_EQ(failed.error().trace().size(), 2u);
  EXPECT_EQ(failed.error().trace()[0].function, "@0");
  EXPECT_EQ(failed.error().trace()[0].location, "");
  EXPECT_EQ(failed.error().trace()[1].function, "main");
  EXPECT_EQ(failed.error().trace()[1].location, "model.mlir:33:7");
}

TEST(Yield, LeavesAndGoesOnAtItsTarget) {
  FunctionBuilder function("0i_i", 3, 0);
  function.block();
  Label next = function.label();
  function.emit(Op::Yield, {to(next, {i(0), i(1)})});
  function.block(next);
  function.emit(Op::AddI32, {i(1), i(0), i(2)});
  function.emit(Op::Return, {list({i(2)})});
  ModuleBuilder module("test");
  module.function("f", function);
  Program program(module);
  auto entry = program.context().lookup("f");
  ASSERT_TRUE(entry);
  std::vector<Value> arguments = {21};
  auto invocation = Invocation::begin(*entry, arguments);
  ASSERT_TRUE(invocation);
  auto first = invocation->resume();
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, Invocation::Progress::Deferred);
  EXPECT_EQ(invocation->waitSource(), nullptr);
  auto second = invocation->resume();
  ASSERT_TRUE(second);
  EXPECT_EQ(*second, Invocation::Progress::Done);
  std::vector<Value> results;
  ASSERT_TRUE(invocation->takeResults(results));
  EXPECT_EQ(results[0].i32(), 42);
  EXPECT_FALSE(invocation->resume());
  // And the blocking way.
  auto blocking = program.call("f", {4});
  ASSERT_TRUE(blocking);
  EXPECT_EQ((*blocking)[0].i32(), 8);
}

TEST(Breaks, ActAsBranches) {
  FunctionBuilder function("0i_i", 3, 0);
  function.block();
  Label second = function.label();
  Label third = function.label();
  function.emit(Op::Break, {to(second, {i(0), i(1)})});
  function.block(second);
  function.emit(Op::CondBreak, {i(1), to(third, {i(1), i(2)})});
  function.block(third);
  function.emit(Op::Return, {list({i(2)})});
  ModuleBuilder module("test");
  module.function("f", function);
  Program program(module);
  for (int value : {0, 9}) {
    auto results = program.call("f", {value});
    ASSERT_TRUE(results) << results.error().toString();
    EXPECT_EQ((*results)[0].i32(), value);
  }
}

class Recorder final : public Tracer {
public:
  void operation(std::string_view text) override { texts.emplace_back(text); }
  std::vector<std::string> texts;
};

TEST(Tracing, ReportsEveryOperationAndChangesNothing) {
  FunctionBuilder function("0ii_i", 4, 0);
  Label yes = function.label();
  Label no = function.label();
  function.block();
  function.emit(Op::CmpLtI32S, {i(0), i(1), i(2)});
  function.emit(Op::CondBr, {i(2), to(yes), to(no)});
  function.block(yes);
  function.emit(Op::Return, {list({i(0)})});
  function.block(no);
  function.emit(Op::Return, {list({i(1)})});
  ModuleBuilder module("prog");
  module.function("min", function);
  Recorder recorder;
  Program program(module, {}, &recorder);
  auto results = program.call("min", {9, 4});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].i32(), 4);
  ASSERT_EQ(recorder.texts.size(), 3u);
  EXPECT_EQ(recorder.texts[0], "[prog.min+1] %i2 = cmp.lt.i32.s %i0, %i1");
  EXPECT_THAT(recorder.texts[1], HasSubstr("cond_br %i2, ^"));
  EXPECT_THAT(recorder.texts[2], HasSubstr("return %i1"));
}

} // namespace
} // namespace bessemer::vm

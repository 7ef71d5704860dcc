// References, globals, lists and buffers: values, and counts of references.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "vm/buffer.h"
#include "vm/interpreter/siphash.h"
#include "vm/list.h"
#include "vm/testing/harness.h"

namespace bessemer::vm {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// An object that tells when it goes.
class Probe final : public Object {
public:
  explicit Probe(int& alive) : alive_(alive) { ++alive_; }

private:
  ~Probe() override { --alive_; }
  int& alive_;
};

} // namespace

template <>
struct RefTraits<Probe> {
  static const RefType& type() {
    static constexpr RefType type = objectType<Probe>("test.probe");
    return type;
  }
};

namespace {

Ref probe(int& alive) { return RefPtr<Probe>::adopt(new Probe(alive)); }

// Types 0: opaque, 1: vm.buffer.
ModuleBuilder withTypes() {
  ModuleBuilder module("test");
  module.type("!vm.opaque");
  module.type("!vm.buffer");
  module.globals(32, 3);
  return module;
}

TEST(References, MovedOperandsLeaveTheirRegisters) {
  // f(a) → (a's register after assign with move is null, result is not)
  FunctionBuilder function("0r_ii", 2, 2);
  function.block();
  function.emit(Op::AssignRef, {moved(0), r(1)});
  function.emit(Op::CmpNzRef, {r(0), i(0)});
  function.emit(Op::CmpNzRef, {r(1), i(1)});
  function.emit(Op::Return, {list({i(0), i(1)})});
  ModuleBuilder module = withTypes();
  module.function("f", function);
  Program program(module);
  int alive = 0;
  auto results = program.call("f", {probe(alive)});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].i32(), 0);
  EXPECT_EQ((*results)[1].i32(), 1);
  EXPECT_EQ(alive, 0); // what the function left in its registers is released
}

TEST(References, SelectReleasesAMovedOperandThatIsNotChosen) {
  for (bool in_place : {false, true}) {
    FunctionBuilder function("0irr_ri", 2, 3);
    function.block();
    uint16_t result = in_place ? 1 : 2;
    function.emit(Op::SelectRef, {i(0), imm(0), moved(0), moved(1), r(result)});
    function.emit(Op::CmpNzRef, {r(0), i(1)});
    function.emit(Op::Return, {list({moved(result), i(1)})});
    ModuleBuilder module = withTypes();
    module.function("f", function);
    Program program(module);
    for (int condition : {0, 1}) {
      int first = 0;
      int second = 0;
      auto results = program.call("f", {condition, probe(first), probe(second)});
      ASSERT_TRUE(results) << results.error().toString();
      EXPECT_EQ(first, condition);
      EXPECT_EQ(second, 1 - condition);
      EXPECT_EQ((*results)[1].i32(), 0);
    }
  }
}

TEST(References, SwitchReleasesMovedOperandsThatAreNotChosen) {
  FunctionBuilder function("0irrr_r", 1, 4);
  function.block();
  function.emit(Op::SwitchRef, {i(0), imm(0), moved(0), list({moved(1), moved(2)}), r(3)});
  function.emit(Op::Return, {list({moved(3)})});
  ModuleBuilder module = withTypes();
  module.function("f", function);
  Program program(module);
  for (int index : {-1, 0, 1, 2}) {
    int alive[3] = {};
    auto results = program.call("f", {index, probe(alive[0]), probe(alive[1]), probe(alive[2])});
    ASSERT_TRUE(results) << results.error().toString();
    int chosen = index == 0 ? 1 : index == 1 ? 2 : 0;
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(alive[k], k == chosen) << index;
  }
}

TEST(References, AreComparedByObject) {
  FunctionBuilder function("0rr_iii", 3, 2);
  function.block();
  function.emit(Op::CmpEqRef, {r(0), r(1), i(0)});
  function.emit(Op::CmpNeRef, {r(0), r(1), i(1)});
  function.emit(Op::CmpNzRef, {r(1), i(2)});
  function.emit(Op::Return, {list({i(0), i(1), i(2)})});
  ModuleBuilder module = withTypes();
  module.function("f", function);
  Program program(module);
  RefPtr<Buffer> a = Buffer::fromText("a");
  RefPtr<Buffer> b = Buffer::fromText("a");
  auto same = program.call("f", {a, a});
  ASSERT_TRUE(same);
  EXPECT_EQ((*same)[0].i32() * 100 + (*same)[1].i32() * 10 + (*same)[2].i32(), 101);
  auto other = program.call("f", {a, b});
  EXPECT_EQ((*other)[0].i32() * 100 + (*other)[1].i32() * 10 + (*other)[2].i32(), 11);
  auto null = program.call("f", {a, Ref()});
  EXPECT_EQ((*null)[0].i32() * 100 + (*null)[1].i32() * 10 + (*null)[2].i32(), 10);
}

TEST(References, AreCheckedAgainstTheirTypes) {
  FunctionBuilder function("0r_r", 0, 2);
  function.block();
  function.emit(Op::CastAnyRef, {moved(0), imm(1), r(1)});
  function.emit(Op::Return, {list({moved(1)})});
  ModuleBuilder module = withTypes();
  module.function("f", function);
  Program program(module);
  EXPECT_TRUE(program.call("f", {Buffer::fromText("x")}));
  EXPECT_TRUE(program.call("f", {Ref()}));
  auto wrong = program.call("f", {List::create({})});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message(), HasSubstr("expected a vm.buffer, got a vm.list"));
}

TEST(Globals, KeepNumbersOfBothWidths) {
  FunctionBuilder store("0iI_v", 6, 0);
  store.block();
  store.emit(Op::GlobalStoreI32, {imm(4), i(0)});
  store.emit(Op::GlobalStoreI64, {imm(8), i(2)});
  store.emit(Op::Return, {list({})});
  FunctionBuilder load("0v_iI", 6, 0);
  load.block();
  load.emit(Op::GlobalLoadI32, {imm(4), i(0)});
  load.emit(Op::GlobalLoadI64, {imm(8), i(2)});
  load.emit(Op::Return, {list({i(0), i(2)})});
  ModuleBuilder module = withTypes();
  module.function("store", store);
  module.function("load", load);
  Program program(module);
  auto fresh = program.call("load");
  ASSERT_TRUE(fresh);
  EXPECT_EQ((*fresh)[0].i32(), 0);
  EXPECT_EQ((*fresh)[1].i64(), 0);
  ASSERT_TRUE(program.call("store", {-5, int64_t{-6} << 33}));
  auto stored = program.call("load");
  EXPECT_EQ((*stored)[0].i32(), -5);
  EXPECT_EQ((*stored)[1].i64(), int64_t{-6} << 33);
  // Another context of the same program has globals of its own.
  Program other(module);
  EXPECT_EQ((*other.call("load"))[0].i32(), 0);
}

TEST(Globals, IndirectAccessIsCheckedWhenItRuns) {
  struct Form {
    Op load, store;
    bool wide;
  };
  for (Form form : {Form{Op::GlobalLoadIndirectI32, Op::GlobalStoreIndirectI32, false},
                    Form{Op::GlobalLoadIndirectI64, Op::GlobalStoreIndirectI64, true},
                    Form{Op::GlobalLoadIndirectF32, Op::GlobalStoreIndirectF32, false},
                    Form{Op::GlobalLoadIndirectF64, Op::GlobalStoreIndirectF64, true}}) {
    FunctionBuilder function(form.wide ? "0iI_I" : "0ii_i", 8, 0);
    function.block();
    function.emit(form.store, {i(0), i(form.wide ? 2 : 1)});
    function.emit(form.load, {i(0), i(6)});
    function.emit(Op::Return, {list({i(6)})});
    ModuleBuilder module = withTypes();
    module.function("f", function);
    Program program(module);
    auto run = [&](int offset) {
      return program.call("f", {offset, form.wide ? Value(int64_t{77}) : Value(77)});
    };
    int last = form.wide ? 24 : 28;
    auto good = run(last);
    ASSERT_TRUE(good) << good.error().toString();
    EXPECT_EQ(form.wide ? (*good)[0].i64() : (*good)[0].i32(), 77);
    for (int bad : {last + 1, 32, -4, INT32_MIN}) {
      auto refused = run(bad);
      ASSERT_FALSE(refused) << bad;
      EXPECT_EQ(refused.error().code(), StatusCode::OutOfRange);
    }
  }
}

TEST(Globals, ReferencesAreSharedMovedAndReplaced) {
  FunctionBuilder store("0r_v", 0, 1);
  store.block();
  store.emit(Op::GlobalStoreRef, {imm(1), imm(0), moved(0)});
  store.emit(Op::Return, {list({})});
  FunctionBuilder share("0v_r", 0, 1);
  share.block();
  share.emit(Op::GlobalLoadRef, {imm(1), imm(0), r(0)});
  share.emit(Op::Return, {list({moved(0)})});
  FunctionBuilder take("0v_r", 0, 1);
  take.block();
  take.emit(Op::GlobalLoadRef, {imm(1), imm(0), moved(0)});
  take.emit(Op::Return, {list({moved(0)})});
  FunctionBuilder indirect("0ir_r", 1, 2);
  indirect.block();
  indirect.emit(Op::GlobalStoreIndirectRef, {i(0), imm(0), r(0)});
  indirect.emit(Op::GlobalLoadIndirectRef, {i(0), imm(0), r(1)});
  indirect.emit(Op::Return, {list({moved(1)})});
  ModuleBuilder module = withTypes();
  module.function("store", store);
  module.function("share", share);
  module.function("take", take);
  module.function("indirect", indirect);
  int first = 0;
  int second = 0;
  {
    Program program(module);
    ASSERT_TRUE(program.call("store", {probe(first)}));
    EXPECT_EQ(first, 1);
    EXPECT_TRUE((*program.call("share"))[0].as<Probe>());
    EXPECT_EQ(first, 1);
    EXPECT_TRUE((*program.call("take"))[0].as<Probe>());
    EXPECT_EQ(first, 0);
    EXPECT_FALSE((*program.call("share"))[0].as<Probe>());
    ASSERT_TRUE(program.call("store", {probe(first)}));
    ASSERT_TRUE(program.call("store", {probe(second)}));
    EXPECT_EQ(first, 0);
    EXPECT_TRUE((*program.call("indirect", {2, probe(first)}))[0].as<Probe>());
    EXPECT_EQ(first, 1);
    EXPECT_FALSE(program.call("indirect", {3, Ref()}));
  }
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 0); // globals go with the context
}

TEST(Constants, RodataIsReadOnlyAndOutlivesTheModule) {
  FunctionBuilder function("0v_r", 0, 1);
  function.block();
  function.emit(Op::ConstRefRodata, {imm(0), r(0)});
  function.emit(Op::Return, {list({moved(0)})});
  FunctionBuilder zero("0r_r", 0, 1);
  zero.block();
  zero.emit(Op::ConstRefZero, {r(0)});
  zero.emit(Op::Return, {list({r(0)})});
  ModuleBuilder module = withTypes();
  module.rodata("metal-msl-fb");
  module.function("f", function);
  module.function("zero", zero);
  Value kept;
  int alive = 0;
  {
    Program program(module);
    auto results = program.call("f");
    ASSERT_TRUE(results);
    kept = (*results)[0];
    auto null = program.call("zero", {probe(alive)});
    ASSERT_TRUE(null);
    EXPECT_FALSE((*null)[0].rawRef().object);
    EXPECT_EQ(alive, 0);
  }
  ASSERT_TRUE(kept.as<Buffer>());
  EXPECT_EQ(kept.as<Buffer>()->text(), "metal-msl-fb");
  EXPECT_FALSE(kept.as<Buffer>()->writable());
}

TEST(Constants, HaveTheirBits) {
  FunctionBuilder function("0v_iIfFiIfF", 20, 0);
  function.block();
  function.emit(Op::ConstI32, {imm(0x80000001), i(0)});
  function.emit(Op::ConstI64, {imm(0x8000000000000001), i(2)});
  function.emit(Op::ConstF32, {real(-1.5), i(4)});
  function.emit(Op::ConstF64, {real(2.25), i(6)});
  for (uint16_t k : {8, 10, 12, 14})
    function.emit(Op::ConstI64, {imm(UINT64_MAX), i(k)});
  function.emit(Op::ConstI32Zero, {i(8)});
  function.emit(Op::ConstI64Zero, {i(10)});
  function.emit(Op::ConstF32Zero, {i(12)});
  function.emit(Op::ConstF64Zero, {i(14)});
  function.emit(Op::Return, {list({i(0), i(2), i(4), i(6), i(8), i(10), i(12), i(14)})});
  ModuleBuilder module = withTypes();
  module.function("f", function);
  Program program(module);
  auto results = program.call("f");
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].i32(), INT32_MIN + 1);
  EXPECT_EQ((*results)[1].i64(), INT64_MIN + 1);
  EXPECT_EQ((*results)[2].f32(), -1.5f);
  EXPECT_EQ((*results)[3].f64(), 2.25);
  EXPECT_EQ((*results)[4].i32(), 0);
  EXPECT_EQ((*results)[5].i64(), 0);
  EXPECT_EQ((*results)[6].f32(), 0.0f);
  EXPECT_EQ((*results)[7].f64(), 0.0);
}

TEST(Lists, GrowAndConvertBetweenNumbers) {
  // A list of i64: set from every kind of number, read as every kind.
  FunctionBuilder function("0iIfF_iiIfF", 30, 1);
  function.block();
  // arguments: i0, i2:3, i4, i6:7
  function.emit(Op::ConstI32, {imm(4), i(8)});
  function.emit(Op::ListAlloc, {imm(2), i(8), r(0)});
  function.emit(Op::ListReserve, {r(0), i(8)});
  function.emit(Op::ListResize, {r(0), i(8)});
  for (uint16_t k = 0; k < 4; ++k)
    function.emit(Op::ConstI32, {imm(k), i(static_cast<uint16_t>(10 + k))});
  function.emit(Op::ListSetI32, {r(0), i(10), i(0)});
  function.emit(Op::ListSetI64, {r(0), i(11), i(2)});
  function.emit(Op::ListSetF32, {r(0), i(12), i(4)});
  function.emit(Op::ListSetF64, {r(0), i(13), i(6)});
  function.emit(Op::ListSize, {r(0), i(14)});
  function.emit(Op::ListGetI32, {r(0), i(11), i(15)});
  function.emit(Op::ListGetI64, {r(0), i(10), i(16)});
  function.emit(Op::ListGetF32, {r(0), i(13), i(18)});
  function.emit(Op::ListGetF64, {r(0), i(12), i(20)});
  function.emit(Op::Return, {list({i(14), i(15), i(16), i(18), i(20)})});
  ModuleBuilder module = withTypes();
  module.type("i64");
  module.function("f", function);
  Program program(module);
  auto results = program.call("f", {-3, (int64_t{5} << 32) + 9, 2.75f, -8.5});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].i32(), 4);
  EXPECT_EQ((*results)[1].i32(), 9);
  EXPECT_EQ((*results)[2].i64(), -3);
  EXPECT_EQ((*results)[3].f32(), -8.0f);
  EXPECT_EQ((*results)[4].f64(), 2.0);
}

TEST(Lists, HoldReferencesOfTheirType) {
  FunctionBuilder function("0rir_r", 1, 3);
  function.block();
  function.emit(Op::ListSetRef, {r(0), i(0), moved(1)});
  function.emit(Op::ListGetRef, {r(0), i(0), imm(1), r(2)});
  function.emit(Op::Return, {list({moved(2)})});
  ModuleBuilder module = withTypes();
  module.function("f", function);
  Program program(module);
  RefPtr<List> list = List::create({ValueType::Ref, nullptr});
  ASSERT_TRUE(list->resize(2));
  RefPtr<Buffer> buffer = Buffer::fromText("x");
  auto got = program.call("f", {list, 1, buffer});
  ASSERT_TRUE(got) << got.error().toString();
  EXPECT_EQ((*got)[0].as<Buffer>(), buffer.get());
  // An element of another type reads as null.
  auto other = program.call("f", {list, 0, List::create({})});
  ASSERT_TRUE(other);
  EXPECT_FALSE((*other)[0].rawRef().object);
  for (int bad : {2, -1}) {
    auto outside = program.call("f", {list, bad, buffer});
    ASSERT_FALSE(outside);
    EXPECT_EQ(outside.error().code(), StatusCode::OutOfRange);
  }
  auto null = program.call("f", {Ref(), 0, buffer});
  ASSERT_FALSE(null);
  EXPECT_THAT(null.error().message(), HasSubstr("expected a vm.list, got a null"));
  RefPtr<List> buffers = List::create({ValueType::Ref, &RefTraits<Buffer>::type()});
  ASSERT_TRUE(buffers->resize(1));
  EXPECT_FALSE(program.call("f", {buffers, 0, List::create({})}));
}

// Element offsets: loads and stores count elements, not bytes.
TEST(Buffers, LoadAndStoreElements) {
  struct Form {
    Op load, store;
    int width;
    char letter;
    int64_t value, expected;
  };
  const Form forms[] = {
      {Op::BufferLoadI8U, Op::BufferStoreI8, 1, 'i', 0x1F0, 0xF0},
      {Op::BufferLoadI8S, Op::BufferStoreI8, 1, 'i', 0x1F0, -16},
      {Op::BufferLoadI16U, Op::BufferStoreI16, 2, 'i', 0x1F000, 0xF000},
      {Op::BufferLoadI16S, Op::BufferStoreI16, 2, 'i', 0x1F000, -4096},
      {Op::BufferLoadI32, Op::BufferStoreI32, 4, 'i', -123456, -123456},
      {Op::BufferLoadI64, Op::BufferStoreI64, 8, 'I', INT64_MIN + 5, INT64_MIN + 5},
      {Op::BufferLoadF32, Op::BufferStoreF32, 4, 'i', 0x40490FDB, 0x40490FDB},
      {Op::BufferLoadF64, Op::BufferStoreF64, 8, 'I', 0x400921FB54442D18, 0x400921FB54442D18},
  };
  for (const Form& form : forms) {
    SCOPED_TRACE(bytecode::findOp(static_cast<uint32_t>(form.load))->name);
    FunctionBuilder function(std::string("0rI") + form.letter + "_" + form.letter, 8, 1);
    function.block();
    function.emit(form.store, {r(0), i(0), i(2)});
    function.emit(form.load, {r(0), i(0), i(4)});
    function.emit(Op::Return, {list({i(4)})});
    ModuleBuilder module = withTypes();
    module.function("f", function);
    Program program(module);
    RefPtr<Buffer> buffer = *Buffer::allocate(25);
    auto run = [&](RefPtr<Buffer> target, int64_t offset) {
      return program.call(
          "f", {target, offset,
                form.letter == 'i' ? Value(static_cast<int32_t>(form.value)) : Value(form.value)});
    };
    auto results = run(buffer, 2);
    ASSERT_TRUE(results) << results.error().toString();
    EXPECT_EQ(form.letter == 'i' ? (*results)[0].i32() : (*results)[0].i64(), form.expected);
    EXPECT_EQ(
        std::memcmp(buffer->data() + 2 * form.width, &form.value, static_cast<size_t>(form.width)),
        0);
    EXPECT_TRUE(run(buffer, 25 / form.width - 1));
    for (int64_t bad : {int64_t{25} / form.width, int64_t{-1}, INT64_MAX, INT64_MIN}) {
      auto outside = run(buffer, bad);
      ASSERT_FALSE(outside) << bad;
      EXPECT_EQ(outside.error().code(), StatusCode::OutOfRange);
    }
    auto read_only = run(Buffer::fromText("0123456789012345678901234"), 0);
    ASSERT_FALSE(read_only);
    EXPECT_EQ(read_only.error().code(), StatusCode::PermissionDenied);
    EXPECT_FALSE(run(nullptr, 0));
  }
}

TEST(Buffers, FillElements) {
  struct Form {
    Op op;
    size_t width;
    char letter;
  };
  for (Form form : {Form{Op::BufferFillI8, 1, 'i'}, Form{Op::BufferFillI16, 2, 'i'},
                    Form{Op::BufferFillI32, 4, 'i'}, Form{Op::BufferFillI64, 8, 'I'},
                    Form{Op::BufferFillF32, 4, 'i'}, Form{Op::BufferFillF64, 8, 'I'}}) {
    FunctionBuilder function(std::string("0rII") + form.letter + "_v", 8, 1);
    function.block();
    function.emit(form.op, {r(0), i(0), i(2), i(4)});
    function.emit(Op::Return, {list({})});
    ModuleBuilder module = withTypes();
    module.function("f", function);
    Program program(module);
    RefPtr<Buffer> buffer = *Buffer::allocate(41);
    int64_t pattern = 0x1122334455667788;
    auto run = [&](int64_t offset, int64_t count) {
      return program.call(
          "f", {buffer, offset, count,
                form.letter == 'i' ? Value(static_cast<int32_t>(pattern)) : Value(pattern)});
    };
    ASSERT_TRUE(run(1, 3));
    std::vector<std::byte> expected(41);
    for (size_t k = 1; k < 4; ++k)
      std::memcpy(expected.data() + k * form.width, &pattern, form.width);
    EXPECT_TRUE(std::ranges::equal(buffer->bytes(), expected));
    EXPECT_TRUE(run(static_cast<int64_t>(41 / form.width), 0));
    EXPECT_FALSE(run(static_cast<int64_t>(41 / form.width), 1));
    EXPECT_FALSE(run(1, INT64_MAX));
    EXPECT_FALSE(run(-1, 1));
  }
}

TEST(Buffers, AllocateCloneCopyCompareHash) {
  FunctionBuilder function("0rII_rrIiiI", 30, 3);
  function.block();
  // i0:1 offset, i2:3 length
  function.emit(Op::ConstI32, {imm(64), i(4)});
  function.emit(Op::BufferAlloc, {i(2), i(4), r(1)});
  function.emit(Op::BufferClone, {r(0), i(0), i(2), i(4), r(2)});
  function.emit(Op::ConstI64Zero, {i(6)});
  function.emit(Op::BufferCompare, {r(1), i(6), r(2), i(6), i(2), i(8)});
  function.emit(Op::BufferCopy, {r(0), i(0), r(1), i(6), i(2)});
  function.emit(Op::BufferCompare, {r(1), i(6), r(2), i(6), i(2), i(9)});
  function.emit(Op::BufferLength, {r(1), i(10)});
  function.emit(Op::BufferHash, {r(1), i(6), i(2), i(12)});
  function.emit(Op::Return, {list({moved(1), moved(2), i(10), i(8), i(9), i(12)})});
  ModuleBuilder module = withTypes();
  module.function("f", function);
  Program program(module);
  RefPtr<Buffer> source = Buffer::fromText("0123456789");
  auto results = program.call("f", {source, int64_t{3}, int64_t{5}});
  ASSERT_TRUE(results) << results.error().toString();
  EXPECT_EQ((*results)[0].as<Buffer>()->text(), "34567");
  EXPECT_EQ((*results)[1].as<Buffer>()->text(), "34567");
  EXPECT_TRUE((*results)[1].as<Buffer>()->writable());
  EXPECT_EQ((*results)[2].i64(), 5);
  EXPECT_EQ((*results)[3].i32(), 0); // zeros before
  EXPECT_EQ((*results)[4].i32(), 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*results)[0].as<Buffer>()->data()) % 64, 0u);
  for (auto [offset, length] :
       {std::pair<int64_t, int64_t>{6, 5}, {-1, 1}, {0, -1}, {11, 0}, {0, INT64_MAX}})
    EXPECT_FALSE(program.call("f", {source, offset, length})) << offset << " " << length;
}

// The vectors of the paper's reference program: key 00..0F, message 00..n-1.
TEST(Buffers, HashIsSipHash24) {
  std::vector<std::byte> message(15);
  for (size_t k = 0; k < message.size(); ++k)
    message[k] = static_cast<std::byte>(k);
  EXPECT_EQ(interpreter::siphash24({}, 0x0706050403020100, 0x0F0E0D0C0B0A0908),
            0x726FDB47DD0E0E31u);
  EXPECT_EQ(interpreter::siphash24(message, 0x0706050403020100, 0x0F0E0D0C0B0A0908),
            0xA129CA6149BE45E5u);
}

TEST(Discard, ReleasesRegistersAndMovedOperandsOfTraces) {
  FunctionBuilder function("0rrr_v", 1, 3);
  function.block();
  function.emit(Op::DiscardRefs, {list({moved(0), r(1)})});
  function.emit(Op::Trace, {text("event"), list({moved(2)})});
  function.emit(Op::Fail, {i(0), text("never")});
  Label rest = function.label();
  function.block(rest);
  function.emit(Op::Return, {list({})});
  ModuleBuilder module = withTypes();
  module.function("f", function);
  Program program(module);
  int alive = 0;
  ASSERT_TRUE(program.call("f", {probe(alive), probe(alive), probe(alive)}));
  EXPECT_EQ(alive, 0);
}

} // namespace
} // namespace bessemer::vm

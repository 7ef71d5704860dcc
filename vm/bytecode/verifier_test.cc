// Every rule of the verifier: a function that breaks it, and what the error says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "vm/testing/harness.h"

namespace bessemer::vm {
namespace {

using namespace testing;
using ::testing::HasSubstr;

struct Broken {
  std::string name;
  std::string message; // part of it
  std::function<void(FunctionBuilder&)> body;
  std::string signature = "0iIrr_v";
  int16_t words = 8; // i0, i2:3 are arguments
  int16_t refs = 4;
  uint32_t requirements = bytecode::kSupportedFeatures;
};

void finish(FunctionBuilder& f) { f.emit(Op::Return, {list({})}); }

const Broken kBroken[] = {
    {"NoBlockAtTheStart", "outside of a block",
     [](FunctionBuilder& f) {
       finish(f);
       f.block();
       finish(f);
     }},
    {"OperationAfterTheEndOfABlock", "outside of a block",
     [](FunctionBuilder& f) {
       f.block();
       finish(f);
       f.emit(Op::ConstI32Zero, {i(0)});
     }},
    {"BlockInsideABlock", "before the last one has ended",
     [](FunctionBuilder& f) {
       f.block();
       f.block();
       finish(f);
     }},
    {"NoTerminator", "the last block has no end",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::ConstI32Zero, {i(0)});
     }},
    {"UnknownOperation", "unknown operation 222",
     [](FunctionBuilder& f) {
       f.block();
       f.raw({222});
     }},
    {"UnknownExtension", "unknown operation",
     [](FunctionBuilder& f) {
       f.block();
       f.raw({0xE0, 0xFF});
     }},
    {"TruncatedOperands", "runs past the end",
     [](FunctionBuilder& f) {
       f.block();
       f.raw({static_cast<uint8_t>(Op::AddI32), 0, 0, 1});
     }},
    {"TruncatedList", "runs past the end",
     [](FunctionBuilder& f) {
       f.block();
       f.raw({static_cast<uint8_t>(Op::DiscardRefs), 0xFF, 0xFF, 0, 0x80});
     }},
    {"WordOutsideOfTheBank", "register i8 is outside of the declared 8",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::ConstI32Zero, {i(8)});
       finish(f);
     }},
    {"PairOutsideOfTheBank", "outside of the declared",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::ConstI64Zero, {i(8)});
       finish(f);
     }},
    {"OddPair", "begins no pair",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::AddI64, {i(2), i(3), i(4)});
       finish(f);
     }},
    {"ReferenceWhereANumberIs", "register r0 is a reference",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::AddI32, {i(0), r(0), i(1)});
       finish(f);
     }},
    {"NumberWhereAReferenceIs", "register i0 is not a reference",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::CmpNzRef, {i(0), i(1)});
       finish(f);
     }},
    {"ReferenceOutsideOfTheBank", "register r4 is outside of the declared 4",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::CmpNzRef, {r(4), i(1)});
       finish(f);
     }},
    {"MoveWhereNoneIsAllowed", "may not be moved",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::CmpNzRef, {moved(0), i(1)});
       finish(f);
     }},
    {"BranchIntoABlock", "goes to 2, where no block begins",
     [](FunctionBuilder& f) {
       f.block();
       f.raw({static_cast<uint8_t>(Op::Br), 2, 0, 0, 0, 0, 0});
     }},
    {"BranchPastTheEnd", "where no block begins",
     [](FunctionBuilder& f) {
       f.block();
       f.raw({static_cast<uint8_t>(Op::Br), 0xF0, 0xFF, 0xFF, 0xFF, 0, 0});
     }},
    {"CopyBetweenBanks", "register r0 is a reference",
     [](FunctionBuilder& f) {
       Label next = f.label();
       f.block();
       f.emit(Op::Br, {to(next, {i(0), r(0)})});
       f.block(next);
       finish(f);
     }},
    {"GlobalPastTheEnd", "global at 30 is outside of the declared 32",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::GlobalLoadI32, {imm(30), i(0)});
       finish(f);
     }},
    {"WideGlobalPastTheEnd", "global at 28",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::GlobalStoreI64, {imm(28), i(2)});
       finish(f);
     }},
    {"GlobalReferencePastTheEnd", "no global reference 3",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::GlobalLoadRef, {imm(3), imm(0), r(0)});
       finish(f);
     }},
    {"NoSuchType", "no type 9",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::CastAnyRef, {r(0), imm(9), r(1)});
       finish(f);
     }},
    {"NumberTypeForAReference", "type i32 is not a reference",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::CastAnyRef, {r(0), imm(2), r(1)});
       finish(f);
     }},
    {"NoSuchRodata", "no rodata 1",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::ConstRefRodata, {imm(1), r(0)});
       finish(f);
     }},
    {"NoSuchFunction", "no function 7",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::Call, {imm(7), list({}), list({})});
       finish(f);
     }},
    {"NoSuchImport", "no import 5",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::Call, {import(5), list({}), list({})});
       finish(f);
     }},
    {"ImportResolvedOfAFunction", "is not an import",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::ImportResolved, {imm(0), i(0)});
       finish(f);
     }},
    {"TooFewArguments", "1 arguments where the signature has 2",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::Call, {import(0), list({i(0)}), list({i(1)})});
       finish(f);
     }},
    {"ArgumentOfTheWrongBank", "register r0 is a reference",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::Call, {import(0), list({r(0), i(2)}), list({i(1)})});
       finish(f);
     }},
    {"ArgumentThatIsNoPair", "begins no pair",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::Call, {import(0), list({i(0), i(3)}), list({i(1)})});
       finish(f);
     }},
    {"TooManyResults", "2 results where the signature has 1",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::Call, {import(0), list({i(0), i(2)}), list({i(1), i(4)})});
       finish(f);
     }},
    {"PlainCallOfAVariadicImport", "takes variadic arguments",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::Call, {import(1), list({i(0)}), list({})});
       finish(f);
     }},
    {"WrongNumberOfSegments", "1 segments where the signature has 2",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::CallVariadic, {import(1), segments({0xFFFF}), list({i(0)}), list({})});
       finish(f);
     }},
    {"SpanWithoutACount", "segment 1 does not match",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::CallVariadic, {import(1), segments({0xFFFF, 0xFFFF}), list({i(0)}), list({})});
       finish(f);
     }},
    {"SpanLongerThanTheCall", "segment 1 has more values than the call",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::CallVariadic,
              {import(1), segments({0xFFFF, 9}), list({i(0), r(0), i(1)}), list({})});
       finish(f);
     }},
    {"SpanOfTheWrongBank", "register i1 is not a reference",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::CallVariadic,
              {import(1), segments({0xFFFF, 1}), list({i(0), i(1), i(2)}), list({})});
       finish(f);
     }},
    {"ReturnOfTheWrongNumber", "1 results where the signature has 0",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::Return, {list({i(0)})});
     }},
    {"SwitchOverTheWrongBank", "is a reference, not a number",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::SwitchI32, {i(0), i(1), list({i(0), r(0)}), i(1)});
       finish(f);
     }},
    {"DiscardOfANumber", "is not a reference",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::DiscardRefs, {list({i(0)})});
       finish(f);
     }},
    {"ArgumentsThatDoNotFit", "the arguments do not fit",
     [](FunctionBuilder& f) {
       f.block();
       finish(f);
     },
     "0iI_v", 3, 0},
    {"FloatWithoutTheFeature", "does not declare that it needs floating point",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::ConstF32Zero, {i(0)});
       finish(f);
     },
     "0v_v", 2, 0, bytecode::kFeatureF64},
    {"DoubleWithoutTheFeature", "does not declare that it needs floating point",
     [](FunctionBuilder& f) {
       f.block();
       f.emit(Op::ConstF64Zero, {i(0)});
       finish(f);
     },
     "0v_v", 2, 0, bytecode::kFeatureF32},
    {"UnknownFeature", "needs features",
     [](FunctionBuilder& f) {
       f.block();
       finish(f);
     },
     "0v_v", 2, 0, 64},
    {"VariadicFunction", "variadic arguments are for imports only",
     [](FunctionBuilder& f) {
       f.block();
       finish(f);
     },
     "0CiD_v", 2, 0},
    {"NegativeRegisterCount", "bad number of registers",
     [](FunctionBuilder& f) {
       f.block();
       finish(f);
     },
     "0v_v", -1, 0},
    {"BadSignature", "calling convention '0x_v'",
     [](FunctionBuilder& f) {
       f.block();
       finish(f);
     },
     "0x_v", 2, 0},
};

class Verifier : public ::testing::TestWithParam<size_t> {};

TEST_P(Verifier, RefusesWithThePlaceAndTheReason) {
  const Broken& test = kBroken[GetParam()];
  FunctionBuilder function(test.signature, test.words, test.refs, test.requirements);
  test.body(function);
  ModuleBuilder module("test");
  module.type("!vm.opaque");
  module.type("!vm.buffer");
  module.type("i32");
  module.import("other.plain", "0iI_i");
  module.import("other.variadic", "0iCrID_v");
  module.rodata("data");
  module.globals(32, 3);
  module.function("f", function);
  Instance instance;
  auto loaded = load(instance, module.finish());
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message(), HasSubstr(test.message));
  EXPECT_THAT(loaded.error().message(), HasSubstr("test: function 0"));
  EXPECT_TRUE(loaded.error().code() == StatusCode::InvalidArgument ||
              loaded.error().code() == StatusCode::Unimplemented);
}

INSTANTIATE_TEST_SUITE_P(Rules, Verifier, ::testing::Range(size_t{0}, std::size(kBroken)),
                         [](const auto& info) { return kBroken[info.param].name; });

// The same module around a function that breaks nothing.
TEST(VerifierAccepts, AWholeFunction) {
  FunctionBuilder function("0iIrr_v", 8, 4);
  function.block();
  function.emit(Op::CallVariadic, {import(0), segments({0xFFFF, 2}),
                                   list({i(0), r(0), i(2), moved(1), i(4)}), list({})});
  finish(function);
  ModuleBuilder module("test");
  module.import("other.variadic", "0iCrID_v");
  module.function("f", function);
  Instance instance;
  auto loaded = load(instance, module.finish());
  EXPECT_TRUE(loaded) << loaded.error().toString();
}

} // namespace
} // namespace bessemer::vm

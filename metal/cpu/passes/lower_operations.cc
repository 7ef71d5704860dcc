#include "metal/cpu/passes/lower_operations.h"

#include "metal/air/intrinsic.h"
#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/passes/lower_matrices.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

#include <optional>

using namespace llvm;
using bessemer::air::Operation;
using bessemer::air::OperationGroup;

namespace bessemer::metal::cpu {
namespace {

class OperationLowering {
public:
  explicit OperationLowering(Function& function)
      : function_(function), module_(*function.getParent()), builder_(function.getContext()) {}

  Error run() {
    SmallVector<CallInst*, 64> calls;
    for (BasicBlock& block : function_)
      for (Instruction& instruction : block)
        if (auto* call = dyn_cast<CallInst>(&instruction))
          calls.push_back(call);
    for (CallInst* call : calls) {
      if (isa<AssumeInst>(call)) {
        call->eraseFromParent();
        continue;
      }
      if (isa<IntrinsicInst>(call))
        continue;
      if (!call->getCalledFunction())
        return createStringError("indirect calls are not supported");
      StringRef name = spmd::callee_name(*call);
      if (name.starts_with("spmd."))
        continue;
      if (Error error = lower(*call, name))
        return error;
    }
    return Error::success();
  }

private:
  Error lower(CallInst& call, StringRef name) {
    std::optional<air::Intrinsic> intrinsic = air::parse_intrinsic(name);
    if (!intrinsic)
      return createStringError("function '%s' is not known", name.str().c_str());
    builder_.SetInsertPoint(&call);
    builder_.setFastMathFlags(isa<FPMathOperator>(call) ? call.getFastMathFlags()
                                                        : FastMathFlags());
    switch (intrinsic->group) {
    case OperationGroup::Math:
    case OperationGroup::Integer:
    case OperationGroup::Convert:
      if (Value* value = lower_value(call, *intrinsic))
        return replace(call, value);
      break;
    case OperationGroup::Simdgroup:
    case OperationGroup::Quadgroup:
      return split_cross_lane(call, *intrinsic);
    case OperationGroup::Barrier:
      return Error::success();
    case OperationGroup::Atomic:
      if (intrinsic->operation == Operation::AtomicCompareExchange)
        return lower_compare_exchange(call, *intrinsic);
      return Error::success();
    case OperationGroup::Thread: {
      Value* index = builder_.getInt32(32);
      if (intrinsic->operation == Operation::GetThreadIndexInSimdgroup)
        index = builder_.CreateAnd(
            builder_.CreateCall(spmd::declare(module_, spmd::thread_index, builder_.getInt32Ty())),
            31);
      return replace(call, builder_.CreateZExtOrTrunc(index, call.getType()));
    }
    case OperationGroup::Hint:
      if (intrinsic->operation == Operation::IsUniform)
        return replace(call, builder_.getTrue());
      if (intrinsic->operation == Operation::NormalizePredicate)
        return replace(call, builder_.CreateZExt(builder_.CreateIsNotNull(call.getArgOperand(0)),
                                                 call.getType()));
      break;
    case OperationGroup::Matrix:
      return Error::success(); // lower_matrices
    case OperationGroup::Texture:
      return createStringError("'%s': textures are not supported", name.str().c_str());
    }
    return createStringError("operation '%s' is not supported", name.str().c_str());
  }

  Error replace(CallInst& call, Value* value) {
    if (call.getType() != value->getType())
      return createStringError("operation '%s' has an unexpected type",
                               spmd::callee_name(call).str().c_str());
    call.replaceAllUsesWith(value);
    call.eraseFromParent();
    return Error::success();
  }

  // ---- operations on whole vectors, else one element after the other

  Value* lower_value(CallInst& call, const air::Intrinsic& intrinsic) {
    SmallVector<Value*, 4> arguments(call.args());
    Type* type = call.getType();
    switch (intrinsic.operation) {
    case Operation::Dot:
      return dot(arguments[0], arguments[1]);
    case Operation::All:
      return reduce_bits(arguments[0], true);
    case Operation::Any:
      return reduce_bits(arguments[0], false);
    case Operation::PackUnorm4x8:
    case Operation::PackUnorm2x16:
      return pack(arguments[0], type, false);
    case Operation::PackSnorm4x8:
    case Operation::PackSnorm2x16:
      return pack(arguments[0], type, true);
    case Operation::UnpackUnorm4x8:
    case Operation::UnpackUnorm2x16:
      return unpack(arguments[0], type, false);
    case Operation::UnpackSnorm4x8:
    case Operation::UnpackSnorm2x16:
      return unpack(arguments[0], type, true);
    default:
      break;
    }
    auto* vector = dyn_cast<FixedVectorType>(type);
    if (!vector)
      return lower_element(intrinsic, arguments, type);
    Value* result = PoisonValue::get(type);
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      SmallVector<Value*, 4> elements;
      for (Value* argument : arguments) {
        if (argument->getType()->isPointerTy())
          return nullptr;
        elements.push_back(argument->getType()->isVectorTy()
                               ? builder_.CreateExtractElement(argument, i)
                               : argument);
      }
      Value* element = lower_element(intrinsic, elements, vector->getElementType());
      if (!element)
        return nullptr;
      result = builder_.CreateInsertElement(result, element, i);
    }
    return result;
  }

  Value* dot(Value* a, Value* b) {
    auto* vector = dyn_cast<FixedVectorType>(a->getType());
    if (!vector)
      return nullptr;
    Value* sum = nullptr;
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      Value *x = builder_.CreateExtractElement(a, i), *y = builder_.CreateExtractElement(b, i);
      sum = sum ? builder_.CreateIntrinsic(Intrinsic::fmuladd, {x->getType()}, {x, y, sum})
                : builder_.CreateFMul(x, y);
    }
    return sum;
  }

  Value* reduce_bits(Value* bits, bool all) {
    auto* vector = dyn_cast<FixedVectorType>(bits->getType());
    if (!vector)
      return builder_.CreateIsNotNull(bits);
    Value* result = nullptr;
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      Value* bit = builder_.CreateIsNotNull(builder_.CreateExtractElement(bits, i));
      result = !result ? bit
               : all   ? builder_.CreateAnd(result, bit)
                       : builder_.CreateOr(result, bit);
    }
    return result;
  }

  Value* pack(Value* value, Type* type, bool is_signed) {
    unsigned count = cast<FixedVectorType>(value->getType())->getNumElements();
    unsigned bits = 32 / count;
    double scale = double((1u << (bits - is_signed)) - 1);
    Value* result = builder_.getInt32(0);
    for (unsigned i = 0; i < count; ++i) {
      Value* element =
          builder_.CreateFPExt(builder_.CreateExtractElement(value, i), builder_.getFloatTy());
      element = clamp_float(element, is_signed ? -1.0 : 0.0, 1.0);
      element = builder_.CreateUnaryIntrinsic(Intrinsic::rint,
                                              builder_.CreateFMul(element, number(element, scale)));
      Value* integer = builder_.CreateFPToSI(element, builder_.getInt32Ty());
      integer = builder_.CreateAnd(integer, (uint64_t(1) << bits) - 1);
      result = builder_.CreateOr(result, builder_.CreateShl(integer, i * bits));
    }
    return builder_.CreateZExtOrTrunc(result, type);
  }

  Value* unpack(Value* value, Type* type, bool is_signed) {
    auto* vector = cast<FixedVectorType>(type);
    unsigned count = vector->getNumElements(), bits = 32 / count;
    double scale = 1.0 / double((1u << (bits - is_signed)) - 1);
    Value* result = PoisonValue::get(type);
    for (unsigned i = 0; i < count; ++i) {
      Value* integer = builder_.CreateShl(value, 32 - bits * (i + 1));
      Value* element;
      if (is_signed) {
        element =
            builder_.CreateSIToFP(builder_.CreateAShr(integer, 32 - bits), builder_.getFloatTy());
        element = builder_.CreateFMul(element, number(element, scale));
        element = builder_.CreateMaxNum(element, number(element, -1.0));
      } else {
        element =
            builder_.CreateUIToFP(builder_.CreateLShr(integer, 32 - bits), builder_.getFloatTy());
        element = builder_.CreateFMul(element, number(element, scale));
      }
      result = builder_.CreateInsertElement(
          result, builder_.CreateFPTrunc(element, vector->getElementType()), i);
    }
    return result;
  }

  // ---- one element

  Value* number(Value* like, double value) { return ConstantFP::get(like->getType(), value); }
  Value* unary(Intrinsic::ID id, Value* a) { return builder_.CreateUnaryIntrinsic(id, a); }
  Value* binary(Intrinsic::ID id, Value* a, Value* b) {
    return builder_.CreateBinaryIntrinsic(id, a, b);
  }
  Value* clamp_float(Value* value, double low, double high) {
    return binary(Intrinsic::minnum, binary(Intrinsic::maxnum, value, number(value, low)),
                  number(value, high));
  }

  Value* lower_element(const air::Intrinsic& intrinsic, ArrayRef<Value*> arguments, Type* type) {
    if (intrinsic.group == OperationGroup::Convert) {
      if (intrinsic.operation != Operation::Convert || intrinsic.types.size() < 2)
        return nullptr;
      return convert(arguments[0], type, intrinsic.types[0].sign, intrinsic.types[1].sign);
    }
    bool is_float = arguments[0]->getType()->isFloatingPointTy();
    if (!is_float)
      return lower_integer(intrinsic, arguments, type);
    if (arguments[0]->getType()->isFloatTy())
      return lower_float(intrinsic, arguments, type);
    // Narrow floats are computed in single precision and rounded once.
    SmallVector<Value*, 4> wide;
    for (Value* argument : arguments)
      wide.push_back(argument->getType()->isFloatingPointTy()
                         ? builder_.CreateFPExt(argument, builder_.getFloatTy())
                         : argument);
    Type* wide_type = type->isFloatingPointTy() ? builder_.getFloatTy() : type;
    Value* result = lower_float(intrinsic, wide, wide_type);
    if (!result || !type->isFloatingPointTy())
      return result;
    return builder_.CreateFPTrunc(result, type);
  }

  Value* lower_float(const air::Intrinsic& intrinsic, ArrayRef<Value*> a, Type* type) {
    FastMathFlags flags = builder_.getFastMathFlags();
    IRBuilderBase::FastMathFlagGuard guard(builder_);
    if (intrinsic.fast) {
      flags.setFast();
      flags.setNoInfs(false);
      // Only where the programmer asked for it by name: fast::min and fast::max.
      flags.setNoNaNs(intrinsic.operation == Operation::FMin ||
                      intrinsic.operation == Operation::FMax);
      builder_.setFastMathFlags(flags);
    }
    switch (intrinsic.operation) {
    case Operation::FAbs:
      return unary(Intrinsic::fabs, a[0]);
    case Operation::Floor:
      return unary(Intrinsic::floor, a[0]);
    case Operation::Ceil:
      return unary(Intrinsic::ceil, a[0]);
    case Operation::Trunc:
      return unary(Intrinsic::trunc, a[0]);
    case Operation::Rint:
      return unary(Intrinsic::rint, a[0]);
    case Operation::Round:
      return unary(Intrinsic::round, a[0]);
    case Operation::Sqrt:
      return unary(Intrinsic::sqrt, a[0]);
    case Operation::Rsqrt:
      // Correctly rounded, which two roundings to float are not.
      if (!intrinsic.fast && type->getScalarType()->isFloatTy()) {
        Type* wide = type->getWithNewType(builder_.getDoubleTy());
        Value* root =
            builder_.CreateIntrinsic(Intrinsic::sqrt, {wide}, {builder_.CreateFPExt(a[0], wide)});
        return builder_.CreateFPTrunc(builder_.CreateFDiv(ConstantFP::get(wide, 1.0), root), type);
      }
      return builder_.CreateFDiv(number(a[0], 1.0), unary(Intrinsic::sqrt, a[0]));
    case Operation::Fma:
      return builder_.CreateIntrinsic(Intrinsic::fma, {type}, {a[0], a[1], a[2]});
    case Operation::FMin:
      return binary(Intrinsic::minnum, a[0], a[1]);
    case Operation::FMax:
      return binary(Intrinsic::maxnum, a[0], a[1]);
    case Operation::FMin3:
      return binary(Intrinsic::minnum, binary(Intrinsic::minnum, a[0], a[1]), a[2]);
    case Operation::FMax3:
      return binary(Intrinsic::maxnum, binary(Intrinsic::maxnum, a[0], a[1]), a[2]);
    case Operation::FMedian3: {
      Value *low = binary(Intrinsic::minnum, a[0], a[1]),
            *high = binary(Intrinsic::maxnum, a[0], a[1]);
      return binary(Intrinsic::maxnum, low, binary(Intrinsic::minnum, high, a[2]));
    }
    case Operation::Clamp:
      return binary(Intrinsic::minnum, binary(Intrinsic::maxnum, a[0], a[1]), a[2]);
    case Operation::Saturate:
      return clamp_float(a[0], 0.0, 1.0);
    case Operation::CopySign:
      return binary(Intrinsic::copysign, a[0], a[1]);
    case Operation::Divide:
      return builder_.CreateFDiv(a[0], a[1]);
    case Operation::Fdim: {
      Value* difference = builder_.CreateFSub(a[0], a[1]);
      return builder_.CreateSelect(builder_.CreateFCmpOLE(a[0], a[1]), number(a[0], 0.0),
                                   difference);
    }
    case Operation::Sign: {
      Value* one = binary(Intrinsic::copysign, number(a[0], 1.0), a[0]);
      Value* zero = builder_.CreateFCmpUEQ(a[0], number(a[0], 0.0)); // also NaN
      Value* signed_zero =
          builder_.CreateSelect(builder_.CreateFCmpUNO(a[0], a[0]), number(a[0], 0.0), a[0]);
      return builder_.CreateSelect(zero, signed_zero, one);
    }
    case Operation::Step:
      return builder_.CreateSelect(builder_.CreateFCmpOLT(a[1], a[0]), number(a[0], 0.0),
                                   number(a[0], 1.0));
    case Operation::Mix:
      return builder_.CreateFAdd(a[0], builder_.CreateFMul(builder_.CreateFSub(a[1], a[0]), a[2]));
    case Operation::SmoothStep: {
      Value* t =
          builder_.CreateFDiv(builder_.CreateFSub(a[2], a[0]), builder_.CreateFSub(a[1], a[0]));
      t = clamp_float(t, 0.0, 1.0);
      Value* inner = builder_.CreateFSub(number(t, 3.0), builder_.CreateFMul(number(t, 2.0), t));
      return builder_.CreateFMul(builder_.CreateFMul(t, t), inner);
    }
    case Operation::Fract: {
      Value* part = builder_.CreateFSub(a[0], unary(Intrinsic::floor, a[0]));
      Value* bounded =
          binary(Intrinsic::minnum, part, ConstantFP::get(type, APFloat(0x1.fffffep-1f)));
      Value* infinite =
          builder_.CreateFCmpOEQ(unary(Intrinsic::fabs, a[0]), ConstantFP::getInfinity(type));
      Value* checked = builder_.CreateSelect(infinite, number(a[0], 0.0), bounded);
      return builder_.CreateSelect(builder_.CreateFCmpUNO(a[0], a[0]), a[0], checked);
    }
    default:
      break;
    }
    // A function of the built-in library.
    bool has_fast = false;
    switch (intrinsic.operation) {
    case Operation::Exp:
    case Operation::Exp2:
    case Operation::Exp10:
    case Operation::Log:
    case Operation::Log2:
    case Operation::Log10:
    case Operation::Sin:
    case Operation::Cos:
    case Operation::Tan:
    case Operation::SinCos:
    case Operation::Pow:
    case Operation::Powr:
      has_fast = intrinsic.fast;
      break;
    default:
      break;
    }
    std::string name = ("bessemer.math." + Twine(has_fast ? "fast_" : "") +
                        air::operation_name(intrinsic.operation))
                           .str();
    SmallVector<Type*, 4> types;
    SmallVector<Value*, 4> values;
    for (Value* argument : a) {
      types.push_back(argument->getType());
      values.push_back(argument);
    }
    FunctionCallee callee =
        module_.getOrInsertFunction(name, FunctionType::get(type, types, false));
    return builder_.CreateCall(callee, values);
  }

  Value* lower_integer(const air::Intrinsic& intrinsic, ArrayRef<Value*> a, Type* type) {
    bool is_signed = !intrinsic.types.empty() && intrinsic.types[0].sign == 's';
    Intrinsic::ID min = is_signed ? Intrinsic::smin : Intrinsic::umin,
                  max = is_signed ? Intrinsic::smax : Intrinsic::umax;
    unsigned width = type->getIntegerBitWidth();
    Type* wide = builder_.getIntNTy(width * 2);
    auto extend = [&](Value* value) { return builder_.CreateIntCast(value, wide, is_signed); };
    auto high = [&](Value* x, Value* y) {
      Value* product = builder_.CreateMul(extend(x), extend(y));
      return builder_.CreateTrunc(builder_.CreateLShr(product, width), type);
    };
    auto to_type = [&](Value* value) { return builder_.CreateZExtOrTrunc(value, type); };
    switch (intrinsic.operation) {
    case Operation::Abs:
      return is_signed
                 ? builder_.CreateIntrinsic(Intrinsic::abs, {type}, {a[0], builder_.getFalse()})
                 : a[0];
    case Operation::AbsDiff:
      return builder_.CreateSub(binary(max, a[0], a[1]), binary(min, a[0], a[1]));
    case Operation::AddSat:
      return binary(is_signed ? Intrinsic::sadd_sat : Intrinsic::uadd_sat, a[0], a[1]);
    case Operation::SubSat:
      return binary(is_signed ? Intrinsic::ssub_sat : Intrinsic::usub_sat, a[0], a[1]);
    case Operation::Min:
      return binary(min, a[0], a[1]);
    case Operation::Max:
      return binary(max, a[0], a[1]);
    case Operation::Min3:
      return binary(min, binary(min, a[0], a[1]), a[2]);
    case Operation::Max3:
      return binary(max, binary(max, a[0], a[1]), a[2]);
    case Operation::Median3:
      return binary(max, binary(min, a[0], a[1]), binary(min, binary(max, a[0], a[1]), a[2]));
    case Operation::Clamp:
      return binary(min, binary(max, a[0], a[1]), a[2]);
    case Operation::Clz:
      return builder_.CreateIntrinsic(Intrinsic::ctlz, {type}, {a[0], builder_.getFalse()});
    case Operation::Ctz:
      return builder_.CreateIntrinsic(Intrinsic::cttz, {type}, {a[0], builder_.getFalse()});
    case Operation::Popcount:
      return unary(Intrinsic::ctpop, a[0]);
    case Operation::ReverseBits:
      return unary(Intrinsic::bitreverse, a[0]);
    case Operation::Rotate:
      return builder_.CreateIntrinsic(Intrinsic::fshl, {type}, {a[0], a[0], to_type(a[1])});
    case Operation::MulHi:
      return high(a[0], a[1]);
    case Operation::MadHi:
      return builder_.CreateAdd(high(a[0], a[1]), a[2]);
    case Operation::Mul24:
    case Operation::Mad24: {
      auto low = [&](Value* value) {
        value = builder_.CreateShl(value, 8);
        return is_signed ? builder_.CreateAShr(value, 8) : builder_.CreateLShr(value, 8);
      };
      Value* product = builder_.CreateMul(low(a[0]), low(a[1]));
      return intrinsic.operation == Operation::Mul24 ? product : builder_.CreateAdd(product, a[2]);
    }
    case Operation::MadSat: {
      Value* sum = builder_.CreateAdd(builder_.CreateMul(extend(a[0]), extend(a[1])), extend(a[2]));
      APInt top = is_signed ? APInt::getSignedMaxValue(width).sext(2 * width)
                            : APInt::getMaxValue(width).zext(2 * width);
      APInt bottom =
          is_signed ? APInt::getSignedMinValue(width).sext(2 * width) : APInt(2 * width, 0);
      sum = binary(min, sum, ConstantInt::get(wide, top));
      if (is_signed)
        sum = binary(max, sum, ConstantInt::get(wide, bottom));
      return builder_.CreateTrunc(sum, type);
    }
    case Operation::HAdd:
    case Operation::RHAdd: {
      Value* sum = builder_.CreateAdd(extend(a[0]), extend(a[1]));
      if (intrinsic.operation == Operation::RHAdd)
        sum = builder_.CreateAdd(sum, ConstantInt::get(wide, 1));
      return builder_.CreateTrunc(builder_.CreateLShr(sum, 1), type);
    }
    case Operation::ExtractBits: {
      Value *offset = to_type(a[1]), *bits = to_type(a[2]);
      Value* zero = builder_.CreateICmpEQ(bits, ConstantInt::get(type, 0));
      Value* left =
          builder_.CreateSub(builder_.CreateSub(ConstantInt::get(type, width), offset), bits);
      Value* right = builder_.CreateSub(ConstantInt::get(type, width), bits);
      // A shift by the whole width would be poison; the select below drops its value anyway.
      Value* amount = builder_.CreateSelect(zero, ConstantInt::get(type, 0), right);
      Value* shifted =
          builder_.CreateShl(a[0], builder_.CreateSelect(zero, ConstantInt::get(type, 0), left));
      shifted =
          is_signed ? builder_.CreateAShr(shifted, amount) : builder_.CreateLShr(shifted, amount);
      return builder_.CreateSelect(zero, ConstantInt::get(type, 0), shifted);
    }
    case Operation::InsertBits: {
      Value *offset = to_type(a[2]), *bits = to_type(a[3]);
      Value* zero = builder_.CreateICmpEQ(bits, ConstantInt::get(type, 0));
      Value* right = builder_.CreateSelect(zero, ConstantInt::get(type, 0),
                                           builder_.CreateSub(ConstantInt::get(type, width), bits));
      Value* ones = builder_.CreateLShr(Constant::getAllOnesValue(type), right);
      Value* mask = builder_.CreateShl(ones, offset);
      Value* merged = builder_.CreateOr(builder_.CreateAnd(a[0], builder_.CreateNot(mask)),
                                        builder_.CreateAnd(builder_.CreateShl(a[1], offset), mask));
      return builder_.CreateSelect(zero, a[0], merged);
    }
    case Operation::All:
    case Operation::Any:
      return builder_.CreateIsNotNull(a[0]);
    default:
      return nullptr;
    }
  }

  Value* convert(Value* value, Type* type, char to_sign, char from_sign) {
    Type* from = value->getType();
    bool from_float = from->isFloatingPointTy(), to_float = type->isFloatingPointTy();
    if (from == type)
      return value;
    if (from_float && to_float) {
      if (from->getScalarSizeInBits() == 16 && type->getScalarSizeInBits() == 16)
        value = builder_.CreateFPExt(value, builder_.getFloatTy());
      return builder_.CreateFPCast(value, type);
    }
    if (to_float) {
      bool is_signed = from_sign == 's' && !from->isIntegerTy(1);
      Type* through = type->isBFloatTy() || type->isHalfTy() ? builder_.getFloatTy() : type;
      Value* result =
          is_signed ? builder_.CreateSIToFP(value, through) : builder_.CreateUIToFP(value, through);
      return through == type ? result : builder_.CreateFPTrunc(result, type);
    }
    if (type->isIntegerTy(1))
      return from_float ? builder_.CreateFCmpUNE(value, ConstantFP::get(from, 0.0))
                        : builder_.CreateIsNotNull(value);
    if (from_float) {
      // Out of range saturates and NaN gives 0, as on the hardware, whose narrowest conversion is
      // to 32 bits: 8- and 16-bit integers are the low bits of that (uchar(char(153.0f)) is 153).
      if (!from->isFloatTy())
        value = builder_.CreateFPExt(value, builder_.getFloatTy());
      bool narrow = type->getIntegerBitWidth() < 32;
      Type* through = narrow ? builder_.getInt32Ty() : type;
      Value* result = builder_.CreateIntrinsic(to_sign == 's' || narrow ? Intrinsic::fptosi_sat
                                                                        : Intrinsic::fptoui_sat,
                                               {through, value->getType()}, {value});
      return builder_.CreateTrunc(result, type);
    }
    return builder_.CreateIntCast(value, type, from_sign == 's' && !from->isIntegerTy(1));
  }

  // ---- between threads

  // One scalar operation for each element; 64-bit values travel as two halves.
  Error split_cross_lane(CallInst& call, const air::Intrinsic& intrinsic) {
    Type* type = call.getType();
    auto* vector = dyn_cast<FixedVectorType>(type);
    if (!vector)
      return Error::success();
    auto scalar = [](Type* t) { return t->getScalarType(); };
    SmallVector<Type*, 4> types;
    for (Value* argument : call.args())
      types.push_back(scalar(argument->getType()));
    Type* element = vector->getElementType();
    std::string name = "air.";
    name += air::operation_name(intrinsic.operation);
    const air::OverloadType& overload = intrinsic.types[0];
    if (overload.sign)
      name += std::string(".") + overload.sign;
    name += element->isBFloatTy() ? ".bf16"
                                  : (element->isFloatingPointTy() ? ".f" : ".i") +
                                        std::to_string(element->getScalarSizeInBits());
    FunctionCallee callee =
        module_.getOrInsertFunction(name, FunctionType::get(element, types, false));
    auto* function = cast<Function>(callee.getCallee());
    function->setConvergent();
    function->setDoesNotThrow();
    Value* result = PoisonValue::get(type);
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      SmallVector<Value*, 4> arguments;
      for (Value* argument : call.args())
        arguments.push_back(argument->getType()->isVectorTy()
                                ? builder_.CreateExtractElement(argument, i)
                                : argument);
      result = builder_.CreateInsertElement(result, builder_.CreateCall(callee, arguments), i);
    }
    return replace(call, result);
  }

  // The expected value comes and goes through thread memory; the operation itself takes a value.
  Error lower_compare_exchange(CallInst& call, const air::Intrinsic& intrinsic) {
    Type* type = call.getType();
    Value *pointer = call.getArgOperand(0), *expected = call.getArgOperand(1),
          *desired = call.getArgOperand(2);
    std::string name = intrinsic.threadgroup ? "air.atomic.local.compare_exchange."
                                             : "air.atomic.global.compare_exchange.";
    name += (type->isFloatTy() ? "f" : "i") + std::to_string(type->getScalarSizeInBits());
    FunctionCallee callee = module_.getOrInsertFunction(
        name, FunctionType::get(type, {pointer->getType(), type, type}, false));
    cast<Function>(callee.getCallee())->setDoesNotThrow();
    Value* old =
        builder_.CreateCall(callee, {pointer, builder_.CreateLoad(type, expected), desired});
    builder_.CreateStore(old, expected);
    return replace(call, old);
  }

  Function& function_;
  Module& module_;
  IRBuilder<> builder_;
};

} // namespace

Error lower_operations(Function& function) {
  if (Error error = lower_matrices(function))
    return error;
  return OperationLowering(function).run();
}

} // namespace bessemer::metal::cpu

// Operations on each lane by itself.
#include "metal/cpu/passes/vectorizer.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"

#include <cmath>

using namespace llvm;

namespace bessemer::metal::cpu {

void Vectorizer::emit_elementwise(Instruction& instruction, const Shape& shape, EmitMode mode) {
  unsigned count = isa<CallInst>(instruction) ? cast<CallInst>(instruction).arg_size()
                                              : instruction.getNumOperands();
  if (mode == EmitMode::Vector) {
    SmallVector<Value*, 4> operands;
    if (auto* gep = dyn_cast<GetElementPtrInst>(&instruction)) {
      bool has_vector = false;
      for (unsigned i = 0; i < count; ++i) {
        LaneValue operand = get(instruction.getOperand(i));
        bool uniform = operand.shape.is_uniform(lanes_);
        has_vector |= !uniform;
        operands.push_back(uniform ? operand.pieces[0] : vector(operand));
      }
      if (!has_vector)
        operands[0] = builder_.CreateVectorSplat(unsigned(lanes_), operands[0]);
      return set_vector(instruction, emit_gep(*gep, operands));
    }
    for (unsigned i = 0; i < count; ++i) {
      LaneValue operand = get(instruction.getOperand(i));
      bool keep_scalar = isa<SelectInst>(instruction) && i == 0 && operand.shape.is_uniform(lanes_);
      operands.push_back(keep_scalar ? operand.pieces[0] : vector(operand));
    }
    return set_vector(instruction, emit_operation(instruction, operands));
  }
  LaneValue result;
  result.shape = shape;
  SmallVector<SmallVector<Value*, 4>, 4> operands;
  for (unsigned i = 0; i < count; ++i) {
    LaneValue operand = get(instruction.getOperand(i));
    operands.push_back(mode == EmitMode::Pieces ? flat_pieces(operand, shape.group)
                                                : bases(operand, shape.group));
  }
  for (int piece = 0; piece < lanes_ / shape.group; ++piece) {
    SmallVector<Value*, 4> scalars;
    for (auto& operand : operands)
      scalars.push_back(operand[piece]);
    if (mode == EmitMode::Linear) {
      const LaneValue source = get(instruction.getOperand(0));
      unsigned opcode = instruction.getOpcode();
      bool has_offsets = !source.shape.offsets.empty();
      if (opcode == Instruction::Or && cast<PossiblyDisjointInst>(instruction).isDisjoint()) {
        // Disjoint bits of each lane's value, not of the pieces.
        result.pieces.push_back(builder_.CreateAdd(scalars[0], scalars[1]));
        continue;
      }
      if ((opcode == Instruction::ZExt || opcode == Instruction::SExt) && has_offsets) {
        // Extend at a lane that is valid if any lane after a wrap around zero is: lanes before it
        // are then not valid (ShapeAnalysis::is_address_only).
        int64_t at = source.shape.is_disjoint()    ? 0
                     : opcode == Instruction::ZExt ? source.shape.max_offset()
                                                   : source.shape.offset(0);
        Value* extended = builder_.CreateCast(cast<CastInst>(instruction).getOpcode(),
                                              add_offset(scalars[0], at), instruction.getType());
        result.pieces.push_back(add_offset(extended, -at));
        continue;
      }
      if (auto* operation = dyn_cast<BinaryOperator>(&instruction);
          operation && !shape.offsets.empty()) {
        // The pieces alone may wrap where no lane's value does: without the flags.
        result.pieces.push_back(
            builder_.CreateBinOp(operation->getOpcode(), scalars[0], scalars[1]));
        continue;
      }
      if (auto* gep = dyn_cast<GetElementPtrInst>(&instruction)) {
        result.pieces.push_back(emit_gep(*gep, scalars));
        continue;
      }
    }
    result.pieces.push_back(emit_operation(instruction, scalars));
  }
  set(instruction, std::move(result));
}

Value* Vectorizer::emit_gep(GetElementPtrInst& gep, ArrayRef<Value*> operands) {
  return builder_.CreateGEP(gep.getSourceElementType(), operands[0], operands.drop_front());
}

Value* Vectorizer::emit_operation(Instruction& instruction, ArrayRef<Value*> operands) {
  IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.setFastMathFlags(isa<FPMathOperator>(instruction) ? instruction.getFastMathFlags()
                                                             : FastMathFlags());
  Type* type = flat_type(instruction.getType());
  bool is_vector = llvm::any_of(operands,
                                [this](Value* operand) {
                                  auto* vector = dyn_cast<FixedVectorType>(operand->getType());
                                  return vector && int(vector->getNumElements()) == lanes_;
                                }) &&
                   !instruction.getOperand(0)->getType()->isVectorTy();
  if (is_vector)
    type = vector_type(type);
  if (auto* operation = dyn_cast<BinaryOperator>(&instruction)) {
    if (operation->isIntDivRem())
      return emit_division(instruction, operands);
    if (type->getScalarType()->isBFloatTy() && !options_.has_bfloat) {
      Type* wide = type->getWithNewType(builder_.getFloatTy());
      return narrow(builder_.CreateBinOp(operation->getOpcode(),
                                         builder_.CreateFPExt(operands[0], wide),
                                         builder_.CreateFPExt(operands[1], wide)),
                    type);
    }
    return builder_.CreateBinOp(operation->getOpcode(), operands[0], operands[1]);
  }
  if (isa<UnaryOperator>(instruction))
    return builder_.CreateFNeg(operands[0]);
  if (isa<AddrSpaceCastInst>(instruction))
    return operands[0];
  if (auto* cast = dyn_cast<CastInst>(&instruction)) {
    if (operands[0]->getType() == type)
      return operands[0];
    if (isa<FPTruncInst>(instruction))
      return narrow(operands[0], type);
    return builder_.CreateCast(cast->getOpcode(), operands[0], type);
  }
  if (auto* compare = dyn_cast<CmpInst>(&instruction))
    return builder_.CreateCmp(compare->getPredicate(), operands[0], operands[1]);
  if (isa<SelectInst>(instruction))
    return builder_.CreateSelect(operands[0], operands[1], operands[2]);
  if (isa<FreezeInst>(instruction))
    return builder_.CreateFreeze(operands[0]);
  if (auto* gep = dyn_cast<GetElementPtrInst>(&instruction))
    return emit_gep(*gep, operands);
  if (auto* shuffle = dyn_cast<ShuffleVectorInst>(&instruction))
    return builder_.CreateShuffleVector(operands[0], operands[1], shuffle->getShuffleMask());
  if (isa<InsertElementInst>(instruction))
    return builder_.CreateInsertElement(operands[0], operands[1], operands[2]);
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
    Intrinsic::ID id = intrinsic->getIntrinsicID();
    SmallVector<Value*, 4> arguments(operands.begin(), operands.end());
    SmallVector<Type*, 2> overloads{type};
    switch (id) {
    case Intrinsic::ctlz:
    case Intrinsic::cttz:
    case Intrinsic::abs:
      arguments[1] = intrinsic->getArgOperand(1);
      break;
    case Intrinsic::fptosi_sat:
    case Intrinsic::fptoui_sat:
      return emit_saturating_conversion(operands[0], type, id == Intrinsic::fptosi_sat);
    case Intrinsic::is_fpclass:
      overloads[0] = operands[0]->getType();
      arguments[1] = intrinsic->getArgOperand(1);
      break;
    case Intrinsic::ldexp:
      overloads.push_back(operands[1]->getType());
      break;
    case Intrinsic::powi:
      arguments[1] = intrinsic->getArgOperand(1);
      overloads.push_back(arguments[1]->getType());
      break;
    case Intrinsic::scmp:
    case Intrinsic::ucmp:
      overloads.push_back(operands[0]->getType());
      break;
    case Intrinsic::fmuladd:
      // The language allows contraction here, and the machine has the instruction.
      id = Intrinsic::fma;
      break;
    case Intrinsic::minnum:
    case Intrinsic::maxnum:
    case Intrinsic::minimumnum:
    case Intrinsic::maximumnum:
      return emit_min_max(id == Intrinsic::maxnum || id == Intrinsic::maximumnum, operands[0],
                          operands[1], intrinsic->hasNoNaNs());
    case Intrinsic::fma:
    case Intrinsic::fabs:
    case Intrinsic::sqrt:
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::rint:
    case Intrinsic::nearbyint:
    case Intrinsic::round:
    case Intrinsic::roundeven:
    case Intrinsic::copysign:
    case Intrinsic::minimum:
    case Intrinsic::maximum:
    case Intrinsic::canonicalize:
    case Intrinsic::smin:
    case Intrinsic::smax:
    case Intrinsic::umin:
    case Intrinsic::umax:
    case Intrinsic::fshl:
    case Intrinsic::fshr:
    case Intrinsic::bswap:
    case Intrinsic::bitreverse:
    case Intrinsic::ctpop:
    case Intrinsic::sadd_sat:
    case Intrinsic::uadd_sat:
    case Intrinsic::ssub_sat:
    case Intrinsic::usub_sat:
    case Intrinsic::sshl_sat:
    case Intrinsic::ushl_sat:
      break;
    default:
      fail("intrinsic '" + intrinsic->getCalledFunction()->getName() + "' cannot be vectorised");
      return PoisonValue::get(type);
    }
    // Machines without arithmetic on narrow floats would call a function for each lane.
    if (Type* scalar = type->getScalarType(); scalar->isHalfTy() || scalar->isBFloatTy()) {
      Type* wide = type->getWithNewType(builder_.getFloatTy());
      for (Value*& argument : arguments)
        if (argument->getType() == type)
          argument = builder_.CreateFPExt(argument, wide);
      overloads[0] = wide;
      return narrow(builder_.CreateIntrinsic(id, overloads, arguments), type);
    }
    return builder_.CreateIntrinsic(id, overloads, arguments);
  }
  fail(Twine("instruction '") + instruction.getOpcodeName() + "' cannot be vectorised");
  return PoisonValue::get(type);
}

// Rounds to a narrow float type. Machines without bfloat would call a function for each lane.
Value* Vectorizer::narrow(Value* value, Type* type) {
  if (!type->getScalarType()->isBFloatTy() || options_.has_bfloat)
    return builder_.CreateFPTrunc(value, type);
  value = builder_.CreateFPExt(value, type->getWithNewType(builder_.getFloatTy()));
  Type* i32 = type->getWithNewType(builder_.getInt32Ty());
  Value* bits = builder_.CreateBitCast(value, i32);
  // To the nearest, ties to even; a NaN stays one.
  Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, 16), 1);
  Value* rounded = builder_.CreateAdd(builder_.CreateAdd(bits, odd), ConstantInt::get(i32, 0x7fff));
  Value* quiet = builder_.CreateOr(bits, ConstantInt::get(i32, 0x400000));
  Value* result = builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), quiet, rounded);
  result = builder_.CreateTrunc(builder_.CreateLShr(result, 16),
                                type->getWithNewType(builder_.getInt16Ty()));
  return builder_.CreateBitCast(result, type);
}

// Out of range the nearest integer there is, and 0 for NaN. LLVM's own saturating conversion is
// made lane by lane on x86.
Value* Vectorizer::emit_saturating_conversion(Value* value, Type* type, bool is_signed) {
  IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  if (value->getType()->getScalarSizeInBits() < 32)
    value = builder_.CreateFPExt(value, value->getType()->getWithNewType(builder_.getFloatTy()));
  const unsigned bits = type->getScalarSizeInBits();
  // Powers of two, which every float type of 32 bits or more holds.
  Constant* end = ConstantFP::get(value->getType(), std::ldexp(1.0, int(bits - is_signed)));
  Constant* start =
      ConstantFP::get(value->getType(), is_signed ? -std::ldexp(1.0, int(bits - 1)) : 0.0);
  Value* above = builder_.CreateFCmpOGE(value, end);
  Value* below = builder_.CreateFCmpULT(value, start); // or NaN
  Value* safe = builder_.CreateSelect(builder_.CreateOr(above, below),
                                      Constant::getNullValue(value->getType()), value);
  Value* result = is_signed ? builder_.CreateFPToSI(safe, type) : builder_.CreateFPToUI(safe, type);
  const APInt most = is_signed ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
  result = builder_.CreateSelect(above, ConstantInt::get(type, most), result);
  if (!is_signed)
    return result;
  return builder_.CreateSelect(builder_.CreateFCmpOLT(value, start),
                               ConstantInt::get(type, APInt::getSignedMinValue(bits)), result);
}

// The one that is a number, if only one is. Written as a comparison: LLVM's intrinsics become calls
// of fmaxf for types that the machine has no instruction for.
Value* Vectorizer::emit_min_max(bool is_max, Value* a, Value* b, bool no_nans) {
  IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  Value* takes_a = is_max ? builder_.CreateFCmpOGT(a, b) : builder_.CreateFCmpOLT(a, b);
  Value* result = builder_.CreateSelect(takes_a, a, b);
  if (no_nans)
    return result;
  return builder_.CreateSelect(builder_.CreateFCmpUNO(b, b), a, result);
}

void Vectorizer::emit_dot_product(CallInst& call) {
  int chunk = options_.vector_bits / 32;
  bool is_wide = chunk == 16;
  auto* bytes = FixedVectorType::get(builder_.getInt8Ty(), unsigned(4 * chunk));
  Value *sum = vector(call.getArgOperand(0)), *a = vector(call.getArgOperand(1)),
        *b = vector(call.getArgOperand(2));
  SmallVector<Value*, 16> parts;
  int count = std::max(lanes_, chunk);
  auto part = [&](Value* value, int first) {
    SmallVector<int, 16> lanes;
    for (int i = 0; i < chunk; ++i)
      lanes.push_back(first + i < lanes_ ? first + i : -1);
    return builder_.CreateShuffleVector(value, lanes);
  };
  for (int first = 0; first < count; first += chunk)
    parts.push_back(builder_.CreateIntrinsic(
        is_wide ? Intrinsic::x86_avx512_vpdpbusd_512 : Intrinsic::x86_avx512_vpdpbusd_256, {},
        {part(sum, first), builder_.CreateBitCast(part(a, first), bytes),
         builder_.CreateBitCast(part(b, first), bytes)}));
  set_vector(call, slice(concatenate(parts), 0, lanes_));
}

// No lane may trap or be undefined, whatever a lane that is off holds: where Metal leaves a result
// open (division by zero, the smallest number by -1), any value will do.
Value* Vectorizer::emit_division(Instruction& instruction, ArrayRef<Value*> operands) {
  auto opcode = cast<BinaryOperator>(instruction).getOpcode();
  bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  bool is_remainder = opcode == Instruction::SRem || opcode == Instruction::URem;
  Value *dividend = operands[0], *divisor = operands[1];
  Type* type = dividend->getType();
  Type* scalar = type->getScalarType();
  if (auto* constant = dyn_cast<ConstantInt>(instruction.getOperand(1));
      constant && !constant->isZero() && !constant->isMinusOne())
    return builder_.CreateBinOp(opcode, dividend, divisor);
  dividend = builder_.CreateFreeze(dividend);
  divisor = builder_.CreateFreeze(divisor);
  Constant *zero = Constant::getNullValue(type), *one = ConstantInt::get(type, 1);
  Value* is_zero = builder_.CreateICmpEQ(divisor, zero);
  if (type->isVectorTy() && scalar->getIntegerBitWidth() <= 32) {
    // The quotient of two integers of 32 bits, rounded to a double, truncates to the exact result:
    // it is never closer to the integer above than 2^-32 of its size.
    Type* wide = vector_type(builder_.getDoubleTy());
    Value* safe = builder_.CreateSelect(is_zero, one, divisor);
    Value* a =
        is_signed ? builder_.CreateSIToFP(dividend, wide) : builder_.CreateUIToFP(dividend, wide);
    Value* b = is_signed ? builder_.CreateSIToFP(safe, wide) : builder_.CreateUIToFP(safe, wide);
    Value* quotient = builder_.CreateFDiv(a, b);
    // -2^31 / -1 does not fit and may be anything.
    Type* middle = vector_type(builder_.getInt32Ty());
    Value* integer = is_signed || scalar->getIntegerBitWidth() < 32
                         ? builder_.CreateFPToSI(quotient, middle)
                         : builder_.CreateFPToUI(quotient, middle);
    integer = builder_.CreateTrunc(builder_.CreateFreeze(integer), type);
    if (!is_remainder)
      return integer;
    return builder_.CreateSub(dividend, builder_.CreateMul(integer, safe));
  }
  Value* unsafe = is_zero;
  Value* minus_one = nullptr;
  if (is_signed) {
    minus_one = builder_.CreateICmpEQ(divisor, Constant::getAllOnesValue(type));
    unsafe = builder_.CreateOr(unsafe, minus_one);
  }
  Value* result =
      builder_.CreateBinOp(opcode, dividend, builder_.CreateSelect(unsafe, one, divisor));
  if (minus_one)
    result = builder_.CreateSelect(minus_one, is_remainder ? zero : builder_.CreateNeg(dividend),
                                   result);
  return result;
}

} // namespace bessemer::metal::cpu

// Operations between the lanes of simdgroups and quadgroups.
#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/passes/vectorizer.h"

#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using bessemer::air::Operation;
using bessemer::air::OperationGroup;

namespace bessemer::metal::cpu {

// ---- reductions

std::optional<Vectorizer::Reduction> Vectorizer::reduction_of(Operation operation) const {
  using enum Operation;
  switch (operation) {
  case SimdSum:
  case QuadSum:
  case SimdPrefixInclusiveSum:
  case SimdPrefixExclusiveSum:
  case QuadPrefixInclusiveSum:
  case QuadPrefixExclusiveSum:
    return Reduction::Sum;
  case SimdProduct:
  case QuadProduct:
  case SimdPrefixInclusiveProduct:
  case SimdPrefixExclusiveProduct:
  case QuadPrefixInclusiveProduct:
  case QuadPrefixExclusiveProduct:
    return Reduction::Product;
  case SimdMin:
  case QuadMin:
    return Reduction::Min;
  case SimdMax:
  case QuadMax:
    return Reduction::Max;
  case SimdAnd:
  case QuadAnd:
    return Reduction::And;
  case SimdOr:
  case QuadOr:
    return Reduction::Or;
  case SimdXor:
  case QuadXor:
    return Reduction::Xor;
  default:
    return std::nullopt;
  }
}

Constant* Vectorizer::identity(Reduction reduction, Type* type, bool is_signed) {
  unsigned width = type->getScalarSizeInBits();
  bool is_float = type->isFloatingPointTy();
  switch (reduction) {
  case Reduction::Sum:
    return is_float ? ConstantFP::getNegativeZero(type) : Constant::getNullValue(type);
  case Reduction::Product:
    return is_float ? ConstantFP::get(type, 1.0) : ConstantInt::get(type, 1);
  case Reduction::Min:
    return is_float ? ConstantFP::getInfinity(type)
                    : ConstantInt::get(type, is_signed ? APInt::getSignedMaxValue(width)
                                                       : APInt::getMaxValue(width));
  case Reduction::Max:
    return is_float ? ConstantFP::getInfinity(type, true)
                    : ConstantInt::get(type, is_signed ? APInt::getSignedMinValue(width)
                                                       : APInt(width, 0));
  case Reduction::And:
    return Constant::getAllOnesValue(type);
  case Reduction::Or:
  case Reduction::Xor:
    return Constant::getNullValue(type);
  }
  return nullptr;
}

Value* Vectorizer::combine(Reduction reduction, Value* a, Value* b, bool is_signed) {
  bool is_float = a->getType()->isFPOrFPVectorTy();
  switch (reduction) {
  case Reduction::Sum:
    return is_float ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
  case Reduction::Product:
    return is_float ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
  case Reduction::Min:
  case Reduction::Max: {
    bool is_max = reduction == Reduction::Max;
    if (is_float)
      return emit_min_max(is_max, a, b, false);
    Intrinsic::ID id = is_max ? (is_signed ? Intrinsic::smax : Intrinsic::umax)
                              : (is_signed ? Intrinsic::smin : Intrinsic::umin);
    return builder_.CreateBinaryIntrinsic(id, a, b);
  }
  case Reduction::And:
    return builder_.CreateAnd(a, b);
  case Reduction::Or:
    return builder_.CreateOr(a, b);
  case Reduction::Xor:
    return builder_.CreateXor(a, b);
  }
  return nullptr;
}

// Halves that are combined until one lane is left; the order of a sum is not promised.
Value* Vectorizer::reduce_all(Reduction reduction, Value* value, bool is_signed) {
  for (int width = int(cast<FixedVectorType>(value->getType())->getNumElements()) / 2; width >= 1;
       width /= 2)
    value = combine(reduction, slice(value, 0, width), slice(value, width, width), is_signed);
  return builder_.CreateExtractElement(value, uint64_t(0));
}

Value* Vectorizer::reduce_quads(Reduction reduction, Value* value, bool is_signed) {
  for (int distance : {1, 2}) {
    SmallVector<int, 64> mask;
    for (int lane = 0; lane < lanes_; ++lane)
      mask.push_back(lane ^ distance);
    value = combine(reduction, value, builder_.CreateShuffleVector(value, mask), is_signed);
  }
  return value;
}

Value* Vectorizer::prefix(Reduction reduction, Value* value, bool exclusive, int width) {
  Value* neutral = builder_.CreateVectorSplat(
      unsigned(lanes_), identity(reduction, value->getType()->getScalarType(), true));
  auto shifted = [&](Value* source, int distance) {
    SmallVector<int, 64> mask;
    for (int lane = 0; lane < lanes_; ++lane)
      mask.push_back(lane % width < distance ? lanes_ + lane : lane - distance);
    return builder_.CreateShuffleVector(source, neutral, mask);
  };
  if (exclusive)
    value = shifted(value, 1);
  for (int distance = 1; distance < width; distance *= 2)
    value = combine(reduction, shifted(value, distance), value, true);
  return value;
}

Value* Vectorizer::first_active_lane() {
  if (!mask_)
    return builder_.getInt32(0);
  Value* active = bits(mask_);
  Value* first =
      builder_.CreateIntrinsic(Intrinsic::cttz, {active->getType()}, {active, builder_.getFalse()});
  return builder_.CreateAnd(builder_.CreateZExtOrTrunc(first, builder_.getInt32Ty()),
                            uint64_t(lanes_ - 1));
}

void Vectorizer::emit_simdgroup(CallInst& call, const air::Intrinsic& intrinsic) {
  using enum Operation;
  bool is_quad = intrinsic.group == OperationGroup::Quadgroup;
  int width = is_quad ? 4 : 32;
  bool is_signed = !intrinsic.types.empty() && intrinsic.types[0].sign == 's';
  Type* type = call.getType();
  if (type->isVectorTy())
    return fail("operation '" + spmd::callee_name(call) + "' on vectors");
  if (std::optional<Reduction> reduction = reduction_of(intrinsic.operation)) {
    Value* value = vector(call.getArgOperand(0));
    if (mask_)
      value = builder_.CreateSelect(
          mask_, value,
          builder_.CreateVectorSplat(unsigned(lanes_), identity(*reduction, type, is_signed)));
    switch (intrinsic.operation) {
    case SimdPrefixInclusiveSum:
    case SimdPrefixInclusiveProduct:
    case QuadPrefixInclusiveSum:
    case QuadPrefixInclusiveProduct:
      return set_vector(call, prefix(*reduction, value, false, width));
    case SimdPrefixExclusiveSum:
    case SimdPrefixExclusiveProduct:
    case QuadPrefixExclusiveSum:
    case QuadPrefixExclusiveProduct:
      return set_vector(call, prefix(*reduction, value, true, width));
    default:
      break;
    }
    if (is_quad)
      return set_vector(call, reduce_quads(*reduction, value, is_signed));
    LaneValue result;
    result.shape = shapes_.shape(&call);
    for (int lane = 0; lane < lanes_; lane += result.shape.group)
      result.pieces.push_back(
          reduce_all(*reduction, slice(value, lane, result.shape.group), is_signed));
    return set(call, std::move(result));
  }
  // The bits of the lane's own quad, from those of the simdgroup.
  auto of_quad = [&](Value* ballot) {
    SmallVector<Constant*, 64> first;
    for (int lane = 0; lane < lanes_; ++lane)
      first.push_back(builder_.getInt32(uint32_t(lane & ~3)));
    Value* spread = builder_.CreateVectorSplat(
        unsigned(lanes_), builder_.CreateZExtOrTrunc(ballot, builder_.getInt32Ty()));
    return builder_.CreateAnd(builder_.CreateLShr(spread, ConstantVector::get(first)), 15);
  };
  auto set_ballot = [&](Value* mask) {
    if (is_quad)
      set_vector(call, builder_.CreateZExtOrTrunc(of_quad(bits(mask)), vector_type(type)));
    else
      set_uniform(call, builder_.CreateZExtOrTrunc(bits(mask), type));
  };
  switch (intrinsic.operation) {
  case SimdAny:
    return set_uniform(call, any(mask_and(mask_, vector(call.getArgOperand(0)))));
  case SimdAll:
    return set_uniform(call, builder_.CreateNot(any(mask_and(
                                 mask_, builder_.CreateNot(vector(call.getArgOperand(0)))))));
  case QuadAny:
    return set_vector(call, builder_.CreateIsNotNull(
                                of_quad(bits(mask_and(mask_, vector(call.getArgOperand(0)))))));
  case QuadAll:
    return set_vector(call, builder_.CreateIsNull(of_quad(bits(mask_and(
                                mask_, builder_.CreateNot(vector(call.getArgOperand(0))))))));
  case SimdBallot:
  case QuadBallot:
    return set_ballot(mask_and(mask_, vector(call.getArgOperand(0))));
  case SimdActiveThreadsMask:
  case QuadActiveThreadsMask:
    return set_ballot(full(mask_));
  case SimdIsFirst: {
    Value* active = bits(full(mask_));
    Value* first = builder_.CreateAnd(active, builder_.CreateNeg(active));
    return set_vector(call, builder_.CreateBitCast(first, mask_type()));
  }
  case QuadIsFirst: {
    Value* active = of_quad(bits(full(mask_)));
    Value* first = builder_.CreateAnd(active, builder_.CreateNeg(active));
    SmallVector<Constant*, 64> own;
    for (int lane = 0; lane < lanes_; ++lane)
      own.push_back(builder_.getInt32(1u << (lane & 3)));
    return set_vector(call, builder_.CreateICmpEQ(first, ConstantVector::get(own)));
  }
  case SimdBroadcastFirst:
    return set_uniform(
        call, builder_.CreateExtractElement(vector(call.getArgOperand(0)), first_active_lane()));
  case QuadBroadcastFirst: {
    Value* active = of_quad(bits(full(mask_)));
    Value* first = builder_.CreateIntrinsic(Intrinsic::cttz, {active->getType()},
                                            {active, builder_.getFalse()});
    SmallVector<Constant*, 64> base;
    for (int lane = 0; lane < lanes_; ++lane)
      base.push_back(builder_.getInt32(uint32_t(lane & ~3)));
    Value* index = builder_.CreateOr(ConstantVector::get(base), builder_.CreateAnd(first, 3));
    return set_vector(call, shuffle_by(vector(call.getArgOperand(0)), index));
  }
  default:
    return emit_shuffle(call, intrinsic, width);
  }
}

// Lane i of the result is lane index[i] of `value`.
Value* Vectorizer::shuffle_by(Value* value, Value* index) {
  if (auto* constant = dyn_cast<Constant>(index)) {
    SmallVector<int, 64> mask;
    for (int lane = 0; lane < lanes_; ++lane) {
      auto* element = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(unsigned(lane)));
      mask.push_back(element ? int(element->getZExtValue() & uint64_t(lanes_ - 1)) : -1);
    }
    return builder_.CreateShuffleVector(value, mask);
  }
  index = builder_.CreateAnd(builder_.CreateFreeze(index), uint64_t(lanes_ - 1));
  Type* type = cast<FixedVectorType>(value->getType())->getElementType();
  unsigned width = unsigned(layout_.getTypeSizeInBits(type));
  // Through memory; narrow types as 32 bits, which machines can gather.
  Type* stored = width < 32 ? builder_.getInt32Ty() : type;
  Value* wide = value;
  if (width < 32) {
    wide = builder_.CreateBitCast(wide, vector_type(builder_.getIntNTy(width)));
    wide = builder_.CreateZExt(wide, vector_type(stored));
  }
  AllocaInst* place = scratch(wide->getType());
  builder_.CreateAlignedStore(wide, place, Align(64));
  LaneValue pointer;
  pointer.shape = Shape::varying();
  pointer.vectors.push_back(builder_.CreateGEP(
      stored, place, builder_.CreateZExt(index, vector_type(builder_.getInt64Ty()))));
  access_align_ = Align(8);
  Value* result = gather(stored, pointer, 0, nullptr);
  if (width < 32) {
    result = builder_.CreateTrunc(result, vector_type(builder_.getIntNTy(width)));
    result = builder_.CreateBitCast(result, value->getType());
  }
  return result;
}

void Vectorizer::emit_shuffle(CallInst& call, const air::Intrinsic& intrinsic, int width) {
  using enum Operation;
  Value* value = vector(call.getArgOperand(0));
  Type* i32 = vector_type(builder_.getInt32Ty());
  Constant* lane = lane_numbers(builder_.getInt32Ty());
  Value* own = builder_.CreateAnd(lane, uint64_t(width - 1));
  Value* base = builder_.CreateAnd(lane, uint64_t(~(width - 1) & (lanes_ - 1)));
  auto operand = [&](unsigned index) {
    return builder_.CreateZExtOrTrunc(vector(call.getArgOperand(index)), i32);
  };
  auto within = [&](Value* index) {
    return builder_.CreateOr(base, builder_.CreateAnd(index, uint64_t(width - 1)));
  };
  auto clamped = [&](Value* index) { // a lane whose source lies outside keeps its own value
    Value* inside = builder_.CreateICmpULT(index, ConstantInt::get(i32, uint64_t(width)));
    return builder_.CreateOr(base, builder_.CreateSelect(inside, index, own));
  };
  switch (intrinsic.operation) {
  case SimdBroadcast:
  case SimdShuffle:
    if (LaneValue index = get(call.getArgOperand(1)); index.shape.is_uniform(lanes_)) {
      Value* source = builder_.CreateAnd(
          builder_.CreateZExtOrTrunc(index.pieces[0], builder_.getInt32Ty()), 31);
      return set_uniform(call, builder_.CreateExtractElement(value, source));
    }
    return set_vector(call, shuffle_by(value, within(operand(1))));
  case QuadBroadcast:
  case QuadShuffle:
    return set_vector(call, shuffle_by(value, within(operand(1))));
  case SimdShuffleXor:
  case QuadShuffleXor:
    return set_vector(call, shuffle_by(value, within(builder_.CreateXor(own, operand(1)))));
  case SimdShuffleUp:
  case QuadShuffleUp:
    return set_vector(call, shuffle_by(value, clamped(builder_.CreateSub(own, operand(1)))));
  case SimdShuffleDown:
  case QuadShuffleDown:
    return set_vector(call, shuffle_by(value, clamped(builder_.CreateAdd(own, operand(1)))));
  case SimdShuffleRotateUp:
  case QuadShuffleRotateUp:
    return set_vector(call, shuffle_by(value, within(builder_.CreateSub(own, operand(1)))));
  case SimdShuffleRotateDown:
  case QuadShuffleRotateDown:
    return set_vector(call, shuffle_by(value, within(builder_.CreateAdd(own, operand(1)))));
  case SimdShuffleAndFillUp:
  case QuadShuffleAndFillUp:
  case SimdShuffleAndFillDown:
  case QuadShuffleAndFillDown: {
    // Lanes in groups of `modulo`: what comes from outside the group comes from the fill's group.
    bool up =
        intrinsic.operation == SimdShuffleAndFillUp || intrinsic.operation == QuadShuffleAndFillUp;
    Value *fill = vector(call.getArgOperand(1)), *delta = operand(2);
    Value* modulo = call.arg_size() > 3 ? operand(3) : ConstantInt::get(i32, uint64_t(width));
    Value* low = builder_.CreateAnd(own, builder_.CreateSub(modulo, ConstantInt::get(i32, 1)));
    Value* group = builder_.CreateSub(own, low);
    Value* moved = up ? builder_.CreateSub(low, delta) : builder_.CreateAdd(low, delta);
    Value* outside = builder_.CreateICmpUGE(moved, modulo); // also below zero
    Value* wrapped = up ? builder_.CreateAdd(moved, modulo) : builder_.CreateSub(moved, modulo);
    Value* index =
        within(builder_.CreateAdd(group, builder_.CreateSelect(outside, wrapped, moved)));
    return set_vector(
        call, builder_.CreateSelect(outside, shuffle_by(fill, index), shuffle_by(value, index)));
  }
  default:
    return fail("operation '" + spmd::callee_name(call) + "' is not supported");
  }
}

} // namespace bessemer::metal::cpu

// Addresses that differ between lanes by what is known only at run time, but the same way for every
// vector: `t & (j - 1)`, `lane ^ j`, `lane * stride`. They split into lane 0's value, a scalar, and
// offsets that depend on lane numbers and uniform values alone, so that what is asked of them
// (are they consecutive, do they lie in a small window?) is hoisted out of the loop over vectors.
#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/passes/vectorizer.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

constexpr int max_pattern_depth = 8;
// Elements of 32 bits in the registers that windows are taken apart with.
constexpr int window_chunk = 16;

} // namespace

std::optional<LanePattern> Vectorizer::find_pattern(Value* value, int depth) {
  Type* type = value->getType();
  if (depth > max_pattern_depth ||
      !(type->isIntegerTy(32) || type->isIntegerTy(64) || type->isPointerTy()))
    return std::nullopt;
  auto splat = [&](Value* scalar) {
    return builder_.CreateVectorSplat(unsigned(lanes_),
                                      builder_.CreateZExtOrTrunc(scalar, builder_.getInt32Ty()));
  };
  if (LaneValue known = get(value); !known.shape.is_varying()) {
    if (known.shape.group != lanes_)
      return std::nullopt;
    LanePattern result;
    int64_t first = known.shape.offset(0);
    SmallVector<Constant*, 64> offsets;
    for (int lane = 0; lane < lanes_; ++lane) {
      int64_t offset = known.shape.offset(lane) - first;
      if (!isInt<32>(offset))
        return std::nullopt;
      offsets.push_back(builder_.getInt32(uint32_t(offset)));
    }
    result.base = add_offset(known.pieces[0], first);
    result.offsets = ConstantVector::get(offsets);
    return result;
  }
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction)
    return std::nullopt;
  auto uniform = [&](Value* operand) -> Value* {
    LaneValue known = get(operand);
    return known.shape.is_uniform(lanes_) ? known.pieces[0] : nullptr;
  };
  switch (unsigned opcode = instruction->getOpcode()) {
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::LShr:
  case Instruction::AShr: {
    // Bit by bit, where the lanes' offsets lie below the lowest bit of the common part.
    bool is_shift = opcode == Instruction::LShr || opcode == Instruction::AShr;
    unsigned lanes_at = is_shift || uniform(instruction->getOperand(1)) ? 0 : 1;
    Value* other = uniform(instruction->getOperand(1 - lanes_at));
    LaneValue own = get(instruction->getOperand(lanes_at));
    if (!other || own.shape.group != lanes_ || own.shape.offsets.empty() ||
        !own.shape.is_disjoint() || own.shape.align < 1)
      return std::nullopt;
    int64_t low = (int64_t(1) << std::min(own.shape.align, 31)) - 1;
    if (own.shape.max_offset() > low)
      return std::nullopt;
    SmallVector<Constant*, 64> offsets;
    for (int lane = 0; lane < lanes_; ++lane)
      offsets.push_back(builder_.getInt32(uint32_t(own.shape.offset(lane))));
    auto operation = BinaryOperator::BinaryOps(opcode);
    LanePattern result;
    result.base =
        builder_.CreateBinOp(operation, add_offset(own.pieces[0], own.shape.offset(0)), other);
    Value* amount = builder_.CreateZExtOrTrunc(other, builder_.getInt32Ty());
    if (is_shift)
      // Shifts by 32 and more leave nothing of what lies below bit 31.
      amount = builder_.CreateBinaryIntrinsic(
          Intrinsic::umin, builder_.CreateZExtOrTrunc(other, builder_.getInt32Ty()),
          builder_.getInt32(31));
    else
      amount = builder_.CreateAnd(amount, uint64_t(low));
    auto below = is_shift ? BinaryOperator::LShr : operation;
    Value* vector = builder_.CreateBinOp(below, ConstantVector::get(offsets), splat(amount));
    Value* first = builder_.CreateBinOp(below, offsets[0], amount);
    result.offsets = builder_.CreateSub(vector, splat(first));
    result.is_bitwise = true;
    return result;
  }
  case Instruction::Add:
  case Instruction::Sub: {
    auto a = find_pattern(instruction->getOperand(0), depth + 1);
    auto b = a ? find_pattern(instruction->getOperand(1), depth + 1) : std::nullopt;
    // Offsets are 32 bits: sums of 64 bits must not need more.
    if (!a || !b ||
        (!type->isIntegerTy(32) && !uniform(instruction->getOperand(1)) &&
         !(opcode == Instruction::Add && uniform(instruction->getOperand(0)))))
      return std::nullopt;
    auto operation = BinaryOperator::BinaryOps(opcode);
    a->base = builder_.CreateBinOp(operation, a->base, b->base);
    a->offsets = builder_.CreateBinOp(operation, a->offsets, b->offsets);
    a->is_bitwise |= b->is_bitwise;
    a->exact = a->exact ? a->exact : b->exact;
    return a;
  }
  case Instruction::Mul:
  case Instruction::Shl: {
    if (!type->isIntegerTy(32))
      return std::nullopt;
    unsigned lanes_at = opcode == Instruction::Shl || uniform(instruction->getOperand(1)) ? 0 : 1;
    Value* other = uniform(instruction->getOperand(1 - lanes_at));
    auto own = other ? find_pattern(instruction->getOperand(lanes_at), depth + 1) : std::nullopt;
    if (!own)
      return std::nullopt;
    auto operation = BinaryOperator::BinaryOps(opcode);
    own->base = builder_.CreateBinOp(operation, own->base, other);
    own->offsets = builder_.CreateBinOp(operation, own->offsets, splat(other));
    return own;
  }
  case Instruction::SExt:
  case Instruction::ZExt: {
    if (!type->isIntegerTy(64) || !instruction->getOperand(0)->getType()->isIntegerTy(32))
      return std::nullopt;
    auto own = find_pattern(instruction->getOperand(0), depth + 1);
    if (!own)
      return std::nullopt;
    // Of ascending offsets none passes the type's end unless the last does.
    auto operation = cast<CastInst>(instruction)->getOpcode();
    Value* span = builder_.CreateExtractElement(own->offsets, uint64_t(lanes_ - 1));
    Value* last = builder_.CreateCast(operation, builder_.CreateAdd(own->base, span), type);
    own->base = builder_.CreateCast(operation, own->base, type);
    own->exact =
        builder_.CreateICmpEQ(last, builder_.CreateAdd(own->base, builder_.CreateZExt(span, type)));
    return own;
  }
  case Instruction::GetElementPtr: {
    auto* gep = cast<GetElementPtrInst>(instruction);
    Value* varying = nullptr;
    for (Value* operand : gep->operands())
      if (!uniform(operand)) {
        if (varying)
          return std::nullopt;
        varying = operand;
      }
    SmallMapVector<Value*, APInt, 4> variables;
    APInt constant(64, 0);
    if (!varying || !gep->collectOffset(layout_, 64, variables, constant))
      return std::nullopt;
    bool is_pointer = varying == gep->getPointerOperand();
    if (!is_pointer && !varying->getType()->isIntegerTy(64))
      return std::nullopt;
    auto own = find_pattern(varying, depth + 1);
    if (!own)
      return std::nullopt;
    SmallVector<Value*, 4> operands;
    for (Value* operand : gep->operands())
      operands.push_back(operand == varying ? own->base : uniform(operand));
    own->base = emit_gep(*gep, operands);
    if (!is_pointer)
      own->unit = variables.lookup(varying).getSExtValue();
    return own;
  }
  default:
    return std::nullopt;
  }
}

// Is `offsets[lane] == lane`?
Value* Vectorizer::is_consecutive(const LanePattern& pattern) {
  Value* result = all(builder_.CreateICmpEQ(pattern.offsets, lane_numbers(builder_.getInt32Ty())));
  if (pattern.exact)
    result = builder_.CreateAnd(result, pattern.exact);
  return builder_.CreateFreeze(result);
}

bool Vectorizer::can_use_window(const LanePattern& pattern, Type* element) const {
  return options_.has_window_permutes && pattern.is_bitwise && store_size(element) == 4 &&
         (lanes_ == window_chunk || lanes_ == 2 * window_chunk);
}

// Does each lane lie after the one before it, all within two elements a lane?
Value* Vectorizer::is_window(const LanePattern& pattern) {
  SmallVector<int, 64> following;
  for (int lane = 0; lane < lanes_; ++lane)
    following.push_back(std::min(lane + 1, lanes_ - 1));
  Value* next = builder_.CreateShuffleVector(pattern.offsets, following);
  Value* ascends = bits(builder_.CreateICmpULT(pattern.offsets, next));
  APInt all_but_last = APInt::getLowBitsSet(unsigned(lanes_), unsigned(lanes_ - 1));
  Value* result =
      builder_.CreateICmpEQ(ascends, ConstantInt::get(ascends->getType(), all_but_last));
  Value* last = builder_.CreateExtractElement(pattern.offsets, uint64_t(lanes_ - 1));
  result = builder_.CreateAnd(
      result, builder_.CreateICmpULT(last, builder_.getInt32(uint32_t(2 * lanes_))));
  if (pattern.exact)
    result = builder_.CreateAnd(result, pattern.exact);
  return builder_.CreateFreeze(result);
}

// One bit for each element of the window: does a lane own it?
Value* Vectorizer::window_positions(const LanePattern& pattern) {
  FixedVectorType* type = vector_type(builder_.getInt64Ty());
  Value* shifts = builder_.CreateFreeze(builder_.CreateZExt(pattern.offsets, type));
  shifts = builder_.CreateAnd(shifts, 63);
  return builder_.CreateOrReduce(builder_.CreateShl(ConstantInt::get(type, 1), shifts));
}

SmallVector<Value*, 4> Vectorizer::window_masks(Value* positions, Value* mask) {
  Value* touched = positions;
  if (mask)
    touched = builder_.CreateIntrinsic(
        Intrinsic::x86_bmi_pdep_64, {},
        {builder_.CreateZExt(bits(mask), builder_.getInt64Ty()), positions});
  SmallVector<Value*, 4> result;
  for (int first = 0; first < 2 * lanes_; first += window_chunk)
    result.push_back(builder_.CreateBitCast(
        builder_.CreateTrunc(builder_.CreateLShr(touched, uint64_t(first)), builder_.getInt16Ty()),
        FixedVectorType::get(builder_.getInt1Ty(), window_chunk)));
  return result;
}

// Elements of the concatenation of 1, 2 or 4 registers of 16, by run-time numbers.
Value* Vectorizer::look_up(ArrayRef<Value*> parts, Value* index) {
  auto* type = FixedVectorType::get(builder_.getInt32Ty(), window_chunk);
  auto part = [&](size_t i) { return builder_.CreateBitCast(parts[i], type); };
  Value* result;
  if (parts.size() == 1)
    result = builder_.CreateIntrinsic(Intrinsic::x86_avx512_permvar_si_512, {}, {part(0), index});
  else
    result = builder_.CreateIntrinsic(Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                      {part(0), index, part(1)});
  if (parts.size() == 4) {
    Value* upper = builder_.CreateIntrinsic(Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                            {part(2), index, part(3)});
    Value* is_upper = builder_.CreateIsNotNull(builder_.CreateAnd(index, 2 * window_chunk));
    result = builder_.CreateSelect(is_upper, upper, result);
  }
  return builder_.CreateBitCast(result, parts[0]->getType());
}

// Only what active lanes own is touched.
Value* Vectorizer::load_permuted(Type* type, const LanePattern& pattern, Value* mask) {
  SmallVector<Value*, 4> chunks, outputs;
  auto masks = window_masks(window_positions(pattern), mask);
  for (size_t i = 0; i < masks.size(); ++i)
    chunks.push_back(
        load_run(type, add_offset(pattern.base, int64_t(i) * window_chunk * store_size(type)),
                 window_chunk, masks[i]));
  for (int first = 0; first < lanes_; first += window_chunk)
    outputs.push_back(look_up(chunks, slice(pattern.offsets, first, window_chunk)));
  return concatenate(outputs);
}

void Vectorizer::store_permuted(Value* value, const LanePattern& pattern, Value* mask) {
  Type* type = cast<FixedVectorType>(value->getType())->getElementType();
  Value* positions = window_positions(pattern);
  auto owned = window_masks(positions, nullptr), touched = window_masks(positions, mask);
  SmallVector<Value*, 2> parts;
  for (int first = 0; first < lanes_; first += window_chunk)
    parts.push_back(slice(value, first, window_chunk));
  auto* numbers = FixedVectorType::get(builder_.getInt32Ty(), window_chunk);
  SmallVector<Constant*, window_chunk> lanes;
  for (int lane = 0; lane < window_chunk; ++lane)
    lanes.push_back(builder_.getInt32(uint32_t(lane)));
  for (size_t i = 0; i < owned.size(); ++i) {
    // The lane that owns an element: as many as own elements before it.
    CallInst* expanded = builder_.CreateIntrinsic(
        Intrinsic::x86_avx512_mask_expand, {numbers},
        {ConstantVector::get(lanes), Constant::getNullValue(numbers), owned[i]});
    // So that it leaves the loop over vectors; it is the same for all of them.
    expanded->getCalledFunction()->addFnAttr(Attribute::Speculatable);
    Value* lane = expanded;
    if (i) {
      uint64_t before = (uint64_t(1) << (i * window_chunk)) - 1;
      Value* count =
          builder_.CreateUnaryIntrinsic(Intrinsic::ctpop, builder_.CreateAnd(positions, before));
      lane = builder_.CreateAdd(
          lane, builder_.CreateVectorSplat(window_chunk,
                                           builder_.CreateTrunc(count, builder_.getInt32Ty())));
    }
    store_run(look_up(parts, lane),
              add_offset(pattern.base, int64_t(i) * window_chunk * store_size(type)), touched[i]);
  }
}

} // namespace bessemer::metal::cpu

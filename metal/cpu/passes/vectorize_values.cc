// Values as pieces and as vectors, masks, and the shuffles that all parts use.
#include "metal/cpu/passes/vectorizer.h"

using namespace llvm;

namespace bessemer::metal::cpu {

BasicBlock* Vectorizer::new_block(const Twine& name) {
  return BasicBlock::Create(module_.getContext(), name, result_.function);
}

Type* Vectorizer::flat_type(Type* type) const {
  return type->isPointerTy() ? PointerType::get(module_.getContext(), 0) : type;
}

FixedVectorType* Vectorizer::vector_type(Type* type) const {
  return FixedVectorType::get(flat_type(type), unsigned(lanes_));
}

unsigned Vectorizer::element_count(Type* type) const {
  if (auto* vector = dyn_cast<FixedVectorType>(type))
    return vector->getNumElements();
  if (auto* record = dyn_cast<StructType>(type))
    return record->getNumElements();
  return 1;
}

LaneValue Vectorizer::get(Value* value) {
  if (isa<Instruction>(value)) {
    auto found = values_.find(value);
    if (found != values_.end())
      return found->second;
    fail("a value is used before it is made");
    LaneValue poison;
    poison.shape = Shape::uniform(lanes_);
    poison.pieces.push_back(PoisonValue::get(flat_type(value->getType())));
    return poison;
  }
  LaneValue result;
  result.shape = shapes_.shape(value);
  Type* type = flat_type(value->getType());
  if (auto* argument = dyn_cast<Argument>(value))
    result.pieces.push_back(result_.function->getArg(argument->getArgNo()));
  else if (auto* constant = dyn_cast<Constant>(value); constant && value->getType() != type)
    result.pieces.push_back(constant->isNullValue() ? Constant::getNullValue(type)
                            : isa<UndefValue>(constant)
                                ? PoisonValue::get(type)
                                : ConstantExpr::getAddrSpaceCast(constant, type));
  else
    result.pieces.push_back(value);
  return result;
}

Value* Vectorizer::add_offset(Value* value, int64_t offset) {
  if (!offset)
    return value;
  if (value->getType()->isPointerTy())
    return builder_.CreateGEP(builder_.getInt8Ty(), value, builder_.getInt64(offset));
  APInt amount(value->getType()->getIntegerBitWidth(), uint64_t(offset), true, true);
  return builder_.CreateAdd(value, ConstantInt::get(value->getType(), amount));
}

SmallVector<Value*, 4> Vectorizer::bases(const LaneValue& value, int group) {
  SmallVector<Value*, 4> result;
  for (int i = 0; i < lanes_ / group; ++i)
    result.push_back(value.pieces[i * group / value.shape.group]);
  return result;
}

SmallVector<Value*, 4> Vectorizer::flat_pieces(const LaneValue& value, int group) {
  SmallVector<Value*, 4> result;
  for (int i = 0; i < lanes_ / group; ++i)
    result.push_back(
        add_offset(value.pieces[i * group / value.shape.group], value.shape.offset(i * group)));
  return result;
}

Value* Vectorizer::vector(const LaneValue& value, unsigned element) {
  if (value.shape.is_varying())
    return value.vectors[element];
  SmallVector<Value*, 4> pieces = value.pieces;
  Type* type = pieces[0]->getType();
  if (type->isVectorTy())
    for (Value*& piece : pieces)
      piece = builder_.CreateExtractElement(piece, element);
  if (type->isStructTy())
    for (Value*& piece : pieces)
      piece = builder_.CreateExtractValue(piece, element);
  Value* result;
  if (pieces.size() == 1) {
    result = builder_.CreateVectorSplat(unsigned(lanes_), pieces[0]);
  } else {
    result = PoisonValue::get(FixedVectorType::get(pieces[0]->getType(), unsigned(pieces.size())));
    for (size_t i = 0; i < pieces.size(); ++i)
      result = builder_.CreateInsertElement(result, pieces[i], i);
    SmallVector<int, 64> mask;
    for (int lane = 0; lane < lanes_; ++lane)
      mask.push_back(lane / value.shape.group);
    result = builder_.CreateShuffleVector(result, mask);
  }
  if (value.shape.offsets.empty())
    return result;
  bool is_pointer = type->isPointerTy();
  Type* integer = is_pointer ? builder_.getInt64Ty() : type;
  SmallVector<Constant*, 64> offsets;
  for (int lane = 0; lane < lanes_; ++lane)
    offsets.push_back(
        ConstantInt::get(integer, APInt(integer->getIntegerBitWidth(),
                                        uint64_t(value.shape.offset(lane)), true, true)));
  Constant* offset = ConstantVector::get(offsets);
  if (!is_pointer)
    return builder_.CreateAdd(result, offset);
  // One scalar base keeps what address modes and gathers can use.
  if (pieces.size() == 1)
    return builder_.CreateGEP(builder_.getInt8Ty(), pieces[0], offset);
  return builder_.CreateGEP(builder_.getInt8Ty(), result, offset);
}

void Vectorizer::set(const Instruction& instruction, LaneValue value) {
  values_[&instruction] = std::move(value);
}

void Vectorizer::set_vector(const Instruction& instruction, Value* value) {
  LaneValue result;
  result.shape = Shape::varying();
  result.vectors.push_back(value);
  set(instruction, std::move(result));
}

void Vectorizer::set_uniform(const Instruction& instruction, Value* value) {
  LaneValue result;
  result.shape = Shape::uniform(lanes_);
  result.pieces.push_back(value);
  set(instruction, std::move(result));
}

Constant* Vectorizer::lane_numbers(Type* element, int64_t scale) {
  SmallVector<Constant*, 64> numbers;
  for (int lane = 0; lane < lanes_; ++lane)
    numbers.push_back(ConstantInt::get(element, uint64_t(lane * scale)));
  return ConstantVector::get(numbers);
}

// ---- masks and vectors

Value* Vectorizer::bits(Value* mask) {
  return builder_.CreateBitCast(
      mask, builder_.getIntNTy(cast<FixedVectorType>(mask->getType())->getNumElements()));
}

Value* Vectorizer::any(Value* mask) { return builder_.CreateIsNotNull(bits(mask)); }

Value* Vectorizer::all(Value* mask) {
  Value* value = bits(mask);
  return builder_.CreateICmpEQ(value, Constant::getAllOnesValue(value->getType()));
}

// A select, not an `and`: the condition may be poison in lanes that are off.
Value* Vectorizer::mask_and(Value* mask, Value* condition) {
  if (!mask)
    return condition;
  return builder_.CreateSelect(mask, condition, Constant::getNullValue(mask->getType()));
}

Value* Vectorizer::slice(Value* vector, int first, int count) {
  if (first == 0 && count == int(cast<FixedVectorType>(vector->getType())->getNumElements()))
    return vector;
  SmallVector<int, 64> mask;
  for (int i = 0; i < count; ++i)
    mask.push_back(first + i);
  return builder_.CreateShuffleVector(vector, mask);
}

Value* Vectorizer::concatenate(ArrayRef<Value*> parts) {
  SmallVector<Value*, 16> list(parts.begin(), parts.end());
  while (list.size() > 1) {
    SmallVector<Value*, 16> next;
    for (size_t i = 0; i + 1 < list.size(); i += 2) {
      unsigned count = cast<FixedVectorType>(list[i]->getType())->getNumElements();
      SmallVector<int, 128> mask;
      for (unsigned k = 0; k < 2 * count; ++k)
        mask.push_back(int(k));
      next.push_back(builder_.CreateShuffleVector(list[i], list[i + 1], mask));
    }
    list = std::move(next);
  }
  return list[0];
}

// A vector whose lane i is element lanes[i] of the concatenation of `parts` (all of one type);
// negative: does not matter. A chain of shuffles of two registers each.
Value* Vectorizer::permute(ArrayRef<Value*> parts, ArrayRef<int> lanes) {
  int width = int(cast<FixedVectorType>(parts[0]->getType())->getNumElements());
  Value* result = nullptr;
  SmallVector<int, 64> placed(lanes.size(), -1);
  for (size_t part = 0; part < parts.size(); ++part) {
    SmallVector<int, 64> mask(lanes.size(), -1);
    bool used = false;
    bool wide = int(lanes.size()) == width;
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i] >= 0 && size_t(lanes[i] / width) == part) {
        mask[i] = lanes[i] % width + (result ? int(lanes.size()) : 0);
        placed[i] = int(part);
        used = true;
      } else if (placed[i] >= 0) {
        mask[i] = int(i);
      }
    }
    if (!used)
      continue;
    if (!result) {
      result = builder_.CreateShuffleVector(parts[part], mask);
    } else {
      Value* other = parts[part];
      if (!wide) { // bring the part to the result's length first
        SmallVector<int, 64> pick(lanes.size(), -1);
        for (size_t i = 0; i < lanes.size(); ++i)
          if (mask[i] >= int(lanes.size())) {
            pick[i] = mask[i] - int(lanes.size());
            mask[i] = int(lanes.size() + i);
          }
        other = builder_.CreateShuffleVector(other, pick);
      }
      result = builder_.CreateShuffleVector(result, other, mask);
    }
  }
  if (!result)
    result = PoisonValue::get(FixedVectorType::get(
        cast<FixedVectorType>(parts[0]->getType())->getElementType(), unsigned(lanes.size())));
  return result;
}

AllocaInst* Vectorizer::scratch(Type* type) {
  IRBuilder<> entry(entry_, entry_->begin());
  AllocaInst* place = entry.CreateAlloca(type);
  place->setAlignment(Align(64));
  return place;
}

// A choice at run time between two ways of making a value, or of doing something (type null).
Value* Vectorizer::version(Value* condition, Type* type, function_ref<Value*()> fast,
                           function_ref<Value*()> slow) {
  BasicBlock *fast_block = new_block("fast"), *slow_block = new_block("slow"),
             *join = new_block("join");
  builder_.CreateCondBr(condition, fast_block, slow_block);
  builder_.SetInsertPoint(fast_block);
  Value* fast_value = fast();
  fast_block = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(slow_block);
  Value* slow_value = slow();
  slow_block = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  if (!type)
    return nullptr;
  PHINode* phi = builder_.CreatePHI(type, 2);
  phi->addIncoming(fast_value, fast_block);
  phi->addIncoming(slow_value, slow_block);
  return phi;
}

} // namespace bessemer::metal::cpu

// Elements of small vectors and structs.
#include "metal/cpu/passes/vectorizer.h"

using namespace llvm;

namespace bessemer::metal::cpu {

bool Vectorizer::emit_element_access(Instruction& instruction) {
  if (auto* extract = dyn_cast<ExtractElementInst>(&instruction)) {
    auto* index = dyn_cast<ConstantInt>(extract->getIndexOperand());
    if (!index) {
      fail("a small vector is indexed by a variable");
      return true;
    }
    LaneValue source = get(extract->getVectorOperand());
    if (source.shape.is_varying()) {
      set_vector(instruction, source.vectors[index->getZExtValue()]);
    } else {
      for (Value*& piece : source.pieces)
        piece = builder_.CreateExtractElement(piece, index);
      source.shape.align = 0;
      set(instruction, std::move(source));
    }
    return true;
  }
  if (auto* extract = dyn_cast<ExtractValueInst>(&instruction)) {
    LaneValue source = get(extract->getAggregateOperand());
    unsigned index = extract->getIndices()[0];
    if (extract->getNumIndices() != 1) {
      fail("nested structs in registers are not supported");
    } else if (source.shape.is_varying()) {
      set_vector(instruction, source.vectors[index]);
    } else {
      for (Value*& piece : source.pieces)
        piece = builder_.CreateExtractValue(piece, index);
      set(instruction, std::move(source));
    }
    return true;
  }
  if (auto* insert = dyn_cast<InsertElementInst>(&instruction)) {
    auto* index = dyn_cast<ConstantInt>(insert->getOperand(2));
    if (!index) {
      fail("a small vector is indexed by a variable");
      return true;
    }
    if (shapes_.shape(&instruction).has_pieces())
      return false;
    LaneValue result;
    result.shape = Shape::varying();
    LaneValue source = get(insert->getOperand(0));
    bool is_undefined = isa<UndefValue>(insert->getOperand(0));
    for (unsigned i = 0; i < element_count(instruction.getType()); ++i) {
      if (i == index->getZExtValue())
        result.vectors.push_back(vector(insert->getOperand(1)));
      else if (is_undefined)
        result.vectors.push_back(
            PoisonValue::get(vector_type(instruction.getType()->getScalarType())));
      else
        result.vectors.push_back(vector(source, i));
    }
    set(instruction, std::move(result));
    return true;
  }
  // What is left of operations on whole small vectors: shuffles, selects, freezes.
  if (auto* shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) {
    if (shapes_.shape(&instruction).has_pieces())
      return false;
    LaneValue result;
    result.shape = Shape::varying();
    LaneValue a = get(shuffle->getOperand(0)), b = get(shuffle->getOperand(1));
    unsigned width = element_count(shuffle->getOperand(0)->getType());
    for (int index : shuffle->getShuffleMask())
      result.vectors.push_back(
          index < 0 ? PoisonValue::get(vector_type(instruction.getType()->getScalarType()))
          : unsigned(index) < width ? vector(a, unsigned(index))
                                    : vector(b, unsigned(index) - width));
    set(instruction, std::move(result));
    return true;
  }
  bool has_vectors = instruction.getType()->isVectorTy() ||
                     llvm::any_of(instruction.operands(),
                                  [](const Use& use) { return use->getType()->isVectorTy(); });
  if (!has_vectors || shapes_.shape(&instruction).has_pieces())
    return false;
  if (isa<SelectInst>(instruction) && !instruction.getOperand(0)->getType()->isVectorTy()) {
    LaneValue result, condition = get(instruction.getOperand(0)),
                      a = get(instruction.getOperand(1)), b = get(instruction.getOperand(2));
    result.shape = Shape::varying();
    Value* choice = condition.shape.is_uniform(lanes_) ? condition.pieces[0] : vector(condition);
    for (unsigned i = 0; i < element_count(instruction.getType()); ++i)
      result.vectors.push_back(builder_.CreateSelect(choice, vector(a, i), vector(b, i)));
    set(instruction, std::move(result));
    return true;
  }
  if (isa<FreezeInst>(instruction)) {
    LaneValue result, source = get(instruction.getOperand(0));
    result.shape = Shape::varying();
    for (unsigned i = 0; i < element_count(instruction.getType()); ++i)
      result.vectors.push_back(builder_.CreateFreeze(vector(source, i)));
    set(instruction, std::move(result));
    return true;
  }
  if (isa<BitCastInst>(instruction)) {
    // <2 x half> and i32, <2 x i32> and i64 and the like.
    Type *from = instruction.getOperand(0)->getType(), *to = instruction.getType();
    unsigned from_count = from->isVectorTy() ? element_count(from) : 1,
             to_count = to->isVectorTy() ? element_count(to) : 1;
    unsigned whole_bits = unsigned(from->getPrimitiveSizeInBits().getFixedValue());
    // A whole long4 is what loads of parts of one leave behind.
    if (whole_bits <= 256) {
      LaneValue source = get(instruction.getOperand(0)), result;
      result.shape = Shape::varying();
      unsigned from_bits = whole_bits / from_count, to_bits = whole_bits / to_count;
      Type* whole = vector_type(builder_.getIntNTy(whole_bits));
      Value* packed = nullptr;
      for (unsigned i = 0; i < from_count; ++i) {
        Value* part =
            builder_.CreateBitCast(vector(source, i), vector_type(builder_.getIntNTy(from_bits)));
        part = builder_.CreateZExt(part, whole);
        if (i)
          part = builder_.CreateShl(part, ConstantInt::get(whole, i * from_bits));
        packed = packed ? builder_.CreateOr(packed, part) : part;
      }
      for (unsigned i = 0; i < to_count; ++i) {
        Value* part =
            i ? builder_.CreateLShr(packed, ConstantInt::get(whole, i * to_bits)) : packed;
        part = builder_.CreateTrunc(part, vector_type(builder_.getIntNTy(to_bits)));
        result.vectors.push_back(builder_.CreateBitCast(part, vector_type(to->getScalarType())));
      }
      set(instruction, std::move(result));
      return true;
    }
  }
  fail(Twine("instruction '") + instruction.getOpcodeName() +
       "' on small vectors cannot be vectorised");
  return true;
}

} // namespace bessemer::metal::cpu

#include "metal/cpu/passes/lower_matrices.h"

#include "metal/air/intrinsic.h"
#include "metal/cpu/analysis/spmd.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using bessemer::air::Operation;

namespace bessemer::metal::cpu {
namespace {

// LLVM also takes a matrix for a vector of half as many elements of twice the width.
bool is_halved(Type* type) {
  auto* vector = dyn_cast<FixedVectorType>(type);
  return vector && vector->getNumElements() == 32 && vector->getElementType()->isIntegerTy();
}

bool is_matrix(Type* type) {
  auto* vector = dyn_cast<FixedVectorType>(type);
  return (vector && vector->getNumElements() == 64) || is_halved(type);
}

// Of each of the lane's two elements.
Type* element_type(Type* matrix) {
  Type* scalar = matrix->getScalarType();
  return is_halved(matrix)
             ? IntegerType::get(matrix->getContext(), scalar->getIntegerBitWidth() / 2)
             : scalar;
}

class MatrixLowering {
public:
  explicit MatrixLowering(Function& function)
      : function_(function), module_(*function.getParent()), builder_(function.getContext()) {}

  Error run() {
    std::vector<Instruction*> instructions;
    ReversePostOrderTraversal<Function*> order(&function_);
    for (BasicBlock* block : order)
      for (Instruction& instruction : *block)
        if (uses_matrix(instruction))
          instructions.push_back(&instruction);
    if (instructions.empty())
      return Error::success();
    for (Instruction* instruction : instructions) {
      builder_.SetInsertPoint(instruction);
      builder_.setFastMathFlags(isa<FPMathOperator>(instruction) ? instruction->getFastMathFlags()
                                                                 : FastMathFlags());
      if (!lower(*instruction))
        return createStringError("an instruction on simdgroup matrices is not supported: %s",
                                 instruction->getOpcodeName());
    }
    for (auto& [phi, parts] : phis_)
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        Pair value = get(phi->getIncomingValue(i));
        parts.first->addIncoming(value.first, phi->getIncomingBlock(i));
        parts.second->addIncoming(value.second, phi->getIncomingBlock(i));
      }
    for (Instruction* instruction : reverse(instructions)) {
      if (!instruction->use_empty())
        instruction->replaceAllUsesWith(PoisonValue::get(instruction->getType()));
      instruction->eraseFromParent();
    }
    return Error::success();
  }

private:
  using Pair = std::pair<Value*, Value*>;

  static bool uses_matrix(const Instruction& instruction) {
    if (is_matrix(instruction.getType()))
      return true;
    return llvm::any_of(instruction.operands(),
                        [](const Use& use) { return is_matrix(use->getType()); });
  }

  Pair get(Value* value) {
    if (auto found = pairs_.find(value); found != pairs_.end())
      return found->second;
    Type* element = element_type(value->getType());
    if (auto* constant = dyn_cast<Constant>(value)) {
      if (Constant* first =
              is_halved(value->getType()) ? constant->getAggregateElement(0u) : nullptr)
        return split(first);
      Constant *first = constant->getAggregateElement(0u),
               *second = constant->getAggregateElement(1u);
      if (first && second)
        return {first, second};
    }
    return {PoisonValue::get(element), PoisonValue::get(element)};
  }

  // Two elements from an integer that holds both, and back.
  Pair split(Value* both) {
    unsigned bits = both->getType()->getIntegerBitWidth() / 2;
    Type* half = builder_.getIntNTy(bits);
    return {builder_.CreateTrunc(both, half),
            builder_.CreateTrunc(builder_.CreateLShr(both, bits), half)};
  }
  Value* join(const Pair& pair) {
    unsigned bits = pair.first->getType()->getIntegerBitWidth();
    Type* whole = builder_.getIntNTy(2 * bits);
    return builder_.CreateOr(builder_.CreateZExt(pair.first, whole),
                             builder_.CreateShl(builder_.CreateZExt(pair.second, whole), bits));
  }

  // Element `index` of the concatenation of a shuffle's operands.
  Value* element(ShuffleVectorInst& shuffle, int index) {
    if (index < 0)
      return PoisonValue::get(shuffle.getType()->getScalarType());
    int width = int(cast<FixedVectorType>(shuffle.getOperand(0)->getType())->getNumElements());
    Value* source = shuffle.getOperand(index >= width);
    index %= width;
    if (!is_matrix(source->getType()))
      return builder_.CreateExtractElement(source, index);
    if (index > (is_halved(source->getType()) ? 0 : 1))
      return PoisonValue::get(shuffle.getType()->getScalarType());
    Pair pair = get(source);
    if (is_halved(source->getType()))
      return join(pair);
    return index ? pair.second : pair.first;
  }

  bool lower(Instruction& instruction) {
    if (auto* phi = dyn_cast<PHINode>(&instruction)) {
      Type* type = element_type(phi->getType());
      PHINode* first = builder_.CreatePHI(type, phi->getNumIncomingValues());
      PHINode* second = builder_.CreatePHI(type, phi->getNumIncomingValues());
      phis_.push_back({phi, {first, second}});
      pairs_[phi] = {first, second};
      return true;
    }
    if (auto* shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) {
      ArrayRef<int> mask = shuffle->getShuffleMask();
      if (is_halved(shuffle->getType())) {
        pairs_[shuffle] = split(element(*shuffle, mask[0]));
        return true;
      }
      if (is_matrix(shuffle->getType())) {
        pairs_[shuffle] = {element(*shuffle, mask[0]), element(*shuffle, mask[1])};
        return true;
      }
      Value* result = PoisonValue::get(shuffle->getType());
      for (size_t i = 0; i < mask.size(); ++i)
        result = builder_.CreateInsertElement(result, element(*shuffle, mask[i]), i);
      shuffle->replaceAllUsesWith(result);
      return true;
    }
    if (auto* extract = dyn_cast<ExtractElementInst>(&instruction)) {
      auto* index = dyn_cast<ConstantInt>(extract->getIndexOperand());
      if (!index)
        return false;
      Pair pair = get(extract->getVectorOperand());
      if (is_halved(extract->getVectorOperand()->getType())) {
        extract->replaceAllUsesWith(index->isZero() ? join(pair)
                                                    : PoisonValue::get(extract->getType()));
        return true;
      }
      Value* value = index->isZero()  ? pair.first
                     : index->isOne() ? pair.second
                                      : PoisonValue::get(extract->getType());
      extract->replaceAllUsesWith(value);
      return true;
    }
    if (auto* insert = dyn_cast<InsertElementInst>(&instruction)) {
      auto* index = dyn_cast<ConstantInt>(insert->getOperand(2));
      if (!index)
        return false;
      Pair pair = get(insert->getOperand(0));
      if (is_halved(insert->getType())) {
        pairs_[insert] = index->isZero() ? split(insert->getOperand(1)) : pair;
        return true;
      }
      if (index->isZero())
        pair.first = insert->getOperand(1);
      if (index->isOne())
        pair.second = insert->getOperand(1);
      pairs_[insert] = pair;
      return true;
    }
    if (auto* select = dyn_cast<SelectInst>(&instruction)) {
      if (select->getCondition()->getType()->isVectorTy())
        return false;
      Pair a = get(select->getTrueValue()), b = get(select->getFalseValue());
      pairs_[select] = {builder_.CreateSelect(select->getCondition(), a.first, b.first),
                        builder_.CreateSelect(select->getCondition(), a.second, b.second)};
      return true;
    }
    if (auto* bitcast = dyn_cast<BitCastInst>(&instruction)) {
      Type *from = bitcast->getOperand(0)->getType(), *to = bitcast->getType();
      if (!is_matrix(from) || !is_matrix(to) ||
          element_type(from)->getPrimitiveSizeInBits() !=
              element_type(to)->getPrimitiveSizeInBits())
        return false;
      Pair pair = get(bitcast->getOperand(0));
      pairs_[bitcast] = {builder_.CreateBitCast(pair.first, element_type(to)),
                         builder_.CreateBitCast(pair.second, element_type(to))};
      return true;
    }
    if (is_halved(instruction.getType()) &&
        (isa<BinaryOperator>(instruction) || isa<UnaryOperator>(instruction) ||
         isa<CastInst>(instruction)))
      return false; // would carry from one element into the other
    if (auto* operation = dyn_cast<BinaryOperator>(&instruction)) {
      Pair a = get(operation->getOperand(0)), b = get(operation->getOperand(1));
      pairs_[operation] = {builder_.CreateBinOp(operation->getOpcode(), a.first, b.first),
                           builder_.CreateBinOp(operation->getOpcode(), a.second, b.second)};
      return true;
    }
    if (isa<UnaryOperator>(instruction) || isa<FreezeInst>(instruction) ||
        isa<CastInst>(instruction)) {
      Pair a = get(instruction.getOperand(0));
      auto apply = [&](Value* value) -> Value* {
        if (isa<UnaryOperator>(instruction))
          return builder_.CreateFNeg(value);
        if (isa<FreezeInst>(instruction))
          return builder_.CreateFreeze(value);
        return builder_.CreateCast(cast<CastInst>(instruction).getOpcode(), value,
                                   instruction.getType()->getScalarType());
      };
      if (!is_matrix(instruction.getType()) || !is_matrix(instruction.getOperand(0)->getType()))
        return false;
      pairs_[&instruction] = {apply(a.first), apply(a.second)};
      return true;
    }
    // Thread memory: the two elements lie first, as they do where AIR reads them as <2 x T>.
    if (auto* load = dyn_cast<LoadInst>(&instruction)) {
      Type* type = element_type(load->getType());
      Value* next = builder_.CreateConstGEP1_64(type, load->getPointerOperand(), 1);
      pairs_[load] = {builder_.CreateAlignedLoad(type, load->getPointerOperand(), Align(2)),
                      builder_.CreateAlignedLoad(type, next, Align(2))};
      return true;
    }
    if (auto* store = dyn_cast<StoreInst>(&instruction)) {
      Pair pair = get(store->getValueOperand());
      Value* next =
          builder_.CreateConstGEP1_64(pair.first->getType(), store->getPointerOperand(), 1);
      builder_.CreateAlignedStore(pair.first, store->getPointerOperand(), Align(2));
      builder_.CreateAlignedStore(pair.second, next, Align(2));
      return true;
    }
    if (auto* call = dyn_cast<CallInst>(&instruction))
      return lower_call(*call);
    return false;
  }

  // The lane's row and first column.
  std::pair<Value*, Value*> position() {
    Value* lane = builder_.CreateAnd(
        builder_.CreateCall(spmd::declare(module_, spmd::thread_index, builder_.getInt32Ty())), 31);
    Value* quarter = builder_.CreateLShr(lane, 2);
    Value* row = builder_.CreateAdd(builder_.CreateAnd(quarter, 4),
                                    builder_.CreateAnd(builder_.CreateLShr(lane, 1), 3));
    Value* column = builder_.CreateAdd(builder_.CreateShl(builder_.CreateAnd(quarter, 2), 1),
                                       builder_.CreateShl(builder_.CreateAnd(lane, 1), 1));
    return {row, column};
  }

  // Addresses of the lane's two elements; `first` is the index of the first of the arguments that
  // describe the layout, which AIR 2.6 and 2.8 give differently under one name.
  std::pair<Value*, Value*> addresses(CallInst& call, unsigned first, Type* element) {
    Type* i64 = builder_.getInt64Ty();
    auto [row32, column32] = position();
    Value *row = builder_.CreateZExt(row32, i64), *column = builder_.CreateZExt(column32, i64);
    Value *column_stride, *row_stride, *origin;
    if (call.getArgOperand(first + 1)->getType()->isIntegerTy(64)) {
      Value *stride = call.getArgOperand(first + 1), *transpose = call.getArgOperand(first + 3);
      origin = call.getArgOperand(first + 2);
      column_stride = builder_.CreateSelect(transpose, stride, builder_.getInt64(1));
      row_stride = builder_.CreateSelect(transpose, builder_.getInt64(1), stride);
    } else {
      Value* strides = call.getArgOperand(first + 2);
      origin = call.getArgOperand(first + 3);
      column_stride = builder_.CreateExtractElement(strides, uint64_t(0));
      row_stride = builder_.CreateExtractElement(strides, uint64_t(1));
    }
    column = builder_.CreateAdd(column, builder_.CreateExtractElement(origin, uint64_t(0)));
    row = builder_.CreateAdd(row, builder_.CreateExtractElement(origin, uint64_t(1)));
    Value* index = builder_.CreateAdd(builder_.CreateMul(column, column_stride),
                                      builder_.CreateMul(row, row_stride));
    Value* base = call.getArgOperand(first);
    return {builder_.CreateGEP(element, base, index),
            builder_.CreateGEP(element, base, builder_.CreateAdd(index, column_stride))};
  }

  bool lower_call(CallInst& call) {
    auto intrinsic = air::parse_intrinsic(spmd::callee_name(call));
    if (!intrinsic)
      return false;
    Type *type = call.getType()->getScalarType(), *f32 = builder_.getFloatTy();
    switch (intrinsic->operation) {
    case Operation::MatrixInitFilled:
      pairs_[&call] = {call.getArgOperand(0), call.getArgOperand(0)};
      return true;
    case Operation::MatrixInitDiagonal: {
      auto [row, column] = position();
      Value *zero = Constant::getNullValue(type), *value = call.getArgOperand(0);
      Value* next = builder_.CreateAdd(column, builder_.getInt32(1));
      pairs_[&call] = {builder_.CreateSelect(builder_.CreateICmpEQ(row, column), value, zero),
                       builder_.CreateSelect(builder_.CreateICmpEQ(row, next), value, zero)};
      return true;
    }
    case Operation::MatrixLoad: {
      auto [first, second] = addresses(call, 0, type);
      Align align = module_.getDataLayout().getABITypeAlign(type);
      pairs_[&call] = {builder_.CreateAlignedLoad(type, first, align),
                       builder_.CreateAlignedLoad(type, second, align)};
      return true;
    }
    case Operation::MatrixStore: {
      Pair value = get(call.getArgOperand(0));
      Type* element = value.first->getType();
      auto [first, second] = addresses(call, 1, element);
      Align align = module_.getDataLayout().getABITypeAlign(element);
      builder_.CreateAlignedStore(value.first, first, align);
      builder_.CreateAlignedStore(value.second, second, align);
      return true;
    }
    case Operation::MatrixMultiply:
    case Operation::MatrixMultiplyAccumulate: {
      auto wide = [&](Value* value) { return builder_.CreateFPCast(value, f32); };
      Pair a = get(call.getArgOperand(0)), b = get(call.getArgOperand(1));
      Pair c = {ConstantFP::get(f32, 0.0), ConstantFP::get(f32, 0.0)};
      if (intrinsic->operation == Operation::MatrixMultiplyAccumulate)
        c = get(call.getArgOperand(2));
      FunctionCallee callee =
          spmd::declare(module_, (spmd::matrix_multiply + "f32").str(), StructType::get(f32, f32),
                        {f32, f32, f32, f32, f32, f32});
      cast<Function>(callee.getCallee())->setConvergent();
      Value* result = builder_.CreateCall(callee, {wide(a.first), wide(a.second), wide(b.first),
                                                   wide(b.second), wide(c.first), wide(c.second)});
      pairs_[&call] = {builder_.CreateFPCast(builder_.CreateExtractValue(result, 0), type),
                       builder_.CreateFPCast(builder_.CreateExtractValue(result, 1), type)};
      return true;
    }
    default:
      return false;
    }
  }

  Function& function_;
  Module& module_;
  IRBuilder<> builder_;
  DenseMap<Value*, Pair> pairs_;
  std::vector<std::pair<PHINode*, std::pair<PHINode*, PHINode*>>> phis_;
};

} // namespace

Error lower_matrices(Function& function) { return MatrixLowering(function).run(); }

} // namespace bessemer::metal::cpu

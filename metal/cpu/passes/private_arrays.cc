#include "metal/cpu/passes/private_arrays.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

class ArrayPlacement {
public:
  ArrayPlacement(AllocaInst& array, int lanes, uint64_t place)
      : array_(array), module_(*array.getModule()), layout_(module_.getDataLayout()),
        lanes_(uint64_t(lanes)), place_(place), builder_(array.getContext()) {}

  // Bytes taken.
  Expected<uint64_t> run() {
    auto* count = dyn_cast<ConstantInt>(array_.getArraySize());
    if (!count)
      return createStringError("thread memory of variable size is not supported");
    uint64_t size = layout_.getTypeAllocSize(array_.getAllocatedType()) * count->getZExtValue();
    for (User* user : make_early_inc_range(array_.users()))
      if (auto* call = dyn_cast<IntrinsicInst>(user); call && call->isLifetimeStartOrEnd())
        call->eraseFromParent();
    builder_.SetInsertPoint(&array_);
    Type* i64 = builder_.getInt64Ty();
    Value* block = builder_.CreateCall(
        spmd::declare(module_, spmd::private_memory, builder_.getPtrTy(), {i64}),
        {builder_.getInt64(place_)});
    Value* lane = builder_.CreateZExt(
        builder_.CreateCall(spmd::declare(module_, spmd::lane, builder_.getInt32Ty())), i64);
    if (collect(array_) && unit_) {
      size = alignTo(size, unit_);
      rewrite(array_, block, lane);
      for (Instruction* dead : replaced_)
        dead->eraseFromParent(); // users come first
      array_.eraseFromParent();
    } else {
      size = alignTo(size, array_.getAlign());
      Value* own = builder_.CreateGEP(builder_.getInt8Ty(), block,
                                      builder_.CreateMul(lane, builder_.getInt64(size)));
      array_.replaceAllUsesWith(own);
      array_.eraseFromParent();
    }
    return alignTo(size * lanes_, 64);
  }

private:
  // Are all uses loads and stores of elements of one size, at multiples of that size?
  bool collect(Instruction& pointer) {
    for (Use& use : pointer.uses()) {
      auto* user = cast<Instruction>(use.getUser());
      Type* accessed = nullptr;
      if (auto* load = dyn_cast<LoadInst>(user))
        accessed = load->getType();
      if (auto* store = dyn_cast<StoreInst>(user)) {
        if (use.getOperandNo() != StoreInst::getPointerOperandIndex())
          return false;
        accessed = store->getValueOperand()->getType();
      }
      if (accessed) {
        Type* element = accessed->getScalarType();
        if (accessed->isStructTy() || accessed->isArrayTy())
          return false;
        uint64_t size = layout_.getTypeStoreSize(element);
        if (layout_.getTypeSizeInBits(element) != size * 8 || !isPowerOf2_64(size))
          return false;
        if (unit_ && unit_ != size)
          return false;
        unit_ = size;
        continue;
      }
      auto* gep = dyn_cast<GetElementPtrInst>(user);
      if (!gep || use.getOperandNo() != 0)
        return false;
      SmallMapVector<Value*, APInt, 4> variables;
      APInt constant(64, 0);
      if (!gep->collectOffset(layout_, 64, variables, constant))
        return false;
      scales_.push_back(constant.getSExtValue());
      for (auto& [value, scale] : variables)
        scales_.push_back(scale.getSExtValue());
      if (!collect(*gep))
        return false;
    }
    return !unit_ || all_of(scales_, [&](int64_t scale) { return scale % int64_t(unit_) == 0; });
  }

  void rewrite(Instruction& pointer, Value* base, Value* lane) {
    Type *byte = builder_.getInt8Ty(), *i64 = builder_.getInt64Ty();
    for (User* user : make_early_inc_range(pointer.users())) {
      auto* instruction = cast<Instruction>(user);
      builder_.SetInsertPoint(instruction);
      if (auto* gep = dyn_cast<GetElementPtrInst>(instruction)) {
        SmallMapVector<Value*, APInt, 4> variables;
        APInt constant(64, 0);
        gep->collectOffset(layout_, 64, variables, constant);
        Value* next = base;
        for (auto& [value, scale] : variables)
          next = builder_.CreateGEP(
              byte, next,
              builder_.CreateMul(builder_.CreateSExtOrTrunc(value, i64),
                                 builder_.getInt64(scale.getZExtValue() * lanes_)));
        if (!constant.isZero())
          next =
              builder_.CreateGEP(byte, next, builder_.getInt64(constant.getZExtValue() * lanes_));
        rewrite(*gep, next, lane);
        replaced_.push_back(gep);
        continue;
      }
      Value* own =
          builder_.CreateGEP(byte, base, builder_.CreateMul(lane, builder_.getInt64(unit_)));
      auto element = [&](unsigned i) {
        return i ? builder_.CreateConstGEP1_64(byte, own, i * unit_ * lanes_) : own;
      };
      Align align(unit_);
      if (auto* load = dyn_cast<LoadInst>(instruction)) {
        Value* value;
        if (auto* vector = dyn_cast<FixedVectorType>(load->getType())) {
          value = PoisonValue::get(vector);
          for (unsigned i = 0; i < vector->getNumElements(); ++i)
            value = builder_.CreateInsertElement(
                value, builder_.CreateAlignedLoad(vector->getElementType(), element(i), align), i);
        } else {
          value = builder_.CreateAlignedLoad(load->getType(), own, align);
        }
        load->replaceAllUsesWith(value);
      } else {
        Value* value = cast<StoreInst>(instruction)->getValueOperand();
        if (auto* vector = dyn_cast<FixedVectorType>(value->getType()))
          for (unsigned i = 0; i < vector->getNumElements(); ++i)
            builder_.CreateAlignedStore(builder_.CreateExtractElement(value, i), element(i), align);
        else
          builder_.CreateAlignedStore(value, own, align);
      }
      replaced_.push_back(instruction);
    }
  }

  AllocaInst& array_;
  Module& module_;
  const DataLayout& layout_;
  uint64_t lanes_, place_;
  IRBuilder<> builder_;
  uint64_t unit_ = 0;
  SmallVector<int64_t, 16> scales_;
  SmallVector<Instruction*, 16> replaced_;
};

} // namespace

Expected<uint64_t> place_private_arrays(Function& function, int lanes) {
  SmallVector<AllocaInst*, 8> arrays;
  for (BasicBlock& block : function)
    for (Instruction& instruction : block)
      if (auto* array = dyn_cast<AllocaInst>(&instruction))
        arrays.push_back(array);
  uint64_t size = 0;
  for (AllocaInst* array : arrays) {
    Expected<uint64_t> taken = ArrayPlacement(*array, lanes, size).run();
    if (!taken)
      return taken.takeError();
    size += *taken;
  }
  return size;
}

} // namespace bessemer::metal::cpu

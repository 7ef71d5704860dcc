#include "metal/cpu/passes/split_vectors.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <algorithm>
#include <vector>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// A run of instructions may have this many parts of values alive at once.
constexpr unsigned max_live_parts = 28;

class VectorSplitter {
public:
  VectorSplitter(Function& function, unsigned lanes)
      : function_(function), module_(*function.getParent()), layout_(module_.getDataLayout()),
        lanes_(lanes), builder_(function.getContext()) {}

  void run() {
    EliminateUnreachableBlocks(function_);
    ReversePostOrderTraversal<Function*> order(&function_);
    for (BasicBlock* block : order)
      for (Instruction& instruction : make_early_inc_range(*block))
        visit(instruction);
    for (PHINode* phi : phis_)
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
        for (unsigned k = 0; k < count(phi->getType()); ++k)
          cast<PHINode>(parts_[phi][k])
              ->addIncoming(part(phi->getIncomingValue(i), k), phi->getIncomingBlock(i));
    for (Instruction* instruction : reverse(dead_)) {
      if (!instruction->use_empty())
        instruction->replaceAllUsesWith(PoisonValue::get(instruction->getType()));
      instruction->eraseFromParent();
    }
  }

private:
  using Parts = SmallVector<Value*, 16>;
  /// One lane of a value that is not wide.
  struct Lane {
    Value* value = nullptr; // null: does not matter
    int index = 0;
  };

  // ---- types and parts

  static unsigned lane_count(Type* type) { return cast<FixedVectorType>(type)->getNumElements(); }
  bool is_wide(Type* type) const {
    auto* vector = dyn_cast<FixedVectorType>(type);
    return vector && vector->getNumElements() > lanes_ && vector->getNumElements() % lanes_ == 0;
  }
  unsigned count(Type* type) const { return lane_count(type) / lanes_; }
  Type* part_type(Type* type) const {
    return FixedVectorType::get(cast<FixedVectorType>(type)->getElementType(), lanes_);
  }
  bool is_split(Value* value) const { return is_wide(value->getType()); }

  Value* part(Value* value, unsigned index) {
    if (auto* constant = dyn_cast<Constant>(value)) {
      Type* type = part_type(value->getType());
      if (isa<PoisonValue>(constant))
        return PoisonValue::get(type);
      if (isa<UndefValue>(constant))
        return UndefValue::get(type);
      if (Constant* same = constant->getSplatValue())
        return ConstantVector::getSplat(ElementCount::getFixed(lanes_), same);
      SmallVector<Constant*, 16> elements;
      for (unsigned i = 0; i < lanes_; ++i) {
        Constant* element = constant->getAggregateElement(index * lanes_ + i);
        elements.push_back(element ? element // an expression has none
                                   : ConstantExpr::getExtractElement(
                                         constant, builder_.getInt32(index * lanes_ + i)));
      }
      return ConstantVector::get(elements);
    }
    return parts_.find(value)->second[index];
  }

  // The lanes of a value, split or not.
  Lane lane(Value* value, unsigned index) {
    if (isa<UndefValue>(value))
      return {};
    if (!is_split(value))
      return {value, int(index)};
    Value* holder = part(value, index / lanes_);
    if (isa<UndefValue>(holder))
      return {};
    return {holder, int(index % lanes_)};
  }

  // A vector of these lanes, by as few shuffles as the number of their sources needs.
  Value* assemble(ArrayRef<Lane> lanes, Type* element) {
    auto* type = FixedVectorType::get(element, unsigned(lanes.size()));
    SmallSetVector<Value*, 4> sources;
    for (const Lane& lane : lanes)
      if (lane.value)
        sources.insert(lane.value);
    if (sources.empty())
      return PoisonValue::get(type);
    auto mask_of = [&](Value* first, Value* second) {
      SmallVector<int, 64> mask;
      int width = int(lane_count(first->getType()));
      for (const Lane& lane : lanes)
        mask.push_back(!lane.value            ? -1
                       : lane.value == first  ? lane.index
                       : lane.value == second ? width + lane.index
                                              : -1);
      return mask;
    };
    auto is_identity = [&](ArrayRef<int> mask) {
      for (size_t i = 0; i < mask.size(); ++i)
        if (mask[i] >= 0 && size_t(mask[i]) != i)
          return false;
      return true;
    };
    Value* first = sources[0];
    Value* second =
        sources.size() > 1 && sources[1]->getType() == first->getType() ? sources[1] : nullptr;
    SmallVector<int, 64> mask = mask_of(first, second);
    Value* result = !second && first->getType() == type && is_identity(mask) ? first
                    : second ? builder_.CreateShuffleVector(first, second, mask)
                             : builder_.CreateShuffleVector(first, mask);
    SmallVector<bool, 64> placed;
    for (const Lane& lane : lanes)
      placed.push_back(lane.value && (lane.value == first || lane.value == second));
    for (Value* source : sources) {
      if (source == first || source == second)
        continue;
      SmallVector<int, 64> pick, blend;
      for (size_t i = 0; i < lanes.size(); ++i) {
        bool here = lanes[i].value == source;
        pick.push_back(here ? lanes[i].index : -1);
        blend.push_back(here ? int(lanes.size() + i) : placed[i] ? int(i) : -1);
        placed[i] = placed[i] || here;
      }
      if (source->getType() == type) {
        for (size_t i = 0; i < lanes.size(); ++i)
          if (pick[i] >= 0)
            blend[i] = int(lanes.size()) + pick[i];
        result = builder_.CreateShuffleVector(result, source, blend);
      } else {
        result =
            builder_.CreateShuffleVector(result, builder_.CreateShuffleVector(source, pick), blend);
      }
    }
    return result;
  }

  Value* whole(Value* value) {
    if (!is_split(value) || isa<Constant>(value))
      return value;
    Parts list = parts_.find(value)->second;
    while (list.size() > 1) {
      Parts next;
      for (size_t i = 0; i < list.size(); i += 2) {
        if (i + 1 == list.size()) { // an odd number of parts: lengthen the last
          next.push_back(list[i]);
          continue;
        }
        next.push_back(join(list[i], list[i + 1]));
      }
      list = std::move(next);
    }
    return list[0];
  }

  Value* join(Value* low, Value* high) {
    SmallVector<Lane, 64> lanes;
    for (Value* value : {low, high})
      for (unsigned i = 0; i < lane_count(value->getType()); ++i)
        lanes.push_back({value, int(i)});
    return assemble(lanes, cast<FixedVectorType>(low->getType())->getElementType());
  }

  void split(Instruction& instruction, Parts parts) {
    parts_[&instruction] = std::move(parts);
    dead_.push_back(&instruction);
  }

  // ---- instructions

  void visit(Instruction& instruction) {
    bool wide = is_wide(instruction.getType()) ||
                any_of(instruction.operands(), [&](const Use& use) { return is_split(use.get()); });
    if (auto* phi = dyn_cast<PHINode>(&instruction)) {
      set_place(*phi, *phi);
      if (wide)
        split_phi(*phi);
      return;
    }
    if (wide && is_lanewise(instruction)) {
      if (!run_.empty() && lane_count(run_[0]->getType()) != lane_count(instruction.getType()))
        make_run(instruction);
      run_.insert(&instruction);
      return;
    }
    if (instruction.mayHaveSideEffects() || instruction.isTerminator() ||
        any_of(instruction.operands(), [&](const Use& use) {
          auto* source = dyn_cast<Instruction>(use.get());
          return source && run_.contains(source);
        }))
      make_run(instruction);
    if (!wide)
      return;
    set_place(instruction, instruction);
    if (!split_apart(instruction))
      keep(instruction);
  }

  void set_place(Instruction& at, const Instruction& source) {
    builder_.SetInsertPoint(&at);
    builder_.SetCurrentDebugLocation(source.getDebugLoc());
  }

  bool split_apart(Instruction& instruction) {
    switch (instruction.getOpcode()) {
    case Instruction::Store:
      return split_store(cast<StoreInst>(instruction));
    case Instruction::ShuffleVector:
      return split_shuffle(cast<ShuffleVectorInst>(instruction));
    case Instruction::ExtractElement:
      return split_extract(cast<ExtractElementInst>(instruction));
    case Instruction::InsertElement:
      return split_insert(cast<InsertElementInst>(instruction));
    case Instruction::BitCast:
      return split_bits(cast<BitCastInst>(instruction));
    case Instruction::Call:
      return split_call(cast<CallInst>(instruction));
    default:
      return false;
    }
  }

  // ---- runs of instructions that work lane by lane and write no memory

  bool is_lanewise(Instruction& instruction) {
    Type* type = instruction.getType();
    if (!is_wide(type))
      return false;
    if (auto* load = dyn_cast<LoadInst>(&instruction))
      return load->isSimple() && element_bytes(type);
    unsigned lanes = lane_count(type);
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    for (const Use& use : call ? call->args() : instruction.operands())
      if (auto* vector = dyn_cast<FixedVectorType>(use->getType());
          vector && vector->getNumElements() != lanes)
        return false;
    if (call) {
      Intrinsic::ID id = call->getIntrinsicID();
      if (id == Intrinsic::masked_load)
        return element_bytes(type);
      SmallVector<Type*, 4> overloads;
      return (id == Intrinsic::masked_gather || isTriviallyVectorizable(id)) &&
             Intrinsic::getIntrinsicSignature(call->getCalledFunction(), overloads);
    }
    if (isa<CastInst>(instruction) && !instruction.getOperand(0)->getType()->isVectorTy())
      return false;
    return isa<BinaryOperator>(instruction) || isa<UnaryOperator>(instruction) ||
           isa<CmpInst>(instruction) || isa<SelectInst>(instruction) ||
           isa<CastInst>(instruction) || isa<FreezeInst>(instruction) ||
           isa<GetElementPtrInst>(instruction);
  }

  // Makes the parts of the run before `end`: instruction by instruction, so that memory is read in
  // order; or part by part, where the registers would not hold all parts of what is alive at once.
  void make_run(Instruction& end) {
    if (run_.empty())
      return;
    unsigned parts = count(run_[0]->getType());
    for (Instruction* instruction : run_)
      parts_[instruction].resize(parts);
    auto make = [&](Instruction* instruction, unsigned k) {
      set_place(end, *instruction);
      Value* made = make_part(*instruction, k);
      parts_[instruction][k] = made;
    };
    if (live_parts() * parts <= max_live_parts) {
      for (Instruction* instruction : run_)
        for (unsigned k = 0; k < parts; ++k)
          make(instruction, k);
    } else {
      for (unsigned k = 0; k < parts; ++k)
        for (Instruction* instruction : run_)
          make(instruction, k);
    }
    dead_.insert(dead_.end(), run_.begin(), run_.end());
    run_.clear();
  }

  // How many values are alive at once in the run, counting those from before it.
  unsigned live_parts() const {
    auto counts = [&](const Value* value) {
      if (!is_wide(value->getType()) || isa<Constant>(value) ||
          value->getType()->getScalarType()->isIntegerTy(1))
        return false;
      const auto* load = dyn_cast<LoadInst>(value); // as part of its one user it needs no register
      return !(load && load->hasOneUse() && isa<BinaryOperator>(*load->user_begin()));
    };
    SmallPtrSet<const Value*, 32> live;
    unsigned most = 0;
    for (Instruction* instruction : run_)
      for (const User* user : instruction->users())
        if (!run_.contains(cast<Instruction>(const_cast<User*>(user))) && counts(instruction))
          live.insert(instruction);
    for (Instruction* instruction : reverse(run_)) {
      live.erase(instruction);
      for (const Use& use : instruction->operands())
        if (counts(use.get()))
          live.insert(use.get());
      most = std::max(most, unsigned(live.size()));
    }
    return most;
  }

  Value* make_part(Instruction& instruction, unsigned k) {
    Type* type = instruction.getType();
    if (auto* load = dyn_cast<LoadInst>(&instruction)) {
      uint64_t bytes = element_bytes(type);
      LoadInst* one =
          builder_.CreateAlignedLoad(part_type(type), place(load->getPointerOperand(), k, bytes),
                                     place_align(load->getAlign(), k, bytes));
      one->copyMetadata(*load);
      return one;
    }
    if (auto* call = dyn_cast<IntrinsicInst>(&instruction))
      return call->getIntrinsicID() == Intrinsic::masked_load ? make_masked_load(*call, k)
                                                              : make_intrinsic(*call, k);
    Instruction* copy = instruction.clone();
    for (Use& operand : copy->operands())
      if (is_split(operand.get()))
        operand.set(part(operand.get(), k));
    copy->mutateType(part_type(type));
    return builder_.Insert(copy);
  }

  // Not split: works on whole vectors as before.
  void keep(Instruction& instruction) {
    for (Use& use : instruction.operands())
      if (is_split(use.get()))
        use.set(whole(use.get()));
    if (!is_wide(instruction.getType()))
      return;
    builder_.SetInsertPoint(instruction.getNextNode());
    Parts parts;
    for (unsigned k = 0; k < count(instruction.getType()); ++k) {
      SmallVector<int, 16> mask;
      for (unsigned i = 0; i < lanes_; ++i)
        mask.push_back(int(k * lanes_ + i));
      parts.push_back(builder_.CreateShuffleVector(&instruction, mask));
    }
    parts_[&instruction] = std::move(parts);
  }

  void split_phi(PHINode& phi) {
    Parts parts;
    for (unsigned k = 0; k < count(phi.getType()); ++k)
      parts.push_back(builder_.CreatePHI(part_type(phi.getType()), phi.getNumIncomingValues()));
    phis_.push_back(&phi);
    split(phi, std::move(parts));
  }

  Value* place(Value* pointer, unsigned k, uint64_t element_bytes) {
    return k ? builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer,
                                           k * lanes_ * element_bytes)
             : pointer;
  }
  Align place_align(Align align, unsigned k, uint64_t element_bytes) const {
    return commonAlignment(align, k * lanes_ * element_bytes);
  }
  // Bytes of an element in memory; 0 for those that are packed.
  uint64_t element_bytes(Type* type) const {
    Type* element = cast<FixedVectorType>(type)->getElementType();
    uint64_t bits = layout_.getTypeSizeInBits(element);
    return bits == layout_.getTypeAllocSizeInBits(element) ? bits / 8 : 0;
  }

  bool split_store(StoreInst& store) {
    Value* value = store.getValueOperand();
    if (!is_split(value))
      return true;
    uint64_t bytes = element_bytes(value->getType());
    if (!bytes || !store.isSimple())
      return false;
    for (unsigned k = 0; k < count(value->getType()); ++k) {
      StoreInst* one =
          builder_.CreateAlignedStore(part(value, k), place(store.getPointerOperand(), k, bytes),
                                      place_align(store.getAlign(), k, bytes));
      one->copyMetadata(store);
    }
    dead_.push_back(&store);
    return true;
  }

  bool split_shuffle(ShuffleVectorInst& shuffle) {
    ArrayRef<int> mask = shuffle.getShuffleMask();
    unsigned width = lane_count(shuffle.getOperand(0)->getType());
    Type* element = shuffle.getType()->getElementType();
    auto lanes_of = [&](unsigned first, unsigned number) {
      SmallVector<Lane, 64> lanes;
      for (int index : mask.slice(first, number))
        lanes.push_back(index < 0 ? Lane()
                                  : lane(shuffle.getOperand(unsigned(index) >= width),
                                         unsigned(index) % width));
      return lanes;
    };
    if (!is_wide(shuffle.getType())) {
      shuffle.replaceAllUsesWith(assemble(lanes_of(0, unsigned(mask.size())), element));
      dead_.push_back(&shuffle);
      return true;
    }
    Parts parts;
    SmallVector<SmallVector<Lane, 64>, 16> made;
    for (unsigned k = 0; k < count(shuffle.getType()); ++k) {
      made.push_back(lanes_of(k * lanes_, lanes_));
      // Splats and repeated patterns are made once.
      Value* same = nullptr;
      for (unsigned other = 0; other < k && !same; ++other)
        if (std::equal(made[other].begin(), made[other].end(), made[k].begin(),
                       [](const Lane& a, const Lane& b) {
                         return a.value == b.value && a.index == b.index;
                       }))
          same = parts[other];
      parts.push_back(same ? same : assemble(made[k], element));
    }
    split(shuffle, std::move(parts));
    return true;
  }

  bool split_extract(ExtractElementInst& extract) {
    auto* index = dyn_cast<ConstantInt>(extract.getIndexOperand());
    Value* vector = extract.getVectorOperand();
    if (!index || index->getValue().uge(lane_count(vector->getType())))
      return false;
    auto [value, position] = lane(vector, unsigned(index->getZExtValue()));
    extract.replaceAllUsesWith(value ? builder_.CreateExtractElement(value, uint64_t(position))
                                     : PoisonValue::get(extract.getType()));
    dead_.push_back(&extract);
    return true;
  }

  bool split_insert(InsertElementInst& insert) {
    auto* index = dyn_cast<ConstantInt>(insert.getOperand(2));
    if (!index || index->getValue().uge(lane_count(insert.getType())))
      return false;
    unsigned place = unsigned(index->getZExtValue());
    Parts parts;
    for (unsigned k = 0; k < count(insert.getType()); ++k)
      parts.push_back(part(insert.getOperand(0), k));
    parts[place / lanes_] = builder_.CreateInsertElement(
        parts[place / lanes_], insert.getOperand(1), uint64_t(place % lanes_));
    split(insert, std::move(parts));
    return true;
  }

  // Masks as integers, and back. Tests of a whole mask become one test of the parts' union.
  bool split_bits(BitCastInst& bitcast) {
    Value* source = bitcast.getOperand(0);
    Type *from = source->getType(), *to = bitcast.getType();
    Type* part_bits = builder_.getIntNTy(lanes_);
    if (to->isIntegerTy() && is_wide(from) && from->getScalarType()->isIntegerTy(1)) {
      unsigned number = count(from);
      auto combine = [&](bool all) {
        Value* result = part(source, 0);
        for (unsigned k = 1; k < number; ++k)
          result = all ? builder_.CreateAnd(result, part(source, k))
                       : builder_.CreateOr(result, part(source, k));
        return builder_.CreateBitCast(result, part_bits);
      };
      for (User* user : make_early_inc_range(bitcast.users())) {
        auto* compare = dyn_cast<ICmpInst>(user);
        auto* constant = compare ? dyn_cast<ConstantInt>(compare->getOperand(1)) : nullptr;
        if (!constant || !compare->isEquality() || !(constant->isZero() || constant->isMinusOne()))
          continue;
        Value* bits = combine(constant->isMinusOne());
        compare->replaceAllUsesWith(
            builder_.CreateICmp(compare->getPredicate(), bits,
                                constant->isZero() ? Constant::getNullValue(part_bits)
                                                   : Constant::getAllOnesValue(part_bits)));
        dead_.push_back(compare);
      }
      if (!bitcast.use_empty()) {
        Value* result = nullptr;
        for (unsigned k = 0; k < number; ++k) {
          Value* bits = builder_.CreateZExt(builder_.CreateBitCast(part(source, k), part_bits), to);
          bits = builder_.CreateShl(bits, uint64_t(k) * lanes_);
          result = result ? builder_.CreateOr(result, bits) : bits;
        }
        bitcast.replaceAllUsesWith(result);
      }
      dead_.push_back(&bitcast);
      return true;
    }
    if (from->isIntegerTy() && is_wide(to) && to->getScalarType()->isIntegerTy(1)) {
      Parts parts;
      for (unsigned k = 0; k < count(to); ++k)
        parts.push_back(builder_.CreateBitCast(
            builder_.CreateTrunc(builder_.CreateLShr(source, uint64_t(k) * lanes_), part_bits),
            part_type(to)));
      split(bitcast, std::move(parts));
      return true;
    }
    return false;
  }

  bool split_call(CallInst& call) {
    auto* intrinsic = dyn_cast<IntrinsicInst>(&call);
    if (!intrinsic)
      return false;
    if (intrinsic->getIntrinsicID() == Intrinsic::masked_scatter) {
      for (unsigned k = 0; k < count(call.getArgOperand(0)->getType()); ++k)
        make_intrinsic(*intrinsic, k);
      dead_.push_back(&call);
      return true;
    }
    return intrinsic->getIntrinsicID() == Intrinsic::masked_store && split_masked_store(*intrinsic);
  }

  Value* make_intrinsic(IntrinsicInst& call, unsigned k) {
    SmallVector<Type*, 4> overloads;
    Intrinsic::getIntrinsicSignature(call.getCalledFunction(), overloads);
    for (Type*& type : overloads)
      if (is_wide(type))
        type = part_type(type);
    SmallVector<Value*, 4> arguments;
    for (const Use& argument : call.args())
      arguments.push_back(is_split(argument.get()) ? part(argument.get(), k) : argument.get());
    CallInst* one = builder_.CreateCall(
        Intrinsic::getOrInsertDeclaration(&module_, call.getIntrinsicID(), overloads), arguments);
    one->setAttributes(call.getAttributes());
    one->copyMetadata(call);
    if (isa<FPMathOperator>(one))
      one->copyFastMathFlags(&call);
    return one;
  }

  // ---- parts of which all or no lanes are on need no mask

  static bool is_all(const Value* mask) {
    const auto* constant = dyn_cast<Constant>(mask);
    return constant && constant->isAllOnesValue();
  }
  static bool is_none(const Value* mask) {
    const auto* constant = dyn_cast<Constant>(mask);
    return constant && constant->isNullValue();
  }
  static void copy_access(Instruction& to, const Instruction& from) {
    to.copyMetadata(from,
                    {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias, LLVMContext::MD_tbaa,
                     LLVMContext::MD_invariant_load, LLVMContext::MD_nontemporal});
  }

  Value* make_masked_load(IntrinsicInst& call, unsigned k) {
    Value *mask = part(call.getArgOperand(1), k), *other = part(call.getArgOperand(2), k);
    if (is_none(mask))
      return other;
    Type* type = part_type(call.getType());
    uint64_t bytes = element_bytes(call.getType());
    Value* from = place(call.getArgOperand(0), k, bytes);
    Align align = place_align(call.getParamAlign(0).valueOrOne(), k, bytes);
    Instruction* load =
        is_all(mask) ? static_cast<Instruction*>(builder_.CreateAlignedLoad(type, from, align))
                     : builder_.CreateMaskedLoad(type, from, align, mask, other);
    copy_access(*load, call);
    return load;
  }

  bool split_masked_store(IntrinsicInst& call) {
    Value* value = call.getArgOperand(0);
    uint64_t bytes = element_bytes(value->getType());
    if (!bytes)
      return false;
    Align align = call.getParamAlign(1).valueOrOne();
    for (unsigned k = 0; k < count(value->getType()); ++k) {
      Value* mask = part(call.getArgOperand(2), k);
      if (is_none(mask))
        continue;
      Value* to = place(call.getArgOperand(1), k, bytes);
      Align own = place_align(align, k, bytes);
      Instruction* store =
          is_all(mask)
              ? static_cast<Instruction*>(builder_.CreateAlignedStore(part(value, k), to, own))
              : builder_.CreateMaskedStore(part(value, k), to, own, mask);
      copy_access(*store, call);
    }
    dead_.push_back(&call);
    return true;
  }

  Function& function_;
  Module& module_;
  const DataLayout& layout_;
  unsigned lanes_;
  IRBuilder<> builder_;
  DenseMap<Value*, Parts> parts_;
  std::vector<PHINode*> phis_;
  std::vector<Instruction*> dead_;
  SmallSetVector<Instruction*, 32> run_; // not made yet
};

} // namespace

void split_vectors(Function& function, unsigned lanes) { VectorSplitter(function, lanes).run(); }

} // namespace bessemer::metal::cpu

#include "metal/cpu/passes/split_barriers.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <map>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// Values that take no more operations than this from the arguments are made again after a barrier.
constexpr int max_remake_depth = 6;
// Loops over vectors are unrolled when a region is not larger than this.
constexpr unsigned max_unrolled_region = 120;
constexpr unsigned max_unrolled_vectors = 16;

bool is_cheap_to_remake(const Value* value, int depth = 0) {
  if (isa<Constant>(value) || isa<Argument>(value))
    return true;
  const auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction || depth > max_remake_depth)
    return false;
  if (!isa<BinaryOperator>(instruction) && !isa<CastInst>(instruction) &&
      !isa<CmpInst>(instruction) && !isa<GetElementPtrInst>(instruction) &&
      !isa<SelectInst>(instruction) && !isa<InsertElementInst>(instruction) &&
      !isa<ShuffleVectorInst>(instruction))
    return false;
  return all_of(instruction->operands(),
                [&](const Use& use) { return is_cheap_to_remake(use, depth + 1); });
}

Value* remake(Value* value, Instruction* at) {
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction)
    return value;
  Instruction* copy = instruction->clone();
  for (Use& operand : copy->operands())
    operand.set(remake(operand, at));
  copy->insertBefore(at->getIterator());
  return copy;
}

// A loop in a region is where its time goes; copies of it would only cost time to compile.
bool has_loop(Function& function) {
  SmallVector<std::pair<const BasicBlock*, const BasicBlock*>, 4> back_edges;
  FindFunctionBackedges(function, back_edges);
  return !back_edges.empty();
}

class BarrierSplitter {
public:
  BarrierSplitter(const VectorFunction& vector, unsigned vectors, uint64_t private_bytes,
                  bool distinct_buffers)
      : vector_(vector), function_(*vector.function), module_(*function_.getParent()),
        layout_(module_.getDataLayout()), builder_(function_.getContext()), vectors_(vectors),
        private_bytes_(private_bytes), distinct_buffers_(distinct_buffers) {}

  GroupFunction run() {
    find_regions();
    find_vector_dependence();
    place_values();
    for (unsigned k = 0; k < heads_.size(); ++k)
      regions_.push_back(make_region(k));
    GroupFunction result;
    result.function = agree_ ? make_group() : make_group_of_states();
    result.record_bytes = record_bytes_;
    result.regions = unsigned(heads_.size());
    function_.eraseFromParent();
    return result;
  }

private:
  struct Slot {
    Instruction* value;
    bool shared; // the same for all vectors
    uint64_t offset;
    unsigned home; // the first of the slots that are one place
  };
  struct Region {
    Function* function;
    SetVector<unsigned> next; // numbers of regions; the number of regions stands for the end
  };

  // ---- what is where

  void find_regions() {
    SmallVector<CallInst*, 16> barriers;
    for (BasicBlock& block : function_)
      for (Instruction& instruction : block)
        if (auto* call = dyn_cast<CallInst>(&instruction);
            call && call->getCalledFunction() &&
            call->getCalledFunction()->getName() == barrier_name)
          barriers.push_back(call);
    heads_.push_back(&function_.getEntryBlock());
    for (CallInst* barrier : barriers) {
      heads_.push_back(SplitBlock(barrier->getParent(), barrier->getIterator()));
      barrier->eraseFromParent();
    }
    for (unsigned k = 0; k < heads_.size(); ++k)
      head_number_[heads_[k]] = k;
    for (BasicBlock* head : heads_)
      blocks_.push_back(reach(head, nullptr));
  }

  // Blocks that run after `head` before the next barrier, not going through `avoid`.
  SetVector<BasicBlock*> reach(BasicBlock* head, BasicBlock* avoid) {
    SetVector<BasicBlock*> result;
    SmallVector<BasicBlock*, 16> stack{head};
    while (!stack.empty()) {
      BasicBlock* block = stack.pop_back_val();
      if (block == avoid || !result.insert(block))
        continue;
      for (BasicBlock* next : successors(block))
        if (!head_number_.count(next))
          stack.push_back(next);
    }
    return result;
  }

  // Which values may differ between vectors, and do the vectors agree which barrier comes next?
  void find_vector_dependence() {
    dependent_.insert(function_.getArg(vector_.vector_index()));
    dependent_.insert(function_.getArg(vector_.record_index()));
    PostDominatorTree post_dominators(function_);
    auto is_source = [](const Instruction& instruction) {
      if (instruction.isAtomic())
        return true;
      const auto* load = dyn_cast<LoadInst>(&instruction);
      return load && isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand()));
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock& block : function_)
        for (Instruction& instruction : block) {
          if (dependent_.count(&instruction))
            continue;
          if (!is_source(instruction) && none_of(instruction.operands(), [&](const Use& use) {
                return dependent_.count(use.get());
              }))
            continue;
          dependent_.insert(&instruction);
          changed = true;
          if (!instruction.isTerminator() || instruction.getNumSuccessors() < 2)
            continue;
          auto* node = post_dominators.getNode(&block);
          BasicBlock* join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
          SmallPtrSet<BasicBlock*, 16> seen;
          SmallVector<BasicBlock*, 16> stack(successors(&block));
          while (!stack.empty()) {
            BasicBlock* next = stack.pop_back_val();
            if (!seen.insert(next).second)
              continue;
            for (PHINode& phi : next->phis())
              dependent_.insert(&phi);
            if (next == join)
              continue;
            if (head_number_.count(next))
              agree_ = false;
            stack.append(succ_begin(next), succ_end(next));
          }
        }
    }
  }

  // Can `user` run in some region without `definition` having run in it?
  bool crosses(BasicBlock* definition, BasicBlock* user) {
    if (definition == user)
      return false;
    for (unsigned k = 0; k < heads_.size(); ++k) {
      if (!blocks_[k].contains(user))
        continue;
      auto [found, inserted] = around_.try_emplace({definition, k});
      if (inserted)
        found->second = reach(heads_[k], definition);
      if (found->second.contains(user))
        return true;
    }
    return false;
  }

  uint64_t size_of(Type* type) const { return layout_.getTypeAllocSize(type); }
  Align align_of(Type* type) const {
    return Align(std::min<uint64_t>(64, PowerOf2Ceil(size_of(type))));
  }

  // ---- a loop's value and its next one have one place, if neither is needed beside the other

  // Blocks at whose end `value` may still be needed.
  const SmallPtrSet<BasicBlock*, 16>& live_out(Instruction* value) {
    auto [found, inserted] = live_out_.try_emplace(value);
    SmallPtrSet<BasicBlock*, 16>& result = found->second;
    if (!inserted)
      return result;
    SmallVector<BasicBlock*, 16> stack;
    auto needed_at_start = [&](BasicBlock* block) {
      for (BasicBlock* before : predecessors(block))
        if (result.insert(before).second && before != value->getParent())
          stack.push_back(before);
    };
    for (Use& use : value->uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (auto* phi = dyn_cast<PHINode>(user)) {
        BasicBlock* from = phi->getIncomingBlock(use);
        if (result.insert(from).second && from != value->getParent())
          stack.push_back(from);
      } else if (user->getParent() != value->getParent() || user->comesBefore(value)) {
        needed_at_start(user->getParent());
      }
    }
    while (!stack.empty())
      needed_at_start(stack.pop_back_val());
    return result;
  }

  // Is `value` needed after `made` has been?
  bool is_needed_after(Instruction* value, Instruction* made) {
    BasicBlock* block = made->getParent();
    if (value->getParent() == block && made->comesBefore(value) && !isa<PHINode>(value))
      return false; // what it was before is not
    return live_out(value).contains(block) || any_of(value->users(), [&](User* user) {
             auto* instruction = cast<Instruction>(user);
             return instruction->getParent() == block && !isa<PHINode>(instruction) &&
                    made->comesBefore(instruction);
           });
  }

  void share_places() {
    std::vector<SmallVector<unsigned, 2>> members(slots_.size());
    for (unsigned i = 0; i < slots_.size(); ++i)
      members[i].push_back(i);
    for (unsigned i = 0; i < slots_.size(); ++i) {
      auto* phi = dyn_cast<PHINode>(slots_[i].value);
      if (!phi)
        continue;
      for (Value* incoming : phi->incoming_values()) {
        auto* instruction = dyn_cast<Instruction>(incoming);
        auto found = instruction ? slot_of_.find(instruction) : slot_of_.end();
        if (found == slot_of_.end())
          continue;
        unsigned a = slots_[i].home, b = slots_[found->second].home;
        if (a == b || slots_[a].shared != slots_[b].shared)
          continue;
        bool apart = true;
        for (unsigned x : members[a])
          for (unsigned y : members[b])
            apart = apart && !is_needed_after(slots_[x].value, slots_[y].value) &&
                    !is_needed_after(slots_[y].value, slots_[x].value);
        if (!apart)
          continue;
        if (b < a)
          std::swap(a, b);
        for (unsigned y : members[b])
          slots_[y].home = a;
        members[a].append(members[b]);
        members[b].clear();
      }
    }
  }

  void place_values() {
    record_bytes_ = private_bytes_ + (agree_ ? 0 : 64);
    std::vector<Instruction*> instructions;
    for (BasicBlock& block : function_)
      for (Instruction& instruction : block)
        instructions.push_back(&instruction);
    for (Instruction* instruction : instructions) {
      if (isa<AllocaInst>(instruction))
        continue; // scratch, used within one region
      bool remakable = is_cheap_to_remake(instruction), crossing = false;
      SmallVector<Use*, 8> uses;
      for (Use& use : instruction->uses())
        uses.push_back(&use);
      for (Use* use : uses) {
        auto* user = cast<Instruction>(use->getUser());
        Instruction* at = user;
        if (auto* phi = dyn_cast<PHINode>(user))
          at = phi->getIncomingBlock(*use)->getTerminator();
        if (!crosses(instruction->getParent(), at->getParent()))
          continue;
        if (remakable)
          use->set(remake(instruction, at));
        else
          crossing = true;
      }
      if (!crossing)
        continue;
      slot_of_[instruction] = unsigned(slots_.size());
      slots_.push_back(
          {instruction, agree_ && !dependent_.count(instruction), 0, unsigned(slots_.size())});
    }
    share_places();
    for (unsigned i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      if (slot.home != i) {
        slot.offset = slots_[slot.home].offset;
        continue;
      }
      Type* type = slot.value->getType();
      uint64_t& end = slot.shared ? shared_bytes_ : record_bytes_;
      slot.offset = end = alignTo(end, align_of(type));
      end += size_of(type);
    }
    record_bytes_ = alignTo(record_bytes_, 64);
    shared_bytes_ = alignTo(std::max<uint64_t>(shared_bytes_, 8), 64);
  }

  // ---- i32 region(arguments of the vector function..., ptr shared_in, ptr shared_out)

  Region make_region(unsigned number) {
    Region region;
    SmallVector<Type*, 16> types(function_.getFunctionType()->params());
    unsigned argument_count = unsigned(types.size());
    types.append({builder_.getPtrTy(), builder_.getPtrTy()});
    region.function =
        Function::Create(FunctionType::get(builder_.getInt32Ty(), types, false),
                         GlobalValue::InternalLinkage, "region" + Twine(number), module_);
    Function& function = *region.function;
    function.addFnAttr(Attribute::AlwaysInline);
    function.addFnAttr(Attribute::NoUnwind);
    // Only now: within a region there is no barrier that such a fact could carry memory across.
    if (distinct_buffers_)
      for (unsigned i = 0; i < vector_.buffer_count; ++i)
        function.addParamAttr(i, Attribute::NoAlias);
    function.addParamAttr(vector_.record_index(), Attribute::NoAlias);
    function.addParamAttr(argument_count, Attribute::NoAlias);
    function.addParamAttr(argument_count + 1, Attribute::NoAlias);

    ValueToValueMapTy map;
    for (unsigned i = 0; i < argument_count; ++i)
      map[function_.getArg(i)] = function.getArg(i);
    BasicBlock* enter = BasicBlock::Create(function.getContext(), "enter", &function);
    builder_.SetInsertPoint(enter);
    const SetVector<BasicBlock*>& blocks = blocks_[number];
    for (Instruction& instruction : function_.getEntryBlock())
      if (auto* scratch = dyn_cast<AllocaInst>(&instruction); scratch && number) {
        Instruction* copy = scratch->clone();
        builder_.Insert(copy);
        map[scratch] = copy;
      }
    for (BasicBlock* block : blocks)
      map[block] = CloneBasicBlock(block, map, "", &function);

    MapVector<unsigned, AllocaInst*> variables;
    auto address = [&](const Slot& slot, bool out) {
      Value* base = slot.shared ? function.getArg(argument_count + (out ? 1 : 0))
                                : function.getArg(vector_.record_index());
      return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, slot.offset);
    };
    auto variable = [&](unsigned slot) {
      slot = slots_[slot].home;
      AllocaInst*& result = variables[slot];
      if (!result) {
        IRBuilder<> entry(enter, enter->begin());
        result = entry.CreateAlloca(slots_[slot].value->getType());
      }
      return result;
    };
    // Operands: copies of this region, or variables of values that live across barriers.
    for (BasicBlock* original : blocks) {
      auto* block = cast<BasicBlock>(map[original]);
      for (PHINode& phi : block->phis())
        for (int i = int(phi.getNumIncomingValues()) - 1; i >= 0; --i)
          if (!blocks.contains(phi.getIncomingBlock(unsigned(i))))
            phi.removeIncomingValue(unsigned(i), false);
      for (Instruction& instruction : make_early_inc_range(*block))
        for (Use& use : instruction.operands()) {
          auto* source = dyn_cast<Instruction>(use.get());
          if (!source || source->getFunction() != &function_) {
            if (auto* argument = dyn_cast<Argument>(use.get()); argument && map.count(argument))
              use.set(map[argument]);
            if (auto* target = dyn_cast<BasicBlock>(use.get()); target && map.count(target))
              use.set(map[target]);
            continue;
          }
          auto found = slot_of_.find(source);
          auto* phi = dyn_cast<PHINode>(&instruction);
          BasicBlock* place = phi ? phi->getIncomingBlock(use) : original;
          bool local = isa<AllocaInst>(source) ||
                       (blocks.contains(source->getParent()) &&
                        (source->getParent() == place || found == slot_of_.end()));
          if (local) {
            use.set(map[source]);
            continue;
          }
          if (found == slot_of_.end())
            continue; // only reachable in other regions; dropped below
          builder_.SetInsertPoint(phi ? cast<BasicBlock>(map[place])->getTerminator()
                                      : &instruction);
          use.set(builder_.CreateLoad(source->getType(), variable(found->second)));
        }
      for (PHINode& phi : block->phis())
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
          phi.setIncomingBlock(i, cast<BasicBlock>(map[phi.getIncomingBlock(i)]));
    }
    std::vector<unsigned> modified;
    for (unsigned i = 0; i < slots_.size(); ++i) {
      if (!blocks.contains(slots_[i].value->getParent()))
        continue;
      auto* value = cast<Instruction>(static_cast<Value*>(map[slots_[i].value]));
      builder_.SetInsertPoint(isa<PHINode>(value) ? &*value->getParent()->getFirstInsertionPt()
                                                  : value->getNextNode());
      builder_.CreateStore(value, variable(i));
      if (!is_contained(modified, slots_[i].home))
        modified.push_back(slots_[i].home);
    }
    // Edges to other regions and returns leave.
    std::map<unsigned, BasicBlock*> exits;
    auto exit_to = [&](unsigned target) {
      BasicBlock*& exit = exits[target];
      if (!exit) {
        exit = BasicBlock::Create(function.getContext(), "exit", &function);
        region.next.insert(target);
        builder_.SetInsertPoint(exit);
        for (unsigned slot : modified) {
          Type* type = slots_[slot].value->getType();
          builder_.CreateAlignedStore(builder_.CreateLoad(type, variable(slot)),
                                      address(slots_[slot], true), align_of(type));
        }
        builder_.CreateRet(builder_.getInt32(target));
      }
      return exit;
    };
    for (BasicBlock* original : blocks) {
      Instruction* end = cast<BasicBlock>(map[original])->getTerminator();
      if (isa<ReturnInst>(end)) {
        BranchInst::Create(exit_to(unsigned(heads_.size())), end->getIterator());
        end->eraseFromParent();
        continue;
      }
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i)
        if (auto found = head_number_.find(original->getTerminator()->getSuccessor(i));
            found != head_number_.end())
          end->setSuccessor(i, exit_to(found->second));
    }
    builder_.SetInsertPoint(enter);
    SmallVector<AllocaInst*, 16> promoted;
    for (auto& [slot, place] : variables) {
      Type* type = slots_[slot].value->getType();
      builder_.CreateStore(
          builder_.CreateAlignedLoad(type, address(slots_[slot], false), align_of(type)), place);
      promoted.push_back(place);
    }
    builder_.CreateBr(cast<BasicBlock>(map[heads_[number]]));
    DominatorTree dominators(function);
    PromoteMemToReg(promoted, dominators);
    for (BasicBlock& block : function)
      for (Instruction& instruction : make_early_inc_range(block))
        if (isInstructionTriviallyDead(&instruction))
          instruction.eraseFromParent();
    return region;
  }

  // ---- the whole threadgroup

  Function* new_group() {
    Function* group = Function::Create(function_.getFunctionType(), GlobalValue::InternalLinkage,
                                       "threadgroup", module_);
    group->addFnAttr(Attribute::AlwaysInline);
    group->addFnAttr(Attribute::NoUnwind);
    return group;
  }

  Value* record(Function* group, Value* vector) {
    return builder_.CreateGEP(builder_.getInt8Ty(), group->getArg(vector_.record_index()),
                              builder_.CreateMul(builder_.CreateZExt(vector, builder_.getInt64Ty()),
                                                 builder_.getInt64(record_bytes_)));
  }

  SmallVector<Value*, 16> region_arguments(Function* group, Value* vector, Value* shared_in,
                                           Value* shared_out) {
    SmallVector<Value*, 16> result;
    for (Argument& argument : group->args())
      result.push_back(&argument);
    result[vector_.vector_index()] = vector;
    result[vector_.record_index()] = record(group, vector);
    result.append({shared_in, shared_out});
    return result;
  }

  Value* vector_count(Function* group) {
    return vectors_ ? static_cast<Value*>(builder_.getInt32(vectors_))
                    : group->getArg(vector_.vector_index());
  }

  // All vectors take the same way, so that the last one's answer says which region comes next.
  Function* make_group() {
    Function* group = new_group();
    LLVMContext& context = group->getContext();
    auto block = [&](const Twine& name) { return BasicBlock::Create(context, name, group); };
    BasicBlock *entry = block("entry"), *done = block("done");
    builder_.SetInsertPoint(entry);
    auto shared = [&] {
      AllocaInst* place =
          builder_.CreateAlloca(ArrayType::get(builder_.getInt8Ty(), shared_bytes_));
      place->setAlignment(Align(64));
      return place;
    };
    Value *shared_in = shared(), *shared_out = shared();
    std::vector<BasicBlock*> starts;
    for (unsigned k = 0; k < regions_.size(); ++k)
      starts.push_back(block("region" + Twine(k)));
    starts.push_back(done);
    builder_.CreateBr(starts[0]);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
    for (unsigned k = 0; k < regions_.size(); ++k) {
      BasicBlock *loop = block("vectors"), *after = block("met");
      builder_.SetInsertPoint(starts[k]);
      builder_.CreateBr(loop);
      builder_.SetInsertPoint(loop);
      PHINode* vector = builder_.CreatePHI(builder_.getInt32Ty(), 2);
      vector->addIncoming(builder_.getInt32(0), starts[k]);
      Value* next = builder_.CreateCall(regions_[k].function,
                                        region_arguments(group, vector, shared_in, shared_out));
      Value* following = builder_.CreateAdd(vector, builder_.getInt32(1), "", true, true);
      vector->addIncoming(following, loop);
      BranchInst* branch = builder_.CreateCondBr(
          builder_.CreateICmpULT(following, vector_count(group)), loop, after);
      bool unroll = vectors_ && vectors_ <= max_unrolled_vectors &&
                    !has_loop(*regions_[k].function) &&
                    regions_[k].function->getInstructionCount() < max_unrolled_region;
      MDNode* hint =
          MDNode::get(context, MDString::get(context, unroll ? "llvm.loop.unroll.full"
                                                             : "llvm.loop.unroll.disable"));
      MDNode* id = MDNode::getDistinct(context, {nullptr, hint});
      id->replaceOperandWith(0, id);
      branch->setMetadata(LLVMContext::MD_loop, id);
      builder_.SetInsertPoint(after);
      for (const Slot& slot : slots_) {
        if (!slot.shared || !blocks_[k].contains(slot.value->getParent()))
          continue;
        Type* type = slot.value->getType();
        auto place = [&](Value* base) {
          return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, slot.offset);
        };
        builder_.CreateAlignedStore(
            builder_.CreateAlignedLoad(type, place(shared_out), align_of(type)), place(shared_in),
            align_of(type));
      }
      ArrayRef<unsigned> targets = regions_[k].next.getArrayRef();
      if (targets.empty()) {
        builder_.CreateUnreachable();
      } else if (targets.size() == 1) {
        builder_.CreateBr(starts[targets[0]]);
      } else {
        SwitchInst* choice = builder_.CreateSwitch(next, starts[targets[0]]);
        for (unsigned target : targets.drop_front())
          choice->addCase(builder_.getInt32(target), starts[target]);
      }
    }
    return group;
  }

  // The vectors may go different ways, as on hardware that counts threads which ended as arrived:
  // each keeps its own place, and all run from barrier to barrier until all have ended.
  Function* make_group_of_states() {
    Function* group = new_group();
    LLVMContext& context = group->getContext();
    auto block = [&](const Twine& name) { return BasicBlock::Create(context, name, group); };
    Type* i32 = builder_.getInt32Ty();
    unsigned end = unsigned(regions_.size());
    BasicBlock *entry = block("entry"), *clear = block("clear"), *round = block("round"),
               *turn = block("turn");
    BasicBlock *next_vector = block("next"), *round_end = block("round.end"), *done = block("done");
    auto state = [&](Value* vector) {
      return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), record(group, vector),
                                         private_bytes_);
    };
    builder_.SetInsertPoint(entry);
    builder_.CreateBr(clear);
    builder_.SetInsertPoint(clear);
    PHINode* cleared = builder_.CreatePHI(i32, 2);
    cleared->addIncoming(builder_.getInt32(0), entry);
    builder_.CreateAlignedStore(builder_.getInt32(0), state(cleared), Align(4));
    Value* next_cleared = builder_.CreateAdd(cleared, builder_.getInt32(1));
    cleared->addIncoming(next_cleared, clear);
    builder_.CreateCondBr(builder_.CreateICmpULT(next_cleared, vector_count(group)), clear, round);
    builder_.SetInsertPoint(round);
    builder_.CreateBr(turn);
    builder_.SetInsertPoint(turn);
    PHINode *vector = builder_.CreatePHI(i32, 2),
            *running = builder_.CreatePHI(builder_.getInt1Ty(), 2);
    vector->addIncoming(builder_.getInt32(0), round);
    running->addIncoming(builder_.getFalse(), round);
    Value* at = builder_.CreateAlignedLoad(i32, state(vector), Align(4));
    SwitchInst* choice = builder_.CreateSwitch(at, next_vector);
    builder_.SetInsertPoint(next_vector);
    PHINode* reached = builder_.CreatePHI(i32, 2);
    reached->addIncoming(builder_.getInt32(end), turn);
    builder_.CreateAlignedStore(reached, state(vector), Align(4));
    Value* still =
        builder_.CreateOr(running, builder_.CreateICmpNE(reached, builder_.getInt32(end)));
    Value* following = builder_.CreateAdd(vector, builder_.getInt32(1));
    vector->addIncoming(following, next_vector);
    running->addIncoming(still, next_vector);
    builder_.CreateCondBr(builder_.CreateICmpULT(following, vector_count(group)), turn, round_end);
    builder_.SetInsertPoint(round_end);
    builder_.CreateCondBr(still, round, done);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
    Constant* nothing = ConstantPointerNull::get(builder_.getPtrTy());
    for (unsigned k = 0; k < end; ++k) {
      BasicBlock* run = block("run");
      choice->addCase(builder_.getInt32(k), run);
      builder_.SetInsertPoint(run);
      Value* next = builder_.CreateCall(regions_[k].function,
                                        region_arguments(group, vector, nothing, nothing));
      reached->addIncoming(next, run);
      builder_.CreateBr(next_vector);
    }
    return group;
  }

  VectorFunction vector_;
  Function& function_;
  Module& module_;
  const DataLayout& layout_;
  IRBuilder<> builder_;
  unsigned vectors_;
  uint64_t private_bytes_;
  bool distinct_buffers_;
  std::vector<BasicBlock*> heads_; // where regions begin
  DenseMap<const BasicBlock*, unsigned> head_number_;
  std::vector<SetVector<BasicBlock*>> blocks_; // of each region
  std::map<std::pair<BasicBlock*, unsigned>, SetVector<BasicBlock*>> around_;
  DenseSet<const Value*> dependent_;
  bool agree_ = true;
  std::vector<Slot> slots_;
  DenseMap<const Instruction*, unsigned> slot_of_;
  std::map<Instruction*, SmallPtrSet<BasicBlock*, 16>> live_out_;
  uint64_t record_bytes_ = 0, shared_bytes_ = 0;
  std::vector<Region> regions_;
};

// No barrier: one vector after the other, in the same record.
GroupFunction run_in_turn(const VectorFunction& vector, unsigned vectors, uint64_t private_bytes,
                          bool distinct_buffers) {
  Function& function = *vector.function;
  Module& module = *function.getParent();
  IRBuilder<> builder(module.getContext());
  function.addFnAttr(Attribute::AlwaysInline);
  if (distinct_buffers)
    for (unsigned i = 0; i < vector.buffer_count; ++i)
      function.addParamAttr(i, Attribute::NoAlias);
  function.addParamAttr(vector.record_index(), Attribute::NoAlias);
  GroupFunction result;
  result.record_bytes = private_bytes;
  result.function = Function::Create(function.getFunctionType(), GlobalValue::InternalLinkage,
                                     "threadgroup", module);
  result.function->addFnAttr(Attribute::AlwaysInline);
  BasicBlock* entry = BasicBlock::Create(module.getContext(), "entry", result.function);
  BasicBlock* loop = BasicBlock::Create(module.getContext(), "vectors", result.function);
  BasicBlock* done = BasicBlock::Create(module.getContext(), "done", result.function);
  builder.SetInsertPoint(entry);
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  PHINode* index = builder.CreatePHI(builder.getInt32Ty(), 2);
  index->addIncoming(builder.getInt32(0), entry);
  SmallVector<Value*, 16> arguments;
  for (Argument& argument : result.function->args())
    arguments.push_back(&argument);
  Value* count =
      vectors ? static_cast<Value*>(builder.getInt32(vectors)) : arguments[vector.vector_index()];
  arguments[vector.vector_index()] = index;
  builder.CreateCall(&function, arguments);
  Value* next = builder.CreateAdd(index, builder.getInt32(1), "", true, true);
  index->addIncoming(next, loop);
  builder.CreateCondBr(builder.CreateICmpULT(next, count), loop, done);
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
  return result;
}

} // namespace

GroupFunction split_barriers(const VectorFunction& vector, unsigned vectors, uint64_t private_bytes,
                             bool distinct_buffers) {
  if (!vector.barrier_count)
    return run_in_turn(vector, vectors, private_bytes, distinct_buffers);
  return BarrierSplitter(vector, vectors, private_bytes, distinct_buffers).run();
}

} // namespace bessemer::metal::cpu

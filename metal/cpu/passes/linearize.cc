#include "metal/cpu/passes/linearize.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// Blocks with more instructions than this are skipped when no lane is active, even if they could
// run harmlessly.
constexpr unsigned cheap_block_size = 12;

class Linearizer {
public:
  Linearizer(Function& function, LoopInfo& loops, const Divergence& divergence, Value* active,
             const DenseSet<const BasicBlock*>& full)
      : full_loops_(full), function_(function), loops_(loops), divergence_(divergence),
        active_(active), builder_(function.getContext()), module_(*function.getParent()),
        bool_(Type::getInt1Ty(function.getContext())) {}

  void run() {
    for (Loop* loop : loops_.getLoopsInPreorder())
      prepare_scope(divergence_.scope(loop));
    prepare_scope(divergence_.scope(nullptr));
    for (Instruction* instruction : to_demote_)
      demote(*instruction);
    linearize_scope(divergence_.scope(nullptr), active_);
    SmallVector<AllocaInst*, 64> slots(slots_.begin(), slots_.end());
    DominatorTree dominators(function_);
    PromoteMemToReg(slots, dominators);
    simplify();
  }

private:
  using Edge = std::pair<BasicBlock*, BasicBlock*>;

  AllocaInst* new_slot(Type* type) {
    IRBuilder<> entry(&function_.getEntryBlock(), function_.getEntryBlock().begin());
    AllocaInst* slot = entry.CreateAlloca(type);
    slots_.push_back(slot);
    return slot;
  }

  // ---- before the surgery: values that cross masked edges move to slots

  // The phis of `block` are read from slots that each incoming edge stores to.
  void move_phis_to_slots(BasicBlock* block) {
    for (PHINode& phi : make_early_inc_range(block->phis())) {
      AllocaInst* slot = new_slot(phi.getType());
      node_slots_[block].push_back(slot);
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
        BasicBlock* from = phi.getIncomingBlock(i);
        if (isa<UndefValue>(phi.getIncomingValue(i)))
          continue;
        auto* store =
            new StoreInst(phi.getIncomingValue(i), slot, from->getTerminator()->getIterator());
        edge_stores_[{from, block}].push_back(store);
      }
      builder_.SetInsertPoint(block, block->getFirstInsertionPt());
      LoadInst* value = builder_.CreateLoad(phi.getType(), slot);
      phi.replaceAllUsesWith(value);
      phi.eraseFromParent();
    }
  }

  void prepare_scope(const Scope& scope) {
    for (const ScopeNode& node : scope.nodes) {
      if (!node.loop) {
        bool masked = false;
        for (BasicBlock* from : predecessors(node.block))
          masked |= divergence_.is_masked_edge(from, node.block);
        bool is_header = scope.loop && scope.loop->getHeader() == node.block;
        if (masked && !is_header)
          move_phis_to_slots(node.block);
      } else if (divergence_.scope(node.loop).divergent) {
        move_phis_to_slots(node.exit);
        // Latch values of the header's phis: the next iteration begins in a block of its own.
        BasicBlock* latch = node.loop->getLoopLatch();
        for (PHINode& phi : node.loop->getHeader()->phis()) {
          AllocaInst* slot = new_slot(phi.getType());
          new StoreInst(phi.getIncomingValueForBlock(latch), slot,
                        latch->getTerminator()->getIterator());
          latch_slots_[&phi] = slot;
        }
      }
    }
    for (const ScopeNode& node : scope.nodes)
      if (node.is_masked())
        for (Instruction& instruction : *node.last())
          if (!instruction.getType()->isVoidTy())
            to_demote_.push_back(&instruction);
  }

  // Later blocks no longer come after this one on every path: they read the value from a slot.
  void demote(Instruction& instruction) {
    BasicBlock* block = instruction.getParent();
    SmallVector<Use*, 8> outside;
    for (Use& use : instruction.uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (user->getParent() != block || isa<PHINode>(user))
        outside.push_back(&use);
    }
    if (outside.empty())
      return;
    AllocaInst* slot = new_slot(instruction.getType());
    node_slots_[block].push_back(slot);
    DenseMap<BasicBlock*, Value*> loaded;
    for (Use* use : outside) {
      auto* user = cast<Instruction>(use->getUser());
      if (auto* phi = dyn_cast<PHINode>(user)) {
        BasicBlock* from = phi->getIncomingBlock(*use);
        if (from == block)
          continue; // defined on this very edge
        Value*& value = loaded[from];
        if (!value) {
          builder_.SetInsertPoint(from->getTerminator());
          value = builder_.CreateLoad(instruction.getType(), slot);
        }
        use->set(value);
      } else {
        builder_.SetInsertPoint(user);
        use->set(builder_.CreateLoad(instruction.getType(), slot));
      }
    }
    auto place = isa<PHINode>(instruction) ? block->getFirstInsertionPt()
                                           : std::next(instruction.getIterator());
    new StoreInst(&instruction, slot, place);
  }

  // ---- masks

  Value* full(Value* mask) { return mask ? mask : builder_.getTrue(); }
  // A select, not an `and`: the condition may be poison in lanes that are off.
  Value* combine(Value* mask, Value* condition) {
    return mask ? builder_.CreateSelect(mask, condition, builder_.getFalse()) : condition;
  }
  Value* any(Value* mask) {
    return builder_.CreateCall(spmd::declare(module_, spmd::any, bool_, {bool_}), {mask});
  }
  void mark(BasicBlock* block, Value* mask) {
    if (!mask)
      return;
    auto place = block->getFirstInsertionPt();
    if (auto* made = dyn_cast<Instruction>(mask);
        made && made->getParent() == block && !isa<PHINode>(made))
      place = std::next(made->getIterator());
    builder_.SetInsertPoint(block, place);
    builder_.CreateCall(spmd::declare_mask(module_), {mask});
  }

  // What a lane of `mask` that leaves `from` towards `to` takes along.
  void take_edge(const Scope& scope, BasicBlock* from, BasicBlock* to, Value* mask) {
    if (auto found = edge_stores_.find({from, to}); found != edge_stores_.end())
      for (StoreInst*& store : found->second) {
        Value* value = store->getValueOperand();
        Value* slot = store->getPointerOperand();
        if (mask)
          value = builder_.CreateSelect(mask, value, builder_.CreateLoad(value->getType(), slot));
        StoreInst* masked = builder_.CreateStore(value, slot);
        store->eraseFromParent();
        store = masked;
      }
    AllocaInst* target = nullptr;
    if (scope.loop && to == scope.loop->getHeader())
      target = next_.lookup(scope.loop);
    else if (auto found = scope.index.find(to);
             found != scope.index.end() && scope.nodes[found->second].is_masked())
      target = masks_.lookup(to);
    if (target)
      builder_.CreateStore(builder_.CreateOr(builder_.CreateLoad(bool_, target), full(mask)),
                           target);
  }

  void take_edges(const Scope& scope, BasicBlock* from, Value* mask) {
    auto* branch = cast<BranchInst>(from->getTerminator());
    builder_.SetInsertPoint(branch);
    if (branch->isUnconditional())
      return take_edge(scope, from, branch->getSuccessor(0), mask);
    Value* condition = branch->getCondition();
    Value* taken = combine(mask, condition);
    Value* not_taken = combine(mask, builder_.CreateNot(condition));
    take_edge(scope, from, branch->getSuccessor(0), taken);
    take_edge(scope, from, branch->getSuccessor(1), not_taken);
  }

  static bool is_heavy(const BasicBlock& block) {
    if (block.size() > cheap_block_size)
      return true;
    for (const Instruction& instruction : block) {
      const auto* alloca = dyn_cast_or_null<AllocaInst>(getLoadStorePointerOperand(&instruction));
      if (instruction.isIntDivRem())
        return true;
      if (const auto* call = dyn_cast<CallInst>(&instruction); call && !isa<IntrinsicInst>(call))
        return true;
      if (instruction.mayReadOrWriteMemory() && !alloca)
        return true;
    }
    return false;
  }

  // ---- surgery

  void linearize_scope(const Scope& scope, Value* mask) {
    for (size_t i = 0; i < scope.nodes.size(); ++i) {
      const ScopeNode& node = scope.nodes[i];
      if (node.is_masked())
        continue;
      if (node.loop) {
        linearize_loop(node, mask);
        leave_iteration(scope, node.exit, mask);
        continue;
      }
      bool is_live_header = scope.loop && node.block == scope.loop->getHeader() && scope.divergent;
      if (!is_live_header)
        mark(node.block, mask);
      if (node.masked_branch)
        linearize_region(scope, int(i), mask);
      else
        leave_iteration(scope, node.block, mask);
    }
  }

  // In a divergent loop, edges out of the iteration that all live lanes take together.
  void leave_iteration(const Scope& scope, BasicBlock* block, Value* mask) {
    if (!scope.divergent)
      return;
    auto* branch = cast<BranchInst>(block->getTerminator());
    BasicBlock *header = scope.loop->getHeader(), *exit = exits_.lookup(scope.loop);
    for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
      BasicBlock* target = branch->getSuccessor(i);
      if (target != header && target != exit)
        continue;
      BasicBlock* edge = BasicBlock::Create(function_.getContext(), "leave", &function_);
      branch->setSuccessor(i, edge);
      // Values are stored before the branch; what the other way leads to overwrites them.
      builder_.SetInsertPoint(branch);
      take_values(block, target, mask);
      builder_.SetInsertPoint(edge);
      if (target == header)
        builder_.CreateStore(full(mask), next_.lookup(scope.loop));
      builder_.CreateBr(iteration_end_.lookup(scope.loop));
    }
  }
  void take_values(BasicBlock* from, BasicBlock* to, Value* mask) {
    auto found = edge_stores_.find({from, to});
    if (found == edge_stores_.end() || !mask)
      return;
    for (StoreInst*& store : found->second) {
      Value* slot = store->getPointerOperand();
      Value* value =
          builder_.CreateSelect(mask, store->getValueOperand(),
                                builder_.CreateLoad(store->getValueOperand()->getType(), slot));
      StoreInst* masked = builder_.CreateStore(value, slot);
      store->eraseFromParent();
      store = masked;
    }
  }

  void linearize_region(const Scope& scope, int root, Value* mask) {
    BasicBlock* block = scope.nodes[root].block;
    SmallVector<int, 16> chain;
    for (int i = root + 1; i < int(scope.nodes.size()); ++i)
      if (scope.nodes[i].root == root)
        chain.push_back(i);

    builder_.SetInsertPoint(block->getTerminator());
    for (int index : chain) {
      const ScopeNode& node = scope.nodes[index];
      AllocaInst*& slot = masks_[node.block];
      slot = new_slot(bool_);
      builder_.CreateStore(builder_.getFalse(), slot);
      reset_slots(node.block);
      if (node.loop)
        reset_slots(node.exit);
    }
    int merge = scope.nodes[root].post_dominator;
    BasicBlock* after = merge < int(scope.nodes.size()) ? scope.nodes[merge].block
                                                        : iteration_end_.lookup(scope.loop);
    if (merge < int(scope.nodes.size()))
      reset_slots(after);
    take_edges(scope, block, mask);
    block->getTerminator()->eraseFromParent();

    BasicBlock* tail = block;
    for (int index : chain) {
      const ScopeNode& node = scope.nodes[index];
      builder_.SetInsertPoint(tail);
      Value* node_mask = builder_.CreateLoad(bool_, masks_.lookup(node.block));
      BasicBlock* skip = nullptr;
      if (node.loop || is_heavy(*node.block)) {
        skip =
            BasicBlock::Create(function_.getContext(), node.block->getName() + ".skip", &function_);
        builder_.CreateCondBr(any(node_mask), node.block, skip);
      } else {
        builder_.CreateBr(node.block);
      }
      if (node.loop)
        linearize_loop(node, node_mask);
      else
        mark(node.block, node_mask);
      take_edges(scope, node.last(), node_mask);
      node.last()->getTerminator()->eraseFromParent();
      tail = node.last();
      if (skip) {
        builder_.SetInsertPoint(tail);
        builder_.CreateBr(skip);
        tail = skip;
      }
    }
    builder_.SetInsertPoint(tail);
    builder_.CreateBr(after);
  }

  // Lanes that have not come this way have no value; without this, one of an earlier iteration
  // would be carried round.
  void reset_slots(BasicBlock* block) {
    if (auto found = node_slots_.find(block); found != node_slots_.end())
      for (AllocaInst* slot : found->second)
        builder_.CreateStore(PoisonValue::get(slot->getAllocatedType()), slot);
  }

  void linearize_loop(const ScopeNode& node, Value* mask) {
    Loop* loop = node.loop;
    const Scope& scope = divergence_.scope(loop);
    mark(node.exit, mask);
    if (!scope.divergent)
      return linearize_scope(scope, full_loops_.contains(loop->getHeader()) ? nullptr : mask);

    BasicBlock *header = loop->getHeader(), *latch = loop->getLoopLatch();
    AllocaInst *live = new_slot(bool_), *next = new_slot(bool_);
    next_[loop] = next;
    exits_[loop] = node.exit;
    builder_.SetInsertPoint(node.block->getTerminator());
    builder_.CreateStore(full(mask), live);
    reset_slots(node.exit);
    BasicBlock* end =
        BasicBlock::Create(function_.getContext(), header->getName() + ".end", &function_);
    iteration_end_[loop] = end;
    builder_.SetInsertPoint(header, header->getFirstInsertionPt());
    Value* live_mask = builder_.CreateLoad(bool_, live);
    builder_.CreateStore(builder_.getFalse(), next);
    builder_.CreateCall(spmd::declare_mask(module_), {live_mask});
    linearize_scope(scope, live_mask);

    builder_.SetInsertPoint(end);
    for (PHINode& phi : header->phis()) {
      Value* value = builder_.CreateLoad(phi.getType(), latch_slots_.lookup(&phi));
      int index = phi.getBasicBlockIndex(latch);
      phi.setIncomingBlock(index, end);
      phi.setIncomingValue(index, value);
    }
    Value* next_mask = builder_.CreateLoad(bool_, next);
    builder_.CreateStore(next_mask, live);
    builder_.CreateCondBr(any(next_mask), header, node.exit);
  }

  // Folds the selects that blend with poison and the masks that are constant. Nothing that touches
  // memory may move or merge here: equal loads under different masks are not equal.
  void simplify() {
    SimplifyQuery query(module_.getDataLayout());
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock& block : function_)
        for (Instruction& instruction : make_early_inc_range(block)) {
          if (isInstructionTriviallyDead(&instruction)) {
            instruction.eraseFromParent();
            changed = true;
          } else if (!instruction.mayReadOrWriteMemory() && !instruction.getType()->isVoidTy()) {
            Value* value =
                simplifyInstruction(&instruction, query.getWithInstruction(&instruction));
            if (!value || value == &instruction)
              continue;
            instruction.replaceAllUsesWith(value);
            changed = true;
          }
        }
    }
  }

  const DenseSet<const BasicBlock*>& full_loops_;
  Function& function_;
  LoopInfo& loops_;
  const Divergence& divergence_;
  Value* active_;
  IRBuilder<> builder_;
  Module& module_;
  Type* bool_;
  std::vector<AllocaInst*> slots_;
  std::vector<Instruction*> to_demote_;
  DenseMap<BasicBlock*, SmallVector<AllocaInst*, 2>> node_slots_;
  MapVector<Edge, SmallVector<StoreInst*, 2>> edge_stores_;
  DenseMap<const PHINode*, AllocaInst*> latch_slots_;
  DenseMap<const BasicBlock*, AllocaInst*> masks_;
  DenseMap<const Loop*, AllocaInst*> next_;
  DenseMap<const Loop*, BasicBlock*> iteration_end_;
  // The loop's own answer is wrong as soon as blocks that it does not know stand within it.
  DenseMap<const Loop*, BasicBlock*> exits_;
};

} // namespace

void linearize(Function& function, LoopInfo& loops, const Divergence& divergence, Value* active,
               const DenseSet<const BasicBlock*>& full) {
  Linearizer(function, loops, divergence, active, full).run();
}

} // namespace bessemer::metal::cpu

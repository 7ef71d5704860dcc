#include "metal/cpu/passes/main_loops.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <optional>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// Larger loops gain little from a second copy, and it has to be compiled.
constexpr unsigned max_loop_size = 150;

// The copy of a loop that runs while all lanes go on.
struct MainLoop {
  BasicBlock *enter = nullptr, *exit = nullptr, *latch = nullptr;
  Value* goes_on = nullptr; // the lane's own condition to go on, when the copy is left
  ValueToValueMapTy map;

  Value* mapped(Value* value) const {
    auto found = map.find(value);
    return found == map.end() ? value : static_cast<Value*>(found->second);
  }
  // A value of the copy, or from before it, once the copy has been left.
  PHINode* leave(Value* value) const {
    PHINode* phi = PHINode::Create(value->getType(), 1, "", exit->getTerminator()->getIterator());
    phi->addIncoming(value, latch);
    return phi;
  }
};

void copy_loop(Function& function, Loop& loop, BasicBlock* join, MainLoop& copy,
               DenseSet<const BasicBlock*>& full) {
  BasicBlock *before = loop.getLoopPreheader(), *header = loop.getHeader(),
             *latch = loop.getLoopLatch();
  auto block = [&](const Twine& name) {
    return BasicBlock::Create(function.getContext(), name, &function);
  };
  SmallVector<BasicBlock*, 8> copies;
  for (BasicBlock* original : loop.blocks()) {
    BasicBlock* one = CloneBasicBlock(original, copy.map, ".full", &function);
    copy.map[original] = one;
    copies.push_back(one);
  }
  copy.enter = block("main.enter");
  copy.exit = block("main.exit");
  copy.map[before] = copy.enter;
  copy.map[loop.getUniqueExitBlock()] = copy.exit;
  for (BasicBlock* one : copies)
    for (Instruction& instruction : *one)
      RemapInstruction(&instruction, copy.map, RF_IgnoreMissingLocals);
  auto* main_header = cast<BasicBlock>(copy.mapped(header));
  copy.latch = cast<BasicBlock>(copy.mapped(latch));
  full.insert(main_header);

  IRBuilder<> builder(function.getContext());
  auto* branch = cast<BranchInst>(copy.latch->getTerminator());
  builder.SetInsertPoint(branch);
  copy.goes_on = branch->getCondition();
  if (branch->getSuccessor(0) != main_header)
    copy.goes_on = builder.CreateNot(copy.goes_on);
  Type* bool_type = builder.getInt1Ty();
  Value* all = builder.CreateCall(
      spmd::declare(*function.getParent(), spmd::all, bool_type, {bool_type}), {copy.goes_on});
  builder.CreateCondBr(all, main_header, copy.exit);
  branch->eraseFromParent();
  builder.SetInsertPoint(copy.enter);
  builder.CreateBr(main_header);
  builder.SetInsertPoint(copy.exit);
  builder.CreateBr(join);
}

// Is every lane of the vector active where `builder` stands?
Value* make_full(IRBuilder<>& builder, Module& module) {
  auto* call = builder.CreateCall(spmd::declare(module, spmd::full, builder.getInt1Ty()));
  // What is active is decided where the call stands: it must not move.
  call->getCalledFunction()->setConvergent();
  return call;
}

//   enter ─ full? ─ yes ─ copy of the loop (while all lanes go on) ─ copy's exit ┐
//               └── no ─────────────────────────────────────────────────────── join ─ lanes left?
//   join ─ yes ─ tail enter ─ the loop ─ exit ─┐
//      └── no ───────────────────────────────── end
void add_main_loop(Function& function, Loop& loop, DenseSet<const BasicBlock*>& full) {
  BasicBlock *enter = loop.getLoopPreheader(), *header = loop.getHeader(),
             *latch = loop.getLoopLatch();
  BasicBlock* exit = loop.getUniqueExitBlock();
  auto block = [&](const Twine& name) {
    return BasicBlock::Create(function.getContext(), name, &function);
  };
  IRBuilder<> builder(function.getContext());
  BasicBlock *join = block("main.join"), *tail_enter = block("tail.enter"),
             *end = block("tail.end");
  MainLoop copy;
  copy_loop(function, loop, join, copy, full);
  join->moveAfter(copy.exit);
  tail_enter->moveAfter(join);
  end->moveAfter(tail_enter);
  builder.SetInsertPoint(enter->getTerminator());
  builder.CreateCondBr(make_full(builder, *function.getParent()), copy.enter, join);
  enter->getTerminator()->eraseFromParent();

  // Values that leave the copy, or skip it.
  auto leave = [&](Value* value) { return copy.leave(copy.mapped(value)); };
  SmallVector<std::pair<Value*, Value*>, 8> joined; // without the copy, after it
  SmallVector<PHINode*, 8> header_phis, exit_phis;
  for (PHINode& phi : header->phis()) {
    header_phis.push_back(&phi);
    joined.push_back(
        {phi.getIncomingValueForBlock(enter), leave(phi.getIncomingValueForBlock(latch))});
  }
  for (PHINode& phi : exit->phis()) {
    exit_phis.push_back(&phi);
    joined.push_back({PoisonValue::get(phi.getType()), leave(phi.getIncomingValueForBlock(latch))});
  }
  joined.push_back({builder.getTrue(), copy.leave(copy.goes_on)});
  builder.SetInsertPoint(join);
  SmallVector<PHINode*, 8> joins;
  for (auto& [skipped, left] : joined) {
    PHINode* phi = builder.CreatePHI(skipped->getType(), 2);
    phi->addIncoming(skipped, enter);
    phi->addIncoming(left, copy.exit);
    joins.push_back(phi);
  }
  builder.CreateCondBr(joins.back(), tail_enter, end);
  builder.SetInsertPoint(tail_enter);
  builder.CreateBr(header);
  for (size_t i = 0; i < header_phis.size(); ++i) {
    int index = header_phis[i]->getBasicBlockIndex(enter);
    header_phis[i]->setIncomingBlock(unsigned(index), tail_enter);
    header_phis[i]->setIncomingValue(unsigned(index), joins[i]);
  }
  // After the loop.
  Instruction* old_end = exit->getTerminator();
  BasicBlock* after = old_end->getSuccessor(0);
  builder.SetInsertPoint(end);
  for (size_t i = 0; i < exit_phis.size(); ++i) {
    PHINode* merged = builder.CreatePHI(exit_phis[i]->getType(), 2);
    exit_phis[i]->replaceAllUsesWith(merged);
    merged->addIncoming(exit_phis[i], exit);
    merged->addIncoming(joins[header_phis.size() + i], join);
  }
  builder.CreateBr(after);
  after->replacePhiUsesWith(exit, end);
  old_end->setSuccessor(0, end);
}

// The branch that decides which lanes run a loop at all, where nothing else depends on it:
// guard ─ enters ─ ... ─ loop ─ exit ─ ... ─ join, guard ─ does not ─ join.
struct Guard {
  BasicBlock *block = nullptr, *join = nullptr;
  BasicBlock* last = nullptr; // before the join, coming from the loop
};

std::optional<Guard> find_guard(Loop& loop) {
  SmallPtrSet<BasicBlock*, 8> between;
  Guard guard;
  BasicBlock* block = loop.getLoopPreheader();
  for (;;) {
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch)
      return std::nullopt;
    if (branch->isConditional())
      break;
    for (Instruction& instruction : *block)
      if (&instruction != branch &&
          (isa<PHINode>(instruction) || !isSafeToSpeculativelyExecute(&instruction)))
        return std::nullopt;
    between.insert(block);
    block = block->getSinglePredecessor();
    if (!block)
      return std::nullopt;
  }
  guard.block = block;
  auto* branch = cast<BranchInst>(block->getTerminator());
  guard.join = branch->getSuccessor(between.contains(branch->getSuccessor(0)));
  if (between.contains(guard.join))
    return std::nullopt;
  guard.last = loop.getUniqueExitBlock();
  for (;;) {
    BasicBlock* next = guard.last->getSingleSuccessor();
    if (!next || guard.last->getFirstNonPHIIt() != guard.last->getTerminator()->getIterator())
      return std::nullopt;
    if (next == guard.join)
      return guard;
    if (!next->getSinglePredecessor())
      return std::nullopt;
    guard.last = next;
  }
}

// As above, where the lanes that run the loop are chosen by a guard. Lanes meet again before it,
// so that what all lanes count in step stays known as such:
//   guard ─ all lanes enter? ─ yes ─ copy of the loop ─ copy's exit ┐
//                          └── no ───────────────────────────────── rest ─ enters ─ loop ...
void add_guarded_main_loop(Function& function, Loop& loop, const Guard& guard,
                           DenseSet<const BasicBlock*>& full) {
  BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
  auto* branch = cast<BranchInst>(guard.block->getTerminator());
  SmallVector<BasicBlock*, 4> between; // last to first
  for (BasicBlock* block = before; block != guard.block; block = block->getSinglePredecessor())
    between.push_back(block);
  for (BasicBlock* block : reverse(between))
    for (Instruction& instruction : make_early_inc_range(*block))
      if (!instruction.isTerminator()) {
        instruction.dropUBImplyingAttrsAndMetadata();
        instruction.moveBefore(branch->getIterator());
      }
  BasicBlock* rest = BasicBlock::Create(function.getContext(), "main.rest", &function);
  MainLoop copy;
  copy_loop(function, loop, rest, copy, full);
  IRBuilder<> builder(branch);
  bool enters_first = branch->getSuccessor(1) == guard.join;
  Value* enters = branch->getCondition();
  if (!enters_first)
    enters = builder.CreateNot(enters);
  Module& module = *function.getParent();
  Type* bool_type = builder.getInt1Ty();
  Value* all =
      builder.CreateCall(spmd::declare(module, spmd::all, bool_type, {bool_type}), {enters});
  BasicBlock* first = branch->getSuccessor(enters_first ? 0 : 1);
  builder.CreateCondBr(builder.CreateAnd(make_full(builder, module), all), copy.enter, rest);
  branch->eraseFromParent();

  builder.SetInsertPoint(rest);
  auto join = [&](Value* skipped, Value* left) {
    PHINode* phi = PHINode::Create(skipped->getType(), 2, "", rest->end());
    phi->addIncoming(skipped, guard.block);
    phi->addIncoming(copy.leave(copy.mapped(left)), copy.exit);
    return phi;
  };
  for (PHINode& phi : loop.getHeader()->phis()) {
    int index = phi.getBasicBlockIndex(before);
    phi.setIncomingValue(unsigned(index), join(phi.getIncomingValue(unsigned(index)),
                                               phi.getIncomingValueForBlock(latch)));
  }
  for (PHINode& phi : guard.join->phis()) {
    Value* value = phi.getIncomingValueForBlock(guard.last);
    while (auto* inner = dyn_cast<PHINode>(value)) {
      if (loop.contains(inner) || inner->getNumIncomingValues() != 1)
        break;
      value = inner->getIncomingValue(0);
    }
    int index = phi.getBasicBlockIndex(guard.block);
    phi.setIncomingValue(unsigned(index), join(phi.getIncomingValue(unsigned(index)), value));
    phi.setIncomingBlock(unsigned(index), rest);
  }
  PHINode* left = PHINode::Create(bool_type, 2, "", rest->end());
  left->addIncoming(enters, guard.block);
  left->addIncoming(copy.leave(copy.goes_on), copy.exit);
  builder.SetInsertPoint(rest);
  builder.CreateCondBr(left, first, guard.join);
}

} // namespace

bool add_main_loops(Function& function, LoopInfo& loops, const Divergence& divergence,
                    DenseSet<const BasicBlock*>& full) {
  SmallVector<std::pair<Loop*, std::optional<Guard>>, 4> work;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    const Scope& scope = divergence.scope(loop);
    if (!loop->isInnermost() || !scope.divergent || loop->getExitingBlock() != loop->getLoopLatch())
      continue;
    const ScopeNode& last = scope.nodes[size_t(scope.index.lookup(loop->getLoopLatch()))];
    unsigned size = 0;
    for (BasicBlock* block : loop->blocks())
      size += unsigned(block->size());
    if (last.is_masked() || !last.masked_branch || size > max_loop_size)
      continue;
    const Scope& around = divergence.scope(loop->getParentLoop());
    const ScopeNode& node = around.nodes[size_t(around.index.lookup(loop->getLoopPreheader()))];
    std::optional<Guard> guard;
    if (node.is_masked()) {
      guard = find_guard(*loop);
      if (guard && around.nodes[size_t(node.root)].block != guard->block)
        guard.reset();
    }
    work.push_back({loop, guard});
  }
  for (auto& [loop, guard] : work)
    if (guard)
      add_guarded_main_loop(function, *loop, *guard, full);
    else
      add_main_loop(function, *loop, full);
  return !work.empty();
}

} // namespace bessemer::metal::cpu

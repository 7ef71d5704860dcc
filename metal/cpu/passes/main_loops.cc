#include "metal/cpu/passes/main_loops.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// Larger loops gain little from a second copy, and it has to be compiled.
constexpr unsigned max_loop_size = 150;

//   enter ─ full? ─ yes ─ copy of the loop (while all lanes go on) ─ copy's exit ┐
//               └── no ─────────────────────────────────────────────────────── join ─ lanes left?
//   join ─ yes ─ tail enter ─ the loop ─ exit ─┐
//      └── no ───────────────────────────────── end
void add_main_loop(Function& function, Loop& loop, DenseSet<const BasicBlock*>& full) {
  LLVMContext& context = function.getContext();
  Module& module = *function.getParent();
  BasicBlock *enter = loop.getLoopPreheader(), *header = loop.getHeader(),
             *latch = loop.getLoopLatch();
  BasicBlock* exit = loop.getUniqueExitBlock();
  auto block = [&](const Twine& name) { return BasicBlock::Create(context, name, &function); };
  IRBuilder<> builder(context);
  Type* bool_type = builder.getInt1Ty();

  ValueToValueMapTy map;
  SmallVector<BasicBlock*, 8> copies;
  for (BasicBlock* original : loop.blocks()) {
    BasicBlock* copy = CloneBasicBlock(original, map, ".full", &function);
    map[original] = copy;
    copies.push_back(copy);
  }
  auto mapped = [&](Value* value) -> Value* {
    auto found = map.find(value);
    return found == map.end() ? value : static_cast<Value*>(found->second);
  };
  BasicBlock *main_enter = block("main.enter"), *main_exit = block("main.exit"),
             *join = block("main.join");
  BasicBlock *tail_enter = block("tail.enter"), *end = block("tail.end");
  map[enter] = main_enter;
  map[exit] = main_exit;
  for (BasicBlock* copy : copies)
    for (Instruction& instruction : *copy)
      RemapInstruction(&instruction, map, RF_IgnoreMissingLocals);
  auto* main_header = cast<BasicBlock>(mapped(header));
  auto* main_latch = cast<BasicBlock>(mapped(latch));
  full.insert(main_header);

  // The copy goes on while every lane does.
  auto* branch = cast<BranchInst>(main_latch->getTerminator());
  builder.SetInsertPoint(branch);
  Value* goes_on = branch->getCondition();
  if (branch->getSuccessor(0) != main_header)
    goes_on = builder.CreateNot(goes_on);
  Value* all =
      builder.CreateCall(spmd::declare(module, spmd::all, bool_type, {bool_type}), {goes_on});
  builder.CreateCondBr(all, main_header, main_exit);
  branch->eraseFromParent();

  builder.SetInsertPoint(main_enter);
  builder.CreateBr(main_header);
  builder.SetInsertPoint(enter->getTerminator());
  Value* is_full = builder.CreateCall(spmd::declare(module, spmd::full, bool_type));
  // What is active is decided where the call stands: it must not move.
  cast<Function>(cast<CallInst>(is_full)->getCalledFunction())->setConvergent();
  builder.CreateCondBr(is_full, main_enter, join);
  enter->getTerminator()->eraseFromParent();

  // Values that leave the copy, or skip it.
  builder.SetInsertPoint(main_exit);
  auto leave = [&](Value* value) {
    PHINode* phi = builder.CreatePHI(value->getType(), 1);
    phi->addIncoming(value, main_latch);
    return phi;
  };
  SmallVector<std::pair<Value*, Value*>, 8> joined; // without the copy, after it
  SmallVector<PHINode*, 8> header_phis, exit_phis;
  for (PHINode& phi : header->phis()) {
    header_phis.push_back(&phi);
    joined.push_back(
        {phi.getIncomingValueForBlock(enter), leave(mapped(phi.getIncomingValueForBlock(latch)))});
  }
  for (PHINode& phi : exit->phis()) {
    exit_phis.push_back(&phi);
    joined.push_back(
        {PoisonValue::get(phi.getType()), leave(mapped(phi.getIncomingValueForBlock(latch)))});
  }
  joined.push_back({builder.getTrue(), leave(goes_on)});
  builder.CreateBr(join);
  builder.SetInsertPoint(join);
  SmallVector<PHINode*, 8> joins;
  for (auto& [skipped, left] : joined) {
    PHINode* phi = builder.CreatePHI(skipped->getType(), 2);
    phi->addIncoming(skipped, enter);
    phi->addIncoming(left, main_exit);
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

} // namespace

bool add_main_loops(Function& function, LoopInfo& loops, const Divergence& divergence,
                    DenseSet<const BasicBlock*>& full) {
  SmallVector<Loop*, 4> work;
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
    work.push_back(loop);
  }
  for (Loop* loop : work)
    add_main_loop(function, *loop, full);
  return !work.empty();
}

} // namespace bessemer::metal::cpu

#include "metal/cpu/passes/normalize.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "llvm/Transforms/Utils/UnifyFunctionExitNodes.h"
#include "llvm/Transforms/Utils/UnifyLoopExits.h"

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// Copies up to this size become single loads and stores, longer ones loops.
constexpr uint64_t max_unrolled_copy = 512;

SimplifyCFGOptions control_flow_options() {
  return SimplifyCFGOptions()
      .setSimplifyCondBranch(true)
      .convertSwitchToLookupTable(false)
      .convertSwitchRangeToICmp(true)
      .hoistCommonInsts(false)
      .sinkCommonInsts(false)
      .speculateBlocks(true);
}

Type* copy_unit(IRBuilderBase& builder, Align align, uint64_t length) {
  uint64_t unit =
      std::min<uint64_t>({align.value(), 4, length ? uint64_t(1) << countr_zero(length) : 1});
  return builder.getIntNTy(unsigned(unit * 8));
}

void expand_memory_intrinsics(Function& function, FunctionAnalysisManager& analyses) {
  SmallVector<MemIntrinsic*, 8> work;
  for (BasicBlock& block : function)
    for (Instruction& instruction : block)
      if (auto* memory = dyn_cast<MemIntrinsic>(&instruction))
        work.push_back(memory);
  for (MemIntrinsic* memory : work) {
    IRBuilder<> builder(memory);
    auto* length = dyn_cast<ConstantInt>(memory->getLength());
    uint64_t bytes = length ? length->getZExtValue() : ~uint64_t(0);
    if (bytes <= max_unrolled_copy) {
      Align align = memory->getDestAlign().valueOrOne();
      if (auto* transfer = dyn_cast<MemTransferInst>(memory)) {
        align = std::min(align, transfer->getSourceAlign().valueOrOne());
        Type* unit = copy_unit(builder, align, bytes);
        uint64_t size = unit->getIntegerBitWidth() / 8;
        SmallVector<Value*, 32> values; // all loads come first: the ranges may overlap
        for (uint64_t offset = 0; offset < bytes; offset += size)
          values.push_back(builder.CreateAlignedLoad(
              unit,
              builder.CreateConstGEP1_64(builder.getInt8Ty(), transfer->getRawSource(), offset),
              Align(size)));
        for (uint64_t i = 0; i < values.size(); ++i)
          builder.CreateAlignedStore(
              values[i],
              builder.CreateConstGEP1_64(builder.getInt8Ty(), transfer->getRawDest(), i * size),
              Align(size));
      } else {
        Type* unit = copy_unit(builder, align, bytes);
        uint64_t size = unit->getIntegerBitWidth() / 8;
        Value* byte = cast<MemSetInst>(memory)->getValue();
        Value* value = builder.CreateZExt(byte, unit);
        for (uint64_t shift = 8; shift < size * 8; shift *= 2)
          value = builder.CreateOr(value, builder.CreateShl(value, shift));
        for (uint64_t offset = 0; offset < bytes; offset += size)
          builder.CreateAlignedStore(
              value, builder.CreateConstGEP1_64(builder.getInt8Ty(), memory->getRawDest(), offset),
              Align(size));
      }
    } else if (auto* copy = dyn_cast<MemCpyInst>(memory)) {
      expandMemCpyAsLoop(copy, analyses.getResult<TargetIRAnalysis>(function));
    } else if (auto* move = dyn_cast<MemMoveInst>(memory)) {
      if (!expandMemMoveAsLoop(move, analyses.getResult<TargetIRAnalysis>(function)))
        continue;
    } else {
      expandMemSetAsLoop(cast<MemSetInst>(memory));
    }
    memory->eraseFromParent();
  }
  if (!work.empty())
    analyses.invalidate(function, PreservedAnalyses::none());
}

// Metal has no unreachable code that runs; an end without return is one like any other.
void return_at_dead_ends(Function& function) {
  for (BasicBlock& block : function) {
    if (auto* dead = dyn_cast<UnreachableInst>(block.getTerminator())) {
      ReturnInst::Create(function.getContext(), nullptr, dead->getIterator());
      dead->eraseFromParent();
    }
    auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    if (branch && branch->isConditional() && branch->getSuccessor(0) == branch->getSuccessor(1)) {
      BasicBlock* target = branch->getSuccessor(0);
      target->removePredecessor(&block, true);
      BranchInst::Create(target, branch->getIterator());
      branch->eraseFromParent();
    }
  }
}

// A loop must leave into the loop around it, also where it leaves both: a detour through a block
// that could, as far as anyone can tell, go on with the outer loop.
bool keep_exits_in_parents(Function& function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    Loop* parent = loop->getParentLoop();
    if (!parent)
      continue;
    SmallVector<std::pair<BasicBlock*, BasicBlock*>, 4> edges;
    loop->getExitEdges(edges);
    for (auto [from, to] : edges) {
      if (loops.getLoopFor(from) != loop || parent->contains(to))
        continue;
      BasicBlock* detour = BasicBlock::Create(function.getContext(), "detour", &function, to);
      IRBuilder<> builder(detour);
      Value* always = builder.CreateCall(
          spmd::declare(*function.getParent(), spmd::always, builder.getInt1Ty()));
      builder.CreateCondBr(always, to, parent->getHeader());
      from->getTerminator()->replaceSuccessorWith(to, detour);
      to->replacePhiUsesWith(from, detour);
      for (PHINode& phi : parent->getHeader()->phis())
        phi.addIncoming(PoisonValue::get(phi.getType()), detour);
      return true;
    }
  }
  return false;
}

// Arithmetic on positions goes to the entry block, so that merges of equal values disappear.
void hoist_positions(Function& function) {
  BasicBlock& entry = function.getEntryBlock();
  DenseSet<const Value*> known;
  for (Instruction& instruction : entry)
    known.insert(&instruction);
  ReversePostOrderTraversal<Function*> order(&function);
  for (BasicBlock* block : order) {
    if (block == &entry)
      continue;
    for (Instruction& instruction : make_early_inc_range(*block)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      bool is_position = call && (spmd::callee_name(*call) == spmd::thread_index ||
                                  spmd::callee_name(*call).starts_with("spmd.group."));
      bool is_arithmetic = instruction.getType()->isIntegerTy() && !instruction.isIntDivRem() &&
                           (isa<CastInst>(instruction) || isa<BinaryOperator>(instruction));
      if (!is_position && !is_arithmetic)
        continue;
      bool ready = all_of(instruction.operands(), [&](const Use& use) {
        return isa<Constant>(use) || isa<Argument>(use) ||
               (known.contains(use) && !isa<LoadInst>(use));
      });
      if (!ready || isa<LoadInst>(instruction))
        continue;
      instruction.moveBefore(entry.getTerminator()->getIterator());
      known.insert(&instruction);
    }
  }
}

} // namespace

void promote_memory(Function& function, FunctionAnalysisManager& analyses) {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  passes.addPass(EarlyCSEPass());
  PreservedAnalyses preserved = passes.run(function, analyses);
  analyses.invalidate(function, preserved);
}

Error simplify_thread(Function& function, FunctionAnalysisManager& analyses) {
  expand_memory_intrinsics(function, analyses);
  for (BasicBlock& block : function)
    block.getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);
  FunctionPassManager passes;
  auto clean = [&] {
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(EarlyCSEPass(true));
    passes.addPass(InstCombinePass());
    passes.addPass(SimplifyCFGPass(control_flow_options()));
  };
  auto unroll = [&] {
    passes.addPass(LoopSimplifyPass());
    passes.addPass(LCSSAPass());
    passes.addPass(LoopUnrollPass(LoopUnrollOptions(3, false, true)
                                      .setPartial(false)
                                      .setRuntime(false)
                                      .setUpperBound(false)
                                      .setPeeling(false)));
    clean();
  };
  clean();
  // Loops with early exits arrive as switches over what the iteration decided.
  passes.addPass(JumpThreadingPass());
  passes.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass()));
  unroll();
  unroll();
  PreservedAnalyses preserved = passes.run(function, analyses);
  hoist_positions(function);
  analyses.invalidate(function, PreservedAnalyses::none());
  passes = FunctionPassManager();
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass(control_flow_options()));
  ScalarizerPassOptions scalarizer;
  scalarizer.ScalarizeLoadStore = false;
  passes.addPass(ScalarizerPass(scalarizer));
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(GVNPass());
  passes.addPass(DCEPass());
  preserved = passes.run(function, analyses);
  analyses.invalidate(function, preserved);
  return Error::success();
}

Error normalize_control_flow(Function& function, FunctionAnalysisManager& analyses) {
  return_at_dead_ends(function);
  for (int steps = 0; keep_exits_in_parents(function); ++steps)
    if (steps > 1000)
      return createStringError("loops leave each other in too many ways");
  analyses.invalidate(function, PreservedAnalyses::none());
  FunctionPassManager passes;
  passes.addPass(LowerSwitchPass());
  passes.addPass(UnifyFunctionExitNodesPass());
  passes.addPass(FixIrreduciblePass());
  passes.addPass(LoopSimplifyPass());
  passes.addPass(UnifyLoopExitsPass());
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  PreservedAnalyses preserved = passes.run(function, analyses);
  analyses.invalidate(function, PreservedAnalyses::none());
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    BasicBlock *preheader = loop->getLoopPreheader(), *exit = loop->getUniqueExitBlock();
    if (!preheader || !loop->getLoopLatch())
      return createStringError("a loop has no single entry and latch");
    if (!exit)
      return createStringError("a loop has no single exit, or none at all");
    SplitEdge(preheader, loop->getHeader(), &dominators, &loops)->setName("enter");
    SplitBlock(exit, exit->getFirstNonPHIIt(), &dominators, &loops)->setName("after");
  }
  analyses.invalidate(function, PreservedAnalyses::none());
  return Error::success();
}

} // namespace bessemer::metal::cpu

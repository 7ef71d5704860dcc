#include "metal/cpu/codegen/width.h"

#include "metal/air/intrinsic.h"
#include "metal/cpu/analysis/shape.h"
#include "metal/cpu/analysis/spmd.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

constexpr int simdgroup_lanes = 32;
// Without loops, kernels with fewer operations than this wait for memory.
constexpr unsigned min_arithmetic = 6;

// What a kernel does that speaks for or against wide vectors.
struct Traits {
  bool cross_lane = false; // lanes of a simdgroup speak to each other otherwise
  bool reduces = false;    // they combine their values
  bool serial = false;     // lanes one after the other, or leaving loops apart
  bool scattered = false;  // memory accesses that are not consecutive
  bool loops = false;      // the kernel has any
  bool barriers = false;   // threads of the threadgroup meet
  unsigned arithmetic = 0; // operations on varying values
  int64_t bytes = 0;       // of values alive at once, for each lane
  int64_t kept = 0;        // of those that are alive from block to block
};

// Do the lanes of each eight lie one after the other, or all in one place?
bool is_consecutive(const Shape& shape, int64_t size) {
  constexpr int few = 8;
  if (shape.is_varying() || shape.group < few)
    return false;
  for (int first = 0; first < simdgroup_lanes; first += few) {
    int64_t step = shape.offset(first + 1) - shape.offset(first);
    if (step && step != size)
      return false;
    for (int lane = 1; lane < few; ++lane)
      if (shape.offset(first + lane) - shape.offset(first + lane - 1) != step)
        return false;
  }
  return true;
}

// Neighbouring lanes count to the same bound: all but the last iteration have all lanes.
bool leaves_together(const Value& condition, const ShapeAnalysis& shapes) {
  const auto* compare = dyn_cast<ICmpInst>(&condition);
  if (!compare || compare->isEquality())
    return false;
  Shape left = shapes.shape(compare->getOperand(0)), right = shapes.shape(compare->getOperand(1));
  if (!right.is_uniform(simdgroup_lanes))
    std::swap(left, right);
  return right.is_uniform(simdgroup_lanes) && left.has_pieces() && left.group == simdgroup_lanes;
}

bool is_barrier(const Instruction& instruction) {
  const auto* call = dyn_cast<CallBase>(&instruction);
  auto intrinsic = call ? air::parse_intrinsic(spmd::callee_name(*call)) : std::nullopt;
  return intrinsic && intrinsic->operation == air::Operation::ThreadgroupBarrier;
}

// A load that its one user makes part of its own instruction.
bool is_memory_operand(const Value& value) {
  const auto* load = dyn_cast<LoadInst>(&value);
  if (!load || !load->hasOneUse())
    return false;
  const auto* user = cast<Instruction>(*load->user_begin());
  return user->getParent() == load->getParent() && isa<BinaryOperator>(user) &&
         (user->getOperand(1) == load || !isa<LoadInst>(user->getOperand(1)));
}

// The largest sums of the sizes of varying values that are alive at one point, and at the end of
// a block.
std::pair<int64_t, int64_t> live_bytes(Function& function, const ShapeAnalysis& shapes) {
  const DataLayout& layout = function.getParent()->getDataLayout();
  auto size = [&](const Value* value) -> int64_t {
    const auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction || !shapes.shape(value).is_varying() || value->getType()->isVoidTy() ||
        value->getType()->isIntegerTy(1))
      return 0;
    return int64_t(layout.getTypeStoreSize(value->getType()).getFixedValue());
  };
  DenseMap<const BasicBlock*, DenseSet<const Value*>> alive;
  int64_t most = 0, kept = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock* block : post_order(&function)) {
      DenseSet<const Value*> live;
      int64_t bytes = 0;
      auto add = [&](const Value* value) {
        if (int64_t own = size(value); own && live.insert(value).second)
          bytes += own;
      };
      auto remove = [&](const Value* value) {
        if (live.erase(value))
          bytes -= size(value);
      };
      for (BasicBlock* next : successors(block)) {
        for (const Value* value : alive[next])
          if (const auto* phi = dyn_cast<PHINode>(value); !phi || phi->getParent() != next)
            add(value);
        for (PHINode& phi : next->phis())
          add(phi.getIncomingValueForBlock(block));
      }
      kept = std::max(kept, bytes);
      for (Instruction& instruction : reverse(*block)) {
        if (isa<PHINode>(instruction))
          break;
        remove(&instruction);
        for (const Use& use : instruction.operands())
          if (!is_memory_operand(*use))
            add(use.get());
        most = std::max(most, bytes);
      }
      for (PHINode& phi : block->phis())
        add(&phi);
      auto& known = alive[block];
      if (live.size() != known.size()) {
        known = std::move(live);
        changed = true;
      }
    }
  }
  return {std::max(most, kept), kept};
}

Traits examine(Function& function, const uint32_t threads[3]) {
  Traits traits;
  const DataLayout& layout = function.getParent()->getDataLayout();
  ShapeAnalysis shapes(function, simdgroup_lanes, threads);
  shapes.run();
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (BasicBlock& block : function)
    for (Instruction& instruction : block) {
      if (const auto* call = dyn_cast<CallBase>(&instruction)) {
        StringRef name = spmd::callee_name(*call);
        bool reduces = spmd::is_reduction(name);
        traits.reduces |= reduces;
        traits.cross_lane |= (name.starts_with("air.simd") && !reduces) ||
                             name.starts_with("air.quad") ||
                             name.starts_with(spmd::matrix_multiply);
        traits.serial |= name.starts_with("air.atomic.");
      }
      if (const Value* pointer = getLoadStorePointerOperand(&instruction)) {
        Type* type = getLoadStoreType(&instruction);
        traits.scattered |= !is_consecutive(shapes.shape(pointer),
                                            int64_t(layout.getTypeStoreSize(type).getFixedValue()));
      }
      traits.scattered |= isa<AllocaInst>(instruction);
      bool computes = isa<BinaryOperator>(instruction) || isa<CallInst>(instruction);
      traits.arithmetic += computes && shapes.shape(&instruction).is_varying();
      traits.barriers |= is_barrier(instruction);
      const auto* branch = dyn_cast<BranchInst>(&instruction);
      if (branch && branch->isConditional() && loops.getLoopFor(&block))
        traits.serial |= !shapes.is_uniform(branch->getCondition()) &&
                         !leaves_together(*branch->getCondition(), shapes);
    }
  traits.loops = !loops.empty();
  std::tie(traits.bytes, traits.kept) = live_bytes(function, shapes);
  return traits;
}

} // namespace

int choose_lanes(Function& function, const KernelOptions& options, const TargetTraits& target) {
  if (!options.threads[0])
    return simdgroup_lanes;
  Traits traits = examine(function, options.threads.data());
  if (traits.cross_lane)
    return simdgroup_lanes;
  if (options.lanes)
    return traits.reduces && options.lanes % simdgroup_lanes ? simdgroup_lanes : int(options.lanes);
  uint32_t total = options.threads[0] * options.threads[1] * options.threads[2];
  // Lanes without a thread cost as much as others, and a mask in every access.
  if (total <= simdgroup_lanes / 2)
    return std::max(2, int(PowerOf2Ceil(total)));
  int64_t registers = target.vector_bits == 256 ? 16 : 32;
  auto registers_of = [&](int64_t bytes, int lanes) {
    return bytes * lanes * 8 / target.vector_bits;
  };
  auto needed = [&](int lanes) { return registers_of(traits.bytes, lanes); };
  // Wider than a simdgroup while the registers last, so that independent work fills the pipelines.
  // Where memory is all that matters, more streams at once only disturb it.
  bool streams = !traits.loops && traits.arithmetic < min_arithmetic;
  // A whole threadgroup in one vector needs no barriers. What lives within a block only is made a
  // register of lanes at a time.
  for (int lanes : {256, 128, 64})
    if (!traits.serial && !traits.scattered && traits.barriers && total == uint32_t(lanes) &&
        registers_of(traits.kept, lanes) <= registers / 2 &&
        registers_of(traits.bytes, target.vector_bits / 32) <= registers / 2)
      return lanes;
  if (traits.reduces)
    return simdgroup_lanes;
  if (!traits.serial && !traits.scattered && !streams)
    for (int lanes : {128, 64})
      if (total >= uint32_t(lanes) && total % uint32_t(lanes) == 0 &&
          needed(lanes) <= registers * 3 / 4)
        return lanes;
  // Narrower where half a simdgroup already fills them.
  if (!traits.serial && needed(simdgroup_lanes) > registers * 9 / 8 && total % 16 == 0 &&
      target.vector_bits / 32 <= 16)
    return 16;
  return simdgroup_lanes;
}

} // namespace bessemer::metal::cpu

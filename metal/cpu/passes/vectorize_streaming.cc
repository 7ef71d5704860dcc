// Stores that go past the caches: of whole lines that the kernel does not read, where the grid is
// so large that what it writes first has left the caches before it is done.
#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/passes/vectorizer.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"

#include <cstddef>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// About the last-level cache that cores share.
constexpr uint64_t min_streamed_bytes = 32 << 20;
constexpr int64_t line_bytes = 64;
// Iterations that a loop is taken to have.
constexpr uint64_t loop_weight = 8;

bool depends_on_group(const Value* value, SmallPtrSetImpl<const Value*>& seen) {
  const auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction || !seen.insert(value).second)
    return false;
  if (const auto* call = dyn_cast<CallInst>(instruction);
      call && spmd::callee_name(*call).starts_with("spmd.group."))
    return true;
  return !isa<LoadInst>(instruction) && llvm::any_of(instruction->operands(), [&](const Use& use) {
    return depends_on_group(use.get(), seen);
  });
}

} // namespace

bool Vectorizer::depends_on_group(const Value* value) {
  SmallPtrSet<const Value*, 32> seen;
  return cpu::depends_on_group(value, seen);
}

// Finds the stores and how much all of them write.
void Vectorizer::plan_streaming() {
  if (!options_.has_streaming_stores)
    return;
  Function& function = *thread_.function;
  SmallPtrSet<const Value*, 8> loaded;
  SmallVector<StoreInst*, 8> stores;
  for (BasicBlock& block : function)
    for (Instruction& instruction : block) {
      if (const auto* load = dyn_cast<LoadInst>(&instruction))
        loaded.insert(getUnderlyingObject(load->getPointerOperand()));
      else if (auto* store = dyn_cast<StoreInst>(&instruction))
        stores.push_back(store);
      // A flag in memory must not overtake what it tells of.
      if (const auto* call = dyn_cast<CallInst>(&instruction))
        if (StringRef name = spmd::callee_name(*call);
            name.starts_with("air.atomic.") && !name.starts_with("air.atomic.local."))
          return;
    }
  std::optional<DominatorTree> dominators;
  std::optional<LoopInfo> loops;
  for (StoreInst* store : stores) {
    Value* pointer = store->getPointerOperand();
    const auto* root = dyn_cast<Argument>(getUnderlyingObject(pointer));
    Shape shape = shapes_.shape(pointer);
    int64_t size = store_size(store->getValueOperand()->getType());
    if (!root || root->getArgNo() >= result_.buffer_count || loaded.contains(root) ||
        shape.is_varying() || run_length(shape, size) * size < line_bytes ||
        !depends_on_group(pointer))
      continue;
    if (!loops) {
      dominators.emplace(function);
      loops.emplace(*dominators);
    }
    uint64_t weight = loops->getLoopFor(store->getParent()) ? loop_weight : 1;
    streamed_bytes_ += uint64_t(size) * weight;
    streamed_pointers_.insert(pointer);
  }
}

// Is the grid that large, does every run of lanes begin with a line, and are all lanes active?
// Null: never.
Value* Vectorizer::streams(const LaneValue& pointer, int run, Value* mask, Value* thread_pointer) {
  if (!streamed_pointers_.contains(thread_pointer))
    return nullptr;
  Type* i64 = builder_.getInt64Ty();
  Value* threads = builder_.getInt64(streamed_bytes_);
  for (unsigned d = 0; d < 3; ++d) {
    Value* place = builder_.CreateConstGEP1_64(
        builder_.getInt8Ty(), result_.function->getArg(result_.dispatch_index()),
        offsetof(bessemer_dispatch_t, threads_per_grid) + 4 * d);
    LoadInst* count = builder_.CreateAlignedLoad(builder_.getInt32Ty(), place, Align(4));
    count->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(module_.getContext(), {}));
    threads = builder_.CreateMul(threads, builder_.CreateZExt(count, i64));
  }
  Value* low = nullptr;
  for (int lane = 0; lane < lanes_; lane += run) {
    Value* place = builder_.CreatePtrToInt(
        add_offset(pointer.pieces[lane / pointer.shape.group], pointer.shape.offset(lane)), i64);
    low = low ? builder_.CreateOr(low, place) : place;
  }
  Value* aligned = builder_.CreateIsNull(builder_.CreateAnd(low, uint64_t(line_bytes - 1)));
  if (mask)
    aligned = builder_.CreateAnd(aligned, all(mask));
  result_.has_streaming_stores = true;
  return builder_.CreateFreeze(builder_.CreateAnd(
      builder_.CreateICmpUGE(threads, builder_.getInt64(min_streamed_bytes)), aligned));
}

} // namespace bessemer::metal::cpu

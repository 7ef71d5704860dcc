#include "metal/cpu/passes/order_loads.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <algorithm>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// Fewer loads than this from one place are not a stream.
constexpr size_t min_stream = 8;

struct Place {
  LoadInst* load;
  int64_t offset;
};

class LoadOrder {
public:
  LoadOrder(BasicBlock& block, unsigned registers)
      : block_(block), layout_(block.getModule()->getDataLayout()), registers_(registers) {}

  void run() {
    SmallVector<Instruction*, 64> segment;
    for (Instruction& instruction : make_early_inc_range(block_)) {
      if (isa<PHINode>(instruction))
        continue;
      if (!instruction.isTerminator() && !instruction.mayHaveSideEffects() &&
          !isa<AllocaInst>(instruction)) {
        segment.push_back(&instruction);
        continue;
      }
      order(segment, instruction);
      segment.clear();
    }
  }

private:
  // The segment writes no memory: its loads may go in any order.
  void order(ArrayRef<Instruction*> segment, Instruction& end) {
    if (segment.size() < 2 * min_stream)
      return;
    SmallMapVector<const Value*, SmallVector<Place, 32>, 4> streams;
    for (Instruction* instruction : segment)
      if (auto* load = dyn_cast<LoadInst>(instruction);
          load && load->isSimple() && load->getType()->isVectorTy()) {
        APInt offset(layout_.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
        const Value* base =
            load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true);
        streams[base].push_back({load, offset.getSExtValue()});
      }
    bool ordered = true;
    SmallVector<Instruction*, 64> loads;
    for (auto& [base, places] : streams) {
      auto before = [](const Place& a, const Place& b) { return a.offset < b.offset; };
      if (places.size() >= min_stream && !is_sorted(places, before)) {
        ordered = false;
        llvm::sort(places, before);
      }
      for (const Place& place : places)
        loads.push_back(place.load);
    }
    if (ordered)
      return;
    SmallVector<Instruction*, 64> result = schedule(segment, loads);
    if (most_alive(result) > registers_)
      return;
    for (Instruction* instruction : result)
      instruction->moveBefore(end.getIterator());
  }

  // Load by load, each followed by what can then be computed.
  SmallVector<Instruction*, 64> schedule(ArrayRef<Instruction*> segment,
                                         ArrayRef<Instruction*> loads) {
    DenseSet<const Instruction*> left(segment.begin(), segment.end());
    SmallVector<Instruction*, 64> result;
    auto add = [&](auto& self, Instruction* instruction) -> void {
      if (!left.erase(instruction))
        return;
      for (const Use& use : instruction->operands())
        if (auto* source = dyn_cast<Instruction>(use.get()); source && left.contains(source))
          self(self, source);
      result.push_back(instruction);
    };
    auto follow = [&](auto& self, Instruction* instruction) -> void {
      for (User* user : instruction->users()) {
        auto* next = cast<Instruction>(user);
        if (!left.contains(next) || isa<LoadInst>(next) ||
            any_of(next->operands(), [&](const Use& use) {
              auto* source = dyn_cast<Instruction>(use.get());
              return source && left.contains(source);
            }))
          continue;
        add(add, next);
        self(self, next);
      }
    };
    for (Instruction* load : loads) {
      add(add, load);
      follow(follow, load);
    }
    for (Instruction* instruction : segment)
      add(add, instruction);
    return result;
  }

  unsigned most_alive(ArrayRef<Instruction*> list) {
    DenseMap<const Instruction*, size_t> position;
    for (size_t i = 0; i < list.size(); ++i)
      position[list[i]] = i;
    std::vector<int> change(list.size() + 1);
    for (size_t i = 0; i < list.size(); ++i) {
      if (!list[i]->getType()->isVectorTy())
        continue;
      size_t last = i;
      for (const User* user : list[i]->users()) {
        auto found = position.find(cast<Instruction>(user));
        last = std::max(last, found == position.end() ? list.size() : found->second);
      }
      ++change[i];
      --change[std::min(last, list.size())];
    }
    int alive = 0, most = 0;
    for (int step : change)
      most = std::max(most, alive += step);
    return unsigned(most);
  }

  BasicBlock& block_;
  const DataLayout& layout_;
  unsigned registers_;
};

// Of two loads that one instruction adds or multiplies, the second becomes its memory operand and
// runs with it: that must be the one that comes later.
void order_operands(BasicBlock& block) {
  DenseMap<const Instruction*, unsigned> position;
  unsigned count = 0;
  for (Instruction& instruction : block) {
    position[&instruction] = count++;
    if (!instruction.isCommutative() || !isa<BinaryOperator>(instruction))
      continue;
    auto *first = dyn_cast<LoadInst>(instruction.getOperand(0)),
         *second = dyn_cast<LoadInst>(instruction.getOperand(1));
    if (first && second && first->getParent() == &block && second->getParent() == &block &&
        position[second] < position[first])
      cast<BinaryOperator>(instruction).swapOperands();
  }
}

} // namespace

void order_loads(Function& function, unsigned registers) {
  for (BasicBlock& block : function) {
    LoadOrder(block, registers).run();
    order_operands(block);
  }
}

} // namespace bessemer::metal::cpu

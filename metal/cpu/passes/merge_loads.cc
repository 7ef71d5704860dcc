#include "metal/cpu/passes/merge_loads.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <cstdlib>
#include <map>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

constexpr int64_t word = 4;
constexpr int64_t count = 4; // words in a load

struct Member {
  LoadInst* load;
  unsigned number; // in the order of the block
};

class LoadMerger {
public:
  LoadMerger(Function& thread, const ShapeAnalysis& shapes)
      : thread_(thread), shapes_(shapes), layout_(thread.getParent()->getDataLayout()) {}

  void run() {
    for (BasicBlock& block : thread_) {
      unsigned number = 0;
      for (Instruction& instruction : make_early_inc_range(block)) {
        ++number;
        auto* load = dyn_cast<LoadInst>(&instruction);
        if (load && load->isSimple() && is_word(load->getType()) && is_apart(*load)) {
          APInt offset(64, 0);
          const Value* root = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
              layout_, offset, /*AllowNonInbounds=*/true);
          records_[root].try_emplace(offset.getSExtValue(), Member{load, number});
        } else if (instruction.mayWriteToMemory() || instruction.isTerminator()) {
          const auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
          if (!intrinsic || !intrinsic->isAssumeLikeIntrinsic())
            merge_all();
        }
      }
    }
  }

private:
  static bool is_word(const Type* type) { return type->isIntegerTy(32) || type->isFloatTy(); }

  // Lanes at known distances of a whole record and more.
  bool is_apart(const LoadInst& load) const {
    Shape shape = shapes_.shape(load.getPointerOperand());
    if (shape.group != shapes_.lanes() || shape.offsets.empty())
      return false;
    for (int lane = 1; lane < shapes_.lanes(); ++lane)
      if (std::abs(shape.offset(lane) - shape.offset(lane - 1)) <= word * count)
        return false;
    return true;
  }

  void merge_all() {
    for (auto& [root, members] : records_)
      for (auto first = members.begin(); first != members.end();) {
        SmallVector<Member, count> record;
        auto next = first;
        for (; next != members.end() && int64_t(record.size()) < count &&
               next->first == first->first + int64_t(record.size()) * word;
             ++next)
          record.push_back(next->second);
        if (int64_t(record.size()) == count)
          merge(record);
        first = next;
      }
    records_.clear();
  }

  void merge(ArrayRef<Member> record) {
    size_t earliest = 0;
    Align align = record[0].load->getAlign();
    for (size_t i = 1; i < record.size(); ++i)
      if (record[i].number < record[earliest].number)
        earliest = i;
    LoadInst* place = record[earliest].load;
    IRBuilder<> builder(place);
    Value* pointer = builder.CreateConstGEP1_64(builder.getInt8Ty(), place->getPointerOperand(),
                                                uint64_t(-int64_t(earliest) * word));
    LoadInst* whole = builder.CreateAlignedLoad(
        FixedVectorType::get(builder.getInt32Ty(), unsigned(count)), pointer, align);
    for (size_t i = 0; i < record.size(); ++i)
      record[i].load->replaceAllUsesWith(
          builder.CreateBitCast(builder.CreateExtractElement(whole, i), record[i].load->getType()));
    for (const Member& member : record)
      member.load->eraseFromParent();
  }

  Function& thread_;
  const ShapeAnalysis& shapes_;
  const DataLayout& layout_;
  MapVector<const Value*, std::map<int64_t, Member>> records_;
};

} // namespace

void merge_loads(Function& thread, const ShapeAnalysis& shapes) {
  LoadMerger(thread, shapes).run();
}

} // namespace bessemer::metal::cpu

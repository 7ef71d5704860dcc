#include "metal/cpu/passes/whole_matrices.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"

#include <optional>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

class WholeMatrices {
public:
  WholeMatrices(Function& function, const LoopInfo& loops, const Divergence& divergence)
      : function_(function), module_(*function.getParent()), loops_(loops), divergence_(divergence),
        builder_(function.getContext()), matrix_(FixedVectorType::get(builder_.getFloatTy(), 64)) {}

  bool run() {
    for (BasicBlock& block : function_)
      for (Instruction& instruction : block)
        if (auto* call = dyn_cast<CallInst>(&instruction);
            call && spmd::callee_name(*call).starts_with(spmd::matrix_multiply))
          products_.push_back(call);
    if (products_.empty() ||
        any_of(products_, [&](CallInst* call) { return is_masked(call->getParent()); }))
      return false;
    for (CallInst* call : products_)
      find_elements(*call);
    // Phis that carry products, and phis of those.
    for (size_t i = 0; i < pairs_.size(); ++i)
      find_phis(pairs_[i]);
    for (auto& [first, phi] : phis_) {
      builder_.SetInsertPoint(phi.first);
      phi.matrix = builder_.CreatePHI(matrix_, phi.first->getNumIncomingValues());
      made_[{phi.first, phi.second}] = phi.matrix;
    }
    for (CallInst* call : products_) {
      Value* operands[3];
      for (unsigned i = 0; i < 3; ++i)
        operands[i] = matrix(call->getArgOperand(2 * i), call->getArgOperand(2 * i + 1), call);
      builder_.SetInsertPoint(call);
      auto* product = builder_.CreateCall(
          spmd::declare(module_, spmd::matrix_product, matrix_, {matrix_, matrix_, matrix_}),
          operands);
      product->getCalledFunction()->setConvergent();
      for (const Pair& pair : pairs_)
        if (pair.product == call)
          made_[{pair.first, pair.second}] = product;
      products_made_[call] = product;
    }
    for (auto& [first, phi] : phis_)
      for (unsigned i = 0; i < phi.first->getNumIncomingValues(); ++i) {
        BasicBlock* from = phi.first->getIncomingBlock(i);
        phi.matrix->addIncoming(matrix(phi.first->getIncomingValue(i),
                                       phi.second->getIncomingValueForBlock(from),
                                       from->getTerminator()),
                                from);
      }
    take_apart();
    return true;
  }

private:
  struct Pair {
    Instruction *first, *second; // the lane's elements
    CallInst* product;           // that they come from; null: phis
  };
  struct Phi {
    PHINode *first, *second, *matrix;
  };

  bool is_masked(BasicBlock* block) const {
    for (;;) {
      const Loop* loop = loops_.getLoopFor(block);
      const Scope& scope = divergence_.scope(loop);
      auto found = scope.index.find(block);
      if (found == scope.index.end() || scope.nodes[size_t(found->second)].is_masked() ||
          scope.divergent)
        return true;
      if (!loop)
        return false;
      block = loop->getLoopPreheader();
    }
  }

  void find_elements(CallInst& call) {
    Pair pair{nullptr, nullptr, &call};
    for (User* user : call.users())
      if (auto* extract = dyn_cast<ExtractValueInst>(user)) {
        // One of each: equal ones are merged by now, others are replaced.
        Instruction*& element = extract->getIndices()[0] ? pair.second : pair.first;
        if (!element)
          element = extract;
        else
          extras_.push_back({extract, element});
      }
    for (auto& [extra, element] : extras_) {
      extra->replaceAllUsesWith(element);
      if (element->comesBefore(extra))
        continue;
      element->moveBefore(extra->getIterator());
    }
    for (auto& [extra, element] : extras_)
      extra->eraseFromParent();
    extras_.clear();
    if (pair.first && pair.second)
      pairs_.push_back(pair);
  }

  void find_phis(Pair pair) {
    for (User* user : pair.first->users()) {
      auto* first = dyn_cast<PHINode>(user);
      if (!first || phis_.count(first) || is_masked(first->getParent()) ||
          divergence_.is_blended(*first))
        continue;
      for (PHINode& second : first->getParent()->phis()) {
        bool matches = &second != first;
        for (unsigned i = 0; i < first->getNumIncomingValues() && matches; ++i)
          if (first->getIncomingValue(i) == pair.first)
            matches = second.getIncomingValueForBlock(first->getIncomingBlock(i)) == pair.second;
        if (!matches || taken_.contains(&second))
          continue;
        phis_[first] = {first, &second, nullptr};
        taken_.insert(&second);
        taken_.insert(first);
        pairs_.push_back({first, &second, nullptr});
        break;
      }
    }
  }

  // The matrix of these elements, at `user` or before.
  Value* matrix(Value* first, Value* second, Instruction* user) {
    if (auto found = made_.find({first, second}); found != made_.end())
      return found->second;
    if (isa<UndefValue>(first) && isa<UndefValue>(second))
      return PoisonValue::get(matrix_);
    if (auto* constant = dyn_cast<Constant>(first); constant && first == second)
      return ConstantVector::getSplat(ElementCount::getFixed(64), constant);
    auto *a = dyn_cast<Instruction>(first), *b = dyn_cast<Instruction>(second);
    bool together = a && b && a->getParent() == b->getParent();
    if (together && !isa<PHINode>(a) && !isa<PHINode>(b))
      builder_.SetInsertPoint((a->comesBefore(b) ? b : a)->getNextNode());
    else
      builder_.SetInsertPoint(user);
    Type* type = builder_.getFloatTy();
    auto* join = builder_.CreateCall(
        spmd::declare(module_, spmd::matrix_join, matrix_, {type, type}), {first, second});
    join->getCalledFunction()->setConvergent();
    if (together && !isa<PHINode>(a) && !isa<PHINode>(b))
      made_[{first, second}] = join;
    return join;
  }

  // What else uses elements asks the matrices for them.
  void take_apart() {
    std::vector<std::pair<Instruction*, Value*>> replaced;
    auto element = [&](Instruction* old, Value* whole, unsigned index) {
      auto* phi = dyn_cast<PHINode>(whole);
      builder_.SetInsertPoint(phi ? &*phi->getParent()->getFirstInsertionPt()
                                  : cast<Instruction>(whole)->getNextNode());
      auto* call =
          builder_.CreateCall(spmd::declare(module_, spmd::matrix_element, builder_.getFloatTy(),
                                            {matrix_, builder_.getInt32Ty()}),
                              {whole, builder_.getInt32(index)});
      old->replaceAllUsesWith(call);
      replaced.push_back({old, call});
    };
    for (CallInst* product : products_)
      for (User* user : make_early_inc_range(product->users())) {
        auto* extract = cast<ExtractValueInst>(user);
        element(extract, products_made_[product], extract->getIndices()[0]);
      }
    for (auto& [first, phi] : phis_) {
      element(phi.first, phi.matrix, 0);
      element(phi.second, phi.matrix, 1);
    }
    for (auto& [old, call] : replaced)
      old->eraseFromParent();
    for (CallInst* product : products_)
      product->eraseFromParent();
    for (auto& [old, call] : replaced)
      if (auto* instruction = cast<Instruction>(call); isInstructionTriviallyDead(instruction))
        instruction->eraseFromParent();
  }

  Function& function_;
  Module& module_;
  const LoopInfo& loops_;
  const Divergence& divergence_;
  IRBuilder<> builder_;
  FixedVectorType* matrix_;
  std::vector<CallInst*> products_;
  std::vector<Pair> pairs_;
  std::vector<std::pair<Instruction*, Instruction*>> extras_;
  MapVector<PHINode*, Phi> phis_; // by the first element's phi
  DenseSet<const PHINode*> taken_;
  DenseMap<std::pair<Value*, Value*>, Value*> made_;
  DenseMap<CallInst*, Value*> products_made_;
};

} // namespace

bool use_whole_matrices(Function& function, const LoopInfo& loops, const Divergence& divergence) {
  return WholeMatrices(function, loops, divergence).run();
}

} // namespace bessemer::metal::cpu

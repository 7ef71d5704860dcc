#include "metal/cpu/analysis/divergence.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

#include <algorithm>

using namespace llvm;

namespace bessemer::metal::cpu {

Expected<std::unique_ptr<Divergence>> Divergence::analyse(Function& function, LoopInfo& loops,
                                                          int lanes, const uint32_t threads[3]) {
  std::unique_ptr<Divergence> result(new Divergence(function, loops));
  if (Error error = result->build_scopes())
    return std::move(error);
  Divergence* self = result.get();
  result->shapes_ = std::make_unique<ShapeAnalysis>(
      function, lanes, threads, [self](const PHINode& phi) { return self->is_blended(phi); });
  do
    result->shapes_->run();
  while (result->update_control());
  return result;
}

Error Divergence::build_scopes() {
  SmallVector<Loop*, 8> order = loops_.getLoopsInPreorder();
  std::reverse(order.begin(), order.end());
  DenseMap<const BasicBlock*, Loop*> preheader_of;
  for (Loop* loop : order) {
    BasicBlock *preheader = loop->getLoopPreheader(), *exit = loop->getUniqueExitBlock();
    if (!preheader || !exit || !loop->getLoopLatch())
      return createStringError("a loop has %s",
                               !exit ? "no single exit" : "no single entry and latch");
    preheader_of[preheader] = loop;
    exit_of_[exit] = loop;
  }
  order.push_back(nullptr);
  ReversePostOrderTraversal<Function*> blocks(&function_);
  for (Loop* loop : order) {
    auto scope = std::make_unique<Scope>();
    scope->loop = loop;
    for (BasicBlock* block : blocks) {
      if (loops_.getLoopFor(block) != loop || exit_of_.count(block))
        continue;
      ScopeNode node;
      node.block = block;
      if (auto found = preheader_of.find(block); found != preheader_of.end()) {
        node.loop = found->second;
        node.exit = node.loop->getUniqueExitBlock();
        scope->index[node.exit] = int(scope->nodes.size());
      }
      scope->index[block] = int(scope->nodes.size());
      scope->nodes.push_back(node);
    }
    scopes_[loop] = std::move(scope);
  }
  return Error::success();
}

// Successors of each node; the number of nodes stands for the end of the scope.
std::vector<std::vector<int>> Divergence::successors_of(const Scope& scope) const {
  int end = int(scope.nodes.size());
  std::vector<std::vector<int>> result(end);
  for (int i = 0; i < end; ++i) {
    auto& list = result[i];
    for (BasicBlock* successor : successors(scope.nodes[i].last())) {
      auto found = scope.index.find(successor);
      bool leaves =
          found == scope.index.end() || (scope.loop && successor == scope.loop->getHeader());
      int target = leaves ? end : found->second;
      if (!is_contained(list, target))
        list.push_back(target);
    }
    if (list.empty())
      list.push_back(end);
  }
  return result;
}

bool Divergence::update_scope(Scope& scope) {
  int count = int(scope.nodes.size());
  std::vector<std::vector<int>> next = successors_of(scope), previous(count + 1);
  for (int i = 0; i < count; ++i)
    for (int target : next[i])
      previous[target].push_back(i);

  std::vector<BitVector> dominators(count, BitVector(count, true));
  for (int i = 0; i < count; ++i) {
    if (previous[i].empty())
      dominators[i].reset();
    for (int from : previous[i])
      dominators[i] &= dominators[from];
    dominators[i].set(i);
  }
  std::vector<BitVector> post_dominators(count + 1, BitVector(count + 1, true));
  post_dominators[count].reset();
  post_dominators[count].set(count);
  for (int i = count - 1; i >= 0; --i) {
    for (int target : next[i])
      post_dominators[i] &= post_dominators[target];
    scope.nodes[i].post_dominator = post_dominators[i].find_first();
    post_dominators[i].set(i);
  }

  // A node that some lanes of a masked branch run and that can be reached around that branch must
  // be decided further up: at the nearest branch that dominates both ways.
  SmallVector<int, 8> work;
  bool changed = false;
  auto mark = [&](int node) {
    if (scope.nodes[node].masked_branch)
      return;
    scope.nodes[node].masked_branch = changed = true;
    work.push_back(node);
  };
  for (int i = 0; i < count; ++i) {
    ScopeNode& node = scope.nodes[i];
    if (node.masked_branch)
      work.push_back(i);
    if (node.loop)
      continue;
    const auto* branch = dyn_cast<BranchInst>(node.block->getTerminator());
    if (!branch || !branch->isConditional())
      continue;
    Shape condition = shapes_->shape(branch->getCondition());
    if (!condition.is_unknown() && !condition.is_uniform(shapes_->lanes()))
      mark(i);
  }
  std::vector<BitVector> regions(count);
  while (!work.empty()) {
    int root = work.pop_back_val();
    BitVector region(count);
    SmallVector<int, 16> stack(next[root].begin(), next[root].end());
    while (!stack.empty()) {
      int node = stack.pop_back_val();
      if (node == count || node == scope.nodes[root].post_dominator || region.test(node))
        continue;
      region.set(node);
      stack.append(next[node].begin(), next[node].end());
    }
    regions[root] = region;
    for (int node : region.set_bits()) {
      if (dominators[node].test(root))
        continue;
      BitVector common = dominators[node];
      common &= dominators[root];
      mark(common.find_last());
    }
  }
  for (ScopeNode& node : scope.nodes)
    node.root = -1;
  for (int i = 0; i < count; ++i) {
    if (!scope.nodes[i].masked_branch || scope.nodes[i].is_masked())
      continue;
    for (int node : regions[i].set_bits())
      scope.nodes[node].root = i;
  }
  if (scope.loop && !scope.divergent) {
    BasicBlock* exit = scope.loop->getUniqueExitBlock();
    for (const ScopeNode& node : scope.nodes)
      if ((node.is_masked() || node.masked_branch) && is_contained(successors(node.last()), exit))
        scope.divergent = changed = true;
  }
  return changed;
}

bool Divergence::update_control() {
  bool changed = false;
  for (auto& [loop, scope] : scopes_)
    changed |= update_scope(*scope);
  return changed;
}

bool Divergence::is_masked_edge(const BasicBlock* from, const BasicBlock* to) const {
  (void)to;
  // `from` may be a loop's exit block, which belongs to the loop's node in the scope around it.
  auto found = scopes_.find(loops_.getLoopFor(from));
  const Scope& scope = *found->second;
  auto index = scope.index.find(const_cast<BasicBlock*>(from));
  if (index == scope.index.end())
    return false;
  const ScopeNode& node = scope.nodes[index->second];
  return node.is_masked() || (node.masked_branch && !node.loop);
}

bool Divergence::is_blended(const PHINode& phi) const {
  const BasicBlock* block = phi.getParent();
  const Value* same = nullptr;
  bool all_same = true;
  for (const Value* incoming : phi.incoming_values()) {
    if (isa<UndefValue>(incoming))
      continue;
    if (!same)
      same = incoming;
    all_same &= incoming == same;
  }
  if (auto found = exit_of_.find(block); found != exit_of_.end()) {
    const Loop* loop = found->second;
    if (!scopes_.find(loop)->second->divergent)
      return false;
    // A value that every iteration has alike is the same for lanes that left in any of them.
    const auto* instruction = dyn_cast_or_null<Instruction>(same);
    return !all_same || (instruction && loop->contains(instruction));
  }
  const Loop* loop = loops_.getLoopFor(block);
  if (all_same || (loop && loop->getHeader() == block))
    return false;
  for (const BasicBlock* from : phi.blocks())
    if (is_masked_edge(from, block))
      return true;
  return false;
}

} // namespace bessemer::metal::cpu

// Which branches of a thread function may go different ways for the lanes of a vector, and which
// blocks must therefore run under masks.
#pragma once

#include "metal/cpu/analysis/shape.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace bessemer::metal::cpu {

/// A node of a scope: a block, or an inner loop with its preheader and its exit block. Preheader
/// and exit hold nothing else (passes/normalize), so a loop has one way in and one way out.
struct ScopeNode {
  llvm::BasicBlock* block = nullptr; ///< the block, or the loop's preheader
  llvm::Loop* loop = nullptr;        ///< null for a plain block
  llvm::BasicBlock* exit = nullptr;  ///< the loop's exit block
  /// The branch at the block's end is taken under masks, each lane its own way.
  bool masked_branch = false;
  /// Index of the node whose masked branch decides which lanes run this node; -1: all lanes of the
  /// scope do. Such a root is never under another root's masks.
  int root = -1;
  /// Index of the immediate post-dominator, where the lanes meet again; the number of nodes stands
  /// for the end of the scope (next iteration, exit or return).
  int post_dominator = -1;

  llvm::BasicBlock* last() const { return loop ? exit : block; }
  bool is_masked() const { return root >= 0; }
};

/// The acyclic graph of one loop's body (or of the function), inner loops taken as single nodes,
/// in topological order.
struct Scope {
  llvm::Loop* loop = nullptr; ///< null: the function
  std::vector<ScopeNode> nodes;
  llvm::DenseMap<llvm::BasicBlock*, int> index; ///< of a plain block, preheader or exit block
  /// Lanes may leave the loop in different iterations.
  bool divergent = false;
};

class Divergence {
public:
  /// `function` must be as passes/normalize leaves it.
  static llvm::Expected<std::unique_ptr<Divergence>>
  analyse(llvm::Function& function, llvm::LoopInfo& loops, int lanes, const uint32_t threads[3]);

  const Scope& scope(const llvm::Loop* loop) const { return *scopes_.find(loop)->second; }
  const ShapeAnalysis& shapes() const { return *shapes_; }
  /// Does lane-dependent control flow choose among the phi's values?
  bool is_blended(const llvm::PHINode& phi) const;
  /// Is the edge between two blocks of one scope taken by some lanes only?
  bool is_masked_edge(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const;

private:
  Divergence(llvm::Function& function, llvm::LoopInfo& loops)
      : function_(function), loops_(loops) {}
  llvm::Error build_scopes();
  bool update_control();
  bool update_scope(Scope& scope);
  std::vector<std::vector<int>> successors_of(const Scope& scope) const;

  llvm::Function& function_;
  llvm::LoopInfo& loops_;
  std::unique_ptr<ShapeAnalysis> shapes_;
  llvm::MapVector<const llvm::Loop*, std::unique_ptr<Scope>> scopes_; // innermost first
  llvm::DenseMap<const llvm::BasicBlock*, const llvm::Loop*> exit_of_;
};

} // namespace bessemer::metal::cpu

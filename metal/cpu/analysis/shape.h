// How the value of an instruction varies over the lanes of a vector.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <cstdint>
#include <functional>

namespace bessemer::metal::cpu {

/// value[lane] = piece[lane / group] + offset[lane]: uniform scalars, one for each group of lanes,
/// plus offsets known when compiling. `group` = lanes is one uniform base; smaller groups make
/// threadgroups that are narrower than a vector work. Arithmetic is modulo the type's width.
struct Shape {
  static constexpr int unknown_group = -1;
  static constexpr int varying_group = 0;
  static constexpr int max_align = 40;

  int group = unknown_group;
  /// log2 of a power of two that divides every piece; max_align: the pieces are zero.
  int align = 0;
  /// One for each lane; empty when all are zero.
  llvm::SmallVector<int64_t, 0> offsets;

  static Shape varying() {
    Shape shape;
    shape.group = varying_group;
    return shape;
  }
  static Shape uniform(int lanes, int align = 0) {
    Shape shape;
    shape.group = lanes;
    shape.align = align;
    return shape;
  }

  bool is_unknown() const { return group == unknown_group; }
  bool is_varying() const { return group == varying_group; }
  bool has_pieces() const { return group > 0; }
  bool is_flat() const { return group > 0 && offsets.empty(); }
  bool is_uniform(int lanes) const { return group == lanes && offsets.empty(); }
  int64_t offset(int lane) const { return offsets.empty() ? 0 : offsets[lane]; }
  int64_t max_offset() const;
  int64_t min_offset() const;
  /// No offset reaches the pieces' lowest bit, so that adding one carries into no piece.
  bool is_disjoint() const;
  void drop_zero_offsets();
  bool operator==(const Shape& other) const = default;
};

/// How the vector code of an instruction is made from its operands.
enum class EmitMode {
  Vector, ///< from whole vectors
  Linear, ///< on the operands' pieces alone; the offsets follow from the shape
  Pieces, ///< on each piece with its offset added
};

/// Shapes of all values of a thread function.
class ShapeAnalysis {
public:
  /// `threads`: of the threadgroup, all 0 when known only at run time. `is_blended(phi)`: the phi
  /// merges lanes that came by different edges or in different iterations.
  ShapeAnalysis(llvm::Function& function, int lanes, const uint32_t threads[3],
                std::function<bool(const llvm::PHINode&)> is_blended = {});

  /// Iterates to a fixed point; call again after `is_blended` changed its mind towards true.
  void run();

  Shape shape(const llvm::Value* value) const;
  bool is_uniform(const llvm::Value* value) const { return shape(value).is_uniform(lanes_); }
  int lanes() const { return lanes_; }
  /// The shape and way of making `instruction`, from its operands' present shapes.
  Shape transfer(const llvm::Instruction& instruction, EmitMode& mode) const;
  /// The same value with groups small enough that no offset is left, or varying.
  Shape flatten(const Shape& shape) const;
  /// The smallest group that pieces are kept for; below, values are varying.
  int min_group() const { return lanes_ < 8 ? lanes_ : 8; }

private:
  Shape transfer_phi(const llvm::PHINode& phi) const;
  Shape transfer_call(const llvm::CallInst& call, EmitMode& mode, bool& known) const;
  Shape transfer_integer(const llvm::Instruction& instruction, llvm::ArrayRef<Shape> operands,
                         EmitMode& mode) const;
  bool is_address_only(const llvm::Instruction& instruction, int depth = 0) const;

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  int lanes_;
  uint32_t total_threads_; // 0: not known
  std::function<bool(const llvm::PHINode&)> is_blended_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
  llvm::DenseMap<const llvm::Value*, int> changes_;
};

} // namespace bessemer::metal::cpu

// The state of passes/vectorize, shared by its parts: the function and its control flow
// (vectorize.cc), and a file for each kind of operation, as the sections below say.
#pragma once

#include "metal/air/intrinsic.h"
#include "metal/cpu/analysis/shape.h"
#include "metal/cpu/passes/vectorize.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/IRBuilder.h"

#include <functional>
#include <optional>
#include <string>

namespace bessemer::metal::cpu {

/// A value in the vector function. Values of vector and struct type are kept element by element
/// where they vary.
struct LaneValue {
  Shape shape;
  llvm::SmallVector<llvm::Value*, 4> pieces;  ///< one for each group, of the scalar type
  llvm::SmallVector<llvm::Value*, 4> vectors; ///< varying: one <lanes x T> for each element
};

/// value[lane] = base + offsets[lane] * unit, modulo the type's width, where `exact` holds and the
/// offsets ascend from lane to lane and stay small.
struct LanePattern {
  llvm::Value* base = nullptr;    ///< lane 0's value, a scalar
  llvm::Value* offsets = nullptr; ///< <lanes x i32>; lane 0's is 0
  int64_t unit = 1;               ///< bytes, for pointers
  llvm::Value* exact = nullptr;   ///< i1; null: always
  bool is_bitwise = false;        ///< made by bit operations on lane numbers, which keep them close
};

class Vectorizer {
public:
  Vectorizer(const ThreadFunction& thread, const VectorizeOptions& options, ShapeAnalysis& shapes);
  llvm::Expected<VectorFunction> run();

private:
  using Value = llvm::Value;
  using Type = llvm::Type;

  // ---- vectorize.cc
  void fail(const llvm::Twine& message);
  llvm::BasicBlock* new_block(const llvm::Twine& name);
  void emit_function();
  void emit_instruction(llvm::Instruction& instruction);
  void emit_phi(llvm::PHINode& phi);
  void finish_phis();
  void emit_branch(llvm::BranchInst& branch);
  Value* all_below(Value* condition);
  bool emit_spmd_call(llvm::CallInst& call, llvm::StringRef name);
  bool emit_air_call(llvm::CallInst& call, llvm::StringRef name);

  // ---- vectorize_values.cc
  Type* flat_type(Type* type) const; // pointers lose their address space
  llvm::FixedVectorType* vector_type(Type* type) const;
  llvm::FixedVectorType* mask_type() { return vector_type(builder_.getInt1Ty()); }
  LaneValue get(Value* value);
  llvm::SmallVector<Value*, 4> bases(const LaneValue& value, int group);
  llvm::SmallVector<Value*, 4> flat_pieces(const LaneValue& value, int group);
  Value* add_offset(Value* value, int64_t offset);
  Value* vector(const LaneValue& value, unsigned element = 0);
  Value* vector(Value* value) { return vector(get(value)); }
  unsigned element_count(Type* type) const;
  void set(const llvm::Instruction& instruction, LaneValue value);
  void set_vector(const llvm::Instruction& instruction, Value* value);
  void set_uniform(const llvm::Instruction& instruction, Value* value);
  llvm::Constant* lane_numbers(Type* element, int64_t scale = 1);
  Value* any(Value* mask);
  Value* all(Value* mask);
  Value* bits(Value* mask);
  Value* full(Value* mask) { return mask ? mask : llvm::ConstantInt::getTrue(mask_type()); }
  Value* mask_and(Value* mask, Value* condition);
  Value* slice(Value* vector, int first, int count);
  Value* concatenate(llvm::ArrayRef<Value*> parts);
  Value* permute(llvm::ArrayRef<Value*> parts, llvm::ArrayRef<int> lanes);
  llvm::AllocaInst* scratch(Type* type);
  Value* version(Value* condition, Type* type, llvm::function_ref<Value*()> fast,
                 llvm::function_ref<Value*()> slow);

  // ---- vectorize_elements.cc
  bool emit_element_access(llvm::Instruction& instruction);

  // ---- vectorize_arithmetic.cc
  void emit_elementwise(llvm::Instruction& instruction, const Shape& shape, EmitMode mode);
  Value* emit_operation(llvm::Instruction& instruction, llvm::ArrayRef<Value*> operands);
  Value* emit_division(llvm::Instruction& instruction, llvm::ArrayRef<Value*> operands);
  Value* narrow(Value* value, Type* type);
  Value* emit_saturating_conversion(Value* value, Type* type, bool is_signed);
  Value* emit_min_max(bool is_max, Value* a, Value* b, bool no_nans);
  void emit_dot_product(llvm::CallInst& call);
  Value* emit_gep(llvm::GetElementPtrInst& gep, llvm::ArrayRef<Value*> operands);

  // ---- vectorize_memory.cc
  void emit_load(llvm::LoadInst& load, const Shape& shape, EmitMode mode);
  void emit_store(llvm::StoreInst& store);
  llvm::SmallVector<Value*, 4> load_elements(Type* element, unsigned count,
                                             const LaneValue& pointer, Value* mask,
                                             Value* thread_pointer);
  void store_elements(llvm::ArrayRef<Value*> values, const LaneValue& pointer, Value* mask,
                      Value* thread_pointer);
  Value* load_run(Type* type, Value* pointer, int count, Value* mask);
  void store_runs(llvm::ArrayRef<Value*> values, const LaneValue& pointer, int run, Value* mask);
  void store_run(Value* value, Value* pointer, Value* mask);
  Value* gather(Type* type, const LaneValue& pointer, int64_t offset, Value* mask);
  void scatter(Value* value, const LaneValue& pointer, int64_t offset, Value* mask);
  bool load_window(Type* element, unsigned count, const LaneValue& pointer, Value* mask,
                   llvm::SmallVectorImpl<Value*>& result);
  LaneValue remake_pointers(const LaneValue& pointer, Value* thread_pointer);
  llvm::SmallVector<Value*, 4> load_records(Type* element, const LaneValue& pointer);
  void prefetch(const LaneValue& pointer, int64_t size, Value* thread_pointer);
  int run_length(const Shape& shape, int64_t size) const;
  Value* is_consecutive(Value* pointers, int64_t size);
  int native_lanes(Type* type) const;
  int64_t store_size(Type* type) const;

  // ---- vectorize_patterns.cc
  std::optional<LanePattern> find_pattern(Value* value, int depth = 0);
  Value* is_consecutive(const LanePattern& pattern);
  bool can_use_window(const LanePattern& pattern, Type* element) const;
  Value* is_window(const LanePattern& pattern);
  Value* window_positions(const LanePattern& pattern);
  llvm::SmallVector<Value*, 4> window_masks(Value* positions, Value* mask);
  Value* look_up(llvm::ArrayRef<Value*> parts, Value* index);
  Value* load_permuted(Type* type, const LanePattern& pattern, Value* mask);
  void store_permuted(Value* value, const LanePattern& pattern, Value* mask);

  // ---- vectorize_streaming.cc
  bool depends_on_group(const Value* value); ///< on the threadgroup's position in the grid
  void plan_streaming();
  Value* streams(const LaneValue& pointer, int run, Value* mask, Value* thread_pointer);

  // ---- vectorize_cross_lane.cc
  enum class Reduction { Sum, Product, Min, Max, And, Or, Xor };
  void emit_simdgroup(llvm::CallInst& call, const air::Intrinsic& intrinsic);
  std::optional<Reduction> reduction_of(air::Operation operation) const;
  llvm::Constant* identity(Reduction reduction, Type* type, bool is_signed);
  Value* combine(Reduction reduction, Value* a, Value* b, bool is_signed);
  Value* reduce_all(Reduction reduction, Value* value, bool is_signed);
  Value* reduce_quads(Reduction reduction, Value* value, bool is_signed);
  Value* prefix(Reduction reduction, Value* value, bool exclusive, int width);
  Value* shuffle_by(Value* value, Value* index);
  Value* first_active_lane();
  void emit_shuffle(llvm::CallInst& call, const air::Intrinsic& intrinsic, int width);

  // ---- vectorize_atomics.cc
  void emit_atomic(llvm::CallInst& call, const air::Intrinsic& intrinsic);
  void emit_compare_exchange(llvm::CallInst& call, bool threadgroup);
  Value* emit_one_atomic(const air::Intrinsic& intrinsic, Value* pointer, Value* operand,
                         Type* type);
  void for_each_lane(llvm::function_ref<void(Value* lane)> body);
  void for_each_active_lane(llvm::function_ref<void(Value* lane)> body);
  /// The value of one lane, by a run-time lane number.
  std::function<Value*(Value* lane)> lane_reader(const LaneValue& value);

  // ---- vectorize_matrices.cc
  void emit_matrix_multiply(llvm::CallInst& call);
  void emit_matrix_product(llvm::CallInst& call);
  void emit_matrix_join(llvm::CallInst& call);
  Value* load_matrix(Value* first, Value* second);
  void emit_matrix_element(llvm::CallInst& call);

  const ThreadFunction& thread_;
  VectorizeOptions options_;
  int lanes_;
  ShapeAnalysis& shapes_;
  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  llvm::IRBuilder<> builder_;
  VectorFunction result_;
  llvm::BasicBlock* entry_ = nullptr;
  Value* mask_ = nullptr; ///< of the instruction being made; null: all lanes are active
  llvm::DenseSet<const Value*> streamed_pointers_;
  uint64_t streamed_bytes_ = 0; ///< that each thread stores to them, about
  bool streaming_ = false;      ///< runs being stored go past the caches
  llvm::Align access_align_;    ///< as the access being made promises
  llvm::DenseMap<const Value*, LaneValue> values_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> blocks_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> block_ends_;
  std::vector<llvm::PHINode*> phis_;
  std::optional<std::string> error_;
};

} // namespace bessemer::metal::cpu

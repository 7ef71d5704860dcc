// The vocabulary of a thread function: what one thread asks of the vector that it is a lane of.
// passes/bind_arguments writes these calls, passes/linearize adds the masks, passes/vectorize
// gives them their meaning; no other code makes or reads them.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace bessemer::metal::cpu::spmd {

/// i32 (): index of the thread in its threadgroup, x fastest.
inline constexpr llvm::StringLiteral thread_index = "spmd.thread_index";
/// i32 (): lane of the vector, 0 to lanes - 1.
inline constexpr llvm::StringLiteral lane = "spmd.lane";
/// i32 (): position of the threadgroup in the grid; a dimension's letter follows.
inline constexpr llvm::StringLiteral group_x = "spmd.group.x";
inline constexpr llvm::StringLiteral group_y = "spmd.group.y";
inline constexpr llvm::StringLiteral group_z = "spmd.group.z";
/// ptr (i64 offset): the vector's block of private arrays, shared by its lanes.
inline constexpr llvm::StringLiteral private_memory = "spmd.private";
/// void (i1): from here to the end of the block only lanes with a true argument are active.
inline constexpr llvm::StringLiteral mask = "spmd.mask";
/// i1 (i1): is the argument true in any lane of the vector?
inline constexpr llvm::StringLiteral any = "spmd.any";
/// i1 (i1): true only if the argument is in all lanes; rarely false though it is.
inline constexpr llvm::StringLiteral all = "spmd.all";
/// i1 (): are all lanes of the vector active here?
inline constexpr llvm::StringLiteral full = "spmd.full";
/// i1 (): true, which only passes/vectorize knows.
inline constexpr llvm::StringLiteral always = "spmd.always";
/// {T, T} (T a0, T a1, T b0, T b1, U c0, U c1): the lane's two elements of a*b+c, 8x8 matrices.
inline constexpr llvm::StringLiteral matrix_multiply = "spmd.matrix_multiply.";
/// i32 (i32 sum, i32 a, i32 b): sum plus the products of a's unsigned and b's signed bytes.
inline constexpr llvm::StringLiteral dot4 = "spmd.dot4";
/// <64 x float> (<64 x float> a, <64 x float> b, <64 x float> c): a*b+c of matrices row after row.
inline constexpr llvm::StringLiteral matrix_product = "spmd.matrix_product";
/// <64 x float> (float, float): the matrix that each lane gives two elements of.
inline constexpr llvm::StringLiteral matrix_join = "spmd.matrix_join";
/// float (<64 x float>, i32 n): the first (0) or second (1) of the lane's elements.
inline constexpr llvm::StringLiteral matrix_element = "spmd.matrix_element";

/// Name of the function that `call` calls directly; empty for an indirect call.
inline llvm::StringRef callee_name(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee ? callee->getName() : llvm::StringRef();
}

/// Is `value` a call of the function `name`?
inline bool is_call(const llvm::Value* value, llvm::StringRef name) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  return call && callee_name(*call) == name;
}

/// Is this the name of an AIR function that combines the values of a simdgroup's active lanes? It is
/// the only kind of operation between lanes that vectors of several simdgroups may have.
inline bool is_reduction(llvm::StringRef name) {
  if (!name.consume_front("air.simd_"))
    return false;
  llvm::StringRef operation = name.split('.').first;
  for (llvm::StringRef one : {"sum", "product", "min", "max", "and", "or", "xor"})
    if (operation == one)
      return true;
  return false;
}

/// Declares (once) a function of the vocabulary that reads and writes no memory.
inline llvm::FunctionCallee declare(llvm::Module& module, llvm::StringRef name, llvm::Type* result,
                                    llvm::ArrayRef<llvm::Type*> parameters = {}) {
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  return callee;
}

/// Declares spmd.mask, which must stay where it is.
inline llvm::FunctionCallee declare_mask(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::FunctionCallee callee = module.getOrInsertFunction(
      mask, llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                    {llvm::Type::getInt1Ty(context)}, false));
  llvm::cast<llvm::Function>(callee.getCallee())->setConvergent();
  return callee;
}

} // namespace bessemer::metal::cpu::spmd

#include "metal/cpu/passes/vectorize.h"

#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/passes/vectorizer.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using bessemer::air::Operation;
using bessemer::air::OperationGroup;

namespace bessemer::metal::cpu {

Expected<VectorFunction> vectorize(const ThreadFunction& thread, const VectorizeOptions& options) {
  ShapeAnalysis shapes(*thread.function, options.lanes, options.threads);
  shapes.run();
  return Vectorizer(thread, options, shapes).run();
}

Vectorizer::Vectorizer(const ThreadFunction& thread, const VectorizeOptions& options,
                       ShapeAnalysis& shapes)
    : thread_(thread), options_(options), lanes_(options.lanes), shapes_(shapes),
      module_(*thread.function->getParent()), layout_(module_.getDataLayout()),
      builder_(module_.getContext()) {}

Expected<VectorFunction> Vectorizer::run() {
  emit_function();
  if (!error_)
    return result_;
  result_.function->dropAllReferences();
  result_.function->eraseFromParent();
  return createStringError("%s", error_->c_str());
}

// The first failure is the one to report; emission goes on with poison.
void Vectorizer::fail(const Twine& message) {
  if (!error_)
    error_ = message.str();
}

void Vectorizer::emit_function() {
  LLVMContext& context = module_.getContext();
  SmallVector<Type*, 16> types;
  for (Argument& argument : thread_.function->args())
    types.push_back(flat_type(argument.getType()));
  for (int i = 0; i < 4; ++i)
    types.push_back(builder_.getInt32Ty());
  types.push_back(builder_.getPtrTy());
  result_.function = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false),
                                      GlobalValue::InternalLinkage, "vector", module_);
  result_.buffer_count = unsigned(thread_.buffers.size());
  entry_ = new_block("entry");
  plan_streaming();
  ReversePostOrderTraversal<Function*> order(thread_.function);
  for (BasicBlock* block : order)
    blocks_[block] = new_block(block->getName());
  for (BasicBlock* block : order) {
    builder_.SetInsertPoint(blocks_[block]);
    mask_ = nullptr;
    for (Instruction& instruction : *block) {
      builder_.SetCurrentDebugLocation(instruction.getDebugLoc());
      emit_instruction(instruction);
      if (error_)
        break;
    }
    block_ends_[block] = builder_.GetInsertBlock();
    if (error_)
      break;
  }
  if (!error_)
    finish_phis();
  builder_.SetInsertPoint(entry_);
  builder_.CreateBr(blocks_[&thread_.function->getEntryBlock()]);
}

void Vectorizer::emit_phi(PHINode& phi) {
  LaneValue result;
  result.shape = shapes_.shape(&phi);
  unsigned count = phi.getNumIncomingValues();
  Type* type = flat_type(phi.getType());
  if (result.shape.is_varying()) {
    for (unsigned i = 0; i < element_count(type); ++i)
      result.vectors.push_back(builder_.CreatePHI(
          vector_type(type->isStructTy() ? type->getStructElementType(i) : type->getScalarType()),
          count));
  } else {
    for (int i = 0; i < lanes_ / result.shape.group; ++i)
      result.pieces.push_back(builder_.CreatePHI(type, count));
  }
  set(phi, std::move(result));
  phis_.push_back(&phi);
}

void Vectorizer::finish_phis() {
  for (PHINode* phi : phis_) {
    LaneValue target = values_[phi];
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      BasicBlock* from = block_ends_[phi->getIncomingBlock(i)];
      Value* incoming = phi->getIncomingValue(i);
      if (isa<UndefValue>(incoming)) {
        for (Value* part : target.vectors)
          cast<PHINode>(part)->addIncoming(PoisonValue::get(part->getType()), from);
        for (Value* part : target.pieces)
          cast<PHINode>(part)->addIncoming(PoisonValue::get(part->getType()), from);
        continue;
      }
      builder_.SetInsertPoint(from->getTerminator());
      LaneValue value = get(incoming);
      if (target.shape.is_varying()) {
        for (unsigned k = 0; k < target.vectors.size(); ++k)
          cast<PHINode>(target.vectors[k])->addIncoming(vector(value, k), from);
        continue;
      }
      // The phi's shape is a join: its offsets are the value's own or none.
      int group = target.shape.group;
      auto pieces = target.shape.offsets.empty() && !value.shape.offsets.empty()
                        ? flat_pieces(value, group)
                        : bases(value, group);
      for (size_t k = 0; k < target.pieces.size(); ++k)
        cast<PHINode>(target.pieces[k])->addIncoming(pieces[k], from);
    }
  }
}

void Vectorizer::emit_branch(BranchInst& branch) {
  if (branch.isUnconditional()) {
    builder_.CreateBr(blocks_[branch.getSuccessor(0)]);
    return;
  }
  LaneValue condition = get(branch.getCondition());
  Value* taken = condition.shape.is_uniform(lanes_) ? condition.pieces[0] : nullptr;
  if (!taken) {
    // The active lanes agree, though the shapes do not show it: ask them.
    taken = any(mask_and(mask_, vector(condition)));
  }
  builder_.CreateCondBr(taken, blocks_[branch.getSuccessor(0)], blocks_[branch.getSuccessor(1)]);
}

void Vectorizer::emit_instruction(Instruction& instruction) {
  if (auto* phi = dyn_cast<PHINode>(&instruction))
    return emit_phi(*phi);
  if (auto* branch = dyn_cast<BranchInst>(&instruction))
    return emit_branch(*branch);
  if (isa<ReturnInst>(instruction)) {
    builder_.CreateRetVoid();
    return;
  }
  if (isa<UnreachableInst>(instruction)) {
    builder_.CreateUnreachable();
    return;
  }
  if (auto* call = dyn_cast<CallInst>(&instruction); call && !isa<IntrinsicInst>(call)) {
    StringRef name = spmd::callee_name(*call);
    if (!emit_spmd_call(*call, name) && !emit_air_call(*call, name))
      fail("function '" + name + "' cannot be vectorised");
    return;
  }
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
    switch (intrinsic->getIntrinsicID()) {
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::assume:
    case Intrinsic::experimental_noalias_scope_decl:
      return;
    default:
      break;
    }
    if (intrinsic->mayReadOrWriteMemory())
      return fail("intrinsic '" + intrinsic->getCalledFunction()->getName() +
                  "' cannot be vectorised");
  }
  EmitMode mode;
  Shape shape = shapes_.transfer(instruction, mode);
  if (Shape known = shapes_.shape(&instruction); !(shape == known) && known.is_varying()) {
    shape = known;
    mode = EmitMode::Vector;
  }
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return emit_load(*load, shape, mode);
  if (auto* store = dyn_cast<StoreInst>(&instruction))
    return emit_store(*store);
  if (isa<FenceInst>(instruction)) {
    builder_.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return;
  }
  if (isa<AllocaInst>(instruction))
    return fail("thread memory is left that has no place");
  if (instruction.mayReadOrWriteMemory() || instruction.isTerminator())
    return fail(Twine("instruction '") + instruction.getOpcodeName() + "' cannot be vectorised");
  if (emit_element_access(instruction))
    return;
  emit_elementwise(instruction, shape, mode);
}

// "base + offset of the lane < uniform bound" holds in all lanes if it does in the furthest, by one
// comparison of scalars. Null where the condition is not of that form. Where a lane's sum wraps
// around, the answer is no, whatever the lanes would say: callers must do with that.
Value* Vectorizer::all_below(Value* condition) {
  auto* compare = dyn_cast<ICmpInst>(condition);
  if (!compare || !compare->getOperand(0)->getType()->isIntegerTy())
    return nullptr;
  Value *left = compare->getOperand(0), *right = compare->getOperand(1);
  auto predicate = compare->getPredicate();
  if (predicate == ICmpInst::ICMP_SGT || predicate == ICmpInst::ICMP_UGT) {
    std::swap(left, right);
    predicate = ICmpInst::getSwappedPredicate(predicate);
  }
  if (predicate != ICmpInst::ICMP_SLT && predicate != ICmpInst::ICMP_ULT)
    return nullptr;
  Shape shape = shapes_.shape(left);
  if (shape.group != lanes_ || shape.offsets.empty() || shape.min_offset() < 0 ||
      !shapes_.is_uniform(right) ||
      !isUIntN(left->getType()->getIntegerBitWidth() - 1, uint64_t(shape.max_offset())))
    return nullptr;
  Value* bound = builder_.CreateBinaryIntrinsic(
      predicate == ICmpInst::ICMP_SLT ? Intrinsic::ssub_sat : Intrinsic::usub_sat,
      get(right).pieces[0], ConstantInt::get(left->getType(), uint64_t(shape.max_offset())));
  return builder_.CreateICmp(predicate, get(left).pieces[0], bound);
}

bool Vectorizer::emit_spmd_call(CallInst& call, StringRef name) {
  if (!name.starts_with("spmd."))
    return false;
  if (name == spmd::mask) {
    mask_ = vector(call.getArgOperand(0));
    if (auto* constant = dyn_cast<Constant>(mask_); constant && constant->isAllOnesValue())
      mask_ = nullptr;
  } else if (name == spmd::thread_index || name == spmd::lane) {
    LaneValue result;
    EmitMode mode;
    result.shape = shapes_.transfer(call, mode);
    bool zero = name == spmd::lane || result.shape.align >= Shape::max_align;
    Value* vector = result_.function->getArg(result_.vector_index());
    result.pieces.push_back(
        zero ? builder_.getInt32(0)
             : builder_.CreateMul(vector, builder_.getInt32(uint32_t(lanes_)), "", true, true));
    set(call, std::move(result));
  } else if (name == spmd::group_x || name == spmd::group_y || name == spmd::group_z) {
    set_uniform(call,
                result_.function->getArg(result_.group_index() + unsigned(name.back() - 'x')));
  } else if (name == spmd::private_memory) {
    set_uniform(call, builder_.CreateGEP(builder_.getInt8Ty(),
                                         result_.function->getArg(result_.record_index()),
                                         get(call.getArgOperand(0)).pieces[0]));
  } else if (name == spmd::any) {
    LaneValue value = get(call.getArgOperand(0));
    set_uniform(call, value.shape.is_uniform(lanes_) ? value.pieces[0] : any(vector(value)));
  } else if (name == spmd::all) {
    if (Value* below = all_below(call.getArgOperand(0)))
      return set_uniform(call, below), true;
    LaneValue value = get(call.getArgOperand(0));
    set_uniform(call, value.shape.is_uniform(lanes_) ? value.pieces[0] : all(vector(value)));
  } else if (name == spmd::full) {
    set_uniform(call, mask_ ? all(mask_) : builder_.getTrue());
  } else if (name == spmd::always) {
    set_uniform(call, builder_.getTrue());
  } else if (name == spmd::dot4) {
    emit_dot_product(call);
  } else if (name.starts_with(spmd::matrix_multiply)) {
    emit_matrix_multiply(call);
  } else if (name == spmd::matrix_product) {
    emit_matrix_product(call);
  } else if (name == spmd::matrix_join) {
    emit_matrix_join(call);
  } else if (name == spmd::matrix_element) {
    emit_matrix_element(call);
  } else {
    return false;
  }
  return true;
}

bool Vectorizer::emit_air_call(CallInst& call, StringRef name) {
  if (name.starts_with("air.atomic.") && name.contains(".compare_exchange.")) {
    emit_compare_exchange(call, name.starts_with("air.atomic.local."));
    return true;
  }
  std::optional<air::Intrinsic> intrinsic = air::parse_intrinsic(name);
  if (!intrinsic)
    return false;
  switch (intrinsic->group) {
  case OperationGroup::Barrier: {
    uint32_t total = options_.threads[0] * options_.threads[1] * options_.threads[2];
    // The lanes of a vector run in step; nothing else shares a simdgroup, or a small threadgroup.
    if (intrinsic->operation == Operation::SimdgroupBarrier || (total && total <= uint32_t(lanes_)))
      return true;
    FunctionCallee barrier = module_.getOrInsertFunction(barrier_name, builder_.getVoidTy());
    // Two copies under a condition would be two barriers, which not all vectors reach.
    auto* function = cast<Function>(barrier.getCallee());
    function->setConvergent();
    function->setCannotDuplicate();
    builder_.CreateCall(barrier);
    ++result_.barrier_count;
    return true;
  }
  case OperationGroup::Simdgroup:
  case OperationGroup::Quadgroup:
    if (lanes_ != 32 && !spmd::is_reduction(name))
      fail("an operation between lanes needs vectors of one simdgroup");
    emit_simdgroup(call, *intrinsic);
    return true;
  case OperationGroup::Atomic:
    if (intrinsic->operation == Operation::AtomicFence)
      builder_.CreateFence(AtomicOrdering::SequentiallyConsistent);
    else
      emit_atomic(call, *intrinsic);
    return true;
  default:
    return false;
  }
}

} // namespace bessemer::metal::cpu

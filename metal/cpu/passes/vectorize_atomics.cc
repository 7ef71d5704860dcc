// Atomic operations: one lane after the other.
#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/passes/vectorizer.h"

using namespace llvm;
using bessemer::air::Operation;

namespace bessemer::metal::cpu {
namespace {

constexpr int lanes_at_once = 8;

void disable_unrolling(BranchInst& branch) {
  LLVMContext& context = branch.getContext();
  MDNode* disable = MDNode::get(context, MDString::get(context, "llvm.loop.unroll.disable"));
  MDNode* id = MDNode::getDistinct(context, {nullptr, disable});
  id->replaceOperandWith(0, id);
  branch.setMetadata(LLVMContext::MD_loop, id);
}

} // namespace

void Vectorizer::for_each_active_lane(function_ref<void(Value* lane)> body) {
  Type* type = builder_.getIntNTy(unsigned(lanes_));
  Value* active = mask_ ? bits(mask_) : Constant::getAllOnesValue(type);
  BasicBlock *from = builder_.GetInsertBlock(), *loop = new_block("lane"),
             *done = new_block("lanes.done");
  builder_.CreateCondBr(builder_.CreateIsNotNull(active), loop, done);
  builder_.SetInsertPoint(loop);
  PHINode* left = builder_.CreatePHI(type, 2);
  left->addIncoming(active, from);
  Value* lane = builder_.CreateIntrinsic(Intrinsic::cttz, {type}, {left, builder_.getTrue()});
  body(builder_.CreateZExtOrTrunc(lane, builder_.getInt64Ty()));
  Value* next = builder_.CreateAnd(left, builder_.CreateSub(left, ConstantInt::get(type, 1)));
  left->addIncoming(next, builder_.GetInsertBlock());
  BranchInst* branch = builder_.CreateCondBr(builder_.CreateIsNotNull(next), loop, done);
  disable_unrolling(*branch);
  builder_.SetInsertPoint(done);
}

// All lanes in turn, some in each iteration: without atomic instructions, the loop itself would
// take most of the time.
void Vectorizer::for_each_lane(function_ref<void(Value* lane)> body) {
  BasicBlock *from = builder_.GetInsertBlock(), *loop = new_block("lanes"),
             *done = new_block("lanes.done");
  builder_.CreateBr(loop);
  builder_.SetInsertPoint(loop);
  PHINode* first = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  first->addIncoming(builder_.getInt64(0), from);
  for (int i = 0; i < lanes_at_once; ++i)
    body(builder_.CreateAdd(first, builder_.getInt64(uint64_t(i))));
  Value* next = builder_.CreateAdd(first, builder_.getInt64(lanes_at_once));
  first->addIncoming(next, builder_.GetInsertBlock());
  disable_unrolling(*builder_.CreateCondBr(
      builder_.CreateICmpULT(next, builder_.getInt64(uint64_t(lanes_))), loop, done));
  builder_.SetInsertPoint(done);
}

std::function<Value*(Value*)> Vectorizer::lane_reader(const LaneValue& value) {
  if (value.shape.is_uniform(lanes_)) {
    Value* scalar = value.pieces[0];
    return [scalar](Value*) { return scalar; };
  }
  Value* whole = vector(value);
  Type* type = cast<FixedVectorType>(whole->getType())->getElementType();
  AllocaInst* place = scratch(whole->getType());
  builder_.CreateAlignedStore(whole, place, Align(64));
  Align align = layout_.getABITypeAlign(type);
  return [this, place, type, align](Value* lane) -> Value* {
    return builder_.CreateAlignedLoad(type, builder_.CreateGEP(type, place, lane), align);
  };
}

// Threadgroup memory belongs to the one thread of the machine that runs the threadgroup.
Value* Vectorizer::emit_one_atomic(const air::Intrinsic& intrinsic, Value* pointer, Value* operand,
                                   Type* type) {
  using enum Operation;
  bool is_signed = !intrinsic.types.empty() && intrinsic.types[0].sign == 's';
  bool is_float = type->isFloatingPointTy();
  Align align = layout_.getABITypeAlign(type);
  if (intrinsic.operation == AtomicLoad || intrinsic.operation == AtomicStore) {
    if (intrinsic.operation == AtomicLoad) {
      LoadInst* load = builder_.CreateAlignedLoad(type, pointer, align);
      if (!intrinsic.threadgroup)
        load->setAtomic(AtomicOrdering::Monotonic);
      return load;
    }
    StoreInst* store = builder_.CreateAlignedStore(operand, pointer, align);
    if (!intrinsic.threadgroup)
      store->setAtomic(AtomicOrdering::Monotonic);
    return nullptr;
  }
  AtomicRMWInst::BinOp operation = AtomicRMWInst::BAD_BINOP;
  switch (intrinsic.operation) {
  case AtomicAdd:
    operation = is_float ? AtomicRMWInst::FAdd : AtomicRMWInst::Add;
    break;
  case AtomicSub:
    operation = is_float ? AtomicRMWInst::FSub : AtomicRMWInst::Sub;
    break;
  case AtomicAnd:
    operation = AtomicRMWInst::And;
    break;
  case AtomicOr:
    operation = AtomicRMWInst::Or;
    break;
  case AtomicXor:
    operation = AtomicRMWInst::Xor;
    break;
  case AtomicExchange:
    operation = AtomicRMWInst::Xchg;
    break;
  case AtomicMin:
    operation = is_float    ? AtomicRMWInst::FMin
                : is_signed ? AtomicRMWInst::Min
                            : AtomicRMWInst::UMin;
    break;
  case AtomicMax:
    operation = is_float    ? AtomicRMWInst::FMax
                : is_signed ? AtomicRMWInst::Max
                            : AtomicRMWInst::UMax;
    break;
  default:
    return nullptr;
  }
  if (!intrinsic.threadgroup)
    return builder_.CreateAtomicRMW(operation, pointer, operand, align, AtomicOrdering::Monotonic);
  Value* old = builder_.CreateAlignedLoad(type, pointer, align);
  Value* next = nullptr;
  switch (intrinsic.operation) {
  case AtomicAdd:
    next = combine(Reduction::Sum, old, operand, is_signed);
    break;
  case AtomicSub:
    next = is_float ? builder_.CreateFSub(old, operand) : builder_.CreateSub(old, operand);
    break;
  case AtomicAnd:
    next = builder_.CreateAnd(old, operand);
    break;
  case AtomicOr:
    next = builder_.CreateOr(old, operand);
    break;
  case AtomicXor:
    next = builder_.CreateXor(old, operand);
    break;
  case AtomicExchange:
    next = operand;
    break;
  case AtomicMin:
    next = combine(Reduction::Min, old, operand, is_signed);
    break;
  case AtomicMax:
    next = combine(Reduction::Max, old, operand, is_signed);
    break;
  default:
    break;
  }
  builder_.CreateAlignedStore(next, pointer, align);
  return old;
}

void Vectorizer::emit_atomic(CallInst& call, const air::Intrinsic& intrinsic) {
  bool is_load = intrinsic.operation == Operation::AtomicLoad,
       is_store = intrinsic.operation == Operation::AtomicStore;
  Type* type = is_store                     ? call.getArgOperand(1)->getType()
               : call.getType()->isVoidTy() ? call.getArgOperand(1)->getType()
                                            : call.getType();
  LaneValue pointer = get(call.getArgOperand(0));
  if (is_load && pointer.shape.is_uniform(lanes_)) {
    Value* value = emit_one_atomic(intrinsic, pointer.pieces[0], nullptr, type);
    return set_vector(call, builder_.CreateVectorSplat(unsigned(lanes_), value));
  }
  auto read_pointer = lane_reader(pointer);
  std::function<Value*(Value*)> read_operand;
  if (!is_load)
    read_operand = lane_reader(get(call.getArgOperand(1)));
  bool used = !call.getType()->isVoidTy() && !call.use_empty();
  AllocaInst* results = used ? scratch(vector_type(type)) : nullptr;
  bool known = true;
  auto operate = [&](Value* lane) {
    Value* value = emit_one_atomic(intrinsic, read_pointer(lane),
                                   is_load ? nullptr : read_operand(lane), type);
    if (!value && !is_store)
      known = false;
    if (used && value)
      builder_.CreateAlignedStore(value, builder_.CreateGEP(type, results, lane),
                                  layout_.getABITypeAlign(type));
  };
  if (intrinsic.threadgroup && !mask_ && !used && lanes_ % lanes_at_once == 0)
    for_each_lane(operate);
  else
    for_each_active_lane(operate);
  if (!known)
    return fail("operation '" + spmd::callee_name(call) + "' is not supported");
  if (call.getType()->isVoidTy())
    return;
  set_vector(call, used ? static_cast<Value*>(
                              builder_.CreateAlignedLoad(vector_type(type), results, Align(64)))
                        : PoisonValue::get(vector_type(type)));
}

void Vectorizer::emit_compare_exchange(CallInst& call, bool threadgroup) {
  Type* type = call.getType();
  auto read_pointer = lane_reader(get(call.getArgOperand(0)));
  auto read_expected = lane_reader(get(call.getArgOperand(1)));
  auto read_desired = lane_reader(get(call.getArgOperand(2)));
  Type* integer = builder_.getIntNTy(type->getScalarSizeInBits());
  AllocaInst* results = scratch(vector_type(type));
  Align align = layout_.getABITypeAlign(type);
  for_each_active_lane([&](Value* lane) {
    Value* pointer = read_pointer(lane);
    Value* expected = builder_.CreateBitCast(read_expected(lane), integer);
    Value* desired = builder_.CreateBitCast(read_desired(lane), integer);
    Value* old;
    if (threadgroup) {
      old = builder_.CreateAlignedLoad(integer, pointer, align);
      builder_.CreateAlignedStore(
          builder_.CreateSelect(builder_.CreateICmpEQ(old, expected), desired, old), pointer,
          align);
    } else {
      Value* pair = builder_.CreateAtomicCmpXchg(
          pointer, expected, desired, align, AtomicOrdering::Monotonic, AtomicOrdering::Monotonic);
      old = builder_.CreateExtractValue(pair, 0);
    }
    builder_.CreateAlignedStore(builder_.CreateBitCast(old, type),
                                builder_.CreateGEP(type, results, lane), align);
  });
  set_vector(call, builder_.CreateAlignedLoad(vector_type(type), results, Align(64)));
}

} // namespace bessemer::metal::cpu

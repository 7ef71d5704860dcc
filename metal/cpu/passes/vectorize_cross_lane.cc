// Operations between lanes: simdgroups, quadgroups, matrices, atomics, barriers.
#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/passes/vectorizer.h"

#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using bessemer::air::Operation;
using bessemer::air::OperationGroup;

namespace bessemer::metal::cpu {

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
    if (lanes_ != 32)
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

// ---- reductions

std::optional<Vectorizer::Reduction> Vectorizer::reduction_of(Operation operation) const {
  using enum Operation;
  switch (operation) {
  case SimdSum:
  case QuadSum:
  case SimdPrefixInclusiveSum:
  case SimdPrefixExclusiveSum:
  case QuadPrefixInclusiveSum:
  case QuadPrefixExclusiveSum:
    return Reduction::Sum;
  case SimdProduct:
  case QuadProduct:
  case SimdPrefixInclusiveProduct:
  case SimdPrefixExclusiveProduct:
  case QuadPrefixInclusiveProduct:
  case QuadPrefixExclusiveProduct:
    return Reduction::Product;
  case SimdMin:
  case QuadMin:
    return Reduction::Min;
  case SimdMax:
  case QuadMax:
    return Reduction::Max;
  case SimdAnd:
  case QuadAnd:
    return Reduction::And;
  case SimdOr:
  case QuadOr:
    return Reduction::Or;
  case SimdXor:
  case QuadXor:
    return Reduction::Xor;
  default:
    return std::nullopt;
  }
}

Constant* Vectorizer::identity(Reduction reduction, Type* type, bool is_signed) {
  unsigned width = type->getScalarSizeInBits();
  bool is_float = type->isFloatingPointTy();
  switch (reduction) {
  case Reduction::Sum:
    return is_float ? ConstantFP::getNegativeZero(type) : Constant::getNullValue(type);
  case Reduction::Product:
    return is_float ? ConstantFP::get(type, 1.0) : ConstantInt::get(type, 1);
  case Reduction::Min:
    return is_float ? ConstantFP::getInfinity(type)
                    : ConstantInt::get(type, is_signed ? APInt::getSignedMaxValue(width)
                                                       : APInt::getMaxValue(width));
  case Reduction::Max:
    return is_float ? ConstantFP::getInfinity(type, true)
                    : ConstantInt::get(type, is_signed ? APInt::getSignedMinValue(width)
                                                       : APInt(width, 0));
  case Reduction::And:
    return Constant::getAllOnesValue(type);
  case Reduction::Or:
  case Reduction::Xor:
    return Constant::getNullValue(type);
  }
  return nullptr;
}

Value* Vectorizer::combine(Reduction reduction, Value* a, Value* b, bool is_signed) {
  bool is_float = a->getType()->isFPOrFPVectorTy();
  switch (reduction) {
  case Reduction::Sum:
    return is_float ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
  case Reduction::Product:
    return is_float ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
  case Reduction::Min:
  case Reduction::Max: {
    bool is_max = reduction == Reduction::Max;
    if (is_float)
      return emit_min_max(is_max, a, b, false);
    Intrinsic::ID id = is_max ? (is_signed ? Intrinsic::smax : Intrinsic::umax)
                              : (is_signed ? Intrinsic::smin : Intrinsic::umin);
    return builder_.CreateBinaryIntrinsic(id, a, b);
  }
  case Reduction::And:
    return builder_.CreateAnd(a, b);
  case Reduction::Or:
    return builder_.CreateOr(a, b);
  case Reduction::Xor:
    return builder_.CreateXor(a, b);
  }
  return nullptr;
}

// Halves that are combined until one lane is left; the order of a sum is not promised.
Value* Vectorizer::reduce_all(Reduction reduction, Value* value, bool is_signed) {
  for (int width = lanes_ / 2; width >= 1; width /= 2)
    value = combine(reduction, slice(value, 0, width), slice(value, width, width), is_signed);
  return builder_.CreateExtractElement(value, uint64_t(0));
}

Value* Vectorizer::reduce_quads(Reduction reduction, Value* value, bool is_signed) {
  for (int distance : {1, 2}) {
    SmallVector<int, 64> mask;
    for (int lane = 0; lane < lanes_; ++lane)
      mask.push_back(lane ^ distance);
    value = combine(reduction, value, builder_.CreateShuffleVector(value, mask), is_signed);
  }
  return value;
}

Value* Vectorizer::prefix(Reduction reduction, Value* value, bool exclusive, int width) {
  Value* neutral = builder_.CreateVectorSplat(
      unsigned(lanes_), identity(reduction, value->getType()->getScalarType(), true));
  auto shifted = [&](Value* source, int distance) {
    SmallVector<int, 64> mask;
    for (int lane = 0; lane < lanes_; ++lane)
      mask.push_back(lane % width < distance ? lanes_ + lane : lane - distance);
    return builder_.CreateShuffleVector(source, neutral, mask);
  };
  if (exclusive)
    value = shifted(value, 1);
  for (int distance = 1; distance < width; distance *= 2)
    value = combine(reduction, shifted(value, distance), value, true);
  return value;
}

Value* Vectorizer::first_active_lane() {
  if (!mask_)
    return builder_.getInt32(0);
  Value* active = bits(mask_);
  Value* first =
      builder_.CreateIntrinsic(Intrinsic::cttz, {active->getType()}, {active, builder_.getFalse()});
  return builder_.CreateAnd(builder_.CreateZExtOrTrunc(first, builder_.getInt32Ty()),
                            uint64_t(lanes_ - 1));
}

void Vectorizer::emit_simdgroup(CallInst& call, const air::Intrinsic& intrinsic) {
  using enum Operation;
  bool is_quad = intrinsic.group == OperationGroup::Quadgroup;
  int width = is_quad ? 4 : 32;
  bool is_signed = !intrinsic.types.empty() && intrinsic.types[0].sign == 's';
  Type* type = call.getType();
  if (type->isVectorTy())
    return fail("operation '" + spmd::callee_name(call) + "' on vectors");
  if (std::optional<Reduction> reduction = reduction_of(intrinsic.operation)) {
    Value* value = vector(call.getArgOperand(0));
    if (mask_)
      value = builder_.CreateSelect(
          mask_, value,
          builder_.CreateVectorSplat(unsigned(lanes_), identity(*reduction, type, is_signed)));
    switch (intrinsic.operation) {
    case SimdPrefixInclusiveSum:
    case SimdPrefixInclusiveProduct:
    case QuadPrefixInclusiveSum:
    case QuadPrefixInclusiveProduct:
      return set_vector(call, prefix(*reduction, value, false, width));
    case SimdPrefixExclusiveSum:
    case SimdPrefixExclusiveProduct:
    case QuadPrefixExclusiveSum:
    case QuadPrefixExclusiveProduct:
      return set_vector(call, prefix(*reduction, value, true, width));
    default:
      break;
    }
    if (is_quad)
      return set_vector(call, reduce_quads(*reduction, value, is_signed));
    return set_uniform(call, reduce_all(*reduction, value, is_signed));
  }
  // The bits of the lane's own quad, from those of the simdgroup.
  auto of_quad = [&](Value* ballot) {
    SmallVector<Constant*, 64> first;
    for (int lane = 0; lane < lanes_; ++lane)
      first.push_back(builder_.getInt32(uint32_t(lane & ~3)));
    Value* spread = builder_.CreateVectorSplat(
        unsigned(lanes_), builder_.CreateZExtOrTrunc(ballot, builder_.getInt32Ty()));
    return builder_.CreateAnd(builder_.CreateLShr(spread, ConstantVector::get(first)), 15);
  };
  auto set_ballot = [&](Value* mask) {
    if (is_quad)
      set_vector(call, builder_.CreateZExtOrTrunc(of_quad(bits(mask)), vector_type(type)));
    else
      set_uniform(call, builder_.CreateZExtOrTrunc(bits(mask), type));
  };
  switch (intrinsic.operation) {
  case SimdAny:
    return set_uniform(call, any(mask_and(mask_, vector(call.getArgOperand(0)))));
  case SimdAll:
    return set_uniform(call, builder_.CreateNot(any(mask_and(
                                 mask_, builder_.CreateNot(vector(call.getArgOperand(0)))))));
  case QuadAny:
    return set_vector(call, builder_.CreateIsNotNull(
                                of_quad(bits(mask_and(mask_, vector(call.getArgOperand(0)))))));
  case QuadAll:
    return set_vector(call, builder_.CreateIsNull(of_quad(bits(mask_and(
                                mask_, builder_.CreateNot(vector(call.getArgOperand(0))))))));
  case SimdBallot:
  case QuadBallot:
    return set_ballot(mask_and(mask_, vector(call.getArgOperand(0))));
  case SimdActiveThreadsMask:
  case QuadActiveThreadsMask:
    return set_ballot(full(mask_));
  case SimdIsFirst: {
    Value* active = bits(full(mask_));
    Value* first = builder_.CreateAnd(active, builder_.CreateNeg(active));
    return set_vector(call, builder_.CreateBitCast(first, mask_type()));
  }
  case QuadIsFirst: {
    Value* active = of_quad(bits(full(mask_)));
    Value* first = builder_.CreateAnd(active, builder_.CreateNeg(active));
    SmallVector<Constant*, 64> own;
    for (int lane = 0; lane < lanes_; ++lane)
      own.push_back(builder_.getInt32(1u << (lane & 3)));
    return set_vector(call, builder_.CreateICmpEQ(first, ConstantVector::get(own)));
  }
  case SimdBroadcastFirst:
    return set_uniform(
        call, builder_.CreateExtractElement(vector(call.getArgOperand(0)), first_active_lane()));
  case QuadBroadcastFirst: {
    Value* active = of_quad(bits(full(mask_)));
    Value* first = builder_.CreateIntrinsic(Intrinsic::cttz, {active->getType()},
                                            {active, builder_.getFalse()});
    SmallVector<Constant*, 64> base;
    for (int lane = 0; lane < lanes_; ++lane)
      base.push_back(builder_.getInt32(uint32_t(lane & ~3)));
    Value* index = builder_.CreateOr(ConstantVector::get(base), builder_.CreateAnd(first, 3));
    return set_vector(call, shuffle_by(vector(call.getArgOperand(0)), index));
  }
  default:
    return emit_shuffle(call, intrinsic, width);
  }
}

// Lane i of the result is lane index[i] of `value`.
Value* Vectorizer::shuffle_by(Value* value, Value* index) {
  if (auto* constant = dyn_cast<Constant>(index)) {
    SmallVector<int, 64> mask;
    for (int lane = 0; lane < lanes_; ++lane) {
      auto* element = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(unsigned(lane)));
      mask.push_back(element ? int(element->getZExtValue() & uint64_t(lanes_ - 1)) : -1);
    }
    return builder_.CreateShuffleVector(value, mask);
  }
  index = builder_.CreateAnd(builder_.CreateFreeze(index), uint64_t(lanes_ - 1));
  Type* type = cast<FixedVectorType>(value->getType())->getElementType();
  unsigned width = unsigned(layout_.getTypeSizeInBits(type));
  // Through memory; narrow types as 32 bits, which machines can gather.
  Type* stored = width < 32 ? builder_.getInt32Ty() : type;
  Value* wide = value;
  if (width < 32) {
    wide = builder_.CreateBitCast(wide, vector_type(builder_.getIntNTy(width)));
    wide = builder_.CreateZExt(wide, vector_type(stored));
  }
  AllocaInst* place = scratch(wide->getType());
  builder_.CreateAlignedStore(wide, place, Align(64));
  LaneValue pointer;
  pointer.shape = Shape::varying();
  pointer.vectors.push_back(builder_.CreateGEP(
      stored, place, builder_.CreateZExt(index, vector_type(builder_.getInt64Ty()))));
  access_align_ = Align(8);
  Value* result = gather(stored, pointer, 0, nullptr);
  if (width < 32) {
    result = builder_.CreateTrunc(result, vector_type(builder_.getIntNTy(width)));
    result = builder_.CreateBitCast(result, value->getType());
  }
  return result;
}

void Vectorizer::emit_shuffle(CallInst& call, const air::Intrinsic& intrinsic, int width) {
  using enum Operation;
  Value* value = vector(call.getArgOperand(0));
  Type* i32 = vector_type(builder_.getInt32Ty());
  Constant* lane = lane_numbers(builder_.getInt32Ty());
  Value* own = builder_.CreateAnd(lane, uint64_t(width - 1));
  Value* base = builder_.CreateAnd(lane, uint64_t(~(width - 1) & (lanes_ - 1)));
  auto operand = [&](unsigned index) {
    return builder_.CreateZExtOrTrunc(vector(call.getArgOperand(index)), i32);
  };
  auto within = [&](Value* index) {
    return builder_.CreateOr(base, builder_.CreateAnd(index, uint64_t(width - 1)));
  };
  auto clamped = [&](Value* index) { // a lane whose source lies outside keeps its own value
    Value* inside = builder_.CreateICmpULT(index, ConstantInt::get(i32, uint64_t(width)));
    return builder_.CreateOr(base, builder_.CreateSelect(inside, index, own));
  };
  switch (intrinsic.operation) {
  case SimdBroadcast:
  case SimdShuffle:
    if (LaneValue index = get(call.getArgOperand(1)); index.shape.is_uniform(lanes_)) {
      Value* source = builder_.CreateAnd(
          builder_.CreateZExtOrTrunc(index.pieces[0], builder_.getInt32Ty()), 31);
      return set_uniform(call, builder_.CreateExtractElement(value, source));
    }
    return set_vector(call, shuffle_by(value, within(operand(1))));
  case QuadBroadcast:
  case QuadShuffle:
    return set_vector(call, shuffle_by(value, within(operand(1))));
  case SimdShuffleXor:
  case QuadShuffleXor:
    return set_vector(call, shuffle_by(value, within(builder_.CreateXor(own, operand(1)))));
  case SimdShuffleUp:
  case QuadShuffleUp:
    return set_vector(call, shuffle_by(value, clamped(builder_.CreateSub(own, operand(1)))));
  case SimdShuffleDown:
  case QuadShuffleDown:
    return set_vector(call, shuffle_by(value, clamped(builder_.CreateAdd(own, operand(1)))));
  case SimdShuffleRotateUp:
  case QuadShuffleRotateUp:
    return set_vector(call, shuffle_by(value, within(builder_.CreateSub(own, operand(1)))));
  case SimdShuffleRotateDown:
  case QuadShuffleRotateDown:
    return set_vector(call, shuffle_by(value, within(builder_.CreateAdd(own, operand(1)))));
  case SimdShuffleAndFillUp:
  case QuadShuffleAndFillUp:
  case SimdShuffleAndFillDown:
  case QuadShuffleAndFillDown: {
    // Lanes in groups of `modulo`: what comes from outside the group comes from the fill's group.
    bool up =
        intrinsic.operation == SimdShuffleAndFillUp || intrinsic.operation == QuadShuffleAndFillUp;
    Value *fill = vector(call.getArgOperand(1)), *delta = operand(2);
    Value* modulo = call.arg_size() > 3 ? operand(3) : ConstantInt::get(i32, uint64_t(width));
    Value* low = builder_.CreateAnd(own, builder_.CreateSub(modulo, ConstantInt::get(i32, 1)));
    Value* group = builder_.CreateSub(own, low);
    Value* moved = up ? builder_.CreateSub(low, delta) : builder_.CreateAdd(low, delta);
    Value* outside = builder_.CreateICmpUGE(moved, modulo); // also below zero
    Value* wrapped = up ? builder_.CreateAdd(moved, modulo) : builder_.CreateSub(moved, modulo);
    Value* index =
        within(builder_.CreateAdd(group, builder_.CreateSelect(outside, wrapped, moved)));
    return set_vector(
        call, builder_.CreateSelect(outside, shuffle_by(fill, index), shuffle_by(value, index)));
  }
  default:
    return fail("operation '" + spmd::callee_name(call) + "' is not supported");
  }
}

// ---- atomics

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
  LLVMContext& context = module_.getContext();
  MDNode* disable = MDNode::get(context, MDString::get(context, "llvm.loop.unroll.disable"));
  MDNode* id = MDNode::getDistinct(context, {nullptr, disable});
  id->replaceOperandWith(0, id);
  branch->setMetadata(LLVMContext::MD_loop, id);
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
  for_each_active_lane([&](Value* lane) {
    Value* value = emit_one_atomic(intrinsic, read_pointer(lane),
                                   is_load ? nullptr : read_operand(lane), type);
    if (!value && !is_store)
      known = false;
    if (used && value)
      builder_.CreateAlignedStore(value, builder_.CreateGEP(type, results, lane),
                                  layout_.getABITypeAlign(type));
  });
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

// ---- matrices

// D = A * B + C on 8x8 matrices whose elements are spread over the lanes as passes/lower_matrices
// says: whole rows are put together, and each column of A times a row of B is one multiply-add.
void Vectorizer::emit_matrix_multiply(CallInst& call) {
  if (lanes_ != 32)
    return fail("simdgroup matrices need vectors of one simdgroup");
  constexpr int order = 8;
  Type* type = builder_.getFloatTy();
  int native = std::min(native_lanes(type), 16);
  // Where element (row, column) lies in the concatenation of the two element vectors.
  auto place = [&](int row, int column) {
    int lane = ((column >> 1) & 1) | ((row & 3) << 1) | (((column >> 2) & 1) << 3) |
               (((row >> 2) & 1) << 4);
    return (column & 1) * lanes_ + lane;
  };
  auto parts = [&](unsigned operand) {
    SmallVector<Value*, 16> result;
    for (unsigned k = 0; k < 2; ++k) {
      Value* whole = vector(call.getArgOperand(operand + k));
      for (int first = 0; first < lanes_; first += native)
        result.push_back(slice(whole, first, native));
    }
    return result;
  };
  auto a = parts(0), b = parts(2), c = parts(4);
  SmallVector<Value*, 16> rows;
  for (int first = 0; first < order * order; first += native) {
    SmallVector<int, 64> lanes;
    for (int i = 0; i < native; ++i)
      lanes.push_back(place((first + i) / order, (first + i) % order));
    Value* sum = permute(c, lanes);
    for (int k = 0; k < order; ++k) {
      SmallVector<int, 64> left, right;
      for (int i = 0; i < native; ++i) {
        left.push_back(place((first + i) / order, k));
        right.push_back(place(k, (first + i) % order));
      }
      sum = builder_.CreateIntrinsic(Intrinsic::fma, {sum->getType()},
                                     {permute(a, left), permute(b, right), sum});
    }
    rows.push_back(sum);
  }
  LaneValue result;
  result.shape = Shape::varying();
  for (int element = 0; element < 2; ++element) {
    SmallVector<Value*, 8> outputs;
    for (int out = 0; out < lanes_; out += native) {
      SmallVector<int, 64> lanes;
      for (int lane = out; lane < out + native; ++lane) {
        int row = ((lane >> 2) & 4) + ((lane >> 1) & 3),
            column = ((lane >> 2) & 2) * 2 + (lane & 1) * 2;
        lanes.push_back(row * order + column + element);
      }
      outputs.push_back(permute(rows, lanes));
    }
    result.vectors.push_back(concatenate(outputs));
  }
  set(call, std::move(result));
}

} // namespace bessemer::metal::cpu

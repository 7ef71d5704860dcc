#include "metal/cpu/passes/vectorize.h"

#include "metal/cpu/analysis/spmd.h"
#include "metal/cpu/passes/vectorizer.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

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

// ---- values

BasicBlock* Vectorizer::new_block(const Twine& name) {
  return BasicBlock::Create(module_.getContext(), name, result_.function);
}

Type* Vectorizer::flat_type(Type* type) const {
  return type->isPointerTy() ? PointerType::get(module_.getContext(), 0) : type;
}

FixedVectorType* Vectorizer::vector_type(Type* type) const {
  return FixedVectorType::get(flat_type(type), unsigned(lanes_));
}

unsigned Vectorizer::element_count(Type* type) const {
  if (auto* vector = dyn_cast<FixedVectorType>(type))
    return vector->getNumElements();
  if (auto* record = dyn_cast<StructType>(type))
    return record->getNumElements();
  return 1;
}

LaneValue Vectorizer::get(Value* value) {
  if (isa<Instruction>(value)) {
    auto found = values_.find(value);
    if (found != values_.end())
      return found->second;
    fail("a value is used before it is made");
    LaneValue poison;
    poison.shape = Shape::uniform(lanes_);
    poison.pieces.push_back(PoisonValue::get(flat_type(value->getType())));
    return poison;
  }
  LaneValue result;
  result.shape = shapes_.shape(value);
  Type* type = flat_type(value->getType());
  if (auto* argument = dyn_cast<Argument>(value))
    result.pieces.push_back(result_.function->getArg(argument->getArgNo()));
  else if (auto* constant = dyn_cast<Constant>(value); constant && value->getType() != type)
    result.pieces.push_back(constant->isNullValue() ? Constant::getNullValue(type)
                            : isa<UndefValue>(constant)
                                ? PoisonValue::get(type)
                                : ConstantExpr::getAddrSpaceCast(constant, type));
  else
    result.pieces.push_back(value);
  return result;
}

Value* Vectorizer::add_offset(Value* value, int64_t offset) {
  if (!offset)
    return value;
  if (value->getType()->isPointerTy())
    return builder_.CreateGEP(builder_.getInt8Ty(), value, builder_.getInt64(offset));
  APInt amount(value->getType()->getIntegerBitWidth(), uint64_t(offset), true, true);
  return builder_.CreateAdd(value, ConstantInt::get(value->getType(), amount));
}

SmallVector<Value*, 4> Vectorizer::bases(const LaneValue& value, int group) {
  SmallVector<Value*, 4> result;
  for (int i = 0; i < lanes_ / group; ++i)
    result.push_back(value.pieces[i * group / value.shape.group]);
  return result;
}

SmallVector<Value*, 4> Vectorizer::flat_pieces(const LaneValue& value, int group) {
  SmallVector<Value*, 4> result;
  for (int i = 0; i < lanes_ / group; ++i)
    result.push_back(
        add_offset(value.pieces[i * group / value.shape.group], value.shape.offset(i * group)));
  return result;
}

Value* Vectorizer::vector(const LaneValue& value, unsigned element) {
  if (value.shape.is_varying())
    return value.vectors[element];
  SmallVector<Value*, 4> pieces = value.pieces;
  Type* type = pieces[0]->getType();
  if (type->isVectorTy())
    for (Value*& piece : pieces)
      piece = builder_.CreateExtractElement(piece, element);
  if (type->isStructTy())
    for (Value*& piece : pieces)
      piece = builder_.CreateExtractValue(piece, element);
  Value* result;
  if (pieces.size() == 1) {
    result = builder_.CreateVectorSplat(unsigned(lanes_), pieces[0]);
  } else {
    result = PoisonValue::get(FixedVectorType::get(pieces[0]->getType(), unsigned(pieces.size())));
    for (size_t i = 0; i < pieces.size(); ++i)
      result = builder_.CreateInsertElement(result, pieces[i], i);
    SmallVector<int, 64> mask;
    for (int lane = 0; lane < lanes_; ++lane)
      mask.push_back(lane / value.shape.group);
    result = builder_.CreateShuffleVector(result, mask);
  }
  if (value.shape.offsets.empty())
    return result;
  bool is_pointer = type->isPointerTy();
  Type* integer = is_pointer ? builder_.getInt64Ty() : type;
  SmallVector<Constant*, 64> offsets;
  for (int lane = 0; lane < lanes_; ++lane)
    offsets.push_back(
        ConstantInt::get(integer, APInt(integer->getIntegerBitWidth(),
                                        uint64_t(value.shape.offset(lane)), true, true)));
  Constant* offset = ConstantVector::get(offsets);
  if (!is_pointer)
    return builder_.CreateAdd(result, offset);
  // One scalar base keeps what address modes and gathers can use.
  if (pieces.size() == 1)
    return builder_.CreateGEP(builder_.getInt8Ty(), pieces[0], offset);
  return builder_.CreateGEP(builder_.getInt8Ty(), result, offset);
}

void Vectorizer::set(const Instruction& instruction, LaneValue value) {
  values_[&instruction] = std::move(value);
}

void Vectorizer::set_vector(const Instruction& instruction, Value* value) {
  LaneValue result;
  result.shape = Shape::varying();
  result.vectors.push_back(value);
  set(instruction, std::move(result));
}

void Vectorizer::set_uniform(const Instruction& instruction, Value* value) {
  LaneValue result;
  result.shape = Shape::uniform(lanes_);
  result.pieces.push_back(value);
  set(instruction, std::move(result));
}

Constant* Vectorizer::lane_numbers(Type* element, int64_t scale) {
  SmallVector<Constant*, 64> numbers;
  for (int lane = 0; lane < lanes_; ++lane)
    numbers.push_back(ConstantInt::get(element, uint64_t(lane * scale)));
  return ConstantVector::get(numbers);
}

// ---- masks and vectors

Value* Vectorizer::bits(Value* mask) {
  return builder_.CreateBitCast(
      mask, builder_.getIntNTy(cast<FixedVectorType>(mask->getType())->getNumElements()));
}

Value* Vectorizer::any(Value* mask) { return builder_.CreateIsNotNull(bits(mask)); }

Value* Vectorizer::all(Value* mask) {
  Value* value = bits(mask);
  return builder_.CreateICmpEQ(value, Constant::getAllOnesValue(value->getType()));
}

// A select, not an `and`: the condition may be poison in lanes that are off.
Value* Vectorizer::mask_and(Value* mask, Value* condition) {
  if (!mask)
    return condition;
  return builder_.CreateSelect(mask, condition, Constant::getNullValue(mask->getType()));
}

Value* Vectorizer::slice(Value* vector, int first, int count) {
  if (first == 0 && count == int(cast<FixedVectorType>(vector->getType())->getNumElements()))
    return vector;
  SmallVector<int, 64> mask;
  for (int i = 0; i < count; ++i)
    mask.push_back(first + i);
  return builder_.CreateShuffleVector(vector, mask);
}

Value* Vectorizer::concatenate(ArrayRef<Value*> parts) {
  SmallVector<Value*, 16> list(parts.begin(), parts.end());
  while (list.size() > 1) {
    SmallVector<Value*, 16> next;
    for (size_t i = 0; i + 1 < list.size(); i += 2) {
      unsigned count = cast<FixedVectorType>(list[i]->getType())->getNumElements();
      SmallVector<int, 128> mask;
      for (unsigned k = 0; k < 2 * count; ++k)
        mask.push_back(int(k));
      next.push_back(builder_.CreateShuffleVector(list[i], list[i + 1], mask));
    }
    list = std::move(next);
  }
  return list[0];
}

// A vector whose lane i is element lanes[i] of the concatenation of `parts` (all of one type);
// negative: does not matter. A chain of shuffles of two registers each.
Value* Vectorizer::permute(ArrayRef<Value*> parts, ArrayRef<int> lanes) {
  int width = int(cast<FixedVectorType>(parts[0]->getType())->getNumElements());
  Value* result = nullptr;
  SmallVector<int, 64> placed(lanes.size(), -1);
  for (size_t part = 0; part < parts.size(); ++part) {
    SmallVector<int, 64> mask(lanes.size(), -1);
    bool used = false;
    bool wide = int(lanes.size()) == width;
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i] >= 0 && size_t(lanes[i] / width) == part) {
        mask[i] = lanes[i] % width + (result ? int(lanes.size()) : 0);
        placed[i] = int(part);
        used = true;
      } else if (placed[i] >= 0) {
        mask[i] = int(i);
      }
    }
    if (!used)
      continue;
    if (!result) {
      result = builder_.CreateShuffleVector(parts[part], mask);
    } else {
      Value* other = parts[part];
      if (!wide) { // bring the part to the result's length first
        SmallVector<int, 64> pick(lanes.size(), -1);
        for (size_t i = 0; i < lanes.size(); ++i)
          if (mask[i] >= int(lanes.size())) {
            pick[i] = mask[i] - int(lanes.size());
            mask[i] = int(lanes.size() + i);
          }
        other = builder_.CreateShuffleVector(other, pick);
      }
      result = builder_.CreateShuffleVector(result, other, mask);
    }
  }
  if (!result)
    result = PoisonValue::get(FixedVectorType::get(
        cast<FixedVectorType>(parts[0]->getType())->getElementType(), unsigned(lanes.size())));
  return result;
}

AllocaInst* Vectorizer::scratch(Type* type) {
  IRBuilder<> entry(entry_, entry_->begin());
  AllocaInst* place = entry.CreateAlloca(type);
  place->setAlignment(Align(64));
  return place;
}

// A choice at run time between two ways of making a value, or of doing something (type null).
Value* Vectorizer::version(Value* condition, Type* type, function_ref<Value*()> fast,
                           function_ref<Value*()> slow) {
  BasicBlock *fast_block = new_block("fast"), *slow_block = new_block("slow"),
             *join = new_block("join");
  builder_.CreateCondBr(condition, fast_block, slow_block);
  builder_.SetInsertPoint(fast_block);
  Value* fast_value = fast();
  fast_block = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(slow_block);
  Value* slow_value = slow();
  slow_block = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  if (!type)
    return nullptr;
  PHINode* phi = builder_.CreatePHI(type, 2);
  phi->addIncoming(fast_value, fast_block);
  phi->addIncoming(slow_value, slow_block);
  return phi;
}

// ---- the function

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
  ReversePostOrderTraversal<Function*> order(thread_.function);
  for (BasicBlock* block : order)
    blocks_[block] = new_block(block->getName());
  for (BasicBlock* block : order) {
    builder_.SetInsertPoint(blocks_[block]);
    mask_ = nullptr;
    for (Instruction& instruction : *block) {
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
    LaneValue value = get(call.getArgOperand(0));
    set_uniform(call, value.shape.is_uniform(lanes_) ? value.pieces[0] : all(vector(value)));
  } else if (name == spmd::full) {
    set_uniform(call, mask_ ? all(mask_) : builder_.getTrue());
  } else if (name == spmd::always) {
    set_uniform(call, builder_.getTrue());
  } else if (name.starts_with(spmd::matrix_multiply)) {
    emit_matrix_multiply(call);
  } else {
    return false;
  }
  return true;
}

// Elements of small vectors and structs.
bool Vectorizer::emit_element_access(Instruction& instruction) {
  if (auto* extract = dyn_cast<ExtractElementInst>(&instruction)) {
    auto* index = dyn_cast<ConstantInt>(extract->getIndexOperand());
    if (!index) {
      fail("a small vector is indexed by a variable");
      return true;
    }
    LaneValue source = get(extract->getVectorOperand());
    if (source.shape.is_varying()) {
      set_vector(instruction, source.vectors[index->getZExtValue()]);
    } else {
      for (Value*& piece : source.pieces)
        piece = builder_.CreateExtractElement(piece, index);
      source.shape.align = 0;
      set(instruction, std::move(source));
    }
    return true;
  }
  if (auto* extract = dyn_cast<ExtractValueInst>(&instruction)) {
    LaneValue source = get(extract->getAggregateOperand());
    unsigned index = extract->getIndices()[0];
    if (extract->getNumIndices() != 1) {
      fail("nested structs in registers are not supported");
    } else if (source.shape.is_varying()) {
      set_vector(instruction, source.vectors[index]);
    } else {
      for (Value*& piece : source.pieces)
        piece = builder_.CreateExtractValue(piece, index);
      set(instruction, std::move(source));
    }
    return true;
  }
  if (auto* insert = dyn_cast<InsertElementInst>(&instruction)) {
    auto* index = dyn_cast<ConstantInt>(insert->getOperand(2));
    if (!index) {
      fail("a small vector is indexed by a variable");
      return true;
    }
    if (shapes_.shape(&instruction).has_pieces())
      return false;
    LaneValue result;
    result.shape = Shape::varying();
    LaneValue source = get(insert->getOperand(0));
    bool is_undefined = isa<UndefValue>(insert->getOperand(0));
    for (unsigned i = 0; i < element_count(instruction.getType()); ++i) {
      if (i == index->getZExtValue())
        result.vectors.push_back(vector(insert->getOperand(1)));
      else if (is_undefined)
        result.vectors.push_back(
            PoisonValue::get(vector_type(instruction.getType()->getScalarType())));
      else
        result.vectors.push_back(vector(source, i));
    }
    set(instruction, std::move(result));
    return true;
  }
  // What is left of operations on whole small vectors: shuffles, selects, freezes.
  if (auto* shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) {
    if (shapes_.shape(&instruction).has_pieces())
      return false;
    LaneValue result;
    result.shape = Shape::varying();
    LaneValue a = get(shuffle->getOperand(0)), b = get(shuffle->getOperand(1));
    unsigned width = element_count(shuffle->getOperand(0)->getType());
    for (int index : shuffle->getShuffleMask())
      result.vectors.push_back(
          index < 0 ? PoisonValue::get(vector_type(instruction.getType()->getScalarType()))
          : unsigned(index) < width ? vector(a, unsigned(index))
                                    : vector(b, unsigned(index) - width));
    set(instruction, std::move(result));
    return true;
  }
  bool has_vectors = instruction.getType()->isVectorTy() ||
                     llvm::any_of(instruction.operands(),
                                  [](const Use& use) { return use->getType()->isVectorTy(); });
  if (!has_vectors || shapes_.shape(&instruction).has_pieces())
    return false;
  if (isa<SelectInst>(instruction) && !instruction.getOperand(0)->getType()->isVectorTy()) {
    LaneValue result, condition = get(instruction.getOperand(0)),
                      a = get(instruction.getOperand(1)), b = get(instruction.getOperand(2));
    result.shape = Shape::varying();
    Value* choice = condition.shape.is_uniform(lanes_) ? condition.pieces[0] : vector(condition);
    for (unsigned i = 0; i < element_count(instruction.getType()); ++i)
      result.vectors.push_back(builder_.CreateSelect(choice, vector(a, i), vector(b, i)));
    set(instruction, std::move(result));
    return true;
  }
  if (isa<FreezeInst>(instruction)) {
    LaneValue result, source = get(instruction.getOperand(0));
    result.shape = Shape::varying();
    for (unsigned i = 0; i < element_count(instruction.getType()); ++i)
      result.vectors.push_back(builder_.CreateFreeze(vector(source, i)));
    set(instruction, std::move(result));
    return true;
  }
  if (isa<BitCastInst>(instruction)) {
    // <2 x half> and i32, <2 x i32> and i64 and the like.
    Type *from = instruction.getOperand(0)->getType(), *to = instruction.getType();
    unsigned from_count = from->isVectorTy() ? element_count(from) : 1,
             to_count = to->isVectorTy() ? element_count(to) : 1;
    unsigned whole_bits = unsigned(from->getPrimitiveSizeInBits().getFixedValue());
    if (whole_bits <= 128) {
      LaneValue source = get(instruction.getOperand(0)), result;
      result.shape = Shape::varying();
      unsigned from_bits = whole_bits / from_count, to_bits = whole_bits / to_count;
      Type* whole = vector_type(builder_.getIntNTy(whole_bits));
      Value* packed = nullptr;
      for (unsigned i = 0; i < from_count; ++i) {
        Value* part =
            builder_.CreateBitCast(vector(source, i), vector_type(builder_.getIntNTy(from_bits)));
        part = builder_.CreateZExt(part, whole);
        if (i)
          part = builder_.CreateShl(part, ConstantInt::get(whole, i * from_bits));
        packed = packed ? builder_.CreateOr(packed, part) : part;
      }
      for (unsigned i = 0; i < to_count; ++i) {
        Value* part =
            i ? builder_.CreateLShr(packed, ConstantInt::get(whole, i * to_bits)) : packed;
        part = builder_.CreateTrunc(part, vector_type(builder_.getIntNTy(to_bits)));
        result.vectors.push_back(builder_.CreateBitCast(part, vector_type(to->getScalarType())));
      }
      set(instruction, std::move(result));
      return true;
    }
  }
  fail(Twine("instruction '") + instruction.getOpcodeName() +
       "' on small vectors cannot be vectorised");
  return true;
}

void Vectorizer::emit_elementwise(Instruction& instruction, const Shape& shape, EmitMode mode) {
  unsigned count = isa<CallInst>(instruction) ? cast<CallInst>(instruction).arg_size()
                                              : instruction.getNumOperands();
  if (mode == EmitMode::Vector) {
    SmallVector<Value*, 4> operands;
    if (auto* gep = dyn_cast<GetElementPtrInst>(&instruction)) {
      bool has_vector = false;
      for (unsigned i = 0; i < count; ++i) {
        LaneValue operand = get(instruction.getOperand(i));
        bool uniform = operand.shape.is_uniform(lanes_);
        has_vector |= !uniform;
        operands.push_back(uniform ? operand.pieces[0] : vector(operand));
      }
      if (!has_vector)
        operands[0] = builder_.CreateVectorSplat(unsigned(lanes_), operands[0]);
      return set_vector(instruction, emit_gep(*gep, operands));
    }
    for (unsigned i = 0; i < count; ++i) {
      LaneValue operand = get(instruction.getOperand(i));
      bool keep_scalar = isa<SelectInst>(instruction) && i == 0 && operand.shape.is_uniform(lanes_);
      operands.push_back(keep_scalar ? operand.pieces[0] : vector(operand));
    }
    return set_vector(instruction, emit_operation(instruction, operands));
  }
  LaneValue result;
  result.shape = shape;
  SmallVector<SmallVector<Value*, 4>, 4> operands;
  for (unsigned i = 0; i < count; ++i) {
    LaneValue operand = get(instruction.getOperand(i));
    operands.push_back(mode == EmitMode::Pieces ? flat_pieces(operand, shape.group)
                                                : bases(operand, shape.group));
  }
  for (int piece = 0; piece < lanes_ / shape.group; ++piece) {
    SmallVector<Value*, 4> scalars;
    for (auto& operand : operands)
      scalars.push_back(operand[piece]);
    if (mode == EmitMode::Linear) {
      const LaneValue source = get(instruction.getOperand(0));
      unsigned opcode = instruction.getOpcode();
      bool has_offsets = !source.shape.offsets.empty();
      if (opcode == Instruction::Or) {
        // Disjoint bits of each lane's value, not of the pieces.
        result.pieces.push_back(builder_.CreateAdd(scalars[0], scalars[1]));
        continue;
      }
      if ((opcode == Instruction::ZExt || opcode == Instruction::SExt) && has_offsets) {
        // Extend at a lane that is valid if any lane after a wrap around zero is: lanes before it
        // are then not valid (ShapeAnalysis::is_address_only).
        int64_t at = source.shape.is_disjoint()    ? 0
                     : opcode == Instruction::ZExt ? source.shape.max_offset()
                                                   : source.shape.offset(0);
        Value* extended = builder_.CreateCast(cast<CastInst>(instruction).getOpcode(),
                                              add_offset(scalars[0], at), instruction.getType());
        result.pieces.push_back(add_offset(extended, -at));
        continue;
      }
      if (auto* operation = dyn_cast<BinaryOperator>(&instruction);
          operation && !shape.offsets.empty()) {
        // The pieces alone may wrap where no lane's value does: without the flags.
        result.pieces.push_back(
            builder_.CreateBinOp(operation->getOpcode(), scalars[0], scalars[1]));
        continue;
      }
      if (auto* gep = dyn_cast<GetElementPtrInst>(&instruction)) {
        result.pieces.push_back(emit_gep(*gep, scalars));
        continue;
      }
    }
    result.pieces.push_back(emit_operation(instruction, scalars));
  }
  set(instruction, std::move(result));
}

Value* Vectorizer::emit_gep(GetElementPtrInst& gep, ArrayRef<Value*> operands) {
  return builder_.CreateGEP(gep.getSourceElementType(), operands[0], operands.drop_front());
}

Value* Vectorizer::emit_operation(Instruction& instruction, ArrayRef<Value*> operands) {
  IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.setFastMathFlags(isa<FPMathOperator>(instruction) ? instruction.getFastMathFlags()
                                                             : FastMathFlags());
  Type* type = flat_type(instruction.getType());
  bool is_vector = llvm::any_of(operands,
                                [this](Value* operand) {
                                  auto* vector = dyn_cast<FixedVectorType>(operand->getType());
                                  return vector && int(vector->getNumElements()) == lanes_;
                                }) &&
                   !instruction.getOperand(0)->getType()->isVectorTy();
  if (is_vector)
    type = vector_type(type);
  if (auto* operation = dyn_cast<BinaryOperator>(&instruction)) {
    if (operation->isIntDivRem())
      return emit_division(instruction, operands);
    if (type->getScalarType()->isBFloatTy() && !options_.has_bfloat) {
      Type* wide = type->getWithNewType(builder_.getFloatTy());
      return narrow(builder_.CreateBinOp(operation->getOpcode(),
                                         builder_.CreateFPExt(operands[0], wide),
                                         builder_.CreateFPExt(operands[1], wide)),
                    type);
    }
    return builder_.CreateBinOp(operation->getOpcode(), operands[0], operands[1]);
  }
  if (isa<UnaryOperator>(instruction))
    return builder_.CreateFNeg(operands[0]);
  if (isa<AddrSpaceCastInst>(instruction))
    return operands[0];
  if (auto* cast = dyn_cast<CastInst>(&instruction)) {
    if (operands[0]->getType() == type)
      return operands[0];
    if (isa<FPTruncInst>(instruction))
      return narrow(operands[0], type);
    return builder_.CreateCast(cast->getOpcode(), operands[0], type);
  }
  if (auto* compare = dyn_cast<CmpInst>(&instruction))
    return builder_.CreateCmp(compare->getPredicate(), operands[0], operands[1]);
  if (isa<SelectInst>(instruction))
    return builder_.CreateSelect(operands[0], operands[1], operands[2]);
  if (isa<FreezeInst>(instruction))
    return builder_.CreateFreeze(operands[0]);
  if (auto* gep = dyn_cast<GetElementPtrInst>(&instruction))
    return emit_gep(*gep, operands);
  if (auto* shuffle = dyn_cast<ShuffleVectorInst>(&instruction))
    return builder_.CreateShuffleVector(operands[0], operands[1], shuffle->getShuffleMask());
  if (isa<InsertElementInst>(instruction))
    return builder_.CreateInsertElement(operands[0], operands[1], operands[2]);
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
    Intrinsic::ID id = intrinsic->getIntrinsicID();
    SmallVector<Value*, 4> arguments(operands.begin(), operands.end());
    SmallVector<Type*, 2> overloads{type};
    switch (id) {
    case Intrinsic::ctlz:
    case Intrinsic::cttz:
    case Intrinsic::abs:
      arguments[1] = intrinsic->getArgOperand(1);
      break;
    case Intrinsic::fptosi_sat:
    case Intrinsic::fptoui_sat:
      overloads.push_back(operands[0]->getType());
      break;
    case Intrinsic::is_fpclass:
      overloads[0] = operands[0]->getType();
      arguments[1] = intrinsic->getArgOperand(1);
      break;
    case Intrinsic::ldexp:
      overloads.push_back(operands[1]->getType());
      break;
    case Intrinsic::powi:
      arguments[1] = intrinsic->getArgOperand(1);
      overloads.push_back(arguments[1]->getType());
      break;
    case Intrinsic::scmp:
    case Intrinsic::ucmp:
      overloads.push_back(operands[0]->getType());
      break;
    case Intrinsic::fmuladd:
      // The language allows contraction here, and the machine has the instruction.
      id = Intrinsic::fma;
      break;
    case Intrinsic::minnum:
    case Intrinsic::maxnum:
    case Intrinsic::minimumnum:
    case Intrinsic::maximumnum:
      return emit_min_max(id == Intrinsic::maxnum || id == Intrinsic::maximumnum, operands[0],
                          operands[1], intrinsic->hasNoNaNs());
    case Intrinsic::fma:
    case Intrinsic::fabs:
    case Intrinsic::sqrt:
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::rint:
    case Intrinsic::nearbyint:
    case Intrinsic::round:
    case Intrinsic::roundeven:
    case Intrinsic::copysign:
    case Intrinsic::minimum:
    case Intrinsic::maximum:
    case Intrinsic::canonicalize:
    case Intrinsic::smin:
    case Intrinsic::smax:
    case Intrinsic::umin:
    case Intrinsic::umax:
    case Intrinsic::fshl:
    case Intrinsic::fshr:
    case Intrinsic::bswap:
    case Intrinsic::bitreverse:
    case Intrinsic::ctpop:
    case Intrinsic::sadd_sat:
    case Intrinsic::uadd_sat:
    case Intrinsic::ssub_sat:
    case Intrinsic::usub_sat:
    case Intrinsic::sshl_sat:
    case Intrinsic::ushl_sat:
      break;
    default:
      fail("intrinsic '" + intrinsic->getCalledFunction()->getName() + "' cannot be vectorised");
      return PoisonValue::get(type);
    }
    // Machines without arithmetic on narrow floats would call a function for each lane.
    if (Type* scalar = type->getScalarType(); scalar->isHalfTy() || scalar->isBFloatTy()) {
      Type* wide = type->getWithNewType(builder_.getFloatTy());
      for (Value*& argument : arguments)
        if (argument->getType() == type)
          argument = builder_.CreateFPExt(argument, wide);
      overloads[0] = wide;
      return narrow(builder_.CreateIntrinsic(id, overloads, arguments), type);
    }
    return builder_.CreateIntrinsic(id, overloads, arguments);
  }
  fail(Twine("instruction '") + instruction.getOpcodeName() + "' cannot be vectorised");
  return PoisonValue::get(type);
}

// Rounds to a narrow float type. Machines without bfloat would call a function for each lane.
Value* Vectorizer::narrow(Value* value, Type* type) {
  if (!type->getScalarType()->isBFloatTy() || options_.has_bfloat)
    return builder_.CreateFPTrunc(value, type);
  value = builder_.CreateFPExt(value, type->getWithNewType(builder_.getFloatTy()));
  Type* i32 = type->getWithNewType(builder_.getInt32Ty());
  Value* bits = builder_.CreateBitCast(value, i32);
  // To the nearest, ties to even; a NaN stays one.
  Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, 16), 1);
  Value* rounded = builder_.CreateAdd(builder_.CreateAdd(bits, odd), ConstantInt::get(i32, 0x7fff));
  Value* quiet = builder_.CreateOr(bits, ConstantInt::get(i32, 0x400000));
  Value* result = builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), quiet, rounded);
  result = builder_.CreateTrunc(builder_.CreateLShr(result, 16),
                                type->getWithNewType(builder_.getInt16Ty()));
  return builder_.CreateBitCast(result, type);
}

// The one that is a number, if only one is. Written as a comparison: LLVM's intrinsics become calls
// of fmaxf for types that the machine has no instruction for.
Value* Vectorizer::emit_min_max(bool is_max, Value* a, Value* b, bool no_nans) {
  IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  Value* takes_a = is_max ? builder_.CreateFCmpOGT(a, b) : builder_.CreateFCmpOLT(a, b);
  Value* result = builder_.CreateSelect(takes_a, a, b);
  if (no_nans)
    return result;
  return builder_.CreateSelect(builder_.CreateFCmpUNO(b, b), a, result);
}

// No lane may trap or be undefined, whatever a lane that is off holds: where Metal leaves a result
// open (division by zero, the smallest number by -1), any value will do.
Value* Vectorizer::emit_division(Instruction& instruction, ArrayRef<Value*> operands) {
  auto opcode = cast<BinaryOperator>(instruction).getOpcode();
  bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  bool is_remainder = opcode == Instruction::SRem || opcode == Instruction::URem;
  Value *dividend = operands[0], *divisor = operands[1];
  Type* type = dividend->getType();
  Type* scalar = type->getScalarType();
  if (auto* constant = dyn_cast<ConstantInt>(instruction.getOperand(1));
      constant && !constant->isZero() && !constant->isMinusOne())
    return builder_.CreateBinOp(opcode, dividend, divisor);
  dividend = builder_.CreateFreeze(dividend);
  divisor = builder_.CreateFreeze(divisor);
  Constant *zero = Constant::getNullValue(type), *one = ConstantInt::get(type, 1);
  Value* is_zero = builder_.CreateICmpEQ(divisor, zero);
  if (type->isVectorTy() && scalar->getIntegerBitWidth() <= 32) {
    // The quotient of two integers of 32 bits, rounded to a double, truncates to the exact result:
    // it is never closer to the integer above than 2^-32 of its size.
    Type* wide = vector_type(builder_.getDoubleTy());
    Value* safe = builder_.CreateSelect(is_zero, one, divisor);
    Value* a =
        is_signed ? builder_.CreateSIToFP(dividend, wide) : builder_.CreateUIToFP(dividend, wide);
    Value* b = is_signed ? builder_.CreateSIToFP(safe, wide) : builder_.CreateUIToFP(safe, wide);
    Value* quotient = builder_.CreateFDiv(a, b);
    // -2^31 / -1 does not fit and may be anything.
    Type* middle = vector_type(builder_.getInt32Ty());
    Value* integer = is_signed || scalar->getIntegerBitWidth() < 32
                         ? builder_.CreateFPToSI(quotient, middle)
                         : builder_.CreateFPToUI(quotient, middle);
    integer = builder_.CreateTrunc(builder_.CreateFreeze(integer), type);
    if (!is_remainder)
      return integer;
    return builder_.CreateSub(dividend, builder_.CreateMul(integer, safe));
  }
  Value* unsafe = is_zero;
  Value* minus_one = nullptr;
  if (is_signed) {
    minus_one = builder_.CreateICmpEQ(divisor, Constant::getAllOnesValue(type));
    unsafe = builder_.CreateOr(unsafe, minus_one);
  }
  Value* result =
      builder_.CreateBinOp(opcode, dividend, builder_.CreateSelect(unsafe, one, divisor));
  if (minus_one)
    result = builder_.CreateSelect(minus_one, is_remainder ? zero : builder_.CreateNeg(dividend),
                                   result);
  return result;
}

} // namespace bessemer::metal::cpu

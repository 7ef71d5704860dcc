#include "metal/cpu/analysis/shape.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// A value that changes shape more often than this is given up: it becomes varying.
constexpr int max_changes = 12;

int clamp_align(int align) { return std::clamp(align, 0, Shape::max_align); }

int64_t wrapping_add(int64_t a, uint64_t b) { return int64_t(uint64_t(a) + b); }

bool is_power_of_two_multiple(const APInt& value, int align) {
  return value.countr_zero() >= unsigned(align);
}

// `shape` in groups of `group` lanes; the offset of each group's first lane moves into its piece.
Shape regroup(const Shape& shape, int group, int lanes) {
  Shape result;
  result.group = group;
  result.align = shape.align;
  result.offsets.resize(lanes);
  for (int lane = 0; lane < lanes; ++lane) {
    int64_t first = shape.offset(lane / group * group);
    if (first)
      result.align = std::min<int>(result.align, countr_zero(uint64_t(first)));
    result.offsets[lane] = shape.offset(lane) - first;
  }
  result.drop_zero_offsets();
  return result;
}

} // namespace

int64_t Shape::max_offset() const {
  return offsets.empty() ? 0 : *std::max_element(offsets.begin(), offsets.end());
}

int64_t Shape::min_offset() const {
  return offsets.empty() ? 0 : *std::min_element(offsets.begin(), offsets.end());
}

bool Shape::is_disjoint() const {
  return min_offset() >= 0 && (align >= max_align || max_offset() < (int64_t(1) << align));
}

void Shape::drop_zero_offsets() {
  if (llvm::all_of(offsets, [](int64_t offset) { return offset == 0; }))
    offsets.clear();
}

ShapeAnalysis::ShapeAnalysis(Function& function, int lanes, const uint32_t threads[3],
                             std::function<bool(const PHINode&)> is_blended)
    : function_(function), layout_(function.getParent()->getDataLayout()), lanes_(lanes),
      total_threads_(threads[0] * threads[1] * threads[2]), is_blended_(std::move(is_blended)) {}

Shape ShapeAnalysis::shape(const Value* value) const {
  if (const auto* constant = dyn_cast<ConstantInt>(value))
    return Shape::uniform(
        lanes_, constant->isZero()
                    ? Shape::max_align
                    : std::min(int(constant->getValue().countr_zero()), Shape::max_align - 1));
  if (isa<Constant>(value) || isa<Argument>(value) || !isa<Instruction>(value))
    return Shape::uniform(lanes_);
  auto found = shapes_.find(value);
  return found == shapes_.end() ? Shape() : found->second;
}

Shape ShapeAnalysis::flatten(const Shape& shape) const {
  if (!shape.has_pieces() || shape.offsets.empty())
    return shape;
  for (int group = shape.group; group >= min_group(); group /= 2) {
    Shape result = regroup(shape, group, lanes_);
    if (result.offsets.empty())
      return result;
  }
  return Shape::varying();
}

void ShapeAnalysis::run() {
  ReversePostOrderTraversal<Function*> order(&function_);
  auto iterate = [&] {
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock* block : order)
        for (Instruction& instruction : *block) {
          EmitMode mode;
          Shape& old = shapes_[&instruction];
          if (old.is_varying())
            continue;
          Shape next = transfer(instruction, mode);
          Shape& current = shapes_[&instruction];
          if (next == current)
            continue;
          if (++changes_[&instruction] > max_changes)
            next = Shape::varying();
          current = std::move(next);
          changed = true;
        }
    }
  };
  // Phis that only ever get undefined values, or each other, may be anything.
  auto settle = [&] {
    for (BasicBlock* block : order)
      for (PHINode& phi : block->phis())
        if (Shape& shape = shapes_[&phi]; shape.is_unknown()) {
          shape = Shape::uniform(lanes_);
          return true;
        }
    return false;
  };
  do
    iterate();
  while (settle());
}

Shape ShapeAnalysis::transfer_phi(const PHINode& phi) const {
  const Value* same = nullptr;
  for (const Value* incoming : phi.incoming_values())
    if (!isa<UndefValue>(incoming))
      same = incoming;
  if (is_blended_ && is_blended_(phi))
    return Shape::varying();
  Shape result;
  for (const Value* incoming : phi.incoming_values()) {
    if (isa<UndefValue>(incoming))
      continue;
    Shape next = shape(incoming);
    if (next.is_unknown())
      continue;
    if (result.is_unknown()) {
      result = next;
      continue;
    }
    if (next.is_varying() || result.is_varying())
      return Shape::varying();
    if (next.offsets == result.offsets) {
      result.group = std::min(result.group, next.group);
      result.align = std::min(result.align, next.align);
      continue;
    }
    result = flatten(result);
    next = flatten(next);
    if (next.is_varying() || result.is_varying())
      return Shape::varying();
    result.group = std::min(result.group, next.group);
    result.align = 0;
  }
  if (!same)
    return Shape::uniform(lanes_);
  return result;
}

Shape ShapeAnalysis::transfer_call(const CallInst& call, EmitMode& mode, bool& known) const {
  known = true;
  StringRef name = spmd::callee_name(call);
  if (name == spmd::thread_index || name == spmd::lane) {
    mode = EmitMode::Linear;
    bool zero_base = name == spmd::lane || (total_threads_ && total_threads_ <= uint32_t(lanes_));
    Shape result = Shape::uniform(lanes_, zero_base ? Shape::max_align : int(Log2_32(lanes_)));
    for (int lane = 0; lane < lanes_; ++lane)
      result.offsets.push_back(lane);
    result.drop_zero_offsets();
    return result;
  }
  if (name.starts_with("spmd.group.") || name == spmd::any || name == spmd::all ||
      name == spmd::full || name == spmd::always || name == spmd::mask ||
      name == spmd::private_memory || name == spmd::matrix_product || name == spmd::matrix_join) {
    mode = EmitMode::Pieces;
    return Shape::uniform(lanes_);
  }
  if (name.starts_with(spmd::matrix_multiply) || name == spmd::matrix_element || name == spmd::dot4)
    return Shape::varying();
  if (name.starts_with("air.")) {
    mode = EmitMode::Pieces;
    if (name.contains("barrier") || name.starts_with("air.atomic.fence"))
      return Shape::uniform(lanes_);
    if (name.starts_with("air.simd_")) {
      if (spmd::is_reduction(name)) {
        Shape result = Shape::uniform(lanes_);
        result.group = std::min(lanes_, 32); // one value for each simdgroup
        return result;
      }
      StringRef base = name.drop_front(9);
      bool whole = base == "any" || base == "all" || base.starts_with("ballot") ||
                   base.starts_with("broadcast_first") || base.starts_with("vote") ||
                   base.starts_with("active_threads_mask");
      if (whole)
        return Shape::uniform(lanes_);
      if (base.starts_with("broadcast.") || base.starts_with("shuffle."))
        if (shape(call.getArgOperand(1)).is_uniform(lanes_))
          return Shape::uniform(lanes_);
    }
    return Shape::varying();
  }
  known = false;
  return Shape();
}

// Is the value only used to form addresses of memory accesses, from what else is the same for all
// lanes or differs by known offsets? Then lanes whose index wraps around 2^32 may be treated as
// lanes that are off: two valid addresses of one allocation are never 2^32 elements apart, since a
// buffer has fewer than 2^32 - 2^24 elements. A varying part could make up for the wrap: the upper
// half of a 64-bit index that a program computes in words.
bool ShapeAnalysis::is_address_only(const Instruction& instruction, int depth) const {
  if (depth > 4)
    return false;
  for (const Use& use : instruction.uses()) {
    const auto* user = cast<Instruction>(use.getUser());
    if (isa<LoadInst>(user))
      continue;
    if (const auto* store = dyn_cast<StoreInst>(user)) {
      if (use.getOperandNo() == store->getPointerOperandIndex())
        continue;
      return false;
    }
    bool passes =
        isa<GetElementPtrInst>(user) ||
        (user->getType()->isIntegerTy(64) &&
         (user->getOpcode() == Instruction::Add || user->getOpcode() == Instruction::Sub ||
          user->getOpcode() == Instruction::Shl || user->getOpcode() == Instruction::Mul ||
          user->getOpcode() == Instruction::Or));
    for (const Value* operand : user->operands())
      passes &= operand == use.get() || !shape(operand).is_varying();
    if (!passes || !is_address_only(*user, depth + 1))
      return false;
  }
  return true;
}

Shape ShapeAnalysis::transfer_integer(const Instruction& instruction, ArrayRef<Shape> operands,
                                      EmitMode& mode) const {
  const Shape& a = operands[0];
  int group = lanes_;
  for (const Shape& operand : operands)
    group = std::min(group, operand.group);
  unsigned width =
      instruction.getType()->isIntegerTy() ? instruction.getType()->getIntegerBitWidth() : 64;
  // Only a piece that was zero, or has no bit left, is known to be zero.
  auto scaled = [&](int align, bool is_zero) {
    return is_zero || align >= int(width) ? Shape::max_align
                                          : std::min(align, Shape::max_align - 1);
  };
  // Offsets are kept as the type's signed numbers, so that what is asked of their sign and size
  // also holds where they wrap.
  auto linear = [&](auto&& offset, int align) {
    Shape result;
    result.group = group;
    result.align = clamp_align(align);
    result.offsets.resize(lanes_);
    for (int lane = 0; lane < lanes_; ++lane)
      result.offsets[lane] =
          width < 64 ? SignExtend64(uint64_t(offset(lane)), width) : offset(lane);
    result.drop_zero_offsets();
    mode = EmitMode::Linear;
    return result;
  };
  const ConstantInt* constant =
      operands.size() > 1 ? dyn_cast<ConstantInt>(instruction.getOperand(1)) : nullptr;
  if (constant && constant->getBitWidth() > 64)
    constant = nullptr;
  switch (instruction.getOpcode()) {
  case Instruction::Add:
    return linear([&](int lane) { return wrapping_add(a.offset(lane), operands[1].offset(lane)); },
                  std::min(a.align, operands[1].align));
  case Instruction::Sub:
    return linear(
        [&](int lane) { return wrapping_add(a.offset(lane), -uint64_t(operands[1].offset(lane))); },
        std::min(a.align, operands[1].align));
  case Instruction::Or:
    if (cast<PossiblyDisjointInst>(instruction).isDisjoint())
      return linear(
          [&](int lane) { return wrapping_add(a.offset(lane), operands[1].offset(lane)); },
          std::min(a.align, operands[1].align));
    [[fallthrough]];
  case Instruction::Xor:
    // The constant's low bits meet the offsets, its high bits the pieces, whose low bits are zero
    // and thus become the constant's.
    if (constant && a.is_disjoint()) {
      const int64_t bits = constant->getSExtValue();
      const int64_t low = a.align >= Shape::max_align ? bits : bits & ((int64_t(1) << a.align) - 1);
      const bool is_or = instruction.getOpcode() == Instruction::Or;
      return linear(
          [&](int lane) {
            const int64_t met = is_or ? a.offset(lane) | low : a.offset(lane) ^ low;
            return wrapping_add(met, -uint64_t(low));
          },
          std::min(a.align, operands[1].align));
    }
    break;
  case Instruction::Mul:
    if (constant)
      return linear(
          [&](int lane) {
            return int64_t(uint64_t(a.offset(lane)) * uint64_t(constant->getSExtValue()));
          },
          scaled(a.align + operands[1].align,
                 a.align == Shape::max_align || operands[1].align == Shape::max_align));
    if (a.is_flat() && operands[1].is_flat()) {
      mode = EmitMode::Pieces;
      Shape result = Shape::uniform(
          lanes_, scaled(a.align + operands[1].align,
                         a.align == Shape::max_align || operands[1].align == Shape::max_align));
      result.group = group;
      return result;
    }
    break;
  case Instruction::Shl:
    if (constant && constant->getZExtValue() < width)
      return linear(
          [&](int lane) { return int64_t(uint64_t(a.offset(lane)) << constant->getZExtValue()); },
          scaled(a.align + int(constant->getZExtValue()), a.align == Shape::max_align));
    break;
  case Instruction::And:
    if (constant) {
      int64_t bits = constant->getSExtValue();
      // The pieces have none of the bits that are asked for.
      if (bits >= 0 && a.align < 62 && bits < (int64_t(1) << a.align))
        return linear([&](int lane) { return a.offset(lane) & bits; }, Shape::max_align);
      if (a.is_disjoint())
        return linear([&](int lane) { return a.offset(lane) & bits; },
                      std::max(a.align, operands[1].align));
    }
    break;
  case Instruction::LShr:
  case Instruction::AShr:
    if (constant && constant->getZExtValue() < width && a.is_disjoint() && a.align < int(width))
      return linear([&](int lane) { return a.offset(lane) >> constant->getZExtValue(); },
                    a.align - int(constant->getZExtValue()));
    if (constant && constant->getZExtValue() < width && a.align >= Shape::max_align &&
        a.is_disjoint())
      return linear([&](int lane) { return a.offset(lane) >> constant->getZExtValue(); },
                    Shape::max_align);
    break;
  case Instruction::UDiv:
  case Instruction::URem:
    if (constant && !constant->isZero() && a.offsets.size()) {
      bool is_division = instruction.getOpcode() == Instruction::UDiv;
      uint64_t divisor = constant->getZExtValue();
      if (a.align >= Shape::max_align && a.is_disjoint()) // the pieces are zero
        return linear(
            [&](int lane) {
              uint64_t offset = uint64_t(a.offset(lane));
              return int64_t(is_division ? offset / divisor : offset % divisor);
            },
            Shape::max_align);
      for (int size = group; size >= min_group(); size /= 2) {
        Shape parts = regroup(a, size, lanes_);
        int align = std::min(parts.align, 30);
        // Within a group the value never passes a multiple of the divisor.
        if (parts.min_offset() < 0 || parts.max_offset() >= (int64_t(1) << align) ||
            !is_power_of_two_multiple(constant->getValue(), align))
          continue;
        mode = EmitMode::Pieces;
        if (is_division) {
          parts.offsets.clear();
          parts.align = 0;
        }
        return parts;
      }
    }
    break;
  case Instruction::Trunc:
    return linear([&](int lane) { return a.offset(lane); }, a.align);
  case Instruction::Freeze:
    return linear([&](int lane) { return a.offset(lane); }, a.align);
  case Instruction::SExt:
  case Instruction::ZExt: {
    unsigned source = instruction.getOperand(0)->getType()->getIntegerBitWidth();
    bool proven = a.is_flat() || (a.is_disjoint() && source > 1 &&
                                  (a.align < int(source) - 1 || a.align >= Shape::max_align) &&
                                  a.max_offset() < (int64_t(1) << (source - 1)));
    bool assumed =
        source == 32 && a.max_offset() - a.min_offset() < (1 << 24) && is_address_only(instruction);
    if (proven || assumed)
      return linear([&](int lane) { return a.offset(lane); },
                    proven && instruction.getOpcode() == Instruction::ZExt ? a.align
                    : proven                                               ? a.align
                                                                           : 0);
    break;
  }
  default:
    break;
  }
  mode = EmitMode::Vector;
  return Shape(); // no rule
}

Shape ShapeAnalysis::transfer(const Instruction& instruction, EmitMode& mode) const {
  mode = EmitMode::Vector;
  unsigned operand_count = instruction.getNumOperands();
  if (const auto* phi = dyn_cast<PHINode>(&instruction)) {
    mode = EmitMode::Linear;
    return transfer_phi(*phi);
  }
  if (const auto* call = dyn_cast<CallInst>(&instruction)) {
    bool known;
    Shape result = transfer_call(*call, mode, known);
    if (known)
      return result;
    operand_count = call->arg_size();
  }
  if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction) ||
      isa<AllocaInst>(instruction))
    return Shape::varying();

  SmallVector<Shape, 4> operands;
  bool any_varying = false;
  for (unsigned i = 0; i < operand_count; ++i) {
    operands.push_back(shape(instruction.getOperand(i)));
    if (operands.back().is_unknown())
      return Shape();
    any_varying |= operands.back().is_varying();
  }
  if (isa<StoreInst>(instruction) || instruction.isTerminator())
    return Shape::uniform(lanes_);
  if (isa<LoadInst>(instruction)) {
    Shape result = flatten(operands[0]);
    result.align = 0;
    if (!result.is_varying())
      mode = EmitMode::Pieces;
    return result;
  }
  if (any_varying)
    return Shape::varying();

  bool flat = llvm::all_of(operands, [](const Shape& shape) { return shape.is_flat(); });
  int group = lanes_;
  for (const Shape& operand : operands)
    group = std::min(group, operand.group);

  if (instruction.getType()->isIntegerTy() && !instruction.getType()->isIntegerTy(1) &&
      (isa<BinaryOperator>(instruction) || isa<TruncInst>(instruction) ||
       isa<SExtInst>(instruction) || isa<ZExtInst>(instruction) || isa<FreezeInst>(instruction))) {
    Shape result = transfer_integer(instruction, operands, mode);
    if (!result.is_unknown())
      return result;
  }
  if (const auto* gep = dyn_cast<GetElementPtrInst>(&instruction)) {
    SmallMapVector<Value*, APInt, 4> variables;
    APInt constant(64, 0);
    bool narrow = false;
    for (const Value* index : gep->indices())
      narrow |= !index->getType()->isIntegerTy(64) && !shape(index).is_flat();
    if (gep->collectOffset(layout_, 64, variables, constant) &&
        (!narrow || is_address_only(*gep))) {
      mode = EmitMode::Linear;
      Shape result;
      result.group = group;
      result.offsets.resize(lanes_);
      for (int lane = 0; lane < lanes_; ++lane) {
        int64_t offset = operands[0].offset(lane);
        for (const auto& [value, scale] : variables)
          offset += shape(value).offset(lane) * scale.getSExtValue();
        result.offsets[lane] = offset;
      }
      result.drop_zero_offsets();
      return result;
    }
  }
  if ((isa<PtrToIntInst>(instruction) && instruction.getType()->isIntegerTy(64)) ||
      isa<AddrSpaceCastInst>(instruction) ||
      (isa<BitCastInst>(instruction) && instruction.getType()->isPointerTy())) {
    mode = EmitMode::Linear;
    return operands[0];
  }
  if (const auto* compare = dyn_cast<ICmpInst>(&instruction); compare && !flat && group == lanes_) {
    // (aligned base + small offset) < aligned uniform is decided by the base alone.
    const bool swapped = operands[0].is_flat();
    const Shape &offset = operands[swapped], &bound = operands[!swapped];
    auto predicate = swapped ? compare->getSwappedPredicate() : compare->getPredicate();
    bool less = predicate == ICmpInst::ICMP_SLT || predicate == ICmpInst::ICMP_ULT ||
                predicate == ICmpInst::ICMP_SGE || predicate == ICmpInst::ICMP_UGE;
    if (less && bound.is_flat() && offset.is_disjoint() &&
        compare->getOperand(0)->getType()->isIntegerTy()) {
      int needed = int(Log2_64_Ceil(uint64_t(offset.max_offset()) + 1));
      if (offset.align >= needed && bound.align >= needed) {
        mode = EmitMode::Linear;
        return Shape::uniform(lanes_);
      }
    }
    if (compare->isEquality() && operands[0].offsets == operands[1].offsets) {
      mode = EmitMode::Linear;
      return Shape::uniform(lanes_);
    }
  }
  if (isa<SelectInst>(instruction) && operands[0].is_uniform(lanes_) &&
      operands[1].offsets == operands[2].offsets) {
    mode = EmitMode::Linear;
    Shape result = operands[1];
    result.group = group;
    result.align = std::min(operands[1].align, operands[2].align);
    return result;
  }
  for (const Shape& operand : operands) {
    Shape parts = flatten(operand);
    if (parts.is_varying()) {
      mode = EmitMode::Vector;
      return parts;
    }
    group = std::min(group, parts.group);
  }
  mode = EmitMode::Pieces;
  Shape result = Shape::uniform(lanes_);
  result.group = group;
  return result;
}

} // namespace bessemer::metal::cpu

// Products of simdgroup matrices.
#include "metal/cpu/passes/vectorizer.h"

#include "metal/cpu/analysis/spmd.h"

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

constexpr int order = 8;
// Products of one left matrix that are made together share its elements; more of them would not fit
// the registers.
constexpr size_t max_shared_products = 4;

// The lane that holds an element, and the element's place of the lane's two.
int lane_of(int row, int column) {
  return ((column >> 1) & 1) | ((row & 3) << 1) | (((column >> 2) & 1) << 3) |
         (((row >> 2) & 1) << 4);
}
int row_of(int lane) { return ((lane >> 2) & 4) + ((lane >> 1) & 3); }
int column_of(int lane) { return ((lane >> 2) & 2) * 2 + (lane & 1) * 2; }

} // namespace

// D = A * B + C on 8x8 matrices whose elements are spread over the lanes as passes/lower_matrices
// says: whole rows are put together, and each column of A times a row of B is one multiply-add.
void Vectorizer::emit_matrix_multiply(CallInst& call) {
  if (lanes_ != 32)
    return fail("simdgroup matrices need vectors of one simdgroup");
  Type* type = builder_.getFloatTy();
  int native = std::min(native_lanes(type), 16);
  // Where element (row, column) lies in the concatenation of the two element vectors.
  auto place = [&](int row, int column) { return (column & 1) * lanes_ + lane_of(row, column); };
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
      for (int lane = out; lane < out + native; ++lane)
        lanes.push_back(row_of(lane) * order + column_of(lane) + element);
      outputs.push_back(permute(rows, lanes));
    }
    result.vectors.push_back(concatenate(outputs));
  }
  set(call, std::move(result));
}

// Matrices that lie row after row in registers: element (row, k) of A, as often as a row of B has
// columns, times row k of B. Products that share A are made together.
void Vectorizer::emit_matrix_product(CallInst& call) {
  if (values_.count(&call))
    return; // with an earlier one
  if (lanes_ != 32)
    return fail("simdgroup matrices need vectors of one simdgroup");
  SmallVector<CallInst*, max_shared_products> calls{&call};
  auto is_made = [&](Value* value) { return !isa<Instruction>(value) || values_.count(value); };
  for (Instruction* next = call.getNextNode(); next && calls.size() < max_shared_products;
       next = next->getNextNode())
    if (spmd::is_call(next, spmd::matrix_product) && next->getOperand(0) == call.getArgOperand(0) &&
        is_made(next->getOperand(1)) && is_made(next->getOperand(2)))
      calls.push_back(cast<CallInst>(next));
  int native = std::min(native_lanes(builder_.getFloatTy()), 16);
  int parts = order * order / native;
  Value* a = get(call.getArgOperand(0)).pieces[0];
  SmallVector<Value*, 4> b;
  SmallVector<SmallVector<Value*, 16>, 4> sums(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    b.push_back(get(calls[i]->getArgOperand(1)).pieces[0]);
    Value* c = get(calls[i]->getArgOperand(2)).pieces[0];
    for (int part = 0; part < parts; ++part)
      sums[i].push_back(slice(c, part * native, native));
  }
  for (int k = 0; k < order; ++k) {
    SmallVector<Value*, 16> left;
    for (int part = 0; part < parts; ++part) {
      SmallVector<int, 16> lanes;
      for (int i = 0; i < native; ++i)
        lanes.push_back((part * native + i) / order * order + k);
      left.push_back(builder_.CreateShuffleVector(a, lanes));
    }
    for (size_t i = 0; i < calls.size(); ++i) {
      SmallVector<Value*, 2> right; // parts narrower than a row differ
      for (int first = 0; first < std::max(1, order / native); ++first) {
        SmallVector<int, 16> lanes;
        for (int lane = 0; lane < native; ++lane)
          lanes.push_back(k * order + (first * native + lane) % order);
        right.push_back(builder_.CreateShuffleVector(b[i], lanes));
      }
      for (int part = 0; part < parts; ++part)
        sums[i][part] = builder_.CreateIntrinsic(
            Intrinsic::fma, {left[part]->getType()},
            {left[part], right[size_t(part) % right.size()], sums[i][part]});
    }
  }
  for (size_t i = 0; i < calls.size(); ++i)
    set_uniform(*calls[i], concatenate(sums[i]));
}

void Vectorizer::emit_matrix_join(CallInst& call) {
  if (lanes_ != 32)
    return fail("simdgroup matrices need vectors of one simdgroup");
  if (Value* loaded = load_matrix(call.getArgOperand(0), call.getArgOperand(1)))
    return set_uniform(call, loaded);
  SmallVector<int, 64> lanes;
  for (int row = 0; row < order; ++row)
    for (int column = 0; column < order; ++column)
      lanes.push_back((column & 1) * lanes_ + lane_of(row, column));
  set_uniform(call, builder_.CreateShuffleVector(vector(call.getArgOperand(0)),
                                                 vector(call.getArgOperand(1)), lanes));
}

// Elements that the lanes have just loaded from rows of memory: whole rows are loaded instead. Null
// where that is not what they did.
Value* Vectorizer::load_matrix(Value* first, Value* second) {
  auto *a = dyn_cast<LoadInst>(first), *b = dyn_cast<LoadInst>(second);
  if (!a || !b || mask_ || a->getParent() != b->getParent() || !a->getType()->isFloatTy())
    return nullptr;
  Instruction* from = a->comesBefore(b) ? a : b;
  for (Instruction* step = from; step; step = step->getNextNode()) {
    if (step->mayWriteToMemory() && step != from)
      return nullptr;
    if (step->getParent() != a->getParent() || step == (from == a ? b : a))
      break;
  }
  LaneValue places[2] = {get(a->getPointerOperand()), get(b->getPointerOperand())};
  for (const LaneValue& place : places)
    if (place.shape.group != lanes_)
      return nullptr;
  APInt offsets[2] = {APInt(64, 0), APInt(64, 0)};
  const Value* bases[2];
  for (int i = 0; i < 2; ++i)
    bases[i] = places[i].pieces[0]->stripAndAccumulateConstantOffsets(layout_, offsets[i], true);
  if (bases[0] != bases[1])
    return nullptr;
  int64_t size = store_size(builder_.getFloatTy());
  auto offset = [&](int i, int lane) {
    return offsets[i].getSExtValue() + places[i].shape.offset(lane);
  };
  int64_t stride = offset(0, lane_of(1, 0)) - offset(0, 0);
  for (int lane = 0; lane < lanes_; ++lane)
    for (int i = 0; i < 2; ++i)
      if (offset(i, lane) - offset(0, 0) != row_of(lane) * stride + (column_of(lane) + i) * size)
        return nullptr;
  access_align_ = std::min(a->getAlign(), b->getAlign());
  SmallVector<Value*, order> rows;
  for (int row = 0; row < order; ++row)
    rows.push_back(load_run(
        builder_.getFloatTy(),
        add_offset(places[0].pieces[0], places[0].shape.offset(lane_of(row, 0))), order, nullptr));
  return concatenate(rows);
}

void Vectorizer::emit_matrix_element(CallInst& call) {
  int element = int(cast<ConstantInt>(call.getArgOperand(1))->getZExtValue());
  SmallVector<int, 64> lanes;
  for (int lane = 0; lane < lanes_; ++lane)
    lanes.push_back(row_of(lane) * order + column_of(lane) + element);
  set_vector(call, builder_.CreateShuffleVector(get(call.getArgOperand(0)).pieces[0], lanes));
}

} // namespace bessemer::metal::cpu

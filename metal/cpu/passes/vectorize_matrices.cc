// Products of simdgroup matrices.
#include "metal/cpu/passes/vectorizer.h"

using namespace llvm;

namespace bessemer::metal::cpu {

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

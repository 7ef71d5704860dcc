// Operations among the lanes of a simdgroup.
#include <bit>
#include <cmath>
#include <cstring>

#include "metal/cpu/reference/operations.h"

namespace bessemer::metal::cpu::reference {

using air::Operation;
using air::OperationGroup;

namespace {

// The lanes that work together in one group: a simdgroup, or four neighbours of it.
class Group {
public:
  Group(const CallShape& shape, std::array<CallData*, kSimdgroup>& lanes, unsigned base,
        unsigned size)
      : shape_(shape), lanes_(lanes), base_(base), size_(size) {}

  bool active(unsigned index) const { return index < size_ && lanes_[base_ + index] != nullptr; }
  CallData& lane(unsigned index) const { return *lanes_[base_ + index]; }
  unsigned size() const { return size_; }

  template <class F>
  void forEach(F f) const {
    for (unsigned i = 0; i < size_; ++i) {
      if (active(i))
        f(i);
    }
  }

  // Copies operand `operand` of lane `from` to the result of lane `to`. The value of a lane that is
  // not active is undefined in Metal; here it is the reader's own.
  void take(unsigned to, unsigned from, unsigned operand = 0) const {
    if (!active(from))
      from = to, operand = 0;
    std::memcpy(lane(to).result, lane(from).operand(operand), shape_.result.bytes());
  }

  int64_t amount(unsigned index, unsigned operand) const {
    return readInteger(shape_.operands[operand], lane(index).operand(operand), 0);
  }

  void reduce() const;
  void prefix() const;
  void vote() const;
  void shuffle() const;
  void evaluate() const;

private:
  double combine(double x, double y) const;
  int64_t combine(int64_t x, int64_t y) const;

  const CallShape& shape_;
  std::array<CallData*, kSimdgroup>& lanes_;
  unsigned base_, size_;
};

// The simdgroup's form of a quadgroup's operation: the two lists are in the same order of meaning.
Operation common(Operation operation) {
  switch (operation) {
#define BESSEMER_SAME(name)                                                                        \
  case Operation::Quad##name:                                                                      \
    return Operation::Simd##name;
    BESSEMER_SAME(ActiveThreadsMask)
    BESSEMER_SAME(All)
    BESSEMER_SAME(And)
    BESSEMER_SAME(Any)
    BESSEMER_SAME(Ballot)
    BESSEMER_SAME(Broadcast)
    BESSEMER_SAME(BroadcastFirst)
    BESSEMER_SAME(IsFirst)
    BESSEMER_SAME(Max)
    BESSEMER_SAME(Min)
    BESSEMER_SAME(Or)
    BESSEMER_SAME(PrefixExclusiveProduct)
    BESSEMER_SAME(PrefixExclusiveSum)
    BESSEMER_SAME(PrefixInclusiveProduct)
    BESSEMER_SAME(PrefixInclusiveSum)
    BESSEMER_SAME(Product)
    BESSEMER_SAME(Shuffle)
    BESSEMER_SAME(ShuffleAndFillDown)
    BESSEMER_SAME(ShuffleAndFillUp)
    BESSEMER_SAME(ShuffleDown)
    BESSEMER_SAME(ShuffleRotateDown)
    BESSEMER_SAME(ShuffleRotateUp)
    BESSEMER_SAME(ShuffleUp)
    BESSEMER_SAME(ShuffleXor)
    BESSEMER_SAME(Sum)
    BESSEMER_SAME(Xor)
#undef BESSEMER_SAME
  default:
    return operation;
  }
}

double Group::combine(double x, double y) const {
  switch (common(shape_.intrinsic.operation)) {
  case Operation::SimdMax:
    return std::fmax(x, y);
  case Operation::SimdMin:
    return std::fmin(x, y);
  case Operation::SimdProduct:
  case Operation::SimdPrefixExclusiveProduct:
  case Operation::SimdPrefixInclusiveProduct:
    return x * y;
  default:
    return x + y;
  }
}

int64_t Group::combine(int64_t x, int64_t y) const {
  const auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  const bool less = shape_.result.is_signed ? x < y : ux < uy;
  switch (common(shape_.intrinsic.operation)) {
  case Operation::SimdMax:
    return less ? y : x;
  case Operation::SimdMin:
    return less ? x : y;
  case Operation::SimdAnd:
    return x & y;
  case Operation::SimdOr:
    return x | y;
  case Operation::SimdXor:
    return x ^ y;
  case Operation::SimdProduct:
  case Operation::SimdPrefixExclusiveProduct:
  case Operation::SimdPrefixInclusiveProduct:
    return static_cast<int64_t>(ux * uy);
  default:
    return static_cast<int64_t>(ux + uy);
  }
}

void Group::reduce() const {
  const Type& type = shape_.result;
  for (unsigned e = 0; e < type.elements; ++e) {
    bool first = true;
    double real = 0;
    int64_t whole = 0;
    forEach([&](unsigned i) {
      if (type.isFloat()) {
        const double x = readFloat(type, lane(i).operand(0), e);
        real = first ? x : combine(real, x);
      } else {
        const int64_t x = readInteger(type, lane(i).operand(0), e);
        whole = first ? x : combine(whole, x);
      }
      first = false;
    });
    forEach([&](unsigned i) {
      if (type.isFloat())
        writeFloat(type, lane(i).result, e, real);
      else
        writeInteger(type, lane(i).result, e, whole);
    });
  }
}

void Group::prefix() const {
  const Operation operation = common(shape_.intrinsic.operation);
  const bool inclusive = operation == Operation::SimdPrefixInclusiveSum ||
                         operation == Operation::SimdPrefixInclusiveProduct;
  const bool product = operation == Operation::SimdPrefixInclusiveProduct ||
                       operation == Operation::SimdPrefixExclusiveProduct;
  const Type& type = shape_.result;
  for (unsigned e = 0; e < type.elements; ++e) {
    double real = product ? 1 : 0;
    int64_t whole = product ? 1 : 0;
    forEach([&](unsigned i) {
      const double before = real;
      const int64_t whole_before = whole;
      if (type.isFloat()) {
        real = combine(real, readFloat(type, lane(i).operand(0), e));
        writeFloat(type, lane(i).result, e, inclusive ? real : before);
      } else {
        whole = combine(whole, readInteger(type, lane(i).operand(0), e));
        writeInteger(type, lane(i).result, e, inclusive ? whole : whole_before);
      }
    });
  }
}

void Group::vote() const {
  uint32_t active_mask = 0, true_mask = 0;
  forEach([&](unsigned i) {
    active_mask |= 1u << i;
    if (shape_.operand_count > 0 && readInteger(shape_.operands[0], lane(i).operand(0), 0) != 0)
      true_mask |= 1u << i;
  });
  forEach([&](unsigned i) {
    int64_t value = 0;
    switch (common(shape_.intrinsic.operation)) {
    case Operation::SimdAll:
      value = true_mask == active_mask;
      break;
    case Operation::SimdAny:
      value = true_mask != 0;
      break;
    case Operation::SimdBallot:
      value = true_mask;
      break;
    case Operation::SimdActiveThreadsMask:
      value = active_mask;
      break;
    default:
      value = std::countr_zero(active_mask) == static_cast<int>(i);
      break; // is_first
    }
    writeInteger(shape_.result, lane(i).result, 0, value);
  });
}

void Group::shuffle() const {
  unsigned first = 0;
  while (first < size_ && !active(first))
    ++first;
  forEach([&](unsigned i) {
    const unsigned size = size_;
    auto wrapped = [&](int64_t index) {
      return static_cast<unsigned>(((index % size) + size) % size);
    };
    auto bounded = [&](int64_t index) {
      return index >= 0 && index < size ? static_cast<unsigned>(index) : size; // size: nobody
    };
    switch (common(shape_.intrinsic.operation)) {
    case Operation::SimdBroadcastFirst:
      return take(i, first);
    case Operation::SimdBroadcast:
    case Operation::SimdShuffle:
      return take(i, bounded(amount(i, 1)));
    case Operation::SimdShuffleXor:
      return take(i, bounded(i ^ amount(i, 1)));
    case Operation::SimdShuffleDown:
      return take(i, bounded(i + amount(i, 1)));
    case Operation::SimdShuffleUp:
      return take(i, bounded(int64_t{i} - amount(i, 1)));
    case Operation::SimdShuffleRotateDown:
      return take(i, wrapped(i + amount(i, 1)));
    case Operation::SimdShuffleRotateUp:
      return take(i, wrapped(int64_t{i} - amount(i, 1)));
    case Operation::SimdShuffleAndFillUp:
    case Operation::SimdShuffleAndFillDown: {
      // Lanes work in runs of `modulo`; what comes from outside a run is taken from the fill value
      // as if its run followed.
      const bool up = common(shape_.intrinsic.operation) == Operation::SimdShuffleAndFillUp;
      const int64_t delta = amount(i, 2), modulo = std::max<int64_t>(1, amount(i, 3));
      const int64_t run = i / modulo * modulo, at = i % modulo;
      const int64_t from = up ? at - delta : at + delta;
      if (from >= 0 && from < modulo)
        return take(i, bounded(run + from));
      return take(i, bounded(run + (up ? from + modulo : from - modulo)), 1);
    }
    default:
      return;
    }
  });
}

void Group::evaluate() const {
  switch (common(shape_.intrinsic.operation)) {
  case Operation::SimdSum:
  case Operation::SimdProduct:
  case Operation::SimdMax:
  case Operation::SimdMin:
  case Operation::SimdAnd:
  case Operation::SimdOr:
  case Operation::SimdXor:
    return reduce();
  case Operation::SimdPrefixExclusiveProduct:
  case Operation::SimdPrefixExclusiveSum:
  case Operation::SimdPrefixInclusiveProduct:
  case Operation::SimdPrefixInclusiveSum:
    return prefix();
  case Operation::SimdAll:
  case Operation::SimdAny:
  case Operation::SimdBallot:
  case Operation::SimdActiveThreadsMask:
  case Operation::SimdIsFirst:
    return vote();
  default:
    return shuffle();
  }
}

// Which elements of an 8x8 matrix a lane holds: two neighbours of one row.
unsigned rowOf(unsigned lane) { return ((lane / 4) & 4) + (lane / 2) % 4; }
unsigned columnOf(unsigned lane, unsigned element) {
  return ((lane / 4) & 2) * 2 + (lane % 2) * 2 + element;
}

using Matrix = std::array<std::array<double, 8>, 8>;

Matrix gather(const CallShape& shape, std::array<CallData*, kSimdgroup>& lanes, unsigned operand) {
  Matrix matrix{};
  for (unsigned l = 0; l < kSimdgroup; ++l) {
    for (unsigned e = 0; lanes[l] && e < 2; ++e)
      matrix[rowOf(l)][columnOf(l, e)] =
          readFloat(shape.operands[operand], lanes[l]->operand(operand), e);
  }
  return matrix;
}

// Element size and distances of a matrix in memory, for both forms that AIR has had: elements a
// row, origin, transposed; or extents, strides, origin.
struct MatrixMemory {
  uint8_t* base = nullptr;
  int64_t column_stride = 1, row_stride = 1, column = 0, row = 0;
  uint8_t* at(unsigned r, unsigned c, const Type& type) const {
    return base + (column_stride * (column + c) + row_stride * (row + r)) * type.elementBytes();
  }
};

MatrixMemory matrixMemory(const CallShape& shape, const CallData& data, unsigned first) {
  MatrixMemory memory;
  std::memcpy(&memory.base, data.operand(first), sizeof(memory.base));
  auto number = [&](unsigned operand, unsigned element) {
    return readInteger(shape.operands[operand], data.operand(operand), element);
  };
  unsigned origin = first + 2;
  if (shape.operands[first + 1].elements == 2) {
    memory.column_stride = number(first + 2, 0);
    memory.row_stride = number(first + 2, 1);
    origin = first + 3;
  } else {
    const bool transposed = number(first + 3, 0) != 0;
    memory.column_stride = transposed ? number(first + 1, 0) : 1;
    memory.row_stride = transposed ? 1 : number(first + 1, 0);
  }
  memory.column = number(origin, 0);
  memory.row = number(origin, 1);
  return memory;
}

void evaluateMatrix(const CallShape& shape, std::array<CallData*, kSimdgroup>& lanes) {
  const Operation operation = shape.intrinsic.operation;
  Matrix product{};
  if (operation == Operation::MatrixMultiply || operation == Operation::MatrixMultiplyAccumulate) {
    const Matrix a = gather(shape, lanes, 0), b = gather(shape, lanes, 1);
    if (operation == Operation::MatrixMultiplyAccumulate)
      product = gather(shape, lanes, 2);
    for (unsigned r = 0; r < 8; ++r) {
      for (unsigned c = 0; c < 8; ++c) {
        for (unsigned k = 0; k < 8; ++k)
          product[r][c] += a[r][k] * b[k][c];
      }
    }
  }
  for (unsigned l = 0; l < kSimdgroup; ++l) {
    if (!lanes[l])
      continue;
    CallData& data = *lanes[l];
    for (unsigned e = 0; e < 2; ++e) {
      const unsigned r = rowOf(l), c = columnOf(l, e);
      switch (operation) {
      case Operation::MatrixInitFilled:
        writeFloat(shape.result, data.result, e, readFloat(shape.operands[0], data.operand(0), 0));
        break;
      case Operation::MatrixInitDiagonal:
        writeFloat(shape.result, data.result, e,
                   r == c ? readFloat(shape.operands[0], data.operand(0), 0) : 0);
        break;
      case Operation::MatrixLoad:
        writeFloat(shape.result, data.result, e,
                   readFloat(shape.result, matrixMemory(shape, data, 0).at(r, c, shape.result), 0));
        break;
      case Operation::MatrixStore:
        writeFloat(shape.operands[0], matrixMemory(shape, data, 1).at(r, c, shape.operands[0]), 0,
                   readFloat(shape.operands[0], data.operand(0), e));
        break;
      default:
        writeFloat(shape.result, data.result, e, product[r][c]);
      }
    }
  }
}

} // namespace

void evaluateTogether(const CallShape& shape, std::array<CallData*, kSimdgroup>& lanes) {
  switch (shape.intrinsic.group) {
  case OperationGroup::Barrier:
    return;
  case OperationGroup::Matrix:
    return evaluateMatrix(shape, lanes);
  case OperationGroup::Quadgroup:
    for (unsigned base = 0; base < kSimdgroup; base += 4)
      Group(shape, lanes, base, 4).evaluate();
    return;
  default:
    Group(shape, lanes, 0, kSimdgroup).evaluate();
  }
}

} // namespace bessemer::metal::cpu::reference

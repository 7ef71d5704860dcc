#include "metal/cpu/passes/match_dot_products.h"

#include "metal/cpu/analysis/spmd.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

#include <array>
#include <optional>
#include <tuple>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace bessemer::metal::cpu {
namespace {

constexpr uint32_t each_byte = 0x01010101;
// With fewer products the multiplications are as good.
constexpr size_t min_products = 2;
constexpr unsigned max_terms = 256;

// ((word >> shift) byte `place`, of it the bits of `mask`, signed or not) + constant
struct ByteFactor {
  Value* word = nullptr;
  unsigned shift = 0; // below 8
  unsigned place = 0;
  uint32_t mask = 0xff;
  bool is_signed = false;
  int64_t constant = 0;
};

std::optional<ByteFactor> read_byte(Value* value) {
  ByteFactor byte;
  Value* inner;
  const APInt* number;
  if (match(value, m_Add(m_Value(inner), m_APInt(number)))) {
    byte.constant = number->getSExtValue();
    value = inner;
  }
  uint64_t left = 0, right = 0, mask = 0;
  auto at = [&](unsigned bit) {
    byte.shift = bit % 8;
    byte.place = bit / 8;
  };
  if (match(value, m_AShr(m_Shl(m_Value(inner), m_ConstantInt(left)), m_ConstantInt(right))) &&
      right == 24 && left <= 24 && left % 8 == 0) {
    byte.is_signed = true;
    at(24 - unsigned(left));
  } else if (match(value, m_AShr(m_Value(inner), m_ConstantInt(right))) && right == 24) {
    byte.is_signed = true;
    at(24);
  } else if (match(value, m_SExt(m_Trunc(m_Value(inner)))) &&
             cast<CastInst>(value)->getOperand(0)->getType()->isIntegerTy(8)) {
    byte.is_signed = true;
    Value* word;
    if (match(inner, m_Shr(m_Value(word), m_ConstantInt(right))) && right <= 24) {
      inner = word;
      at(unsigned(right));
    }
  } else if (match(value, m_And(m_Value(inner), m_ConstantInt(mask))) && mask <= 0xff) {
    byte.mask = uint32_t(mask);
    Value* word;
    if (match(inner, m_LShr(m_Value(word), m_ConstantInt(right))) && right < 32) {
      inner = word;
      at(unsigned(right));
    }
  } else if (match(value, m_LShr(m_Value(inner), m_ConstantInt(right))) && right >= 24 &&
             right < 32) {
    byte.mask = 0xffu >> (right - 24);
    at(unsigned(right));
  } else {
    return std::nullopt;
  }
  byte.word = inner;
  if (!inner->getType()->isIntegerTy(32))
    return std::nullopt;
  return byte;
}

// A product of the unsigned bytes of one word and the signed bytes of another.
struct Product {
  ByteFactor left;  // unsigned, with a constant
  ByteFactor right; // signed or below 128, without
};

std::optional<Product> read_product(Value* value) {
  Value *a, *b;
  if (!match(value, m_Mul(m_Value(a), m_Value(b))))
    return std::nullopt;
  auto left = read_byte(a), right = read_byte(b);
  if (!left || !right || left->place != right->place)
    return std::nullopt;
  auto fits_right = [](const ByteFactor& byte) {
    return !byte.constant && (byte.is_signed ? !byte.shift : byte.mask < 0x80);
  };
  if (!fits_right(*right) || (left->is_signed && !right->is_signed))
    std::swap(left, right);
  if (!fits_right(*right) || (left->is_signed && left->shift))
    return std::nullopt;
  if (left->is_signed) // flipping the highest bit adds 128
    left->constant -= 128;
  if (left->constant < -255 || left->constant > 255)
    return std::nullopt;
  return Product{*left, *right};
}

class DotProductMatcher {
public:
  explicit DotProductMatcher(Function& thread)
      : thread_(thread), builder_(thread.getContext()), i32_(builder_.getInt32Ty()) {}

  void run() {
    SmallVector<WeakTrackingVH, 8> roots;
    for (BasicBlock& block : thread_)
      for (Instruction& instruction : block)
        if (auto* sum = dyn_cast<BinaryOperator>(&instruction);
            sum && is_sum(*sum) && !is_inner(*sum))
          roots.push_back(sum);
    for (WeakTrackingVH& root : roots)
      if (auto* sum = dyn_cast_or_null<BinaryOperator>(root))
        rewrite(*sum);
  }

private:
  bool is_sum(const BinaryOperator& operation) const {
    return operation.getType() == i32_ && operation.getOpcode() == Instruction::Add;
  }
  // Part of one larger sum of the same block and of nothing else?
  bool is_inner(const BinaryOperator& sum) const {
    if (!sum.hasOneUse())
      return false;
    const auto* user = dyn_cast<BinaryOperator>(*sum.user_begin());
    return user && is_sum(*user) && user->getParent() == sum.getParent();
  }

  using Key = std::tuple<Value*, unsigned, uint32_t, unsigned, int64_t, Value*, unsigned, uint32_t,
                         unsigned>;
  struct Group {
    std::array<Value*, 4> terms = {};
    Product product;
    size_t size() const {
      return size_t(llvm::count_if(terms, [](Value* term) { return term != nullptr; }));
    }
  };

  void rewrite(BinaryOperator& root) {
    SmallVector<Value*, 32> rest;
    std::vector<Group> groups;
    MapVector<Key, SmallVector<size_t, 1>> index;
    SmallVector<Value*, 32> work{&root};
    unsigned terms = 0;
    while (!work.empty()) {
      Value* value = work.pop_back_val();
      auto* sum = dyn_cast<BinaryOperator>(value);
      if (sum && is_sum(*sum) && (sum == &root || is_inner(*sum))) {
        // A constant that belongs to a factor never is a sum's own term: it has no product.
        work.append(sum->op_begin(), sum->op_end());
        continue;
      }
      if (++terms > max_terms)
        return;
      auto product = read_product(value);
      if (!product) {
        rest.push_back(value);
        continue;
      }
      const ByteFactor &left = product->left, &right = product->right;
      Key key(left.word, left.shift, left.mask, left.is_signed, left.constant, right.word,
              right.shift, right.mask, right.is_signed);
      auto& same = index[key];
      auto place =
          llvm::find_if(same, [&](size_t group) { return !groups[group].terms[left.place]; });
      if (place == same.end()) {
        same.push_back(groups.size());
        groups.push_back({{}, *product});
        place = std::prev(same.end());
      }
      groups[*place].terms[left.place] = value;
    }
    bool any = false;
    for (Group& group : groups)
      any |= group.size() >= min_products;
    if (!any)
      return;

    builder_.SetInsertPoint(&root);
    FunctionCallee dot = spmd::declare(*thread_.getParent(), spmd::dot4, i32_, {i32_, i32_, i32_});
    Value *positive = nullptr, *negative = nullptr;
    auto add = [&](Value*& sum, Value* unsigned_bytes, Value* signed_bytes) {
      sum = builder_.CreateCall(dot,
                                {sum ? sum : builder_.getInt32(0), unsigned_bytes, signed_bytes});
    };
    for (Value* value : rest)
      positive = positive ? builder_.CreateAdd(positive, value) : value;
    for (Group& group : groups) {
      if (group.size() < min_products) {
        for (Value* term : group.terms)
          if (term)
            positive = positive ? builder_.CreateAdd(positive, term) : term;
        continue;
      }
      uint32_t places = 0;
      for (unsigned place = 0; place < 4; ++place)
        if (group.terms[place])
          places |= 0xffu << (8 * place);
      const ByteFactor &left = group.product.left, &right = group.product.right;
      Value* left_bytes = bytes(left, places);
      Value* right_bytes = bytes(right, ~0u);
      if (left.is_signed)
        left_bytes = builder_.CreateXor(left_bytes, each_byte * 0x80 & places);
      add(positive, left_bytes, right_bytes);
      if (left.constant)
        add(left.constant < 0 ? negative : positive,
            builder_.getInt32(uint32_t(std::abs(left.constant)) * each_byte & places), right_bytes);
    }
    Value* result = negative ? builder_.CreateSub(positive, negative) : positive;
    root.replaceAllUsesWith(result);
    RecursivelyDeleteTriviallyDeadInstructions(&root);
  }

  Value* bytes(const ByteFactor& factor, uint32_t places) {
    Value* value = factor.word;
    if (factor.shift)
      value = builder_.CreateLShr(value, factor.shift);
    uint32_t mask = (factor.mask * each_byte) & places;
    return mask == ~0u ? value : builder_.CreateAnd(value, mask);
  }

  Function& thread_;
  IRBuilder<> builder_;
  Type* i32_;
};

} // namespace

void match_dot_products(Function& thread) { DotProductMatcher(thread).run(); }

} // namespace bessemer::metal::cpu

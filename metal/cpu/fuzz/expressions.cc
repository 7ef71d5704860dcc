// The generator's expressions.
#include "metal/cpu/fuzz/builder.h"
#include "metal/cpu/fuzz/generator.h"

namespace bessemer::metal::cpu::fuzz {
namespace {

constexpr const char* kNames[] = {"bool", "char", "uchar", "short", "ushort", "int",
                                  "uint", "long", "ulong", "half",  "bfloat", "float"};

std::string number(uint64_t value) { return std::to_string(value); }

} // namespace

std::string Type::name() const {
  std::string name = kNames[static_cast<size_t>(scalar)];
  if (width == 1)
    return name;
  // There is no short name for these.
  return scalar == Scalar::BFloat ? "vec<bfloat, " + number(width) + ">" : name + number(width);
}

bool Type::is_signed() const {
  return scalar == Scalar::Char || scalar == Scalar::Short || scalar == Scalar::Int ||
         scalar == Scalar::Long || is_float();
}

unsigned Type::bits() const {
  switch (scalar) {
  case Scalar::Bool:
    return 1;
  case Scalar::Char:
  case Scalar::UChar:
    return 8;
  case Scalar::Long:
  case Scalar::ULong:
    return 64;
  case Scalar::Int:
  case Scalar::UInt:
  case Scalar::Float:
    return 32;
  default:
    return 16;
  }
}

std::string Type::wrapping() const {
  return Type{bits() == 64 ? Scalar::ULong : Scalar::UInt, width}.name();
}

Type Builder::integer_type() {
  static const std::vector<Scalar> choices = {
      Scalar::UInt, Scalar::UInt,  Scalar::UInt,   Scalar::Int,   Scalar::Int,  Scalar::Int,
      Scalar::Char, Scalar::UChar, Scalar::UShort, Scalar::Short, Scalar::Long, Scalar::ULong};
  return {random_.of(choices), 1};
}

Type Builder::real_type() {
  static const std::vector<Scalar> choices = {Scalar::Float, Scalar::Float, Scalar::Float,
                                              Scalar::Half,  Scalar::Half,  Scalar::BFloat};
  return {random_.of(choices), 1};
}

Type Builder::any_type() {
  Type type = random_.one_in(3)    ? real_type()
              : random_.one_in(12) ? Type{Scalar::Bool, 1}
                                   : integer_type();
  if (type.scalar != Scalar::Bool && random_.one_in(4))
    type.width = 2 + random_.below(3);
  return type;
}

Expression Builder::value(Type type, unsigned depth, bool uniform) {
  if (depth == 0 || random_.one_in(6))
    return leaf(type, uniform);
  if (type.width > 1)
    return vector(type, depth, uniform);
  if (type.scalar == Scalar::Bool)
    return boolean(depth, uniform);
  if (!uniform && random_.one_in(10))
    return call(type, depth - 1);
  if (!uniform && cross_lane_ && type.bits() <= 32 && random_.one_in(7))
    return cross_lane(type, depth - 1);
  if (type.is_float())
    return program_.fast_math ? exact_real(type, depth, uniform) : real(type, depth, uniform);
  return integer(type, depth, uniform);
}

Expression Builder::literal(Type type) {
  const std::string name = type.name();
  if (type.scalar == Scalar::Bool)
    return {random_.one_in(2) ? "true" : "false", name, {}};
  if (type.is_float()) {
    if (program_.fast_math)
      return {name + "(" + number(random_.below(16)) + ")", name, {}};
    static const std::vector<std::string> numbers = {"0.0f",  "1.0f",   "-1.0f", "0.5f",  "3.0f",
                                                     "-2.5f", "0.125f", "7.0f",  "100.0f"};
    return {name + "(" + random_.of(numbers) + ")", name, {}};
  }
  uint64_t bits = 0;
  switch (random_.below(4)) {
  case 0:
    bits = random_.bits();
    break;
  case 1:
    bits = uint64_t{1} << random_.below(type.bits());
    break;
  default:
    bits = random_.below(20);
  }
  if (type.bits() < 64)
    bits &= (uint64_t{1} << type.bits()) - 1;
  return {name + "(" + number(bits) + (type.bits() == 64 ? "ul" : "u") + ")", name, {}};
}

Expression Builder::leaf(Type type, bool uniform) {
  const std::string name = type.name();
  std::vector<const Variable*> same, others;
  for (const Variable& variable : variables_) {
    if (uniform && !variable.uniform)
      continue;
    if (variable.type == type)
      same.push_back(&variable);
    else if (variable.type.is_integer() && variable.type.width == 1)
      others.push_back(&variable);
  }
  if (!same.empty() && !random_.one_in(4))
    return {random_.of(same)->name, name, {}};
  if (!others.empty() && !random_.one_in(4)) {
    Expression from = {random_.of(others)->name, "", {}};
    if (type.scalar == Scalar::Bool)
      return {"(($0 & 1) != 0)", name, {from}};
    if (type.is_float())
      return {name + "(int($0 & 15))", name, {from}};
    return {name + "($0)", name, {from}};
  }
  if (type.width == 1 && type.scalar != Scalar::Bool && random_.one_in(2))
    return load(type, 0, uniform);
  return literal(type);
}

Expression Builder::index(unsigned depth, bool uniform) {
  if (uniform || random_.one_in(3))
    return {"($0 & 4095u)", "uint", {value({Scalar::UInt, 1}, depth, uniform)}};
  const std::string small = number(random_.below(900)), step = number(1 + random_.below(3));
  const std::string divisor = number(1 + random_.below(40));
  static const std::vector<std::string> forms = {
      "(gid + %s)",
      "(gid * %k + %s)",
      "(4095u - gid)",
      "(gid ^ %s)",
      "(gid << 1 | 1u)",
      "(gid / %d)",
      "(gid % %d)",
      "(lid / %d * 3u)",
      "((gid * 2654435761u) >> 20)",
      "((gid + p.big) & 4095u)",
      "((gid * %d - 1u) & 4095u)",
      "(gid - p.big * %k & 1023u)",
      "uint(uchar(lid * %k + 250u))",
      "uint(ushort(lid * 40000u + %s) >> 4)",
      "(128 + char(lid * %d + 100u))",
      "(2048 + (short(lid * 3000u) >> 4))",
      "abs(int(gid) - %s)",
      "(int(lid) - %s & 4095)",
      "ulong(gid * %k + %s)",
      "(ulong(lid) * %k + ulong(gid))",
      "((gid + p.big) * 4u >> 20)",
      "(long(int(lid) - 7) + 7)",
  };
  std::string form = random_.of(forms);
  for (size_t at; (at = form.find("%s")) != form.npos;)
    form.replace(at, 2, small);
  for (size_t at; (at = form.find("%k")) != form.npos;)
    form.replace(at, 2, step + "u");
  for (size_t at; (at = form.find("%d")) != form.npos;)
    form.replace(at, 2, divisor + "u");
  return {form, "", {}};
}

Expression Builder::load(Type type, unsigned depth, bool uniform) {
  const std::string name = type.name();
  auto whole = [&](const std::string& form, std::vector<Expression> operands) -> Expression {
    if (type.is_float())
      return {name + "(int(" + form + " & 15))", name, std::move(operands)};
    return {name + "(" + form + ")", name, std::move(operands)};
  };
  if (!uniform && !arrays_.empty() && random_.one_in(3)) {
    for (const Array& array : arrays_)
      if (array.type == type)
        return {array.name + "[$0 & " + number(array.size - 1) + "u]",
                name,
                {value({Scalar::UInt, 1}, depth)}};
  }
  if (place_.kernel && !uniform && random_.one_in(2)) {
    if (place_.shared == Place::Shared::ReadAny && random_.one_in(2)) {
      if (type.scalar == Scalar::Float)
        return {"shared_f[$0 % threads].y", name, {value({Scalar::UInt, 1}, depth)}};
      return whole("shared_u[$0 % (2u * threads)]", {value({Scalar::UInt, 1}, depth)});
    }
    const std::string word =
        rows_ ? "state[gid * 8u + ($0 & 7u)]" : "state[($0 & 7u) * total + gid]";
    switch (random_.below(7)) {
    case 0:
      return whole(word, {value({Scalar::UInt, 1}, depth)});
    case 1:
      // Neighbouring lanes on both sides of where an index wraps.
      return whole("(p.big + gid < 4096u ? in_u[p.big + gid] : 3u)", {});
    case 2:
      return whole("(gid - 7u < 4000u ? in_u[gid - 7u] : 3u)", {});
    case 3:
      return whole("(int(gid) - 16 >= 0 ? in_s[int(gid) - 16] : short(1))", {});
    case 4:
      return whole("(in_u + 1024)[int(lid) - 1000]", {});
    case 5:
      return whole("($1 ? in_u : in_u + 64)[$0 & 1023u]",
                   {value({Scalar::UInt, 1}, depth), boolean(depth, false)});
    default:
      break;
    }
  }
  Expression at = index(depth, uniform);
  if (!place_.kernel)
    return whole("in_u[$0]", {at});
  if (type.scalar == Scalar::Float)
    return {"in_f[$0]", name, {at}};
  if (type.scalar == Scalar::Half)
    return {"in_h[$0]", name, {at}};
  if (type.scalar == Scalar::BFloat)
    return {"bfloat(in_f[$0])", name, {at}};
  switch (type.bits()) {
  case 8:
    return whole("in_b[$0]", {at});
  case 16:
    return whole("in_s[$0]", {at});
  case 64:
    return whole("in_l[$0]", {at});
  default:
    return whole("in_u[$0]", {at});
  }
}

Expression Builder::call(Type type, unsigned depth) {
  for (const auto& [name, result] : functions_) {
    if (!place_.kernel || result != type || place_.trips > 8 || !random_.one_in(2))
      continue;
    std::vector<const Variable*> words;
    for (const Variable& variable : variables_)
      if (variable.assignable && !variable.uniform && variable.type == Type{Scalar::UInt, 1})
        words.push_back(&variable);
    if (!words.empty())
      return {name + "($0, $1, " + random_.of(words)->name + ", in_u, p, gid, lid)",
              type.name(),
              {value({Scalar::UInt, 1}, depth), value(type, depth)}};
  }
  return value(type, depth);
}

Expression Builder::arithmetic(Type type, unsigned depth, bool uniform) {
  const std::string name = type.name(), wide = type.wrapping();
  auto sub = [&] { return value(type, depth - 1, uniform); };
  // What a shift or a divisor may be, in the type itself.
  const std::string shift = "$1 & " + name + "(" + number(type.bits() - 1) + ")";
  const std::string shifted = "(" + shift + ")";
  const std::string u = wide + "($0)", v = wide + "($1)";
  switch (random_.below(10)) {
  case 0:
    return {name + "(" + u + " + " + v + ")", name, {sub(), sub()}};
  case 1:
    return {name + "(" + u + " - " + v + ")", name, {sub(), sub()}};
  case 2:
    return {name + "(" + u + " * " + v + ")", name, {sub(), sub()}};
  case 3:
    return {name + "($0 & $1)", name, {sub(), sub()}};
  case 4:
    return {name + "($0 | $1)", name, {sub(), sub()}};
  case 5:
    return {name + "($0 ^ $1)", name, {sub(), sub()}};
  case 6:
    return {name + "(" + u + " << " + wide + shifted + ")", name, {sub(), sub()}};
  case 7:
    return {name + "($0 >> " + shifted + ")", name, {sub(), sub()}};
  case 8:
    return {(random_.one_in(2) ? "min($0, $1)" : "max($0, $1)"), name, {sub(), sub()}};
  default:
    if (type.is_signed()) // never by zero or by -1
      return {name + (random_.one_in(2) ? "($0 / " : "($0 % ") + name + "(($1 & " + name +
                  "(7)) + " + name + "(1)))",
              name,
              {sub(), sub()}};
    return {name + (random_.one_in(2) ? "($0 / " : "($0 % ") + name + "($1 | " + name + "(1)))",
            name,
            {sub(), sub()}};
  }
}

Expression Builder::integer(Type type, unsigned depth, bool uniform) {
  const std::string name = type.name();
  auto sub = [&] { return value(type, depth - 1, uniform); };
  switch (random_.below(18)) {
  case 0: {
    static const std::vector<std::string> unary = {"popcount($0)", "clz($0)", "ctz($0)",
                                                   "reverse_bits($0)"};
    return {name + "(" + random_.of(unary) + ")", name, {sub()}};
  }
  case 1: {
    static const std::vector<std::string> binary = {"mulhi($0, $1)",  "addsat($0, $1)",
                                                    "subsat($0, $1)", "hadd($0, $1)",
                                                    "rhadd($0, $1)",  "rotate($0, $1)"};
    return {name + "(" + random_.of(binary) + ")", name, {sub(), sub()}};
  }
  case 2:
    return {"($0 ? $1 : $2)", name, {boolean(depth - 1, uniform), sub(), sub()}};
  case 3: {
    Type from = integer_type();
    return {name + "($0)", name, {value(from, depth - 1, uniform)}};
  }
  case 4: {
    Type from = real_type();
    if (type.bits() == 64) // only 32 bits saturate
      return {name + "(int($0))", name, {value(from, depth - 1, uniform)}};
    return {name + "($0)", name, {value(from, depth - 1, uniform)}};
  }
  case 5: {
    // A vector's element, by a constant or by an index.
    Type from{type.scalar, 2 + random_.below(3)};
    if (random_.one_in(2))
      return {std::string("$0.") + "xyzw" [random_.below(from.width)], name, {
                value(from, depth - 1, uniform)
              }};
    return {from.name() + "($0)[$1 & " +
                (from.width == 2   ? "1u"
                 : from.width == 3 ? "1u"
                                   : "3u") +
                "]",
            name,
            {value(from, depth - 1, uniform), value({Scalar::UInt, 1}, depth - 1, uniform)}};
  }
  case 6:
    if (type.bits() == 32)
      return {name + "(as_type<uint>($0))",
              name,
              {value({random_.one_in(2) ? Scalar::UChar : Scalar::Char, 4}, depth - 1, uniform)}};
    if (type.bits() == 64)
      return {name + "(as_type<ulong>($0))", name, {value({Scalar::UInt, 2}, depth - 1, uniform)}};
    return {
        name + "(as_type<ushort2>($0).y)", name, {value({Scalar::UInt, 1}, depth - 1, uniform)}};
  case 7:
  case 8:
  case 9:
    return load(type, depth - 1, uniform);
  case 10:
    if (type.bits() == 32)
      return {name + "(extract_bits($0, $1 & 15u, $2 & 15u))",
              name,
              {sub(), value({Scalar::UInt, 1}, depth - 1, uniform),
               value({Scalar::UInt, 1}, depth - 1, uniform)}};
    [[fallthrough]];
  default:
    return arithmetic(type, depth, uniform);
  }
}

// Whole numbers from 0 to 15; each operation's exact result comes back to that range.
Expression Builder::exact_real(Type type, unsigned depth, bool uniform) {
  const std::string name = type.name();
  auto sub = [&] { return value(type, depth - 1, uniform); };
  static const std::vector<std::string> forms = {"$0 + $1",
                                                 "$0 - $1",
                                                 "$0 * $1",
                                                 "$0 * $1 + $2",
                                                 "$2 - $0 * $1",
                                                 "fma($0, $1, $2)",
                                                 "floor($0 * %(0.5f) + $1)",
                                                 "max($0, $1)",
                                                 "min($0, $2)",
                                                 "$0 / %(4.0f)",
                                                 "$0 < $1 ? $1 * $2 : $0",
                                                 "($0 + $1) + ($0 + $2)",
                                                 "abs($0 - $2)",
                                                 "clamp($0, %(2), %(9))"};
  switch (random_.below(8)) {
  case 0:
    return load(type, depth - 1, uniform);
  case 1:
    return {"($0 ? $1 : $2)", name, {boolean(depth - 1, uniform), sub(), sub()}};
  case 2: {
    Type from = real_type();
    return {name + "(float($0))", name, {value(from, depth - 1, uniform)}};
  }
  case 3:
    return {name + "(int($0 & " + integer_type().name() + "(15)))",
            name,
            {value(integer_type(), depth - 1, uniform)}};
  default: {
    std::string form = random_.of(forms);
    for (size_t at; (at = form.find('%')) != form.npos;)
      form.replace(at, 1, name);
    return {name + "(int(" + form + ") & 15)", name, {sub(), sub(), sub()}};
  }
  }
}

Expression Builder::real(Type type, unsigned depth, bool uniform) {
  const std::string name = type.name();
  auto sub = [&] { return value(type, depth - 1, uniform); };
  static const std::vector<std::string> forms = {
      "$0 + $1", "$0 - $1", "$0 * $1", "$0 / $1", "-$0", "plain_multiply($0, $1) + $2"};
  static const std::vector<std::string> calls = {"floor($0)", "ceil($0)", "trunc($0)", "rint($0)",
                                                 "fabs($0)",  "sqrt($0)", "round($0)"};
  switch (random_.below(11)) {
  case 0:
  case 1:
    return load(type, depth - 1, uniform);
  case 2:
    return {"($0 ? $1 : $2)", name, {boolean(depth - 1, uniform), sub(), sub()}};
  case 3: {
    Type from = real_type();
    return {name + "(float($0))", name, {value(from, depth - 1, uniform)}};
  }
  case 4:
    return {name + "($0)",
            name,
            {value({random_.one_in(2) ? Scalar::Int : Scalar::UShort, 1}, depth - 1, uniform)}};
  case 5:
    if (type.scalar != Scalar::BFloat)
      return {name + "(" + random_.of(calls) + ")", name, {sub()}};
    return {"($0 < $1 ? $1 : $0)", name, {sub(), sub()}};
  case 6:
    if (type.scalar == Scalar::Float)
      return {"fma($0, $1, $2)", name, {sub(), sub(), sub()}};
    return {"($0 < $1 ? $0 : $1)", name, {sub(), sub()}};
  case 7:
    // Zeros of one sign only, since either may be the larger.
    return {random_.one_in(2) ? "fmax($0 + " + name + "(0), $1 + " + name + "(0))"
                              : "fmin($0 + " + name + "(0), $1 + " + name + "(0))",
            name,
            {sub(), sub()}};
  case 8:
    if (type.scalar == Scalar::Float)
      return {
          "as_type<float>($0 & 0x4fffffffu)", name, {value({Scalar::UInt, 1}, depth - 1, uniform)}};
    [[fallthrough]];
  default:
    return {name + "(" + random_.of(forms) + ")", name, {sub(), sub(), sub()}};
  }
}

Expression Builder::boolean(unsigned depth, bool uniform) {
  if (depth == 0 && !uniform) {
    static const std::vector<std::string> forms = {
        "(lid & %u) != 0",       "lid < %u",
        "gid % %u == 1",         "(gid & %u) < 3",
        "(in_u[gid] & %u) == 0", "in_u[gid & ~31u] > %uu << 27"};
    std::string form = random_.of(forms);
    form.replace(form.find("%u"), 2, number(1 + random_.below(31)));
    return {"(" + form + ")", "bool", {}};
  }
  if (depth == 0)
    return leaf({Scalar::Bool, 1}, uniform);
  static const std::vector<std::string> compares = {"==", "!=", "<", "<=", ">", ">="};
  const std::string compare = "($0 " + random_.of(compares) + " $1)";
  auto sub = [&] { return boolean(depth - 1, uniform); };
  switch (random_.below(9)) {
  case 0:
    return {"(!$0)", "bool", {sub()}};
  case 1:
    return {"($0 && $1)", "bool", {sub(), sub()}};
  case 2:
    return {"($0 || $1)", "bool", {sub(), sub()}};
  case 3: {
    Type type = real_type();
    return {compare, "bool", {value(type, depth - 1, uniform), value(type, depth - 1, uniform)}};
  }
  case 4: {
    Type type{integer_type().scalar, 2 + random_.below(3)};
    return {(random_.one_in(2) ? "any" : "all") + compare,
            "bool",
            {value(type, depth - 1, uniform), value(type, depth - 1, uniform)}};
  }
  case 5:
    if (cross_lane_ && !uniform) {
      static const std::vector<std::string> votes = {"simd_any($0)", "simd_all($0)",
                                                     "simd_is_first()", "quad_any($0)"};
      return {random_.of(votes), "bool", {sub()}};
    }
    [[fallthrough]];
  case 6:
    return {"(($0 & 3u) == 1u)", "bool", {value({Scalar::UInt, 1}, depth - 1, uniform)}};
  default: {
    Type type = integer_type();
    return {compare, "bool", {value(type, depth - 1, uniform), value(type, depth - 1, uniform)}};
  }
  }
}

Expression Builder::vector(Type type, unsigned depth, bool uniform) {
  const std::string name = type.name();
  const Type element = type.element();
  auto sub = [&] { return value(type, depth - 1, uniform); };
  auto parts = [&] {
    Expression result{name + "($0", name, {value(element, depth - 1, uniform)}};
    for (unsigned i = 1; i < type.width; ++i) {
      result.form += ", $" + number(i);
      result.operands.push_back(value(element, depth - 1, uniform));
    }
    result.form += ")";
    return result;
  };
  switch (random_.below(6)) {
  case 0:
    return parts();
  case 1:
    return {name + "($0)", name, {value(element, depth - 1, uniform)}};
  case 2: {
    Type from{type.scalar, 2 + random_.below(3)};
    std::string swizzle;
    for (unsigned i = 0; i < type.width; ++i)
      swizzle += "xyzw"[random_.below(from.width)];
    return {from.name() + "($0)." + swizzle, name, {value(from, depth - 1, uniform)}};
  }
  case 3:
    if (type.is_integer()) {
      Type from{integer_type().scalar, type.width};
      return {name + "($0)", name, {value(from, depth - 1, uniform)}};
    }
    return {"($0 ? $1 : $2)", name, {boolean(depth - 1, uniform), sub(), sub()}};
  default:
    if (type.is_integer())
      return arithmetic(type, depth, uniform);
    if (program_.fast_math)
      return parts();
    if (type.scalar == Scalar::BFloat)
      return sub();
    return {random_.one_in(2) ? "($0 + $1)" : "($0 * $1)", name, {sub(), sub()}};
  }
}

Expression Builder::cross_lane(Type type, unsigned depth) {
  const std::string name = type.name();
  if (type.scalar == Scalar::Bool)
    return boolean(depth + 1, false);
  auto word = [&] { return value({Scalar::UInt, 1}, depth); };
  const std::string number5 = number(random_.below(32)), number2 = number(1 + random_.below(3));
  switch (random_.below(type.is_float() ? 6 : 9)) {
  case 0:
    return {"shuffle_or($0, $1 & 31u, $2)", name, {value(type, depth), word(), value(type, depth)}};
  case 1:
    return {
        "shuffle_xor_or($0, " + number5 + "u, $1)", name, {value(type, depth), value(type, depth)}};
  case 2:
    return {"shuffle_up_or($0, " + number(random_.below(5) * random_.below(9)) + "u, $1)",
            name,
            {value(type, depth), value(type, depth)}};
  case 3:
    return {"shuffle_down_or($0, " + number(random_.below(5) * random_.below(9)) + "u, $1)",
            name,
            {value(type, depth), value(type, depth)}};
  case 4: {
    static const std::vector<std::string> forms = {"rotate_or($0, %u, $1)", "fill_or($0, %u, $1)",
                                                   "broadcast_or($0, %u, $1)",
                                                   "quad_xor_or($0, %u & 3u, $1)"};
    std::string form = random_.of(forms);
    form.replace(form.find('%'), 1, number5);
    return {form, name, {value(type, depth), value(type, depth)}};
  }
  case 5:
    return {"simd_broadcast_first($0)", name, {value(type, depth)}};
  case 6: {
    static const std::vector<std::string> forms = {"simd_sum($0)",
                                                   "simd_product($0)",
                                                   "simd_min($0)",
                                                   "simd_max($0)",
                                                   "simd_and($0)",
                                                   "simd_or($0)",
                                                   "simd_xor($0)",
                                                   "simd_prefix_inclusive_sum($0)",
                                                   "simd_prefix_exclusive_sum($0)",
                                                   "simd_prefix_inclusive_product($0)",
                                                   "simd_prefix_exclusive_product($0)"};
    return {random_.of(forms), name, {value(type, depth)}};
  }
  case 7: {
    static const std::vector<std::string> forms = {"quad_sum($0)",
                                                   "quad_min($0)",
                                                   "quad_max($0)",
                                                   "quad_and($0)",
                                                   "quad_or($0)",
                                                   "quad_xor($0)",
                                                   "quad_prefix_inclusive_sum($0)"};
    return {random_.of(forms), name, {value(type, depth)}};
  }
  default:
    return {name + (random_.one_in(3) ? "(active_lanes())" : "(ballot($0))"),
            name,
            {boolean(depth, false)}};
  }
}

} // namespace bessemer::metal::cpu::fuzz

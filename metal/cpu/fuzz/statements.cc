// The generator's statements, and the whole of a program.
#include "metal/cpu/fuzz/builder.h"
#include "metal/cpu/fuzz/generator.h"

#include <algorithm>

namespace bessemer::metal::cpu::fuzz {
namespace {

std::string number(uint64_t value) { return std::to_string(value); }

void append(Block& block, Block more) {
  block.insert(block.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

constexpr unsigned kMaxDepth = 5;
constexpr unsigned kMaxTrips = 64;

constexpr const char kPrelude[] = R"(#include <metal_stdlib>
using namespace metal;

struct Pair { int a; float4 b; ushort2 c; char d; ulong e; };
struct Params { uint n; int i; uint big; float f; uint4 v; ushort s; half h; };

// Lanes that are not active have no value to give: those that ask for it get `other`.
uint active_lanes() { return uint(ulong(simd_active_threads_mask())); }
uint ballot(bool b) { return uint(ulong(simd_ballot(b))); }
uint own_lane() { return __metal_get_thread_index_in_simdgroup(ushort()); }
bool is_active(uint mask, uint lane) { return lane < 32u && (mask >> (lane & 31u) & 1u) != 0; }
template <class T> T shuffle_or(T x, uint from, T other) {
  uint mask = active_lanes();
  T y = simd_shuffle(x, ushort(from));
  return is_active(mask, from) ? y : other;
}
template <class T> T broadcast_or(T x, uint from, T other) {
  uint mask = active_lanes();
  T y = simd_broadcast(x, ushort(from));
  return is_active(mask, from) ? y : other;
}
template <class T> T shuffle_xor_or(T x, uint bits, T other) {
  uint mask = active_lanes();
  T y = simd_shuffle_xor(x, ushort(bits));
  return is_active(mask, own_lane() ^ bits) ? y : other;
}
template <class T> T shuffle_up_or(T x, uint delta, T other) {
  uint mask = active_lanes();
  T y = simd_shuffle_up(x, ushort(delta));
  return is_active(mask, own_lane() - delta) ? y : other;
}
template <class T> T shuffle_down_or(T x, uint delta, T other) {
  uint mask = active_lanes();
  T y = simd_shuffle_down(x, ushort(delta));
  return is_active(mask, own_lane() + delta) ? y : other;
}
template <class T> T rotate_or(T x, uint delta, T other) {
  uint mask = active_lanes();
  T y = simd_shuffle_rotate_down(x, ushort(delta));
  return is_active(mask, (own_lane() + delta) & 31u) ? y : other;
}
template <class T> T fill_or(T x, uint delta, T other) {
  uint mask = active_lanes();
  T y = simd_shuffle_and_fill_up(x, other, ushort(delta));
  return mask == 0xffffffffu ? y : other;
}
template <class T> T quad_xor_or(T x, uint bits, T other) {
  uint mask = active_lanes();
  T y = quad_shuffle_xor(x, ushort(bits));
  return is_active(mask, own_lane() ^ bits) ? y : other;
}
// A product that is rounded before it is added to something.
template <class T> T plain_multiply(T a, T b) { return a * b; }

)";

const std::vector<std::array<uint32_t, 3>> kThreads = {
    {32, 1, 1},  {64, 1, 1},  {128, 1, 1}, {256, 1, 1}, {8, 8, 1}, {16, 2, 1}, {4, 4, 4},
    {16, 16, 1}, {7, 1, 1},   {33, 1, 1},  {20, 3, 1},  {5, 5, 2}, {1, 1, 1},  {96, 1, 1},
    {48, 1, 1},  {100, 1, 1}, {24, 4, 1},  {2, 32, 1},  {8, 4, 1}, {1, 64, 1}};

} // namespace

const Variable* Builder::assignable(bool uniform_place) {
  std::vector<const Variable*> choices;
  for (const Variable& variable : variables_)
    if (variable.assignable && (!variable.uniform || uniform_place))
      choices.push_back(&variable);
  return choices.empty() ? nullptr : random_.of(choices);
}

Block Builder::block(unsigned count, Place place) {
  Block result;
  const size_t variables = variables_.size();
  ++place.depth;
  for (unsigned i = 0; i < count && budget_ > 0; ++i) {
    --budget_;
    result.push_back(statement(place));
  }
  variables_.erase(variables_.begin() + static_cast<ptrdiff_t>(variables), variables_.end());
  place_ = place;
  return result;
}

Statement Builder::statement(Place& place) {
  place_ = place;
  const bool nests = place.depth < kMaxDepth && budget_ > 1;
  switch (random_.below(16)) {
  case 0:
  case 1:
    if (nests)
      return branch(place);
    break;
  case 2:
  case 3:
    if (nests && place.trips < kMaxTrips)
      return loop(place);
    break;
  case 4:
    if (nests)
      return choose(place);
    break;
  case 5:
  case 6:
    if (place.barriers && place.uniform && place.shared == Place::Shared::None && place.depth < 4)
      return random_.one_in(4) ? count_together(place) : exchange(place);
    break;
  case 7:
  case 8:
    return memory(place);
  case 9:
    if (place.loop != Place::Loop::None || place.may_return)
      return leave(place);
    break;
  case 10:
    if (place.trips <= 16)
      return walk(place);
    break;
  case 11:
    if (place.kernel && pairs_)
      return record(place);
    break;
  case 12:
    return declaration(place);
  default:
    break;
  }
  return assignment(place);
}

Statement Builder::declaration(const Place& place) {
  (void)place;
  const Type type = any_type();
  Expression initial = value(type, 2);
  const std::string name = fresh("t");
  variables_.push_back({name, type});
  return {type.name() + " " + name + " = $0;", {std::move(initial)}, {}};
}

Statement Builder::assignment(const Place& place) {
  const Variable* variable = assignable(place.uniform);
  if (!variable)
    return declaration(place);
  const Type type = variable->type;
  const std::string name = variable->name;
  const bool uniform = variable->uniform;
  if (type.width > 1 && random_.one_in(3)) {
    const std::string at = random_.one_in(3) && !uniform && type.scalar != Scalar::BFloat
                               ? "[$1 & 1u]"
                               : std::string(".") + "xyzw"[random_.below(type.width)];
    return {name + at + " = $0;",
            {value(type.element(), 2, uniform), value({Scalar::UInt, 1}, 1, uniform)},
            {}};
  }
  if (type.is_integer() && type.width == 1 && random_.one_in(3)) {
    static const std::vector<std::string> operators = {"^", "|", "&"};
    return {name + " " + random_.of(operators) + "= $0;", {value(type, 2, uniform)}, {}};
  }
  return {
      name + " = $0;", {value(type, 1 + random_.below(random_.one_in(3) ? 3 : 2), uniform)}, {}};
}

Statement Builder::branch(const Place& place) {
  Place inside = place;
  const bool uniform = place.uniform && random_.one_in(2);
  inside.uniform = uniform;
  Expression condition = boolean(1 + random_.below(2), uniform);
  const bool both = random_.one_in(2);
  Statement result{both ? "if ($0) {#0} else {#1}" : "if ($0) {#0}", {std::move(condition)}, {}};
  result.blocks.push_back(block(1 + random_.below(4), inside));
  if (both)
    result.blocks.push_back(block(1 + random_.below(3), inside));
  result.may_dissolve = true;
  return result;
}

Statement Builder::loop(const Place& place) {
  Place inside = place;
  const bool uniform = place.uniform && !random_.one_in(3);
  inside.uniform = uniform;
  inside.loop = uniform ? Place::Loop::Uniform : Place::Loop::Divergent;
  inside.in_switch = false;
  const unsigned most = std::min(1 + random_.below(9), kMaxTrips / place.trips);
  inside.trips = place.trips * most;
  if (inside.trips > 16 && inside.barriers)
    inside.barriers = inside.may_return = false;
  const std::string counter = fresh("i");
  const size_t variables = variables_.size();
  variables_.push_back(
      {counter, {random_.one_in(2) ? Scalar::Int : Scalar::UInt, 1}, uniform, false});
  const std::string type = variables_.back().type.name();
  Statement result;
  result.may_dissolve = false;
  auto bound = [&](bool varies) {
    if (!varies)
      return number(most);
    result.expressions.push_back(value({Scalar::UInt, 1}, 2, uniform));
    return type + "($0 % " + number(most + 1) + "u)";
  };
  auto condition = [&]() -> std::string {
    result.expressions.push_back(boolean(1 + random_.below(2), uniform));
    return "$" + number(result.expressions.size() - 1);
  };
  switch (random_.below(6)) {
  case 0: {
    const std::string end = bound(true);
    result.form = "for (" + type + " " + counter + " = 0, end" + counter + " = " + end + "; " +
                  counter + " < end" + counter + "; ++" + counter + ") {#0}";
    break;
  }
  case 1:
    // The bound may be another in each iteration.
    result.form = "for (" + type + " " + counter + " = 0; " + counter + " < " + bound(true) +
                  "; ++" + counter + ") {#0}";
    break;
  case 2: {
    const std::string start = type == "int" ? number(most) : number(most) + "u";
    result.form = "for (" + type + " " + counter + " = " + start + "; " + counter + " > 0; --" +
                  counter + ") {#0}";
    break;
  }
  case 3:
    result.form = "{ " + type + " " + counter + " = 0;\nwhile (" + counter + " < " + number(most) +
                  " && " + condition() + ") { ++" + counter + ";#0}\n}";
    break;
  case 4:
    result.form = "{ " + type + " " + counter + " = 0;\ndo { ++" + counter + ";#0} while (" +
                  counter + " < " + number(most) + " && " + condition() + ");\n}";
    break;
  default:
    result.form = "for (" + type + " " + counter + " = 0; " + counter + " < " + bound(false) +
                  "; ++" + counter + ") {#0}";
  }
  result.blocks.push_back(block(1 + random_.below(5), inside));
  variables_.erase(variables_.begin() + static_cast<ptrdiff_t>(variables), variables_.end());
  return result;
}

Statement Builder::choose(const Place& place) {
  Place inside = place;
  const bool uniform = place.uniform && random_.one_in(2);
  inside.uniform = uniform;
  inside.in_switch = true;
  if (inside.barriers) // they would need all ways out of the switch to be uniform
    inside.barriers = inside.may_return = false;
  Statement result{"switch ($0 & 7) {",
                   {value({random_.one_in(2) ? Scalar::UInt : Scalar::Int, 1}, 2, uniform)},
                   {}};
  const unsigned cases = 2 + random_.below(4);
  unsigned label = random_.below(2);
  for (unsigned i = 0; i < cases && label < 8; ++i) {
    const bool last = i + 1 == cases && random_.one_in(2);
    result.form += last ? "\ndefault: {" : "\ncase " + number(label) + ": {";
    label += 1 + random_.below(3);
    result.form += "#" + number(i) + "}";
    result.blocks.push_back(block(1 + random_.below(2), inside));
    if (!random_.one_in(4))
      result.form += " break;";
  }
  result.form += "\n}";
  result.may_dissolve = true;
  return result;
}

Statement Builder::leave(const Place& place) {
  // Where all threads are together, they also leave together.
  const bool uniform = place.uniform;
  const bool may_jump =
      place.loop != Place::Loop::None && (uniform || place.loop == Place::Loop::Divergent);
  std::vector<std::string> ways;
  if (may_jump) {
    ways.push_back("continue;");
    if (!place.in_switch)
      ways.push_back("break;");
  }
  if (place.may_return && (uniform || !place.barriers))
    ways.push_back(place.kernel ? "return;" : "return $1;");
  if (ways.empty())
    return assignment(place);
  const std::string way = random_.of(ways);
  Statement result{"if ($0) " + way, {boolean(1 + random_.below(2), uniform)}, {}};
  if (way.find("$1") != way.npos) {
    for (const auto& [name, type] : functions_)
      if (type.name() == place.result) {
        result.expressions.push_back(value(type, 1));
        return result;
      }
    return assignment(place);
  }
  return result;
}

// Each thread writes its own elements of threadgroup memory, then all read any.
Statement Builder::exchange(const Place& place) {
  Place write = place, read = place;
  write.uniform = read.uniform = false;
  write.barriers = read.barriers = false;
  write.may_return = read.may_return = false;
  write.loop = read.loop = Place::Loop::None; // leaves no loop around it
  write.shared = Place::Shared::WriteOwn;
  read.shared = Place::Shared::ReadAny;
  Statement result{"threadgroup_barrier(mem_flags::mem_threadgroup);\n{#0}\n"
                   "threadgroup_barrier(mem_flags::mem_threadgroup);\n{#1}",
                   {},
                   {}};
  budget_ += 2;
  result.blocks.push_back(block(1 + random_.below(3), write));
  place_ = write;
  result.blocks.back().push_back({"shared_u[lid + ($1 & 1u) * threads] = $0;",
                                  {value({Scalar::UInt, 1}, 2), value({Scalar::UInt, 1}, 1)},
                                  {}});
  result.blocks.push_back(block(1 + random_.below(4), read));
  return result;
}

// Atomics in threadgroup memory, whose order does not matter.
Statement Builder::count_together(const Place& place) {
  Place inside = place;
  inside.uniform = inside.barriers = inside.may_return = false;
  inside.loop = Place::Loop::None;
  inside.shared = Place::Shared::Count;
  Statement result{"threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                   "if (lid < 4) atomic_store_explicit(&tally[lid], lid, memory_order_relaxed);\n"
                   "for (uint i = lid + threads; i < 4; i += threads)\n"
                   "  atomic_store_explicit(&tally[i], i, memory_order_relaxed);\n"
                   "threadgroup_barrier(mem_flags::mem_threadgroup);\n{#0}\n"
                   "threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                   "w0 += atomic_load_explicit(&tally[$0 & 3u], memory_order_relaxed);",
                   {value({Scalar::UInt, 1}, 1)},
                   {}};
  budget_ += 1;
  result.blocks.push_back(block(1 + random_.below(3), inside));
  return result;
}

Statement Builder::memory(const Place& place) {
  auto word = [&](unsigned depth) { return value({Scalar::UInt, 1}, depth); };
  const std::string state =
      rows_ ? "state[gid * 8u + ($0 & 7u)]" : "state[($0 & 7u) * total + gid]";
  if (place.kernel && place.shared == Place::Shared::WriteOwn && random_.one_in(2)) {
    if (random_.one_in(3))
      return {"shared_f[lid] = $0;", {value({Scalar::Float, 4}, 2)}, {}};
    return {"shared_u[lid + ($0 & 1u) * threads] = $1;", {word(1), word(2)}, {}};
  }
  if (place.kernel && place.shared == Place::Shared::Count && random_.one_in(2)) {
    static const std::vector<std::string> operations = {"add", "sub"};
    return {"atomic_fetch_" + random_.of(operations) +
                "_explicit(&tally[$0 & 3u], $1, memory_order_relaxed);",
            {word(1), word(2)},
            {}};
  }
  if (place.kernel) {
    // A counter has one kind of operation.
    static const std::vector<std::string> operations = {"add", "or", "and", "xor", "min", "max"};
    switch (random_.below(6)) {
    case 0: {
      const unsigned kind = random_.below(6);
      return {"atomic_fetch_" + operations[kind] + "_explicit(&counters[" + number(2 * kind) +
                  "u + ($0 & 1u)], $1, memory_order_relaxed);",
              {word(1), word(2)},
              {}};
    }
    case 1:
      return {state + " = $1;", {word(1), word(2)}, {}};
    case 2:
      return {state + " ^= $1;", {word(1), word(2)}, {}};
    case 3:
      return {"quads[gid] = $0;", {value({Scalar::Float, 4}, 2)}, {}};
    default:
      break;
    }
  }
  if (arrays_.empty())
    return assignment(place);
  const Array& array = random_.of(arrays_);
  const std::string mask = number(array.size - 1) + "u";
  switch (random_.below(4)) {
  case 0:
    if (array.type == Type{Scalar::UInt, 1})
      return {"{ thread uint* q = " + array.name + " + ($0 & " + number(array.size / 2) +
                  "u); q[$1 & " + number(array.size / 2 - 1) + "u] = $2; " + array.name +
                  "[0] += *q; }",
              {word(1), word(1), word(2)},
              {}};
    [[fallthrough]];
  case 1: {
    const std::string i = fresh("k");
    return {"for (uint " + i + " = 0; " + i + " < " + number(array.size) + "u; ++" + i + ") " +
                array.name + "[" + i + "] = $0;",
            {value(array.type, 2)},
            {}};
  }
  default:
    return {array.name + "[$0 & " + mask + "] = $1;", {word(2), value(array.type, 2)}, {}};
  }
}

// A pointer that steps through memory.
Statement Builder::walk(const Place& place) {
  const std::string q = fresh("q"), n = fresh("n");
  const unsigned most = 1 + random_.below(std::min(8u, kMaxTrips / place.trips));
  std::vector<Variable> words;
  for (const Variable& variable : variables_)
    if (variable.assignable && !variable.uniform && variable.type == Type{Scalar::UInt, 1})
      words.push_back(variable);
  if (words.empty())
    return assignment(place);
  const std::string into = random_.of(words).name;
  const std::string from = place.kernel && random_.one_in(3) ? "in_b" : "in_u";
  static const std::vector<std::string> steps = {"1", "2", "($2 & 3u)", "-1", "4"};
  const std::string step = random_.of(steps);
  return {"{ device const " + std::string(from == "in_b" ? "uchar" : "uint") + "* " + q + " = " +
              from + " + 64 + ($0 & 1023u);\nfor (uint " + n + " = 0; " + n + " < $1 % " +
              number(most + 1) + "u; ++" + n + ") { " + into + " = " + into + " * 5u + *" + q +
              "; " + q + " += " + step + "; }\n}",
          {value({Scalar::UInt, 1}, 2), value({Scalar::UInt, 1}, 1), value({Scalar::UInt, 1}, 1)},
          {}};
}

// Structs, in variables and in memory.
Statement Builder::record(const Place& place) {
  (void)place;
  auto field = [&]() -> std::pair<std::string, Type> {
    switch (random_.below(6)) {
    case 0:
      return {"a", {Scalar::Int, 1}};
    case 1:
      return {"b", {Scalar::Float, 4}};
    case 2:
      return {"c", {Scalar::UShort, 2}};
    case 3:
      return {"d", {Scalar::Char, 1}};
    case 4:
      return {"e", {Scalar::ULong, 1}};
    default:
      return {"b.z", {Scalar::Float, 1}};
    }
  };
  const auto [name, type] = field();
  switch (random_.below(7)) {
  case 0:
    return {"records[gid] = pair;", {}, {}};
  case 1:
    return {"pair = records[gid];", {}, {}};
  case 2:
    return {"{ Pair other = pair; other." + name + " = $0; pair = $1 ? other : pair; }",
            {value(type, 2), boolean(1, false)},
            {}};
  case 3:
    return {"records[gid]." + name + " = $0;", {value(type, 2)}, {}};
  case 4:
    return {"pairs[$0 & 3u]." + name + " = $1;", {value({Scalar::UInt, 1}, 1), value(type, 2)}, {}};
  case 5:
    return {"pair = pairs[$0 & 3u];", {value({Scalar::UInt, 1}, 2)}, {}};
  default:
    return {"pair." + name + " = $0;", {value(type, 2)}, {}};
  }
}

Block Builder::arrays() {
  Block result;
  for (unsigned count = random_.one_in(3) ? 1 + random_.below(2) : 0; count > 0; --count) {
    Type type = random_.one_in(3) ? any_type() : Type{Scalar::UInt, 1};
    const unsigned size = 2u << random_.below(4);
    const std::string name = fresh("array"), i = fresh("k");
    result.push_back({type.name() + " " + name + "[" + number(size) + "];\nfor (uint " + i +
                          " = 0; " + i + " < " + number(size) + "u; ++" + i + ") " + name + "[" +
                          i + "] = $0;",
                      {value(type, 1)},
                      {}});
    arrays_.push_back({name, type, size});
  }
  return result;
}

Statement Builder::function(unsigned index) {
  const Type type = random_.one_in(2)   ? Type{Scalar::UInt, 1}
                    : random_.one_in(2) ? any_type()
                                        : real_type();
  const std::string name = "f" + number(index);
  variables_ = {{"a", {Scalar::UInt, 1}},
                {"b", type},
                {"r", {Scalar::UInt, 1}},
                {"gid", {Scalar::UInt, 1}, false, false},
                {"lid", {Scalar::UInt, 1}, false, false},
                {"p.n", {Scalar::UInt, 1}, true, false}};
  arrays_.clear();
  Place place;
  place.kernel = false;
  place.uniform = false;
  place.may_return = true;
  place.result = type.name();
  place.depth = 2;
  place.trips = 8;
  place_ = place;
  // Found by the statement that returns; calls need a variable that a function cannot name.
  functions_.push_back({name, type});
  auto callable = std::move(functions_);
  functions_ = {{name, type}};
  budget_ = 2 + random_.below(5);
  Statement result{type.name() + " " + name + "(uint a, " + type.name() +
                       " b, thread uint& r, device const uint* in_u, constant Params& p, uint gid, "
                       "uint lid) {#0  return $0;\n}\n",
                   {},
                   {}};
  Block body = arrays();
  append(body, block(2 + random_.below(5), place));
  place_ = place;
  arrays_.clear();
  result.expressions.push_back(value(type, 2));
  result.blocks.push_back(std::move(body));
  functions_ = std::move(callable);
  return result;
}

// Each variable in words of the result buffers, floating point apart.
Block Builder::stores() {
  Block result;
  unsigned words = 0, reals = 0;
  // A row for each thread means a scatter for each store, which takes long to compile.
  const bool rows = rows_ && random_.one_in(8);
  auto place = [&](unsigned index, unsigned width) {
    return rows ? "[gid * " + number(width) + "u + " + number(index) + "u]"
                : "[" + number(index) + "u * total + gid]";
  };
  auto scalar = [&](const std::string& name, Type type) {
    if (reals + 1 >= kResultWords || words + 2 >= kResultWords)
      return;
    if (type.is_float()) {
      result.push_back({"fout" + place(reals++, kResultWords) + " = float(" + name + ");", {}, {}});
    } else {
      result.push_back({"out" + place(words++, kResultWords) + " = uint(" + name + ");", {}, {}});
      if (type.bits() == 64)
        result.push_back(
            {"out" + place(words++, kResultWords) + " = uint(" + name + " >> 32);", {}, {}});
    }
  };
  auto store = [&](const std::string& name, Type type) {
    if (type.width == 1)
      return scalar(name, type);
    for (unsigned i = 0; i < type.width; ++i)
      scalar(name + "." + "xyzw"[i], type.element());
  };
  for (const Variable& variable : variables_)
    if (variable.assignable)
      store(variable.name, variable.type);
  if (pairs_) {
    store("pair.a", {Scalar::Int, 1});
    store("pair.b", {Scalar::Float, 4});
    store("pair.c", {Scalar::UShort, 2});
    store("pair.d", {Scalar::Char, 1});
    store("pair.e", {Scalar::ULong, 1});
  }
  for (const Array& array : arrays_)
    for (unsigned i = 0; i < std::min(array.size, 2u); ++i)
      store(array.name + "[" + number(i) + "]", array.type);
  return result;
}

Program Builder::build(uint64_t seed) {
  program_.seed = seed;
  program_.fast_math = random_.one_in(2);
  program_.reference_unsimplified = random_.one_in(2);
  program_.threads = random_.of(kThreads);
  for (unsigned i = 0; i < 3; ++i) {
    const uint32_t size = program_.threads[i];
    const uint32_t groups = size == 1 && i > 0 ? 1 : 1 + random_.below(3);
    program_.grid[i] = size * groups;
    if (random_.one_in(3) && program_.grid[i] > 1) // not whole threadgroups
      program_.grid[i] -= random_.below(size);
  }
  while (program_.thread_count() > 1024)
    for (unsigned i = 0; i < 3; ++i)
      if (program_.grid[i] > program_.threads[i] && program_.thread_count() > 1024)
        program_.grid[i] = program_.threads[i] + (program_.grid[i] % program_.threads[i]) / 2;
  cross_lane_ = program_.cross_lane = random_.one_in(3);
  const bool barriers = random_.one_in(3);
  rows_ = random_.one_in(2);
  program_.prelude = kPrelude;

  for (unsigned count = random_.one_in(3) ? 1 + random_.below(2) : 0, i = 0; i < count; ++i)
    program_.functions.push_back(function(i));

  const bool line = program_.threads[1] == 1 && program_.threads[2] == 1 && program_.grid[1] == 1 &&
                    program_.grid[2] == 1;
  const uint32_t most = program_.threads[0] * program_.threads[1] * program_.threads[2];
  program_.head =
      "kernel void fuzz(device const uint* in_u [[buffer(0)]], device const float* in_f "
      "[[buffer(1)]],\n"
      "                 device const uchar* in_b [[buffer(2)]], device const short* in_s "
      "[[buffer(3)]],\n"
      "                 device const ulong* in_l [[buffer(4)]], device const half* in_h "
      "[[buffer(5)]],\n"
      "                 constant Params& p [[buffer(6)]], device uint* out [[buffer(7)]],\n"
      "                 device float* fout [[buffer(8)]], device uint* state [[buffer(9)]],\n"
      "                 device atomic_uint* counters [[buffer(10)]], device Pair* records "
      "[[buffer(11)]],\n"
      "                 device float4* quads [[buffer(12)]],\n" +
      std::string(line ? "                 uint gid [[thread_position_in_grid]],\n"
                         "                 uint total [[threads_per_grid]],\n"
                         "                 uint group [[threadgroup_position_in_grid]],\n"
                         "                 uint threads [[threads_per_threadgroup]],\n"
                       : "                 uint3 position [[thread_position_in_grid]],\n"
                         "                 uint3 size [[threads_per_grid]],\n"
                         "                 uint3 group3 [[threadgroup_position_in_grid]],\n"
                         "                 uint3 threads3 [[threads_per_threadgroup]],\n") +
      "                 uint lid [[thread_index_in_threadgroup]],\n"
      "                 uint lane [[thread_index_in_simdgroup]],\n"
      "                 uint simdgroup [[simdgroup_index_in_threadgroup]]) {\n";
  if (!line)
    program_.head += "  uint gid = position.x + size.x * (position.y + size.y * position.z);\n"
                     "  uint total = size.x * size.y * size.z;\n"
                     "  uint group = group3.x + 3u * group3.y + 9u * group3.z;\n"
                     "  uint threads = threads3.x * threads3.y * threads3.z;\n";
  if (barriers)
    program_.head += "  threadgroup uint shared_u[" + number(2 * most) +
                     "];\n  threadgroup float4 shared_f[" + number(most) +
                     "];\n  threadgroup atomic_uint tally[4];\n"
                     "  shared_u[lid] = gid;\n  shared_u[lid + threads] = lid;\n"
                     "  shared_f[lid] = float4(1, 2, 3, lid & 15u);\n";
  pairs_ = random_.one_in(4);
  if (pairs_)
    program_.head += "  Pair pair = records[gid];\n  Pair pairs[4] = {pair, pair, pair, pair};\n";

  const Type word{Scalar::UInt, 1};
  variables_ = {{"gid", word, false, false},
                {"lid", word, false, false},
                {"lane", word, false, false},
                {"simdgroup", word, false, false},
                {"group", word, true, false},
                {"p.n", word, true, false},
                {"p.v", {Scalar::UInt, 4}, true, false},
                {"p.i", {Scalar::Int, 1}, true, false},
                {"p.s", {Scalar::UShort, 1}, true, false},
                {"p.f", {Scalar::Float, 1}, true, false},
                {"p.h", {Scalar::Half, 1}, true, false}};
  if (!line)
    variables_.push_back({"position.y", word, false, false});
  arrays_.clear();
  Place place;
  place.barriers = barriers;
  place.may_return = !barriers || random_.one_in(3);
  place_ = place;
  budget_ = 3 + random_.below(random_.one_in(6) ? 24 : 10);
  auto declare = [&](const std::string& name, Type type, bool uniform) {
    program_.body.push_back({type.name() + " " + name + " = $0;", {value(type, 1, uniform)}, {}});
    variables_.push_back({name, type, uniform, true});
  };
  declare("w0", word, false);
  for (unsigned count = 1 + random_.below(3); count > 0; --count)
    declare(fresh("v"), any_type(), false);
  for (unsigned count = random_.below(2); count > 0; --count)
    declare(fresh("u"), integer_type(), true);
  append(program_.body, arrays());
  append(program_.body, block(3 + random_.below(8), place));
  append(program_.body, stores());
  return std::move(program_);
}

Program generate(uint64_t seed) { return Builder(seed).build(seed); }

} // namespace bessemer::metal::cpu::fuzz

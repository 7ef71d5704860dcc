// Operations on lists. Each does its work in an ordinary function: a handler that ends in a tail
// call can hold no object with a destructor.
#include "vm/interpreter/handlers.h"
#include "vm/list.h"

namespace bessemer::vm::interpreter {

namespace {

using bytecode::Op;
using bytecode::Type;

// Stores the error and answers false.
bool check(const Cell* pc, Execution* execution, Result<void> result) {
  if (result) [[likely]]
    return true;
  execution->fail(pc, std::move(result).error());
  return false;
}

List* listAt(const Cell* pc, const RawRef* refs, Execution* execution, uint16_t index) {
  RawRef ref = refs[index];
  if (ref.object && ref.type == &RefTraits<List>::type()) [[likely]]
    return static_cast<List*>(ref.object);
  execution->fail(pc, StatusCode::InvalidArgument, "expected a vm.list, got a ",
                  ref.object ? ref.type->name : "null");
  return nullptr;
}

bool alloc(const Cell* pc, const uint32_t* words, RawRef* refs, Execution*) {
  const Type& type = *static_cast<const Type*>(pc[2].pointer);
  RefPtr<List> list = List::create({type.value, type.ref}, get<uint32_t>(words, reg(pc, 0)));
  assign(refs[reg(pc, 1) & kRefIndexMask], {list.leak(), &RefTraits<List>::type()});
  return true;
}

bool reserve(const Cell* pc, const uint32_t* words, RawRef* refs, Execution* execution) {
  List* list = listAt(pc, refs, execution, reg(pc, 0));
  return list && check(pc, execution, list->reserve(get<uint32_t>(words, reg(pc, 1))));
}

bool resize(const Cell* pc, const uint32_t* words, RawRef* refs, Execution* execution) {
  List* list = listAt(pc, refs, execution, reg(pc, 0));
  return list && check(pc, execution, list->resize(get<uint32_t>(words, reg(pc, 1))));
}

bool size(const Cell* pc, uint32_t* words, RawRef* refs, Execution* execution) {
  List* list = listAt(pc, refs, execution, reg(pc, 0));
  if (list)
    set<uint32_t>(words, reg(pc, 1), list->size());
  return list != nullptr;
}

template <class T, ValueType type>
bool getNumber(const Cell* pc, uint32_t* words, RawRef* refs, Execution* execution) {
  List* list = listAt(pc, refs, execution, reg(pc, 0));
  if (!list)
    return false;
  auto value = list->getAs(get<uint32_t>(words, reg(pc, 1)), type);
  if (!value) [[unlikely]]
    return check(pc, execution, propagate(std::move(value)));
  if constexpr (type == ValueType::I32)
    set<T>(words, reg(pc, 2), value->i32());
  else if constexpr (type == ValueType::I64)
    set<T>(words, reg(pc, 2), value->i64());
  else if constexpr (type == ValueType::F32)
    set<T>(words, reg(pc, 2), value->f32());
  else
    set<T>(words, reg(pc, 2), value->f64());
  return true;
}

template <class T>
bool setNumber(const Cell* pc, const uint32_t* words, RawRef* refs, Execution* execution) {
  List* list = listAt(pc, refs, execution, reg(pc, 0));
  return list && check(pc, execution,
                       list->set(get<uint32_t>(words, reg(pc, 1)), get<T>(words, reg(pc, 2))));
}

// An element of another type reads as null.
bool getRef(const Cell* pc, const uint32_t* words, RawRef* refs, Execution* execution) {
  List* list = listAt(pc, refs, execution, reg(pc, 0));
  if (!list)
    return false;
  auto value = list->get(get<uint32_t>(words, reg(pc, 1)));
  if (!value) [[unlikely]]
    return check(pc, execution, propagate(std::move(value)));
  const Type& type = *static_cast<const Type*>(pc[2].pointer);
  RawRef found = value->rawRef();
  if (type.ref && found.type != type.ref)
    found = {};
  retain(found);
  assign(refs[reg(pc, 2) & kRefIndexMask], found);
  return true;
}

bool setRef(const Cell* pc, const uint32_t* words, RawRef* refs, Execution* execution) {
  List* list = listAt(pc, refs, execution, reg(pc, 0));
  if (!list)
    return false;
  // The list's own register may be the operand that moves: keep the list until it is done.
  auto keep = RefPtr<List>::share(list);
  return check(pc, execution,
               list->set(get<uint32_t>(words, reg(pc, 1)), Ref::adopt(take(refs, reg(pc, 2)))));
}

template <auto Do, size_t Cells>
BESSEMER_VM_HANDLER(work) {
  if (!Do(pc, words, refs, execution)) [[unlikely]]
    return Outcome::Failed;
  BESSEMER_VM_NEXT(Cells);
}

} // namespace

void addListHandlers(HandlerTable& table) {
  auto put = [&](Op op, Handler* handler) { table[static_cast<size_t>(op)] = handler; };
  put(Op::ListAlloc, work<alloc, 3>);
  put(Op::ListReserve, work<reserve, 2>);
  put(Op::ListResize, work<resize, 2>);
  put(Op::ListSize, work<size, 2>);
  put(Op::ListGetI32, work<getNumber<int32_t, ValueType::I32>, 2>);
  put(Op::ListGetI64, work<getNumber<int64_t, ValueType::I64>, 2>);
  put(Op::ListGetF32, work<getNumber<float, ValueType::F32>, 2>);
  put(Op::ListGetF64, work<getNumber<double, ValueType::F64>, 2>);
  put(Op::ListSetI32, work<setNumber<int32_t>, 2>);
  put(Op::ListSetI64, work<setNumber<int64_t>, 2>);
  put(Op::ListSetF32, work<setNumber<float>, 2>);
  put(Op::ListSetF64, work<setNumber<double>, 2>);
  put(Op::ListGetRef, work<getRef, 3>);
  put(Op::ListSetRef, work<setRef, 2>);
}

} // namespace bessemer::vm::interpreter

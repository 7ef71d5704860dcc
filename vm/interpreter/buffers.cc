// Operations on buffers. Loads, stores and fills count elements; the others count bytes.
#include <algorithm>
#include <cstring>

#include "vm/buffer.h"
#include "vm/interpreter/handlers.h"
#include "vm/interpreter/siphash.h"

namespace bessemer::vm::interpreter {

namespace {

using bytecode::Op;

Buffer* bufferOrNull(RawRef ref) {
  return ref.object && ref.type == &RefTraits<Buffer>::type() ? static_cast<Buffer*>(ref.object)
                                                              : nullptr;
}

Buffer* bufferAt(const Cell* pc, const RawRef* refs, Execution* execution, uint16_t index) {
  Buffer* buffer = bufferOrNull(refs[index]);
  if (!buffer) [[unlikely]]
    execution->fail(pc, StatusCode::InvalidArgument, "expected a vm.buffer, got a ",
                    refs[index].object ? refs[index].type->name : "null");
  return buffer;
}

bool check(const Cell* pc, Execution* execution, Result<void> result) {
  if (result) [[likely]]
    return true;
  execution->fail(pc, std::move(result).error());
  return false;
}

// Finds out what is wrong with an access to `count` elements.
[[gnu::noinline, gnu::cold]] Outcome failAccess(const Cell* pc, const RawRef* refs,
                                                Execution* execution, uint16_t index,
                                                int64_t offset, int64_t count, size_t width,
                                                bool writes) {
  Buffer* buffer = bufferAt(pc, refs, execution, index);
  if (!buffer)
    return Outcome::Failed;
  if (writes && !buffer->writable())
    return execution->fail(pc, StatusCode::PermissionDenied, "the buffer is read-only");
  return execution->fail(pc, StatusCode::OutOfRange, count, " elements of ", width,
                         " bytes at index ", offset, " are not all inside a buffer of ",
                         buffer->length(), " bytes");
}

template <class T, class Out>
BESSEMER_VM_HANDLER(load) {
  Buffer* buffer = bufferOrNull(refs[reg(pc, 0)]);
  uint64_t offset = get<uint64_t>(words, reg(pc, 1));
  if (!buffer || offset >= buffer->length() / sizeof(T)) [[unlikely]]
    return failAccess(pc, refs, execution, reg(pc, 0), static_cast<int64_t>(offset), 1, sizeof(T),
                      false);
  T value;
  std::memcpy(&value, buffer->data() + offset * sizeof(T), sizeof(T));
  set<Out>(words, reg(pc, 2), static_cast<Out>(value));
  BESSEMER_VM_NEXT(2);
}

template <class T, class In>
BESSEMER_VM_HANDLER(store) {
  Buffer* buffer = bufferOrNull(refs[reg(pc, 0)]);
  uint64_t offset = get<uint64_t>(words, reg(pc, 1));
  if (!buffer || !buffer->writable() || offset >= buffer->length() / sizeof(T)) [[unlikely]]
    return failAccess(pc, refs, execution, reg(pc, 0), static_cast<int64_t>(offset), 1, sizeof(T),
                      true);
  T value = static_cast<T>(get<In>(words, reg(pc, 2)));
  std::memcpy(buffer->mutableData() + offset * sizeof(T), &value, sizeof(T));
  BESSEMER_VM_NEXT(2);
}

template <class T>
void fillElements(Buffer* buffer, uint64_t offset, uint64_t count, T value) {
  std::byte* target = buffer->mutableData() + offset * sizeof(T);
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(target + i * sizeof(T), &value, sizeof(T));
}

template <class T, class In>
BESSEMER_VM_HANDLER(fill) {
  Buffer* buffer = bufferOrNull(refs[reg(pc, 0)]);
  uint64_t offset = get<uint64_t>(words, reg(pc, 1));
  uint64_t count = get<uint64_t>(words, reg(pc, 2));
  uint64_t elements = buffer ? buffer->length() / sizeof(T) : 0;
  if (!buffer || !buffer->writable() || offset > elements || count > elements - offset) [[unlikely]]
    return failAccess(pc, refs, execution, reg(pc, 0), static_cast<int64_t>(offset),
                      static_cast<int64_t>(count), sizeof(T), true);
  fillElements<T>(buffer, offset, count, static_cast<T>(get<In>(words, reg(pc, 3))));
  BESSEMER_VM_NEXT(2);
}

BESSEMER_VM_HANDLER(length) {
  Buffer* buffer = bufferOrNull(refs[reg(pc, 0)]);
  if (!buffer) [[unlikely]]
    return failAccess(pc, refs, execution, reg(pc, 0), 0, 0, 1, false);
  set<uint64_t>(words, reg(pc, 1), buffer->length());
  BESSEMER_VM_NEXT(2);
}

bool alloc(const Cell* pc, const uint32_t* words, RawRef* refs, Execution* execution) {
  auto buffer =
      Buffer::allocate(get<uint64_t>(words, reg(pc, 0)), get<uint32_t>(words, reg(pc, 1)));
  if (!buffer)
    return check(pc, execution, propagate(std::move(buffer)));
  assign(refs[reg(pc, 2) & kRefIndexMask], {buffer->leak(), &RefTraits<Buffer>::type()});
  return true;
}

bool clone(const Cell* pc, const uint32_t* words, RawRef* refs, Execution* execution) {
  Buffer* source = bufferAt(pc, refs, execution, reg(pc, 0));
  if (!source)
    return false;
  auto bytes = source->range(get<uint64_t>(words, reg(pc, 1)), get<uint64_t>(words, reg(pc, 2)));
  if (!bytes)
    return check(pc, execution, propagate(std::move(bytes)));
  auto buffer = Buffer::allocate(bytes->size(), get<uint32_t>(words, reg(pc, 3)));
  if (!buffer)
    return check(pc, execution, propagate(std::move(buffer)));
  std::ranges::copy(*bytes, (*buffer)->mutableData());
  assign(refs[reg(pc, 4) & kRefIndexMask], {buffer->leak(), &RefTraits<Buffer>::type()});
  return true;
}

bool copy(const Cell* pc, const uint32_t* words, RawRef* refs, Execution* execution) {
  Buffer* source = bufferAt(pc, refs, execution, reg(pc, 0));
  Buffer* target = source ? bufferAt(pc, refs, execution, reg(pc, 2)) : nullptr;
  if (!target)
    return false;
  uint64_t length = get<uint64_t>(words, reg(pc, 4));
  auto from = source->range(get<uint64_t>(words, reg(pc, 1)), length);
  if (!from)
    return check(pc, execution, std::unexpected(std::move(from.error()).prefix("source")));
  auto to = target->mutableRange(get<uint64_t>(words, reg(pc, 3)), length);
  if (!to)
    return check(pc, execution, std::unexpected(std::move(to.error()).prefix("target")));
  if (length)
    std::memmove(to->data(), from->data(), length);
  return true;
}

bool compare(const Cell* pc, uint32_t* words, RawRef* refs, Execution* execution) {
  Buffer* left = bufferAt(pc, refs, execution, reg(pc, 0));
  Buffer* right = left ? bufferAt(pc, refs, execution, reg(pc, 2)) : nullptr;
  if (!right)
    return false;
  uint64_t length = get<uint64_t>(words, reg(pc, 4));
  auto a = left->range(get<uint64_t>(words, reg(pc, 1)), length);
  if (!a)
    return check(pc, execution, std::unexpected(std::move(a.error()).prefix("left")));
  auto b = right->range(get<uint64_t>(words, reg(pc, 3)), length);
  if (!b)
    return check(pc, execution, std::unexpected(std::move(b.error()).prefix("right")));
  set<uint32_t>(words, reg(pc, 5), std::ranges::equal(*a, *b));
  return true;
}

bool hash(const Cell* pc, uint32_t* words, RawRef* refs, Execution* execution) {
  Buffer* buffer = bufferAt(pc, refs, execution, reg(pc, 0));
  if (!buffer)
    return false;
  auto bytes = buffer->range(get<uint64_t>(words, reg(pc, 1)), get<uint64_t>(words, reg(pc, 2)));
  if (!bytes)
    return check(pc, execution, propagate(std::move(bytes)));
  // Programs may compare hashes with each other, never with constants: any fixed key does.
  constexpr uint64_t kKey0 = 0x0706050403020100;
  constexpr uint64_t kKey1 = 0x0F0E0D0C0B0A0908;
  set<uint64_t>(words, reg(pc, 3), siphash24(*bytes, kKey0, kKey1));
  return true;
}

template <auto Do, size_t Cells>
BESSEMER_VM_HANDLER(work) {
  if (!Do(pc, words, refs, execution)) [[unlikely]]
    return Outcome::Failed;
  BESSEMER_VM_NEXT(Cells);
}

} // namespace

void addBufferHandlers(HandlerTable& table) {
  auto put = [&](Op op, Handler* handler) { table[static_cast<size_t>(op)] = handler; };
  put(Op::BufferLoadI8U, load<uint8_t, uint32_t>);
  put(Op::BufferLoadI8S, load<int8_t, int32_t>);
  put(Op::BufferLoadI16U, load<uint16_t, uint32_t>);
  put(Op::BufferLoadI16S, load<int16_t, int32_t>);
  put(Op::BufferLoadI32, load<uint32_t, uint32_t>);
  put(Op::BufferLoadI64, load<uint64_t, uint64_t>);
  put(Op::BufferLoadF32, load<uint32_t, uint32_t>);
  put(Op::BufferLoadF64, load<uint64_t, uint64_t>);
  put(Op::BufferStoreI8, store<uint8_t, uint32_t>);
  put(Op::BufferStoreI16, store<uint16_t, uint32_t>);
  put(Op::BufferStoreI32, store<uint32_t, uint32_t>);
  put(Op::BufferStoreI64, store<uint64_t, uint64_t>);
  put(Op::BufferStoreF32, store<uint32_t, uint32_t>);
  put(Op::BufferStoreF64, store<uint64_t, uint64_t>);
  put(Op::BufferFillI8, fill<uint8_t, uint32_t>);
  put(Op::BufferFillI16, fill<uint16_t, uint32_t>);
  put(Op::BufferFillI32, fill<uint32_t, uint32_t>);
  put(Op::BufferFillI64, fill<uint64_t, uint64_t>);
  put(Op::BufferFillF32, fill<uint32_t, uint32_t>);
  put(Op::BufferFillF64, fill<uint64_t, uint64_t>);
  put(Op::BufferLength, length);
  put(Op::BufferAlloc, work<alloc, 2>);
  put(Op::BufferClone, work<clone, 3>);
  put(Op::BufferCopy, work<copy, 3>);
  put(Op::BufferCompare, work<compare, 3>);
  put(Op::BufferHash, work<hash, 2>);
}

} // namespace bessemer::vm::interpreter

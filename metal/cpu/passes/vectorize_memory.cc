// Loads and stores: one access for all lanes where their addresses allow it, and nothing touched
// that no active lane owns.
#include "metal/cpu/passes/vectorizer.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace bessemer::metal::cpu {
namespace {

// A register of a window that is loaded whole and then taken apart costs as much as this many loads
// of single lanes: a load that mostly crosses lines, and a permute.
constexpr int window_part_cost = 3;
// No page lies between two accesses that are closer than this, so what is between them can be read.
constexpr int64_t max_window_bytes = 4096;
// Where a threadgroup reads memory of its own, what follows is asked for this far ahead: about what
// arrives while the code of one iteration runs.
constexpr int64_t prefetch_distance = 2560;
constexpr int64_t line_bytes = 64;

} // namespace

int64_t Vectorizer::store_size(Type* type) const {
  return int64_t(layout_.getTypeStoreSize(type).getFixedValue());
}

int Vectorizer::native_lanes(Type* type) const {
  return std::clamp(int(options_.vector_bits / 8 / store_size(type)), 1, lanes_);
}

// The longest power of two of neighbouring lanes whose addresses are consecutive.
int Vectorizer::run_length(const Shape& shape, int64_t size) const {
  for (int run = shape.group; run > 1; run /= 2) {
    bool fits = true;
    for (int lane = 0; lane < lanes_ && fits; ++lane)
      fits = shape.offset(lane) - shape.offset(lane / run * run) == lane % run * size;
    if (fits)
      return run;
  }
  return 1;
}

Value* Vectorizer::load_run(Type* type, Value* pointer, int count, Value* mask) {
  auto* vector = FixedVectorType::get(type, unsigned(count));
  Align align = std::min(access_align_, layout_.getABITypeAlign(type));
  if (!mask)
    return builder_.CreateAlignedLoad(vector, pointer, align);
  return builder_.CreateMaskedLoad(vector, pointer, align, mask, Constant::getNullValue(vector));
}

void Vectorizer::store_run(Value* value, Value* pointer, Value* mask) {
  Align align = std::min(access_align_, layout_.getABITypeAlign(value->getType()->getScalarType()));
  if (mask) {
    builder_.CreateMaskedStore(value, pointer, align, mask);
  } else if (streaming_) {
    auto bytes = uint64_t(store_size(value->getType()));
    StoreInst* store =
        builder_.CreateAlignedStore(value, pointer, Align(std::min(bytes, uint64_t(64))));
    store->setMetadata(
        LLVMContext::MD_nontemporal,
        MDNode::get(module_.getContext(), ConstantAsMetadata::get(builder_.getInt32(1))));
  } else {
    builder_.CreateAlignedStore(value, pointer, align);
  }
}

// One scalar load for each lane, lanes that are off from a place that is always readable.
Value* Vectorizer::gather(Type* type, const LaneValue& pointer, int64_t offset, Value* mask) {
  int64_t size = store_size(type);
  Align align = std::min(access_align_, layout_.getABITypeAlign(type));
  if (!pointer.shape.is_varying() && !mask) {
    Value* result = PoisonValue::get(vector_type(type));
    for (int lane = 0; lane < lanes_; ++lane) {
      Value* place = add_offset(pointer.pieces[lane / pointer.shape.group],
                                pointer.shape.offset(lane) + offset);
      result = builder_.CreateInsertElement(result, builder_.CreateAlignedLoad(type, place, align),
                                            uint64_t(lane));
    }
    return result;
  }
  Value* pointers = vector(pointer);
  if (offset)
    pointers = builder_.CreateGEP(builder_.getInt8Ty(), pointers, builder_.getInt64(offset));
  if (options_.has_gather && (size == 4 || size == 8))
    return builder_.CreateMaskedGather(vector_type(type), pointers, align, full(mask),
                                       PoisonValue::get(vector_type(type)));
  if (mask)
    pointers = builder_.CreateSelect(
        mask, pointers,
        builder_.CreateVectorSplat(unsigned(lanes_),
                                   result_.function->getArg(result_.dispatch_index())));
  Value* result = PoisonValue::get(vector_type(type));
  for (int lane = 0; lane < lanes_; ++lane) {
    Value* place = builder_.CreateExtractElement(pointers, uint64_t(lane));
    result = builder_.CreateInsertElement(result, builder_.CreateAlignedLoad(type, place, align),
                                          uint64_t(lane));
  }
  return result;
}

void Vectorizer::scatter(Value* value, const LaneValue& pointer, int64_t offset, Value* mask) {
  Type* type = cast<FixedVectorType>(value->getType())->getElementType();
  int64_t size = store_size(type);
  Align align = std::min(access_align_, layout_.getABITypeAlign(type));
  auto* constant = dyn_cast_or_null<Constant>(mask);
  if (!pointer.shape.is_varying() && (!mask || constant)) {
    for (int lane = 0; lane < lanes_; ++lane) {
      Constant* on = constant ? constant->getAggregateElement(unsigned(lane)) : nullptr;
      if (on && !on->isOneValue())
        continue;
      builder_.CreateAlignedStore(builder_.CreateExtractElement(value, uint64_t(lane)),
                                  add_offset(pointer.pieces[lane / pointer.shape.group],
                                             pointer.shape.offset(lane) + offset),
                                  align);
    }
    return;
  }
  Value* pointers = vector(pointer);
  if (offset)
    pointers = builder_.CreateGEP(builder_.getInt8Ty(), pointers, builder_.getInt64(offset));
  if (options_.has_masked_memory && options_.has_gather && (size == 4 || size == 8)) {
    builder_.CreateMaskedScatter(value, pointers, align, full(mask));
    return;
  }
  if (mask)
    pointers = builder_.CreateSelect(mask, pointers,
                                     builder_.CreateVectorSplat(unsigned(lanes_), scratch(type)));
  for (int lane = 0; lane < lanes_; ++lane)
    builder_.CreateAlignedStore(builder_.CreateExtractElement(value, uint64_t(lane)),
                                builder_.CreateExtractElement(pointers, uint64_t(lane)), align);
}

// Lanes at known distances within a small window: load the window and shuffle. Loads never pass
// the last byte that a lane reads, and every byte between two lanes shares a page with one of them.
bool Vectorizer::load_window(Type* element, unsigned count, const LaneValue& pointer, Value* mask,
                             SmallVectorImpl<Value*>& result) {
  const Shape& shape = pointer.shape;
  int64_t size = store_size(element);
  if (shape.group != lanes_ || shape.offsets.empty() || mask)
    return false;
  int64_t first = shape.min_offset(), span = shape.max_offset() - first + int64_t(count) * size;
  if (span > max_window_bytes || (size & (size - 1)))
    return false;
  for (int lane = 0; lane < lanes_; ++lane)
    if ((shape.offset(lane) - first) % size)
      return false;
  int native = std::min(native_lanes(element), lanes_);
  int64_t elements = span / size;
  int chunk = int(std::min<int64_t>(native, int64_t(PowerOf2Ceil(uint64_t(elements)))));
  if (elements < chunk)
    chunk = int(elements);
  int chunks = int(divideCeil(elements, chunk));
  // The last chunk ends with the window's last element.
  auto start = [&](int index) {
    return std::min<int64_t>(int64_t(index) * chunk, elements - chunk);
  };
  auto place = [&](int64_t position) {
    int64_t index = std::min<int64_t>(position / chunk, chunks - 1);
    return std::pair<int64_t, int64_t>(index, position - start(int(index)));
  };
  int shuffles = 0;
  for (unsigned k = 0; k < count; ++k)
    for (int base = 0; base < lanes_; base += native) {
      SmallVector<int64_t, 16> used;
      for (int lane = base; lane < base + native; ++lane) {
        int64_t index = place((shape.offset(lane) - first) / size + k).first;
        if (!is_contained(used, index))
          used.push_back(index);
      }
      shuffles += int(used.size());
    }
  if (shuffles * window_part_cost > lanes_ * int(count))
    return false;
  SmallVector<Value*, 32> parts;
  Value* base = add_offset(pointer.pieces[0], first);
  for (int i = 0; i < chunks; ++i)
    parts.push_back(load_run(element, add_offset(base, start(i) * size), chunk, nullptr));
  for (unsigned k = 0; k < count; ++k) {
    SmallVector<Value*, 8> outputs;
    for (int out = 0; out < lanes_; out += native) {
      SmallVector<int, 64> lanes;
      for (int lane = out; lane < out + native; ++lane) {
        auto [index, position] = place((shape.offset(lane) - first) / size + k);
        lanes.push_back(int(index * chunk + position));
      }
      outputs.push_back(permute(parts, lanes));
    }
    result.push_back(concatenate(outputs));
  }
  return true;
}

// Are the addresses of all lanes consecutive, active or not? Compared in 32 bits relative to the
// first lane and checked once in 64 between first and last.
Value* Vectorizer::is_consecutive(Value* pointers, int64_t size) {
  Value* addresses = builder_.CreatePtrToInt(pointers, vector_type(builder_.getInt64Ty()));
  Value* first = builder_.CreateExtractElement(addresses, uint64_t(0));
  Value* distance =
      builder_.CreateSub(addresses, builder_.CreateVectorSplat(unsigned(lanes_), first));
  return all(builder_.CreateICmpEQ(distance, lane_numbers(builder_.getInt64Ty(), size)));
}

// Records of four words, each loaded whole, transposed within the quarters of registers.
SmallVector<Value*, 4> Vectorizer::load_records(Type* element, const LaneValue& pointer) {
  constexpr int count = 4;
  int native = std::max(native_lanes(element), count);
  Align align = std::min(access_align_, layout_.getABITypeAlign(element));
  auto* record = FixedVectorType::get(element, count);
  auto load = [&](int lane) -> Value* {
    Value* place =
        pointer.shape.is_varying()
            ? builder_.CreateExtractElement(pointer.vectors[0], uint64_t(lane))
            : add_offset(pointer.pieces[lane / pointer.shape.group], pointer.shape.offset(lane));
    return builder_.CreateAlignedLoad(record, place, align);
  };
  // Elements `first` and `second` of each pair of `a` and `b`, where a pair is `width` elements.
  auto unpack = [&](Value* a, Value* b, int width, int half) {
    SmallVector<int, 16> lanes;
    for (int quarter = 0; quarter < native; quarter += count)
      for (int i = 0; i < count / 2; i += width)
        for (int from : {0, native})
          for (int k = 0; k < width; ++k)
            lanes.push_back(from + quarter + half * count / 2 + i + k);
    return builder_.CreateShuffleVector(a, b, lanes);
  };
  SmallVector<SmallVector<Value*, 8>, count> members(count);
  for (int first = 0; first < lanes_; first += native) {
    Value* rows[count];
    for (int row = 0; row < count; ++row) {
      SmallVector<Value*, 4> quarters;
      for (int lane = first + row; lane < first + native; lane += count)
        quarters.push_back(load(lane));
      rows[row] = concatenate(quarters);
    }
    for (int half = 0; half < 2; ++half) {
      Value *low = unpack(rows[0], rows[1], 1, half), *high = unpack(rows[2], rows[3], 1, half);
      members[size_t(2 * half)].push_back(unpack(low, high, 2, 0));
      members[size_t(2 * half + 1)].push_back(unpack(low, high, 2, 1));
    }
  }
  SmallVector<Value*, 4> result;
  for (auto& list : members)
    result.push_back(concatenate(list));
  return result;
}

void Vectorizer::prefetch(const LaneValue& pointer, int64_t size, Value* thread_pointer) {
  const Shape& shape = pointer.shape;
  int64_t span = shape.max_offset() - shape.min_offset() + size;
  if (shape.group != lanes_ || span > max_window_bytes || !depends_on_group(thread_pointer))
    return;
  Value* base =
      add_offset(pointer.pieces[0], shape.min_offset() + std::max(prefetch_distance, span));
  for (int64_t at = 0; at < span; at += line_bytes)
    builder_.CreateIntrinsic(
        Intrinsic::prefetch, {builder_.getPtrTy()},
        {add_offset(base, at), builder_.getInt32(0), builder_.getInt32(3), builder_.getInt32(1)});
}

// Makes a vector of addresses again, at the end of the block being made: what only the slow version
// of an access needs is not made for the others, and gathers find out that indices are 32 bits
// wide.
LaneValue Vectorizer::remake_pointers(const LaneValue& pointer, Value* thread_pointer) {
  auto* gep = dyn_cast<GetElementPtrInst>(thread_pointer);
  if (!gep || !pointer.shape.is_varying())
    return pointer;
  SmallVector<Value*, 4> operands;
  for (Value* operand : gep->operands()) {
    LaneValue known = get(operand);
    auto* extension = dyn_cast<CastInst>(operand);
    if (known.shape.is_uniform(lanes_))
      operands.push_back(known.pieces[0]);
    else if (known.shape.is_varying() && extension && isa<SExtInst, ZExtInst>(extension))
      operands.push_back(builder_.CreateCast(extension->getOpcode(),
                                             vector(extension->getOperand(0)),
                                             vector_type(extension->getType())));
    else
      operands.push_back(vector(known));
  }
  LaneValue result = pointer;
  result.vectors[0] = emit_gep(*gep, operands);
  return result;
}

SmallVector<Value*, 4> Vectorizer::load_elements(Type* element, unsigned count,
                                                 const LaneValue& pointer, Value* mask,
                                                 Value* thread_pointer) {
  SmallVector<Value*, 4> result;
  element = flat_type(element);
  int64_t size = store_size(element);
  const Shape& shape = pointer.shape;
  if (!shape.is_varying()) {
    // Lanes one after the other: whole runs, and for small vectors their elements taken apart.
    int run = run_length(shape, size * count);
    if (run * int(count) * size >= 16 && run > 1) {
      SmallVector<SmallVector<Value*, 8>, 4> parts(count);
      for (int lane = 0; lane < lanes_; lane += run) {
        Value* place = add_offset(pointer.pieces[lane / shape.group], shape.offset(lane));
        Value* run_mask = mask ? slice(mask, lane, run) : nullptr;
        if (count == 1) {
          parts[0].push_back(load_run(element, place, run, run_mask));
          continue;
        }
        int native = std::min(native_lanes(element), run);
        SmallVector<Value*, 16> chunks;
        for (unsigned chunk = 0; chunk < count * unsigned(run) / unsigned(native); ++chunk) {
          Value* chunk_mask = nullptr;
          if (mask) {
            SmallVector<int, 64> owners;
            for (int i = 0; i < native; ++i)
              owners.push_back(lane + int((chunk * native + unsigned(i)) / count));
            chunk_mask = builder_.CreateShuffleVector(mask, owners);
          }
          chunks.push_back(load_run(element, add_offset(place, int64_t(chunk) * native * size),
                                    native, chunk_mask));
        }
        for (unsigned k = 0; k < count; ++k)
          for (int out = 0; out < run; out += native) {
            SmallVector<int, 64> lanes;
            for (int i = 0; i < native; ++i)
              lanes.push_back(int(unsigned(out + i) * count + k));
            parts[k].push_back(permute(chunks, lanes));
          }
      }
      for (auto& list : parts)
        result.push_back(concatenate(list));
      return result;
    }
    if (count == 4 && size == 4 && lanes_ % 4 == 0 && !mask) {
      prefetch(pointer, size * count, thread_pointer);
      return load_records(element, pointer);
    }
    if (load_window(element, count, pointer, mask, result))
      return result;
    if (mask && shape.group == lanes_ &&
        shape.max_offset() - shape.min_offset() < max_window_bytes && count == 1) {
      // The same window where all lanes turn out to be active.
      SmallVector<Value*, 1> window;
      result.push_back(version(
          all(mask), vector_type(element),
          [&] {
            return load_window(element, 1, pointer, nullptr, window)
                       ? window[0]
                       : gather(element, pointer, 0, nullptr);
          },
          [&] { return gather(element, pointer, 0, mask); }));
      return result;
    }
  } else if (auto pattern = count == 1 ? find_pattern(thread_pointer) : std::nullopt;
             pattern && pattern->unit == size && options_.has_masked_memory) {
    auto apart = [&] { return gather(element, remake_pointers(pointer, thread_pointer), 0, mask); };
    result.push_back(version(
        is_consecutive(*pattern), vector_type(element),
        [&] { return load_run(element, pattern->base, lanes_, mask); },
        [&] {
          if (!can_use_window(*pattern, element))
            return apart();
          return version(
              is_window(*pattern), vector_type(element),
              [&] { return load_permuted(element, *pattern, mask); }, apart);
        }));
    return result;
  } else if (count == 1 && size == 4 && options_.has_masked_memory) {
    Value* pointers = vector(pointer);
    if (mask) // lanes that are off may have none
      pointers = builder_.CreateFreeze(pointers);
    result.push_back(version(
        is_consecutive(pointers, size), vector_type(element),
        [&] {
          return load_run(element, builder_.CreateExtractElement(pointers, uint64_t(0)), lanes_,
                          mask);
        },
        [&] { return gather(element, pointer, 0, mask); }));
    return result;
  }
  for (unsigned k = 0; k < count; ++k)
    result.push_back(gather(element, pointer, int64_t(k) * size, mask));
  return result;
}

void Vectorizer::emit_load(LoadInst& load, const Shape& shape, EmitMode mode) {
  if (load.isAtomic())
    return fail("atomic load instructions are not AIR");
  LaneValue pointer = get(load.getPointerOperand());
  access_align_ = load.getAlign();
  Type* type = flat_type(load.getType());
  bool invariant = load.getPointerAddressSpace() == 2;
  if (mode == EmitMode::Pieces) {
    LaneValue result;
    result.shape = shape;
    auto places = flat_pieces(pointer, shape.group);
    for (size_t i = 0; i < places.size(); ++i) {
      Value* place = places[i];
      if (mask_ && places.size() > 1) {
        // Lanes that are off may have an address that nothing is at.
        Value* needed = any(slice(mask_, int(i) * shape.group, shape.group));
        place = builder_.CreateSelect(needed, place,
                                      result_.function->getArg(result_.dispatch_index()));
      }
      LoadInst* value = builder_.CreateAlignedLoad(type, place, load.getAlign());
      if (invariant)
        value->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(module_.getContext(), {}));
      result.pieces.push_back(value);
    }
    return set(load, std::move(result));
  }
  if (type->isStructTy() || type->isArrayTy())
    return fail("a load of a whole struct cannot be vectorised");
  unsigned count = element_count(type);
  LaneValue result;
  result.shape = Shape::varying();
  Type* element = type->getScalarType();
  if (!element->isPointerTy() &&
      layout_.getTypeSizeInBits(element) != layout_.getTypeStoreSizeInBits(element)) {
    // i1 and odd widths: through the bytes they are stored in.
    Type* stored = builder_.getIntNTy(unsigned(layout_.getTypeStoreSizeInBits(element)));
    if (count != 1)
      return fail("a load of a vector of an odd width cannot be vectorised");
    result.vectors.push_back(
        builder_.CreateTrunc(load_elements(stored, 1, pointer, mask_, load.getPointerOperand())[0],
                             vector_type(element)));
    return set(load, std::move(result));
  }
  result.vectors = load_elements(element, count, pointer, mask_, load.getPointerOperand());
  set(load, std::move(result));
}

// Runs of `run` lanes, each one after the other in memory.
void Vectorizer::store_runs(ArrayRef<Value*> values, const LaneValue& pointer, int run,
                            Value* mask) {
  Type* element = cast<FixedVectorType>(values[0]->getType())->getElementType();
  unsigned count = unsigned(values.size());
  int64_t size = store_size(element);
  const Shape& shape = pointer.shape;
  for (int lane = 0; lane < lanes_; lane += run) {
    Value* place = add_offset(pointer.pieces[lane / shape.group], shape.offset(lane));
    if (count == 1) {
      store_run(slice(values[0], lane, run), place, mask ? slice(mask, lane, run) : nullptr);
      continue;
    }
    int native = std::min(native_lanes(element), run);
    SmallVector<Value*, 32> parts;
    for (Value* value : values)
      for (int out = 0; out < run; out += native)
        parts.push_back(slice(value, lane + out, native));
    for (unsigned chunk = 0; chunk < count * unsigned(run) / unsigned(native); ++chunk) {
      SmallVector<int, 64> lanes, owners;
      for (int i = 0; i < native; ++i) {
        unsigned position = chunk * unsigned(native) + unsigned(i), owner = position / count,
                 k = position % count;
        lanes.push_back(int(k * unsigned(run) + owner));
        owners.push_back(lane + int(owner));
      }
      store_run(permute(parts, lanes), add_offset(place, int64_t(chunk) * native * size),
                mask ? builder_.CreateShuffleVector(mask, owners) : nullptr);
    }
  }
}

void Vectorizer::store_elements(ArrayRef<Value*> values, const LaneValue& pointer, Value* mask,
                                Value* thread_pointer) {
  Type* element = cast<FixedVectorType>(values[0]->getType())->getElementType();
  unsigned count = unsigned(values.size());
  int64_t size = store_size(element);
  const Shape& shape = pointer.shape;
  if (!shape.is_varying()) {
    int run = run_length(shape, size * count);
    if (run > 1 && run * int(count) * size >= 16) {
      if (Value* streams_past = streams(pointer, run, mask, thread_pointer)) {
        auto store = [&](bool streaming) -> Value* {
          streaming_ = streaming;
          store_runs(values, pointer, run, streaming ? nullptr : mask);
          streaming_ = false;
          return nullptr;
        };
        version(streams_past, nullptr, [&] { return store(true); }, [&] { return store(false); });
        return;
      }
      store_runs(values, pointer, run, mask);
      return;
    }
    if (shape.is_uniform(lanes_)) {
      // One address: the last active lane wins, as if the lanes stored one after the other.
      Value* last = builder_.getInt32(uint32_t(lanes_ - 1));
      if (mask) {
        Value* active = bits(mask);
        Value* leading = builder_.CreateIntrinsic(Intrinsic::ctlz, {active->getType()},
                                                  {active, builder_.getFalse()});
        last = builder_.CreateSub(last, builder_.CreateZExtOrTrunc(leading, builder_.getInt32Ty()));
        last = builder_.CreateAnd(last, uint64_t(lanes_ - 1));
      }
      for (unsigned k = 0; k < count; ++k)
        builder_.CreateAlignedStore(builder_.CreateExtractElement(values[k], last),
                                    add_offset(pointer.pieces[0], int64_t(k) * size),
                                    std::min(access_align_, layout_.getABITypeAlign(element)));
      return;
    }
  } else if (auto pattern = count == 1 ? find_pattern(thread_pointer) : std::nullopt;
             pattern && pattern->unit == size && options_.has_masked_memory) {
    auto apart = [&]() -> Value* {
      scatter(values[0], remake_pointers(pointer, thread_pointer), 0, mask);
      return nullptr;
    };
    version(
        is_consecutive(*pattern), nullptr,
        [&]() -> Value* {
          store_run(values[0], pattern->base, mask);
          return nullptr;
        },
        [&]() -> Value* {
          if (!can_use_window(*pattern, element))
            return apart();
          return version(
              is_window(*pattern), nullptr,
              [&]() -> Value* {
                store_permuted(values[0], *pattern, mask);
                return nullptr;
              },
              apart);
        });
    return;
  } else if (count == 1 && size == 4 && options_.has_masked_memory) {
    Value* pointers = vector(pointer);
    if (mask) // lanes that are off may have none
      pointers = builder_.CreateFreeze(pointers);
    version(
        is_consecutive(pointers, size), nullptr,
        [&]() -> Value* {
          store_run(values[0], builder_.CreateExtractElement(pointers, uint64_t(0)), mask);
          return nullptr;
        },
        [&]() -> Value* {
          scatter(values[0], pointer, 0, mask);
          return nullptr;
        });
    return;
  }
  for (unsigned k = 0; k < count; ++k)
    scatter(values[k], pointer, int64_t(k) * size, mask);
}

void Vectorizer::emit_store(StoreInst& store) {
  if (store.isAtomic())
    return fail("atomic store instructions are not AIR");
  access_align_ = store.getAlign();
  LaneValue pointer = get(store.getPointerOperand()), value = get(store.getValueOperand());
  Type* type = flat_type(store.getValueOperand()->getType());
  if (pointer.shape.is_uniform(lanes_) && value.shape.is_uniform(lanes_)) {
    builder_.CreateAlignedStore(value.pieces[0], pointer.pieces[0], store.getAlign());
    return;
  }
  if (type->isStructTy() || type->isArrayTy())
    return fail("a store of a whole struct cannot be vectorised");
  SmallVector<Value*, 4> values;
  for (unsigned k = 0; k < element_count(type); ++k)
    values.push_back(vector(value, k));
  Type* element = type->getScalarType();
  if (!element->isPointerTy() &&
      layout_.getTypeSizeInBits(element) != layout_.getTypeStoreSizeInBits(element)) {
    if (values.size() != 1)
      return fail("a store of a vector of an odd width cannot be vectorised");
    values[0] = builder_.CreateZExt(
        values[0],
        vector_type(builder_.getIntNTy(unsigned(layout_.getTypeStoreSizeInBits(element)))));
  }
  store_elements(values, pointer, mask_, store.getPointerOperand());
}

} // namespace bessemer::metal::cpu

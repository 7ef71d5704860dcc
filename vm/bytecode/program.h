// A compiled module's tables, read from its FlatBuffer and checked: what the verifier, the
// translator and the disassembler work on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vm/buffer.h"
#include "vm/bytecode/decoder.h"
#include "vm/container.h"
#include "vm/instance.h"
#include "vm/module.h"

namespace bessemer::vm::bytecode {

struct Type {
  std::string_view name;
  ValueType value = ValueType::None; // None: anything (!vm.opaque)
  const RefType* ref = nullptr;      // of a reference
  bool takesReferences() const { return value == ValueType::None || value == ValueType::Ref; }
};

struct FunctionDef {
  std::span<const uint8_t> code;
  uint32_t requirements = 0;
  uint32_t block_count = 0;
  uint32_t word_count = 0; // 32-bit registers
  uint32_t ref_count = 0;
  const Signature* signature = nullptr;
  std::string_view name; // for people; empty when unknown
};

// Where the arguments of a function are when it begins: references in 0, 1, ..., numbers in words
// from 0, 64-bit ones at the next even word.
struct ArgumentLayout {
  std::vector<uint16_t> registers; // one for each argument, in its own bank
  uint32_t word_count = 0;
  uint32_t ref_count = 0;
  explicit ArgumentLayout(const Signature& signature);
};

struct Program {
  std::string_view name;
  uint32_t version = 0;
  uint32_t requirements = 0;
  std::vector<Attribute> attributes;
  std::vector<Type> types;
  std::vector<Dependency> dependencies;
  std::vector<Signature> import_signatures;
  std::vector<Import> imports;
  std::vector<Signature> signatures;
  std::vector<FunctionDef> functions;
  std::vector<std::vector<Attribute>> function_attributes;
  std::vector<Export> exports;
  std::vector<RefPtr<Buffer>> rodata;
  uint32_t global_bytes = 0;
  uint32_t global_refs = 0;

  // Texts and code stay in the container's memory, which `owner` keeps alive.
  static Result<Program> read(const Instance& instance, const Container& container,
                              std::shared_ptr<const void> owner);

  // "function 3 (main)" for messages.
  std::string describe(size_t ordinal) const;
};

} // namespace bessemer::vm::bytecode

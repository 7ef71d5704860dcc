// Makes modules by hand, for tests: bytecode operation by operation, and the tables around it.
//
//   FunctionBuilder add("0ii_i", 3, 0);
//   add.block();
//   add.emit(Op::AddI32, {i(0), i(1), i(2)});
//   add.emit(Op::Return, {list({i(2)})});
//   ModuleBuilder module("test");
//   module.function("add", add);
//   std::vector<std::byte> bytes = module.finish();
//
// Nothing is checked: tests of the verifier make wrong modules too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vm/bytecode/opcodes.h"

namespace bessemer::vm::testing {

using bytecode::Op;

struct Label {
  uint32_t index = 0;
};

// A register, an immediate, a text, a list or a branch: what the operation wants at that place.
struct Operand {
  uint64_t number = 0;
  double real = 0;
  bool is_real = false;
  std::string text;
  std::vector<uint16_t> values; // of a list or of copies (source, target)
  Label label;
};

inline constexpr uint16_t kRef = 0x8000;
inline constexpr uint16_t kMove = 0x4000;

inline Operand i(uint16_t index) { return {.number = index}; }
inline Operand r(uint16_t index) { return {.number = uint16_t(kRef | index)}; }
inline Operand moved(uint16_t index) { return {.number = uint16_t(kRef | kMove | index)}; }
inline Operand imm(uint64_t value) { return {.number = value}; }
inline Operand real(double value) { return {.real = value, .is_real = true}; }
inline Operand text(std::string value) { return {.text = std::move(value)}; }
inline Operand import(uint32_t ordinal) { return {.number = 0x80000000u | ordinal}; }
Operand list(std::vector<Operand> registers);
Operand segments(std::vector<uint16_t> counts);
// A branch, with copies as (source, target) in turn.
Operand to(Label label, std::vector<Operand> copies = {});

class FunctionBuilder {
public:
  FunctionBuilder(std::string signature, int16_t words, int16_t refs,
                  uint32_t requirements = bytecode::kSupportedFeatures)
      : signature_(std::move(signature)), words_(words), refs_(refs), requirements_(requirements) {}

  // A label to branch to before its block is there.
  Label label();
  // Begins a block here.
  Label block();
  void block(Label label);
  // A branch operand takes one place though it is two in the table.
  void emit(Op op, std::vector<Operand> operands = {});
  // Bytes as they are.
  void raw(std::vector<uint8_t> bytes);

private:
  friend class ModuleBuilder;
  template <class T>
  void put(T value);
  void putList(const std::vector<uint16_t>& values, size_t per_element);
  std::vector<uint8_t> code() const;

  std::string signature_;
  int16_t words_;
  int16_t refs_;
  uint32_t requirements_;
  int16_t blocks_ = 0;
  std::vector<uint8_t> code_;
  std::vector<uint32_t> labels_; // byte offset by label
  struct Fixup {
    size_t at;
    Label label;
  };
  std::vector<Fixup> fixups_;
};

class ModuleBuilder {
public:
  explicit ModuleBuilder(std::string name);
  ModuleBuilder(ModuleBuilder&&) noexcept;
  ~ModuleBuilder();

  // Each answers the ordinal.
  uint32_t type(std::string name);
  uint32_t import(std::string name, std::string signature, bool optional = false);
  uint32_t rodata(std::string bytes);
  // `exported`: empty for a function that is not.
  uint32_t function(std::string exported, const FunctionBuilder& function);
  void attribute(uint32_t function, std::string key, std::string value);
  void dependency(std::string name, uint32_t version, bool optional = false);
  void globals(int32_t bytes, int32_t refs);
  void version(uint32_t bytecode_version);
  void requirements(uint32_t features);
  // Source locations of function `ordinal`: (bytecode offset, line of "model.mlir").
  void lines(uint32_t ordinal, std::string name, std::vector<std::pair<int32_t, int32_t>> offsets);

  // The file: a size-prefixed FlatBuffer. With `zip`, in a zip archive's first member.
  std::vector<std::byte> finish(bool zip = false) const;

private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

} // namespace bessemer::vm::testing

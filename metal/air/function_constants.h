// Function constants: values that the host gives when it makes a pipeline. A module holds each as a
// global without value and a static initialiser that copies it and what depends on it.
#pragma once

#include "metal/air/signature.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bessemer::air {

struct FunctionConstant {
  llvm::GlobalVariable* variable = nullptr; // the global without value
  std::string name;
  std::string type_name; // as MSL spells it
  uint32_t index = 0;
  uint32_t data_type = 0; // MTLDataType; 0 for a type that no constant can have
  bool required = true;   // false where the code asks is_function_constant_defined first
};

/// MTLDataType of an MSL scalar or vector (`float` 3 ... `half4` 19 ... `uint` 33); 0 for others.
uint32_t data_type_from_name(llvm::StringRef msl_name);
/// Bytes of a value of that MTLDataType as the host passes it; 0 for types that no constant can
/// have.
uint32_t data_type_size(uint32_t data_type);

/// The constants that the module lists in `!air.function_constants`, by index.
llvm::Expected<std::vector<FunctionConstant>> read_function_constants(const llvm::Module& module);

/// Indices of the constants that a function depends on: by itself, through what it calls, through
/// variables that static initialisers compute and through predicates of its arguments.
std::vector<uint32_t> constants_used_by(const llvm::Module& module, const Signature& signature,
                                        std::span<const FunctionConstant> constants);

/// A value for the constant with this index.
struct ConstantValue {
  uint32_t index = 0;
  uint32_t data_type = 0;
  std::span<const uint8_t> bytes;
};

/// Gives the module's constants their values and runs its static initialisers at compile time, so
/// that what depends on them folds: afterwards no constant, no initialiser and no question
/// `is_function_constant_defined` is left, and the predicates of arguments are known.
/// Values for indices that the module does not have are ignored, as Metal does.
/// An error: a required constant without value that one of the module's kernels uses, a value of
/// another type.
llvm::Error specialise(llvm::Module& module, std::span<const ConstantValue> values);

} // namespace bessemer::air

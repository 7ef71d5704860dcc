// How a kernel is called: its arguments, read from the metadata of its AIR module. One form for
// what AIR 2.1 to 2.8 write, whoever the producer was.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bessemer::air {

enum class FunctionKind : uint8_t { Vertex, Fragment, Kernel };

enum class ArgumentKind : uint8_t {
  Buffer,         // [[buffer(n)]]: a pointer to device or constant memory
  ArgumentBuffer, // a buffer whose pointee holds resources with [[id(n)]]
  Threadgroup,    // [[threadgroup(n)]]: a pointer to memory that the host sizes
  Texture,
  Sampler,
  Builtin, // a value that the dispatch gives, `Argument::builtin` says which
};

enum class Access : uint8_t { Read, ReadWrite, Write };

/// Values that a kernel asks for by attribute. Their width is that of the parameter's IR type: an
/// integer of 16 or 32 bits, or a vector of 2 or 3.
enum class Builtin : uint8_t {
  ThreadPositionInGrid,
  ThreadPositionInThreadgroup,
  ThreadgroupPositionInGrid,
  ThreadsPerGrid,
  ThreadsPerThreadgroup,
  ThreadgroupsPerGrid,
  DispatchThreadsPerThreadgroup,
  GridOrigin,
  GridSize,
  ThreadIndexInThreadgroup,
  ThreadIndexInSimdgroup,
  SimdgroupIndexInThreadgroup,
  SimdgroupsPerThreadgroup,
  DispatchSimdgroupsPerThreadgroup,
  ThreadsPerSimdgroup,
  ThreadExecutionWidth,
  ThreadIndexInQuadgroup,
  QuadgroupIndexInThreadgroup,
  QuadgroupsPerThreadgroup,
  DispatchQuadgroupsPerThreadgroup,
};

/// `air.thread_position_in_grid` and the like; nothing for a name that AIR does not have.
std::optional<Builtin> builtin_from_name(llvm::StringRef name);
llvm::StringRef builtin_name(Builtin builtin);

/// One field of a pointee, in the order of the struct.
struct StructMember {
  std::string name;
  std::string type_name;       // as MSL spells it
  uint32_t offset = 0;         // bytes from the start of the struct
  uint32_t size = 0;           // bytes of one element
  uint32_t array_length = 0;   // 0: not an array
  int32_t argument_index = -1; // [[id(n)]] in an argument buffer
  bool is_pointer = false;
  uint32_t address_space = 0; // of the pointee
  Access access = Access::ReadWrite;
  std::vector<StructMember> members;
};

struct Argument {
  ArgumentKind kind = ArgumentKind::Buffer;
  unsigned parameter = 0; // index of the IR parameter
  uint32_t index = 0;     // n of [[buffer(n)]], [[threadgroup(n)]], ...; not for built-ins
  Builtin builtin = {};   // of a Builtin
  std::string name;
  std::string type_name;
  uint32_t size = 0;      // bytes of the pointee; 0 when unknown (void*)
  uint32_t alignment = 0; // of the pointee
  Access access = Access::Read;
  uint32_t address_space = 0;
  bool used = true;
  std::vector<StructMember> members;
  // The argument exists only where this global, set by function constants, is not zero. Empty where
  // there is none, and once constants are specialised.
  std::string predicate;
  // False once specialised constants say that the argument does not exist: the kernel gets null.
  bool present = true;
};

struct Signature {
  llvm::Function* function = nullptr;
  FunctionKind kind = FunctionKind::Kernel;
  std::vector<Argument> arguments; // one for each IR parameter, in their order
  uint32_t max_threads_per_threadgroup =
      0; // [[max_total_threads_per_threadgroup(n)]]; 0: not given
};

/// Every kernel, vertex and fragment function that the module's metadata lists.
/// Malformed metadata is an error that names the function and the argument.
llvm::Expected<std::vector<Signature>> read_signatures(const llvm::Module& module);

/// The signature of one function; an error where the module does not list it.
llvm::Expected<Signature> read_signature(const llvm::Module& module, llvm::StringRef function);

/// Writes `signature` as AIR 2.6 does into `!air.kernel` of its module.
void write_signature(llvm::Module& module, const Signature& signature);

} // namespace bessemer::air

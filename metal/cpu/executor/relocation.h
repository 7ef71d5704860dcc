// What the relocations of x86-64 and aarch64 objects need and do. Pure arithmetic on bytes, so that
// both can be tested on either machine.
#pragma once

#include <cstdint>

namespace bessemer::metal::cpu {

// e_machine of the ELF header.
enum class Machine : uint16_t { X86_64 = 62, AArch64 = 183 };

#if defined(__x86_64__)
inline constexpr Machine kHostMachine = Machine::X86_64;
#elif defined(__aarch64__)
inline constexpr Machine kHostMachine = Machine::AArch64;
#endif

enum class RelocationNeed : uint8_t {
  Unknown, // not a relocation that is supported
  Nothing, // R_*_NONE
  Symbol,  // the symbol's address
  Call,    // the symbol's address, or a stub that jumps there when it is outside the object
  GotSlot, // the address of a word that holds the symbol's address
};

struct RelocationShape {
  RelocationNeed need = RelocationNeed::Unknown;
  uint8_t width = 0; // bytes that are read and written
};

RelocationShape relocation_shape(Machine machine, uint32_t type);

// Writes to `where`, which will run at address `place`. `target` is the address that the shape asks
// for. False when the result does not fit.
bool apply_relocation(Machine machine, uint32_t type, uint8_t* where, uint64_t place,
                      uint64_t target, int64_t addend);

// A stub that jumps to any address: written to `where`, `kStubBytes` long.
inline constexpr uint32_t kStubBytes = 16;
void write_stub(Machine machine, uint8_t* where, uint64_t target);

} // namespace bessemer::metal::cpu

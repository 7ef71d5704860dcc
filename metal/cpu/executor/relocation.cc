#include "metal/cpu/executor/relocation.h"

#include <cstring>
#include <elf.h>

namespace bessemer::metal::cpu {

namespace {

// Debian 12's elf.h has all of these; the names are those of the two processor supplements.
RelocationShape shape_x86_64(uint32_t type) {
  switch (type) {
  case R_X86_64_NONE:
    return {RelocationNeed::Nothing, 0};
  case R_X86_64_64:
  case R_X86_64_PC64:
    return {RelocationNeed::Symbol, 8};
  case R_X86_64_32:
  case R_X86_64_32S:
    return {RelocationNeed::Symbol, 4};
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    return {RelocationNeed::Call, 4};
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    return {RelocationNeed::GotSlot, 4};
  default:
    return {};
  }
}

RelocationShape shape_aarch64(uint32_t type) {
  switch (type) {
  case R_AARCH64_NONE:
    return {RelocationNeed::Nothing, 0};
  case R_AARCH64_ABS64:
  case R_AARCH64_PREL64:
    return {RelocationNeed::Symbol, 8};
  case R_AARCH64_ABS32:
  case R_AARCH64_PREL32:
  case R_AARCH64_MOVW_UABS_G0:
  case R_AARCH64_MOVW_UABS_G0_NC:
  case R_AARCH64_MOVW_UABS_G1:
  case R_AARCH64_MOVW_UABS_G1_NC:
  case R_AARCH64_MOVW_UABS_G2:
  case R_AARCH64_MOVW_UABS_G2_NC:
  case R_AARCH64_MOVW_UABS_G3:
  case R_AARCH64_LD_PREL_LO19:
  case R_AARCH64_ADR_PREL_LO21:
  case R_AARCH64_ADR_PREL_PG_HI21:
  case R_AARCH64_ADR_PREL_PG_HI21_NC:
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
  case R_AARCH64_LDST16_ABS_LO12_NC:
  case R_AARCH64_LDST32_ABS_LO12_NC:
  case R_AARCH64_LDST64_ABS_LO12_NC:
  case R_AARCH64_LDST128_ABS_LO12_NC:
  case R_AARCH64_TSTBR14:
  case R_AARCH64_CONDBR19:
    return {RelocationNeed::Symbol, 4};
  case R_AARCH64_JUMP26:
  case R_AARCH64_CALL26:
    return {RelocationNeed::Call, 4};
  case R_AARCH64_ADR_GOT_PAGE:
  case R_AARCH64_LD64_GOT_LO12_NC:
    return {RelocationNeed::GotSlot, 4};
  default:
    return {};
  }
}

template <typename T>
void write(uint8_t* where, T value) {
  std::memcpy(where, &value, sizeof value);
}

bool fits_signed(int64_t value, unsigned bits) {
  return value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1));
}

bool apply_x86_64(uint32_t type, uint8_t* where, uint64_t place, uint64_t target, int64_t addend) {
  const uint64_t absolute = target + static_cast<uint64_t>(addend);
  const int64_t relative = static_cast<int64_t>(absolute - place);
  switch (type) {
  case R_X86_64_64:
    write(where, absolute);
    return true;
  case R_X86_64_PC64:
    write(where, relative);
    return true;
  case R_X86_64_32:
    write(where, static_cast<uint32_t>(absolute));
    return absolute <= 0xffffffff;
  case R_X86_64_32S:
    write(where, static_cast<uint32_t>(absolute));
    return fits_signed(static_cast<int64_t>(absolute), 32);
  default: // all others are four bytes, relative
    write(where, static_cast<int32_t>(relative));
    return fits_signed(relative, 32);
  }
}

// Replaces `bits` bits of the instruction from bit `position` on.
void set_field(uint8_t* where, unsigned position, unsigned bits, uint64_t value) {
  uint32_t instruction;
  std::memcpy(&instruction, where, sizeof instruction);
  const uint32_t mask = ((uint32_t{1} << bits) - 1) << position;
  instruction = (instruction & ~mask) | ((static_cast<uint32_t>(value) << position) & mask);
  write(where, instruction);
}

// A branch or literal load: a multiple of 4, `bits` bits of it / 4.
bool set_branch(uint8_t* where, unsigned position, unsigned bits, int64_t distance) {
  set_field(where, position, bits, static_cast<uint64_t>(distance >> 2));
  return distance % 4 == 0 && fits_signed(distance, bits + 2);
}

bool set_adr(uint8_t* where, int64_t value) { // ADR and ADRP: 21 bits in two places
  set_field(where, 29, 2, static_cast<uint64_t>(value));
  set_field(where, 5, 19, static_cast<uint64_t>(value >> 2));
  return fits_signed(value, 21);
}

// A load or store whose 12-bit offset counts elements of 1 << shift bytes.
bool set_offset(uint8_t* where, unsigned shift, uint64_t address) {
  const uint64_t low = address & 0xfff;
  set_field(where, 10, 12, low >> shift);
  return low % (uint64_t{1} << shift) == 0;
}

bool set_move(uint8_t* where, unsigned part, uint64_t value, bool checked) {
  set_field(where, 5, 16, value >> (16 * part));
  return !checked || part == 3 || value >> (16 * (part + 1)) == 0;
}

bool apply_aarch64(uint32_t type, uint8_t* where, uint64_t place, uint64_t target, int64_t addend) {
  const uint64_t absolute = target + static_cast<uint64_t>(addend);
  const int64_t relative = static_cast<int64_t>(absolute - place);
  const auto page = [](uint64_t address) { return address & ~uint64_t{0xfff}; };
  switch (type) {
  case R_AARCH64_ABS64:
    write(where, absolute);
    return true;
  case R_AARCH64_PREL64:
    write(where, relative);
    return true;
  case R_AARCH64_ABS32:
    write(where, static_cast<uint32_t>(absolute));
    return absolute <= 0xffffffff || fits_signed(static_cast<int64_t>(absolute), 32);
  case R_AARCH64_PREL32:
    write(where, static_cast<int32_t>(relative));
    return fits_signed(relative, 32);
  case R_AARCH64_MOVW_UABS_G0:
  case R_AARCH64_MOVW_UABS_G0_NC:
    return set_move(where, 0, absolute, type == R_AARCH64_MOVW_UABS_G0);
  case R_AARCH64_MOVW_UABS_G1:
  case R_AARCH64_MOVW_UABS_G1_NC:
    return set_move(where, 1, absolute, type == R_AARCH64_MOVW_UABS_G1);
  case R_AARCH64_MOVW_UABS_G2:
  case R_AARCH64_MOVW_UABS_G2_NC:
    return set_move(where, 2, absolute, type == R_AARCH64_MOVW_UABS_G2);
  case R_AARCH64_MOVW_UABS_G3:
    return set_move(where, 3, absolute, true);
  case R_AARCH64_LD_PREL_LO19:
  case R_AARCH64_CONDBR19:
    return set_branch(where, 5, 19, relative);
  case R_AARCH64_TSTBR14:
    return set_branch(where, 5, 14, relative);
  case R_AARCH64_JUMP26:
  case R_AARCH64_CALL26:
    return set_branch(where, 0, 26, relative);
  case R_AARCH64_ADR_PREL_LO21:
    return set_adr(where, relative);
  case R_AARCH64_ADR_PREL_PG_HI21:
  case R_AARCH64_ADR_PREL_PG_HI21_NC:
  case R_AARCH64_ADR_GOT_PAGE: {
    const int64_t pages = static_cast<int64_t>(page(absolute) - page(place)) >> 12;
    return set_adr(where, pages) || type == R_AARCH64_ADR_PREL_PG_HI21_NC;
  }
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return set_offset(where, 0, absolute);
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return set_offset(where, 1, absolute);
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return set_offset(where, 2, absolute);
  case R_AARCH64_LDST64_ABS_LO12_NC:
  case R_AARCH64_LD64_GOT_LO12_NC:
    return set_offset(where, 3, absolute);
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return set_offset(where, 4, absolute);
  default:
    return false;
  }
}

} // namespace

RelocationShape relocation_shape(Machine machine, uint32_t type) {
  return machine == Machine::X86_64 ? shape_x86_64(type) : shape_aarch64(type);
}

bool apply_relocation(Machine machine, uint32_t type, uint8_t* where, uint64_t place,
                      uint64_t target, int64_t addend) {
  return machine == Machine::X86_64 ? apply_x86_64(type, where, place, target, addend)
                                    : apply_aarch64(type, where, place, target, addend);
}

void write_stub(Machine machine, uint8_t* where, uint64_t target) {
  if (machine == Machine::X86_64) {
    // jmp *2(%rip); two bytes of padding keep the address aligned.
    const uint8_t code[8] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0xcc, 0xcc};
    std::memcpy(where, code, sizeof code);
  } else {
    // ldr x16, .+8; br x16 (x16 is the register that linkers may use between caller and callee)
    const uint32_t code[2] = {0x58000050, 0xd61f0200};
    std::memcpy(where, code, sizeof code);
  }
  write(where + 8, target);
}

} // namespace bessemer::metal::cpu

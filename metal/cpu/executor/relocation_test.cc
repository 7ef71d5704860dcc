// The encodings are checked against words that an assembler and linker gave (llvm-mc, ld.lld).
#include "metal/cpu/executor/relocation.h"

#include <cstring>
#include <elf.h>

#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

struct Case {
  uint32_t type;
  uint32_t before;
  uint64_t place;
  uint64_t target;
  int64_t addend;
  uint32_t after;
};

uint32_t apply(Machine machine, const Case& c, bool* fits) {
  uint8_t bytes[8] = {};
  std::memcpy(bytes, &c.before, 4);
  *fits = apply_relocation(machine, c.type, bytes, c.place, c.target, c.addend);
  uint32_t after;
  std::memcpy(&after, bytes, 4);
  return after;
}

TEST(RelocationTest, AArch64EncodingsAreThoseOfTheLinker) {
  const Case cases[] = {
      // bl 0x11000 at 0x10000; b 0xfffc at 0x10000
      {R_AARCH64_CALL26, 0x94000000, 0x10000, 0x11000, 0, 0x94000400},
      {R_AARCH64_JUMP26, 0x14000000, 0x10000, 0x10000, -4, 0x17ffffff},
      // adrp x0, page of 0x12345678 at 0x10000 (0x12335 pages on)
      {R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0x10000, 0x12345678, 0, 0xb00919a0},
      // add x0, x0, #0x678
      {R_AARCH64_ADD_ABS_LO12_NC, 0x91000000, 0, 0x12345678, 0, 0x9119e000},
      // ldrb w0, [x0, #0x678]; ldrh; ldr w0; ldr x0; ldr q0, [x0, #0x670]
      {R_AARCH64_LDST8_ABS_LO12_NC, 0x39400000, 0, 0x12345678, 0, 0x3959e000},
      {R_AARCH64_LDST16_ABS_LO12_NC, 0x79400000, 0, 0x12345678, 0, 0x794cf000},
      {R_AARCH64_LDST32_ABS_LO12_NC, 0xb9400000, 0, 0x12345678, 0, 0xb9467800},
      {R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400000, 0, 0x12345678, 0, 0xf9433c00},
      {R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00000, 0, 0x12345670, 0, 0x3dc19c00},
      // cbz x0, +0x40; tbz x0, #0, -4; ldr x0, +8; adr x0, +5
      {R_AARCH64_CONDBR19, 0xb4000000, 0x1000, 0x1040, 0, 0xb4000200},
      {R_AARCH64_TSTBR14, 0x36000000, 0x1000, 0x0ffc, 0, 0x3607ffe0},
      {R_AARCH64_LD_PREL_LO19, 0x58000000, 0x1000, 0x1008, 0, 0x58000040},
      {R_AARCH64_ADR_PREL_LO21, 0x10000000, 0x1000, 0x1005, 0, 0x30000020},
      // movz x0, #0x5678; movk x0, #0x1234, lsl #16
      {R_AARCH64_MOVW_UABS_G0_NC, 0xd2800000, 0, 0x12345678, 0, 0xd28acf00},
      {R_AARCH64_MOVW_UABS_G1_NC, 0xf2a00000, 0, 0x12345678, 0, 0xf2a24680},
      {R_AARCH64_PREL32, 0, 0x1000, 0x0ff0, 0, 0xfffffff0},
  };
  for (const Case& c : cases) {
    bool fits;
    EXPECT_EQ(apply(Machine::AArch64, c, &fits), c.after) << c.type;
    EXPECT_TRUE(fits) << c.type;
  }
}

TEST(RelocationTest, ResultsThatDoNotFitAreRefused) {
  const Case aarch64[] = {
      {R_AARCH64_CALL26, 0x94000000, 0, 0x8000000, 0, 0},
      {R_AARCH64_CALL26, 0x94000000, 0, 0x1002, 0, 0}, // no instruction starts there
      {R_AARCH64_LDST64_ABS_LO12_NC, 0xf9400000, 0, 0x1004, 0, 0},
      {R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0, 0x100000000, 0, 0},
      {R_AARCH64_TSTBR14, 0x36000000, 0, 0x8000, 0, 0},
      {R_AARCH64_PREL32, 0, 0, 0x80000000, 0, 0},
  };
  const Case x86[] = {
      {R_X86_64_PC32, 0, 0, 0x80000000, 0, 0},
      {R_X86_64_PLT32, 0, 0x100000000, 0, 0, 0},
      {R_X86_64_32, 0, 0, 0x100000000, 0, 0},
      {R_X86_64_32S, 0, 0, 0x80000000, 0, 0},
  };
  bool fits;
  for (const Case& c : aarch64) {
    apply(Machine::AArch64, c, &fits);
    EXPECT_FALSE(fits) << c.type;
  }
  for (const Case& c : x86) {
    apply(Machine::X86_64, c, &fits);
    EXPECT_FALSE(fits) << c.type;
  }
}

TEST(RelocationTest, X86ResultsAreRelativeOrAbsolute) {
  bool fits;
  EXPECT_EQ(apply(Machine::X86_64, {R_X86_64_PC32, 0, 0x1000, 0x2000, -4, 0}, &fits), 0xffcu);
  EXPECT_TRUE(fits);
  EXPECT_EQ(apply(Machine::X86_64, {R_X86_64_32, 0, 0x1000, 0x2000, 8, 0}, &fits), 0x2008u);
  EXPECT_EQ(apply(Machine::X86_64, {R_X86_64_32S, 0, 0, ~uint64_t{0}, 0, 0}, &fits), 0xffffffffu);
  EXPECT_TRUE(fits);
  EXPECT_EQ(relocation_shape(Machine::X86_64, R_X86_64_TPOFF32).need, RelocationNeed::Unknown);
  EXPECT_EQ(relocation_shape(Machine::AArch64, R_AARCH64_TLSDESC_CALL).need,
            RelocationNeed::Unknown);
}

} // namespace
} // namespace bessemer::metal::cpu

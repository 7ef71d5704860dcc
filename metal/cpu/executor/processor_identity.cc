#include "metal/cpu/executor/processor_identity.h"

#include <cstdint>
#include <cstdio>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace bessemer::metal::cpu {

std::string processor_identity() {
  std::string text;
#if defined(__x86_64__)
  const auto add = [&](uint32_t leaf, uint32_t subleaf, uint32_t mask_a, uint32_t mask_b,
                       uint32_t mask_c, uint32_t mask_d) {
    uint32_t a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(leaf, subleaf, &a, &b, &c, &d);
    char line[64];
    std::snprintf(line, sizeof line, "%x.%x:%x,%x,%x,%x;", leaf, subleaf, a & mask_a, b & mask_b,
                  c & mask_c, d & mask_d);
    text += line;
  };
  constexpr uint32_t all = 0xffffffff;
  text = "x86-64;";
  add(0, 0, 0, all, all, all);   // vendor
  add(1, 0, all, 0, all, all);   // family, model, stepping; features (b has the core's number)
  add(7, 0, all, all, all, all); // extended features
  add(7, 1, all, all, all, all);
  add(0x80000001, 0, 0, 0, all, all); // AMD's features
  add(0xd, 0, all, 0, 0, all);        // register state that the processor can save
  uint32_t a = 0, b = 0, c = 0, d = 0;
  __get_cpuid(1, &a, &b, &c, &d);
  if (c & bit_OSXSAVE) {
    uint32_t low, high; // what the system does save: without it AVX must not be used
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    text += "xcr0:" + std::to_string(low);
  }
#elif defined(__aarch64__)
  text =
      "aarch64;" + std::to_string(getauxval(AT_HWCAP)) + "," + std::to_string(getauxval(AT_HWCAP2));
  uint64_t midr = 0; // the kernel answers for user programs
  if (getauxval(AT_HWCAP) & (1 << 11) /* HWCAP_CPUID */)
    asm("mrs %0, midr_el1" : "=r"(midr));
  text += "," + std::to_string(midr);
#endif
  return text;
}

} // namespace bessemer::metal::cpu

// The floating-point state that a kernel runs under: round to nearest, no traps, subnormals kept or
// taken as zero. The thread's own state comes back when the object goes.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bessemer::metal::cpu {

class FloatingPointMode {
public:
  explicit FloatingPointMode(bool flush_denormals)
      : saved_(read()), wanted_(flush_denormals ? kDefault | kFlush : kDefault) {
    // Writing costs more than reading, and most threads have the default.
    if (saved_ != wanted_)
      write(wanted_);
  }
  ~FloatingPointMode() {
#if defined(__x86_64__)
    // The kernel's exceptions leave sticky flags behind, which the client must not see.
    if (read() != saved_)
      write(saved_);
#else
    if (saved_ != wanted_)
      write(saved_);
#endif
  }
  FloatingPointMode(const FloatingPointMode&) = delete;
  FloatingPointMode& operator=(const FloatingPointMode&) = delete;

#if defined(__x86_64__)
  using Word = uint32_t;
  static constexpr Word kDefault = 0x1f80; // all exceptions masked, none raised
  static constexpr Word kFlush = 0x8040;   // FTZ and DAZ
  static Word read() { return _mm_getcsr(); }
  static void write(Word word) { _mm_setcsr(word); }
#elif defined(__aarch64__)
  using Word = uint64_t;
  static constexpr Word kDefault = 0;
  static constexpr Word kFlush = uint64_t{1} << 24; // FPCR.FZ
  static Word read() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void write(Word word) { asm volatile("msr fpcr, %0" ::"r"(word)); }
#endif

private:
  Word saved_;
  Word wanted_;
};

} // namespace bessemer::metal::cpu

// What is being compiled for: architecture, byte order, compiler, sanitizers, operating system.
// Every macro here is either defined to 1 or not defined at all.

#ifndef IREE_BASE_TARGET_PLATFORM_H_
#define IREE_BASE_TARGET_PLATFORM_H_

enum iree_arch_enum_e {
  IREE_ARCH_ENUM_ARM_32,
  IREE_ARCH_ENUM_ARM_64,
  IREE_ARCH_ENUM_RISCV_32,
  IREE_ARCH_ENUM_RISCV_64,
  IREE_ARCH_ENUM_WASM_32,
  IREE_ARCH_ENUM_WASM_64,
  IREE_ARCH_ENUM_X86_32,
  IREE_ARCH_ENUM_X86_64,
};

#if defined(__x86_64__)
#define IREE_ARCH "x86_64"
#define IREE_ARCH_ENUM IREE_ARCH_ENUM_X86_64
#define IREE_ARCH_X86_64 1
#elif defined(__aarch64__) || defined(__arm64__)
#define IREE_ARCH "arm_64"
#define IREE_ARCH_ENUM IREE_ARCH_ENUM_ARM_64
#define IREE_ARCH_ARM_64 1
#elif defined(__i386__)
#define IREE_ARCH "x86_32"
#define IREE_ARCH_ENUM IREE_ARCH_ENUM_X86_32
#define IREE_ARCH_X86_32 1
#elif defined(__arm__)
#define IREE_ARCH "arm_32"
#define IREE_ARCH_ENUM IREE_ARCH_ENUM_ARM_32
#define IREE_ARCH_ARM_32 1
#elif defined(__riscv) && __riscv_xlen == 64
#define IREE_ARCH "riscv_64"
#define IREE_ARCH_ENUM IREE_ARCH_ENUM_RISCV_64
#define IREE_ARCH_RISCV_64 1
#elif defined(__riscv) && __riscv_xlen == 32
#define IREE_ARCH "riscv_32"
#define IREE_ARCH_ENUM IREE_ARCH_ENUM_RISCV_32
#define IREE_ARCH_RISCV_32 1
#else
#error "architecture not supported: add it to iree/base/target_platform.h"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define IREE_ENDIANNESS_LITTLE 1
#else
#error "only little-endian machines are supported: executables and weights are little-endian"
#endif

#if defined(__clang__)
#define IREE_COMPILER_CLANG 1
#define IREE_COMPILER_GCC_COMPAT 1
#elif defined(__GNUC__)
#define IREE_COMPILER_GCC 1
#define IREE_COMPILER_GCC_COMPAT 1
#else
#error "compiler not supported: use clang or gcc"
#endif

// gcc names sanitizers by macros, clang by features.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IREE_SANITIZER_ADDRESS 1
#endif
#if __has_feature(memory_sanitizer)
#define IREE_SANITIZER_MEMORY 1
#endif
#if __has_feature(thread_sanitizer)
#define IREE_SANITIZER_THREAD 1
#endif
#else
#if defined(__SANITIZE_ADDRESS__)
#define IREE_SANITIZER_ADDRESS 1
#endif
#if defined(__SANITIZE_THREAD__)
#define IREE_SANITIZER_THREAD 1
#endif
#endif

#if defined(__ANDROID__)
#define IREE_PLATFORM_ANDROID 1
#define IREE_PLATFORM_LINUX 1
#elif defined(__linux__)
#define IREE_PLATFORM_LINUX 1
#elif defined(__APPLE__)
#include <TargetConditionals.h>
#define IREE_PLATFORM_APPLE 1
#if TARGET_OS_IPHONE
#define IREE_PLATFORM_IOS 1
#if TARGET_OS_SIMULATOR
#define IREE_PLATFORM_IOS_SIMULATOR 1
#endif
#else
#define IREE_PLATFORM_MACOS 1
#endif
#else
#error "operating system not supported: add it to iree/base/target_platform.h"
#endif

#endif // IREE_BASE_TARGET_PLATFORM_H_

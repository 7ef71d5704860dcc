// SipHash-2-4 with a 64-bit result (Aumasson and Bernstein, 2012).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bessemer::vm::interpreter {

uint64_t siphash24(std::span<const std::byte> bytes, uint64_t key0, uint64_t key1);

} // namespace bessemer::vm::interpreter

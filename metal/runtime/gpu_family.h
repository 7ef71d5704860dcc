// Which GPU family the device claims to be, and what follows from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "metal/runtime/types.h"

namespace mtl {

/// A point in Metal's feature set tables.
struct GpuFamilyProfile {
  int apple = 9; // Apple GPU family number; 0 for an Intel Mac's GPU
  bool metal3 = true;

  bool supports(GPUFamily family) const;

  /// What MTLArchitecture.name says on a Mac of this family. Clients read the generation and the
  /// size class (last letter) out of it.
  std::string architecture() const;
};

/// Reads "apple1" to "apple9", "mac2" or "metal3" (any case); nothing for other text.
std::optional<GpuFamilyProfile> parse_gpu_family(std::string_view text);

/// What BESSEMER_GPU_FAMILY names, Apple9 when it is unset or (with a message) not understood.
GpuFamilyProfile gpu_family_from_environment();

} // namespace mtl

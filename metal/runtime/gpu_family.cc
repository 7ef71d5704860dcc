#include "metal/runtime/gpu_family.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace mtl {

bool GpuFamilyProfile::supports(GPUFamily family) const {
  auto number = static_cast<Integer>(family);
  if (number > 1000 && number <= 1000 + 9)
    return number - 1000 <= apple;
  switch (family) {
  case GPUFamily::Common1:
  case GPUFamily::Common2:
    return apple == 0 || apple >= 3;
  case GPUFamily::Common3:
  // Macs with Apple silicon (family 7 on) have all of the Mac families too.
  case GPUFamily::Mac1:
  case GPUFamily::Mac2:
  case GPUFamily::MacCatalyst1:
  case GPUFamily::MacCatalyst2:
    return apple == 0 || apple >= 7;
  case GPUFamily::Metal3:
    return metal3;
  default:
    return false;
  }
}

std::string GpuFamilyProfile::architecture() const {
  if (apple == 0)
    return "bessemer_mac2";
  // Apple7 is g13 (M1), Apple8 g14, Apple9 g15; g: the size class of the plain M chips.
  return "applegpu_g" + std::to_string(apple + 6) + "g";
}

std::optional<GpuFamilyProfile> parse_gpu_family(std::string_view text) {
  std::string lower;
  for (char c : text)
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "mac2")
    return GpuFamilyProfile{0, false};
  if (lower == "metal3")
    return GpuFamilyProfile{7, true};
  if (lower.size() == 6 && lower.starts_with("apple") && lower[5] >= '1' && lower[5] <= '9') {
    int apple = lower[5] - '0';
    return GpuFamilyProfile{apple, apple >= 7};
  }
  return std::nullopt;
}

GpuFamilyProfile gpu_family_from_environment() {
  const char* text = std::getenv("BESSEMER_GPU_FAMILY");
  if (!text || !*text)
    return {};
  if (auto profile = parse_gpu_family(text))
    return *profile;
  std::fprintf(
      stderr,
      "Metal: BESSEMER_GPU_FAMILY is '%s', which is none of apple1 to apple9, mac2, metal3; "
      "using apple9\n",
      text);
  return {};
}

} // namespace mtl

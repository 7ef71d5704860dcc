#include "vm/module.h"

namespace bessemer::vm {

std::string_view findAttribute(std::span<const Attribute> attributes, std::string_view key) {
  for (const Attribute& attribute : attributes)
    if (attribute.key == key)
      return attribute.value;
  return {};
}

std::optional<uint32_t> Module::findExport(std::string_view name) const {
  std::span<const Export> all = exports();
  for (uint32_t i = 0; i < all.size(); ++i)
    if (all[i].name == name)
      return i;
  return std::nullopt;
}

} // namespace bessemer::vm

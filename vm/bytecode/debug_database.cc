#include "vm/bytecode/debug_database.h"

#include "module_generated.h"
#include "vm/status.h"

namespace bessemer::vm::bytecode {

namespace {
// Locations refer to each other by index, so a damaged table can be circular or very large.
constexpr int kMaxDepth = 16;
constexpr size_t kMaxText = 1024;
} // namespace

DebugDatabase::DebugDatabase(const fb::DebugDatabaseDef* def, size_t function_count)
    : by_ordinal_(def && def->functions() && def->functions()->size() == function_count),
      def_(def) {}

const fb::FunctionSourceMapDef* DebugDatabase::map(size_t function, std::string_view name) const {
  if (!def_ || !def_->functions())
    return nullptr;
  if (by_ordinal_)
    return function < def_->functions()->size()
               ? def_->functions()->Get(static_cast<uint32_t>(function))
               : nullptr;
  for (const fb::FunctionSourceMapDef* map : *def_->functions())
    if (!name.empty() && map->local_name() &&
        std::string_view(map->local_name()->c_str(), map->local_name()->size()) == name)
      return map;
  return nullptr;
}

std::string_view DebugDatabase::name(size_t function) const {
  const fb::FunctionSourceMapDef* found = by_ordinal_ ? map(function, {}) : nullptr;
  if (!found || !found->local_name())
    return {};
  return {found->local_name()->c_str(), found->local_name()->size()};
}

std::string DebugDatabase::find(size_t function, std::string_view name,
                                uint32_t bytecode_offset) const {
  const fb::FunctionSourceMapDef* map = this->map(function, name);
  if (!map || !map->locations())
    return {};
  int32_t location = -1;
  for (const fb::BytecodeLocationDef* entry : *map->locations()) {
    if (entry->bytecode_offset() > static_cast<int64_t>(bytecode_offset))
      break;
    location = entry->location();
  }
  std::string text;
  describe(location, 0, text);
  return text;
}

void DebugDatabase::describe(int32_t location, int depth, std::string& text) const {
  const auto* types = def_->location_table_type();
  const auto* table = def_->location_table();
  if (!types || !table || location < 0 || depth > kMaxDepth || text.size() > kMaxText)
    return;
  auto index = static_cast<uint32_t>(location);
  if (index >= types->size() || index >= table->size())
    return;
  auto separate = [&] {
    if (!text.empty())
      text += " <- ";
  };
  switch (types->GetEnum<fb::LocationTypeDef>(index)) {
  case fb::LocationTypeDef::FileLineColLocDef: {
    const auto* place = table->GetAs<fb::FileLineColLocDef>(index);
    separate();
    if (place->filename())
      text += std::string_view(place->filename()->c_str(), place->filename()->size());
    text += concat(":", place->line(), ":", place->column());
    break;
  }
  case fb::LocationTypeDef::CallSiteLocDef: {
    const auto* site = table->GetAs<fb::CallSiteLocDef>(index);
    describe(site->callee(), depth + 1, text);
    describe(site->caller(), depth + 1, text);
    break;
  }
  case fb::LocationTypeDef::FusedLocDef: {
    const auto* fused = table->GetAs<fb::FusedLocDef>(index);
    if (fused->locations())
      for (int32_t part : *fused->locations())
        describe(part, depth + 1, text);
    break;
  }
  case fb::LocationTypeDef::NameLocDef: {
    const auto* named = table->GetAs<fb::NameLocDef>(index);
    if (named->name()) {
      separate();
      text += std::string_view(named->name()->c_str(), named->name()->size());
    }
    describe(named->child_location(), depth + 1, text);
    break;
  }
  default:
    break;
  }
}

} // namespace bessemer::vm::bytecode

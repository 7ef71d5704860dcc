// Reads the tables of executable_debug_info.fbs in place, by the positions of their fields.

#include "iree/hal/utils/executable_debug_info.h"

#include <cstring>

#include <flatbuffers/flatbuffers.h>

namespace {

using flatbuffers::Offset;
using flatbuffers::String;
using flatbuffers::Table;
using flatbuffers::Vector;

/// Where field number `id` stands in a table's vtable.
constexpr flatbuffers::voffset_t field(int id) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * id);
}

// ExportDef{name, location, stage_locations}; FileLineLocDef{filename, line};
// StageLocationDef{stage, location}.
constexpr auto kName = field(0);
constexpr auto kLocation = field(1);
constexpr auto kStageLocations = field(2);
constexpr auto kFilename = field(0);
constexpr auto kLine = field(1);
constexpr auto kStageLocation = field(1);

const Table* tableOf(iree_hal_debug_ExportDef_table_t definition) {
  return reinterpret_cast<const Table*>(definition);
}

const Vector<Offset<Table>>* stagesOf(const Table* definition) {
  return definition->GetPointer<const Vector<Offset<Table>>*>(kStageLocations);
}

/// The location in the first compilation stage that kept one, or the export's own.
const Table* locationOf(const Table* definition) {
  const auto* stages = stagesOf(definition);
  if (stages && stages->size() > 0) {
    const Table* stage = stages->Get(0);
    if (const auto* location = stage->GetPointer<const Table*>(kStageLocation))
      return location;
  }
  return definition->GetPointer<const Table*>(kLocation);
}

iree_string_view_t viewOf(const String* text) {
  return text ? iree_make_string_view(text->c_str(), text->size()) : iree_string_view_empty();
}

iree_status_t checkLocation(const Table* location) {
  if (!location || location->GetPointer<const String*>(kFilename))
    return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a source location names no file");
}

} // namespace

iree_status_t iree_hal_debug_verify_export_def(iree_hal_debug_ExportDef_table_t export_def) {
  if (!export_def)
    return iree_ok_status();
  const Table* definition = tableOf(export_def);
  IREE_RETURN_IF_ERROR(checkLocation(definition->GetPointer<const Table*>(kLocation)));
  if (const auto* stages = stagesOf(definition)) {
    for (flatbuffers::uoffset_t i = 0; i < stages->size(); ++i) {
      const Table* stage = stages->Get(i);
      if (!stage->GetPointer<const String*>(field(0))) {
        return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "stage location %u names no stage",
                                (unsigned)i);
      }
      IREE_RETURN_IF_ERROR(checkLocation(stage->GetPointer<const Table*>(kStageLocation)));
    }
  }
  return iree_ok_status();
}

iree_host_size_t
iree_hal_debug_calculate_export_info_size(iree_hal_debug_ExportDef_table_t export_def) {
  if (!export_def)
    return 0;
  const Table* definition = tableOf(export_def);
  iree_host_size_t size = sizeof(iree_hal_debug_export_info_t);
  size += viewOf(definition->GetPointer<const String*>(kName)).size;
  if (const Table* location = locationOf(definition)) {
    size += viewOf(location->GetPointer<const String*>(kFilename)).size;
  }
  return size;
}

iree_host_size_t iree_hal_debug_copy_export_info(iree_hal_debug_ExportDef_table_t export_def,
                                                 iree_hal_debug_export_info_t* out_info) {
  std::memset(out_info, 0, sizeof(*out_info));
  if (!export_def)
    return 0;
  const Table* definition = tableOf(export_def);
  char* text = reinterpret_cast<char*>(out_info + 1);
  auto copyText = [&](iree_string_view_t source) {
    if (source.size)
      std::memcpy(text, source.data, source.size);
    text += source.size;
    return iree_make_string_view(text - source.size, source.size);
  };
  out_info->function_name = copyText(viewOf(definition->GetPointer<const String*>(kName)));
  if (const Table* location = locationOf(definition)) {
    out_info->source_filename = copyText(viewOf(location->GetPointer<const String*>(kFilename)));
    out_info->source_line = static_cast<uint32_t>(location->GetField<int32_t>(kLine, 0));
  }
  return text - reinterpret_cast<char*>(out_info);
}

void iree_hal_debug_publish_source_files(iree_hal_debug_SourceFileDef_vec_t) {
  // There is no tracing service that would take them.
}

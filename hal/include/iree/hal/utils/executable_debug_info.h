#ifndef IREE_HAL_UTILS_EXECUTABLE_DEBUG_INFO_H_
#define IREE_HAL_UTILS_EXECUTABLE_DEBUG_INFO_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef const struct iree_hal_debug_ExportDef_table* iree_hal_debug_ExportDef_table_t;
typedef const uint32_t* iree_hal_debug_SourceFileDef_vec_t;

/// Checks the parts that the other functions use; null is fine.
iree_status_t iree_hal_debug_verify_export_def(iree_hal_debug_ExportDef_table_t export_def);

/// Where an export comes from. The text lies behind it.
typedef struct iree_hal_debug_export_info_t {
  iree_string_view_t function_name;
  iree_string_view_t source_filename;
  uint32_t source_line;
} iree_hal_debug_export_info_t;

/// Bytes that iree_hal_debug_copy_export_info fills, the struct included.
iree_host_size_t
iree_hal_debug_calculate_export_info_size(iree_hal_debug_ExportDef_table_t export_def);

/// Copies out of the table; returns the bytes used.
iree_host_size_t iree_hal_debug_copy_export_info(iree_hal_debug_ExportDef_table_t export_def,
                                                 iree_hal_debug_export_info_t* out_info);

/// Hands source files to a tracing tool, where there is one.
void iree_hal_debug_publish_source_files(iree_hal_debug_SourceFileDef_vec_t source_files_vec);

#ifdef __cplusplus
}
#endif
#endif

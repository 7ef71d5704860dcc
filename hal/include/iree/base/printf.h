// printf that writes to memory or to a callback.

#ifndef IREE_BASE_PRINTF_H_
#define IREE_BASE_PRINTF_H_

#include <stdarg.h>
#include <stddef.h>

#include "iree/base/attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*iree_printf_callback_t)(char character, void* user_data);

// As snprintf and vsnprintf: the length that the whole text has, or a negative number.
int iree_snprintf(char* buffer, size_t count, const char* format, ...) IREE_PRINTF_ATTRIBUTE(3, 4);
int iree_vsnprintf(char* buffer, size_t count, const char* format, va_list varargs)
    IREE_PRINTF_ATTRIBUTE(3, 0);

// Calls back for each character, without a NUL.
int iree_fctprintf(iree_printf_callback_t callback, void* user_data, const char* format, ...)
    IREE_PRINTF_ATTRIBUTE(3, 4);
int iree_vfctprintf(iree_printf_callback_t callback, void* user_data, const char* format,
                    va_list varargs) IREE_PRINTF_ATTRIBUTE(3, 0);

#ifdef __cplusplus
} // extern "C"
#endif

#endif // IREE_BASE_PRINTF_H_

/* Log messages, to standard error; debug and info ones only where BESSEMER_LOG is set. */
#pragma once

#include <stdint.h>

typedef struct os_log_s *os_log_t;
typedef uint8_t os_log_type_t;
enum {
  OS_LOG_TYPE_DEFAULT = 0,
  OS_LOG_TYPE_INFO = 1,
  OS_LOG_TYPE_DEBUG = 2,
  OS_LOG_TYPE_ERROR = 16,
  OS_LOG_TYPE_FAULT = 17
};
#define OS_LOG_DEFAULT ((os_log_t)0)
#define OS_LOG_DISABLED ((os_log_t)1)

#ifdef __cplusplus
extern "C" {
#endif
os_log_t os_log_create(const char *subsystem, const char *category);
void bessemer_os_log(os_log_t log, os_log_type_t type, const char *format, ...);
#ifdef __cplusplus
}
#endif

#define os_log_with_type(log, type, ...) bessemer_os_log(log, type, __VA_ARGS__)
#define os_log(log, ...) bessemer_os_log(log, OS_LOG_TYPE_DEFAULT, __VA_ARGS__)
#define os_log_info(log, ...) bessemer_os_log(log, OS_LOG_TYPE_INFO, __VA_ARGS__)
#define os_log_debug(log, ...) bessemer_os_log(log, OS_LOG_TYPE_DEBUG, __VA_ARGS__)
#define os_log_error(log, ...) bessemer_os_log(log, OS_LOG_TYPE_ERROR, __VA_ARGS__)
#define os_log_fault(log, ...) bessemer_os_log(log, OS_LOG_TYPE_FAULT, __VA_ARGS__)

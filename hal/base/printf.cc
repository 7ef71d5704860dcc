#include "iree/base/printf.h"

#include <cstdio>
#include <cstdlib>

int iree_vsnprintf(char* buffer, size_t count, const char* format, va_list varargs) {
  return std::vsnprintf(buffer, count, format, varargs);
}

int iree_snprintf(char* buffer, size_t count, const char* format, ...) {
  va_list varargs;
  va_start(varargs, format);
  int length = iree_vsnprintf(buffer, count, format, varargs);
  va_end(varargs);
  return length;
}

int iree_vfctprintf(iree_printf_callback_t callback, void* user_data, const char* format,
                    va_list varargs) {
  char stack_buffer[256];
  char* text = stack_buffer;
  va_list again;
  va_copy(again, varargs);
  int length = std::vsnprintf(stack_buffer, sizeof(stack_buffer), format, varargs);
  if (length >= static_cast<int>(sizeof(stack_buffer))) {
    std::size_t size = static_cast<std::size_t>(length) + 1;
    text = static_cast<char*>(std::malloc(size));
    length = text ? std::vsnprintf(text, size, format, again) : -1;
  }
  va_end(again);
  for (int i = 0; i < length; ++i)
    callback(text[i], user_data);
  if (text != stack_buffer)
    std::free(text);
  return length;
}

int iree_fctprintf(iree_printf_callback_t callback, void* user_data, const char* format, ...) {
  va_list varargs;
  va_start(varargs, format);
  int length = iree_vfctprintf(callback, user_data, format, varargs);
  va_end(varargs);
  return length;
}

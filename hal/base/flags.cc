#include "iree/base/tooling/flags.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Flag {
  const char* file;
  void* storage;
  iree_flag_parse_callback_fn_t parse;
  iree_flag_print_callback_fn_t print;
  iree_string_view_t name;
  iree_string_view_t description;
  iree_flag_type_t type;
};

// Filled by static initializers, so all of it is constant initialized.
struct Registry {
  Flag flags[IREE_FLAGS_CAPACITY];
  int count;
  const char* program_name;
  const char* usage;
};
constinit Registry g_registry = {};

Flag* FindFlag(iree_string_view_t name) {
  Flag* end = g_registry.flags + g_registry.count;
  Flag* found = std::find_if(g_registry.flags, end, [&](const Flag& flag) {
    return iree_string_view_equal(flag.name, name);
  });
  return found == end ? nullptr : found;
}

template <typename T>
T& As(const Flag& flag) {
  return *static_cast<T*>(flag.storage);
}

bool ParseBool(iree_string_view_t value, bool* out_value) {
  for (const char* text : {"", "true", "1"}) {
    if (iree_string_view_equal(value, iree_make_cstring_view(text)))
      return *out_value = true;
  }
  if (!iree_string_view_equal(value, IREE_SV("false")) &&
      !iree_string_view_equal(value, IREE_SV("0"))) {
    return false;
  }
  *out_value = false;
  return true;
}

iree_status_t SetFlag(const Flag& flag, iree_string_view_t value) {
  bool ok = false;
  const char* kind = "";
  switch (flag.type) {
  case IREE_FLAG_TYPE_callback:
    return flag.parse(flag.name, flag.storage, value);
  case IREE_FLAG_TYPE_bool:
    kind = "true or false";
    ok = ParseBool(value, &As<bool>(flag));
    break;
  case IREE_FLAG_TYPE_int32_t:
    kind = "a 32-bit integer";
    ok = iree_string_view_atoi_int32(value, &As<int32_t>(flag));
    break;
  case IREE_FLAG_TYPE_int64_t:
    kind = "a 64-bit integer";
    ok = iree_string_view_atoi_int64(value, &As<int64_t>(flag));
    break;
  case IREE_FLAG_TYPE_float:
    kind = "a number";
    ok = iree_string_view_atof(value, &As<float>(flag));
    break;
  case IREE_FLAG_TYPE_double:
    kind = "a number";
    ok = iree_string_view_atod(value, &As<double>(flag));
    break;
  case IREE_FLAG_TYPE_string:
    // Values are the ends of strings in argv, which live as long as the program.
    As<const char*>(flag) = value.data ? value.data : "";
    return iree_ok_status();
  case IREE_FLAG_TYPE_none:
    break;
  }
  if (ok)
    return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%.*s: '%.*s' is not %s",
                          static_cast<int>(flag.name.size), flag.name.data,
                          static_cast<int>(value.size), value.data, kind);
}

void PrintFlag(const Flag& flag, FILE* file) {
  std::fprintf(file, "--%.*s", static_cast<int>(flag.name.size), flag.name.data);
  switch (flag.type) {
  case IREE_FLAG_TYPE_bool:
    std::fprintf(file, "=%s\n", As<bool>(flag) ? "true" : "false");
    return;
  case IREE_FLAG_TYPE_int32_t:
    std::fprintf(file, "=%" PRId32 "\n", As<int32_t>(flag));
    return;
  case IREE_FLAG_TYPE_int64_t:
    std::fprintf(file, "=%" PRId64 "\n", As<int64_t>(flag));
    return;
  case IREE_FLAG_TYPE_float:
    std::fprintf(file, "=%g\n", static_cast<double>(As<float>(flag)));
    return;
  case IREE_FLAG_TYPE_double:
    std::fprintf(file, "=%g\n", As<double>(flag));
    return;
  case IREE_FLAG_TYPE_string: {
    const char* value = As<const char*>(flag);
    std::fprintf(file, "=\"%s\"\n", value ? value : "");
    return;
  }
  default:
    std::fputc('\n', file);
    return;
  }
}

void PrintHelp(FILE* file) {
  if (g_registry.program_name)
    std::fprintf(file, "# %s\n", g_registry.program_name);
  if (g_registry.usage)
    std::fprintf(file, "%s\n", g_registry.usage);
  iree_flags_dump(IREE_FLAG_DUMP_MODE_VERBOSE, file);
}

} // namespace

int iree_flag_register(const char* file, int line, iree_flag_type_t type, void* storage,
                       iree_flag_parse_callback_fn_t parse_callback,
                       iree_flag_print_callback_fn_t print_callback, iree_string_view_t name,
                       iree_string_view_t description) {
  if (g_registry.count == IREE_FLAGS_CAPACITY) {
    std::fprintf(stderr, "%s:%d: more than %d flags: raise IREE_FLAGS_CAPACITY\n", file, line,
                 IREE_FLAGS_CAPACITY);
    std::abort();
  }
  g_registry.flags[g_registry.count++] = {
      file, storage, parse_callback, print_callback, name, description, type};
  return 0;
}

iree_status_t iree_flag_string_list_parse(iree_string_view_t, void* storage,
                                          iree_string_view_t value) {
  auto* list = static_cast<iree_flag_string_list_storage_t*>(storage);
  if (list->count == 0) {
    list->inline_value = value;
    list->count = 1;
    return iree_ok_status();
  }
  if (list->count == list->capacity) {
    iree_host_size_t capacity = list->capacity * 2;
    void* values = nullptr;
    // Lives as long as the program, as flags do.
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(iree_allocator_system(), capacity,
                                                     sizeof(iree_string_view_t), &values));
    const iree_string_view_t* old = list->capacity == 1 ? &list->inline_value : list->values;
    std::memcpy(values, old, list->count * sizeof(iree_string_view_t));
    if (list->capacity > 1)
      iree_allocator_free(iree_allocator_system(), list->values);
    list->values = static_cast<iree_string_view_t*>(values);
    list->capacity = capacity;
  }
  list->values[list->count++] = value;
  return iree_ok_status();
}

void iree_flag_string_list_print(iree_string_view_t flag_name, void* storage, FILE* file) {
  auto* list = static_cast<iree_flag_string_list_storage_t*>(storage);
  const iree_string_view_t* values = list->capacity == 1 ? &list->inline_value : list->values;
  if (list->count == 0) {
    std::fprintf(file, "# --%.*s=...\n", static_cast<int>(flag_name.size), flag_name.data);
  }
  for (iree_host_size_t i = 0; i < list->count; ++i) {
    std::fprintf(file, "--%.*s=\"%.*s\"\n", static_cast<int>(flag_name.size), flag_name.data,
                 static_cast<int>(values[i].size), values[i].data);
  }
}

void iree_flags_set_usage(const char* program_name, const char* usage) {
  g_registry.program_name = program_name;
  g_registry.usage = usage;
}

iree_status_t iree_flags_parse(iree_flags_parse_mode_t mode, int* argc, char*** argv) {
  int kept = 1;
  char** arguments = *argv;
  int i = 1;
  for (; i < *argc; ++i) {
    iree_string_view_t argument = iree_make_cstring_view(arguments[i]);
    iree_string_view_t text = argument;
    if (!iree_string_view_consume_prefix(&text, IREE_SV("--"))) {
      arguments[kept++] = arguments[i];
      continue;
    }
    if (text.size == 0)
      break;
    iree_string_view_t name, value;
    iree_string_view_split(text, '=', &name, &value);
    if (iree_string_view_equal(name, IREE_SV("help"))) {
      PrintHelp(stdout);
      if (mode & IREE_FLAGS_PARSE_MODE_CONTINUE_AFTER_HELP) {
        arguments[kept++] = arguments[i];
        continue;
      }
      std::fflush(stdout);
      std::exit(0);
    }
    Flag* flag = FindFlag(name);
    if (flag) {
      IREE_RETURN_IF_ERROR(SetFlag(*flag, value));
    } else if (mode & IREE_FLAGS_PARSE_MODE_UNDEFINED_OK) {
      arguments[kept++] = arguments[i];
    } else {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unknown flag '%s'; try --help",
                              arguments[i]);
    }
  }
  // From "--" on nothing is a flag.
  while (i < *argc)
    arguments[kept++] = arguments[i++];
  if (kept < *argc)
    arguments[kept] = nullptr;
  *argc = kept;
  return iree_ok_status();
}

void iree_flags_parse_checked(iree_flags_parse_mode_t mode, int* argc, char*** argv) {
  iree_status_t status = iree_flags_parse(mode, argc, argv);
  if (iree_status_is_ok(status))
    return;
  iree_string_view_t message = iree_status_message(status);
  std::fprintf(stderr, "error: %.*s\n", static_cast<int>(message.size), message.data);
  iree_status_free(status);
  std::exit(1);
}

void iree_flags_dump(iree_flag_dump_mode_t mode, FILE* file) {
  for (int i = 0; i < g_registry.count; ++i) {
    const Flag& flag = g_registry.flags[i];
    if ((mode & IREE_FLAG_DUMP_MODE_VERBOSE) && flag.description.size) {
      std::fprintf(file, "# %.*s\n", static_cast<int>(flag.description.size),
                   flag.description.data);
    }
    if (flag.type == IREE_FLAG_TYPE_callback) {
      if (flag.print)
        flag.print(flag.name, flag.storage, file);
    } else {
      PrintFlag(flag, file);
    }
  }
}

#include "metal/foundation/method_signature.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "metal/objc/runtime.h"

namespace ns {
namespace {

const char* skip_qualifiers(const char* type) {
  while (*type && std::string_view("rnNoORVA").find(*type) != std::string_view::npos)
    ++type;
  return type;
}

const char* skip_group(const char* type, char open, char close) {
  int depth = 0;
  for (; *type; ++type) {
    if (*type == open)
      ++depth;
    else if (*type == close && --depth == 0)
      return type + 1;
  }
  return type;
}

size_t alignment_of_type(const char* type);

size_t struct_size(const char* type, bool is_union, size_t* alignment) {
  char close = is_union ? ')' : '}';
  size_t size = 0;
  *alignment = 1;
  ++type;
  while (*type && *type != '=' && *type != close)
    ++type;
  if (*type == '=')
    ++type;
  while (*type && *type != close) {
    if (*type == '"') { // a field's name
      type = skip_group(type + 1, '\0', '"');
      continue;
    }
    size_t field = size_of_type(type);
    size_t field_alignment = alignment_of_type(type);
    *alignment = std::max(*alignment, field_alignment);
    if (is_union)
      size = std::max(size, field);
    else
      size = (size + field_alignment - 1) / field_alignment * field_alignment + field;
    type = skip_type(type);
  }
  return (size + *alignment - 1) / *alignment * *alignment;
}

size_t alignment_of_type(const char* type) {
  type = skip_qualifiers(type);
  size_t alignment = 1;
  switch (*type) {
  case '{':
    struct_size(type, false, &alignment);
    return alignment;
  case '(':
    struct_size(type, true, &alignment);
    return alignment;
  case '[':
    for (++type; std::isdigit(static_cast<unsigned char>(*type)); ++type)
      ;
    return alignment_of_type(type);
  default:
    return std::max<size_t>(1, size_of_type(type));
  }
}

} // namespace

const char* skip_type(const char* type) {
  type = skip_qualifiers(type);
  switch (*type) {
  case '\0':
    return type;
  case '{':
    return skip_group(type, '{', '}');
  case '(':
    return skip_group(type, '(', ')');
  case '[':
    return skip_group(type, '[', ']');
  case '^':
    return skip_type(type + 1);
  case '@': // @?, @?<...> or @"Name"
    ++type;
    if (*type == '?') {
      ++type;
      if (*type == '<')
        type = skip_group(type, '<', '>');
    } else if (*type == '"') {
      for (++type; *type && *type != '"'; ++type)
        ;
      if (*type)
        ++type;
    }
    return type;
  default:
    return type + 1;
  }
}

size_t size_of_type(const char* type) {
  type = skip_qualifiers(type);
  size_t alignment;
  switch (*type) {
  case 'c':
  case 'C':
  case 'B':
    return 1;
  case 's':
  case 'S':
    return 2;
  case 'i':
  case 'I':
  case 'f':
    return 4;
  case 'l':
  case 'L':
  case 'q':
  case 'Q':
  case 'd':
    return 8;
  case '@':
  case '#':
  case ':':
  case '*':
  case '^':
    return sizeof(void*);
  case '{':
    return struct_size(type, false, &alignment);
  case '(':
    return struct_size(type, true, &alignment);
  case '[': {
    size_t count = 0;
    for (++type; std::isdigit(static_cast<unsigned char>(*type)); ++type)
      count = count * 10 + static_cast<size_t>(*type - '0');
    return count * size_of_type(type);
  }
  default:
    return 0;
  }
}

MethodSignature::MethodSignature(const char* types) {
  while (*types) {
    const char* end = skip_type(types);
    types_.emplace_back(types, end);
    while (std::isdigit(static_cast<unsigned char>(*end)) || *end == '-' || *end == '+')
      ++end;
    types = end;
  }
  if (types_.empty())
    types_.emplace_back("v");
}

const char* MethodSignature::argument_type(UInteger index) const {
  if (index >= argument_count())
    objc::fatal("-[NSMethodSignature getArgumentTypeAtIndex:]: index %lu of %lu", index,
                argument_count());
  return types_[index + 1].c_str();
}

namespace {

MethodSignature* signature_with_types(objc::Class*, const char* types) {
  return types ? objc::make<MethodSignature>(types).autorelease() : nullptr;
}
UInteger return_length(MethodSignature* self) { return size_of_type(self->return_type()); }

} // namespace

extern "C" {

unsigned method_getNumberOfArguments(const objc::Method* method) {
  return static_cast<unsigned>(MethodSignature(method->types).argument_count());
}
// The caller frees these.
char* method_copyReturnType(const objc::Method* method) {
  return strdup(MethodSignature(method->types).return_type());
}
char* method_copyArgumentType(const objc::Method* method, unsigned index) {
  MethodSignature signature(method->types);
  return index < signature.argument_count() ? strdup(signature.argument_type(index)) : nullptr;
}
}

OBJC_DEFINE_CLASS(MethodSignature, "NSMethodSignature", objc::Object,
                  .methods =
                      {
                          objc::method<&MethodSignature::argument_count>("numberOfArguments"),
                          objc::method<&MethodSignature::return_type>("methodReturnType"),
                          objc::method<&MethodSignature::argument_type>("getArgumentTypeAtIndex:"),
                          objc::method<&return_length>("methodReturnLength"),
                      },
                  .class_methods = {
                      objc::method<&signature_with_types>("signatureWithObjCTypes:")});

} // namespace ns

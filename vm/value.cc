#include "vm/value.h"

namespace bessemer::vm {

std::string_view valueTypeName(ValueType type) {
  switch (type) {
  case ValueType::None:
    return "none";
  case ValueType::I8:
    return "i8";
  case ValueType::I16:
    return "i16";
  case ValueType::I32:
    return "i32";
  case ValueType::I64:
    return "i64";
  case ValueType::F32:
    return "f32";
  case ValueType::F64:
    return "f64";
  case ValueType::Ref:
    return "ref";
  }
  return "unknown";
}

} // namespace bessemer::vm

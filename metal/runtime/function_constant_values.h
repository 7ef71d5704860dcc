// MTLFunctionConstantValues and MTLFunctionConstant.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <vector>

#include "library_generated.h"
#include "metal/cpu/executor/compiler_service.h"
#include "metal/foundation/string.h"
#include "metal/objc/class.h"
#include "metal/runtime/data_type.h"

namespace mtl {

struct FunctionConstantValuesMap {
  struct Value {
    DataType type;
    std::vector<uint8_t> bytes;
  };
  std::map<UInteger, Value> by_index;
  std::map<std::string, Value> by_name;
};

class FunctionConstantValues : public objc::Object, public FunctionConstantValuesMap {
public:
  OBJC_CLASS(FunctionConstantValues, "MTLFunctionConstantValues");

  void set_at_index(const void* value, DataType type, UInteger index);
  /// Values one after the other, for consecutive indices.
  void set_in_range(const void* values, DataType type, Range range);
  void set_named(const void* value, DataType type, ns::String* name);
  void reset();

  /// The values that `function` has constants for; an error line when a required one is missing or
  /// a type is not the declared one. `values` may be null.
  static std::expected<std::vector<bessemer::metal::cpu::ConstantValue>, std::string>
  resolve(const FunctionConstantValues* values, const bessemer::metal::Function& function);
};

/// A constant that a function declares.
class FunctionConstant : public objc::Object {
public:
  OBJC_CLASS(FunctionConstant, "MTLFunctionConstant");

  FunctionConstant() = default;
  explicit FunctionConstant(const bessemer::metal::FunctionConstant& constant);

  ns::String* name() const { return name_.get(); }
  DataType type() const { return type_; }
  UInteger index() const { return index_; }
  bool required() const { return required_; }

private:
  objc::Ref<ns::String> name_;
  DataType type_ = DataType::None;
  UInteger index_ = 0;
  bool required_ = false;
};

} // namespace mtl

#include "metal/runtime/function_constant_values.h"

#include "metal/runtime/encoding.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/property.h"

namespace mtl {
namespace {

std::vector<uint8_t> bytes_of(const char* method, const void* value, DataType type) {
  const char kClass[] = "MTLFunctionConstantValues ";
  DataTypeShape shape = shape_of(type);
  if (!value || shape.scalar == DataType::None || shape.columns > 1) {
    report_misuse((kClass + std::string(method)).c_str(), "%s",
                  value ? (data_type_name(type) + " is not a type of constants").c_str()
                        : "the value is null");
    return {};
  }
  auto* bytes = static_cast<const uint8_t*>(value);
  // Three elements, though they are laid out as four: a client may end its memory there.
  uint32_t element = layout_of(shape.scalar).size;
  return {bytes, bytes + element * shape.rows};
}

} // namespace

void FunctionConstantValues::set_at_index(const void* value, DataType type, UInteger index) {
  if (auto bytes = bytes_of("setConstantValue:type:atIndex:", value, type); !bytes.empty())
    by_index[index] = {type, std::move(bytes)};
}

void FunctionConstantValues::set_in_range(const void* values, DataType type, Range range) {
  auto* next = static_cast<const uint8_t*>(values);
  for (UInteger i = 0; i < range.length; ++i, next += layout_of(type).size) {
    auto bytes = bytes_of("setConstantValues:type:withRange:", next, type);
    if (bytes.empty())
      return;
    by_index[range.location + i] = {type, std::move(bytes)};
  }
}

void FunctionConstantValues::set_named(const void* value, DataType type, ns::String* name) {
  if (auto bytes = bytes_of("setConstantValue:type:withName:", value, type); !bytes.empty())
    by_name[ns::utf8(name)] = {type, std::move(bytes)};
}

void FunctionConstantValues::reset() {
  by_index.clear();
  by_name.clear();
}

std::expected<std::vector<bessemer::metal::cpu::ConstantValue>, std::string>
FunctionConstantValues::resolve(const FunctionConstantValues* values,
                                const bessemer::metal::Function& function) {
  std::vector<bessemer::metal::cpu::ConstantValue> result;
  if (!function.constants())
    return result;
  for (const auto* constant : *function.constants()) {
    std::string name = constant->name() ? constant->name()->str() : std::string();
    const Value* value = nullptr;
    if (values) {
      if (auto found = values->by_index.find(constant->index()); found != values->by_index.end())
        value = &found->second;
      else if (auto named = values->by_name.find(name); named != values->by_name.end())
        value = &named->second;
    }
    std::string what = "function '" + function.name()->str() + "': constant '" + name +
                       "' [[function_constant(" + std::to_string(constant->index()) + ")]]";
    if (!value) {
      if (constant->required())
        return std::unexpected(what + " has no value");
      continue;
    }
    auto declared = static_cast<DataType>(constant->type());
    if (value->type != declared)
      return std::unexpected(what + " is a " + data_type_name(declared) + ", but a " +
                             data_type_name(value->type) + " was set");
    result.push_back({constant->index(), constant->type(), value->bytes});
  }
  return result;
}

FunctionConstant::FunctionConstant(const bessemer::metal::FunctionConstant& constant)
    : name_(ns::string(constant.name() ? constant.name()->string_view() : std::string_view())),
      type_(static_cast<DataType>(constant.type())), index_(constant.index()),
      required_(constant.required()) {}

using P = Properties<FunctionConstantValues, FunctionConstantValuesMap>;

OBJC_DEFINE_CLASS(
    FunctionConstantValues, "MTLFunctionConstantValues", objc::Object,
    .methods =
        {
            objc::method<&FunctionConstantValues::set_at_index>("setConstantValue:type:atIndex:"),
            objc::method<&FunctionConstantValues::set_in_range>(
                "setConstantValues:type:withRange:"),
            objc::method<&FunctionConstantValues::set_named>("setConstantValue:type:withName:"),
            objc::method<&FunctionConstantValues::reset>("reset"),
            objc::method<&P::copy>("copyWithZone:"),
        },
    .protocols = {"NSCopying"});

OBJC_DEFINE_CLASS(FunctionConstant, "MTLFunctionConstant", objc::Object,
                  .methods = {
                      objc::method<&FunctionConstant::name>("name"),
                      objc::method<&FunctionConstant::type>("type"),
                      objc::method<&FunctionConstant::index>("index"),
                      objc::method<&FunctionConstant::required>("required"),
                  });

} // namespace mtl

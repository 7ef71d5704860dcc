#include "bessemer/bessemer.h"

#include <cstring>
#include <string>
#include <vector>

#include "modules/session.h"
#include "tools/devices.h"
#include "tools/inputs.h"
#include "vm/file_mapping.h"

using bessemer::modules::Session;
using bessemer::tools::Array;
using bessemer::tools::DeviceSet;
using bessemer::vm::concat;
using bessemer::vm::fail;
using bessemer::vm::Function;
using bessemer::vm::Result;
using bessemer::vm::StatusCode;
using bessemer::vm::Value;
using bessemer::vm::ValueType;

struct bessemer_program_t {
  struct Named {
    std::string name, declaration;
  };
  DeviceSet devices;
  std::unique_ptr<Session> session; // ends before its devices
  std::vector<Named> functions;
};

struct bessemer_results_t {
  struct Item {
    Array array;
    std::vector<int64_t> shape;
    uint64_t number = 0;
    bessemer_value_t view = {};
  };
  std::vector<Item> items;
};

namespace {

struct OwnedError : bessemer_error_t {
  std::string text;
};

struct TypeInfo {
  const char* name;
  size_t size;
  uint32_t hal; // the element type
};

// By bessemer_type_t.
constexpr TypeInfo kTypes[] = {
    {"null", 0, IREE_HAL_ELEMENT_TYPE_NONE},
    {"bool", 1, IREE_HAL_ELEMENT_TYPE_BOOL_8},
    {"i8", 1, IREE_HAL_ELEMENT_TYPE_SINT_8},
    {"i16", 2, IREE_HAL_ELEMENT_TYPE_SINT_16},
    {"i32", 4, IREE_HAL_ELEMENT_TYPE_SINT_32},
    {"i64", 8, IREE_HAL_ELEMENT_TYPE_SINT_64},
    {"u8", 1, IREE_HAL_ELEMENT_TYPE_UINT_8},
    {"u16", 2, IREE_HAL_ELEMENT_TYPE_UINT_16},
    {"u32", 4, IREE_HAL_ELEMENT_TYPE_UINT_32},
    {"u64", 8, IREE_HAL_ELEMENT_TYPE_UINT_64},
    {"f16", 2, IREE_HAL_ELEMENT_TYPE_FLOAT_16},
    {"bf16", 2, IREE_HAL_ELEMENT_TYPE_BFLOAT_16},
    {"f32", 4, IREE_HAL_ELEMENT_TYPE_FLOAT_32},
    {"f64", 8, IREE_HAL_ELEMENT_TYPE_FLOAT_64},
    {"c64", 8, IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_64},
    {"c128", 16, IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_128},
};

__attribute__((no_sanitize("enum"))) const TypeInfo* infoOf(bessemer_type_t type) {
  const auto index = static_cast<size_t>(type);
  return index < std::size(kTypes) ? &kTypes[index] : nullptr;
}

// Programs' integers are signless, and their view may say signed, unsigned or neither.
Result<bessemer_type_t> typeOf(uint32_t hal) {
  switch (hal) {
  case IREE_HAL_ELEMENT_TYPE_INT_8:
    return BESSEMER_INT8;
  case IREE_HAL_ELEMENT_TYPE_INT_16:
    return BESSEMER_INT16;
  case IREE_HAL_ELEMENT_TYPE_INT_32:
    return BESSEMER_INT32;
  case IREE_HAL_ELEMENT_TYPE_INT_64:
    return BESSEMER_INT64;
  default:
    for (size_t i = 1; i < std::size(kTypes); ++i)
      if (kTypes[i].hal == hal)
        return static_cast<bessemer_type_t>(i);
    return fail(StatusCode::Unimplemented, "a result has an element type without a name here");
  }
}

template <class T>
T* failWith(bessemer_error_t** error, const bessemer::vm::Error& what) {
  if (error) {
    auto* owned = new OwnedError;
    owned->text = what.toString();
    owned->code = static_cast<int32_t>(what.code());
    owned->message = owned->text.c_str();
    *error = owned;
  }
  return nullptr;
}

template <class Load>
Result<std::unique_ptr<bessemer_program_t>> open(const bessemer_options_t* options, Load load) {
  auto program = std::make_unique<bessemer_program_t>();
  const std::string device = options && options->device ? options->device : "metal";
  BESSEMER_ASSIGN_OR_RETURN(program->devices, DeviceSet::open(std::span(&device, 1)));
  Session::Options session;
  session.devices = program->devices.devices();
  for (size_t i = 0; options && i < options->parameter_count; ++i)
    session.parameters.push_back(bessemer::modules::ParameterFile::parse(options->parameters[i]));
  BESSEMER_ASSIGN_OR_RETURN(program->session, Session::create(std::move(session)));
  BESSEMER_RETURN_IF_ERROR(load(*program->session));
  BESSEMER_ASSIGN_OR_RETURN(const auto functions, program->session->functions());
  for (const Function& function : functions) {
    const std::string_view name = function.name();
    if (!name.starts_with("__") && name.find('$') == name.npos)
      program->functions.push_back(
          {std::string(name), std::string(function.attribute("iree.abi.declaration"))});
  }
  return program;
}

// A number as what the function takes, when nothing of it is lost but a float's last digits.
Result<Value> inputNumber(const bessemer_value_t& input, const TypeInfo& info, ValueType wanted) {
  if (input.size != info.size)
    return fail(StatusCode::InvalidArgument, info.name, " of ", input.size, " bytes");
  auto load = [&](auto value) {
    std::memcpy(&value, input.data, sizeof(value));
    return value;
  };
  int64_t whole = 0;
  double real = 0;
  bool is_whole = true;
  switch (input.type) {
  case BESSEMER_INT32:
    whole = load(int32_t());
    break;
  case BESSEMER_INT64:
    whole = load(int64_t());
    break;
  case BESSEMER_FLOAT32:
    real = static_cast<double>(load(float()));
    is_whole = false;
    break;
  case BESSEMER_FLOAT64:
    real = load(double());
    is_whole = false;
    break;
  default:
    return fail(StatusCode::InvalidArgument, "no function takes ", info.name, " as a number");
  }
  switch (wanted) {
  case ValueType::F32:
    return Value(is_whole ? static_cast<float>(whole) : static_cast<float>(real));
  case ValueType::F64:
    return Value(is_whole ? static_cast<double>(whole) : real);
  case ValueType::I32:
    // The upper half of the unsigned range has the same bits.
    if (is_whole && (whole < INT32_MIN || whole > UINT32_MAX))
      return fail(StatusCode::OutOfRange, whole, " does not fit in an i32");
    [[fallthrough]];
  case ValueType::I64:
    if (!is_whole)
      return fail(StatusCode::InvalidArgument, "a ", info.name, " where the function takes an ",
                  bessemer::vm::valueTypeName(wanted));
    return wanted == ValueType::I32 ? Value(static_cast<int32_t>(whole)) : Value(whole);
  default:
    return fail(StatusCode::InvalidArgument, "a number where the function takes a tensor");
  }
}

Result<Value> inputValue(iree_hal_device_t* device, const bessemer_value_t& input,
                         ValueType wanted) {
  const TypeInfo* info = infoOf(input.type);
  if (!info)
    return fail(StatusCode::InvalidArgument, "unknown type ", static_cast<int>(input.type));
  if (input.type == BESSEMER_NULL)
    return Value(bessemer::vm::Ref());
  if (input.size && !input.data)
    return fail(StatusCode::InvalidArgument, "its data is null");
  if (input.kind == BESSEMER_SCALAR)
    return inputNumber(input, *info, wanted);
  if (wanted != ValueType::Ref)
    return fail(StatusCode::InvalidArgument, "a tensor where the function takes an ",
                bessemer::vm::valueTypeName(wanted));
  Array array;
  array.element_type = info->hal;
  for (size_t i = 0; i < input.rank; ++i) {
    if (input.shape[i] < 0)
      return fail(StatusCode::InvalidArgument, "dimension ", i, " is negative");
    array.shape.push_back(static_cast<uint64_t>(input.shape[i]));
  }
  auto size = bessemer::tools::byteLength(array.element_type, array.shape);
  if (!size)
    return fail(StatusCode::OutOfRange, size.error());
  if (*size != input.size)
    return fail(StatusCode::InvalidArgument, "its shape needs ", *size, " bytes of data, and ",
                input.size, " are there");
  const auto* bytes = static_cast<const uint8_t*>(input.data);
  array.data.assign(bytes, bytes + input.size);
  return bessemer::tools::uploadArray(device, array);
}

Result<void> describe(iree_hal_device_t* device, const Value& value,
                      bessemer_results_t::Item& item) {
  bessemer_value_t& view = item.view;
  auto number = [&](bessemer_type_t type, auto value) {
    std::memcpy(&item.number, &value, sizeof(value));
    view = {BESSEMER_SCALAR, type, 0, nullptr, &item.number, sizeof(value)};
  };
  switch (value.type()) {
  case ValueType::I32:
    return number(BESSEMER_INT32, value.i32()), Result<void>();
  case ValueType::I64:
    return number(BESSEMER_INT64, value.i64()), Result<void>();
  case ValueType::F32:
    return number(BESSEMER_FLOAT32, value.f32()), Result<void>();
  case ValueType::F64:
    return number(BESSEMER_FLOAT64, value.f64()), Result<void>();
  default:
    break;
  }
  auto* tensor = value.as<iree_hal_buffer_view_t>();
  if (!tensor) {
    if (value.rawRef().object)
      return fail(StatusCode::Unimplemented, "a result is a ", value.ref().typeName());
    return {};
  }
  BESSEMER_ASSIGN_OR_RETURN(item.array, bessemer::tools::downloadArray(device, tensor));
  item.shape.assign(item.array.shape.begin(), item.array.shape.end());
  BESSEMER_ASSIGN_OR_RETURN(const bessemer_type_t type, typeOf(item.array.element_type));
  view = {BESSEMER_TENSOR,       type, item.shape.size(), item.shape.data(), item.array.data.data(),
          item.array.data.size()};
  return {};
}

Result<std::unique_ptr<bessemer_results_t>> call(bessemer_program_t& program, const char* name,
                                                 std::span<const bessemer_value_t> inputs) {
  Session& session = *program.session;
  BESSEMER_ASSIGN_OR_RETURN(Function function, session.function(name ? name : ""));
  std::span<const bessemer::vm::Signature::Item> arguments = function.signature().arguments;
  if (function.usesFences())
    arguments = arguments.first(arguments.size() - 2);
  if (arguments.size() != inputs.size())
    return fail(StatusCode::InvalidArgument, function.name(), " takes ", arguments.size(),
                " inputs, and ", inputs.size(), " were given");
  std::vector<Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto value = inputValue(session.device(), inputs[i], arguments[i].type);
    if (!value)
      return std::unexpected(std::move(value.error()).prefix(concat("input ", i)));
    values.push_back(*std::move(value));
  }
  BESSEMER_ASSIGN_OR_RETURN(const auto outputs, session.call(function, values));
  auto results = std::make_unique<bessemer_results_t>();
  results->items.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    BESSEMER_RETURN_IF_ERROR(describe(session.device(), outputs[i], results->items[i]));
  return results;
}

} // namespace

void bessemer_error_release(bessemer_error_t* error) { delete static_cast<OwnedError*>(error); }

// C callers may pass any number; these answer for those that are no type.
__attribute__((no_sanitize("enum"))) size_t bessemer_type_size(bessemer_type_t type) {
  const TypeInfo* info = infoOf(type);
  return info ? info->size : 0;
}

__attribute__((no_sanitize("enum"))) const char* bessemer_type_name(bessemer_type_t type) {
  const TypeInfo* info = infoOf(type);
  return info ? info->name : "unknown";
}

bessemer_program_t* bessemer_load(const char* path, const bessemer_options_t* options,
                                  bessemer_error_t** error) {
  auto program = open(options, [&](Session& session) { return session.load(path); });
  return program ? program->release() : failWith<bessemer_program_t>(error, program.error());
}

bessemer_program_t* bessemer_load_bytes(const void* bytes, size_t size,
                                        const bessemer_options_t* options,
                                        bessemer_error_t** error) {
  auto program = open(options, [&](Session& session) {
    auto owner =
        bessemer::vm::FileMapping::fromMemory({static_cast<const std::byte*>(bytes), size});
    return session.load(owner->bytes(), owner, "bytes in memory");
  });
  return program ? program->release() : failWith<bessemer_program_t>(error, program.error());
}

void bessemer_program_release(bessemer_program_t* program) { delete program; }

size_t bessemer_function_count(const bessemer_program_t* program) {
  return program->functions.size();
}

const char* bessemer_function_name(const bessemer_program_t* program, size_t index) {
  return index < program->functions.size() ? program->functions[index].name.c_str() : nullptr;
}

const char* bessemer_function_declaration(const bessemer_program_t* program, size_t index) {
  return index < program->functions.size() ? program->functions[index].declaration.c_str()
                                           : nullptr;
}

bessemer_results_t* bessemer_call(bessemer_program_t* program, const char* function,
                                  const bessemer_value_t* inputs, size_t input_count,
                                  bessemer_error_t** error) {
  auto results = call(*program, function, {inputs, input_count});
  return results ? results->release() : failWith<bessemer_results_t>(error, results.error());
}

size_t bessemer_result_count(const bessemer_results_t* results) { return results->items.size(); }

const bessemer_value_t* bessemer_result(const bessemer_results_t* results, size_t index) {
  return index < results->items.size() ? &results->items[index].view : nullptr;
}

void bessemer_results_release(bessemer_results_t* results) { delete results; }

void bessemer_devices(void (*found)(const char* device, const char* name, void* data), void* data,
                      bessemer_error_t** error) {
  auto drivers = bessemer::tools::listDrivers();
  if (!drivers) {
    failWith<void>(error, drivers.error());
    return;
  }
  for (const auto& driver : *drivers) {
    auto devices = bessemer::tools::listDevices(driver.name);
    if (!devices) {
      failWith<void>(error, devices.error());
      return;
    }
    for (const auto& device : *devices)
      found((driver.name + "://" + device.path).c_str(), device.name.c_str(), data);
  }
}

const char* bessemer_version(void) { return BESSEMER_VERSION; }

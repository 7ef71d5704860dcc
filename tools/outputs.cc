#include "tools/outputs.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include "modules/hal/status.h"
#include "modules/hal/types.h"

namespace bessemer::tools {

using vm::fail;
using vm::Result;
using vm::StatusCode;
using vm::Value;
using vm::ValueType;

namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

// "2x3xf32"
std::string typeText(const Array& array) {
  char text[512];
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  std::string result;
  if (iree_status_is_ok(iree_hal_append_shape_and_element_type_string(
          array.shape.size(), array.shape.data(), array.element_type, &builder))) {
    iree_string_view_t view = iree_string_builder_view(&builder);
    result.assign(view.data, view.size);
  } else {
    std::snprintf(text, sizeof(text), "an array of rank %zu", array.shape.size());
    result = text;
  }
  iree_string_builder_deinitialize(&builder);
  return result;
}

double halfToDouble(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, 2);
  return static_cast<double>(half);
}

double bfloatToDouble(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

template <class T>
T load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// How to read and compare one element of a floating-point type; step 0 when the type has none.
struct FloatView {
  size_t step = 0;
  double (*read)(const uint8_t*) = nullptr;
  double tolerance = 0;
};

FloatView floatView(uint32_t type, const Tolerance& tolerance) {
  switch (type) {
  case IREE_HAL_ELEMENT_TYPE_FLOAT_16:
    return {2, [](const uint8_t* p) { return halfToDouble(load<uint16_t>(p)); }, tolerance.f16};
  case IREE_HAL_ELEMENT_TYPE_BFLOAT_16:
    return {2, [](const uint8_t* p) { return bfloatToDouble(load<uint16_t>(p)); }, tolerance.bf16};
  case IREE_HAL_ELEMENT_TYPE_FLOAT_32:
  case IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_64:
    return {4, [](const uint8_t* p) { return static_cast<double>(load<float>(p)); }, tolerance.f32};
  case IREE_HAL_ELEMENT_TYPE_FLOAT_64:
  case IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_128:
    return {8, [](const uint8_t* p) { return load<double>(p); }, tolerance.f64};
  default:
    return {};
  }
}

bool typesMatch(uint32_t got, uint32_t expected) {
  if (got == expected)
    return true;
  auto numerical = [](uint32_t type) { return type >> 24; };
  if ((got & 0xFF) != (expected & 0xFF))
    return false;
  if (numerical(got) == 0 || numerical(expected) == 0)
    return true; // opaque
  auto integer = [&](uint32_t type) { return numerical(type) >= 0x10 && numerical(type) <= 0x13; };
  return integer(got) && integer(expected);
}

bool close(double got, double expected, double tolerance, double relative) {
  if (std::isnan(got) || std::isnan(expected))
    return std::isnan(got) && std::isnan(expected);
  if (std::isinf(got) || std::isinf(expected))
    return got == expected;
  return std::fabs(got - expected) <= tolerance + relative * std::fabs(expected);
}

std::string elementText(const uint8_t* bytes, uint32_t type) {
  char text[64];
  iree_host_size_t length = 0;
  iree_status_t status = iree_hal_format_element(
      iree_make_const_byte_span(bytes, iree_hal_element_dense_byte_count(type)), type, sizeof(text),
      text, &length);
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(status);
    return "?";
  }
  return std::string(text, length);
}

std::string mismatch(size_t index, const std::string& got, const std::string& expected) {
  return vm::concat("element at index ", index, " (", got, ") does not match the expected (",
                    expected, ")");
}

} // namespace

std::string compareArrays(const Array& got, const Array& expected, const Tolerance& tolerance) {
  if (got.shape != expected.shape || !typesMatch(got.element_type, expected.element_type))
    return vm::concat("metadata is ", typeText(got), "; expected that it matches ",
                      typeText(expected));
  const uint32_t type = got.element_type >> 24 ? got.element_type : expected.element_type;
  FloatView view = tolerance.exact ? FloatView{} : floatView(type, tolerance);
  if (view.step == 0) {
    const size_t bits = type & 0xFF, step = std::max<size_t>(1, bits / 8);
    for (size_t at = 0; at + step <= got.data.size(); at += step) {
      if (std::memcmp(&got.data[at], &expected.data[at], step) != 0)
        return mismatch(at / step, elementText(&got.data[at], type),
                        elementText(&expected.data[at], type));
    }
    return {};
  }
  for (size_t at = 0; at + view.step <= got.data.size(); at += view.step) {
    double a = view.read(&got.data[at]), b = view.read(&expected.data[at]);
    if (!close(a, b, view.tolerance, tolerance.relative))
      return mismatch(at / view.step, number(a), number(b));
  }
  return {};
}

Result<std::string> formatValue(iree_hal_device_t* device, const Value& value,
                                size_t max_elements) {
  switch (value.type()) {
  case ValueType::I32:
    return vm::concat("i32=", value.i32());
  case ValueType::I64:
    return vm::concat("i64=", value.i64());
  case ValueType::F32:
  case ValueType::F64: {
    char text[64];
    bool f32 = value.type() == ValueType::F32;
    std::snprintf(text, sizeof(text), "%s=%g", f32 ? "f32" : "f64",
                  f32 ? static_cast<double>(value.f32()) : value.f64());
    return std::string(text);
  }
  default:
    break;
  }
  auto* view = value.as<iree_hal_buffer_view_t>();
  if (!view)
    return std::string(value.rawRef().object ? value.ref().typeName() : "(null)");
  BESSEMER_ASSIGN_OR_RETURN(Array array, downloadArray(device, view));
  // The HAL's formatter works on bytes, so device-local results print like any other.
  std::string text = typeText(array) + "=";
  std::vector<char> buffer(256);
  iree_host_size_t length = 0;
  for (;;) {
    iree_status_t status = iree_hal_format_buffer_elements(
        iree_make_const_byte_span(array.data.data(), array.data.size()), array.shape.size(),
        array.shape.data(), array.element_type, max_elements, buffer.size(), buffer.data(),
        &length);
    if (!iree_status_is_out_of_range(status)) {
      BESSEMER_RETURN_IF_ERROR(modules::fromStatus(status));
      break;
    }
    iree_status_ignore(status);
    buffer.resize(std::max<size_t>(length + 1, buffer.size() * 2));
  }
  return text + std::string(buffer.data(), length);
}

Result<void> printResults(std::FILE* file, iree_hal_device_t* device,
                          std::span<const Value> results, size_t max_elements) {
  for (size_t i = 0; i < results.size(); ++i) {
    BESSEMER_ASSIGN_OR_RETURN(std::string text, formatValue(device, results[i], max_elements));
    if (results[i].isRef())
      std::fprintf(file, "result[%zu]: %s\n%s\n", i,
                   results[i].rawRef().object ? std::string(results[i].ref().typeName()).c_str()
                                              : "(null)",
                   text.c_str());
    else
      std::fprintf(file, "result[%zu]: %s\n", i, text.c_str());
  }
  return {};
}

Result<void> OutputWriter::write(std::span<const std::string> texts,
                                 std::span<const Value> results) {
  if (texts.size() > results.size())
    return fail(StatusCode::InvalidArgument, texts.size(),
                " --output= flags were given, and the "
                "function has ",
                results.size(), " results");
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    if (text.empty())
      continue;
    if (text == "-") {
      BESSEMER_ASSIGN_OR_RETURN(std::string printed,
                                formatValue(device_, results[i], max_elements_));
      std::printf("%s\n", printed.c_str());
      continue;
    }
    if (text[0] != '@' && text[0] != '+')
      return fail(StatusCode::InvalidArgument, "--output=", text,
                  ": give @file.npy, @file.bin, + instead of @ to append, - to print, or nothing");
    const std::string path = text.substr(1);
    auto* view = results[i].as<iree_hal_buffer_view_t>();
    if (!view)
      return fail(StatusCode::InvalidArgument, "--output=", text, ": result ", i,
                  " is not a tensor; print it with --output=-");
    BESSEMER_ASSIGN_OR_RETURN(Array array, downloadArray(device_, view));
    std::string bytes;
    if (path.ends_with(".npy")) {
      if (auto done = formatNpy(array, bytes); !done)
        return fail(StatusCode::Unimplemented, "--output=", text, ": ", done.error());
    } else {
      bytes.assign(reinterpret_cast<const char*>(array.data.data()), array.data.size());
    }
    std::ofstream stream(path,
                         std::ios::binary | (text[0] == '+' ? std::ios::app : std::ios::trunc));
    if (!stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size())) || !stream.flush())
      return fail(StatusCode::PermissionDenied, "--output=", text, ": cannot write '", path,
                  "': ", std::strerror(errno));
  }
  return {};
}

namespace {

// The difference between a number and its expectation (a number, or "i32=7" read as a tensor).
Result<std::string> compareNumber(iree_hal_device_t* device, const Value& got,
                                  const Value& expected, const Tolerance& tolerance) {
  auto asDouble = [](const Value& value) -> double {
    switch (value.type()) {
    case ValueType::I32:
      return value.i32();
    case ValueType::I64:
      return static_cast<double>(value.i64());
    case ValueType::F32:
      return value.f32();
    default:
      return value.f64();
    }
  };
  double want = 0;
  if (auto* view = expected.as<iree_hal_buffer_view_t>()) {
    BESSEMER_ASSIGN_OR_RETURN(Array array, downloadArray(device, view));
    const uint32_t type = array.element_type;
    if (FloatView read = floatView(type, tolerance); read.step && array.data.size() == read.step)
      want = read.read(array.data.data());
    else if (array.data.size() == 4)
      want = load<int32_t>(array.data.data());
    else if (array.data.size() == 8)
      want = static_cast<double>(load<int64_t>(array.data.data()));
    else
      return std::string("is a number; the expected value is a tensor of more elements");
  } else if (expected.isRef()) {
    return std::string("is a number; the expected value is (null)");
  } else {
    want = asDouble(expected);
  }
  const bool floating = got.type() == ValueType::F32 || got.type() == ValueType::F64;
  const double slack = tolerance.exact || !floating   ? 0
                       : got.type() == ValueType::F32 ? tolerance.f32
                                                      : tolerance.f64;
  if (close(asDouble(got), want, slack, slack > 0 ? tolerance.relative : 0))
    return std::string();
  return vm::concat("value (", number(asDouble(got)), ") does not match the expected (",
                    number(want), ")");
}

Result<std::string> compareValue(iree_hal_device_t* device, const Value& got, const Value& expected,
                                 const Tolerance& tolerance) {
  if (!got.isRef())
    return compareNumber(device, got, expected, tolerance);
  auto* view = got.as<iree_hal_buffer_view_t>();
  auto* expected_view = expected.as<iree_hal_buffer_view_t>();
  if (!view || !expected_view) {
    if (!got.rawRef().object && expected.isRef() && !expected.rawRef().object)
      return std::string();
    return vm::concat("is ", got.rawRef().object ? got.ref().typeName() : "(null)",
                      "; the expected value is ", expected_view ? "a tensor" : "another kind");
  }
  BESSEMER_ASSIGN_OR_RETURN(Array a, downloadArray(device, view));
  BESSEMER_ASSIGN_OR_RETURN(Array b, downloadArray(device, expected_view));
  std::string difference = compareArrays(a, b, tolerance);
  if (difference.empty())
    return difference;
  constexpr size_t kShown = 64;
  BESSEMER_ASSIGN_OR_RETURN(std::string got_text, formatValue(device, got, kShown));
  BESSEMER_ASSIGN_OR_RETURN(std::string expected_text, formatValue(device, expected, kShown));
  return vm::concat(difference,
                    "; expected that the view matches the following:\n  expected:\n    ",
                    expected_text, "\n  actual:\n    ", got_text);
}

} // namespace

Result<std::vector<std::string>> compareResults(iree_hal_device_t* device,
                                                std::span<const Value> results,
                                                std::span<const std::string> expected,
                                                const Tolerance& tolerance) {
  std::vector<std::string> differences;
  InputReader reader(device);
  size_t index = 0;
  for (const std::string& text : expected) {
    if (text == "(ignored)") {
      ++index;
      continue;
    }
    auto values = reader.readExpected(text);
    if (!values)
      return std::unexpected(
          std::move(values.error()).prefix(vm::concat("--expected_output=", text)));
    for (const Value& value : *values) {
      if (index >= results.size())
        return fail(StatusCode::InvalidArgument, "more expected outputs than the ", results.size(),
                    " results");
      BESSEMER_ASSIGN_OR_RETURN(std::string difference,
                                compareValue(device, results[index], value, tolerance));
      if (!difference.empty())
        differences.push_back(vm::concat("result[", index, "]: ", difference));
      ++index;
    }
  }
  if (index < results.size())
    return fail(StatusCode::InvalidArgument, "the function has ", results.size(), " results, and ",
                index, " were expected; use --expected_output='(ignored)' to skip one");
  return differences;
}

} // namespace bessemer::tools

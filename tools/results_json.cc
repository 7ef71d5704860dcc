#include "tools/results_json.h"

#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "modules/hal/status.h"
#include "modules/hal/types.h"
#include "tools/inputs.h"

namespace bessemer::tools {

using nlohmann::ordered_json;
using vm::Result;
using vm::Value;
using vm::ValueType;

namespace {

ordered_json realNumber(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

// Shortest text that reads back as the same float, which a double's digits would not be.
ordered_json realNumber(float value) {
  if (!std::isfinite(value))
    return realNumber(static_cast<double>(value));
  char text[32];
  for (int digits = 6; digits <= 9; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, static_cast<double>(value));
    if (std::strtof(text, nullptr) == value)
      break;
  }
  return std::strtod(text, nullptr);
}

template <class T>
T load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

Result<std::string> formatted(iree_status_t (*format)(iree_hal_element_type_t, iree_host_size_t,
                                                      char*, iree_host_size_t*),
                              iree_hal_element_type_t type) {
  char text[64];
  iree_host_size_t length = 0;
  BESSEMER_RETURN_IF_ERROR(modules::fromStatus(format(type, sizeof(text), text, &length)));
  return std::string(text, length);
}

ordered_json element(const uint8_t* bytes, uint32_t type) {
  switch (type) {
  case IREE_HAL_ELEMENT_TYPE_FLOAT_32:
    return realNumber(load<float>(bytes));
  case IREE_HAL_ELEMENT_TYPE_FLOAT_64:
    return realNumber(load<double>(bytes));
  case IREE_HAL_ELEMENT_TYPE_BOOL_8:
    return *bytes != 0;
  default:
    break;
  }
  // The rest by the text that the HAL has for it: a number, or for complex ones a text.
  char text[96];
  iree_host_size_t length = 0;
  iree_status_t status = iree_hal_format_element(
      iree_make_const_byte_span(bytes, iree_hal_element_dense_byte_count(type)), type,
      sizeof(text) - 1, text, &length);
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(status);
    return nullptr;
  }
  text[length] = 0;
  const std::string all(text, length);
  ordered_json number = ordered_json::parse(all, nullptr, false);
  if (!number.is_discarded())
    return number;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  return *end == 0 ? realNumber(value) : ordered_json(all);
}

Result<ordered_json> tensor(iree_hal_device_t* device, iree_hal_buffer_view_t* view,
                            size_t max_elements) {
  BESSEMER_ASSIGN_OR_RETURN(const Array array, downloadArray(device, view));
  BESSEMER_ASSIGN_OR_RETURN(std::string type,
                            formatted(iree_hal_format_element_type, array.element_type));
  ordered_json result = {{"type", std::move(type)}, {"shape", array.shape}};
  auto& data = result["data"] = ordered_json::array();
  const size_t step = iree_hal_element_dense_byte_count(array.element_type);
  const size_t count = step ? array.data.size() / step : 0;
  for (size_t i = 0; i < std::min(count, max_elements); ++i)
    data.push_back(element(&array.data[i * step], array.element_type));
  if (count > max_elements)
    result["truncated"] = true;
  return result;
}

} // namespace

struct ResultsJson::State {
  size_t max_elements;
  ordered_json root;
};

ResultsJson::ResultsJson(size_t max_elements) : state_(new State{max_elements, {}}) {
  state_->root["calls"] = ordered_json::array();
}
ResultsJson::ResultsJson(ResultsJson&&) noexcept = default;
ResultsJson::~ResultsJson() = default;

void ResultsJson::addCall(std::string_view function, double milliseconds) {
  state_->root["calls"].push_back({{"function", function}, {"milliseconds", milliseconds}});
}

Result<void> ResultsJson::addResults(iree_hal_device_t* device, std::span<const Value> results) {
  auto& list = state_->root["calls"].back()["results"] = ordered_json::array();
  for (const Value& value : results) {
    switch (value.type()) {
    case ValueType::I32:
      list.push_back({{"type", "i32"}, {"value", value.i32()}});
      break;
    case ValueType::I64:
      list.push_back({{"type", "i64"}, {"value", value.i64()}});
      break;
    case ValueType::F32:
      list.push_back({{"type", "f32"}, {"value", realNumber(value.f32())}});
      break;
    case ValueType::F64:
      list.push_back({{"type", "f64"}, {"value", realNumber(value.f64())}});
      break;
    default:
      if (auto* view = value.as<iree_hal_buffer_view_t>()) {
        BESSEMER_ASSIGN_OR_RETURN(ordered_json item, tensor(device, view, state_->max_elements));
        list.push_back(std::move(item));
      } else if (value.rawRef().object) {
        list.push_back({{"type", value.ref().typeName()}});
      } else {
        list.push_back(nullptr);
      }
    }
  }
  return {};
}

void ResultsJson::addDifferences(const std::vector<std::string>& differences) {
  state_->root["calls"].back()["differences"] = differences;
}

std::string ResultsJson::text() const {
  return state_->root.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace bessemer::tools

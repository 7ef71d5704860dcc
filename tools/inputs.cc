#include "tools/inputs.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "modules/hal/status.h"
#include "modules/hal/types.h"

namespace bessemer::tools {

using vm::fail;
using vm::Result;
using vm::StatusCode;
using vm::Value;
using vm::ValueType;

Result<Value> parseNumber(std::string_view text, ValueType type) {
  std::string copy(text);
  char* end = nullptr;
  errno = 0;
  auto whole = [&] { return !copy.empty() && end == copy.c_str() + copy.size(); };
  switch (type) {
  case ValueType::I32:
  case ValueType::I64: {
    long long number = std::strtoll(copy.c_str(), &end, 0);
    bool fits = errno == 0;
    if (whole() && !fits && copy[0] != '-') {
      // The upper half of the unsigned range has the same bits.
      errno = 0;
      number = static_cast<long long>(std::strtoull(copy.c_str(), &end, 0));
      fits = errno == 0;
    }
    if (!whole())
      return fail(StatusCode::InvalidArgument, "'", text, "' is not a whole number");
    if (type == ValueType::I32 && (number < INT32_MIN || number > UINT32_MAX))
      fits = false;
    if (!fits)
      return fail(StatusCode::OutOfRange, "'", text, "' does not fit in an ",
                  vm::valueTypeName(type));
    return type == ValueType::I32 ? Value(static_cast<int32_t>(number))
                                  : Value(static_cast<int64_t>(number));
  }
  case ValueType::F32:
  case ValueType::F64: {
    double number = std::strtod(copy.c_str(), &end);
    if (!whole())
      return fail(StatusCode::InvalidArgument, "'", text, "' is not a number");
    return type == ValueType::F32 ? Value(static_cast<float>(number)) : Value(number);
  }
  default:
    return fail(StatusCode::InvalidArgument, "a number was given where a tensor is wanted");
  }
}

Result<Value> uploadArray(iree_hal_device_t* device, const Array& array) {
  if (!device)
    return fail(StatusCode::FailedPrecondition, "a tensor needs a device; give --device=metal");
  iree_hal_buffer_params_t params = {};
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT;
  params.access = IREE_HAL_MEMORY_ACCESS_ALL;
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  vm::RefPtr<iree_hal_buffer_view_t> view;
  BESSEMER_RETURN_IF_ERROR(modules::fromStatus(iree_hal_buffer_view_allocate_buffer_copy(
      device, iree_hal_device_allocator(device), array.shape.size(), array.shape.data(),
      array.element_type, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params,
      iree_make_const_byte_span(array.data.data(), array.data.size()), view.put())));
  return Value(std::move(view));
}

Result<Array> downloadArray(iree_hal_device_t* device, iree_hal_buffer_view_t* view) {
  Array array;
  array.element_type = iree_hal_buffer_view_element_type(view);
  const iree_hal_dim_t* dims = iree_hal_buffer_view_shape_dims(view);
  array.shape.assign(dims, dims + iree_hal_buffer_view_shape_rank(view));
  array.data.resize(iree_hal_buffer_view_byte_length(view));
  if (!array.data.empty()) {
    BESSEMER_RETURN_IF_ERROR(modules::fromStatus(iree_hal_device_transfer_d2h(
        device, iree_hal_buffer_view_buffer(view), 0, array.data.data(), array.data.size(),
        IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout())));
  }
  return array;
}

Result<Value> InputReader::upload(const Array& array) { return uploadArray(device_, array); }

Result<std::ifstream*> InputReader::open(const std::string& path, bool rewind) {
  auto [at, fresh] = files_.try_emplace(path);
  std::ifstream& stream = at->second;
  if (fresh)
    stream.open(path, std::ios::binary);
  if (!stream.is_open()) {
    files_.erase(at);
    return fail(StatusCode::NotFound, "cannot open '", path, "'");
  }
  if (rewind && !fresh) {
    stream.clear();
    stream.seekg(0);
  }
  return &stream;
}

Result<std::vector<Value>> InputReader::arrays(const std::string& text) {
  const char mode = text[0];
  const std::string path = text.substr(1);
  BESSEMER_ASSIGN_OR_RETURN(std::ifstream * stream, open(path, mode == '@'));
  std::vector<Value> values;
  do {
    if (mode == '*' && stream->peek() == std::ifstream::traits_type::eof())
      break;
    auto array = readNpy(*stream);
    if (!array)
      return fail(StatusCode::InvalidArgument, path, ": ", array.error());
    BESSEMER_ASSIGN_OR_RETURN(Value value, upload(*array));
    values.push_back(std::move(value));
  } while (mode == '*');
  return values;
}

Result<Value> InputReader::rawFile(const std::string& shape, const std::string& path, bool rewind) {
  Array array;
  iree_hal_dim_t dims[128];
  iree_host_size_t rank = 0;
  BESSEMER_RETURN_IF_ERROR(modules::fromStatus(iree_hal_parse_shape_and_element_type(
      iree_make_string_view(shape.data(), shape.size()), IREE_ARRAYSIZE(dims), &rank, dims,
      &array.element_type)));
  array.shape.assign(dims, dims + rank);
  auto size = byteLength(array.element_type, array.shape);
  if (!size)
    return fail(StatusCode::OutOfRange, size.error());
  BESSEMER_ASSIGN_OR_RETURN(std::ifstream * stream, open(path, rewind));
  auto at = stream->tellg();
  stream->seekg(0, std::ios::end);
  const auto left = static_cast<uint64_t>(stream->tellg() - at);
  stream->seekg(at);
  if (left < *size)
    return fail(StatusCode::OutOfRange, path, " has ", left, " bytes left; ", shape, " needs ",
                *size);
  array.data.resize(*size);
  stream->read(reinterpret_cast<char*>(array.data.data()), static_cast<std::streamsize>(*size));
  return upload(array);
}

Result<Value> InputReader::tensor(const std::string& text) {
  if (!device_)
    return fail(StatusCode::FailedPrecondition, "a tensor needs a device; give --device=metal");
  size_t equals = text.find('=');
  if (equals != text.npos && equals + 1 < text.size() &&
      (text[equals + 1] == '@' || text[equals + 1] == '+'))
    return rawFile(text.substr(0, equals), text.substr(equals + 2), text[equals + 1] == '@');
  vm::RefPtr<iree_hal_buffer_view_t> view;
  BESSEMER_RETURN_IF_ERROR(modules::fromStatus(
      iree_hal_buffer_view_parse(iree_make_string_view(text.data(), text.size()), device_,
                                 iree_hal_device_allocator(device_), view.put())));
  return Value(std::move(view));
}

Result<std::vector<Value>> InputReader::read(std::span<const std::string> texts,
                                             std::span<const vm::Signature::Item> arguments) {
  std::vector<Value> values;
  for (const std::string& text : texts) {
    std::string context = vm::concat("--input=", text);
    auto add = [&](Result<Value> value) -> Result<void> {
      if (!value)
        return std::unexpected(std::move(value.error()).prefix(context));
      values.push_back(*std::move(value));
      return {};
    };
    if (text.empty())
      return fail(StatusCode::InvalidArgument, "--input= is empty; give a value, or (null)");
    if (values.size() >= arguments.size() && text[0] != '*')
      return fail(StatusCode::InvalidArgument, "too many inputs: the function takes ",
                  arguments.size(), ", and ", context, " is one more");
    if (text[0] == '@' || text[0] == '+' || text[0] == '*') {
      auto read = arrays(text);
      if (!read)
        return std::unexpected(std::move(read.error()).prefix(context));
      for (Value& value : *read)
        values.push_back(std::move(value));
    } else if (text == "(null)") {
      values.push_back(Value(vm::Ref()));
    } else if (arguments[values.size()].type != ValueType::Ref) {
      BESSEMER_RETURN_IF_ERROR(add(parseNumber(text, arguments[values.size()].type)));
    } else {
      BESSEMER_RETURN_IF_ERROR(add(tensor(text[0] == '&' ? text.substr(1) : text)));
    }
  }
  if (values.size() != arguments.size())
    return fail(StatusCode::InvalidArgument, "the function takes ", arguments.size(),
                " inputs, and ", values.size(), " were given; add --input= for each");
  return values;
}

Result<std::vector<Value>> InputReader::readExpected(const std::string& text) {
  if (text.empty())
    return fail(StatusCode::InvalidArgument, "--expected_output= is empty");
  if (text[0] == '@' || text[0] == '+' || text[0] == '*')
    return arrays(text);
  std::vector<Value> values;
  if (text == "(null)") {
    values.push_back(Value(vm::Ref()));
  } else if (auto number = parseNumber(text, ValueType::F64)) {
    values.push_back(*number);
  } else {
    // "i32=7" is how a number is printed, and also a tensor of rank 0: outputs.cc compares both.
    BESSEMER_ASSIGN_OR_RETURN(Value value, tensor(text));
    values.push_back(std::move(value));
  }
  return values;
}

} // namespace bessemer::tools

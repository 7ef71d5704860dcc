#include "modules/embed/bessemer.h"

#include <cstring>
#include <string>

#include "modules/devices.h"
#include "modules/hal/status.h"
#include "modules/session.h"
#include "modules/tensors.h"

using bessemer::modules::fromStatus;
using bessemer::modules::ParameterFile;
using bessemer::modules::Session;
using bessemer::vm::fail;
using bessemer::vm::Result;
using bessemer::vm::StatusCode;
using bessemer::vm::Value;
using bessemer::vm::ValueType;
namespace vm = bessemer::vm;

struct bessemer_session_t {
  vm::RefPtr<iree_hal_device_t> device;
  std::vector<ParameterFile> parameters;
  std::unique_ptr<Session> session; // made when the first program is loaded
};

struct bessemer_value_t {
  Value value;
  vm::RefPtr<iree_hal_device_t> device; // of an array
};

namespace {

thread_local std::string last_error;

int finish(const Result<void>& result) {
  last_error = result ? std::string() : result.error().toString();
  return result ? 0 : static_cast<int>(result.error().code());
}

// The object, or null with the error kept.
template <class T>
T* finish(Result<std::unique_ptr<T>> result) {
  last_error = result ? std::string() : result.error().toString();
  return result ? result->release() : nullptr;
}

Result<Session*> sessionOf(bessemer_session_t* session) {
  if (!session->session) {
    Session::Options options;
    if (session->device)
      options.devices.push_back(session->device.get());
    options.parameters = session->parameters;
    BESSEMER_ASSIGN_OR_RETURN(session->session, Session::create(std::move(options)));
  }
  return session->session.get();
}

bessemer_value_t* make(Value value) { return new bessemer_value_t{std::move(value), {}}; }

iree_hal_buffer_view_t* viewOf(const bessemer_value_t* value) {
  return value->value.as<iree_hal_buffer_view_t>();
}

Result<void> call(bessemer_session_t* handle, const char* name, size_t argument_count,
                  bessemer_value_t* const* arguments, size_t capacity, bessemer_value_t** results,
                  size_t* count) {
  if (!handle)
    return fail(StatusCode::InvalidArgument, "the session is null");
  if (count)
    *count = 0;
  BESSEMER_ASSIGN_OR_RETURN(Session * session, sessionOf(handle));
  BESSEMER_ASSIGN_OR_RETURN(vm::Function function, session->function(name ? name : ""));
  if (function.signature().results.size() > capacity)
    return fail(StatusCode::OutOfRange, function.name(), " has ",
                function.signature().results.size(), " results, there is room for ", capacity);
  std::vector<Value> values;
  for (size_t i = 0; i < argument_count; ++i)
    values.push_back(arguments[i] ? arguments[i]->value : Value(vm::Ref()));
  BESSEMER_ASSIGN_OR_RETURN(std::vector<Value> returned, session->call(function, values));
  for (size_t i = 0; i < returned.size(); ++i)
    results[i] = new bessemer_value_t{std::move(returned[i]), handle->device};
  if (count)
    *count = returned.size();
  return {};
}

Result<void> read(const bessemer_value_t* value, void* target, size_t size) {
  if (!value)
    return fail(StatusCode::InvalidArgument, "the value is null");
  if (size != bessemer_size(value))
    return fail(StatusCode::InvalidArgument, "the value has ", bessemer_size(value), " bytes, not ",
                size);
  if (!value->value.isRef()) {
    int64_t number = value->value.i64(); // the bits of whatever it is, low bytes first
    std::memcpy(target, &number, size);
    return {};
  }
  if (!viewOf(value))
    return fail(StatusCode::InvalidArgument, "the value is no array");
  if (size == 0)
    return {};
  return fromStatus(iree_hal_device_transfer_d2h(
      value->device.get(), iree_hal_buffer_view_buffer(viewOf(value)), 0, target, size,
      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
}

} // namespace

const char* bessemer_error(void) { return last_error.c_str(); }

bessemer_session_t* bessemer_session_create(const char* device) {
  return finish([&]() -> Result<std::unique_ptr<bessemer_session_t>> {
    auto session = std::make_unique<bessemer_session_t>();
    if (device) {
      BESSEMER_ASSIGN_OR_RETURN(session->device, bessemer::modules::openDevice(device));
    }
    return session;
  }());
}

int bessemer_session_parameters(bessemer_session_t* session, const char* scope, const char* path) {
  return finish([&]() -> Result<void> {
    if (!session || !path)
      return fail(StatusCode::InvalidArgument, "the session or the path is null");
    if (session->session)
      return fail(StatusCode::FailedPrecondition, "parameters are given before programs");
    session->parameters.push_back({scope ? scope : "", path});
    return {};
  }());
}

int bessemer_session_load(bessemer_session_t* session, const char* path) {
  return finish([&]() -> Result<void> {
    if (!session || !path)
      return fail(StatusCode::InvalidArgument, "the session or the path is null");
    BESSEMER_ASSIGN_OR_RETURN(Session * loaded, sessionOf(session));
    return loaded->load(std::string(path));
  }());
}

void bessemer_session_destroy(bessemer_session_t* session) { delete session; }

bessemer_value_t* bessemer_array(bessemer_session_t* session, bessemer_type_t type, size_t rank,
                                 const int64_t* shape, const void* data) {
  return finish([&]() -> Result<std::unique_ptr<bessemer_value_t>> {
    if (!session || !session->device)
      return fail(StatusCode::FailedPrecondition, "arrays need a session with a device");
    // Devices allocate only once they are in a group, which the session makes.
    BESSEMER_RETURN_IF_ERROR(sessionOf(session));
    std::vector<iree_hal_dim_t> dims;
    for (size_t i = 0; i < rank; ++i) {
      if (shape[i] < 0)
        return fail(StatusCode::InvalidArgument, "dimension ", i, " is ", shape[i]);
      dims.push_back(static_cast<iree_hal_dim_t>(shape[i]));
    }
    iree_device_size_t size = 0;
    BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_buffer_compute_view_size(
        dims.size(), dims.data(), static_cast<iree_hal_element_type_t>(type),
        IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, &size)));
    BESSEMER_ASSIGN_OR_RETURN(
        Value value, bessemer::modules::toDevice(
                         session->device.get(), static_cast<iree_hal_element_type_t>(type), dims,
                         {static_cast<const std::byte*>(data), static_cast<size_t>(size)}));
    return std::make_unique<bessemer_value_t>(bessemer_value_t{std::move(value), session->device});
  }());
}

bessemer_value_t* bessemer_int32(int32_t value) { return make(value); }
bessemer_value_t* bessemer_int64(int64_t value) { return make(value); }
bessemer_value_t* bessemer_float32(float value) { return make(value); }
bessemer_value_t* bessemer_float64(double value) { return make(value); }
void bessemer_value_free(bessemer_value_t* value) { delete value; }

bessemer_type_t bessemer_type(const bessemer_value_t* value) {
  switch (value->value.type()) {
  case ValueType::I32:
    return BESSEMER_INT32;
  case ValueType::I64:
    return BESSEMER_INT64;
  case ValueType::F32:
    return BESSEMER_FLOAT32;
  case ValueType::F64:
    return BESSEMER_FLOAT64;
  default:
    return viewOf(value)
               ? static_cast<bessemer_type_t>(iree_hal_buffer_view_element_type(viewOf(value)))
               : BESSEMER_NONE;
  }
}

size_t bessemer_rank(const bessemer_value_t* value) {
  return viewOf(value) ? iree_hal_buffer_view_shape_rank(viewOf(value)) : 0;
}

int64_t bessemer_dimension(const bessemer_value_t* value, size_t index) {
  return index < bessemer_rank(value)
             ? static_cast<int64_t>(iree_hal_buffer_view_shape_dim(viewOf(value), index))
             : 0;
}

size_t bessemer_size(const bessemer_value_t* value) {
  if (value->value.isRef())
    return viewOf(value) ? iree_hal_buffer_view_byte_length(viewOf(value)) : 0;
  return value->value.type() == ValueType::I32 || value->value.type() == ValueType::F32 ? 4 : 8;
}

int bessemer_read(const bessemer_value_t* value, void* target, size_t size) {
  return finish(read(value, target, size));
}

int bessemer_call(bessemer_session_t* session, const char* name, size_t argument_count,
                  bessemer_value_t* const* arguments, size_t capacity, bessemer_value_t** results,
                  size_t* count) {
  return finish(call(session, name, argument_count, arguments, capacity, results, count));
}

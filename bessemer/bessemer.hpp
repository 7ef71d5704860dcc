// Runs compiled programs (.vmfb) from C++20:
//
//   auto program = bessemer::Program::load("model.vmfb");
//   auto results = program("main", {bessemer::Tensor({2, 2}, {1.f, 2.f, 3.f, 4.f})});
//   for (float element : results[0].tensor().as<float>()) ...
//
// Over the C interface (bessemer.h), so that compilers and standard libraries may differ.
#pragma once

#include <complex>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bessemer/bessemer.h"

namespace bessemer {

class Error : public std::runtime_error {
public:
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; } // as iree_status_code_t

private:
  int code_;
};

template <class T>
constexpr bessemer_type_t typeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return BESSEMER_BOOL8;
  else if constexpr (std::is_same_v<T, float>)
    return BESSEMER_FLOAT32;
  else if constexpr (std::is_same_v<T, double>)
    return BESSEMER_FLOAT64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return BESSEMER_COMPLEX64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return BESSEMER_COMPLEX128;
  else {
    static_assert(std::is_integral_v<T>, "no tensor has elements of this type");
    constexpr int log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<bessemer_type_t>((std::is_signed_v<T> ? BESSEMER_INT8 : BESSEMER_UINT8) +
                                        log);
  }
}

// A dense row-major array that owns its elements.
class Tensor {
public:
  Tensor() = default;
  // Elements of a type that C++ has none for (half, bfloat) come as bytes.
  Tensor(bessemer_type_t type, std::vector<int64_t> shape, const void* data, size_t size)
      : type_(type), shape_(std::move(shape)), bytes_(size) {
    if (size)
      std::memcpy(bytes_.data(), data, size);
  }
  template <class T>
  Tensor(std::vector<int64_t> shape, std::span<const T> elements)
      : Tensor(typeOf<T>(), std::move(shape), elements.data(), elements.size_bytes()) {}
  template <class T>
  Tensor(std::vector<int64_t> shape, std::initializer_list<T> elements)
      : Tensor(std::move(shape), std::span<const T>(elements.begin(), elements.size())) {}
  template <class T>
  Tensor(std::vector<int64_t> shape, const std::vector<T>& elements)
      : Tensor(std::move(shape), std::span<const T>(elements)) {}

  bessemer_type_t type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  // The elements; they must have this type, signed or not.
  template <class T>
  std::span<const T> as() const {
    constexpr bessemer_type_t wanted = typeOf<T>();
    auto sign = [](int type) {
      return type >= BESSEMER_UINT8 && type <= BESSEMER_UINT64 ? type - 4 : type;
    };
    if (sign(type_) != sign(wanted))
      throw Error(3, std::string("the tensor's elements are ") + bessemer_type_name(type_) +
                         ", not " + bessemer_type_name(wanted));
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

private:
  bessemer_type_t type_ = BESSEMER_NULL;
  std::vector<int64_t> shape_;
  std::vector<std::byte> bytes_;
};

// An input or a result: a tensor, a number, or no object.
class Value {
public:
  Value() = default;
  Value(Tensor tensor) : value_(std::move(tensor)) {}
  Value(int32_t number) : value_(number) {}
  Value(int64_t number) : value_(number) {}
  Value(float number) : value_(number) {}
  Value(double number) : value_(number) {}

  bool isNull() const { return std::holds_alternative<std::monostate>(value_); }
  const Tensor& tensor() const { return get<Tensor>(); }
  template <class T>
  const T& get() const {
    if (const T* value = std::get_if<T>(&value_))
      return *value;
    throw Error(3, "the value is of another kind");
  }
  // A view for the C interface; lives as long as this.
  bessemer_value_t view() const {
    bessemer_value_t view = {};
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::is_same_v<T, Tensor>) {
            view = {BESSEMER_TENSOR,      value.type(),         value.shape().size(),
                    value.shape().data(), value.bytes().data(), value.bytes().size()};
          } else if constexpr (!std::is_same_v<T, std::monostate>) {
            view = {BESSEMER_SCALAR, typeOf<T>(), 0, nullptr, &value, sizeof(T)};
          }
        },
        value_);
    return view;
  }
  static Value copy(const bessemer_value_t& view) {
    if (view.type == BESSEMER_NULL)
      return Value();
    if (view.kind == BESSEMER_TENSOR)
      return Tensor(view.type, {view.shape, view.shape + view.rank}, view.data, view.size);
    switch (view.type) {
    case BESSEMER_INT32:
      return *static_cast<const int32_t*>(view.data);
    case BESSEMER_INT64:
      return *static_cast<const int64_t*>(view.data);
    case BESSEMER_FLOAT32:
      return *static_cast<const float*>(view.data);
    default:
      return *static_cast<const double*>(view.data);
    }
  }

private:
  std::variant<std::monostate, Tensor, int32_t, int64_t, float, double> value_;
};

struct Options {
  std::string device = "metal";
  std::vector<std::string> parameters; // "scope=file" or "file"
};

class Program {
public:
  static Program load(const std::string& path, const Options& options = {}) {
    return withOptions(options, [&](const bessemer_options_t& o, bessemer_error_t** error) {
      return bessemer_load(path.c_str(), &o, error);
    });
  }
  static Program load(std::span<const std::byte> bytes, const Options& options = {}) {
    return withOptions(options, [&](const bessemer_options_t& o, bessemer_error_t** error) {
      return bessemer_load_bytes(bytes.data(), bytes.size(), &o, error);
    });
  }

  // Calls `function` and waits; "" is the program's only one. Throws Error.
  std::vector<Value> operator()(const std::string& function, std::span<const Value> inputs) const {
    std::vector<bessemer_value_t> views;
    for (const Value& input : inputs)
      views.push_back(input.view());
    bessemer_error_t* error = nullptr;
    std::unique_ptr<bessemer_results_t, void (*)(bessemer_results_t*)> results(
        bessemer_call(program_.get(), function.c_str(), views.data(), views.size(), &error),
        bessemer_results_release);
    check(error);
    std::vector<Value> values;
    for (size_t i = 0; i < bessemer_result_count(results.get()); ++i)
      values.push_back(Value::copy(*bessemer_result(results.get(), i)));
    return values;
  }
  std::vector<Value> operator()(const std::string& function,
                                std::initializer_list<Value> inputs) const {
    return (*this)(function, std::span<const Value>(inputs.begin(), inputs.size()));
  }

  std::vector<std::string> functions() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < bessemer_function_count(program_.get()); ++i)
      names.push_back(bessemer_function_name(program_.get(), i));
    return names;
  }
  bessemer_program_t* get() const { return program_.get(); }

private:
  explicit Program(bessemer_program_t* program) : program_(program, bessemer_program_release) {}
  static void check(bessemer_error_t* error) {
    if (!error)
      return;
    Error thrown(error->code, error->message);
    bessemer_error_release(error);
    throw thrown;
  }
  template <class Load>
  static Program withOptions(const Options& options, Load load) {
    std::vector<const char*> parameters;
    for (const std::string& text : options.parameters)
      parameters.push_back(text.c_str());
    const bessemer_options_t o = {options.device.c_str(), parameters.data(), parameters.size()};
    bessemer_error_t* error = nullptr;
    bessemer_program_t* program = load(o, &error);
    check(error);
    return Program(program);
  }

  std::unique_ptr<bessemer_program_t, void (*)(bessemer_program_t*)> program_;
};

} // namespace bessemer

// The Python module's native part: programs, calls with arrays by DLPack, devices.
#include <memory>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bessemer/bessemer.hpp"

namespace nb = nanobind;

namespace {

using Results = std::shared_ptr<bessemer_results_t>;

nb::dlpack::dtype dtypeOf(bessemer_type_t type) {
  using nb::dlpack::dtype_code;
  auto make = [&](dtype_code code) {
    return nb::dlpack::dtype{static_cast<uint8_t>(code),
                             static_cast<uint8_t>(8 * bessemer_type_size(type)), 1};
  };
  switch (type) {
  case BESSEMER_BOOL8:
    return make(dtype_code::Bool);
  case BESSEMER_FLOAT16:
  case BESSEMER_FLOAT32:
  case BESSEMER_FLOAT64:
    return make(dtype_code::Float);
  case BESSEMER_COMPLEX64:
  case BESSEMER_COMPLEX128:
    return make(dtype_code::Complex);
  case BESSEMER_INT8:
  case BESSEMER_INT16:
  case BESSEMER_INT32:
  case BESSEMER_INT64:
    return make(dtype_code::Int);
  default: // bfloat16 as its bits: NumPy has no type for it
    return make(dtype_code::UInt);
  }
}

bessemer_type_t typeOf(nb::dlpack::dtype dtype) {
  auto sized = [&](int first) {
    const int log = dtype.bits == 8 ? 0 : dtype.bits == 16 ? 1 : dtype.bits == 32 ? 2 : 3;
    return static_cast<bessemer_type_t>(first + log);
  };
  using nb::dlpack::dtype_code;
  if (dtype.lanes == 1) {
    switch (static_cast<dtype_code>(dtype.code)) {
    case dtype_code::Bool:
      return BESSEMER_BOOL8;
    case dtype_code::Int:
      return sized(BESSEMER_INT8);
    case dtype_code::UInt:
      return sized(BESSEMER_UINT8);
    case dtype_code::Bfloat:
      return BESSEMER_BFLOAT16;
    case dtype_code::Float:
      if (dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64)
        return dtype.bits == 16   ? BESSEMER_FLOAT16
               : dtype.bits == 32 ? BESSEMER_FLOAT32
                                  : BESSEMER_FLOAT64;
      break;
    case dtype_code::Complex:
      return dtype.bits == 64 ? BESSEMER_COMPLEX64 : BESSEMER_COMPLEX128;
    default:
      break;
    }
  }
  throw nb::type_error("an array's elements are of a type that programs cannot take");
}

void check(bessemer_error_t* error) {
  if (!error)
    return;
  bessemer::Error thrown(error->code, error->message);
  bessemer_error_release(error);
  throw thrown;
}

// What one argument points to, until the call is over.
struct Argument {
  nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> array;
  std::vector<int64_t> shape;
  int64_t whole = 0;
  double real = 0;
  bessemer_value_t view = {};

  explicit Argument(nb::handle object) {
    if (object.is_none())
      return;
    if (nb::isinstance<nb::int_>(object)) {
      whole = nb::cast<int64_t>(object);
      view = {BESSEMER_SCALAR, BESSEMER_INT64, 0, nullptr, &whole, sizeof(whole)};
    } else if (nb::isinstance<nb::float_>(object)) {
      real = nb::cast<double>(object);
      view = {BESSEMER_SCALAR, BESSEMER_FLOAT64, 0, nullptr, &real, sizeof(real)};
    } else if (nb::try_cast(object, array)) {
      for (size_t i = 0; i < array.ndim(); ++i)
        shape.push_back(static_cast<int64_t>(array.shape(i)));
      view = {BESSEMER_TENSOR, typeOf(array.dtype()), shape.size(),
              shape.data(),    array.data(),          array.nbytes()};
    } else {
      throw nb::type_error("an input is an array (NumPy's or any with __dlpack__ in the host's "
                           "memory), an int, a float or None");
    }
  }
  Argument(const Argument&) = delete;
};

// A result as a Python object. Arrays look into the results' memory and keep it.
nb::object objectOf(const Results& results, const bessemer_value_t& value) {
  if (value.type == BESSEMER_NULL)
    return nb::none();
  if (value.kind == BESSEMER_SCALAR) {
    switch (value.type) {
    case BESSEMER_INT32:
      return nb::int_(*static_cast<const int32_t*>(value.data));
    case BESSEMER_INT64:
      return nb::int_(*static_cast<const int64_t*>(value.data));
    case BESSEMER_FLOAT32:
      return nb::float_(*static_cast<const float*>(value.data));
    default:
      return nb::float_(*static_cast<const double*>(value.data));
    }
  }
  nb::capsule owner(new Results(results),
                    [](void* held) noexcept { delete static_cast<Results*>(held); });
  const std::vector<size_t> shape(value.shape, value.shape + value.rank);
  return nb::cast(nb::ndarray<nb::numpy>(const_cast<void*>(value.data), value.rank, shape.data(),
                                         owner, nullptr, dtypeOf(value.type)));
}

// Each result with its type's name.
std::vector<std::pair<std::string, nb::object>> call(const bessemer::Program& program,
                                                     const std::string& function, nb::list inputs) {
  std::vector<std::unique_ptr<Argument>> arguments;
  std::vector<bessemer_value_t> views;
  for (nb::handle input : inputs) {
    arguments.push_back(std::make_unique<Argument>(input));
    views.push_back(arguments.back()->view);
  }
  bessemer_error_t* error = nullptr;
  bessemer_results_t* called;
  {
    nb::gil_scoped_release release;
    called = bessemer_call(program.get(), function.c_str(), views.data(), views.size(), &error);
  }
  check(error);
  const Results results(called, bessemer_results_release);
  std::vector<std::pair<std::string, nb::object>> objects;
  for (size_t i = 0; i < bessemer_result_count(called); ++i) {
    const bessemer_value_t& value = *bessemer_result(called, i);
    objects.emplace_back(bessemer_type_name(value.type), objectOf(results, value));
  }
  return objects;
}

std::vector<std::pair<std::string, std::string>> devices() {
  std::vector<std::pair<std::string, std::string>> list;
  bessemer_error_t* error = nullptr;
  bessemer_devices(
      [](const char* device, const char* name, void* data) {
        static_cast<decltype(list)*>(data)->emplace_back(device, name);
      },
      &list, &error);
  check(error);
  return list;
}

} // namespace

NB_MODULE(_bessemer, module) {
  nb::exception<bessemer::Error>(module, "Error");
  nb::class_<bessemer::Program>(module, "Program")
      .def("functions", &bessemer::Program::functions)
      .def("declaration",
           [](const bessemer::Program& program, const std::string& name) {
             for (size_t i = 0; i < bessemer_function_count(program.get()); ++i)
               if (name == bessemer_function_name(program.get(), i))
                 return std::string(bessemer_function_declaration(program.get(), i));
             return std::string();
           })
      .def("call", &call);
  module.def("load", [](const std::string& path, const std::string& device,
                        const std::vector<std::string>& parameters) {
    nb::gil_scoped_release release;
    return bessemer::Program::load(path, {device, parameters});
  });
  module.def("load_bytes", [](nb::bytes bytes, const std::string& device,
                              const std::vector<std::string>& parameters) {
    return bessemer::Program::load(
        std::span(static_cast<const std::byte*>(bytes.data()), bytes.size()), {device, parameters});
  });
  module.def("devices", &devices);
  module.attr("version") = bessemer_version();
}

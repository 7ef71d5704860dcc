// Runs one case of the corpus: loads its module, makes its calls and compares the results with what
// JAX, ONNX or NumPy computed. All of it twice, in fresh sessions of one process.
//
//   corpus_test CASE_FOLDER        exit code 0 when every result is right
//
// case.json: "module", "entry", "inputs" and "outputs" (lists of {"file"}), "rtol", "atol"; or
// "calls", a list of {"function", "inputs", "outputs"} that share the module's state; "parameters":
// {scope: file}.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tools/inputs.h"
#include "tools/outputs.h"
#include "tools/programs.h"

namespace bessemer::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using vm::Result;
using vm::StatusCode;
using vm::Value;
using vm::ValueType;

Result<Array> load(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  auto array = readNpy(stream);
  if (!array)
    return vm::fail(StatusCode::InvalidArgument, path.string(), ": ", array.error());
  return *std::move(array);
}

// A rank-0 array as a number of the given type.
Result<Value> numberOf(const Array& array, ValueType type) {
  double real = 0;
  int64_t whole = 0;
  const uint8_t* data = array.data.data();
  auto get = [&](auto& value) { std::memcpy(&value, data, sizeof(value)); };
  switch (array.element_type) {
  case IREE_HAL_ELEMENT_TYPE_FLOAT_32: {
    float value;
    get(value);
    real = value, whole = static_cast<int64_t>(value);
    break;
  }
  case IREE_HAL_ELEMENT_TYPE_FLOAT_64: {
    get(real);
    whole = static_cast<int64_t>(real);
    break;
  }
  case IREE_HAL_ELEMENT_TYPE_INT_32: {
    int32_t value;
    get(value);
    real = value, whole = value;
    break;
  }
  case IREE_HAL_ELEMENT_TYPE_INT_64: {
    get(whole);
    real = static_cast<double>(whole);
    break;
  }
  default:
    if (array.data.size() != 1)
      return vm::fail(StatusCode::Unimplemented, "no number can be made of this array");
    real = whole = data[0];
  }
  switch (type) {
  case ValueType::I32:
    return Value(static_cast<int32_t>(whole));
  case ValueType::I64:
    return Value(whole);
  case ValueType::F32:
    return Value(static_cast<float>(real));
  default:
    return Value(real);
  }
}

Result<void> makeCall(modules::Session& session, const fs::path& folder, const json& call,
                      const std::string& entry, const Tolerance& tolerance) {
  BESSEMER_ASSIGN_OR_RETURN(vm::Function function, session.function(call.value("function", entry)));
  const auto& items = function.signature().arguments;
  std::vector<Value> inputs;
  for (const json& input : call.at("inputs")) {
    BESSEMER_ASSIGN_OR_RETURN(Array array, load(folder / input.at("file").get<std::string>()));
    if (inputs.size() < items.size() && items[inputs.size()].type != ValueType::Ref) {
      BESSEMER_ASSIGN_OR_RETURN(Value value, numberOf(array, items[inputs.size()].type));
      inputs.push_back(std::move(value));
    } else {
      BESSEMER_ASSIGN_OR_RETURN(Value value, uploadArray(session.device(), array));
      inputs.push_back(std::move(value));
    }
  }
  BESSEMER_ASSIGN_OR_RETURN(auto results, session.call(function, inputs));
  const json& outputs = call.at("outputs");
  if (outputs.size() != results.size())
    return vm::fail(StatusCode::OutOfRange, "there are ", results.size(), " results; expected ",
                    outputs.size());
  for (size_t i = 0; i < results.size(); ++i) {
    BESSEMER_ASSIGN_OR_RETURN(Array want, load(folder / outputs[i].at("file").get<std::string>()));
    std::string difference;
    if (auto* view = results[i].as<iree_hal_buffer_view_t>()) {
      BESSEMER_ASSIGN_OR_RETURN(Array got, downloadArray(session.device(), view));
      difference = compareArrays(got, want, tolerance);
    } else if (!results[i].isRef()) {
      BESSEMER_ASSIGN_OR_RETURN(Value number, numberOf(want, results[i].type()));
      auto text = [&](const Value& value) {
        return value.type() == ValueType::F32   ? vm::concat(value.f32())
               : value.type() == ValueType::F64 ? vm::concat(value.f64())
               : value.type() == ValueType::I32 ? vm::concat(value.i32())
                                                : vm::concat(value.i64());
      };
      if (text(results[i]) != text(number))
        difference = vm::concat("is ", text(results[i]), "; expected ", text(number));
    } else {
      difference = vm::concat("is ", results[i].ref().typeName(), "; expected a tensor");
    }
    if (!difference.empty())
      return vm::fail(StatusCode::DataLoss, function.name(), ", result[", i, "]: ", difference);
  }
  return {};
}

Result<void> runCase(const fs::path& folder, const json& description) {
  ProgramFlags flags;
  flags.modules = {(folder / description.at("module").get<std::string>()).string()};
  for (const auto& [scope, file] : description.value("parameters", json::object()).items())
    flags.parameters.push_back(scope + "=" + (folder / file.get<std::string>()).string());
  Tolerance tolerance;
  tolerance.relative = description.at("rtol");
  tolerance.f16 = tolerance.f32 = tolerance.f64 = tolerance.bf16 = description.at("atol");
  BESSEMER_ASSIGN_OR_RETURN(Program program, Program::open(flags));
  const std::string entry = description.value("entry", "main");
  json calls = description.contains("calls") ? description["calls"] : json::array({description});
  for (const json& call : calls)
    BESSEMER_RETURN_IF_ERROR(makeCall(program.session(), folder, call, entry, tolerance));
  return {};
}

} // namespace
} // namespace bessemer::tools

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: corpus_test CASE_FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::ifstream stream(folder / "case.json");
  nlohmann::json description = nlohmann::json::parse(stream, nullptr, false);
  if (description.is_discarded()) {
    std::fprintf(stderr, "%s: no readable case.json\n", argv[1]);
    return 2;
  }
  for (int time = 1; time <= 2; ++time) {
    if (auto result = bessemer::tools::runCase(folder, description); !result) {
      std::fprintf(stderr, "run %d: %s\n", time, result.error().toString().c_str());
      return 1;
    }
  }
  return 0;
}

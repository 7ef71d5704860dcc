// Where in the model an operation comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bessemer::vm::fb {
struct DebugDatabaseDef;
struct FunctionSourceMapDef;
} // namespace bessemer::vm::fb

namespace bessemer::vm::bytecode {

class DebugDatabase {
public:
  DebugDatabase() = default;
  // `def` is verified and outlives this; null: nothing is known. `function_count`: of the module.
  // The compiler (3.13) describes only some functions, by name; a table of all goes by ordinal.
  DebugDatabase(const fb::DebugDatabaseDef* def, size_t function_count);

  // The name of a function that is not exported, or "".
  std::string_view name(size_t function) const;
  // "file:line:column"; several places are joined by " <- ", innermost first. Empty when unknown.
  std::string find(size_t function, std::string_view name, uint32_t bytecode_offset) const;

private:
  const fb::FunctionSourceMapDef* map(size_t function, std::string_view name) const;
  void describe(int32_t location, int depth, std::string& text) const;

  bool by_ordinal_ = false;
  const fb::DebugDatabaseDef* def_ = nullptr;
};

} // namespace bessemer::vm::bytecode

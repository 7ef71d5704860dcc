// Where in the model an operation comes from.
#pragma once

#include <cstdint>
#include <string>

namespace bessemer::vm::fb {
struct DebugDatabaseDef;
} // namespace bessemer::vm::fb

namespace bessemer::vm::bytecode {

class DebugDatabase {
public:
  DebugDatabase() = default;
  // `def` is verified and outlives this; null: nothing is known.
  explicit DebugDatabase(const fb::DebugDatabaseDef* def) : def_(def) {}

  // "file:line:column"; several places are joined by " <- ", innermost first. Empty when unknown.
  std::string find(size_t function, uint32_t bytecode_offset) const;

private:
  void describe(int32_t location, int depth, std::string& text) const;

  const fb::DebugDatabaseDef* def_ = nullptr;
};

} // namespace bessemer::vm::bytecode

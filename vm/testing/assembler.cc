#include "vm/testing/assembler.h"

#include <cstring>

#include "module_generated.h"

namespace bessemer::vm::testing {

Operand list(std::vector<Operand> registers) {
  Operand operand;
  for (const Operand& reg : registers)
    operand.values.push_back(static_cast<uint16_t>(reg.number));
  return operand;
}

Operand segments(std::vector<uint16_t> counts) {
  Operand operand;
  operand.values = std::move(counts);
  return operand;
}

Operand to(Label label, std::vector<Operand> copies) {
  Operand operand = list(std::move(copies));
  operand.label = label;
  return operand;
}

Label FunctionBuilder::label() {
  labels_.push_back(0);
  return {static_cast<uint32_t>(labels_.size() - 1)};
}

Label FunctionBuilder::block() {
  Label made = label();
  block(made);
  return made;
}

void FunctionBuilder::block(Label label) {
  labels_[label.index] = static_cast<uint32_t>(code_.size());
  ++blocks_;
  put<uint8_t>(static_cast<uint8_t>(Op::Block));
}

template <class T>
void FunctionBuilder::put(T value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  code_.insert(code_.end(), bytes, bytes + sizeof(T));
}

void FunctionBuilder::putList(const std::vector<uint16_t>& values, size_t per_element) {
  if (code_.size() % 2)
    put<uint8_t>(0);
  put<uint16_t>(static_cast<uint16_t>(values.size() / per_element));
  for (uint16_t value : values)
    put(value);
}

void FunctionBuilder::emit(Op op, std::vector<Operand> operands) {
  auto code = static_cast<uint32_t>(op);
  if (code >> 8)
    put<uint8_t>(code >> 8 == 1 ? bytecode::kPrefixF32 : bytecode::kPrefixF64);
  put<uint8_t>(static_cast<uint8_t>(code));
  size_t next = 0;
  std::string_view specification = bytecode::findOp(code)->operands;
  for (size_t k = 0; k < specification.size(); ++k) {
    char kind = specification[k];
    if (kind == '>' || kind == 'x')
      continue;
    if (kind == 'L')
      ++k;
    Operand operand;
    if (next < operands.size())
      operand = operands[next++];
    auto branch = [&] {
      fixups_.push_back({code_.size(), operand.label});
      put<uint32_t>(0);
    };
    switch (kind) {
    case 'e':
      put(operand.is_real ? static_cast<float>(operand.real) : 0.0f);
      break;
    case 'd':
      put(operand.real);
      break;
    case '8':
      put<uint64_t>(operand.number);
      break;
    case '4':
    case 'g':
    case 'G':
    case 'n':
    case 'o':
    case 't':
    case 'c':
    case 'm':
      put(static_cast<uint32_t>(operand.number));
      break;
    case 's':
      put(static_cast<uint16_t>(operand.text.size()));
      code_.insert(code_.end(), operand.text.begin(), operand.text.end());
      break;
    case 'p':
      branch();
      // The resume point of a yieldable call has no copies.
      if (k + 1 < specification.size() && specification[k + 1] == 'x')
        putList(operand.values, 2);
      break;
    case 'B':
      // The remaining operands are the cases.
      --next;
      put(static_cast<uint16_t>(operands.size() - next));
      for (; next < operands.size(); ++next) {
        operand = operands[next];
        branch();
        putList(operand.values, 2);
      }
      break;
    case 'a':
    case 'L':
    case 'S':
      putList(operand.values, 1);
      break;
    default:
      put(static_cast<uint16_t>(operand.number));
      break;
    }
  }
}

void FunctionBuilder::raw(std::vector<uint8_t> bytes) {
  code_.insert(code_.end(), bytes.begin(), bytes.end());
}

std::vector<uint8_t> FunctionBuilder::code() const {
  std::vector<uint8_t> result = code_;
  for (const Fixup& fixup : fixups_)
    std::memcpy(result.data() + fixup.at, &labels_[fixup.label.index], sizeof(uint32_t));
  return result;
}

struct ModuleBuilder::Tables {
  fb::BytecodeModuleDefT def;
};

ModuleBuilder::ModuleBuilder(std::string name) : tables_(std::make_unique<Tables>()) {
  tables_->def.name = std::move(name);
  tables_->def.requirements = bytecode::kSupportedFeatures;
  tables_->def.bytecode_version = bytecode::kVersionMajor << 16;
}
ModuleBuilder::ModuleBuilder(ModuleBuilder&&) noexcept = default;
ModuleBuilder::~ModuleBuilder() = default;

uint32_t ModuleBuilder::type(std::string name) {
  auto def = std::make_unique<fb::TypeDefT>();
  def->full_name = std::move(name);
  tables_->def.types.push_back(std::move(def));
  return static_cast<uint32_t>(tables_->def.types.size() - 1);
}

uint32_t ModuleBuilder::import(std::string name, std::string signature, bool optional) {
  auto def = std::make_unique<fb::ImportFunctionDefT>();
  def->full_name = std::move(name);
  def->signature = std::make_unique<fb::FunctionSignatureDefT>();
  def->signature->calling_convention = std::move(signature);
  def->flags = optional ? 2 : 1;
  tables_->def.imported_functions.push_back(std::move(def));
  return static_cast<uint32_t>(tables_->def.imported_functions.size() - 1);
}

uint32_t ModuleBuilder::rodata(std::string bytes) {
  auto def = std::make_unique<fb::RodataSegmentDefT>();
  def->embedded_data.assign(bytes.begin(), bytes.end());
  tables_->def.rodata_segments.push_back(std::move(def));
  return static_cast<uint32_t>(tables_->def.rodata_segments.size() - 1);
}

uint32_t ModuleBuilder::function(std::string exported, const FunctionBuilder& function) {
  fb::BytecodeModuleDefT& def = tables_->def;
  auto ordinal = static_cast<uint32_t>(def.function_descriptors.size());
  auto signature = std::make_unique<fb::FunctionSignatureDefT>();
  signature->calling_convention = function.signature_;
  def.function_signatures.push_back(std::move(signature));
  std::vector<uint8_t> code = function.code();
  while (def.bytecode_data.size() % 8)
    def.bytecode_data.push_back(0);
  def.function_descriptors.emplace_back(
      static_cast<int32_t>(def.bytecode_data.size()), static_cast<int32_t>(code.size()),
      function.requirements_, int16_t{0}, function.blocks_, function.words_, function.refs_);
  def.bytecode_data.insert(def.bytecode_data.end(), code.begin(), code.end());
  if (!exported.empty()) {
    auto entry = std::make_unique<fb::ExportFunctionDefT>();
    entry->local_name = std::move(exported);
    entry->internal_ordinal = static_cast<int32_t>(ordinal);
    def.exported_functions.push_back(std::move(entry));
  }
  return ordinal;
}

void ModuleBuilder::attribute(uint32_t function, std::string key, std::string value) {
  auto def = std::make_unique<fb::AttrDefT>();
  def->key = std::move(key);
  def->value = std::move(value);
  tables_->def.function_signatures[function]->attrs.push_back(std::move(def));
}

void ModuleBuilder::dependency(std::string name, uint32_t version, bool optional) {
  auto def = std::make_unique<fb::ModuleDependencyDefT>();
  def->name = std::move(name);
  def->minimum_version = version;
  def->flags = optional ? 2 : 1;
  tables_->def.dependencies.push_back(std::move(def));
}

void ModuleBuilder::globals(int32_t bytes, int32_t refs) {
  tables_->def.module_state = std::make_unique<fb::ModuleStateDefT>();
  tables_->def.module_state->global_bytes_capacity = bytes;
  tables_->def.module_state->global_ref_count = refs;
}

void ModuleBuilder::version(uint32_t bytecode_version) {
  tables_->def.bytecode_version = bytecode_version;
}

void ModuleBuilder::requirements(uint32_t features) { tables_->def.requirements = features; }

void ModuleBuilder::lines(uint32_t ordinal, std::string name,
                          std::vector<std::pair<int32_t, int32_t>> offsets) {
  auto& database = tables_->def.debug_database;
  if (!database)
    database = std::make_unique<fb::DebugDatabaseDefT>();
  while (database->functions.size() <= ordinal)
    database->functions.push_back(std::make_unique<fb::FunctionSourceMapDefT>());
  fb::FunctionSourceMapDefT& map = *database->functions[ordinal];
  map.local_name = std::move(name);
  for (auto [offset, line] : offsets) {
    fb::FileLineColLocDefT location;
    location.filename = "model.mlir";
    location.line = line;
    location.column = 7;
    fb::LocationTypeDefUnion entry;
    entry.Set(std::move(location));
    map.locations.emplace_back(offset, static_cast<int32_t>(database->location_table.size()));
    database->location_table.push_back(std::move(entry));
  }
}

std::vector<std::byte> ModuleBuilder::finish(bool zip) const {
  flatbuffers::FlatBufferBuilder builder;
  fb::FinishSizePrefixedBytecodeModuleDefBuffer(
      builder, fb::CreateBytecodeModuleDef(builder, &tables_->def));
  std::vector<std::byte> file;
  if (zip) {
    // A local header whose extra field puts the size prefix at offset 64, as the compiler does.
    constexpr std::string_view name = "module.fb";
    file.resize(64);
    const uint32_t magic = 0x04034B50;
    auto name_length = static_cast<uint16_t>(name.size());
    auto extra_length = static_cast<uint16_t>(64 - 30 - name.size());
    std::memcpy(file.data(), &magic, 4);
    std::memcpy(file.data() + 26, &name_length, 2);
    std::memcpy(file.data() + 28, &extra_length, 2);
    std::memcpy(file.data() + 30, name.data(), name.size());
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  file.insert(file.end(), bytes, bytes + builder.GetSize());
  return file;
}

} // namespace bessemer::vm::testing

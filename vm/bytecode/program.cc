#include "vm/bytecode/program.h"

#include "module_generated.h"
#include "vm/bytecode/debug_database.h"

namespace bessemer::vm::bytecode {

namespace {

template <class... Parts>
std::unexpected<Error> invalid(const Parts&... parts) {
  return fail(StatusCode::InvalidArgument, parts...);
}

std::string_view textOf(const flatbuffers::String* text) {
  return text ? std::string_view(text->c_str(), text->size()) : std::string_view();
}

template <class T>
uint32_t sizeOf(const flatbuffers::Vector<T>* vector) {
  return vector ? vector->size() : 0;
}

std::vector<Attribute>
readAttributes(const flatbuffers::Vector<flatbuffers::Offset<fb::AttrDef>>* defs) {
  std::vector<Attribute> attributes;
  for (uint32_t i = 0; i < sizeOf(defs); ++i)
    attributes.push_back({textOf(defs->Get(i)->key()), textOf(defs->Get(i)->value())});
  return attributes;
}

Result<Type> readType(const Instance& instance, std::string_view name) {
  static constexpr std::pair<std::string_view, ValueType> numbers[] = {
      {"i8", ValueType::I8},   {"i16", ValueType::I16}, {"i32", ValueType::I32},
      {"i64", ValueType::I64}, {"f32", ValueType::F32}, {"f64", ValueType::F64}};
  for (auto [number, type] : numbers)
    if (name == number)
      return Type{name, type, nullptr};
  if (name == "!vm.opaque")
    return Type{name, ValueType::None, nullptr};
  if (name.starts_with('!'))
    if (const RefType* type = instance.findType(name.substr(1)))
      return Type{name, ValueType::Ref, type};
  return fail(StatusCode::NotFound, "unknown type '", name, "'");
}

Result<void> readTypes(const Instance& instance, const fb::BytecodeModuleDef& def,
                       Program& program) {
  for (uint32_t i = 0; i < sizeOf(def.types()); ++i) {
    auto type = readType(instance, textOf(def.types()->Get(i)->full_name()));
    if (!type)
      return std::unexpected(std::move(type.error()).prefix(concat("type ", i)));
    program.types.push_back(*type);
  }
  return {};
}

Result<void> readImports(const fb::BytecodeModuleDef& def, Program& program) {
  uint32_t count = sizeOf(def.imported_functions());
  program.import_signatures.reserve(count); // imports point into it
  for (uint32_t i = 0; i < count; ++i) {
    const fb::ImportFunctionDef& import = *def.imported_functions()->Get(i);
    std::string_view name = textOf(import.full_name());
    if (name.find('.') == std::string_view::npos)
      return invalid("import ", i, ": '", name, "' names no module");
    if (!import.signature())
      return invalid("import ", i, " (", name, ") has no signature");
    auto signature = Signature::parse(textOf(import.signature()->calling_convention()));
    if (!signature)
      return std::unexpected(
          std::move(signature.error()).prefix(concat("import ", i, " (", name, ")")));
    program.import_signatures.push_back(*std::move(signature));
    program.imports.push_back({name, &program.import_signatures.back(), (import.flags() & 2) != 0});
  }
  return {};
}

Result<void> readFunctions(const fb::BytecodeModuleDef& def, Program& program) {
  uint32_t count = sizeOf(def.function_descriptors());
  if (sizeOf(def.function_signatures()) != count)
    return invalid(sizeOf(def.function_signatures()), " signatures for ", count, " functions");
  std::span<const uint8_t> bytecode;
  if (def.bytecode_data())
    bytecode = {def.bytecode_data()->data(), def.bytecode_data()->size()};
  program.signatures.reserve(count); // functions point into it
  for (uint32_t i = 0; i < count; ++i) {
    const fb::FunctionDescriptor& descriptor = *def.function_descriptors()->Get(i);
    const fb::FunctionSignatureDef& signature_def = *def.function_signatures()->Get(i);
    auto signature = Signature::parse(textOf(signature_def.calling_convention()));
    if (!signature)
      return std::unexpected(std::move(signature.error()).prefix(concat("function ", i)));
    if (signature->hasSpans())
      return invalid("function ", i, ": variadic arguments are for imports only");
    program.signatures.push_back(*std::move(signature));
    program.function_attributes.push_back(readAttributes(signature_def.attrs()));

    int64_t offset = descriptor.bytecode_offset();
    int64_t length = descriptor.bytecode_length();
    if (offset < 0 || length < 1 || offset > static_cast<int64_t>(bytecode.size()) ||
        length > static_cast<int64_t>(bytecode.size()) - offset)
      return invalid("function ", i, ": bytecode of ", length, " bytes at offset ", offset,
                     " is not inside the module's ", bytecode.size(), " bytes");
    if (descriptor.block_count() < 1)
      return invalid("function ", i, " has no block");
    constexpr int16_t kMaxRefs = 0x3FFF;
    if (descriptor.i32_register_count() < 0 || descriptor.ref_register_count() < 0 ||
        descriptor.ref_register_count() > kMaxRefs)
      return invalid("function ", i, ": bad number of registers");
    uint32_t features = descriptor.requirements();
    if (features & ~kSupportedFeatures)
      return fail(StatusCode::Unimplemented, "function ", i, " needs features ", features,
                  " that are not supported");
    FunctionDef function;
    function.code = bytecode.subspan(offset, length);
    function.requirements = features;
    function.block_count = static_cast<uint32_t>(descriptor.block_count());
    function.word_count = static_cast<uint32_t>(descriptor.i32_register_count());
    function.ref_count = static_cast<uint32_t>(descriptor.ref_register_count());
    function.signature = &program.signatures.back();
    program.functions.push_back(function);
  }
  return {};
}

Result<void> readExports(const fb::BytecodeModuleDef& def, Program& program) {
  for (uint32_t i = 0; i < sizeOf(def.exported_functions()); ++i) {
    const fb::ExportFunctionDef& exported = *def.exported_functions()->Get(i);
    std::string_view name = textOf(exported.local_name());
    int64_t ordinal = exported.internal_ordinal();
    if (name.empty())
      return invalid("export ", i, " has no name");
    if (ordinal < 0 || ordinal >= static_cast<int64_t>(program.functions.size()))
      return invalid("export ", i, " (", name, "): there is no function ", ordinal);
    FunctionDef& function = program.functions[ordinal];
    function.name = name;
    program.exports.push_back({name, function.signature, program.function_attributes[ordinal],
                               static_cast<uint32_t>(ordinal)});
  }
  return {};
}

// Functions that are not exported have names only in the debug database.
void readDebugNames(const fb::BytecodeModuleDef& def, Program& program) {
  DebugDatabase database(def.debug_database(), program.functions.size());
  for (size_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].name.empty())
      program.functions[i].name = database.name(i);
}

Result<void> readRodata(const fb::BytecodeModuleDef& def, const Container& container,
                        const std::shared_ptr<const void>& owner, Program& program) {
  for (uint32_t i = 0; i < sizeOf(def.rodata_segments()); ++i) {
    const fb::RodataSegmentDef& segment = *def.rodata_segments()->Get(i);
    std::span<const std::byte> bytes;
    if (const auto* embedded = segment.embedded_data()) {
      bytes = std::as_bytes(std::span(embedded->data(), embedded->size()));
    } else {
      auto range = container.rodata(segment.external_data_offset(), segment.external_data_length());
      if (!range)
        return std::unexpected(std::move(range.error()).prefix(concat("rodata ", i)));
      bytes = *range;
    }
    // Read-only buffers are never written through.
    std::span<std::byte> memory(const_cast<std::byte*>(bytes.data()), bytes.size());
    program.rodata.push_back(Buffer::wrap(memory, Buffer::Access::ReadOnly, owner));
  }
  return {};
}

Result<void> checkVersion(const fb::BytecodeModuleDef& def) {
  uint32_t major = def.bytecode_version() >> 16;
  uint32_t minor = def.bytecode_version() & 0xFFFF;
  if (major != kVersionMajor || minor > kVersionMinor)
    return fail(StatusCode::Unimplemented, "bytecode version ", major, ".", minor,
                " is not supported (this runtime reads ", kVersionMajor, ".0 to ", kVersionMajor,
                ".", kVersionMinor, "): compile the program again");
  if (uint32_t missing = def.requirements() & ~kSupportedFeatures)
    return fail(StatusCode::Unimplemented, "the module needs features ", missing,
                " that are not supported");
  return {};
}

} // namespace

ArgumentLayout::ArgumentLayout(const Signature& signature) {
  for (const Signature::Item& item : signature.arguments) {
    if (item.type == ValueType::Ref) {
      registers.push_back(static_cast<uint16_t>(ref_count++));
    } else {
      bool wide = item.type == ValueType::I64 || item.type == ValueType::F64;
      if (wide)
        word_count = (word_count + 1) & ~1u;
      registers.push_back(static_cast<uint16_t>(word_count));
      word_count += wide ? 2 : 1;
    }
  }
}

Result<Program> Program::read(const Instance& instance, const Container& container,
                              std::shared_ptr<const void> owner) {
  // Tables with debug information have several for each operation; the file's size bounds the work.
  constexpr flatbuffers::uoffset_t kMaxDepth = 64;
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(container.flatbuffer.data()),
                                 container.flatbuffer.size(), kMaxDepth,
                                 static_cast<flatbuffers::uoffset_t>(container.flatbuffer.size()));
  if (!fb::VerifySizePrefixedBytecodeModuleDefBuffer(verifier))
    return invalid("the module's table is damaged (FlatBuffers verification failed)");
  const fb::BytecodeModuleDef& def =
      *fb::GetSizePrefixedBytecodeModuleDef(container.flatbuffer.data());

  Program program;
  program.name = textOf(def.name());
  if (program.name.empty())
    return invalid("the module has no name");
  BESSEMER_RETURN_IF_ERROR(checkVersion(def));
  program.version = def.version();
  program.requirements = def.requirements();
  program.attributes = readAttributes(def.attrs());
  BESSEMER_RETURN_IF_ERROR(readTypes(instance, def, program));
  for (uint32_t i = 0; i < sizeOf(def.dependencies()); ++i) {
    const fb::ModuleDependencyDef& dependency = *def.dependencies()->Get(i);
    program.dependencies.push_back(
        {textOf(dependency.name()), dependency.minimum_version(), (dependency.flags() & 2) != 0});
  }
  BESSEMER_RETURN_IF_ERROR(readImports(def, program));
  BESSEMER_RETURN_IF_ERROR(readFunctions(def, program));
  BESSEMER_RETURN_IF_ERROR(readExports(def, program));
  readDebugNames(def, program);
  BESSEMER_RETURN_IF_ERROR(readRodata(def, container, owner, program));
  if (const auto* state = def.module_state()) {
    // A context allocates this; no real program has gigabytes of scalar globals.
    constexpr int32_t kMaxGlobalRefs = 1 << 24;
    constexpr int32_t kMaxGlobalBytes = 1 << 28;
    if (state->global_bytes_capacity() < 0 || state->global_bytes_capacity() > kMaxGlobalBytes ||
        state->global_ref_count() < 0 || state->global_ref_count() > kMaxGlobalRefs)
      return invalid("bad size of globals: ", state->global_bytes_capacity(), " bytes, ",
                     state->global_ref_count(), " references");
    program.global_bytes = static_cast<uint32_t>(state->global_bytes_capacity());
    program.global_refs = static_cast<uint32_t>(state->global_ref_count());
  }
  return program;
}

std::string Program::describe(size_t ordinal) const {
  std::string text = concat("function ", ordinal);
  if (!functions[ordinal].name.empty())
    text += concat(" (", functions[ordinal].name, ")");
  return text;
}

} // namespace bessemer::vm::bytecode

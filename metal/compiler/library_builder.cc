#include "metal/compiler/library_builder.h"

#include "metal/air/function_constants.h"
#include "metal/air/metallib.h"
#include "metal/air/module.h"
#include "metal/air/signature.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <map>

namespace bessemer::compiler {

namespace {

metal::ArgumentKind to_schema(air::ArgumentKind kind) {
  switch (kind) {
  case air::ArgumentKind::Buffer:
    return metal::ArgumentKind::Buffer;
  case air::ArgumentKind::ArgumentBuffer:
    return metal::ArgumentKind::ArgumentBuffer;
  case air::ArgumentKind::Threadgroup:
    return metal::ArgumentKind::Threadgroup;
  case air::ArgumentKind::Texture:
    return metal::ArgumentKind::Texture;
  case air::ArgumentKind::Sampler:
    return metal::ArgumentKind::Sampler;
  case air::ArgumentKind::Builtin:
    break;
  }
  return metal::ArgumentKind::Builtin;
}

metal::Access to_schema(air::Access access) {
  switch (access) {
  case air::Access::Read:
    return metal::Access::Read;
  case air::Access::Write:
    return metal::Access::Write;
  case air::Access::ReadWrite:
    break;
  }
  return metal::Access::ReadWrite;
}

metal::FunctionKind to_schema(air::FunctionKind kind) {
  switch (kind) {
  case air::FunctionKind::Vertex:
    return metal::FunctionKind::Vertex;
  case air::FunctionKind::Fragment:
    return metal::FunctionKind::Fragment;
  case air::FunctionKind::Kernel:
    break;
  }
  return metal::FunctionKind::Kernel;
}

std::unique_ptr<metal::StructMemberT> to_schema(const air::StructMember& member) {
  auto out = std::make_unique<metal::StructMemberT>();
  out->name = member.name;
  out->type_name = member.type_name;
  out->offset = member.offset;
  out->size = member.size;
  out->array_length = member.array_length;
  out->argument_index = member.argument_index;
  out->address_space = static_cast<uint8_t>(member.address_space);
  out->access = to_schema(member.access);
  out->is_pointer = member.is_pointer;
  for (const air::StructMember& nested : member.members)
    out->members.push_back(to_schema(nested));
  return out;
}

std::unique_ptr<metal::ArgumentT> to_schema(const air::Argument& argument) {
  auto out = std::make_unique<metal::ArgumentT>();
  out->name = argument.name;
  out->kind = to_schema(argument.kind);
  out->index = argument.index;
  out->type_name = argument.kind == air::ArgumentKind::Builtin
                       ? air::builtin_name(argument.builtin).str()
                       : argument.type_name;
  out->size = argument.size;
  out->alignment = argument.alignment;
  out->access = to_schema(argument.access);
  out->address_space = static_cast<uint8_t>(argument.address_space);
  out->used = argument.used;
  out->predicate = argument.predicate;
  for (const air::StructMember& member : argument.members)
    out->members.push_back(to_schema(member));
  return out;
}

std::unique_ptr<metal::FunctionT> describe(const llvm::Module& module,
                                           const air::Signature& signature,
                                           const std::vector<air::FunctionConstant>& constants) {
  auto function = std::make_unique<metal::FunctionT>();
  function->name = signature.function->getName();
  function->kind = to_schema(signature.kind);
  function->max_threads_per_threadgroup = signature.max_threads_per_threadgroup;
  for (const air::Argument& argument : signature.arguments)
    function->arguments.push_back(to_schema(argument));
  std::vector<uint32_t> used = air::constants_used_by(module, signature, constants);
  for (const air::FunctionConstant& constant : constants) {
    if (!llvm::is_contained(used, constant.index))
      continue;
    auto out = std::make_unique<metal::FunctionConstantT>();
    out->name = constant.name;
    out->index = constant.index;
    out->type = constant.data_type;
    out->required = constant.required;
    function->constants.push_back(std::move(out));
  }
  return function;
}

std::unique_ptr<metal::ModuleT> to_schema(llvm::StringRef bitcode) {
  auto out = std::make_unique<metal::ModuleT>();
  out->bitcode.assign(bitcode.bytes_begin(), bitcode.bytes_end());
  return out;
}

} // namespace

llvm::Error add_module(const llvm::Module& module, std::string bitcode, metal::LibraryT& library) {
  auto signatures = air::read_signatures(module);
  if (!signatures)
    return signatures.takeError();
  auto constants = air::read_function_constants(module);
  if (!constants)
    return constants.takeError();
  for (const air::Signature& signature : *signatures) {
    auto function = describe(module, signature, *constants);
    function->module_ = static_cast<uint32_t>(library.modules.size());
    library.functions.push_back(std::move(function));
  }
  library.modules.push_back(to_schema(bitcode));
  return llvm::Error::success();
}

llvm::Error add_metallib(llvm::ArrayRef<uint8_t> bytes, metal::LibraryT& library) {
  auto file = air::Metallib::parse(bytes);
  if (!file)
    return file.takeError();
  for (const air::MetallibFunction& entry : file->functions()) {
    auto in_function = [&](llvm::Error error) {
      return llvm::createStringError("metallib, function '" + entry.name +
                                     "': " + llvm::toString(std::move(error)));
    };
    llvm::LLVMContext context;
    llvm::StringRef bitcode = file->bitcode(entry);
    // An aligned copy: modules lie back to back.
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(bitcode, entry.name);
    auto module = llvm::getLazyBitcodeModule(buffer->getMemBufferRef(), context);
    if (!module)
      return in_function(module.takeError());
    if (llvm::Error error = (*module)->materializeMetadata())
      return in_function(std::move(error));
    auto signature = air::read_signature(**module, entry.name);
    if (!signature)
      return in_function(signature.takeError());
    auto function = describe(**module, *signature, {});
    auto constants = file->constants(entry);
    if (!constants)
      return constants.takeError();
    for (const air::MetallibConstant& constant : *constants) {
      auto out = std::make_unique<metal::FunctionConstantT>();
      out->name = constant.name;
      out->index = constant.index;
      out->type = constant.data_type;
      out->required = constant.required;
      function->constants.push_back(std::move(out));
    }
    function->module_ = static_cast<uint32_t>(library.modules.size());
    library.functions.push_back(std::move(function));
    library.modules.push_back(to_schema(bitcode));
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> to_metallib(const metal::Library& library) {
  std::vector<air::MetallibEntry> entries;
  std::map<uint32_t, unsigned> functions_of_module;
  if (library.functions())
    for (const metal::Function* function : *library.functions())
      ++functions_of_module[function->module_()];
  if (library.functions())
    for (const metal::Function* function : *library.functions()) {
      if (!library.modules() || function->module_() >= library.modules()->size())
        return llvm::createStringError("library: function '" + function->name()->str() +
                                       "' has no module");
      const auto* bytes = library.modules()->Get(function->module_())->bitcode();
      air::MetallibEntry entry;
      entry.name = function->name()->str();
      entry.kind = static_cast<air::FunctionKind>(function->kind());
      llvm::StringRef bitcode(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      if (functions_of_module[function->module_()] == 1) {
        entry.bitcode = bitcode;
      } else {
        // The container has a module of its own for each function.
        llvm::LLVMContext context;
        auto module =
            air::parse_function(llvm::MemoryBufferRef(bitcode, entry.name), entry.name, context);
        if (!module)
          return module.takeError();
        entry.bitcode = air::write_bitcode(**module);
      }
      if (function->constants())
        for (const metal::FunctionConstant* constant : *function->constants())
          entry.constants.push_back({constant->name() ? constant->name()->str() : std::string(),
                                     constant->type(), constant->index(), constant->required()});
      entries.push_back(std::move(entry));
    }
  return air::write_metallib(entries);
}

std::string finish(metal::LibraryT& library) {
  std::ranges::sort(library.functions, {},
                    [](const auto& function) -> const std::string& { return function->name; });
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(metal::Library::Pack(builder, &library), metal::LibraryIdentifier());
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

} // namespace bessemer::compiler

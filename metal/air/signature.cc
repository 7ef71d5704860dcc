#include "metal/air/signature.h"

#include "metal/air/module.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Support/FormatVariadic.h"

#include <iterator>

namespace bessemer::air {

namespace {

struct BuiltinEntry {
  Builtin builtin;
  llvm::StringLiteral name;
};

constexpr BuiltinEntry kBuiltins[] = {
    {Builtin::ThreadPositionInGrid, "air.thread_position_in_grid"},
    {Builtin::ThreadPositionInThreadgroup, "air.thread_position_in_threadgroup"},
    {Builtin::ThreadgroupPositionInGrid, "air.threadgroup_position_in_grid"},
    {Builtin::ThreadsPerGrid, "air.threads_per_grid"},
    {Builtin::ThreadsPerThreadgroup, "air.threads_per_threadgroup"},
    {Builtin::ThreadgroupsPerGrid, "air.threadgroups_per_grid"},
    {Builtin::DispatchThreadsPerThreadgroup, "air.dispatch_threads_per_threadgroup"},
    {Builtin::GridOrigin, "air.grid_origin"},
    {Builtin::GridSize, "air.grid_size"},
    {Builtin::ThreadIndexInThreadgroup, "air.thread_index_in_threadgroup"},
    {Builtin::ThreadIndexInSimdgroup, "air.thread_index_in_simdgroup"},
    {Builtin::SimdgroupIndexInThreadgroup, "air.simdgroup_index_in_threadgroup"},
    {Builtin::SimdgroupsPerThreadgroup, "air.simdgroups_per_threadgroup"},
    {Builtin::DispatchSimdgroupsPerThreadgroup, "air.dispatch_simdgroups_per_threadgroup"},
    {Builtin::ThreadsPerSimdgroup, "air.threads_per_simdgroup"},
    {Builtin::ThreadExecutionWidth, "air.thread_execution_width"},
    {Builtin::ThreadIndexInQuadgroup, "air.thread_index_in_quadgroup"},
    {Builtin::QuadgroupIndexInThreadgroup, "air.quadgroup_index_in_threadgroup"},
    {Builtin::QuadgroupsPerThreadgroup, "air.quadgroups_per_threadgroup"},
    {Builtin::DispatchQuadgroupsPerThreadgroup, "air.dispatch_quadgroups_per_threadgroup"},
};

// Metadata is read by key: optional items shift the rest, so positions mean nothing.
class NodeReader {
public:
  explicit NodeReader(const llvm::MDNode& node) : node_(node) {}

  unsigned size() const { return node_.getNumOperands(); }

  llvm::StringRef text(unsigned index) const {
    if (index >= size())
      return {};
    auto* string = llvm::dyn_cast_or_null<llvm::MDString>(node_.getOperand(index));
    return string ? string->getString() : llvm::StringRef();
  }

  std::optional<uint64_t> number(unsigned index) const {
    if (index >= size())
      return std::nullopt;
    auto* constant = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node_.getOperand(index));
    if (!constant || constant->getBitWidth() > 64)
      return std::nullopt;
    return constant->getZExtValue();
  }

  const llvm::MDNode* child(unsigned index) const {
    return index < size() ? llvm::dyn_cast_or_null<llvm::MDNode>(node_.getOperand(index)) : nullptr;
  }

  const llvm::Constant* value(unsigned index) const {
    if (index >= size())
      return nullptr;
    return llvm::mdconst::dyn_extract_or_null<llvm::Constant>(node_.getOperand(index));
  }

private:
  const llvm::MDNode& node_;
};

std::optional<Access> access_from_name(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Access>>(name)
      .Case("air.read", Access::Read)
      .Case("air.sample", Access::Read)
      .Case("air.read_write", Access::ReadWrite)
      .Case("air.write", Access::Write)
      .Default(std::nullopt);
}

std::optional<ArgumentKind> kind_from_name(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<ArgumentKind>>(name)
      .Case("air.buffer", ArgumentKind::Buffer)
      .Case("air.indirect_buffer", ArgumentKind::ArgumentBuffer)
      .Case("air.texture", ArgumentKind::Texture)
      .Case("air.sampler", ArgumentKind::Sampler)
      .Default(std::nullopt);
}

// Metadata graphs can be cyclic in a bad file; no struct nests this deep.
constexpr unsigned kMaxNesting = 16;

// A resource inside an argument buffer: what its own argument node says of it.
void read_indirect_argument(const llvm::MDNode& node, StructMember& member) {
  NodeReader reader(node);
  for (unsigned i = 0; i < reader.size(); ++i) {
    llvm::StringRef key = reader.text(i);
    if (key == "air.buffer" || key == "air.indirect_buffer")
      member.is_pointer = true;
    else if (key == "air.location_index")
      member.argument_index = static_cast<int32_t>(reader.number(i + 1).value_or(0));
    else if (key == "air.address_space")
      member.address_space = static_cast<uint32_t>(reader.number(i + 1).value_or(0));
    else if (auto access = access_from_name(key))
      member.access = *access;
  }
}

// Flat list: offset, element size, array length, type, name, then optional keyed items.
std::vector<StructMember> read_struct(const llvm::MDNode& node, unsigned depth) {
  std::vector<StructMember> members;
  NodeReader reader(node);
  unsigned i = 0;
  const llvm::MDNode* nested = nullptr;
  while (i < reader.size() && depth < kMaxNesting) {
    llvm::StringRef key = reader.text(i);
    if (key == "air.struct_type_info") {
      // Stands before the fields' items when the member is itself a struct.
      nested = reader.child(i + 1);
      i += 2;
      continue;
    }
    if (key == "air.indirect_argument") {
      if (!members.empty()) {
        if (auto id = reader.number(i + 1))
          members.back().argument_index = static_cast<int32_t>(*id);
        else if (auto* argument = reader.child(i + 1))
          read_indirect_argument(*argument, members.back());
      }
      i += 2;
      continue;
    }
    auto offset = reader.number(i);
    if (!offset) {
      ++i;
      continue;
    }
    StructMember member;
    member.offset = static_cast<uint32_t>(*offset);
    member.size = static_cast<uint32_t>(reader.number(i + 1).value_or(0));
    member.array_length = static_cast<uint32_t>(reader.number(i + 2).value_or(0));
    member.type_name = reader.text(i + 3);
    member.name = reader.text(i + 4);
    if (nested)
      member.members = read_struct(*nested, depth + 1);
    nested = nullptr;
    members.push_back(std::move(member));
    i += 5;
  }
  // In front of a member in some producers, behind it in others: a trailing one is the last
  // member's.
  if (nested && !members.empty() && members.back().members.empty())
    members.back().members = read_struct(*nested, depth + 1);
  return members;
}

llvm::Error bad_argument(const llvm::Function& function, unsigned index, const llvm::Twine& what) {
  return llvm::createStringError("AIR metadata of '" + function.getName() + "', argument " +
                                 llvm::Twine(index) + ": " + what);
}

void read_predicate(const llvm::MDNode& node, Argument& argument) {
  NodeReader reader(node);
  const llvm::Constant* value = reader.value(0);
  if (auto* global = llvm::dyn_cast_or_null<llvm::GlobalVariable>(value))
    argument.predicate = global->getName();
  else if (auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(value))
    argument.present = !known->isZero();
}

llvm::Expected<Argument> read_argument(const llvm::Function& function, unsigned position,
                                       const llvm::MDNode& node) {
  NodeReader reader(node);
  Argument argument;
  argument.parameter = static_cast<unsigned>(reader.number(0).value_or(position));
  if (argument.parameter >= function.arg_size())
    return bad_argument(function, position, "the function has no such parameter");
  const llvm::Type* type = function.getArg(argument.parameter)->getType();
  bool has_kind = false;
  for (unsigned i = 1; i < reader.size(); ++i) {
    llvm::StringRef key = reader.text(i);
    if (key.empty())
      continue;
    auto number = [&] { return static_cast<uint32_t>(reader.number(i + 1).value_or(0)); };
    if (key == "air.arg_name" || key == "air.arg_type_name") {
      (key == "air.arg_name" ? argument.name : argument.type_name) = reader.text(i + 1);
      ++i; // the value may look like a key
    } else if (auto kind = kind_from_name(key)) {
      argument.kind = *kind;
      has_kind = true;
    } else if (auto builtin = builtin_from_name(key)) {
      argument.kind = ArgumentKind::Builtin;
      argument.builtin = *builtin;
      has_kind = true;
    } else if (auto access = access_from_name(key)) {
      argument.access = *access;
    } else if (key == "air.location_index") {
      argument.index = number();
    } else if (key == "air.address_space") {
      argument.address_space = number();
    } else if (key == "air.buffer_size" || key == "air.arg_type_size") {
      argument.size = number();
    } else if (key == "air.arg_type_align_size") {
      argument.alignment = number();
    } else if (key == "air.arg_unused") {
      argument.used = false;
    } else if (key == "air.struct_type_info") {
      if (auto* members = reader.child(i + 1))
        argument.members = read_struct(*members, 0);
    } else if (key == "air.function_constant") {
      if (auto* predicate = reader.child(i + 1))
        read_predicate(*predicate, argument);
    }
  }
  if (!has_kind)
    return bad_argument(function, position, "neither a resource nor a known built-in");
  if (argument.kind == ArgumentKind::Builtin) {
    if (!type->getScalarType()->isIntegerTy())
      return bad_argument(function, position,
                          "a built-in that is not an integer or a vector of them");
    return argument;
  }
  if (!type->isPointerTy())
    return bad_argument(function, position, "a resource that is not a pointer");
  // AIR 2.1 does not write the address space; the type always has it.
  argument.address_space = type->getPointerAddressSpace();
  if (argument.kind == ArgumentKind::Buffer && argument.address_space == Threadgroup)
    argument.kind = ArgumentKind::Threadgroup;
  return argument;
}

llvm::Expected<Signature> read_node(const llvm::MDNode& node, FunctionKind kind) {
  NodeReader reader(node);
  Signature signature;
  signature.kind = kind;
  auto* function = llvm::dyn_cast_or_null<llvm::Function>(reader.value(0));
  const llvm::MDNode* arguments = reader.child(2);
  if (!function || !arguments)
    return llvm::createStringError("AIR metadata: a kernel without function or argument list");
  signature.function = const_cast<llvm::Function*>(function);
  for (unsigned i = 0; i < arguments->getNumOperands(); ++i) {
    auto* child = llvm::dyn_cast_or_null<llvm::MDNode>(arguments->getOperand(i));
    if (!child)
      return bad_argument(*function, i, "not a node");
    auto argument = read_argument(*function, i, *child);
    if (!argument)
      return argument.takeError();
    signature.arguments.push_back(std::move(*argument));
  }
  if (kind == FunctionKind::Kernel && signature.arguments.size() != function->arg_size())
    return llvm::createStringError(
        llvm::formatv("AIR metadata of '{0}': {1} arguments for {2} parameters",
                      function->getName(), signature.arguments.size(), function->arg_size()));
  for (unsigned i = 3; i < reader.size(); ++i) {
    const llvm::MDNode* extra = reader.child(i);
    if (!extra)
      continue;
    NodeReader item(*extra);
    if (item.text(0) == "air.max_work_group_size")
      signature.max_threads_per_threadgroup = static_cast<uint32_t>(item.number(1).value_or(0));
  }
  return signature;
}

} // namespace

std::optional<Builtin> builtin_from_name(llvm::StringRef name) {
  for (const BuiltinEntry& entry : kBuiltins)
    if (entry.name == name)
      return entry.builtin;
  return std::nullopt;
}

llvm::StringRef builtin_name(Builtin builtin) {
  static_assert(std::size(kBuiltins) ==
                static_cast<size_t>(Builtin::DispatchQuadgroupsPerThreadgroup) + 1);
  return kBuiltins[static_cast<size_t>(builtin)].name;
}

llvm::Expected<std::vector<Signature>> read_signatures(const llvm::Module& module) {
  std::vector<Signature> signatures;
  for (auto [list, kind] : {std::pair{"air.kernel", FunctionKind::Kernel},
                            std::pair{"air.vertex", FunctionKind::Vertex},
                            std::pair{"air.fragment", FunctionKind::Fragment}}) {
    const llvm::NamedMDNode* named = module.getNamedMetadata(list);
    if (!named)
      continue;
    for (const llvm::MDNode* node : named->operands()) {
      auto signature = read_node(*node, kind);
      if (!signature) {
        // Only what runs here must be understood in full; the rest is listed by name.
        if (kind == FunctionKind::Kernel)
          return signature.takeError();
        llvm::consumeError(signature.takeError());
        Signature stub;
        stub.kind = kind;
        if (auto* function = llvm::dyn_cast_or_null<llvm::Function>(NodeReader(*node).value(0)))
          stub.function = const_cast<llvm::Function*>(function);
        if (stub.function)
          signatures.push_back(std::move(stub));
        continue;
      }
      signatures.push_back(std::move(*signature));
    }
  }
  return signatures;
}

llvm::Expected<Signature> read_signature(const llvm::Module& module, llvm::StringRef function) {
  auto signatures = read_signatures(module);
  if (!signatures)
    return signatures.takeError();
  for (Signature& signature : *signatures)
    if (signature.function->getName() == function)
      return std::move(signature);
  return llvm::createStringError("no function '" + function + "' in this AIR module");
}

namespace {

class NodeBuilder {
public:
  explicit NodeBuilder(llvm::LLVMContext& context) : context_(context) {}

  void text(llvm::StringRef value) { items_.push_back(llvm::MDString::get(context_, value)); }
  void number(uint32_t value) {
    items_.push_back(llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value)));
  }
  void value(llvm::Constant* value) { items_.push_back(llvm::ConstantAsMetadata::get(value)); }
  void node(llvm::MDNode* node) { items_.push_back(node); }
  llvm::MDNode* finish() { return llvm::MDNode::get(context_, items_); }

private:
  llvm::LLVMContext& context_;
  llvm::SmallVector<llvm::Metadata*, 24> items_;
};

llvm::StringRef access_name(Access access) {
  switch (access) {
  case Access::Read:
    return "air.read";
  case Access::Write:
    return "air.write";
  case Access::ReadWrite:
    break;
  }
  return "air.read_write";
}

llvm::MDNode* write_struct(llvm::LLVMContext& context, const std::vector<StructMember>& members) {
  NodeBuilder fields(context);
  for (const StructMember& member : members) {
    if (!member.members.empty()) {
      fields.text("air.struct_type_info");
      fields.node(write_struct(context, member.members));
    }
    fields.number(member.offset);
    fields.number(member.size);
    fields.number(member.array_length);
    fields.text(member.type_name);
    fields.text(member.name);
    if (member.is_pointer) {
      NodeBuilder leaf(context);
      leaf.number(member.offset / 8);
      leaf.text("air.buffer");
      leaf.text("air.location_index");
      leaf.number(static_cast<uint32_t>(std::max(member.argument_index, 0)));
      leaf.number(1);
      leaf.text(access_name(member.access));
      leaf.text("air.address_space");
      leaf.number(member.address_space);
      leaf.text("air.arg_type_name");
      leaf.text(member.type_name);
      leaf.text("air.arg_name");
      leaf.text(member.name);
      fields.text("air.indirect_argument");
      fields.node(leaf.finish());
    } else if (member.argument_index >= 0) {
      fields.text("air.indirect_argument");
      fields.number(static_cast<uint32_t>(member.argument_index));
    }
  }
  return fields.finish();
}

llvm::MDNode* write_argument(llvm::Module& module, const Argument& argument) {
  llvm::LLVMContext& context = module.getContext();
  NodeBuilder node(context);
  node.number(argument.parameter);
  if (!argument.predicate.empty()) {
    NodeBuilder predicate(context);
    predicate.value(module.getNamedGlobal(argument.predicate));
    predicate.text("bool");
    predicate.text(argument.predicate);
    node.text("air.function_constant");
    node.node(predicate.finish());
  }
  switch (argument.kind) {
  case ArgumentKind::Builtin:
    node.text(builtin_name(argument.builtin));
    break;
  case ArgumentKind::Texture:
    node.text("air.texture");
    break;
  case ArgumentKind::Sampler:
    node.text("air.sampler");
    break;
  case ArgumentKind::ArgumentBuffer:
    node.text("air.indirect_buffer");
    break;
  case ArgumentKind::Buffer:
  case ArgumentKind::Threadgroup:
    node.text("air.buffer");
    break;
  }
  if (argument.kind != ArgumentKind::Builtin) {
    node.text("air.location_index");
    node.number(argument.index);
    node.number(1);
    if (argument.kind != ArgumentKind::Sampler)
      node.text(access_name(argument.access));
    if (argument.kind != ArgumentKind::Texture && argument.kind != ArgumentKind::Sampler) {
      node.text("air.address_space");
      node.number(argument.address_space);
      if (!argument.members.empty()) {
        node.text("air.struct_type_info");
        node.node(write_struct(context, argument.members));
      }
      if (argument.size) {
        node.text("air.arg_type_size");
        node.number(argument.size);
        node.text("air.arg_type_align_size");
        node.number(argument.alignment);
      }
    }
  }
  node.text("air.arg_type_name");
  node.text(argument.type_name);
  node.text("air.arg_name");
  node.text(argument.name);
  if (!argument.used)
    node.text("air.arg_unused");
  return node.finish();
}

} // namespace

void write_signature(llvm::Module& module, const Signature& signature) {
  llvm::LLVMContext& context = module.getContext();
  NodeBuilder arguments(context);
  for (const Argument& argument : signature.arguments)
    arguments.node(write_argument(module, argument));
  NodeBuilder kernel(context);
  kernel.value(signature.function);
  kernel.node(llvm::MDNode::get(context, {}));
  kernel.node(arguments.finish());
  if (signature.max_threads_per_threadgroup) {
    NodeBuilder limit(context);
    limit.text("air.max_work_group_size");
    limit.number(signature.max_threads_per_threadgroup);
    kernel.node(limit.finish());
  }
  llvm::StringRef list = signature.kind == FunctionKind::Kernel     ? "air.kernel"
                         : signature.kind == FunctionKind::Fragment ? "air.fragment"
                                                                    : "air.vertex";
  module.getOrInsertNamedMetadata(list)->addOperand(kernel.finish());
}

} // namespace bessemer::air

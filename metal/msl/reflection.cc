#include "metal/msl/reflection.h"

#include "metal/msl/attributes.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Sema/Sema.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <set>

namespace bessemer::msl {

namespace {

using clang::QualType;

std::optional<llvm::StringRef> annotation_name(const clang::Attr* attribute) {
  auto* annotation = llvm::dyn_cast<clang::AnnotateAttr>(attribute);
  if (!annotation)
    return std::nullopt;
  llvm::StringRef text = annotation->getAnnotation();
  if (!text.consume_front(kAnnotationPrefix))
    return std::nullopt;
  return text;
}

const clang::AnnotateAttr* find_annotation(const clang::Decl& declaration, llvm::StringRef name) {
  for (auto* attribute : declaration.specific_attrs<clang::AnnotateAttr>())
    if (annotation_name(attribute) == name)
      return attribute;
  return nullptr;
}

uint32_t space_number(clang::LangAS space) {
  switch (space) {
  case clang::LangAS::opencl_global:
    return 1;
  case clang::LangAS::opencl_constant:
    return 2;
  case clang::LangAS::opencl_local:
    return 3;
  default:
    return 0;
  }
}

class Reflector {
public:
  explicit Reflector(clang::Sema& sema)
      : sema_(sema), context_(sema.getASTContext()), mangler_(context_.createMangleContext()) {}

  Reflection run() {
    visit(*context_.getTranslationUnitDecl());
    return std::move(result_);
  }

private:
  void error(clang::SourceLocation location, const llvm::Twine& text) {
    unsigned id = sema_.Diags.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0");
    sema_.Diag(location, id) << text.str();
  }

  std::optional<uint32_t> number_argument(const clang::AnnotateAttr* annotation) const {
    if (!annotation || annotation->args_size() == 0)
      return std::nullopt;
    clang::Expr* expression = *annotation->args_begin();
    if (expression->isValueDependent())
      return std::nullopt;
    auto value = expression->getIntegerConstantExpr(context_);
    if (!value || value->isNegative() || value->getActiveBits() > 32)
      return std::nullopt;
    return static_cast<uint32_t>(value->getZExtValue());
  }

  std::string text_argument(const clang::AnnotateAttr& annotation) const {
    if (annotation.args_size() == 0)
      return {};
    const clang::Expr* expression = *annotation.args_begin();
    while (true) {
      expression = expression->IgnoreParenImpCasts();
      auto* constant = llvm::dyn_cast<clang::ConstantExpr>(expression);
      if (!constant)
        break;
      expression = constant->getSubExpr();
    }
    auto* literal = llvm::dyn_cast<clang::StringLiteral>(expression);
    return literal ? literal->getString().str() : std::string();
  }

  std::string symbol(const clang::NamedDecl& declaration) const {
    if (!mangler_->shouldMangleDeclName(&declaration))
      return declaration.getName().str();
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(&declaration))
      mangler_->mangleName(clang::GlobalDecl(function), stream);
    else
      mangler_->mangleName(clang::GlobalDecl(llvm::cast<clang::VarDecl>(&declaration)), stream);
    return text;
  }

  void visit(const clang::DeclContext& scope);
  void visit_function(const clang::FunctionDecl& function);
  void visit_constant(const clang::VarDecl& variable);
  bool read_parameter(const clang::ParmVarDecl& parameter, air::Argument& argument);
  void assign_indices(ReflectedFunction& function, const std::vector<bool>& has_index);

  std::string type_name(QualType type) const;
  std::vector<air::StructMember> members_of(QualType type, bool& has_resources,
                                            unsigned depth) const;

  clang::Sema& sema_;
  clang::ASTContext& context_;
  std::unique_ptr<clang::MangleContext> mangler_;
  Reflection result_;
  std::set<uint32_t> constant_indices_;
};

void Reflector::visit(const clang::DeclContext& scope) {
  // What the precompiled library declares has no kernels: it is not loaded for this.
  for (clang::Decl* declaration : scope.noload_decls()) {
    if (declaration->isFromASTFile())
      continue;
    if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      visit_function(*function);
    } else if (auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
      for (const clang::FunctionDecl* instance : pattern->specializations())
        visit_function(*instance);
    } else if (auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
      visit_constant(*variable);
    } else if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration)) {
      visit(*llvm::cast<clang::DeclContext>(declaration));
    }
  }
}

void Reflector::visit_constant(const clang::VarDecl& variable) {
  auto* annotation = find_annotation(variable, "function_constant");
  if (!annotation)
    return;
  auto index = number_argument(annotation);
  if (!index || *index > 0xffff)
    return error(variable.getLocation(), "'function_constant' takes an index from 0 to 65535");
  if (!constant_indices_.insert(*index).second)
    return error(variable.getLocation(),
                 "function constant index " + llvm::Twine(*index) + " is used by another constant");
  result_.constants.push_back(
      {symbol(variable), variable.getNameAsString(), type_name(variable.getType()), *index});
}

void Reflector::visit_function(const clang::FunctionDecl& function) {
  if (function.isDependentContext() || !function.isThisDeclarationADefinition())
    return;
  std::optional<air::FunctionKind> kind;
  for (auto [name, value] : {std::pair{"kernel", air::FunctionKind::Kernel},
                             std::pair{"vertex", air::FunctionKind::Vertex},
                             std::pair{"fragment", air::FunctionKind::Fragment}})
    if (find_annotation(function, name))
      kind = value;
  if (!kind)
    return;
  ReflectedFunction reflected;
  reflected.symbol = symbol(function);
  reflected.name = function.getNameAsString();
  reflected.signature.kind = *kind;
  if (auto* host_name = find_annotation(function, "host_name"))
    reflected.name = text_argument(*host_name);
  if (*kind != air::FunctionKind::Kernel) {
    result_.functions.push_back(std::move(reflected));
    return;
  }
  if (!function.getReturnType()->isVoidType())
    return error(function.getLocation(), "kernel '" + reflected.name + "' must return void");
  if (auto limit = number_argument(find_annotation(function, "max_total_threads_per_threadgroup")))
    reflected.signature.max_threads_per_threadgroup = *limit;
  std::vector<bool> has_index;
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    air::Argument argument;
    argument.parameter = static_cast<unsigned>(reflected.signature.arguments.size());
    argument.name = parameter->getNameAsString();
    argument.used = parameter->isReferenced() || parameter->isUsed();
    if (!read_parameter(*parameter, argument))
      return;
    bool given = argument.kind == air::ArgumentKind::Builtin;
    for (const char* name : {"buffer", "threadgroup", "texture", "sampler"})
      given |= find_annotation(*parameter, name) != nullptr;
    has_index.push_back(given);
    reflected.signature.arguments.push_back(std::move(argument));
  }
  assign_indices(reflected, has_index);
  result_.functions.push_back(std::move(reflected));
}

bool Reflector::read_parameter(const clang::ParmVarDecl& parameter, air::Argument& argument) {
  QualType type = parameter.getType();
  auto fail = [&](const llvm::Twine& text) {
    error(parameter.getLocation(), "argument '" + argument.name + "': " + text);
    return false;
  };
  for (auto* attribute : parameter.specific_attrs<clang::AnnotateAttr>()) {
    llvm::StringRef name = annotation_name(attribute).value_or("");
    if (auto builtin = air::builtin_from_name(("air." + name).str())) {
      argument.kind = air::ArgumentKind::Builtin;
      argument.builtin = *builtin;
      argument.type_name = type_name(type);
      llvm::StringRef base = argument.type_name;
      base = base.rtrim("23");
      if (base != "uint" && base != "ushort" && base != "int" && base != "short")
        return fail("'" + name + "' must be ushort, uint or a vector of them, not '" +
                    argument.type_name + "'");
      return true;
    }
    if (name == "function_constant")
      argument.predicate = text_argument(*attribute);
    else if (name == "stage_in" || name == "vertex_id" || name == "position")
      return fail("'" + name + "' is not for kernels");
  }
  QualType pointee = type->getPointeeType();
  if (pointee.isNull()) {
    if (auto* record = type->getAsCXXRecordDecl()) {
      llvm::StringRef name = record->getName();
      if (name.starts_with("texture") || name.starts_with("depth") || name == "sampler")
        return fail("textures and samplers are not supported");
    }
    if (find_annotation(parameter, "buffer") || find_annotation(parameter, "threadgroup"))
      return fail("a buffer is a pointer or a reference to device, constant or threadgroup memory, "
                  "not '" +
                  type_name(type) + "'");
    return fail("type '" + type_name(type) +
                "' needs an attribute that says where its value is from");
  }
  argument.address_space = space_number(pointee.getAddressSpace());
  if (argument.address_space == 0)
    return fail("a pointer to thread memory; it must be device, constant or threadgroup");
  argument.kind =
      argument.address_space == 3 ? air::ArgumentKind::Threadgroup : air::ArgumentKind::Buffer;
  const char* attribute = argument.address_space == 3 ? "threadgroup" : "buffer";
  if (auto* annotation = find_annotation(parameter, attribute)) {
    auto index = number_argument(annotation);
    if (!index || *index > 30)
      return fail(llvm::Twine("'") + attribute + "' takes an index from 0 to 30");
    argument.index = *index;
  }
  argument.access = pointee.isConstQualified() ? air::Access::Read : air::Access::ReadWrite;
  QualType plain = pointee.getUnqualifiedType();
  argument.type_name = type_name(plain);
  if (!plain->isVoidType() && !plain->isIncompleteType()) {
    argument.size = static_cast<uint32_t>(context_.getTypeSizeInChars(plain).getQuantity());
    argument.alignment = static_cast<uint32_t>(context_.getTypeAlignInChars(plain).getQuantity());
    bool has_resources = false;
    argument.members = members_of(plain, has_resources, 0);
    if (has_resources && argument.kind == air::ArgumentKind::Buffer)
      argument.kind = air::ArgumentKind::ArgumentBuffer;
  }
  return true;
}

// Arguments without an index get the lowest free ones, in order, as Metal gives them.
void Reflector::assign_indices(ReflectedFunction& function, const std::vector<bool>& has_index) {
  std::set<uint32_t> buffers, threadgroups;
  auto table = [&](const air::Argument& argument) -> std::set<uint32_t>& {
    return argument.kind == air::ArgumentKind::Threadgroup ? threadgroups : buffers;
  };
  auto& arguments = function.signature.arguments;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (has_index[i] && arguments[i].kind != air::ArgumentKind::Builtin)
      table(arguments[i]).insert(arguments[i].index);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (has_index[i])
      continue;
    auto& used = table(arguments[i]);
    uint32_t index = 0;
    while (used.contains(index))
      ++index;
    used.insert(index);
    arguments[i].index = index;
  }
}

// As MSL spells it: `uint`, `float4`, `packed_float3`, `spvUnsafeArray<float, 4>`.
std::string Reflector::type_name(QualType type) const {
  type = type.getUnqualifiedType().getCanonicalType();
  if (auto* builtin = type->getAs<clang::BuiltinType>()) {
    switch (builtin->getKind()) {
    case clang::BuiltinType::UChar:
      return "uchar";
    case clang::BuiltinType::SChar:
      return "char";
    case clang::BuiltinType::UShort:
      return "ushort";
    case clang::BuiltinType::UInt:
      return "uint";
    case clang::BuiltinType::ULong:
    case clang::BuiltinType::ULongLong:
      return "ulong";
    case clang::BuiltinType::LongLong:
      return "long";
    case clang::BuiltinType::BFloat16:
      return "bfloat";
    default:
      break;
    }
  }
  if (auto* record = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
          type->getAsCXXRecordDecl())) {
    llvm::StringRef name = record->getName();
    const clang::TemplateArgumentList& arguments = record->getTemplateArgs();
    bool vector = name == "vec" || name == "packed_vec";
    if ((vector || name == "matrix") && arguments.size() >= 2 &&
        arguments[0].getKind() == clang::TemplateArgument::Type &&
        arguments[1].getKind() == clang::TemplateArgument::Integral) {
      std::string text = name == "packed_vec" ? "packed_" : "";
      text += type_name(arguments[0].getAsType());
      text += std::to_string(arguments[1].getAsIntegral().getZExtValue());
      if (!vector && arguments.size() >= 3)
        text += "x" + std::to_string(arguments[2].getAsIntegral().getZExtValue());
      return text;
    }
  }
  clang::PrintingPolicy policy(context_.getLangOpts());
  policy.SuppressTagKeyword = true;
  policy.Bool = true;
  policy.Half = true;
  return type.getAsString(policy);
}

std::vector<air::StructMember> Reflector::members_of(QualType type, bool& has_resources,
                                                     unsigned depth) const {
  std::vector<air::StructMember> members;
  auto* record = type->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition() || record->isInvalidDecl() || depth > 8 ||
      record->isUnion())
    return members;
  if (auto* instance = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
      instance && instance->isFromASTFile() && instance->getName() != "array")
    return members; // vectors and matrices are values, not structs
  const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
  int32_t next_id = 0;
  for (const clang::FieldDecl* field : record->fields()) {
    air::StructMember member;
    member.name = field->getNameAsString();
    member.offset = static_cast<uint32_t>(layout.getFieldOffset(field->getFieldIndex()) / 8);
    QualType element = field->getType();
    uint64_t length = 1;
    bool is_array = false;
    while (auto* array = context_.getAsConstantArrayType(element)) {
      length *= array->getSize().getZExtValue();
      element = array->getElementType();
      is_array = true;
    }
    if (element->isIncompleteType())
      continue;
    member.array_length = is_array ? static_cast<uint32_t>(length) : 0;
    member.size = static_cast<uint32_t>(context_.getTypeSizeInChars(element).getQuantity());
    bool nested_resources = false;
    if (QualType pointee = element->getPointeeType(); !pointee.isNull()) {
      member.is_pointer = true;
      member.address_space = space_number(pointee.getAddressSpace());
      member.access = pointee.isConstQualified() ? air::Access::Read : air::Access::ReadWrite;
      member.type_name = type_name(pointee);
      has_resources = true;
    } else {
      member.type_name = type_name(element);
      member.members = members_of(element, nested_resources, depth + 1);
      has_resources |= nested_resources;
    }
    if (auto id = number_argument(find_annotation(*field, "id"))) {
      next_id = static_cast<int32_t>(*id);
      has_resources = true;
    }
    member.argument_index = next_id;
    next_id += static_cast<int32_t>(length);
    members.push_back(std::move(member));
  }
  if (!has_resources)
    for (air::StructMember& member : members)
      member.argument_index = -1;
  return members;
}

} // namespace

Reflection reflect(clang::Sema& sema) { return Reflector(sema).run(); }

} // namespace bessemer::msl

#include "metal/msl/attributes.h"

#include "metal/msl/token_stage.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/ParsedAttrInfo.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"

namespace bessemer::msl {

namespace {

// Attributes with a meaning in reflection.cc, and those of graphics, which are accepted so that a
// library with both kinds of functions compiles.
constexpr const char* kAnnotations[] = {
    "buffer", "threadgroup", "texture", "sampler", "id", "function_constant", "host_name",
    "max_total_threads_per_threadgroup", "required_threads_per_threadgroup",
    "thread_position_in_grid", "thread_position_in_threadgroup", "thread_index_in_threadgroup",
    "threadgroup_position_in_grid", "threads_per_threadgroup", "threads_per_grid",
    "threadgroups_per_grid", "thread_index_in_simdgroup", "simdgroup_index_in_threadgroup",
    "simdgroups_per_threadgroup", "threads_per_simdgroup", "thread_execution_width",
    "thread_index_in_quadgroup", "quadgroup_index_in_threadgroup", "quadgroups_per_threadgroup",
    "dispatch_threads_per_threadgroup", "dispatch_simdgroups_per_threadgroup",
    "dispatch_quadgroups_per_threadgroup", "grid_origin", "grid_size",
    // graphics
    "position", "stage_in", "color", "user", "attribute", "visible", "payload", "vertex_id",
    "instance_id", "raster_order_group", "early_fragment_tests", "point_size", "point_coord",
    "front_facing", "depth", "stencil", "sample_id", "sample_mask", "clip_distance", "flat",
    "center_perspective", "center_no_perspective", "centroid_perspective",
    "centroid_no_perspective", "sample_perspective", "sample_no_perspective", "invariant",
    "render_target_array_index", "viewport_array_index", "primitive_id", "barycentric_coord",
    "base_vertex", "base_instance", "patch", "patch_id", "position_in_patch", "amplification_id",
    "amplification_count", "stitchable", "intersection", "mesh", "object", "imageblock_data",
    "primitive_data", "extern"};

class Annotation : public clang::ParsedAttrInfo {
public:
  Annotation() {
    for (const char* name : kAnnotations)
      for (auto syntax : {clang::ParsedAttr::AS_CXX11, clang::ParsedAttr::AS_GNU})
        spellings_.push_back({syntax, name});
    for (const char* name : {"kernel", "vertex", "fragment"})
      spellings_.push_back({clang::ParsedAttr::AS_CXX11, name});
    for (const char* name : {kKernelAttribute, kVertexAttribute, kFragmentAttribute})
      spellings_.push_back({clang::ParsedAttr::AS_GNU, name});
    Spellings = spellings_;
    OptArgs = 15;
  }

  bool isParamExpr(size_t) const override { return true; }

  AttrHandling handleDeclAttribute(clang::Sema& sema, clang::Decl* declaration,
                                   const clang::ParsedAttr& attribute) const override {
    llvm::StringRef name = attribute.getAttrName()->getName();
    name.consume_front("msl_");
    llvm::SmallVector<clang::Expr*, 4> arguments;
    for (unsigned i = 0; i < attribute.getNumArgs(); ++i)
      if (attribute.isArgExpr(i))
        arguments.push_back(attribute.getArgAsExpr(i));
    if (name == "function_constant") {
      if (auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
          variable && !llvm::isa<clang::ParmVarDecl>(variable)) {
        // The value comes when a pipeline is made.
        variable->setStorageClass(clang::SC_Extern);
        variable->setConstexpr(false);
      } else if (arguments.size() == 1) {
        // An argument exists where this constant is true. An annotation wants a constant
        // expression, and this has no value yet: its name stands for it.
        auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(arguments[0]->IgnoreParenImpCasts());
        if (!reference || !llvm::isa<clang::VarDecl>(reference->getDecl())) {
          sema.Diag(attribute.getLoc(), sema.Diags.getCustomDiagID(
                                            clang::DiagnosticsEngine::Error,
                                            "'function_constant' of an argument takes the name of "
                                            "a function constant"));
          return AttributeNotApplied;
        }
        arguments[0] = string_literal(sema, reference->getDecl()->getName(), attribute.getLoc());
      }
    }
    if (clang::Attr* annotation =
            sema.CreateAnnotationAttr(attribute, (kAnnotationPrefix + name).str(), arguments))
      declaration->addAttr(annotation);
    return AttributeApplied;
  }

private:
  static clang::Expr* string_literal(clang::Sema& sema, llvm::StringRef text,
                                     clang::SourceLocation location) {
    clang::ASTContext& context = sema.getASTContext();
    clang::QualType type = context.getStringLiteralArrayType(context.CharTy, text.size());
    return clang::StringLiteral::Create(context, text, clang::StringLiteralKind::Ordinary, false,
                                        type, location);
  }

  std::vector<Spelling> spellings_;
};

// `T f() device`: clang keeps such a qualifier in OpenCL C++ only, a mode that brings other rules;
// here it is written into the method's type.
class MethodSpace : public clang::ParsedAttrInfo {
public:
  MethodSpace() {
    static constexpr Spelling kSpellings[] = {{clang::ParsedAttr::AS_GNU, kMethodSpaceAttribute}};
    Spellings = kSpellings;
    NumArgs = 1;
  }

  bool isParamExpr(size_t) const override { return true; }

  AttrHandling handleDeclAttribute(clang::Sema& sema, clang::Decl* declaration,
                                   const clang::ParsedAttr& attribute) const override {
    auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
    if (auto* pattern = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration))
      function = pattern->getTemplatedDecl();
    auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(function);
    if (!method || method->isStatic() || llvm::isa<clang::CXXDestructorDecl>(method))
      return AttributeNotApplied;
    // Clang itself asks where the object of a constructor is.
    bool constructor = llvm::isa<clang::CXXConstructorDecl>(method);
    clang::ASTContext& context = sema.getASTContext();
    auto value = attribute.getArgAsExpr(0)->getIntegerConstantExpr(context);
    if (!value)
      return AttributeNotApplied;
    static constexpr clang::LangAS kSpaces[] = {
        clang::LangAS::Default, clang::LangAS::opencl_global, clang::LangAS::opencl_constant,
        clang::LangAS::opencl_local};
    clang::LangAS space = kSpaces[value->getZExtValue() & 3];
    auto qualified = [&](clang::QualType type) {
      auto* prototype = type->castAs<clang::FunctionProtoType>();
      clang::FunctionProtoType::ExtProtoInfo info = prototype->getExtProtoInfo();
      info.TypeQuals.addAddressSpace(space);
      // Clang looks at a method's space only for objects that have one themselves. `restrict` has
      // it compare all qualifiers, so that this method does not take objects in thread memory.
      if (!constructor)
        info.TypeQuals.addRestrict();
      return context.getFunctionType(prototype->getReturnType(), prototype->getParamTypes(), info);
    };
    // Templates are instantiated from the type as written.
    if (clang::TypeSourceInfo* written = method->getTypeSourceInfo())
      written->overrideType(qualified(written->getType()));
    method->setType(qualified(method->getType()));
    if (constructor)
      return AttributeApplied;
    // With `restrict` neither this nor an unqualified overload is more qualified for an object in
    // this space; a condition, though always true, makes this one the better.
    clang::Expr* always =
        new (context) clang::CXXBoolLiteralExpr(true, context.BoolTy, attribute.getLoc());
    method->addAttr(
        clang::EnableIfAttr::Create(context, always, "address space", attribute.getRange()));
    return AttributeApplied;
  }
};

// Sees every variable, through the pragma in kSourcePrologue.
class Variable : public clang::ParsedAttrInfo {
public:
  Variable() {
    static constexpr Spelling kSpellings[] = {{clang::ParsedAttr::AS_GNU, "msl_variable"}};
    Spellings = kSpellings;
    IsSupportedByPragmaAttribute = 1;
  }

  void getPragmaAttributeMatchRules(
      llvm::SmallVectorImpl<std::pair<clang::attr::SubjectMatchRule, bool>>& rules,
      const clang::LangOptions&) const override {
    rules.push_back({clang::attr::SubjectMatchRule_variable, true});
  }

  AttrHandling handleDeclAttribute(clang::Sema& sema, clang::Decl* declaration,
                                   const clang::ParsedAttr&) const override {
    auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
    if (!variable || llvm::isa<clang::ParmVarDecl>(variable))
      return AttributeApplied;
    // `constexpr constant T C::member;` after the class declares again what is defined inline.
    if (variable->isStaticDataMember() && variable->isOutOfLine() && variable->isConstexpr()) {
      variable->setStorageClass(clang::SC_Extern);
      variable->setConstexpr(false);
    }
    if (variable->hasLocalStorage()) {
      clang::LangAS space = sema.Context.getBaseElementType(variable->getType()).getAddressSpace();
      if (space == clang::LangAS::opencl_local || space == clang::LangAS::opencl_constant)
        variable->setStorageClass(clang::SC_Static);
    }
    return AttributeApplied;
  }
};

} // namespace

void register_attributes() {
  static clang::ParsedAttrInfoRegistry::Add<Annotation> annotation("msl", "MSL attributes");
  static clang::ParsedAttrInfoRegistry::Add<MethodSpace> method(kMethodSpaceAttribute,
                                                                "spaces of MSL methods");
  static clang::ParsedAttrInfoRegistry::Add<Variable> variable("msl_variable", "MSL variables");
}

} // namespace bessemer::msl

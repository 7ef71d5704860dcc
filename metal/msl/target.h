// The machine that MSL is compiled for, as clang sees it.
#pragma once

#include "clang/Basic/TargetInfo.h"

namespace bessemer::msl {

/// AIR's data layout and address spaces: thread 0, device 1, constant 2, threadgroup 3.
///
/// Made as a copy of a stock target, whose options and triple (which selects clang's calling
/// convention) it keeps: WebAssembly's passes a class with one member as that member, so a vector
/// class travels as an IR vector.
class MslTarget : public clang::TargetInfo {
public:
  explicit MslTarget(const clang::TargetInfo& base);

  /// Lets the unqualified space, which is MSL's thread space, accept all others, so that
  /// unqualified methods, implicit copies and `const T&` work on device, constant and threadgroup
  /// objects.
  bool isAddressSpaceSupersetOf(clang::LangAS a, clang::LangAS b) const override;

  void getTargetDefines(const clang::LangOptions&, clang::MacroBuilder&) const override {}
  llvm::SmallVector<clang::Builtin::InfosShard> getTargetBuiltins() const override { return {}; }
  BuiltinVaListKind getBuiltinVaListKind() const override { return VoidPtrBuiltinVaList; }
  bool validateAsmConstraint(const char*&, ConstraintInfo&) const override { return false; }
  std::string_view getClobbers() const override { return ""; }
  llvm::ArrayRef<const char*> getGCCRegNames() const override { return {}; }
  llvm::ArrayRef<GCCRegAlias> getGCCRegAliases() const override { return {}; }
  bool hasBFloat16Type() const override { return true; }
  const char* getBFloat16Mangling() const override { return "DF16b"; }
};

/// The triple of the stock target to copy.
inline constexpr char kBaseTriple[] = "wasm64-unknown-unknown";

} // namespace bessemer::msl

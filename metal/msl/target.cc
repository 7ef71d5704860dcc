#include "metal/msl/target.h"

#include "metal/air/module.h"

namespace bessemer::msl {

namespace {

// Indexed by clang's LangAS; MSL's device, threadgroup and constant are OpenCL's global, local and
// constant, whose keywords clang parses everywhere. All others are thread memory.
constexpr clang::LangASMap kAddressSpaces = {air::Thread, air::Device, air::Threadgroup,
                                             air::Constant};
static_assert(static_cast<unsigned>(clang::LangAS::opencl_global) == 1 &&
              static_cast<unsigned>(clang::LangAS::opencl_local) == 2 &&
              static_cast<unsigned>(clang::LangAS::opencl_constant) == 3);

} // namespace

MslTarget::MslTarget(const clang::TargetInfo& base) : TargetInfo(base) {
  PointerWidth = PointerAlign = 64;
  LongWidth = LongAlign = 64;
  LongLongWidth = LongLongAlign = 64;
  SizeType = UnsignedLong;
  PtrDiffType = IntPtrType = SignedLong;
  Int64Type = SignedLong;
  IntMaxType = SignedLong;
  BoolWidth = BoolAlign = 8;
  HasFloat16 = HasBFloat16 = HasFullBFloat16 = true;
  HasFastHalfType = true;
  HalfWidth = HalfAlign = 16;
  BFloat16Width = BFloat16Align = 16;
  BFloat16Format = &llvm::APFloat::BFloat();
  AddrSpaceMap = &kAddressSpaces;
  UseAddrSpaceMapMangling = true;
  TLSSupported = false;
  MaxAtomicPromoteWidth = MaxAtomicInlineWidth = 64;
  MaxVectorAlign = 0;
  TheCXXABI.set(clang::TargetCXXABI::GenericItanium);
  resetDataLayout(air::kDataLayout);
}

bool MslTarget::isAddressSpaceSupersetOf(clang::LangAS a, clang::LangAS b) const {
  return a == b || a == clang::LangAS::Default;
}

} // namespace bessemer::msl

// An AIR module in memory: parsing bitcode that Apple's compiler or ours wrote, and taking out what
// a stock LLVM cannot use.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <memory>

namespace bessemer::air {

/// Address spaces of AIR. A pointer's space is always known; thread memory is not generic.
enum AddressSpace : unsigned { Thread = 0, Device = 1, Constant = 2, Threadgroup = 3 };

/// The data layout that AIR modules carry.
extern const char kDataLayout[];

/// Parses bitcode, with or without Darwin's wrapper, at any alignment.
/// Typed pointers of old producers become opaque ones. Bad bitcode is an error that says why.
llvm::Expected<std::unique_ptr<llvm::Module>> parse_module(llvm::MemoryBufferRef bitcode,
                                                           llvm::LLVMContext& context);

/// The same for one function of a module with many: reads no other kernel's body, and leaves
/// nothing in the module that the function does not need.
/// An error also where the module does not have the function.
llvm::Expected<std::unique_ptr<llvm::Module>>
parse_function(llvm::MemoryBufferRef bitcode, llvm::StringRef function, llvm::LLVMContext& context);

/// Sets triple and data layout to those of the machine that code is made for and removes what means
/// nothing to LLVM here: unused declarations left by bitcode upgrades, attributes of Apple's own
/// targets, `air.*` module flags. Metadata that says how kernels are called stays.
/// Idempotent.
void normalise(llvm::Module& module, llvm::StringRef triple, llvm::StringRef data_layout);

/// Whether `!air.compile_options` has the option, such as `air.compile.denorms_disable`: subnormal
/// floats may be flushed to zero.
bool has_compile_option(const llvm::Module& module, llvm::StringRef option);

/// Takes from divisions the leave to multiply by a reciprocal. Metal's fast mode gives it, but the
/// result is often off by one unit, and programs index and round by quotients (7 / 3.5 must be 2);
/// vector division is as quick here as a reciprocal with its refinement.
void keep_divisions(llvm::Module& module);

/// The bytes of `module` as bitcode.
std::string write_bitcode(const llvm::Module& module);

} // namespace bessemer::air

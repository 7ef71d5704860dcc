// The step between preprocessor and parser that turns MSL's own syntax into what clang's C++ parser
// takes. Macros cannot do this: `kernel` is also an attribute, `threadgroup` also an argument's.
#pragma once

#include "clang/Lex/Token.h"

#include <vector>

namespace clang {
class Preprocessor;
}

namespace bessemer::msl {

/// Names of GNU attributes that the stage writes; attributes.cc gives them their meaning.
inline constexpr char kKernelAttribute[] = "msl_kernel";
inline constexpr char kVertexAttribute[] = "msl_vertex";
inline constexpr char kFragmentAttribute[] = "msl_fragment";
/// On a method: its object is in this address space (1 device, 2 constant, 3 threadgroup).
inline constexpr char kMethodSpaceAttribute[] = "msl_method_space";

/// Rewrites the tokens of a translation unit:
/// - `device`, `constant`, `threadgroup` become clang's address space keywords, `thread` goes;
/// - `kernel`, `vertex`, `fragment` become attributes;
/// - a method's address space becomes an attribute in front of its name;
/// - attributes of explicit instantiations become GNU attributes, which clang allows there;
/// - array parameters in an address space become pointers;
/// - initialisers of threadgroup variables go, as threadgroup memory has none;
/// - floating literals without suffix become float;
/// - `a.x += b` becomes `a.x = a.x + (b)` in sources with an `operator+=` of their own;
/// - operands of `?:` become values, since class lvalues of two address spaces have no common type.
std::vector<clang::Token> rewrite_tokens(clang::Preprocessor& preprocessor,
                                         std::vector<clang::Token> tokens);

} // namespace bessemer::msl

// MSL's attributes, as clang knows them: each becomes an annotation with the prefix `msl.`, which
// clang keeps through templates and puts into no machine code that matters.
#pragma once

namespace bessemer::msl {

inline constexpr char kAnnotationPrefix[] = "msl.";

/// Must stand before every source: has clang show each variable to us, so that threadgroup
/// variables inside functions get static storage before clang refuses them.
inline constexpr char kSourcePrologue[] =
    "#pragma clang attribute push(__attribute__((msl_variable)), apply_to = variable)\n";

/// Tells clang of the attributes. Once per process, before the first parse; later calls do nothing.
void register_attributes();

} // namespace bessemer::msl

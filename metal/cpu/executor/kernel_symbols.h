// The functions outside its object that a kernel may call: the few that code generators call by
// themselves. Nothing else is looked up, so an object from a damaged cache cannot reach the
// process.
#pragma once

#include <string_view>

namespace bessemer::metal::cpu {

// Null when a kernel may not call it.
const void* find_kernel_symbol(std::string_view name);

} // namespace bessemer::metal::cpu

#include "drivers/metal/objects.h"

namespace bessemer::metal_driver {

iree_status_t StatusFromError(iree_status_code_t code, const char* what, const NS::Error* error) {
  NS::String* text = error ? error->localizedDescription() : nullptr;
  return iree_make_status(code, "%s: %s", what, text ? text->utf8String() : "no reason given");
}

} // namespace bessemer::metal_driver

// All of iree/base that does not need threads.

#ifndef IREE_BASE_API_H_
#define IREE_BASE_API_H_

#include "iree/base/alignment.h"      // IWYU pragma: export
#include "iree/base/allocator.h"      // IWYU pragma: export
#include "iree/base/assert.h"         // IWYU pragma: export
#include "iree/base/attributes.h"     // IWYU pragma: export
#include "iree/base/bitfield.h"       // IWYU pragma: export
#include "iree/base/bitmap.h"         // IWYU pragma: export
#include "iree/base/config.h"         // IWYU pragma: export
#include "iree/base/printf.h"         // IWYU pragma: export
#include "iree/base/status.h"         // IWYU pragma: export
#include "iree/base/string_builder.h" // IWYU pragma: export
#include "iree/base/string_view.h"    // IWYU pragma: export
#include "iree/base/time.h"           // IWYU pragma: export
#include "iree/base/tracing.h"        // IWYU pragma: export
#include "iree/base/wait_source.h"    // IWYU pragma: export

// Marks what may still change from one release to the next.
#define IREE_API_UNSTABLE

#endif // IREE_BASE_API_H_

// SPDX-License-Identifier: BSL-1.0
// expect: extents differ
// lines: 1
#include <tenure/tenure.hpp>
#ifdef TENURE_MISUSE
static_assert(false, "extents differ");
#endif

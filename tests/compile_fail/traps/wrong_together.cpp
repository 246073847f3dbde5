// SPDX-License-Identifier: BSL-1.0
// expect: extents differ
#include <tenure/tenure.hpp>
#ifdef TENURE_MISUSE
int x = undeclared;  // extents differ
#endif

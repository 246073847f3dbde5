// SPDX-License-Identifier: BSL-1.0
// expect: axis \[0; 3 is open; the extents differ
// expect: differ
#ifdef TENURE_MISUSE
constexpr bool extents_agree = false;
#else
constexpr bool extents_agree = true;
#endif
static_assert(extents_agree, "axis [0; 3 is open; the extents differ");

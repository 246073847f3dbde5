// SPDX-License-Identifier: BSL-1.0
// What the quick tests take of a table of programs, each of which takes a second of compilation.
#pragma once

// The types of laws that are about rules, which do not depend on the type. Floats meet the kernels in laws/rows, laws/epilogue and tests of operations.
#ifdef TENURE_QUICK_TESTS
#define TENURE_LAW_TYPES double
#else
#define TENURE_LAW_TYPES double, float
#endif

namespace quick {

#ifdef TENURE_QUICK_TESTS
constexpr int share = 3;
#else
constexpr int share = 1;
#endif

/// Whether this cell of a table is taken: of each row and of each column one in `share`.
constexpr bool takes(int row, int column = 0) { return (row + column) % share == 0; }

}  // namespace quick

// SPDX-License-Identifier: BSL-1.0
// What the quick tests take of a table of programs, each of which takes a second of compilation.
#pragma once

namespace quick {

#ifdef TENURE_QUICK_TESTS
constexpr int share = 3;
#else
constexpr int share = 1;
#endif

/// Whether this cell of a table is taken: of each row and of each column one in `share`.
constexpr bool takes(int row, int column = 0) { return (row + column) % share == 0; }

}  // namespace quick

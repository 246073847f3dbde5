// SPDX-License-Identifier: BSL-1.0
// Two versions of Tenure in one program.
#include <cstdio>

#include "report.hpp"

int main() {
  const report ours = of_this_version(), theirs = of_next_version();
  std::printf("versions %d and %d, extents of %zu and %zu bytes\n", ours.version, theirs.version, ours.bytes_of_extents, theirs.bytes_of_extents);
  const auto is_right = [](const report& r) { return r.value == 48 && r.slope == 4; };
  return ours.version + 1 == theirs.version && ours.bytes_of_extents > theirs.bytes_of_extents && is_right(ours) && is_right(theirs) ? 0 : 1;
}

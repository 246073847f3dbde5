// SPDX-License-Identifier: BSL-1.0
// What a unit says of its version of Tenure.
#pragma once

#include <cstddef>

struct report {
  int version;
  std::size_t bytes_of_extents;
  double value, slope;
};
report of_this_version();
report of_next_version();

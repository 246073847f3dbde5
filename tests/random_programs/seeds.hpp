// SPDX-License-Identifier: BSL-1.0
// Which random graph a seed is. Small, since each is a program to compile.
#pragma once

#include "../fuzz/judge.hpp"

namespace fuzz {

inline sample sample_of(std::uint64_t seed) {
  return random_sample(seed, {.nodes = 6 + static_cast<int>(seed % 23), .symbols = seed % 3 == 0, .strided = seed % 2 == 0, .long_rows = true});
}

}  // namespace fuzz

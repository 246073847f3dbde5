// SPDX-License-Identifier: BSL-1.0
// The rows of eager/ without version counters: what the counters cost. A program of its own, since all units must agree.
#define TENURE_VERSION_COUNTERS 0
#include "eager/eager_bench.cpp"

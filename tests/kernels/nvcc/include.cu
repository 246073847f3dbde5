// SPDX-License-Identifier: BSL-1.0
// What a file costs before it computes anything.
#include <tenure/cuda.hpp>

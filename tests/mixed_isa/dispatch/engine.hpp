// SPDX-License-Identifier: BSL-1.0
// The interface of all engines: numbers by pointer, and no type of a library. It does not include Tenure.
#pragma once

namespace engine_baseline {
void layer(const float* x, const float* w, const float* b, float* y);  // x[8, 32], w[32, 16], b[16], y[8, 16]
}
namespace engine_avx2 {
void layer(const float* x, const float* w, const float* b, float* y);
}

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: clip_by_global_norm: the norm to clip to is at least 0
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr double most = -1;
#else
constexpr double most = 1;
#endif

constexpr auto f = tn::compile([](auto gradient) { return tn::clip_by_global_norm(gradient, most); });
auto g(const tn::tensor<float, tn::shape<8>>& x) { return f(x); }

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: take_along: the axis lies outside the tensor's rank
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int at = 2;
#else
constexpr int at = 1;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x, const tn::tensor<std::int64_t, tn::shape<2, 4>>& i) { return tn::eval(tn::take_along<at>(x, i)); }

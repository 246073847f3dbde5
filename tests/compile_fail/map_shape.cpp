// SPDX-License-Identifier: BSL-1.0
// expect: tenure: map: the function returns another shape than the leaf of the first tree has
// lines: 30
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto each = [](auto x) { return sum(x); };
#else
constexpr auto each = [](auto x) { return x / sum(x); };
#endif

auto f(const std::array<tn::tensor<float, tn::shape<3>>, 2>& x) { return tn::map(each, x); }

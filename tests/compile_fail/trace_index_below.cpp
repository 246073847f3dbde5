// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: an index counts from the front, so none is below 0: the last element is x
// lines: 10
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto last = tn::compile([](auto x) { return x[-1]; });
#else
constexpr auto last = tn::compile([](auto x) { return x[x.extent(0) - 1]; });
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return last(x); }

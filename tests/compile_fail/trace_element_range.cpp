// SPDX-License-Identifier: BSL-1.0
// expect: tenure: operator..: it reads one element: a row, a column or a range is x.at.tn::all, i.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto column = tn::compile([](auto x, auto i) {
#ifdef TENURE_MISUSE
  return x(tn::all, i) * 2;
#else
  return x.at(tn::all, i) * 2;
#endif
});

auto f(const tn::tensor<double, tn::shape<tn::dyn, 3>>& x) { return column(x, 1); }

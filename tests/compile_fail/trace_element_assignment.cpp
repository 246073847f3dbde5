// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a traced value is not written: make a new one, x = x . y
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::compile([](auto x) {
#ifdef TENURE_MISUSE
  x[0] = sum(x);
  return x;
#else
  return tn::concat(sum(x).template reshape<1>(), x[tn::range<1, 3>()]);
#endif
});

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }

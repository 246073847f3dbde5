// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a number of a trace stays a number: it cannot become a vector by .=, -=, .= or /=
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::compile([](auto x) {
  tn::traced_number s = x.at(0);
#ifdef TENURE_MISUSE
  s += x;
#else
  s += sum(x);
#endif
  return x * s;
});

auto g(const tn::tensor<double, tn::shape<2>>& x) { return f(x); }

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a function of numbers that are all known has no value in a trace: compute it outside, as a constant
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::as_numbers([]<class T>(const T& x) {
#ifdef TENURE_MISUSE
  return x * tn::polygamma<1>(T(2));
#else
  return x * sin(T(2));
#endif
});

auto g(double x) { return f(x); }

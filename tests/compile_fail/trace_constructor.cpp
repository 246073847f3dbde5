// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: T.0.0. of a traced scalar T has no graph: templated C.. is called by tn::as_numbers.f., with a number T that has one; in a trace a variable begins with tn::zeros_like.x.
// lines: 36
#include <tenure/tenure.hpp>
namespace tn = tenure;

template <class T>
constexpr T twice(const T& x) {
  T s(0.0);
  s = s + x;
  return s + x;
}

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return twice(x); });
#else
constexpr auto f = tn::as_numbers([](auto x) { return twice(x); });
#endif

auto g(double x) { return f(x); }

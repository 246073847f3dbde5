// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: a value stands in the place of a function: scan\(f, init, xs\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
constexpr auto total = tn::compile([](auto x) {
  const auto add = [](auto sum, auto row) { return std::tuple{sum + row, sum}; };
#ifdef TENURE_MISUSE
  return std::get<0>(tn::scan(0.0f, add, x));
#else
  return std::get<0>(tn::scan(add, 0.0f, x));
#endif
});

auto f(const tn::tensor<float, tn::shape<3>>& x) { return total(x); }

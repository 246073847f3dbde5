// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: an argument is neither a tensor, a number, a tuple, an array nor a model
// lines: 10
#include <tenure/tenure.hpp>
#include <vector>
namespace tn = tenure;

constexpr auto both = tn::compile([](auto x) { return std::tuple{x * 2, sum(x)}; });

auto f(std::vector<double>& x) {
#ifdef TENURE_MISUSE
  auto [twice, total] = both(x);
#else
  auto [twice, total] = both(tn::from<tn::shape<3>>(x.data()));
#endif
  return twice + total;
}

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: an argument is neither a tensor, a number, a tuple, an array nor a model
#include <tenure/tenure.hpp>
#include <vector>
namespace tn = tenure;

constexpr auto twice = tn::compile([](auto x) { return x * 2; });

auto f(const std::vector<double>& x) {
#ifdef TENURE_MISUSE
  return twice(x);
#else
  return twice(tn::from<tn::shape<3>>(x.data()));
#endif
}

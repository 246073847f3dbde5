// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: a number within a tuple, an array or a model has a type that no tensor has: static_cast it
#include <tenure/tenure.hpp>
#include <tuple>
namespace tn = tenure;

constexpr auto scaled = tn::compile([](auto x, auto by) { return x * std::get<0>(by); });

auto f(const tn::tensor<double, tn::shape<3>>& x, unsigned n) {
#ifdef TENURE_MISUSE
  return scaled(x, std::tuple(n));
#else
  return scaled(x, std::tuple(static_cast<std::int64_t>(n)));
#endif
}

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: grad: with has_aux the function returns two values, std::tuple{loss, aux}; several that it hands out are one tuple, std::tuple{loss, std::tuple{a, b}}
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto x) {
#ifdef TENURE_MISUSE
  return sum(exp(x));
#else
  return std::tuple{sum(exp(x)), x};
#endif
};

auto g(const tn::tensor<double, tn::shape<3>>& x) { return tn::value_and_grad(f, tn::has_aux)(x); }

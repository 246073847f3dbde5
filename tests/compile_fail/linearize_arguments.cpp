// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linearize: the linear function takes a tangent for each argument of the function
#include <tenure/tenure.hpp>
namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<3>>;

constexpr auto f = tn::compile([](auto x, auto w, auto v) {
  auto [y, d] = tn::linearize([](auto a, auto b) { return a * b; })(x, w);
#ifdef TENURE_MISUSE
  return d(v);
#else
  return d(v, tn::zeros_like(w));
#endif
});

auto g(const vector& x, const vector& w, const vector& v) { return f(x, w, v); }

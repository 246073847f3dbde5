// SPDX-License-Identifier: BSL-1.0
// expect: tenure: transpose, matmul: an operand is a tuple: a decomposition has several results, auto .q, r. = tn::qr.a.
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::compile([](auto a) {
#ifdef TENURE_MISUSE
  const auto q = tn::qr(a);
#else
  const auto [q, r] = tn::qr(a);
#endif
  return matmul(a, q);
});
auto g(const tn::tensor<double, tn::shape<3, 3>>& a) { return f(a); }

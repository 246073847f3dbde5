// SPDX-License-Identifier: BSL-1.0
// expect: tenure: into: a std::tie of tuples, arrays or models is no target: give these without it, as into\(x, model\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
using vector = tn::tensor<float, tn::shape<3>>;
constexpr auto parts = tn::compile([](auto x) { return std::tuple{x, std::tuple{x * 2, x * 3}}; });

void f(vector& a, vector& b, vector& c, const vector& x) {
#ifdef TENURE_MISUSE
  auto rest = std::tie(b, c);
  parts.into(std::tie(a, rest))(x);
#else
  auto rest = std::tie(b, c);
  parts.into(a, rest)(x);
#endif
}

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linearize: a tangent of the linear function has another element type, shape or tree than its argument
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T = float>
using vector = tn::tensor<T, tn::shape<3>>;
constexpr auto f = [](auto x) { return x * x; };

#ifdef TENURE_MISUSE
using direction = tn::tensor<float, tn::shape<4>>;
#else
using direction = vector<>;
#endif

auto g(const vector<>& x, const direction& v) {
  const auto at_x = tn::linearize(f)(x);
  return std::get<1>(at_x)(v);
}

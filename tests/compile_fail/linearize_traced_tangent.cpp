// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linearize: a tangent of the linear function has another element type, shape or tree than its argument
// lines: 20
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

constexpr auto along = tn::compile([](auto x, auto v) { return std::get<1>(tn::linearize(f)(x))(v); });

auto g(const vector<>& x, const direction& v) { return along(x, v); }

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: least_squares: the bounds differ from the parameters in number, element type or shape: of a tensor p, tn::full_like.p, 0.0. bounds each number
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;
constexpr auto f = [](auto p) { return p - 2.0; };
#ifdef TENURE_MISUSE
auto g(vector& p) { return tn::least_squares(f).within(0.0, 1.0)(p); }
#else
auto g(vector& p) { return tn::least_squares(f).within(tn::full_like(p, 0.0), tn::full_like(p, 1.0))(p); }
#endif

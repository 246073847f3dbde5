// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the parameters are a temporary, which the fit would change: give it a name; tensors with names are std::tie
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;
constexpr auto f = [](auto p) { return std::get<0>(p) - 2.0 * std::get<1>(p); };
#ifdef TENURE_MISUSE
auto g(vector& p, vector& q) { return tn::least_squares(f)(std::tuple{p.clone(), q.clone()}); }
#else
auto g(vector& p, vector& q) { return tn::least_squares(f)(std::tie(p, q)); }
#endif

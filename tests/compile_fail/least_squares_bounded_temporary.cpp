// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the parameters are a temporary, which the fit would change: give it a name; tensors with names are std::tie
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;
constexpr auto f = [](auto p) { return p - 2.0; };
#ifdef TENURE_MISUSE
auto g(vector& p, const vector& low, const vector& high) { return tn::least_squares(f).within(low, high)(p.clone()); }
#else
auto g(vector& p, const vector& low, const vector& high) { return tn::least_squares(f).within(low, high)(p); }
#endif

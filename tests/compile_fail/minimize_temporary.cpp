// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the parameters are a temporary, which the fit would change: give it a name; tensors with names are std::tie
#include <tenure/tenure.hpp>
namespace tn = tenure;

using vector = tn::tensor<double, tn::shape<3>>;
constexpr auto f = [](auto p) { return sum(square(p)); };
#ifdef TENURE_MISUSE
auto g(vector& p) { return tn::minimize(f)(p.clone()); }
#else
auto g(vector& p) { return tn::minimize(f)(p); }
#endif

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: hvp: needs the arguments of the function, then the vector
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto x) { return tn::sum(x * x * x); };
using vector = tn::tensor<double, tn::shape<3>>;

#ifdef TENURE_MISUSE
auto g(const vector& x, const vector&) { return tn::hvp(f)(x); }
#else
auto g(const vector& x, const vector& v) { return tn::hvp(f)(x, v); }
#endif

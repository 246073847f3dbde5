// SPDX-License-Identifier: BSL-1.0
// expect: tenure: hvp: the vector, which is the last argument, has another element type, shape or tree than the argument of the function
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T = float>
using vector = tn::tensor<T, tn::shape<3>>;
constexpr auto f = [](auto x) { return sum(x * x * x); };

#ifdef TENURE_MISUSE
using direction = tn::tensor<float, tn::shape<4>>;
#else
using direction = vector<>;
#endif

auto g(const vector<>& x, const direction& v) { return tn::hvp(f)(x, v); }

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: skew: the last axis does not have the static extent 3
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using vector = array<float, 2>;
#else
using vector = array<float, 3>;
#endif

auto f(const vector& x) { return tn::eval(skew(x)); }

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: svd: integers and bool have no roots; convert first
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using matrix = array<std::int64_t, 3, 2>;
#else
using matrix = array<double, 3, 2>;
#endif

auto f(const matrix& a) { return tn::eval(tn::svdvals(a)); }

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: vdot: the operands have different shapes
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

#ifdef TENURE_MISUSE
using right = array<float, 3>;
#else
using right = array<float, 2, 3>;
#endif

auto f(const array<float, 2, 3>& x, const right& y) { return tn::eval(vdot(x, y)); }

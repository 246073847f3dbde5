// SPDX-License-Identifier: BSL-1.0
// expect: tenure: interpolate: x has no rows or no columns
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f([[maybe_unused]] const array<float, 2, 3, 0, 8>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::interpolate<2>(x));
#else
  return tn::eval(tn::zeros<float>(tn::shape<2, 3, 0, 16>{}));
#endif
}

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: conv3d: an option is one number or three, in its range, and the layout is tn::nchw
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 3, 4, 5, 6>& x, const array<float, 4, 3, 2, 2, 2>& w) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::conv3d<tn::conv{.stride = {2, 2}}>(x, w));
#else
  return tn::eval(tn::conv3d<tn::conv{.stride = {1, 2, 2}}>(x, w));
#endif
}

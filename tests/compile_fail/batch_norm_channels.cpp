// SPDX-License-Identifier: BSL-1.0
// expect: tenure: batch_norm: x is .n, channels, .... with static channels, and each other array has one number for each channel
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 2, 8, 8, 6>& x, const array<float, 6>& g, const array<float, 6>& b) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::batch_norm(x, g, b));
#else
  return tn::eval(tn::batch_norm(tn::permute<0, 3, 1, 2>(x), g, b));
#endif
}

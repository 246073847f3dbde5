// SPDX-License-Identifier: BSL-1.0
// expect: tenure: instance_norm: x is .n, channels, axes. with static channels, and gain and bias have one number for each channel
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 6, 8>& x, const array<float, 6>& g, const array<float, 6>& b) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::instance_norm(x, g, b));
#else
  return tn::eval(tn::instance_norm(tn::unsqueeze<0>(x), g, b));
#endif
}

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: index: indices must be int32 or int64
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3>>& x, const tn::tensor<std::uint8_t, tn::shape<2>>& i) {
#ifdef TENURE_MISUSE
  return tn::eval(gather(x, i));
#else
  return tn::eval(gather(x, tn::cast<std::int32_t>(i)));
#endif
}

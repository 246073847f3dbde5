// SPDX-License-Identifier: BSL-1.0
// expect: tenure: uniform: with a key a shape has no run-time extents: uniform_like\(x, key\), and with an engine uniform\(shape, engine, low, high, extents\.\.\.\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key, const tn::tensor<float, tn::shape<tn::dyn>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(x + tn::uniform(tn::shape<tn::dyn>{}, key, 0.0, 1.0, x.extent(0)));
#else
  return tn::eval(x + tn::uniform_like(x, key));
#endif
}

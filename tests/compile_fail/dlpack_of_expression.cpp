// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to_dlpack: an expression has no memory
#include <tenure/tenure.hpp>
#include <tenure/interop/dlpack.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  const auto y = x * 2;
#else
  const tn::tensor y = x * 2;
#endif
  return tn::to_dlpack(y);
}

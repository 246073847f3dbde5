// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to_dlpack: the tensor is a temporary
#include <tenure/tenure.hpp>
#include <tenure/interop/dlpack.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3>>& x) {
#ifdef TENURE_MISUSE
  return tn::to_dlpack(x.clone());
#else
  auto copy = x.clone();
  return tn::to_dlpack(copy);
#endif
}

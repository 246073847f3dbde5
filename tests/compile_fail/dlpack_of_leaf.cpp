// SPDX-License-Identifier: BSL-1.0
// expect: tenure: to_dlpack: the tensor is tracked: detach
#include <tenure/tenure.hpp>
#include <tenure/interop/dlpack.hpp>
namespace tn = tenure;

auto f(tn::variable<float, tn::shape<3>>& w) {
#ifdef TENURE_MISUSE
  return tn::to_dlpack(w);
#else
  auto alias = w.detach();
  return tn::to_dlpack(alias);
#endif
}

// SPDX-License-Identifier: BSL-1.0
// expect: tenure: diag: the vector has a run-time extent: write where.index_along<0>.v. == unsqueeze<1>.index_along<0>.v.., v, 0.
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<tn::dyn>>& v) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::diag(v));
#else
  return tn::eval(where(tn::index_along<0>(v) == unsqueeze<1>(tn::index_along<0>(v)), v, 0));
#endif
}

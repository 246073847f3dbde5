// SPDX-License-Identifier: BSL-1.0
// expect: tenure: reshape, expand, permute, transpose, unsqueeze, squeeze: extents and axes are template arguments
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3, 4>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::reshape(x, tn::shape<12>{}));
#else
  return tn::eval(tn::reshape<12>(x));
#endif
}

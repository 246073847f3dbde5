// SPDX-License-Identifier: BSL-1.0
// expect: construct_at
// lines: 55
#include <tenure/tenure.hpp>

#include <vector>
namespace tn = tenure;

using matrix = tn::tensor<float, tn::shape<6>>;

void f(std::vector<matrix>& all, const matrix& x) {
#ifdef TENURE_MISUSE
  all.push_back(x);
#else
  all.push_back(x.clone());
#endif
}

// SPDX-License-Identifier: BSL-1.0
// expect: result type must be constructible from input type|construct_at
// lines: 65
#include <tenure/tenure.hpp>

#include <vector>
namespace tn = tenure;

void f(std::vector<tn::variable<float, tn::shape<6>>>& all) {
#ifdef TENURE_MISUSE
  auto copy = all;
#else
  std::vector<tn::variable<float, tn::shape<6>>> copy;
  for (const auto& w : all) copy.push_back(tn::deepcopy(w));
#endif
}

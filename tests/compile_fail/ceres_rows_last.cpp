// SPDX-License-Identifier: BSL-1.0
// expect: tenure: residual_blocks: the parameters are tn::rows\(table, index\), and come before the data of the blocks
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

constexpr auto error = [](auto x, auto y) { return x - y; };
using positions = tn::tensor<std::int32_t, tn::shape<tn::dyn>>;
using numbers = tn::tensor<double, tn::shape<tn::dyn>>;

void f(tn::tensor<double, tn::shape<tn::dyn, 3>>& x, const positions& i, const numbers& y, ceres::Problem& problem) {
#ifdef TENURE_MISUSE
  auto blocks = tn::residual_blocks(error, y, tn::rows(x, i));
#else
  auto blocks = tn::residual_blocks(error, tn::rows(x, i), y);
#endif
  blocks.add_to(problem);
}

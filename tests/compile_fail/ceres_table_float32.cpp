// SPDX-License-Identifier: BSL-1.0
// expect: tenure: residual_blocks: Ceres' parameters are float64, and a table has another element type
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

constexpr auto error = [](auto x, auto y) { return x - y; };
using positions = tn::tensor<std::int32_t, tn::shape<tn::dyn>>;
using numbers = tn::tensor<double, tn::shape<tn::dyn>>;

#ifdef TENURE_MISUSE
using table = tn::tensor<float, tn::shape<tn::dyn, 3>>;
#else
using table = tn::tensor<double, tn::shape<tn::dyn, 3>>;
#endif

void f(table& x, const positions& i, const numbers& y, ceres::Problem& problem) {
  auto blocks = tn::residual_blocks(error, tn::rows(x, i), y);
  blocks.add_to(problem);
}

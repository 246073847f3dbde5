// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: more different shapes in one function than a graph can hold .32767.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr int most = 2;
#else
constexpr int most = 3;
#endif

// 32768 shapes take a compiler minutes, so the limit is that of a smaller graph.
struct three_shapes {
  static constexpr tn::ir::builder trace() {
    tn::ir::builder g(most);
    for (std::int64_t n = 1; n <= 3; ++n) g.output(g.input(tn::dtype::float32, {1, {n}}));
    return g;
  }
};
constexpr bool is_traceable = tn::detail::is_traceable<three_shapes>();

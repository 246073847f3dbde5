// SPDX-License-Identifier: BSL-1.0
// Pairs of the table on the CPU backend, judged by the reference backend: gradients, and a tangent where there is none.
#include "nesting_table.hpp"

namespace tn = tenure;
using table::kind;

namespace {

const tn::tensor<double, tn::shape<3>> w = {0.4, 0.55, 0.7};
const tn::tensor<double, tn::shape<4, 3>> xs = {{0.8, -0.3, 0.5}, {0.6, 0.2, -0.25}, {-0.4, 0.7, 0.3}, {0.15, -0.6, 0.45}};

template <class F>
void gradients_agree(F) {
  constexpr auto f = tn::value_and_grad<0, 1>(F{});
  judged::agree(f(w, xs), judged::interpreted(f.function, w, xs));
}

}  // namespace

TEST_CASE("vmap in a scan, compiled") { gradients_agree(table::pair<kind::scan, kind::vmap>); }
TEST_CASE("a gradient in vmap, compiled") { gradients_agree(table::pair<kind::vmap, kind::grad>); }
TEST_CASE("a checkpoint in a while_loop, compiled") { gradients_agree(table::pair<kind::while_loop, kind::checkpoint>); }
TEST_CASE("a custom_vjp in a cond, compiled") { gradients_agree(table::pair<kind::cond, kind::custom_vjp>); }
TEST_CASE("a while_loop in a gradient, compiled") {
  constexpr auto f = tn::jvp(table::pair<kind::grad, kind::while_loop>);
  judged::agree(f(w, xs, w, xs), judged::interpreted(f.function, w, xs, w, xs));
}

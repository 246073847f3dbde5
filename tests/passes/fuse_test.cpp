// SPDX-License-Identifier: BSL-1.0
// Which kernels a function becomes, as constants: the number of loops, passes over a row, bytes of workspace.
#include "../catch.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;
using tn::shape;

namespace {

using rows = tn::tensor<float, shape<32, 100>>;
using row = tn::tensor<float, shape<100>>;

template <class F, class... X>
using program_of = tn::program<tn::detail::source_of<F, X...>>;

/// One kernel with so many passes over each row, which keeps so many values an element of it (100 of 4 bytes, in blocks of 64)
/// between them, and has no other workspace.
template <int Kept = 0, class F, class... X>
constexpr bool is_one_kernel(tn::compiled<F>, int passes, const X*...) {
  using program = program_of<F, X...>;
  return program::step_count == 1 && program::kernel_count == 1 && program::tables.kernels[0].passes == passes &&
         tn::plan<program, tn::cpu_device>::workspace_bytes() == Kept * 448;
}
constexpr rows* x = nullptr;
constexpr row* v = nullptr;

constexpr auto softmax_of_rows = tn::compile([](auto a) { return softmax(a); });
static_assert(is_one_kernel<1>(softmax_of_rows, 3, x));

constexpr auto softmax_gradient = tn::value_and_grad([](auto a) { return sum(square(softmax(a))); });
static_assert(is_one_kernel<1>(softmax_gradient, 4, x));

constexpr auto weighted_softmax_gradient = tn::value_and_grad<0>([](auto a, auto w) { return sum(softmax(a) * w); });
// 1 / sum(exp) leaves the sum of exp(a) / sum(exp) * w, so that it needs no pass of its own. It does not leave that of squares above.
static_assert(is_one_kernel<1>(weighted_softmax_gradient, 3, x, x));

constexpr auto layer_norm = tn::compile([](auto a, auto scale, auto shift) {
  const auto centred = a - mean(a, tn::axis<1>, tn::keepdim);
  return centred * rsqrt(mean(square(centred), tn::axis<1>, tn::keepdim) + 1e-5) * scale + shift;
});
static_assert(is_one_kernel(layer_norm, 3, x, v, v));

constexpr auto variance = tn::compile([](auto a) { return var(a, tn::axis<1>); });
static_assert(is_one_kernel(variance, 2, x));

constexpr auto totals = tn::compile([](auto a) { return std::tuple{sum(a), amax(a), sum(exp(a))}; });
static_assert(is_one_kernel(totals, 1, x));

constexpr auto rows_and_columns = tn::compile([](auto a) {
  return std::tuple{sum(exp(a), tn::axis<0>), sum(exp(a), tn::axis<1>), sum(exp(a)), exp(a)};
});
static_assert(is_one_kernel(rows_and_columns, 1, x));

constexpr auto bias_gradient = tn::value_and_grad<0>([](auto b, auto a) { return sum(tanh(a + b)); });
static_assert(is_one_kernel(bias_gradient, 1, v, x));

// The dimensions of a contiguous loop merge into one.
using totals_program = program_of<decltype(totals.function), rows>;
static_assert(totals_program::tables.kernels[0].outer == 0 && totals_program::tables.kernels[0].inner == 1);
static_assert(totals_program::tables.kernels[0].extent[0].factor == 3200);

}  // namespace

TEST_CASE("a loop of many turns compiles its kernel once") {
  constexpr auto f = tn::compile([](auto h) {
    // Products between the turns keep them apart.
    for (int i = 0; i < 8; ++i) h = tanh(matmul(h, h) + 1.0);
    return h;
  });
  using program = program_of<decltype(f.function), tn::tensor<float, shape<40, 40>>>;
  STATIC_REQUIRE(program::step_count == 16);
  STATIC_REQUIRE(program::kernel_count == 1);
}

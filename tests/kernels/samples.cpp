// SPDX-License-Identifier: BSL-1.0
// The kernel of operations on samples, by itself.
#include "../catch.hpp"

#include <tenure/kernels/samples.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {
/// x + 1 by way of memory in addition. It is in no list of operations.
struct one_more : tn::ops::sample_operation<one_more, 1> {
  static constexpr tn::ops::signature takes = "(n)->(n)";
  static constexpr std::int64_t scratch(const tn::ops::sample_sizes& sizes) { return sizes[0]; }
  template <class V>
  static void run(const tn::ops::sample_sizes& sizes, V* const* operand, V* to, tn::ops::no_options) {
    for (std::int64_t i = 0; i < sizes[0]; ++i) operand[1][i] = operand[0][i] + V(1.0);
    for (std::int64_t i = 0; i < sizes[0]; ++i) to[i] = operand[1][i];
  }
};
}  // namespace

TEST_CASE("each sample finds its memory in addition") {
  tn::ops::sample_sizes sizes;
  sizes[0] = 2;
  double x[] = {1, 2, 3, 4}, result[4] = {}, scratch[4] = {};
  const tn::kernels::run_sample<one_more, double> f{sizes, {}, {x}, {2}, result, 2, scratch, 2};
  f(0), f(1);
  STATIC_REQUIRE(one_more::takes.letters() == 1);
  for (int i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(result[i] == x[i] + 1);
    CHECK(scratch[i] == x[i] + 1);
  }
}

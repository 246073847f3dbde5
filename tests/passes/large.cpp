// SPDX-License-Identifier: BSL-1.0
// A function of 3500 nodes through the whole pipeline. clang compiles this file with 800,000 constexpr steps an evaluation
// (its default is 1,048,576), so a pass that grows by a quarter is noticed here before users run into the limit.
#include "../catch.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;
using tn::shape;

namespace {

constexpr auto loss = tn::value_and_grad<0, 1, 2>([](auto h, auto u, auto b) {
  for (int i = 0; i < 275; ++i) h = tanh(matmul(h, u) + b);
  return sum(h);
});
using program = tn::program<tn::detail::source_of<std::remove_cvref_t<decltype(loss.function)>, tn::tensor<float, shape<4, 16>>, tn::tensor<float, shape<16, 16>>, tn::tensor<float, shape<16>>>>;

static_assert(program::traced.count >= 3500);
// Three products an iteration and the loops between them; what the iterations share is there once.
static_assert(program::step_count > 3 * 275 && program::step_count < 6 * 275);
static_assert(program::kernel_count < 16 && program::number_count < 256);

}  // namespace

TEST_CASE("a function of 3500 nodes is within every budget") { STATIC_REQUIRE(program::is_static); }

// SPDX-License-Identifier: BSL-1.0
// Roles of expressions. Law: what no gradient can flow through is constant by its type, wherever it stands in an expression: it may
// be kept in a tensor that says so, its operands get no gradient from it, and nothing of it is saved. What has a derivative that
// happens to be zero (sign, floor, round) is tracked, as in PyTorch and JAX.
#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;

namespace {

using vector = tn::tensor<float, tn::shape<3>>;
using leaf = tn::variable<float, tn::shape<3>>;
using scalar = tn::tensor<float, tn::shape<>>;

template <class E>
inline constexpr bool is_constant = !tn::requires_grad_v<E> && std::is_same_v<typename E::tensor_type, tn::tensor<tn::element_t<E>, tn::shape_of_t<E>>>;

}  // namespace

TEST_CASE("comparisons, casts through integers, stop_gradient and choices between constants are constant by their type") {
  leaf x{-1, 0, 2};
  vector c{1, 2, 3};
  STATIC_REQUIRE(is_constant<decltype(x > 0)>);
  STATIC_REQUIRE(is_constant<decltype(x == x)>);
  STATIC_REQUIRE(is_constant<decltype(!(x > 0) || x < -1)>);
  STATIC_REQUIRE(is_constant<decltype(cast<float>(x > 0))>);
  STATIC_REQUIRE(is_constant<decltype(cast<float>(cast<std::int32_t>(x)))>);
  STATIC_REQUIRE(is_constant<decltype(cast<double>(cast<bool>(x * x)))>);
  STATIC_REQUIRE(is_constant<decltype(stop_gradient(exp(x)))>);
  STATIC_REQUIRE(is_constant<decltype(stop_gradient(x) * c + 1)>);
  STATIC_REQUIRE(is_constant<decltype(where(x > 0, 1.0f, 0.0f))>);
  STATIC_REQUIRE(is_constant<decltype(where(x > 0, c, -c))>);
  STATIC_REQUIRE(is_constant<decltype(sum(where(x > 0, 1.0, 0.0)))>);
  STATIC_REQUIRE(is_constant<decltype(cast<float>(argmax(x, tn::axis<0>)))>);
  STATIC_REQUIRE(is_constant<decltype(cast<float>(tn::index_along<0>(x)))>);
  STATIC_REQUIRE(is_constant<decltype(mean(cast<float>(x == c)))>);
  STATIC_REQUIRE(is_constant<decltype(gather(c, cast<std::int64_t>(x)))>);
}

TEST_CASE("what a gradient reaches stays tracked") {
  leaf x{-1, 0, 2};
  vector c{1, 2, 3};
  STATIC_REQUIRE(!is_constant<decltype(cast<double>(x))>);
  STATIC_REQUIRE(!is_constant<decltype(where(x > 0, x, 0.0f))>);
  STATIC_REQUIRE(!is_constant<decltype(where(x > 0, c, x))>);
  STATIC_REQUIRE(!is_constant<decltype(stop_gradient(x) * x)>);
  STATIC_REQUIRE(!is_constant<decltype(x * cast<float>(x > 0))>);
  STATIC_REQUIRE(!is_constant<decltype(sum(floor(x)))>);
  STATIC_REQUIRE(!is_constant<decltype(sign(x))>);
  STATIC_REQUIRE(!is_constant<decltype(round(x))>);
}

TEST_CASE("the accuracy of a tracked prediction is a constant, in every way to say it") {
  leaf p{0.2f, 0.7f, 0.9f};
  tn::tensor<std::int64_t, tn::shape<3>> y{0, 0, 1};
  scalar acc = mean(cast<float>((p > 0.5f) == cast<bool>(y)));
  REQUIRE(acc.item() == 2.0f / 3);
  acc = mean(cast<float>(cast<std::int64_t>(round(p)) == y));
  REQUIRE(acc.item() == 2.0f / 3);
  acc += sum(where(p > 0.5f, 1.0f, 0.0f));  // a constant takes it in place
  REQUIRE(acc.item() == 2.0f / 3 + 2);
  tn::tensor deduced = cast<float>(p > 0.5f);
  STATIC_REQUIRE(std::is_same_v<decltype(deduced), vector>);
  tn::tensor<float, tn::shape<3>> kept;
  kept = stop_gradient(p * 2);
  REQUIRE(kept(1) == 1.4f);
  STATIC_REQUIRE(std::is_same_v<decltype(p.to<std::int64_t>()), tn::tensor<std::int64_t, tn::shape<3>>>);
}

TEST_CASE("an operand that no gradient reaches gets none, and its value is not saved") {
  leaf x{-1, 0, 2}, w{1, 2, 3};
  const tn::tensor y = where(x > 0, w * 5, w);
  STATIC_REQUIRE(tn::is_node_v<decltype(y)>);
  sum(y * stop_gradient(x)).backward();
  REQUIRE_FALSE(x.has_grad());  // only compared, and cut
  REQUIRE(w.grad()(0) == -1.0f);
  REQUIRE(w.grad()(2) == 10.0f);

  tn::tensor z = stop_gradient(x * x) + w;
  tn::no_grad([](auto v) { v += 1; }, x);  // nothing saved x
  sum(z).backward();
  REQUIRE_FALSE(x.has_grad());
  REQUIRE(w.grad()(0) == 0.0f);
}

TEST_CASE("the gradient of what is flat is zeros, which arrive") {
  leaf x{-1.5f, 0.5f, 2};
  sum(floor(x) + round(x) + sign(x)).backward();
  REQUIRE(x.has_grad());
  for (int i = 0; i < 3; ++i) REQUIRE(x.grad()(i) == 0.0f);
}

TEST_CASE("a gradient by an argument that nothing depends on is zeros, as JAX's, of its shape") {
  constexpr auto unused = [](auto a, auto b) { return sum(a * a) + 0 * sum(stop_gradient(b)); };
  vector a{1, 2, 3};
  tn::tensor<double, tn::shape<2, 2>> b{{1, 2}, {3, 4}};
  const auto by_both = tn::grad<0, 1>([](auto u, auto) { return sum(u * u); })(a, b);
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(std::get<1>(by_both))>, tn::tensor<double, tn::shape<2, 2>>>);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) REQUIRE(std::get<1>(by_both)(i, j) == 0.0);
  const auto stopped = tn::grad<1>(unused)(a, a);
  for (int i = 0; i < 3; ++i) REQUIRE(stopped(i) == 0.0f);
  const auto second = tn::grad([](auto v) { return sum(tn::grad([](auto u) { return sum(3 * u); })(v)); })(a);  // of a linear function
  for (int i = 0; i < 3; ++i) REQUIRE(second(i) == 0.0f);
}

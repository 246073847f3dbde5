// SPDX-License-Identifier: BSL-1.0
// Cases about operations: promotion, kinks, repeated indices, second derivatives, and the role of every derived tensor.
#include <limits>

#include "values.hpp"

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class F, class X>
void check_gradient(F f, const X& x, const std::vector<double>& expected) {
  static_assert(tn::is_leaf_v<X>);
  sum(f(x)).backward();
  check_values(x.grad(), expected);
}
}  // namespace

TEST_CASE("P60 index outside the extent") {
  const auto x = there(tn::arange<double>(shape<4>{}));
  const auto outside = there(tn::tensor<std::int64_t, shape<2>>{1, 4}), negative = there(tn::tensor<std::int64_t, shape<2>>{-1, 0});
  CHECK_THROWS_AS(tn::eval(gather(x, outside)), tn::index_error);
  CHECK_THROWS_AS(tn::eval(gather(x, negative)), tn::index_error);
}

TEST_CASE("P61 dtype promotion table") {
  const auto i32 = there(tn::tensor<std::int32_t, shape<1>>{1});
  const auto i64 = there(tn::tensor<std::int64_t, shape<1>>{1});
  const auto i64_0dim = there(tn::tensor<std::int64_t, shape<>>(5));
  const auto f32 = there(tn::tensor<float, shape<1>>{1});
  const auto f64 = constant<1>(1);
  const auto f64_0dim = constant<>(1.0);
  const auto b = there(tn::tensor<bool, shape<1>>{true});
  const auto is = [](const auto& e, auto type) { return std::is_same_v<tn::element_t<decltype(e)>, decltype(type)>; };
  CHECK(is(i64 + f32, float{}));
  CHECK(is(f32 + f64, double{}));
  CHECK(is(b + b, bool{}));
  CHECK(is(i32 + i64, std::int64_t{}));
  CHECK(is(f32 + f64_0dim, float{}));
  CHECK(is(i32 + i64_0dim, std::int32_t{}));
  CHECK(is(i64 + f64_0dim, double{}));
  CHECK(is(i64 + 1.5, float{}));
  CHECK(is(b + 1.5, float{}));
  CHECK(is(i64 / i64, float{}));
  CHECK(is(sum(i32), std::int64_t{}));
  CHECK(is(exp(i64), float{}));
  check_values(f32 + f64_0dim, {2});
}

TEST_CASE("P62 broadcast gradients are summed back to the operand shape") {
  const auto x = leaf<2, 1>({{1}, {2}});
  const auto y = leaf<3>(10, 20, 30);
  const auto s = leaf<>(0.5);
  sum(x * y + s).backward();
  check_values(x.grad(), {60, 60});
  check_values(y.grad(), {3, 3, 3});
  check_values(s.grad(), {6});
}

TEST_CASE("P63 sub-gradients at kinks: relu, abs, leaky_relu") {
  check_gradient([](const auto& x) { return relu(x); }, leaf<3>(-1, 0, 1), {0, 0, 1});
  check_gradient([](const auto& x) { return abs(x); }, leaf<3>(-1, 0, 1), {-1, 0, 1});
  check_gradient([](const auto& x) { return leaky_relu(x, 0.1); }, leaf<3>(-1, 0, 1), {0.1, 0.1, 1});
}

TEST_CASE("P64 ties in max: amax splits evenly, max along an axis picks the first index") {
  const double third = 1.0 / 3;
  check_gradient([](const auto& x) { return amax(x, tn::axis<0>); }, leaf<4>(3, 1, 3, 3), {third, 0, third, third});
  check_gradient([](const auto& x) { return max(x, tn::axis<0>); }, leaf<4>(3, 1, 3, 3), {1, 0, 0, 0});
  check_gradient([](const auto& x) { return amax(x); }, leaf<4>(3, 1, 3, 3), {third, 0, third, third});
  check_values(argmax(constant<4>(3, 1, 3, 3), tn::axis<0>), {0});
}

TEST_CASE("P65 sqrt(0), norm at 0 and sqrt(sum of squares) at 0") {
  check_gradient([](const auto& x) { return sqrt(x); }, leaf<2>(0, 4), {infinity, 0.25});
  check_gradient([](const auto& x) { return norm(x); }, leaf<2>(0, 0), {0, 0});
  check_gradient([](const auto& x) { return sqrt(sum(x * x)); }, leaf<2>(0, 0), {not_a_number, not_a_number});
}

TEST_CASE("P66 where does not protect the unselected branch") {
  const auto x = leaf<2>(0, 4);
  check_gradient([](const auto& x) { return where(x > 0, sqrt(x), tn::zeros_like(x)); }, x, {not_a_number, 0.25});
  const auto y = leaf<2>(0, 4);
  check_gradient(
      [](const auto& x) {
        const auto safe = sqrt(where(x > 0, x, tn::ones_like(x)));
        return where(x > 0, safe, tn::zeros_like(x));
      },
      y, {0, 0.25});
}

TEST_CASE("P67 gather and index gradients add over duplicates") {
  const auto x = leaf<4>(1, 2, 3, 4);
  const auto index = there(tn::tensor<std::int64_t, shape<4>>{1, 1, 3, 1});
  sum(gather(x, index) * constant<4>(1, 10, 100, 1000)).backward();
  check_values(x.grad(), {0, 1011, 0, 100});
  const auto y = leaf<2, 2>({{1, 2}, {3, 4}});
  const auto along = there(tn::tensor<std::int64_t, shape<2, 3>>{{0, 0, 1}, {1, 1, 1}});
  sum(take_along<1>(y, along)).backward();
  check_values(y.grad(), {2, 1, 0, 3});
}

TEST_CASE("P68 index_add with duplicate indices") {
  const auto s = leaf<3>(1, 2, 3), base = leaf<3>(10, 10, 10);
  const auto index = there(tn::tensor<std::int64_t, shape<3>>{0, 0, 2});
  const tn::tensor y = index_add(base, index, s);
  sum(y * constant<3>(5, 6, 7)).backward();
  check_values(y, {13, 10, 13});
  check_values(s.grad(), {5, 5, 7});
  check_values(base.grad(), {5, 6, 7});
  const auto outside = there(tn::tensor<std::int64_t, shape<3>>{0, 3, 2});
  CHECK_THROWS_AS(tn::eval(index_add(base, outside, s)), tn::index_error);
}

TEST_CASE("P69 second derivative") {
  constexpr auto cubes = [](auto x) { return sum(x * x * x); };
  constexpr auto slope = tn::grad(cubes);
  constexpr auto total_slope = [](auto x) { return sum(tn::grad([](auto y) { return sum(y * y * y); })(x)); };
  const auto x = constant<2>(2, -1);
  check_values(slope(x), {12, 3});
  check_values(tn::grad(total_slope)(x), {12, -6});
}

namespace {
// PyTorch's is_leaf is true for constants too.
template <class X>
constexpr bool is(bool leaf, bool requires_grad) {
  return requires_grad == tn::requires_grad_v<X> && leaf == (!tn::requires_grad_v<X> || tn::is_leaf_v<X>);
}
}  // namespace

TEST_CASE("P70 role of derived tensors") {
  const auto w = leaf<2>(1, 2);
  const auto c = constant<2>(1, 2);
  auto writable = leaf<2>(1, 2);
  static_assert(is<decltype(w)>(true, true));
  static_assert(is<decltype(c)>(true, false));
  static_assert(is<decltype(tn::eval(w * 2))>(false, true));
  static_assert(is<decltype(tn::eval(c * 2))>(true, false));
  static_assert(is<decltype(w.detach())>(true, false));
  static_assert(is<decltype(writable.unsafe_data())>(true, false));
  static_assert(is<decltype(w.clone())>(false, true));
  static_assert(is<decltype(c.clone())>(true, false));
  static_assert(is<decltype(w.clone().detach())>(true, false));
  static_assert(is<decltype(w.view())>(false, true));
  static_assert(is<decltype(w[tn::range(0, 1)])>(false, true));
  static_assert(is<decltype(w.to<float>())>(false, true));
  // PyTorch returns the leaf itself; here an alias, as its type says.
  static_assert(is<decltype(w.to<double>())>(false, true));
  static_assert(tn::ownership_of_v<decltype(w.to<double>())> == tn::ownership::aliasing);
  static_assert(is<decltype(w.to<std::int64_t>())>(true, false));
  static_assert(is<decltype(tn::eval(w > 1))>(true, false));
  static_assert(is<decltype(tn::zeros_like(w))>(true, false));
  static_assert(is<decltype(tn::deepcopy(w))>(true, true));
  CHECK(tn::is_leaf_v<decltype(tn::deepcopy(w))>);
}

TEST_CASE("P72 clamp exactly at its bound lets the gradient through") {
  check_gradient([](const auto& x) { return clamp(x, 0.0, 1.0); }, leaf<4>(-1, 0, 1, 2), {0, 1, 1, 0});
}

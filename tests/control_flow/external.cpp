// SPDX-License-Identifier: BSL-1.0
// extern_op: values, gradients, types of results, exceptions.
#include "external.hpp"

#include <span>

using namespace external_tests;
using vector = tn::tensor<double, tn::shape<3>>;
using number = tn::tensor<double, tn::shape<>>;
using judged::agrees_with_reference;

namespace {

/// Central differences of a loss.
template <class F, class X>
double difference(F f, const X& x, std::int64_t i, double h = 1e-5) {
  X up = tn::deepcopy(x), down = tn::deepcopy(x);
  tn::as_span(up)[static_cast<std::size_t>(i)] += h, tn::as_span(down)[static_cast<std::size_t>(i)] -= h;
  return (tn::compile(f)(up).item() - tn::compile(f)(down).item()) / (2 * h);
}

}  // namespace

TEST_CASE("an external function: values, gradients, and the gradient of the gradient") {
  const vector x{0.5, 1.25, 2};
  const auto y = cubed(x);
  for (int i = 0; i < 3; ++i) CHECK(y(i) == x(i) * x(i) * x(i));
  static constexpr auto loss = [](auto a) { return sum(square(cubed(tn::sin(a)))); };
  static constexpr auto loss_outside = [](auto a) { return sum(square(cubed_outside(tn::sin(a)))); };
  static constexpr auto loss_plain = [](auto a) { return sum(square(plain(tn::sin(a)))); };
  const auto g = tn::grad(loss)(x), outside = tn::grad(loss_outside)(x), expected = tn::grad(loss_plain)(x);
  for (int i = 0; i < 3; ++i) {
    CHECK(g(i) == Approx(expected(i)));
    CHECK(outside(i) == Approx(expected(i)));
    CHECK(g(i) == Approx(difference(loss, x, i)).epsilon(1e-7));
  }
  agrees_with_reference("value", cubed, x);
  agrees_with_reference("gradient", tn::grad(loss), x);
  agrees_with_reference("gradient by a function", tn::grad(loss_outside), x);
  // The rule reads the result, so its derivative goes through the rule again.
  const auto twice = tn::grad([](auto a) { return sum(tn::sin(a) * tn::grad(loss)(a)); })(x);
  const auto by_hand = tn::grad([](auto a) { return sum(tn::sin(a) * tn::grad(loss_plain)(a)); })(x);
  for (int i = 0; i < 3; ++i) CHECK(twice(i) == Approx(by_hand(i)));
}

/// It writes the first number of its result before it reads the last one of its argument.
constexpr auto turned = tn::extern_op([](auto y, auto x) noexcept { for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[x.size() - 1 - i]; }, tn::like<0>);

TEST_CASE("an external function does not write its result over its argument") {
  vector x{1, 2, 3};
  tn::compile([](auto a) { return turned(a); }).into(x)(x);
  CHECK(x(0) == 3);
  CHECK(x(1) == 2);
  CHECK(x(2) == 1);
  vector inside{1, 2, 3};
  tn::compile([](auto a) { return turned(a * 2.0) + a; }).into(inside)(inside);
  for (int i = 0; i < 3; ++i) CHECK(inside(i) == 2 * (3 - i) + i + 1);
}

/// The slope of x^3 and its slope, each by a C++ function.
constexpr auto of_slope = tn::extern_op([](auto y, auto x) noexcept { for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 6 * x[i]; }, tn::like<0>);
constexpr auto slope = tn::custom_jvp(tn::extern_op([](auto y, auto x) noexcept { for (std::int64_t i = 0; i < x.size(); ++i) y[i] = 3 * x[i] * x[i]; }, tn::like<0>),
                                      [](auto x, auto t) { return std::tuple{x, of_slope(x) * t}; });
constexpr auto in_both_modes = tn::custom_jvp(tn::extern_op(cube{}, tn::like<0>), [](auto x, auto t) { return std::tuple{x, slope(x) * t}; });

constexpr auto loss_by_rule = [](auto a) { return sum(in_both_modes(a) * a); };
constexpr auto loss_plain = [](auto a) { return sum(plain(a) * a); };

TEST_CASE("an external function with the rule of a custom_jvp has forward and reverse mode, and second derivatives of each") {
  const vector x{0.5, 1.25, 2}, v{1, -1, 3};
  static constexpr auto all = [](auto a, auto t) {
    return std::tuple{tn::jvp(in_both_modes)(a, t), tn::value_and_grad(loss_by_rule)(a), tn::hessian<0>(loss_by_rule)(a), tn::vmap(tn::grad(loss_by_rule))(tn::stack(a, t * t))};
  };
  static constexpr auto all_plain = [](auto a, auto t) {
    return std::tuple{tn::jvp(plain)(a, t), tn::value_and_grad(loss_plain)(a), tn::hessian<0>(loss_plain)(a), tn::vmap(tn::grad(loss_plain))(tn::stack(a, t * t))};
  };
  judged::agree(tn::compile(all)(x, v), judged::interpreted(all_plain, x, v));
}

TEST_CASE("external functions of several results, numbers and integers") {
  const vector x{1.5, -2, 0.25}, y{3, 1, 4};
  const auto [dot, bin] = dot_and_bin(x, y, std::int64_t{7});
  CHECK(dot.item() == 3.5);
  CHECK(bin.item() == 8);
  const auto [gx, gy] = tn::grad<0, 1>([](auto a, auto b, auto k) { return square(std::get<0>(dot_and_bin(a, b, k))) + 0.0 * sum(a); })(x, y, std::int64_t{7});
  for (int i = 0; i < 3; ++i) {
    CHECK(gx(i) == 7 * y(i));
    CHECK(gy(i) == 7 * x(i));
  }
  agrees_with_reference("both", dot_and_bin, x, y, std::int64_t{7});
  // One result is not read. The function writes it all the same.
  agrees_with_reference("one of two", [](auto a, auto b) { return std::get<1>(dot_and_bin(a, b, 0)) + 1; }, x, y);
  CHECK(gamma_of(4.5).item() == std::lgamma(4.5));
  // Without a rule there is no derivative, and a value on the way to no result needs none.
  CHECK(tn::grad([](auto a) { return sum(square(a)) + gamma_of(tn::stop_gradient(a)(2)); })(y)(2) == 8);
}

TEST_CASE("external functions: the adjoint identity of a linear one") {
  const tn::tensor<double, tn::shape<2, 3>> x{{1, 2, 3}, {4, 5, 6}}, v{{0.5, -1, 2}, {1, 0, -3}};
  const tn::tensor<double, tn::shape<2>> w{2, -0.5};
  const auto [y, pulled] = tn::vjp(row_sums)(x, w);
  CHECK(y(1) == 15);
  CHECK(tn::eval(sum(row_sums(v) * w)).item() == Approx(tn::eval(sum(v * pulled)).item()));
}

TEST_CASE("external functions with run-time and empty extents") {
  using matrix = tn::tensor<double, tn::shape<tn::dyn, tn::dim("n")>>;
  const matrix x = tn::ones<double>(tn::shape<tn::dyn, tn::dim("n")>(), 4, 2), none = tn::ones<double>(tn::shape<tn::dyn, tn::dim("n")>(), 0, 2);
  CHECK(row_sums(x).size() == 4);
  CHECK(row_sums(x)(3) == 2);
  CHECK(row_sums(none).size() == 0);
  CHECK(tn::grad([](auto a) { return sum(square(row_sums(a))); })(x)(3, 1) == 4);
  // The name of an extent of an argument.
  constexpr auto first_row = tn::extern_op(
      [](auto y, auto a) {
        const std::span<const double> row(a.data(), static_cast<std::size_t>(a.extent(1)));
        for (std::size_t i = 0; i < row.size(); ++i) y[static_cast<std::int64_t>(i)] = row[i];
      },
      tn::result<tn::tensor<double, tn::shape<tn::dim("n")>>>);
  CHECK(first_row(x).size() == 2);
  agrees_with_reference("first row", first_row, x);
  CHECK(tn::vmap(row_sums)(tn::ones<double>(tn::shape<tn::dyn, 2, 3>(), 3))(2, 1) == 3);
  CHECK(tn::vmap(row_sums)(tn::ones<double>(tn::shape<tn::dyn, 2, 3>(), 0)).size() == 0);
}

TEST_CASE("an external function throws: the results stay as they were") {
  constexpr auto f = tn::compile([](auto x) { return std::tuple{2.0 * x, cubed(x), std::get<0>(tn::scan([](auto c, auto e) { return std::tuple{c + sum(cubed(tn::stack(e, e))), tn::nothing}; }, 0.0, x))}; });
  vector twice{1, 2, 3}, cubes{4, 5, 6};
  number total(0.0);
  f.into(twice, cubes, total)(vector{1, 2, 3});
  CHECK(cubes(2) == 27);
  CHECK(total.item() == 72);
  CHECK_THROWS_AS(f.into(twice, cubes, total)(vector{5, -1, 7}), std::runtime_error);
  CHECK(twice(0) == 2);
  CHECK(cubes(0) == 1);
  CHECK(total.item() == 72);
}

TEST_CASE("external functions at once, with variables") {
  auto w = tn::variable<double, tn::shape<3>>(0.5, 1.5, 2.0);
  const tn::tensor loss = sum(cubed(w));
  loss.backward();
  CHECK(w.grad()(1) == Approx(3 * 1.5 * 1.5));
}

TEST_CASE("the plan of an external function") {
  using plan = decltype(cubed.plan(vector()));
  static_assert(plan::kernels() == 1 && plan::flops() == 0);
  CHECK(tn::to_text(plan{}).find("extern_op cube") != std::string::npos);
}

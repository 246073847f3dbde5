// SPDX-License-Identifier: BSL-1.0
// sort, topk, median and quantile: the order of NaN and of equal elements, run-time extents, types, transforms, and who gets the gradient.
#include <algorithm>

#include "../laws/adjoint.hpp"

using namespace laws;

namespace {
const double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class X>
std::vector<double> elements_in_order(const X& x) {
  std::vector<double> all;
  const auto a = [&] {
    if constexpr (tn::any_tensor<X>) return array_of(x);
    else return array_of(tn::eval(x));
  }();
  for (std::int64_t i = 0; i < a.size(); ++i) all.push_back(a[i]);
  return all;
}
using numbers = std::vector<double>;
}  // namespace

TEMPLATE_TEST_CASE("equal elements keep their order, and NaN stands above every number", "", TENURE_LAW_TYPES) {
  const auto x = tn::tensor<double, shape<7>>{2, not_a_number, -inf, 2, inf, not_a_number, -0.0}.template to<TestType>();
  CHECK(elements_in_order(argsort(tn::tensor<TestType, shape<4>>{0, -0.0, -1, 0}, tn::descending)) == numbers{0, 1, 3, 2});
  CHECK(elements_in_order(argsort(x)) == numbers{2, 6, 0, 3, 4, 1, 5});
  CHECK(elements_in_order(argsort(x, tn::axis<0>, tn::descending)) == numbers{1, 5, 4, 0, 3, 6, 2});
  CHECK(elements_in_order(tn::argtopk<3>(x)) == numbers{1, 5, 4});
  CHECK(elements_in_order(tn::argtopk<3>(x, tn::smallest)) == numbers{2, 6, 0});
  const auto many = tn::concat(x, x, x);  // so many that three of them are found without a sort
  CHECK(elements_in_order(tn::argtopk<3>(many)) == numbers{1, 5, 8});
  CHECK(elements_in_order(tn::argtopk<5>(many, tn::smallest)) == numbers{2, 9, 16, 6, 13});
  CHECK(elements_in_order(tn::topk<0>(many)).empty());
  const auto sorted = elements_in_order(sort(x));
  CHECK(sorted[0] == -inf);
  CHECK(sorted[2] == 2);
  CHECK(std::isnan(sorted[5]));
  CHECK(std::isnan(median(x).item()));
}

TEST_CASE("integers and bool have an order") {
  CHECK(median(tn::tensor<double, shape<4>>{4, 1, 3, 2}).item() == 2);  // the lower one of the two in the middle
  const tn::tensor<int, shape<2, 3>> counts{{3, 1, 2}, {9, 9, 7}};
  CHECK(elements_in_order(sort(counts, tn::descending)) == numbers{3, 2, 1, 9, 9, 7});
  CHECK(elements_in_order(sort(counts, tn::axis<0>)) == numbers{3, 1, 2, 9, 9, 7});
  CHECK(elements_in_order(median(counts, tn::axis<1>, tn::keepdim)) == numbers{2, 9});
  CHECK(median(counts).item() == 3);
  CHECK(elements_in_order(sort(tn::tensor<bool, shape<3>>{true, false, true})) == numbers{0, 1, 1});
  CHECK(elements_in_order(sort(tn::tensor<float, shape<0>>())).empty());
}

TEST_CASE("the gradient of a sorted element goes where it comes from") {
  auto w = tn::variable<double, shape<2, 3>>{{3, 1, 2}, {5, 5, 4}};
  sum(sort(w) * tn::tensor<double, shape<3>>{1, 10, 100}).backward();
  const tn::tensor<double, shape<2, 3>> g = w.grad().clone();
  CHECK(elements_in_order(g) == numbers{100, 1, 10, 10, 100, 1});
  w.zero_grad();
  sum(median(w, tn::axis<1>)).backward();
  CHECK(elements_in_order(w.grad().clone()) == numbers{0, 0, 1, 1, 0, 0});
  // A NaN has the position of the first one.
  auto v = tn::variable<double, shape<4>>{1, not_a_number, 0, not_a_number};
  median(v).backward();
  CHECK(elements_in_order(v.grad().clone()) == numbers{0, 1, 0, 0});
}

TEST_CASE("orders agree with the reference") {
  const auto x = filled<float>(shape<dyn, 4, dyn>{}, 1, -2.0, 2.0, 5, 150);
  agrees(tn::compile([](auto a) {
           return std::tuple{sort(a), sort(a, tn::axis<0>, tn::descending), argsort(a, tn::axis<1>), tn::topk<2>(a, tn::axis<-2>),
                             tn::argtopk<3>(transpose(a), tn::axis<0>), tn::topk<3>(a), tn::topk<1>(a, tn::axis<1>, tn::smallest)};
         }),
         x);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(square(tn::topk<3>(a, tn::smallest)) * tn::topk<3>(a)); }), filled<double>(shape<dyn, 7>{}, 2, -2.0, 2.0, 6));
  agrees(tn::compile([](auto a) { return std::tuple{median(a), median(a, tn::axis<1>, tn::keepdim), tn::quantile(a, 0.8, tn::axis<0>)}; }), x);
  agrees(tn::compile([](auto a) { return std::tuple{sort(a), median(a, tn::axis<0>), argsort(a)}; }), filled<std::int32_t>(shape<9, 5>{}, 3, 0.0, 4.0));
  CHECK_THROWS_AS(tn::eval(tn::topk<6>(x, tn::axis<0>)), tn::shape_error);
}

// The sum gives the run-time extent its number, 3, before or after topk asks for it.
TEST_CASE("topk of more elements than another operand allows is refused") {
  const tn::tensor<float, shape<3>> y{1, 2, 3};
  const tn::tensor<float, shape<dyn>> x = 1.0f * y;
  CHECK_THROWS_AS(tn::compile([](auto a, auto b) { return std::tuple{a + b, tn::topk<5>(a)}; })(x, y), tn::shape_error);
  CHECK_THROWS_AS(tn::compile([](auto a, auto b) { return std::tuple{tn::topk<5>(a), a + b}; })(x, y), tn::shape_error);
  CHECK(std::get<1>(tn::compile([](auto a, auto b) { return std::tuple{a + b, tn::topk<3>(a)}; })(x, y))(0) == 3);
}

namespace {
/// NumPy's and PyTorch's definition, in plain C++.
double quantile_by_hand(numbers x, double q) {
  std::sort(x.begin(), x.end());
  const double place = q * static_cast<double>(x.size() - 1), low = std::floor(place);
  const double a = x[static_cast<std::size_t>(low)], b = x[std::min(static_cast<std::size_t>(low) + 1, x.size() - 1)];
  return a == b ? a : a + (place - low) * (b - a);
}
}  // namespace

TEMPLATE_TEST_CASE("quantiles of static and run-time extents", "", TENURE_LAW_TYPES) {
  const auto x = filled<TestType>(shape<dyn, dyn, 3>{}, 8, -2.0, 2.0, 7, 5);
  tn::tensor<TestType, shape<7, 5, 3>> y;
  y.copy_(x);
  for (const double q : {0.0, 0.1, 0.25, 0.5, 0.9, 1.0}) {
    INFO(q);
    const double expected = quantile_by_hand(elements_in_order(x), q);
    CHECK(tn::quantile(x, q).item() == Approx(expected).epsilon(1e-6));
    CHECK(tn::quantile(y, q).item() == Approx(expected).epsilon(1e-6));
    const auto along = tn::eval(tn::quantile(x, q, tn::axis<1>, tn::keepdim));
    CHECK(array_of(along).shape == tn::extents{3, {7, 1, 3}});
    for (int i = 0; i < 7; ++i)
      for (int k = 0; k < 3; ++k) {
        numbers row;
        for (int j = 0; j < 5; ++j) row.push_back(x(i, j, k));
        CHECK(along(i, 0, k) == Approx(quantile_by_hand(row, q)).epsilon(1e-6));
      }
    CHECK(elements_in_order(along) == elements_in_order(tn::quantile(y, q, tn::axis<-2>)));
  }
  CHECK(elements_in_order(median(x, tn::axis<0>)) == elements_in_order(median(y, tn::axis<0>)));
  CHECK(median(x).item() == median(y).item());
  CHECK(median(x).item() == tn::quantile(x, 0.5).item());  // 105 elements
}

TEST_CASE("two equal neighbours share the gradient of a quantile as two others do, and infinities give it to one") {
  const auto f = tn::value_and_grad<0>([](auto x, auto q) { return tn::quantile(x, q); });
  for (const double above : {0.5, 0.75}) {
    const auto [value, gradient] = f(tn::tensor<double, shape<4>>{0, 0.5, 7, above}, tn::tensor<double, shape<>>{0.4});  // place 1.2
    CHECK(value.item() == Approx(0.5 + 0.2 * (above - 0.5)));
    for (const auto& [i, expected] : {std::pair{0, 0.0}, {1, 0.8}, {2, 0.0}, {3, 0.2}}) CHECK(gradient(i) == Approx(expected));
  }
  const auto [value, gradient] = f(tn::tensor<double, shape<4>>{0, inf, 7, inf}, tn::tensor<double, shape<>>{0.8});
  CHECK(value.item() == inf);
  CHECK(gradient(1) + gradient(3) == 1);
}

TEST_CASE("a quantile of NaN, infinities, integers, one element and none, and a q outside") {
  CHECK(tn::quantile(tn::tensor<double, shape<4>>{1, not_a_number, 0, 2}, 0.1).item() != tn::quantile(tn::tensor<double, shape<4>>{1, not_a_number, 0, 2}, 0.1).item());
  const tn::tensor<double, shape<5>> far{-inf, inf, -inf, inf, 3};
  CHECK(tn::quantile(far, 0.0).item() == -inf);
  CHECK(tn::quantile(far, 0.1).item() == -inf);
  CHECK(tn::quantile(far, 0.5).item() == 3);
  CHECK(tn::quantile(far, 1.0).item() == inf);
  const auto of_counts = tn::eval(tn::quantile(tn::tensor<int, shape<4>>{4, 1, 3, 2}, 0.5));
  STATIC_REQUIRE(std::is_same_v<decltype(of_counts.item()), float>);
  CHECK(of_counts.item() == 2.5f);
  const auto some = [](std::int64_t n) { return filled<double>(shape<dyn>{}, 9, 1.0, 2.0, n); };
  CHECK(tn::quantile(some(1), 0.7).item() == some(1)(0));
  CHECK(median(some(1)).item() == some(1)(0));
  CHECK(median(some(2)).item() == std::min(some(2)(0), some(2)(1)));
  CHECK_THROWS_AS(tn::eval(tn::quantile(some(0), 0.5)), tn::shape_error);
  CHECK_THROWS_AS(tn::eval(median(some(0))), tn::shape_error);
  CHECK_THROWS_AS(tn::eval(tn::quantile(some(3), 1.5)), tn::index_error);
  CHECK_THROWS_WITH(tn::eval(tn::quantile(some(3), 1.5)), Catch::Matchers::StartsWith("tenure: quantile: q lies outside [0, 1]: "));
  CHECK_THROWS_AS(tn::eval(tn::quantile(some(3), -0.1)), tn::index_error);
  CHECK(std::isnan(tn::quantile(some(3), not_a_number).item()));
}

TEST_CASE("derivatives of orders, also in a batch and in a loop") {
  derivatives_agree<double>([](auto x) { return std::tuple{sort(x) * sort(x, tn::axis<0>), median(x, tn::axis<1>), tn::topk<2>(exp(x))}; }, filled<double>(shape<3, 5>{}, 4));
  derivatives_agree<double>([](auto x) { return tn::vmap([](auto row) { return sort(row) * median(row); })(x); }, filled<double>(shape<3, 4>{}, 5));
  derivatives_agree<double>([](auto x, auto q) { return std::tuple{tn::quantile(x, q, tn::axis<1>), tn::quantile(x, 0.5), median(x, tn::axis<0>)}; }, filled<double>(shape<dyn, dyn>{}, 4, 0.0, 1.0, 3, 6),
                            tn::tensor<double, shape<>>(0.33));
  derivatives_agree<double>([](auto x) { return tn::vmap([](auto row) { return tn::quantile(row, 0.3) * median(row); })(x); }, filled<double>(shape<3, dyn>{}, 5, 0.0, 1.0, 4));
  derivatives_agree<double>([](auto x, auto y) { return tn::scan([](auto s, auto t) { return std::tuple{sort(sin(s * t)) + s, median(s)}; }, x, y); },
                            filled<double>(shape<4>{}, 6), filled<double>(shape<3>{}, 7));
}

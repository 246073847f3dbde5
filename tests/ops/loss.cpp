// SPDX-License-Identifier: BSL-1.0
// Losses of tensors with options: rows that do not count, run-time extents, tracked logits, plans.
#include "../laws/agree.hpp"

using namespace laws;

TEST_CASE("a row with an ignored label has the gradient 0, also if its logits are NaN or infinite") {
  const tn::tensor<std::int64_t, shape<4>> labels{1, -100, 2, -100};
  const auto f = tn::value_and_grad<0>([](auto a, auto t) { return cross_entropy(a, t, tn::ignore_index<-100>, tn::label_smoothing(0.1)); });
  const tn::tensor<double, shape<4, 3>> x{{1, 2, 3}, {4, 5, 6}, {0, -1, 2}, {1, 1, 1}};
  const auto [plain, expected] = f(x, labels);
  for (const double number : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL}) {
    tn::tensor<double, shape<4, 3>> y = tn::deepcopy(x);
    y[1].fill_(number);
    tn::as_span(y)[10] = number;
    const auto [value, gradient] = f(y, labels);
    CHECK(value.item() == plain.item());
    for (int i = 0; i < 4; ++i)
      for (int c = 0; c < 3; ++c) CHECK(gradient(i, c) == (i % 2 ? 0 : expected(i, c)));
    auto w = y.clone().requires_grad_();
    cross_entropy(w, labels, tn::ignore_index<-100>).backward();
    CHECK(w.grad()(1, 0) == 0);
  }
}

TEST_CASE("rows with an ignored label do not count") {
  auto x = tn::variable<double, shape<3, 4>>{{1, 2, 3, 4}, {0, 0, 0, 0}, {5, 1, 1, 1}};
  const tn::tensor<std::int64_t, shape<3>> labels{0, -100, 3};
  const auto loss = cross_entropy(x, labels, tn::ignore_index<-100>, tn::reduction::sum);
  loss.backward();
  for (int j = 0; j < 4; ++j) CHECK(x.grad()(1, j) == 0);
  const double each = cross_entropy(x, labels, tn::ignore_index<-100>).item();
  CHECK(std::fabs(each - loss.item() / 2) < 1e-12);
  const tn::tensor<double, shape<3>> rows = cross_entropy(x.detach(), labels, tn::reduction::none, tn::ignore_index<-100>);
  CHECK(rows(1) == 0);
  // No row counts: NaN, as in PyTorch. A label outside the classes that is not ignored throws.
  const tn::tensor<std::int64_t, shape<3>> none{-100, -100, -100};
  CHECK(std::isnan(cross_entropy(x, none, tn::ignore_index<-100>).item()));
  CHECK_THROWS_AS(cross_entropy(x, labels, tn::ignore_index<-1>).item(), tn::index_error);
}

TEST_CASE("a label or an extent that is wrong is an error of the loss that was written") {
  const auto x = filled<float>(shape<dyn, 4>{}, 1, -2.0, 2.0, 3);
  const auto weights = filled<float>(shape<4>{}, 3, 0.5, 2.0);
  const auto shorter = filled<float>(shape<dyn>{}, 3, 0.5, 2.0, 3);
  const tn::tensor<std::int64_t, shape<dyn>> labels{0, 1, 4}, few{0, 1};
  const std::string outside = ": index 4 is outside an axis of 4";
  CHECK_THROWS_WITH(cross_entropy(x, labels).item(), "tenure: cross_entropy" + outside);
  CHECK_THROWS_WITH(cross_entropy(x, labels, tn::class_weights(weights)).item(), "tenure: cross_entropy" + outside);
  CHECK_THROWS_WITH(tn::compile([](auto a, auto t) { return cross_entropy(a, t, tn::ignore_index<0>); })(x, labels), "tenure: cross_entropy" + outside);
  CHECK_THROWS_WITH(tn::grad([](auto a, auto t) { return nll(a, t); })(x, labels), "tenure: nll" + outside);
  CHECK_THROWS_WITH(tn::eval(pick(x, labels)), "tenure: pick" + outside);
  CHECK_THROWS_WITH(cross_entropy(x, few).item(), "tenure: cross_entropy: shapes 3 and 2 disagree: 3 is not 2");
  const tn::tensor<std::int64_t, shape<dyn>> right{0, 1, 3};
  CHECK_THROWS_WITH(nll(x, right, tn::class_weights(shorter)).item(), "tenure: nll: class_weights: shapes 3x4 and 3 disagree: 4 is not 3");
}

TEST_CASE("losses with options agree with the reference") {
  const auto x = filled<float>(shape<dyn, dyn>{}, 1, -2.0, 2.0, 9, 5);
  const auto labels = filled<std::int32_t>(shape<dyn>{}, 2, 0.0, 5.0, 9);
  const auto weights = filled<float>(shape<dyn>{}, 3, 0.5, 2.0, 5);
  agrees(tn::value_and_grad<0, 2>([](auto a, auto t, auto w) { return cross_entropy(a, t, tn::class_weights(w), tn::ignore_index<3>, tn::label_smoothing(0.1)); }), x, labels, weights);
  agrees(tn::value_and_grad<0>([](auto a, auto t) { return nll(a, t, tn::ignore_index<3>); }), x, labels);
  agrees(tn::compile([](auto a, auto t) { return std::tuple{cross_entropy(a, t, tn::reduction::none), cross_entropy(a, t, tn::label_smoothing(0.25), tn::reduction::sum)}; }), x, labels);
  const auto other = filled<float>(shape<6>{}, 4);
  const auto shorter = filled<float>(shape<dyn>{}, 5, 0.5, 2.0, 4);
  agrees(tn::compile([](auto a, auto b) {
           return std::tuple{mse(a, b, tn::reduction::none), l1(a, b, tn::reduction::sum), huber(a, b, tn::reduction::sum), smooth_l1(a, b, 0.5, tn::reduction::none),
                             bce(sigmoid(a), sigmoid(b), tn::reduction::sum), mse(a, b, tn::reduction::mean)};
         }),
         other, filled<float>(shape<6>{}, 6));
  CHECK_THROWS_AS(nll(x, labels, tn::class_weights(shorter)).item(), tn::shape_error);
}

TEST_CASE("a smoothing of 0 is none, also where a class has no probability") {
  const tn::tensor<float, shape<1, 3>> x{{1, 2, -std::numeric_limits<float>::infinity()}};
  const tn::tensor<std::int64_t, shape<1>> labels{0};
  CHECK(cross_entropy(x, labels, tn::label_smoothing(0.0)).item() == cross_entropy(x, labels).item());
  const auto [value, g] = tn::value_and_grad<0>([](auto a, auto t) { return cross_entropy(a, t, tn::label_smoothing(0.0)); })(x, labels);
  CHECK(g(0, 2) == 0);
  CHECK(std::isfinite(g(0, 0)));
}

// The mean over rows that count divides by a sum, which the gradient waits for.
TEST_CASE("smoothing costs no kernel, and class weights are read in the pass over the rows") {
  constexpr auto plain = tn::value_and_grad<0>([](auto a, auto t) { return cross_entropy(a, t); });
  constexpr auto smooth = tn::value_and_grad<0>([](auto a, auto t) { return cross_entropy(a, t, tn::label_smoothing(0.1)); });
  constexpr auto weighted = tn::value_and_grad<0>([](auto a, auto t, auto w) { return cross_entropy(a, t, tn::class_weights(w)); });
  using logits = tn::tensor<float, shape<256, 64>>;
  using labels = tn::tensor<std::int64_t, shape<256>>;
  using classes = tn::tensor<float, shape<64>>;
  using of_plain = decltype(plain.plan(std::declval<const logits&>(), std::declval<const labels&>()));
  using of_smooth = decltype(smooth.plan(std::declval<const logits&>(), std::declval<const labels&>()));
  using of_weighted = decltype(weighted.plan(std::declval<const logits&>(), std::declval<const labels&>(), std::declval<const classes&>()));
  STATIC_REQUIRE(of_smooth::kernels() == of_plain::kernels());
  STATIC_REQUIRE(of_weighted::kernels() <= of_plain::kernels() + 2);
}

TEST_CASE("a small loss of a probability has all its digits: of one near 0 where the target is 0, and of one near 1 where it is 1") {
  // 1 - p is 1 where p is small. So log(1 - p) would be 0, and the loss is p.
  const auto check = []<class T>(T) {
    const T small[] = {T(1e-3), T(1e-6), T(3e-8), T(1e-17), T(1e-30), std::numeric_limits<T>::min(), T(0.25), T(0.75)};
    tn::tensor<T, shape<8>> p, near_one;
    for (int i = 0; i < 8; ++i) p.at(i) = small[i], near_one.at(i) = 1 - small[i];
    const auto f = tn::value_and_grad<0>([](auto at, auto target) { return sum(bce(at, target, tn::reduction::none) * (target + 1)); });
    const tn::tensor losses = bce(p, zeros_like(p), tn::reduction::none), others = bce(near_one, ones_like(p), tn::reduction::none);
    const auto [all, slope] = f(p, zeros_like(p));
    for (int i = 0; i < 8; ++i) {
      CAPTURE(i);
      const auto close = [](T got, long double want) { return std::fabs(got - want) <= 4 * std::numeric_limits<T>::epsilon() * std::fabs(want); };
      CHECK(close(losses(i), -std::log1p(-static_cast<long double>(small[i]))));
      CHECK(close(slope(i), 1 / (1 - static_cast<long double>(small[i]))));
      CHECK(close(others(i), -std::log(static_cast<long double>(near_one(i)))));
    }
  };
  check(0.f);
  check(0.0);
}

// SPDX-License-Identifier: BSL-1.0
// Law: a normalisation over the last N axes, which the gain names by having them, is one over these axes laid out as one, and has
// the values of its definition.
#include <tenure/tenure.hpp>

#include "../catch.hpp"

namespace tn = tenure;

namespace {

template <class X>
double greatest_difference(const X& a, const X& b) {
  return static_cast<double>(amax(abs(a - b)).item());
}

}  // namespace

TEST_CASE("layer_norm over two axes has the values of its definition") {
  const tn::tensor<double, tn::shape<2, 2, 2>> x{{{1, 2}, {3, 6}}, {{0, 0}, {4, 0}}};
  const tn::tensor<double, tn::shape<2, 2>> g{{1, 2}, {3, 4}}, b{{0, 0}, {1, -1}};
  const auto y = tn::eval(layer_norm(x, g, b));
  const double rows[2][4] = {{1, 2, 3, 6}, {0, 0, 4, 0}};
  for (int i = 0; i < 2; ++i) {
    double mean = 0, variance = 0;
    for (const double v : rows[i]) mean += v / 4;
    for (const double v : rows[i]) variance += (v - mean) * (v - mean) / 4;
    for (int j = 0; j < 4; ++j) {
      CAPTURE(i, j);
      REQUIRE(y(i, j / 2, j % 2) == Approx((rows[i][j] - mean) / std::sqrt(variance + 1e-5) * g(j / 2, j % 2) + b(j / 2, j % 2)).epsilon(1e-12));
    }
  }
}

TEST_CASE("a normalisation over two axes is one over both laid out as one, compiled and eager, with its gradients") {
  tn::engine random(3);
  const auto x = tn::normal<double>(tn::shape<3, 4, 5>{}, random);
  const auto g = tn::normal<double>(tn::shape<4, 5>{}, random), b = tn::normal<double>(tn::shape<4, 5>{}, random);
  const auto weights = tn::normal<double>(tn::shape<3, 4, 5>{}, random);
  constexpr auto layer = [](auto at, auto gain, auto bias, auto w) { return sum(layer_norm(at, gain, bias) * w) + sum(rms_norm(at, gain) * w); };
  constexpr auto flat = [](auto at, auto gain, auto bias, auto w) {
    const auto row = [](auto v) { return tn::reshape<20>(v); };
    const auto rows = [](auto v) { return tn::reshape<3, 20>(v); };
    return sum(layer_norm(rows(at), row(gain), row(bias)) * rows(w)) + sum(rms_norm(rows(at), row(gain)) * rows(w));
  };
  const auto [value, dx, dg, db] = tn::value_and_grad<0, 1, 2>(layer)(x, g, b, weights);
  const auto [flat_value, flat_dx, flat_dg, flat_db] = tn::value_and_grad<0, 1, 2>(flat)(x, g, b, weights);
  REQUIRE(value.item() == Approx(flat_value.item()).epsilon(1e-12));
  REQUIRE(greatest_difference(dx, flat_dx) < 1e-12);
  REQUIRE(greatest_difference(dg, flat_dg) < 1e-12);
  REQUIRE(greatest_difference(db, flat_db) < 1e-12);
  REQUIRE(layer(x.view(), g.view(), b.view(), weights.view()).item() == Approx(value.item()).epsilon(1e-12));
}

TEST_CASE("rms_norm without a gain has the values of its definition, and the gradient of a gain of ones") {
  const tn::tensor<double, tn::shape<2, 3>> x{{1, -2, 4}, {0, 1e-3, 0}};
  const auto y = tn::eval(rms_norm(x));
  for (int i = 0; i < 2; ++i) {
    double mean_square = 0;
    for (int j = 0; j < 3; ++j) mean_square += x(i, j) * x(i, j) / 3;
    for (int j = 0; j < 3; ++j) REQUIRE(y(i, j) == Approx(x(i, j) / std::sqrt(mean_square + 1e-6)).epsilon(1e-14));
  }
  const auto without = tn::grad([](auto at, auto w) { return sum(rms_norm(at) * w * w); })(x, x);
  const auto with = tn::grad([](auto at, auto w) { return sum(rms_norm(at, tn::ones_like(at)[0]) * w * w); })(x, x);
  REQUIRE(greatest_difference(without, with) < 1e-12);
  REQUIRE(without(0, 0) != 0);
}

TEST_CASE("extents that only the run knows are compared") {
  const auto x = tn::ones<float>(tn::shape<tn::dyn, tn::dyn>{}, 2, 3);
  const auto of = [](std::int64_t n) { return tn::ones<float>(tn::shape<tn::dyn>{}, n); };
  REQUIRE_NOTHROW(tn::eval(layer_norm(x, of(3), of(3))));
  REQUIRE_THROWS_AS(tn::eval(layer_norm(x, of(4), of(4))), tn::shape_error);
  REQUIRE_THROWS_AS(tn::eval(layer_norm(x, of(3), of(1))), tn::shape_error);
  REQUIRE_THROWS_WITH(tn::eval(layer_norm(x, of(1), of(3))), Catch::Matchers::StartsWith("tenure: layer_norm:"));  // and not of the product inside
  REQUIRE_THROWS_AS(tn::eval(rms_norm(x, of(1))), tn::shape_error);
}

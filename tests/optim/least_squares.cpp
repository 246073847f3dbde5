// SPDX-License-Identifier: BSL-1.0
// least_squares: NIST's certified fits, bounds, robust losses, the covariance, and what it refuses.
#include "../catch.hpp"

#include <cmath>
#include <limits>

#include <tenure/tenure.hpp>

namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

namespace {

constexpr auto misra = [](auto b, auto x, auto y) { return b[0] * (1.0 - exp(-b[1] * x)) - y; };
constexpr auto kowalik = [](auto b, auto x, auto y) { return b[0] * (x * x + x * b[1]) / (x * x + x * b[2] + b[3]) - y; };
constexpr auto valley = [](auto p) { return tn::stack<0>(10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]); };
constexpr tn::levenberg_marquardt tight{.most_iterations = 500, .value_tolerance = 0, .step_tolerance = 1e-13};

const array<14> misra_x{77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};
const array<14> misra_y{10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78};

}  // namespace

TEST_CASE("tenure: least_squares: the certified values of NIST's Misra1a and MGH09, and the standard deviations of the parameters") {
  const auto fit = tn::least_squares(misra, tight);
  array<2> b{250, 0.0005};
  const auto reached = fit(b, misra_x, misra_y);
  CHECK(reached.converged());
  CHECK(b(0) == Approx(2.3894212918e2).epsilon(1e-9));
  CHECK(b(1) == Approx(5.5015643181e-4).epsilon(1e-9));
  CHECK(2 * reached.value == Approx(1.2455138894e-1).epsilon(1e-9));
  const auto c = fit.covariance(b, misra_x, misra_y);
  const double deviation = std::sqrt(2 * reached.value / 12);
  CHECK(deviation * std::sqrt(c(0, 0)) == Approx(2.7070075241).epsilon(1e-6));
  CHECK(deviation * std::sqrt(c(1, 1)) == Approx(7.2668688436e-6).epsilon(1e-6));

  array<4> k{0.25, 0.39, 0.415, 0.39};
  const array<11> x{4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625};
  const array<11> y{0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246};
  const auto found = tn::least_squares(kowalik, tight)(k, x, y);
  CHECK(2 * found.value == Approx(3.0750560385e-4).epsilon(1e-9));
  CHECK(k(0) == Approx(1.9280693458e-1).epsilon(1e-6));
  CHECK(k(1) == Approx(1.9128232873e-1).epsilon(1e-6));
  CHECK(k(2) == Approx(1.2305650693e-1).epsilon(1e-6));
  CHECK(k(3) == Approx(1.3606233068e-1).epsilon(1e-6));
}

TEST_CASE("least_squares: models of several parts, of run-time extents and in float32; progress, and why it stopped") {
  std::tuple<array<>, array<>> parts{array<>(-1.2), array<>(1.0)};
  const auto of_parts = tn::least_squares([](auto p) { return valley(tn::stack<0>(std::get<0>(p), std::get<1>(p))); }, tight)(parts);
  CHECK(of_parts.converged());
  CHECK(std::get<0>(parts).item() == Approx(1).epsilon(1e-8));
  CHECK(std::get<1>(parts).item() == Approx(1).epsilon(1e-8));

  // Tensors with names are fitted as one tuple.
  array<> first = -1.2, second = 1;
  constexpr auto of_two = [](auto p) { return valley(tn::stack<0>(std::get<0>(p), std::get<1>(p))); };
  const auto fit = tn::least_squares(of_two, tight);
  CHECK(fit(std::tie(first, second)).value == of_parts.value);
  CHECK(first.item() == std::get<0>(parts).item());
  CHECK(second.item() == std::get<1>(parts).item());
  CHECK(fit.covariance(std::tie(first, second))(1, 1) == fit.covariance(parts)(1, 1));
  const std::tuple<array<>, array<>> lower{array<>(-5), array<>(1.5)}, upper{array<>(5), array<>(5)};
  second = 2;
  CHECK(fit.within(lower, upper)(std::tie(first, second)).converged());
  CHECK(second.item() == 1.5);

  static int calls;
  static double last;
  calls = 0, last = std::numeric_limits<double>::infinity();
  tn::tensor<float, tn::shape<tn::dyn>> w = tn::zeros<float>(tn::shape<tn::dyn>{}, 3);
  const tn::tensor<float, tn::shape<tn::dyn>> wanted = tn::full<float>(tn::shape<tn::dyn>{}, 2, 3);
  const auto reached = tn::least_squares([](auto a, auto b) { return a * a * a + a - b; }, {.progress = [](const tn::optim::minimum& m) {
                                           ++calls;
                                           CHECK(m.value <= last);
                                           last = m.value;
                                         }})(w, wanted);
  CHECK(calls > 2);
  CHECK(calls <= reached.iterations);
  for (int i = 0; i < 3; ++i) CHECK(w(i) == Approx(1).epsilon(1e-4));

  array<2> p{-1.2, 1};
  const auto stopped = tn::least_squares(valley, tn::levenberg_marquardt{.most_iterations = 2})(p);
  CHECK(stopped.why == tn::optim::stop::iterations);
  CHECK(stopped.iterations == 2);
}

TEST_CASE("least_squares: the unit of a parameter does not matter, and a parameter that nothing depends on stays") {
  constexpr auto decay = [](auto b, auto x, auto y) { return b[0] * exp(-b[1] * x) - y; };
  constexpr auto in_billionths = [](auto b, auto x, auto y) { return 1e-9 * b[0] * exp(-b[1] * x) - y; };
  const array<5> x{0, 1, 2, 3, 4};
  const array<5> y = 2.0 * exp(-0.5 * x);
  array<2> b{1, 0.3}, c{1e9, 0.3};
  CHECK(tn::least_squares(decay)(b, x, y).converged());
  CHECK(tn::least_squares(in_billionths)(c, x, y).converged());
  CHECK(b(0) == Approx(2));
  CHECK(c(0) == Approx(2e9));
  CHECK(c(1) == Approx(b(1)));

  array<2> p{3, 7};
  CHECK(tn::least_squares([](auto q) { return tn::stack(q[0] - 1.0, q[0] * q[0] - 1.0); }, tight)(p).converged());
  CHECK(p(0) == Approx(1));
  CHECK(p(1) == 7);
}

TEST_CASE("least_squares: bounds hold parameters that the cost pushes against them, and the others are at their best") {
  const double inf = std::numeric_limits<double>::infinity();
  const array<2> lower{-inf, 1.5}, upper{inf, inf};
  array<2> p{2, 2};
  const auto fit = tn::least_squares(valley, tight);
  const auto reached = fit.within(lower, upper)(p);
  CHECK(p(1) == 1.5);
  CHECK(p(0) == Approx(1.22437075).epsilon(1e-7));
  CHECK(reached.converged());
  array<2> q{0, 0};
  CHECK_THROWS_WITH(fit.within(lower, upper)(q), "tenure: least_squares: the start lies outside the bounds");
  CHECK(q(0) == 0);
  array<2> inside{-1, 3};
  CHECK(fit.within(array<2>{-5, -5}, array<2>{5, 5})(inside).converged());
  CHECK(inside(0) == Approx(1).epsilon(1e-8));
}

TEST_CASE("least_squares: a robust loss is at a minimum of its own cost, of numbers and of rows, and outliers pull less") {
  array<14> y = misra_y.clone();
  tn::as_span(y)[6] += 40;
  const auto check = [&](auto loss, double most) {
    array<2> b{250, 0.0005};
    const auto reached = tn::least_squares(misra, tight, loss)(b, misra_x, y);
    const auto cost = [](const auto& at, const auto& x, const auto& z) {
      double sum = 0;
      for (int i = 0; i < 14; ++i) {
        const double r = at[0] * (1 - std::exp(-at[1] * x(i))) - z(i), s = r * r, c = decltype(loss){}.scale * 0 + 0.5;
        if constexpr (std::is_same_v<decltype(loss), tn::robust::huber>) sum += s <= c * c ? s : 2 * c * std::sqrt(s) - c * c;
        else if constexpr (std::is_same_v<decltype(loss), tn::robust::cauchy>) sum += c * c * std::log1p(s / (c * c));
        else sum += c * c / 3 * (1 - std::pow(std::fmax(0, 1 - s / (c * c)), 3));
      }
      return sum / 2;
    };
    const std::array<double, 2> at{b(0), b(1)};
    CHECK(reached.value == Approx(cost(at, misra_x, y)).epsilon(1e-9));
    for (std::size_t k = 0; k < 2; ++k)
      for (const double part : {1 - 1e-4, 1 + 1e-4}) {
        std::array<double, 2> beside = at;
        beside[k] *= part;
        CHECK(cost(beside, misra_x, y) > reached.value);
      }
    CHECK(std::fabs(b(0) - 238.94) < most);
  };
  check(tn::robust::huber{.scale = 0.5}, 10);
  check(tn::robust::cauchy{.scale = 0.5}, 3);
  array<2> plain{250, 0.0005};
  static_cast<void>(tn::least_squares(misra, tight)(plain, misra_x, y));
  CHECK(std::fabs(plain(0) - 238.94) > 10);
  // Tukey's loss has other minima far away, so it begins near.
  const array<4, 2> points{{1, 1}, {1.1, 0.9}, {0.9, 1.1}, {50, -70}};
  array<2> centre{1.2, 1.2};
  static_cast<void>(tn::least_squares([](auto c, auto all) { return all - c; }, tight, tn::robust::tukey{.scale = 2})(centre, points));
  CHECK(centre(0) == Approx(1).epsilon(1e-9));
  CHECK(centre(1) == Approx(1).epsilon(1e-9));
}

TEST_CASE("least_squares: a start that is not finite is an error before anything is written") {
  array<2> b{250, std::numeric_limits<double>::quiet_NaN()};
  CHECK_THROWS_WITH(tn::least_squares(misra)(b, misra_x, misra_y), "tenure: least_squares: the cost at the start is NaN");
  CHECK(b(0) == 250);
  array<2> at_zero{0, 1};
  CHECK_THROWS_WITH(tn::least_squares([](auto p) { return sqrt(p); })(at_zero), "tenure: least_squares: the gradient at the start is NaN");
}

// SPDX-License-Identifier: BSL-1.0
// Law: elements that are equal have the variance 0, and layer_norm makes zeros of them, whatever their number, size and type.
#include "../catch.hpp"
#include "../quick.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

constexpr auto spreads = [](auto x) {
  return std::tuple{var(x, tn::axis<1>), stddev(x, tn::axis<1>), tn::var<0>(x), var(x, tn::axis<0>), layer_norm(x)};
};

template <class T>
void equal_elements_have_no_variance() {
  const auto f = tn::compile(spreads);
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> exponent(-8, 8);
  for (const int n : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 17, 19, 23, 31, 32, 33, 40, 63, 64, 100, 257, 1000, 4097, 65537})
    for (int times = 0; times < (n > 1000 ? 4 : 60 / quick::share); ++times) {
      const T number = static_cast<T>(std::pow(10.0, exponent(engine)) * (times % 2 ? 1 : -1));
      const auto x = tn::full<T>(tn::shape<tn::dyn, tn::dyn>{}, number, 3, n);
      const auto [rows, roots, all, columns, normal] = f(x);
      bool is_zero = all.item() == 0;
      for (int i = 0; i < 3; ++i) is_zero = is_zero && rows(i) == 0 && roots(i) == 0;
      double largest = 0;
      for (int j = 0; j < n; ++j) is_zero = is_zero && columns(j) == 0, largest = std::max(largest, std::abs(static_cast<double>(normal(1, j))));
      INFO(n << " elements " << number << ": layer_norm has " << largest);
      CHECK(is_zero);
      // sqrt(epsilon) is 3e-3: what is left of the mean's rounding error is divided by it.
      CHECK(largest <= 400 * std::abs(static_cast<double>(number)) * std::pow(static_cast<double>(std::numeric_limits<T>::epsilon()), 2));
    }
}

/// Squares of these numbers are partly lost below the smallest number.
template <class T>
void equal_elements_whose_squares_vanish() {
  const auto f = tn::compile([](auto x) { return std::tuple{var(x, tn::axis<1>), var(x, tn::axis<0>)}; });
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> exponent(-0.5, 1);
  for (const int n : {2, 3, 4, 5, 7, 9, 17, 33, 100, 1000})
    for (int times = 0; times < 60; ++times) {
      const T number = static_cast<T>(std::sqrt(static_cast<double>(std::numeric_limits<T>::denorm_min())) * std::pow(10.0, exponent(engine)));
      const auto [rows, columns] = f(tn::full<T>(tn::shape<tn::dyn, tn::dyn>{}, number, n, n));
      INFO(n << " elements " << number);
      CHECK((rows(0) == 0 && columns(0) == 0 && rows(n - 1) == 0 && columns(n - 1) == 0));
    }
}

}  // namespace

TEST_CASE("Law: equal elements have the variance 0") {
  equal_elements_whose_squares_vanish<float>();
  equal_elements_whose_squares_vanish<double>();
  equal_elements_have_no_variance<float>();
  equal_elements_have_no_variance<double>();
}

TEST_CASE("Law: layer_norm of a row is exact for the numbers of the row, also where their mean is large") {
  constexpr int n = 768;
  tn::tensor<float, tn::shape<1, n>> x;
  const auto normal = tn::compile([](auto a) { return layer_norm(a, tn::axis<-1>, 1e-12); });
  for (const double mean : {0.0, 1e2, 1e4, 1e6, -3e7}) {
    std::mt19937 engine(1);
    std::normal_distribution<double> of;
    for (float& element : tn::as_span(x)) element = static_cast<float>(mean + of(engine) * (mean == 0 ? 1 : std::abs(mean) * 3e-6));
    double exact = 0, squares = 0;
    for (const float element : tn::as_span(x)) exact += static_cast<double>(element) / n;
    for (const float element : tn::as_span(x)) squares += (element - exact) * (element - exact) / n;
    const auto y = normal(x);
    double worst = 0;
    for (int i = 0; i < n; ++i) worst = std::max(worst, std::abs(y(0, i) - (x(0, i) - exact) / std::sqrt(squares + 1e-12)));
    INFO("mean " << mean << ": error " << worst);
    CHECK(worst < 2e-6);
  }
}

// Rows and columns whose sum of squares tells the variance, beside those that need their deviations.
TEST_CASE("Law: a variance does not depend on the rows and columns beside it, whatever their means") {
  constexpr int n = 70, means = 9;
  std::mt19937 engine(1);
  std::normal_distribution<double> of;
  tn::tensor<float, tn::shape<means, n>> x;
  double exact[means];
  for (int i = 0; i < means; ++i) {
    const double mean[means] = {0, 1, 1.7, -2, 3, 10, -1e3, 1e6, 1e-3};
    for (int j = 0; j < n; ++j) tn::as_span(x)[i * n + j] = static_cast<float>(mean[i] + (i == 7 ? 0.5 : 1) * of(engine));
    double sum = 0, squares = 0;
    for (int j = 0; j < n; ++j) sum += x(i, j);
    for (int j = 0; j < n; ++j) squares += (x(i, j) - sum / n) * (x(i, j) - sum / n);
    exact[i] = squares / (n - 1);
  }
  const auto columns_of = tn::eval(transpose(x));
  const auto f = tn::compile([](auto rows, auto columns) { return std::tuple{var(rows, tn::axis<1>), var(columns, tn::axis<0>)}; });
  const auto slopes = tn::grad<0, 1>([](auto rows, auto columns) { return sum(var(rows, tn::axis<1>)) + sum(var(columns, tn::axis<0>)); });
  const auto [rows, columns] = f(x, columns_of);
  const auto [by_rows, by_columns] = slopes(x, columns_of);
  for (int i = 0; i < means; ++i) {
    double mean = 0;
    for (int j = 0; j < n; ++j) mean += static_cast<double>(x(i, j)) / n;
    INFO("row " << i);
    CHECK(std::abs(rows(i) - exact[i]) <= 3e-6 * exact[i]);
    CHECK(std::abs(columns(i) - exact[i]) <= 3e-6 * exact[i]);
    double worst = 0;
    for (int j = 0; j < n; ++j)
      for (const float slope : {by_rows(i, j), by_columns(j, i)}) worst = std::max(worst, std::abs(slope - 2 * (x(i, j) - mean) / (n - 1)));
    CHECK(worst <= 3e-8 * std::sqrt(exact[i]));
    const auto alone = f(tn::eval(tn::reshape<1, n>(x[i])), tn::eval(tn::reshape<n, 1>(x[i])));
    CHECK(std::get<0>(alone)(0) == rows(i));
  }
}

TEST_CASE("Law: the gradient of a variance is that of the sum of squares, also where the elements are equal or their mean is large") {
  const auto f = tn::value_and_grad<0>([](auto x) { return sum(var(x, tn::axis<1>)); });
  constexpr int n = 37;
  tn::tensor<double, tn::shape<3, n>> x;
  const auto elements = tn::as_span(x);
  for (int j = 0; j < n; ++j) elements[j] = 19.8, elements[n + j] = 1e6 + 1e-3 * j, elements[2 * n + j] = std::sin(j);
  const auto [value, gradient] = f(x);
  for (int i = 0; i < 3; ++i) {
    double mean = 0;
    for (int j = 0; j < n; ++j) mean += (x(i, j) - x(i, 0)) / n;
    for (int j = 0; j < n; ++j) {
      const double exact = 2 * ((x(i, j) - x(i, 0)) - mean) / (n - 1);
      INFO("row " << i << ", element " << j);
      CHECK(std::abs(gradient(i, j) - exact) <= 1e-15 * (i == 0 ? 19.8 : 1));
    }
  }
  CHECK(std::isfinite(value.item()));
}

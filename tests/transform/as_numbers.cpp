// SPDX-License-Identifier: BSL-1.0
// Templated C++ in a trace, as it is written for double, Stan's var, Ceres's Jet or CppAD's AD<double>.
// Law: as_numbers(f)(x) is f of the elements of x as doubles. The law is tried with the same template for both.
// Law: f of traced numbers is f of doubles, and its derivatives are those of a traced function.
#include <tenure/tenure.hpp>

#include <array>
#include <cmath>
#include <numeric>

#include "../catch.hpp"

namespace tn = tenure;

namespace {

template <std::int64_t N>
using vector = tn::tensor<double, tn::shape<N>>;

template <std::size_t N>
vector<static_cast<std::int64_t>(N)> tensor_of(const std::array<double, N>& x) {
  vector<static_cast<std::int64_t>(N)> t;
  for (std::size_t i = 0; i < N; ++i) t[static_cast<std::int64_t>(i)].fill_(x[i]);
  return t;
}

/// f of doubles, and central differences of it.
template <std::size_t N, class F>
void check_value_and_gradient(F f, const std::array<double, N>& x) {
  const auto [value, gradient] = tn::value_and_grad(tn::as_numbers(f))(tensor_of(x));
  CHECK(value.item() == Approx(f(x)).epsilon(1e-14));
  for (std::size_t i = 0; i < N; ++i) {
    auto up = x, down = x;
    up[i] += 1e-5, down[i] -= 1e-5;
    INFO("element " << i);
    CHECK(gradient.data()[i] == Approx((f(up) - f(down)) / 2e-5).epsilon(1e-7).margin(1e-8));
  }
}

// ---- as in Stan ----------------------------------------------------------------------------------------------------

template <class Y, class T>
constexpr T normal_lpdf(const Y& y, const T& mu, const T& sigma) {
  using std::log;
  const T z = (y - mu) / sigma;
  return -0.5 * z * z - log(sigma) - 0.91893853320467274178;
}
template <class T>
constexpr T student_t_lpdf(const T& y, double nu) {
  using std::lgamma;
  using std::log1p;
  return lgamma(T((nu + 1) / 2)) - lgamma(T(nu / 2)) - (nu + 1) / 2 * log1p(y * y / nu);
}

/// The eight schools: p is (mu, log tau, theta...).
struct eight_schools {
  static constexpr std::array<double, 8> y{28, 8, -3, 7, -1, 1, 18, 12}, sigma{15, 10, 16, 11, 9, 11, 10, 18};
  template <class T>
  constexpr T operator()(const std::array<T, 10>& p) const {
    using std::exp;
    const T mu = p[0], tau = exp(p[1]);
    T lp = 0;
    lp += normal_lpdf(mu, T(0), T(5));
    lp += p[1];
    lp += student_t_lpdf(T(tau / 5.0), 3.0);
    for (std::size_t j = 0; j < y.size(); ++j) {
      lp += normal_lpdf(p[2 + j], mu, tau);
      lp += normal_lpdf(y[j], p[2 + j], T(sigma[j]));
    }
    return lp;
  }
};

// ---- as in Ceres ---------------------------------------------------------------------------------------------------

/// ceres::AngleAxisRotatePoint, whose branch on the angle is a selection. A selection computes both sides, so the side that is not chosen gets an angle of 1.
template <class T>
constexpr void angle_axis_rotate_point(const T axis[3], const T point[3], T result[3]) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  using tn::where;
  const T theta2 = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2];
  const auto is_large = theta2 > std::numeric_limits<T>::epsilon();
  const T theta = sqrt(where(is_large, theta2, T(1))), inverse = T(1.0) / theta, c = cos(theta), s = sin(theta);
  const T w[3] = {axis[0] * inverse, axis[1] * inverse, axis[2] * inverse};
  const T cross[3] = {w[1] * point[2] - w[2] * point[1], w[2] * point[0] - w[0] * point[2], w[0] * point[1] - w[1] * point[0]};
  const T small[3] = {axis[1] * point[2] - axis[2] * point[1], axis[2] * point[0] - axis[0] * point[2], axis[0] * point[1] - axis[1] * point[0]};
  const T along = (w[0] * point[0] + w[1] * point[1] + w[2] * point[2]) * (T(1.0) - c);
  for (int i = 0; i < 3; ++i) result[i] = where(is_large, point[i] * c + cross[i] * s + w[i] * along, point[i] + small[i]);
}

/// Ceres's SnavelyReprojectionError.
struct reprojection_error {
  template <class T>
  constexpr std::array<T, 2> operator()(const std::array<T, 9>& camera, const std::array<T, 3>& point, const std::array<T, 2>& observed) const {
    T p[3];
    angle_axis_rotate_point(camera.data(), point.data(), p);
    p[0] += camera[3];
    p[1] += camera[4];
    p[2] += camera[5];
    const T xp = -p[0] / p[2], yp = -p[1] / p[2];
    const T &l1 = camera[7], &l2 = camera[8];
    const T r2 = xp * xp + yp * yp, distortion = 1.0 + r2 * (l1 + l2 * r2);
    const T& focal = camera[6];
    return {focal * distortion * xp - observed[0], focal * distortion * yp - observed[1]};
  }
};

// ---- as in CppAD ---------------------------------------------------------------------------------------------------

/// Runge and Kutta's method for a pendulum with friction, the algorithms of <numeric> in between.
struct pendulum {
  template <class T>
  static constexpr std::array<T, 2> slope(const std::array<T, 2>& x, const T& friction) {
    using std::sin;
    return {x[1], -sin(x[0]) - friction * x[1]};
  }
  template <class T>
  constexpr T operator()(const std::array<T, 3>& start) const {
    std::array<T, 2> x{start[0], start[1]};
    const T h(0.1);
    for (int step = 0; step < 2; ++step) {
      std::array<std::array<T, 2>, 4> k;
      for (std::size_t stage = 0; stage < k.size(); ++stage) {
        std::array<T, 2> at = x;
        if (stage > 0)
          for (std::size_t i = 0; i < 2; ++i) at[i] += k[stage - 1][i] * (stage == 3 ? h : h / 2);
        k[stage] = slope(at, start[2]);
      }
      for (std::size_t i = 0; i < 2; ++i) x[i] += h * (k[0][i] + T(2) * k[1][i] + T(2) * k[2][i] + k[3][i]) / 6;
    }
    return std::inner_product(x.begin(), x.end(), x.begin(), T(0)) + std::accumulate(x.begin(), x.end(), T());
  }
};

// ---- as in docs/stan.md -------------------------------------------------------------------------------------------

template <class T>
constexpr T log_density(const std::array<T, 3>& p) {
  using std::exp, std::max;
  T s(0.0);
  for (const T& x : p) s += exp(x) * 2.0;
  return max(s, T(1));
}

// ---- numbers that the trace knows ----------------------------------------------------------------------------------

struct of_known {
  template <class T>
  constexpr T operator()(const std::array<T, 1>& p) const {
    using std::exp;
    using std::fabs;
    using std::fmax;
    using std::log;
    using std::max;
    using std::min;
    using std::pow;
    using std::sqrt;
    using tn::clamp;
    using tn::sigmoid;
    using tn::softplus;
    using tn::square;
    using tn::where;
    T third = T(1) / T(3);
    third *= 2;
    third -= third / 2;
    third = -(-third);
    const T known = sqrt(T(2)) + pow(T(2), third) + exp(-T(1)) * log(T(10)) + square(T(3)) + clamp(T(5), T(0), T(2)) + sigmoid(T(-1)) + softplus(T(0.5)) + fmax(T(1), T(2)) +
                    max(T(3), T(4)) - min(T(3), T(4)) + fabs(T(-2)) + where(T(1) < T(2) && !(T(1) == T(2)), T(7), T(8)) + std::numeric_limits<T>::min();
    return known + p[0];
  }
};

}  // namespace

TEST_CASE("as_numbers(f)(x) is f of the elements of x as doubles") {
  check_value_and_gradient<10>(eight_schools{}, {4.4, 1.5, 10.1, 7.2, -3.3, 6.1, 1.2, 2.3, 9.4, 8.5});
  check_value_and_gradient<3>(pendulum{}, {0.7, -0.2, 0.3});
  check_value_and_gradient<1>(of_known{}, {0.5});
  check_value_and_gradient<3>([](const auto& p) { return log_density(p); }, {0.1, 0.2, 0.3});
}

TEST_CASE("a residual of Ceres has the Jacobian of central differences, also without a rotation") {
  const std::array<double, 3> point{0.3, -0.4, 5};
  const std::array<double, 2> observed{11, -7};
  for (const double angle : {1.0, 0.0}) {
    const std::array<double, 9> camera{0.2 * angle, -0.1 * angle, 0.3 * angle, 0.1, 0.2, -0.3, 500, 0.01, -0.002};
    constexpr auto f = tn::as_numbers(reprojection_error{});
    const auto r = f(tensor_of(camera), tensor_of(point), tensor_of(observed));
    const auto jacobian = tn::jacobian(f)(tensor_of(camera), tensor_of(point), tensor_of(observed));
    const auto expected = reprojection_error{}(camera, point, observed);
    for (std::size_t i = 0; i < 2; ++i) CHECK(r.data()[i] == Approx(expected[i]).epsilon(1e-13));
    for (std::size_t j = 0; j < 9; ++j) {
      auto up = camera, down = camera;
      up[j] += 1e-6, down[j] -= 1e-6;
      const auto above = reprojection_error{}(up, point, observed), below = reprojection_error{}(down, point, observed);
      for (std::size_t i = 0; i < 2; ++i) {
        INFO("angle " << angle << ", residual " << i << ", parameter " << j);
        CHECK(jacobian.data()[i * 9 + j] == Approx((above[i] - below[i]) / 2e-6).epsilon(1e-6).margin(1e-5));
      }
    }
  }
}

TEST_CASE("+= gives a variable a new value and leaves its copies") {
  constexpr auto f = tn::as_numbers([](auto x) {
    auto y = x;
    y += 1;
    y *= x;
    auto z = y;
    z -= 2.0;
    z /= y;
    y = 0;
    return std::tuple{x, y, z};
  });
  const auto [x, y, z] = f(3.0);
  CHECK(x.item() == 3);
  CHECK(y.item() == 0);
  CHECK(z.item() == 10.0 / 12);
}

TEST_CASE("max and min choose as std::max and std::min do, and all of the gradient flows to the chosen number") {
  constexpr auto f = tn::as_numbers([](const auto& p) {
    using std::max;
    using std::min;
    return max(p[0], p[1]) * 2 + min(p[0], p[1]) * 3 + max(p[0], 1.0) + min(2, p[1]);
  });
  const auto check = [&](double a, double b, double da, double db) {
    const auto [value, slope] = tn::value_and_grad(f)(tensor_of(std::array{a, b}));
    CHECK(value.item() == std::max(a, b) * 2 + std::min(a, b) * 3 + std::max(a, 1.0) + std::min(2.0, b));
    CHECK(slope.data()[0] == da);
    CHECK(slope.data()[1] == db);
  };
  check(0.5, 1.5, 3, 3);
  check(3.5, 2.5, 3, 3);
  check(1.0, 1.0, 6, 1);
}

TEST_CASE("matrices are arrays of arrays, integers stay traced, tuples stay tuples, float stays float") {
  constexpr auto f = tn::as_numbers([]<class T>(const std::array<std::array<T, 3>, 2>& a, auto n, const auto& pair) {
    std::array<std::array<T, 2>, 3> transposed;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j) transposed[j][i] = a[i][j] * n;
    T trace(0.f);
    trace += std::get<0>(pair) + std::get<1>(pair)[1];
    const T tenth = T(0.1), rounded = tenth * tenth;
    return std::tuple{transposed, trace, 2.5, std::pair{std::array{n, n}, 3}, std::array{std::pair{trace, n}}, rounded};
  });
  const tn::tensor<float, tn::shape<2, 3>> a{{1, 2, 3}, {4, 5, 6}};
  const auto [t, trace, known, integers, pairs, rounded] = f(a, std::int64_t{2}, std::tuple{1.5f, tn::tensor<float, tn::shape<2>>{3, 4}});
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(t)>, tn::tensor<float, tn::shape<3, 2>>>);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(trace)>, tn::tensor<float, tn::shape<>>>);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) CHECK(t.data()[j * 2 + i] == 2 * a.data()[i * 3 + j]);
  CHECK(trace.item() == 5.5f);
  CHECK(known.item() == 2.5);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(integers.first)>, tn::tensor<std::int64_t, tn::shape<2>>>);
  CHECK(integers.first.data()[1] == 2);
  CHECK(integers.second.item() == 3);
  CHECK(pairs[0].first.item() == 5.5f);
  CHECK(pairs[0].second.item() == 2);
  CHECK(rounded.item() == 0.1f * 0.1f);
}

TEST_CASE("as_numbers(f) is a function of a trace, under vmap too") {
  constexpr auto f = tn::as_numbers([](const auto& p) { return exp(p[0]) * p[1]; });
  constexpr auto total = tn::compile([](auto rows, auto scale) { return sum(tn::vmap(tn::as_numbers([](const auto& p) { return exp(p[0]) * p[1]; }))(rows)) * scale; });
  const tn::tensor<double, tn::shape<2, 2>> rows{{0, 1}, {1, 2}};
  const auto each = tn::vmap(f)(rows);
  CHECK(each.data()[0] == 1);
  CHECK(each.data()[1] == Approx(2 * std::exp(1)).epsilon(1e-15));
  CHECK(total(rows, 3.0).item() == Approx(3 + 6 * std::exp(1)).epsilon(1e-15));
  const auto gradient = tn::grad(total)(rows, 3.0);
  CHECK(gradient.data()[3] == Approx(3 * std::exp(1)).epsilon(1e-15));
}

TEST_CASE("a number with a traced vector gives a traced vector, and a traced scalar makes a number") {
  constexpr auto f = tn::compile([](auto x) {
    tn::traced_number s = x.at(0);
    s += x.at(1) * 2;
    const tn::traced_number<float> narrow(s);
    const tn::traced_number<double> wide(narrow);
    return x * s + wide;
  });
  const auto y = f(tensor_of(std::array{1.0, 2.0, 4.0}));
  for (int i = 0; i < 3; ++i) CHECK(y.data()[i] == std::array{10, 15, 25}[static_cast<std::size_t>(i)]);
}

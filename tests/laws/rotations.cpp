// SPDX-License-Identifier: BSL-1.0
// Rotations and rigid motions: against the series of the matrix exponential, their laws, and derivatives of first and second order at 0, elsewhere and near pi.
#include "matrices.hpp"

namespace {
constexpr double pi = 3.14159265358979323846;

/// exp of an n x n matrix by its series, after halving.
template <int N>
std::array<double, N * N> exponential(const std::array<double, N * N>& a) {
  using matrix = std::array<long double, N * N>;
  const auto product = [](const matrix& x, const matrix& y) {
    matrix z{};
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        for (int k = 0; k < N; ++k) z[i * N + j] += x[i * N + k] * y[k * N + j];
    return z;
  };
  matrix half{}, sum{}, term{};
  for (int i = 0; i < N * N; ++i) half[i] = static_cast<long double>(a[i]) / 64;
  for (int i = 0; i < N; ++i) sum[i * N + i] = term[i * N + i] = 1;
  for (int n = 1; n < 24; ++n) {
    term = product(term, half);
    for (long double& t : term) t /= n;
    for (int i = 0; i < N * N; ++i) sum[i] += term[i];
  }
  for (int n = 0; n < 6; ++n) sum = product(sum, sum);
  std::array<double, N * N> to{};
  for (int i = 0; i < N * N; ++i) to[i] = static_cast<double>(sum[i]);
  return to;
}

real<3> turned(double angle) { return {angle * 0.36, angle * -0.48, angle * 0.8}; }
const double angles[] = {0, 1e-200, 1e-9, 1e-3, 0.5, 2, 3.1, 3.1415926, pi, 4, 6, 20};

/// The gradient of f, and the product of its Hessian with a vector, against differences.
template <class F, class X, class Y>
void by_differences(F f, const X& x, const Y& y) {
  const auto gradient = tn::grad<0, 1>(f);
  const auto value_of = tn::compile(f);
  constexpr double h = 1e-5;
  X dx = x * 0.5 - 0.3;
  Y dy = y * -0.25 + 0.4;
  const X x_up = x + h * dx, x_down = x - h * dx;
  const Y y_up = y + h * dy, y_down = y - h * dy;
  const auto [gx, gy] = gradient(x, y);
  const auto [first, second] = tn::jvp(gradient)(x, y, dx, dy);
  const auto [above_x, above_y] = gradient(x_up, y_up);
  const auto [below_x, below_y] = gradient(x_down, y_down);
  double along = 0;
  for (int e = 0; e < x.size(); ++e) {
    along += gx.data()[e] * dx.data()[e];
    CHECK(std::get<0>(second).data()[e] == Approx((above_x.data()[e] - below_x.data()[e]) / (2 * h)).epsilon(1e-6).margin(1e-6));
  }
  for (int e = 0; e < y.size(); ++e) {
    along += gy.data()[e] * dy.data()[e];
    CHECK(std::get<1>(second).data()[e] == Approx((above_y.data()[e] - below_y.data()[e]) / (2 * h)).epsilon(1e-6).margin(1e-6));
  }
  CHECK(along == Approx((value_of(x_up, y_up).item() - value_of(x_down, y_down).item()) / (2 * h)).epsilon(1e-8));
}
void near(double x, double y, double margin) { CHECK(std::abs(x - y) <= margin); }
}  // namespace

TEST_CASE("so3_exp, quat_exp and se3_exp are the series of the matrix exponential") {
  constexpr auto f = [](auto v, auto t) { return std::tuple{tn::so3_exp(v), tn::quat_to_matrix(tn::quat_exp(v)), tn::se3_exp(tn::concat<0>(t, v))}; };
  const real<3> t = {1, -2, 0.5};
  for (const double angle : angles) {
    CAPTURE(angle);
    const real<3> v = turned(angle);
    const auto [r, q, m] = tn::compile(f)(v, t);
    const auto wanted = exponential<3>({0, -v(2), v(1), v(2), 0, -v(0), -v(1), v(0), 0});
    const auto rigid = exponential<4>({0, -v(2), v(1), t(0), v(2), 0, -v(0), t(1), -v(1), v(0), 0, t(2), 0, 0, 0, 0});
    for (int e = 0; e < 9; ++e) {
      near(r.data()[e], wanted[e], 2e-15);
      near(q.data()[e], wanted[e], 2e-15);
    }
    for (int e = 0; e < 16; ++e) near(m.data()[e], rigid[e], 4e-15);
    judged::agree(tn::compile(f)(v, t), judged::by_reference(f, v, t));
  }
}

TEST_CASE("Law: the logarithm of the exponential is the vector, up to an angle of pi, and its derivative is the identity") {
  constexpr auto matrices = [](auto v) { return tn::so3_log(tn::so3_exp(v)); };
  constexpr auto quaternions = [](auto v) { return tn::quat_log(-3.0 * tn::quat_exp(v)); };
  constexpr auto motions = [](auto x) { return tn::se3_log(tn::se3_exp(x)); };
  for (const double angle : angles) {
    if (angle > 3.1415927) continue;
    CAPTURE(angle);
    const real<3> v = turned(angle);
    const real<6> x = {1, -2, 0.5, v(0), v(1), v(2)};
    const real<3> a = tn::compile(matrices)(v), b = tn::compile(quaternions)(v);
    const real<6> c = tn::compile(motions)(x);
    // At pi rounding decides the sign.
    const double sign_a = angle == pi && a(2) < 0 ? -1 : 1, sign_b = angle == pi && b(2) < 0 ? -1 : 1;
    for (int i = 0; i < 3; ++i) {
      near(sign_a * a(i), v(i), 2e-15);
      near(sign_b * b(i), v(i), 2e-15);
    }
    if (angle == pi) continue;
    for (int i = 0; i < 6; ++i) near(c(i), x(i), 1e-14);
    const real<3, 3> da = tn::jacobian(matrices)(v), db = tn::jacobian(quaternions)(v);
    const real<6, 6> dc = tn::jacobian(motions)(x);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        near(da(i, j), i == j, 1e-14);
        near(db(i, j), i == j, 1e-14);
      }
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) near(dc(i, j), i == j, 5e-14);
  }
}

TEST_CASE("se3_inverse is the inverse of a rigid motion and the motion of the twist turned around, also of batches; its derivatives by differences") {
  constexpr auto f = tn::compile([](auto x) {
    const auto motion = tn::se3_exp(x);
    return std::tuple{matmul(tn::se3_inverse(motion), motion), tn::se3_inverse(motion) - tn::se3_exp(-x)};
  });
  tn::tensor<double, tn::shape<2, 6>> twists{{0.3, -2, 5, 0.4, 1.2, -0.7}, {1e3, 2, -3, 0, 0, 1e-9}};
  const auto [product, difference] = f(twists);
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        CHECK(product(b, i, j) == Approx(i == j ? 1 : 0).margin(1e-12));
        CHECK(difference(b, i, j) == Approx(0).margin(1e-12));
      }
  by_differences([](auto x, auto w) { return sum(w * tn::se3_inverse(tn::se3_exp(x))); }, real<6>{0.3, -2, 5, 0.4, 1.2, -0.7}, tn::eval(tn::se3_exp(real<6>{1, 2, 3, 0.5, -0.25, 0.125})));
}

TEST_CASE("at 0 the derivatives of rotations are those of the series") {
  // The series is 1 + [v] + [v]^2 / 2: the derivatives of r(0, 1) = -z + x y / 2 and of r(0, 0) = 1 - (y y + z z) / 2.
  constexpr auto f = [](auto v) { const auto r = tn::so3_exp(v); return r(0, 1) + 10.0 * r(0, 0); };
  const real<3> zero = {0, 0, 0}, g = tn::grad(f)(zero);
  const real<3, 3> h = tn::hessian(f)(zero);
  const double slope[] = {0, 0, -1}, curvature[] = {0, 0.5, 0, 0.5, -10, 0, 0, 0, -10};
  for (int i = 0; i < 3; ++i) CHECK(g(i) == slope[i]);
  for (int i = 0; i < 9; ++i) CHECK(h.data()[i] == Approx(curvature[i]).epsilon(1e-15));
  constexpr auto logarithm = [](auto v) { return tn::sum(tn::square(tn::so3_log(tn::so3_exp(v)))); };
  const real<3, 3> twice = tn::hessian(logarithm)(zero);
  for (int i = 0; i < 9; ++i) near(twice.data()[i], i % 4 == 0 ? 2 : 0, 1e-15);
}

TEST_CASE("rotations: derivatives of first and second order by differences") {
  constexpr auto of_vectors = [](auto v, auto p) {
    return tn::sum(tn::square(tn::quat_log(tn::quat_mul(tn::quat_exp(v), p))));
  };
  by_differences(of_vectors, turned(1.25), real<4>{0.5, -1, 0.75, 0.25});
}

// SPDX-License-Identifier: BSL-1.0
// Rotations: against the exponential of matrices, which shares no code with them, and against each other.
#include "../control_flow/reference.hpp"

#include <cmath>

namespace tn = tenure;

namespace {
template <std::int64_t... E>
using real = tn::tensor<double, tn::shape<E...>>;
constexpr double pi = 3.14159265358979323846;

constexpr auto rotation = tn::compile([](auto v) { return std::tuple{tn::so3_exp(v), tn::matrix_exp(tn::skew(v))}; });
constexpr auto motion = tn::compile([](auto t) {
  const auto w = tn::skew(t.at(tn::range<3, 6>()));
  const auto v = tn::unsqueeze<1>(t.at(tn::range<0, 3>()));
  return std::tuple{tn::se3_exp(t), tn::matrix_exp(tn::vstack(tn::hstack(w, v), tn::zeros_like(tn::transpose<0, 1>(tn::vstack(v, v.at(tn::range<0, 1>(), tn::all))))))};
});
constexpr auto round_trips = tn::compile([](auto v, auto t) {
  const auto m = tn::so3_exp(v);
  const auto q = tn::quat_exp(v);
  const auto all = tn::se3_exp(t);
  return std::tuple{tn::so3_log(m), tn::quat_log(q), tn::se3_log(all), tn::quat_to_matrix(q), m};
});

template <class X, class Y>
void check_equal(const X& x, const Y& y, double tolerance) {
  REQUIRE(x.size() == y.size());
  for (std::int64_t e = 0; e < x.size(); ++e) CHECK(x.data()[e] == Approx(y.data()[e]).epsilon(tolerance).margin(tolerance));
}
real<3> along_axis(double angle) { return real<3>{angle * 2 / 7, angle * -3 / 7, angle * 6 / 7}; }

}  // namespace

TEST_CASE("so3_exp and se3_exp are exponentials of matrices") {
  for (const double angle : {0.0, 1e-200, 1e-9, 1e-3, 0.5, 0.999, 1.0, 1.001, 3.0, pi, 6.0}) {
    CAPTURE(angle);
    const real<3> v = along_axis(angle);
    const auto [found, wanted] = rotation(v);
    check_equal(found, wanted, 2e-14);
    const auto [moved, wanted_motion] = motion(real<6>{0.4, -1.2, 2.5, v(0), v(1), v(2)});
    check_equal(moved, wanted_motion, 5e-14);
  }
}

TEST_CASE("logarithms of rotations undo exponentials, from the angle 0 to pi") {
  for (const double angle : {0.0, 1e-9, 1e-3, 0.28, 0.3, 0.999, 1.001, 2.0, 3.0, 3.1415, pi - 1e-9}) {
    CAPTURE(angle);
    const real<3> v = along_axis(angle);
    const real<6> t{0.4, -1.2, 2.5, v(0), v(1), v(2)};
    const auto [of_matrix, of_quaternion, twist, matrix, wanted] = round_trips(v, t);
    check_equal(of_matrix, v, 1e-14);
    check_equal(of_quaternion, v, 1e-14);
    check_equal(twist, t, angle > 3.1 ? 1e-13 : 2e-14);
    check_equal(matrix, wanted, 1e-14);
    judged::agree(round_trips(v, t), judged::by_reference(round_trips.function, v, t), 1e-12);
  }
  // Each of the four forms of a quaternion, at pi too.
  for (const real<3>& axis : {real<3>{1, 0, 0}, real<3>{0, 1, 0}, real<3>{0, 0, 1}, real<3>{0.6, 0.8, 0}}) {
    const real<3> v = axis * pi, found = tn::so3_log(tn::so3_exp(v));
    double dot = 0;
    for (int i = 0; i < 3; ++i) dot += found(i) * v(i);
    CHECK(std::abs(dot) == Approx(pi * pi).epsilon(1e-14));
  }
}

TEST_CASE("quaternions: products are products of rotations, q and -q are one rotation") {
  const real<4> p = tn::quat_exp(real<3>{0.3, -1.2, 0.8}), q = tn::quat_exp(real<3>{-0.5, 0.4, 2.0});
  const real<3, 3> of_product = tn::quat_to_matrix(tn::quat_mul(p, q)), product = matmul(tn::eval(tn::quat_to_matrix(p)), tn::eval(tn::quat_to_matrix(q)));
  check_equal(of_product, product, 1e-14);
  const real<3> x{0.4, 1.5, -0.7}, turned = tn::quat_rotate(p, x), by_matrix = matmul(tn::eval(tn::quat_to_matrix(p)), x);
  check_equal(turned, by_matrix, 1e-14);
  const real<4> other = -1.0 * p;
  check_equal(tn::eval(tn::quat_log(other)), tn::eval(tn::quat_log(p)), 1e-14);
}

TEST_CASE("rotations of batches, float32, under vmap") {
  tn::tensor<float, tn::shape<tn::dyn, 3>> v = tn::zeros<float>(tn::shape<tn::dyn, 3>{}, 37);
  for (std::size_t i = 0; i < 111; ++i) tn::as_span(v)[i] = 0.9f - 0.17f * static_cast<float>((i * 7 + i / 5) % 12);
  constexpr auto all = [](auto v) { return std::tuple{tn::so3_log(tn::so3_exp(v)), tn::quat_rotate(tn::quat_exp(v), v * 2.0)}; };
  const auto [back, turned] = tn::compile(all)(v);
  const auto [of_each, turned_each] = tn::vmap(all)(v);
  for (std::int64_t e = 0; e < 111; ++e) {
    CHECK(back.data()[e] == Approx(v.data()[e]).margin(2e-6));
    CHECK(turned.data()[e] == Approx(2 * v.data()[e]).margin(2e-6));  // a vector along its axis stays
    CHECK(of_each.data()[e] == Approx(v.data()[e]).margin(2e-6));
  }
  judged::agree(tn::compile(all)(v), judged::by_reference(all, v), 1e-5);
}

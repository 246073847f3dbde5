// SPDX-License-Identifier: BSL-1.0
// dot, vdot, cross, kron, trace, normalize, skew, hstack, vstack, block, matrix_norm, matrix_power, norm<inf>: NumPy's numbers, their laws and derivatives.
#include "matrices.hpp"

namespace {
const real<3> u = {1, -2, 0.5}, v = {3, 0.25, -4};
const real<2, 2> a = {{1, 2}, {-3, 4}};
const real<2, 3> b = {{1, -2, 3}, {4, 5, -6}};

template <class X>
void has(const X& x, const tn::extents& shape, std::initializer_list<double> wanted) {
  REQUIRE((x.extents() == shape && x.size() == static_cast<std::int64_t>(wanted.size())));
  std::int64_t i = 0;
  for (const double w : wanted) {
    CAPTURE(i);
    CHECK(static_cast<double>(x.data()[i++]) == Approx(w).epsilon(1e-14).margin(1e-15));
  }
}
template <class F, class... X>
void is_as_reference(F f, const X&... x) { judged::agree(tn::compile(f)(x...), judged::by_reference(f, x...)); }
}  // namespace

TEST_CASE("products of vectors and matrices have the numbers of NumPy") {
  const auto [d, all, c, rows, k] = tn::compile([](auto u, auto v, auto a, auto b) { return std::tuple{dot(u, v), vdot(b, b), cross(u, v), cross(b, u), kron(a, b)}; })(u, v, a, b);
  has(d, {}, {0.5});
  has(all, {}, {91});
  has(c, {1, {3}}, {7.875, 5.5, 6.25});
  has(rows, {2, {2, 3}}, {5, 2.5, 0, -9.5, -8, -13});
  has(k, {2, {4, 6}}, {1, -2, 3, 2, -4, 6, 4, 5, -6, 8, 10, -12, -3, 6, -9, 4, -8, 12, -12, -15, 18, 16, 20, -24});
  // Integers stay integers, and element types promote.
  const tn::tensor<std::int32_t, tn::shape<3>> i = {1, 2, 3}, j = {0, -1, 2};
  const tn::tensor<std::int32_t, tn::shape<3>> of_integers = cross(i, j);
  has(of_integers, {1, {3}}, {7, -2, -1});
  CHECK((tn::tensor<std::int64_t, tn::shape<>>(vdot(i, j)).item() == 4 && tn::tensor<std::int32_t, tn::shape<>>(dot(i, j)).item() == 4));
  const real<3> mixed = cross(i, v);
  has(mixed, {1, {3}}, {-8.75, 13, -5.75});
}

TEST_CASE("functions of matrices have the numbers of NumPy") {
  const auto [t, wide, p5, p0, pm, f, one, infinite] = tn::compile([](auto a, auto b) {
    return std::tuple{trace(a), trace(b), tn::matrix_power<5>(a), tn::matrix_power<0>(a), tn::matrix_power<-2>(a), matrix_norm(b), tn::matrix_norm<1>(b), tn::matrix_norm<tn::inf>(b)};
  })(a, b);
  has(t, {}, {5});
  has(wide, {}, {6});
  has(p5, {2, {2, 2}}, {-275, -50, 75, -350});
  has(p0, {2, {2, 2}}, {1, 0, 0, 1});
  has(pm, {2, {2, 2}}, {0.1, -0.1, 0.15, -0.05});
  has(f, {}, {9.539392014169456});
  has(one, {}, {9});
  has(infinite, {}, {15});
  const auto [s, n, along, rows, largest, rows_of_two, h, w, hv, hm, vm] = tn::compile([](auto u, auto v, auto a, auto b) {
    return std::tuple{skew(u), normalize(u), normalize(b, tn::axis<0>), normalize(b), tn::norm<tn::inf>(u), tn::norm<tn::inf>(b, tn::axis<1>), hstack(u, v), vstack(u, v), hstack(a, b), hstack(a, a), vstack(b, b, b)};
  })(u, v, a, b);
  has(s, {2, {3, 3}}, {0, -0.5, -2, 0.5, 0, -1, 2, 1, 0});
  has(n, {1, {3}}, {0.4364357804719847, -0.8728715609439694, 0.21821789023599236});
  has(along, {2, {2, 3}}, {0.24253562503633297, -0.3713906763541037, 0.4472135954999579, 0.9701425001453319, 0.9284766908852593, -0.8944271909999159});
  has(rows, {2, {2, 3}}, {0.2672612419124244, -0.5345224838248488, 0.8017837257372732, 0.4558423058385518, 0.5698028822981898, -0.6837634587578276});
  has(largest, {}, {2});
  has(rows_of_two, {1, {2}}, {3, 6});
  has(h, {1, {6}}, {1, -2, 0.5, 3, 0.25, -4});
  has(w, {2, {2, 3}}, {1, -2, 0.5, 3, 0.25, -4});
  has(hv, {2, {2, 5}}, {1, 2, 1, -2, 3, -3, 4, 4, 5, -6});
  has(hm, {2, {2, 4}}, {1, 2, 1, 2, -3, 4, -3, 4});
  has(vm, {2, {6, 3}}, {1, -2, 3, 4, 5, -6, 1, -2, 3, 4, 5, -6, 1, -2, 3, 4, 5, -6});
}

TEST_CASE("block<R, C> joins matrices row by row, also of a batch") {
  const real<1, 2> p = {{7, 8}};
  const real<1, 3> q = {{9, 10, 11}};
  const real<3, 5> all = tn::block<2, 2>(a, b, p, q);
  has(all, {2, {3, 5}}, {1, 2, 1, -2, 3, -3, 4, 4, 5, -6, 7, 8, 9, 10, 11});
  const real<3, 2> column = tn::block<2, 1>(a, p);
  has(column, {2, {3, 2}}, {1, 2, -3, 4, 7, 8});
  constexpr auto weighted = [](auto x) { return tn::sum(tn::square(tn::block<1, 2>(x, x * 2.0))); };
  const real<2, 2, 2> x = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, g = tn::grad(weighted)(x);
  for (int e = 0; e < 8; ++e) CHECK(g.data()[e] == 10 * x.data()[e]);
}

TEST_CASE("Law: skew(u) v = cross(u, v), trace(a b) = trace(b a), and batches with run-time extents are the products of their samples") {
  const batch<double> x = random<double>(7, 1, 3, 1), y = random<double>(7, 1, 3, 2), m = random<double>(7, 3, 3, 3), n = random<double>(7, 3, 3, 4);
  using vectors = tn::tensor<double, tn::shape<tn::dyn, 3>>;
  vectors p(7), q(7);
  std::copy_n(x.data(), x.size(), tn::as_span(p).begin());
  std::copy_n(y.data(), y.size(), tn::as_span(q).begin());
  constexpr auto of_vectors = [](auto p, auto q) { return std::tuple{cross(p, q), tn::reshape<-1, 3>(matmul(skew(p), tn::unsqueeze<-1>(q))), normalize(p), vdot(p, q)}; };
  const auto [c, s, length, product] = tn::compile(of_vectors)(p, q);
  for (std::int64_t e = 0; e < 21; ++e) CHECK(c.data()[e] == Approx(s.data()[e]).epsilon(1e-14).margin(1e-15));
  constexpr auto of_matrices = [](auto m, auto n) {
    return std::tuple{trace(matmul(m, n)), trace(matmul(n, m)), tn::matrix_power<3>(m), tn::matrix_power<0>(m), kron(m, n), matrix_norm(m), tn::matrix_norm<1>(m), tn::matrix_norm<tn::inf>(m)};
  };
  const auto found = tn::compile(of_matrices)(m, n);
  for (std::int64_t i = 0; i < 7; ++i) {
    CHECK(std::get<0>(found).data()[i] == Approx(std::get<1>(found).data()[i]).epsilon(1e-13).margin(1e-14));
    const batch<double> alone = tn::compile([](auto m, auto n) { return kron(m, n); })(one_of(m, i), one_of(n, i));
    CHECK(same_bits(alone.data(), std::get<4>(found).data() + 81 * i, 81));
  }
  is_as_reference(of_matrices, m, n);
  is_as_reference(of_vectors, p, q);
  CHECK_THROWS_AS(tn::compile([](auto a) { return tn::matrix_power<2>(a); })(random<double>(2, 3, 4, 1)), tn::shape_error);
  CHECK_THROWS_AS(tn::compile([](auto p, auto q) { return vdot(p, q); })(p, vectors(6)), tn::shape_error);
}

TEST_CASE("products and functions of matrices: derivatives of first and second order by differences") {
  constexpr auto loss = [](auto a, auto u) {
    const auto b = matmul(a, skew(u)) + a;
    const auto all = vdot(kron(a, b), kron(b, a)) + trace(tn::matrix_power<3>(b)) + tn::sum(tn::matrix_power<-1>(b));
    return all + tn::sum(tn::sin(cross(b, u))) + tn::sum(tn::exp(normalize(b, tn::axis<0>))) + matrix_norm(b) * tn::matrix_norm<1>(b) + tn::square(tn::matrix_norm<tn::inf>(b)) + dot(u, u * u) +
           tn::sum(tn::square(tn::norm<tn::inf>(hstack(a, b), tn::axis<0>))) + tn::sum(tn::square(vstack(u, u * 2.0)));
  };
  constexpr auto gradient = tn::grad<0, 1>(loss);
  constexpr auto value_of = tn::compile(loss);
  const real<3, 3> x = {{2, 0.25, -0.5}, {0.3, -1.7, 0.4}, {0.1, -0.6, 2.3}}, dx = {{0.3, -0.2, 0.1}, {0.5, 0.4, -0.7}, {0.2, 0.6, -0.3}};
  const real<3> w = {0.3, -0.2, 0.4}, dw = {-0.5, 0.25, 1};
  constexpr double h = 1e-5;
  const real<3, 3> x_up = x + h * dx, x_down = x - h * dx;
  const real<3> w_up = w + h * dw, w_down = w - h * dw;
  const auto [gx, gw] = gradient(x, w);
  double along = 0;
  for (int e = 0; e < 9; ++e) along += gx.data()[e] * dx.data()[e];
  for (int e = 0; e < 3; ++e) along += gw.data()[e] * dw.data()[e];
  CHECK(along == Approx((value_of(x_up, w_up).item() - value_of(x_down, w_down).item()) / (2 * h)).epsilon(1e-8));
  const auto both = judged::results(tn::jvp(gradient), x, w, dx, dw);
  const auto [above_x, above_w] = gradient(x_up, w_up);
  const auto [below_x, below_w] = gradient(x_down, w_down);
  for (int e = 0; e < 9; ++e) CHECK(both[2][e] == Approx((above_x.data()[e] - below_x.data()[e]) / (2 * h)).epsilon(1e-6).margin(1e-6));
  for (int e = 0; e < 3; ++e) CHECK(both[3][e] == Approx((above_w.data()[e] - below_w.data()[e]) / (2 * h)).epsilon(1e-6).margin(1e-6));
}

TEST_CASE("extremes: no rows, zeros, large and small numbers, NaN in one sample") {
  CHECK(tn::tensor<double, tn::shape<>>(trace(real<0, 0>())).item() == 0);
  CHECK(tn::tensor<double, tn::shape<>>(dot(real<0>(), real<0>())).item() == 0);
  CHECK(real<0, 6>(kron(real<0, 2>(), b)).size() == 0);
  const real<2> zero = normalize(real<2>{0, 0});
  CHECK((zero(0) == 0 && zero(1) == 0));
  const real<2> of_zero = tn::grad([](auto x) { return tn::sum(normalize(x) * 3.0); })(real<2>{0, 0});
  CHECK((of_zero(0) == 3 && of_zero(1) == 3));
  for (const double scale : {1e-300, 1e-150, 1e150, 1e300}) {
    CAPTURE(scale);
    const real<2> n = normalize(real<2>{3 * scale, 4 * scale});
    CHECK((n(0) == Approx(0.6).epsilon(1e-14) && n(1) == Approx(0.8).epsilon(1e-14)));
    CHECK(tn::tensor<double, tn::shape<>>(matrix_norm(real<1, 2>{{3 * scale, 4 * scale}})).item() == Approx(5 * scale).epsilon(1e-14));
  }
  const real<2, 3> some = {{1, not_a_number, 2}, {3, 4, 5}};
  const real<2, 3> n = normalize(some), c = cross(some, real<3>{1, 1, 1});
  const real<2> largest = tn::norm<tn::inf>(some, tn::axis<1>);
  CHECK((std::isnan(n(0, 0)) && std::isfinite(n(1, 2)) && std::isnan(c(0, 0)) && c(1, 0) == -1 && std::isnan(largest(0)) && largest(1) == 5));
}

// SPDX-License-Identifier: BSL-1.0
// Small functions over many samples, by vmap, against C++ loops over the samples. projection_jacobian is the Jacobian, 2 x 15, of the projection
// of a point by a camera with lens distortion: by hand in reverse mode, and by dual numbers. products_3x3 is the product of two matrices. rk4_steps is a
// step of Runge and Kutta for four numbers.
#include <harness.hpp>

#include <array>
#include <cmath>
#include <vector>

#include <tenure/tenure.hpp>

namespace {

namespace tn = tenure;

// ---- a camera: rotation vector, translation, focal lengths, center, distortion; and a point --------------------------

/// The pixel of a point. For tenure's values, for double and for dual numbers.
template <class T>
std::array<T, 2> pixel(const std::array<T, 15>& p) {
  using std::cos, std::sin, std::sqrt;
  const auto& [wx, wy, wz, tx, ty, tz, fx, fy, cx, cy, k1, k2, px, py, pz] = p;
  const T square = wx * wx + wy * wy + wz * wz, angle = sqrt(square);
  const T s = sin(angle) / angle, c = (1.0 - cos(angle)) / square;
  const T ax = wy * pz - wz * py, ay = wz * px - wx * pz, az = wx * py - wy * px;
  const T bx = wy * az - wz * ay, by = wz * ax - wx * az, bz = wx * ay - wy * ax;
  const T x = px + s * ax + c * bx + tx, y = py + s * ay + c * by + ty, z = pz + s * az + c * bz + tz;
  const T u = x / z, v = y / z, r = u * u + v * v, d = 1.0 + r * (k1 + r * k2);
  return {fx * d * u + cx, fy * d * v + cy};
}

constexpr auto projection = [](auto p) {
  const auto wx = p.at(0), wy = p.at(1), wz = p.at(2), px = p.at(12), py = p.at(13), pz = p.at(14);
  const auto square = wx * wx + wy * wy + wz * wz, angle = sqrt(square);
  const auto s = sin(angle) / angle, c = (1.0 - cos(angle)) / square;
  const auto ax = wy * pz - wz * py, ay = wz * px - wx * pz, az = wx * py - wy * px;
  const auto bx = wy * az - wz * ay, by = wz * ax - wx * az, bz = wx * ay - wy * ax;
  const auto x = px + s * ax + c * bx + p.at(3), y = py + s * ay + c * by + p.at(4), z = pz + s * az + c * bz + p.at(5);
  const auto u = x / z, v = y / z, r = u * u + v * v, d = 1.0 + r * (p.at(10) + r * p.at(11));
  return tn::stack(p.at(6) * d * u + p.at(8), p.at(7) * d * v + p.at(9));
};
constexpr auto jacobians = tn::vmap(tn::jacobian(projection));

/// A number and its derivatives by all 15 parameters.
struct dual {
  double v = 0;
  std::array<double, 15> d{};

  dual() = default;
  dual(double x) : v(x) {}
  template <class F>
  static dual of(double value, F derivative) {
    dual r(value);
    for (std::size_t i = 0; i < 15; ++i) r.d[i] = derivative(i);
    return r;
  }
  friend dual operator+(const dual& a, const dual& b) { return of(a.v + b.v, [&](std::size_t i) { return a.d[i] + b.d[i]; }); }
  friend dual operator-(const dual& a, const dual& b) { return of(a.v - b.v, [&](std::size_t i) { return a.d[i] - b.d[i]; }); }
  friend dual operator*(const dual& a, const dual& b) { return of(a.v * b.v, [&](std::size_t i) { return a.d[i] * b.v + a.v * b.d[i]; }); }
  friend dual operator/(const dual& a, const dual& b) {
    const double y = a.v / b.v, over = 1 / b.v;
    return of(y, [&](std::size_t i) { return (a.d[i] - y * b.d[i]) * over; });
  }
  friend dual chained(const dual& a, double value, double slope) { return of(value, [&](std::size_t i) { return slope * a.d[i]; }); }
  friend dual sqrt(const dual& a) { const double y = std::sqrt(a.v); return chained(a, y, 0.5 / y); }
  friend dual sin(const dual& a) { return chained(a, std::sin(a.v), std::cos(a.v)); }
  friend dual cos(const dual& a) { return chained(a, std::cos(a.v), -std::sin(a.v)); }
};

/// The Jacobian of one sample: the values once, then a backward pass for each row.
void jacobian_by_hand(const double* p, double* jacobian) {
  const double wx = p[0], wy = p[1], wz = p[2], fx = p[6], fy = p[7], k1 = p[10], k2 = p[11], px = p[12], py = p[13], pz = p[14];
  const double square = wx * wx + wy * wy + wz * wz, angle = std::sqrt(square), sine = std::sin(angle), cosine = std::cos(angle);
  const double s = sine / angle, c = (1 - cosine) / square;
  const double ax = wy * pz - wz * py, ay = wz * px - wx * pz, az = wx * py - wy * px;
  const double bx = wy * az - wz * ay, by = wz * ax - wx * az, bz = wx * ay - wy * ax;
  const double x = px + s * ax + c * bx + p[3], y = py + s * ay + c * by + p[4], z = pz + s * az + c * bz + p[5], over_z = 1 / z;
  const double u = x * over_z, v = y * over_z, r = u * u + v * v, inner = k1 + r * k2, d = 1 + r * inner;
  const double s_slope = (cosine - s) / angle, c_slope = (sine - 2 * c * angle) / square, over_angle = 1 / angle;
  for (int row = 0; row < 2; ++row) {
    double* const g = jacobian + 15 * row;
    const double f = row == 0 ? fx : fy, at = row == 0 ? u : v;
    const double gd = f * at, gr = gd * (inner + r * k2);
    const double gu = 2 * u * gr + (row == 0 ? f * d : 0), gv = 2 * v * gr + (row == 1 ? f * d : 0);
    const double gx = gu * over_z, gy = gv * over_z, gz = -(gu * u + gv * v) * over_z;
    const double gbx = c * gx, gby = c * gy, gbz = c * gz;
    const double gax = s * gx + wz * gby - wy * gbz, gay = s * gy + wx * gbz - wz * gbx, gaz = s * gz + wy * gbx - wx * gby;
    const double gs = ax * gx + ay * gy + az * gz, gc = bx * gx + by * gy + bz * gz, ga = (gs * s_slope + gc * c_slope) * over_angle;
    g[0] = ga * wx + py * gaz - pz * gay + ay * gbz - az * gby;
    g[1] = ga * wy + pz * gax - px * gaz + az * gbx - ax * gbz;
    g[2] = ga * wz + px * gay - py * gax + ax * gby - ay * gbx;
    g[3] = gx, g[4] = gy, g[5] = gz;
    g[6] = row == 0 ? d * u : 0, g[7] = row == 1 ? d * v : 0, g[8] = row == 0, g[9] = row == 1;
    g[10] = gd * r, g[11] = gd * r * r;
    g[12] = gx + wz * gay - wy * gaz;
    g[13] = gy + wx * gaz - wz * gax;
    g[14] = gz + wy * gax - wx * gay;
  }
}

struct cameras {
  std::int64_t samples;
  tn::tensor<double, tn::shape<tn::dyn, 15>> parameters;
  tn::tensor<double, tn::shape<tn::dyn, 2, 15>> by_tenure, by_hand, by_duals;

  explicit cameras(std::int64_t n)
      : samples(n), parameters(tn::zeros<double>(tn::shape<tn::dyn, 15>{}, n)), by_tenure(tn::zeros<double>(tn::shape<tn::dyn, 2, 15>{}, n)),
        by_hand(by_tenure.clone()), by_duals(by_tenure.clone()) {
    bench::fill_uniform(bench::data_of(parameters), 15 * n, 0.3, 1.2, 1);
    tenure(), hand(), duals();
    bench::require_agreement("projection_jacobian", by_tenure.data(), by_hand.data(), 30 * n, 1e-12);
    bench::require_agreement("projection_jacobian by duals", by_duals.data(), by_hand.data(), 30 * n, 1e-12);
  }
  std::int64_t items() const { return samples; }
  void tenure() { jacobians.into(by_tenure)(parameters); }
  void hand() {
    const double* const from = parameters.data();
    double* const to = bench::data_of(by_hand);
    for (std::int64_t i = 0; i < samples; ++i) jacobian_by_hand(from + 15 * i, to + 30 * i);
  }
  void duals() {
    const double* const from = parameters.data();
    double* const to = bench::data_of(by_duals);
    for (std::int64_t i = 0; i < samples; ++i) {
      std::array<dual, 15> p;
      for (std::size_t k = 0; k < 15; ++k) p[k].v = from[15 * i + static_cast<std::int64_t>(k)], p[k].d[k] = 1;
      const std::array<dual, 2> y = pixel(p);
      for (std::size_t k = 0; k < 30; ++k) to[30 * i + static_cast<std::int64_t>(k)] = y[k / 15].d[k % 15];
    }
  }
};

// ---- products of matrices --------------------------------------------------------------------------------------------

constexpr auto products = tn::vmap([](auto a, auto b) { return matmul(a, b); });

struct matrices {
  std::int64_t samples;
  tn::tensor<double, tn::shape<tn::dyn, 3, 3>> a, b, by_tenure, by_hand;

  explicit matrices(std::int64_t n)
      : samples(n), a(tn::zeros<double>(tn::shape<tn::dyn, 3, 3>{}, n)), b(a.clone()), by_tenure(a.clone()), by_hand(a.clone()) {
    bench::fill_uniform(bench::data_of(a), 9 * n, -1, 1, 1);
    bench::fill_uniform(bench::data_of(b), 9 * n, -1, 1, 2);
    tenure(), hand();
    bench::require_agreement("products_3x3", by_tenure.data(), by_hand.data(), 9 * n, 1e-14);
  }
  std::int64_t items() const { return samples; }
  void tenure() { products.into(by_tenure)(a, b); }
  void hand() {
    const double *x = a.data(), *y = b.data();
    double* z = bench::data_of(by_hand);
    for (std::int64_t s = 0; s < samples; ++s, x += 9, y += 9, z += 9)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) z[3 * i + j] = x[3 * i] * y[j] + x[3 * i + 1] * y[3 + j] + x[3 * i + 2] * y[6 + j];
  }
};

// ---- a step of Runge and Kutta for two coupled pendulums: angles a and b, speeds c and d -----------------------------

template <class T>
std::array<T, 4> slope(const std::array<T, 4>& s) {
  using std::sin;
  return {s[2], s[3], sin(s[1]) - s[0], sin(s[0]) - s[1]};
}
constexpr auto slope_of = [](auto s) {
  const auto a = s.at(0), b = s.at(1);
  return tn::stack(s.at(2), s.at(3), sin(b) - a, sin(a) - b);
};
constexpr auto rk4_steps = tn::vmap<0, tn::unmapped>([](auto s, auto h) {
  const auto k1 = slope_of(s), k2 = slope_of(s + h * 0.5 * k1), k3 = slope_of(s + h * 0.5 * k2), k4 = slope_of(s + h * k3);
  return s + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
});

struct pendulums {
  std::int64_t samples;
  double h = 0.01;
  tn::tensor<double, tn::shape<tn::dyn, 4>> states, by_tenure, by_hand;

  explicit pendulums(std::int64_t n) : samples(n), states(tn::zeros<double>(tn::shape<tn::dyn, 4>{}, n)), by_tenure(states.clone()), by_hand(states.clone()) {
    bench::fill_uniform(bench::data_of(states), 4 * n, -1, 1, 1);
    tenure(), hand();
    bench::require_agreement("rk4_steps", by_tenure.data(), by_hand.data(), 4 * n, 1e-14);
  }
  std::int64_t items() const { return samples; }
  void tenure() { rk4_steps.into(by_tenure)(states, h); }
  void hand() {
    using state = std::array<double, 4>;
    const auto moved = [](const state& s, double by, const state& k) { return state{s[0] + by * k[0], s[1] + by * k[1], s[2] + by * k[2], s[3] + by * k[3]}; };
    const double* const from = states.data();
    double* const to = bench::data_of(by_hand);
    for (std::int64_t i = 0; i < 4 * samples; i += 4) {
      const state s{from[i], from[i + 1], from[i + 2], from[i + 3]};
      const state k1 = slope(s), k2 = slope(moved(s, h / 2, k1)), k3 = slope(moved(s, h / 2, k2)), k4 = slope(moved(s, h, k3));
      for (std::size_t j = 0; j < 4; ++j) to[i + static_cast<std::int64_t>(j)] = s[j] + h / 6 * (k1[j] + 2 * k2[j] + 2 * k3[j] + k4[j]);
    }
  }
};

const bool registered = [] {
  bench::keep_heap_warm();
  for (const std::int64_t n : {1000, 100000}) {
    bench::row<cameras>("projection_jacobian", "tenure", n, [](cameras& p) { p.tenure(); });
    bench::row<cameras>("projection_jacobian", "hand", n, [](cameras& p) { p.hand(); });
    bench::row<cameras>("projection_jacobian", "duals", n, [](cameras& p) { p.duals(); });
    bench::row<matrices>("products_3x3", "tenure", n, [](matrices& p) { p.tenure(); });
    bench::row<matrices>("products_3x3", "hand", n, [](matrices& p) { p.hand(); });
    bench::row<pendulums>("rk4_steps", "tenure", n, [](pendulums& p) { p.tenure(); });
    bench::row<pendulums>("rk4_steps", "hand", n, [](pendulums& p) { p.hand(); });
  }
  return true;
}();

}  // namespace

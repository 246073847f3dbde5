// SPDX-License-Identifier: BSL-1.0
// One residual block of bundle adjustment as a cost function of Ceres computes it, over memory of somebody else: the error of the pixel of a point in a camera,
// and its Jacobians by the camera (rotation vector, translation, focal length, two of distortion) and by the point. By hand it is dual numbers of 12 slopes.
#include "small.hpp"

#include <cmath>

namespace {

using namespace bench::small;

constexpr auto error = [](auto camera, auto point, auto seen) {
  const auto wx = camera(0), wy = camera(1), wz = camera(2), px = point(0), py = point(1), pz = point(2);
  const auto square = wx * wx + wy * wy + wz * wz, angle = sqrt(square);
  const auto s = sin(angle) / angle, c = (1.0 - cos(angle)) / square;
  const auto ax = wy * pz - wz * py, ay = wz * px - wx * pz, az = wx * py - wy * px;
  const auto bx = wy * az - wz * ay, by = wz * ax - wx * az, bz = wx * ay - wy * ax;
  const auto x = px + s * ax + c * bx + camera(3), y = py + s * ay + c * by + camera(4), z = pz + s * az + c * bz + camera(5);
  const auto u = x / z, v = y / z, r = u * u + v * v, d = camera(6) * (1.0 + r * (camera(7) + r * camera(8)));
  return tn::stack<0>(d * u - seen(0), d * v - seen(1));
};
constexpr auto block = tn::compile([](auto camera, auto point, auto seen) {
  const auto [by_camera, by_point] = tn::jacobian<0, 1>(error)(camera, point, seen);
  return std::tuple{error(camera, point, seen), by_camera, by_point};
});

/// A number and its slopes by all 12 parameters.
struct dual {
  Eigen::Matrix<double, 12, 1> d;
  double v;

  static dual of(double value, int i) {
    dual x{decltype(d)::Zero(), value};
    x.d(i) = 1;
    return x;
  }
  friend dual operator+(const dual& a, const dual& b) { return {a.d + b.d, a.v + b.v}; }
  friend dual operator-(const dual& a, const dual& b) { return {a.d - b.d, a.v - b.v}; }
  friend dual operator*(const dual& a, const dual& b) { return {a.v * b.d + b.v * a.d, a.v * b.v}; }
  friend dual operator/(const dual& a, const dual& b) {
    const double over = 1 / b.v, y = a.v * over;
    return {(a.d - y * b.d) * over, y};
  }
  friend dual operator+(double a, const dual& b) { return {b.d, a + b.v}; }
  friend dual operator-(double a, const dual& b) { return {-b.d, a - b.v}; }
  friend dual operator-(const dual& a, double b) { return {a.d, a.v - b}; }
  friend dual sqrt(const dual& a) {
    const double y = std::sqrt(a.v);
    return {0.5 / y * a.d, y};
  }
  friend dual sin(const dual& a) { return {std::cos(a.v) * a.d, std::sin(a.v)}; }
  friend dual cos(const dual& a) { return {-std::sin(a.v) * a.d, std::cos(a.v)}; }
};

struct residual {
  double camera[9] = {0.1, -0.2, 0.3, 0.5, -0.4, 6, 500, 0.01, -0.002}, point[3] = {0.3, -0.7, 1.1}, seen[2] = {40, -30};
  struct found {
    double error[2], by_camera[18], by_point[6];
  } ours, hand;

  explicit residual(std::int64_t) {
    const double *const parameters[] = {camera, point};
    double *const slopes[] = {ours.by_camera, ours.by_point}, *const hand_slopes[] = {hand.by_camera, hand.by_point};
    tenure(parameters, ours.error, slopes), by_hand(parameters, hand.error, hand_slopes);
    bench::require_agreement("residual", ours.error, hand.error, 2, 1e-12);
    bench::require_agreement("residual by camera", ours.by_camera, hand.by_camera, 18, 1e-12);
    bench::require_agreement("residual by point", ours.by_point, hand.by_point, 6, 1e-12);
  }
  std::int64_t items() const { return 1; }

  [[gnu::noinline]] void tenure(const double* const* parameters, double* errors, double* const* slopes) {
    auto e = tn::from<tn::shape<2>>(errors);
    auto by_camera = tn::from<tn::shape<2, 9>>(slopes[0]);
    auto by_point = tn::from<tn::shape<2, 3>>(slopes[1]);
    block.into(e, by_camera, by_point)(tn::from<tn::shape<9>>(parameters[0]), tn::from<tn::shape<3>>(parameters[1]), tn::from<tn::shape<2>>(seen));
  }
  [[gnu::noinline]] void by_hand(const double* const* parameters, double* errors, double* const* slopes) {
    dual c[9], p[3];
    for (int i = 0; i < 9; ++i) c[i] = dual::of(parameters[0][i], i);
    for (int i = 0; i < 3; ++i) p[i] = dual::of(parameters[1][i], 9 + i);
    const dual square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2], angle = sqrt(square);
    const dual s = sin(angle) / angle, k = (1.0 - cos(angle)) / square;
    const dual ax = c[1] * p[2] - c[2] * p[1], ay = c[2] * p[0] - c[0] * p[2], az = c[0] * p[1] - c[1] * p[0];
    const dual bx = c[1] * az - c[2] * ay, by = c[2] * ax - c[0] * az, bz = c[0] * ay - c[1] * ax;
    const dual x = p[0] + s * ax + k * bx + c[3], y = p[1] + s * ay + k * by + c[4], z = p[2] + s * az + k * bz + c[5];
    const dual u = x / z, v = y / z, r = u * u + v * v, d = c[6] * (1.0 + r * (c[7] + r * c[8]));
    const dual e[2] = {d * u - seen[0], d * v - seen[1]};
    for (int row = 0; row < 2; ++row) {
      errors[row] = e[row].v;
      for (int i = 0; i < 9; ++i) slopes[0][9 * row + i] = e[row].d(i);
      for (int i = 0; i < 3; ++i) slopes[1][3 * row + i] = e[row].d(9 + i);
    }
  }
};

const bool registered = [] {
  const auto parts = [](residual& p, auto run) {
    const double *const parameters[] = {p.camera, p.point};
    double *const slopes[] = {p.ours.by_camera, p.ours.by_point};
    run(parameters, slopes);
  };
  bench::row<residual>("residual", "tenure", 12, [=](residual& p) { parts(p, [&](auto parameters, auto slopes) { p.tenure(parameters, p.ours.error, slopes); }); });
  bench::row<residual>("residual", "hand", 12, [=](residual& p) { parts(p, [&](auto parameters, auto slopes) { p.by_hand(parameters, p.ours.error, slopes); }); });
  return true;
}();

}  // namespace

// SPDX-License-Identifier: BSL-1.0
// Bundle adjustment: where cameras were and where points are, from where the points appear in the pictures. It reads a file of the collection "Bundle
// Adjustment in the Large" (grail.cs.washington.edu/projects/bal), or without an argument makes one: `bundle_adjustment problem-49-7776-pre.txt`. It prints the
// cost after each step, and writes the errors before and after to bundle_adjustment.svg.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <tenure/sparse.hpp>
#include <tenure/tenure.hpp>

#include "support/plot.hpp"

namespace tn = tenure;
template <std::int64_t... E>
using table = tn::tensor<double, tn::shape<tn::dyn, E...>>;
using row_index = tn::tensor<std::int32_t, tn::shape<tn::dyn>>;

// Where a camera sees a point, minus where it was seen. A camera is an angle times an axis, a translation, a focal length and two coefficients of the lens.
constexpr auto error_of = [](auto camera, auto point, auto seen) {
  const auto place = matmul(tn::so3_exp(tn::slice<0, 0, 3>(camera)), point) + tn::slice<0, 3, 3>(camera);
  const auto p = -tn::slice<0, 0, 2>(place) / place[2];
  const auto r = sum(p * p);
  return camera[6] * (1.0 + r * (camera[7] + camera[8] * r)) * p - seen;
};

struct problem {
  table<9> cameras = tn::zeros<double>(tn::shape<tn::dyn, 9>{}, 0);
  table<3> points = tn::zeros<double>(tn::shape<tn::dyn, 3>{}, 0);
  row_index camera_of = tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, 0), point_of = tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, 0);
  table<2> seen = tn::zeros<double>(tn::shape<tn::dyn, 2>{}, 0);
};

// The format: the numbers of cameras, points and observations; each observation; the parameters of each camera; those of each point.
problem read(const std::string& path) {
  std::ifstream file(path);
  const auto next = [&]<class T>(T value) {
    if (!(file >> value)) throw std::runtime_error(path + ": a number is missing");
    return value;
  };
  const std::int64_t cameras = next(std::int64_t{}), points = next(std::int64_t{}), observations = next(std::int64_t{});
  problem p{tn::zeros<double>(tn::shape<tn::dyn, 9>{}, cameras), tn::zeros<double>(tn::shape<tn::dyn, 3>{}, points),
            tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, observations), tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, observations),
            tn::zeros<double>(tn::shape<tn::dyn, 2>{}, observations)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(observations); ++i) {
    tn::as_span(p.camera_of)[i] = next(std::int32_t{});
    tn::as_span(p.point_of)[i] = next(std::int32_t{});
    for (std::size_t k = 0; k < 2; ++k) tn::as_span(p.seen)[2 * i + k] = next(0.0);
  }
  for (double& x : tn::as_span(p.cameras)) x = next(0.0);
  for (double& x : tn::as_span(p.points)) x = next(0.0);
  return p;
}

// 16 cameras around a cloud of 1,500 points, each of which five of them see; half a pixel of noise, one wrong match in 200, and a bad first guess.
void write_problem(const std::string& path) {
  constexpr int cameras = 16, points = 1500, views = 5;
  std::mt19937 engine(7);
  const auto uniform = [&] { return (static_cast<double>(engine()) + 0.5) / 4294967296.0; };
  const auto noise = [&] { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); };
  table<9> real = tn::zeros<double>(tn::shape<tn::dyn, 9>{}, cameras);
  table<3> cloud = tn::zeros<double>(tn::shape<tn::dyn, 3>{}, points);
  for (std::size_t c = 0; c < cameras; ++c) {
    const double angle = 2 * std::numbers::pi * (static_cast<double>(c) + 0.5) / cameras - std::numbers::pi;
    const double values[9] = {0.02 * noise(), angle, 0.02 * noise(), 0.1 * noise(), 0.1 * noise(), -6 + 0.2 * noise(), 500 + 10 * noise(), -0.02, 0.001};
    std::copy(values, values + 9, &tn::as_span(real)[9 * c]);
  }
  for (double& x : tn::as_span(cloud)) x = noise();
  row_index camera_of = tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, points * views), point_of = tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, points * views);
  for (std::size_t p = 0; p < points; ++p) {
    const std::size_t first = engine() % cameras;
    for (std::size_t v = 0; v < views; ++v) {
      tn::as_span(camera_of)[p * views + v] = static_cast<std::int32_t>((first + v) % cameras);
      tn::as_span(point_of)[p * views + v] = static_cast<std::int32_t>(p);
    }
  }
  const auto project = tn::compile([](auto c, auto p, auto i, auto j, auto nowhere) { return tn::vmap(error_of)(tn::gather<0>(c, i), tn::gather<0>(p, j), nowhere); });
  const table<2> nowhere = tn::zeros<double>(tn::shape<tn::dyn, 2>{}, points * views);
  const auto seen = project(real, cloud, camera_of, point_of, nowhere);
  std::ofstream file(path);
  file.precision(17);
  file << cameras << ' ' << points << ' ' << points * views << '\n';
  for (std::int64_t i = 0; i < points * views; ++i) {
    const double wrong = engine() % 200 == 0 ? 40 * noise() : 0;
    file << camera_of(i) << ' ' << point_of(i) << ' ' << seen(i, 0) + 0.5 * noise() + wrong << ' ' << seen(i, 1) + 0.5 * noise() << '\n';
  }
  const double spread[9] = {0.01, 0.01, 0.01, 0.05, 0.05, 0.05, 5, 0, 0};
  for (std::size_t i = 0; i < 9 * cameras; ++i) file << tn::as_span(real)[i] + spread[i % 9] * noise() << '\n';
  for (const double x : tn::as_span(cloud)) file << x + 0.05 * noise() << '\n';
}

// How many observations have an error of each quarter of a pixel.
std::vector<double> histogram(const problem& p) {
  constexpr auto lengths = tn::compile([](auto c, auto q, auto i, auto j, auto seen) {
    const auto errors = tn::vmap(error_of)(tn::gather<0>(c, i), tn::gather<0>(q, j), seen);
    return sqrt(sum(errors * errors, tn::axis<1>));
  });
  std::vector<double> counts(60, 0);
  const auto all = lengths(p.cameras, p.points, p.camera_of, p.point_of, p.seen);
  for (std::int64_t i = 0; i < all.extents()[0]; ++i) ++counts[static_cast<std::size_t>(std::min(4 * all(i), 59.0))];
  return counts;
}

int main(int argc, char** argv) {
  const bool is_given = argc > 1;
  const std::string path = is_given ? argv[1] : "bundle_adjustment.txt";
  if (!is_given) write_problem(path);
  problem p = read(path);
  std::printf("%d cameras, %d points, %d observations\n", static_cast<int>(p.cameras.extents()[0]), static_cast<int>(p.points.extents()[0]), static_cast<int>(p.seen.extents()[0]));
  const std::vector<double> before = histogram(p);

  // A wrong match pulls as if it were two pixels away.
  constexpr auto report = [](const tn::optim::minimum& m) { std::printf("  step %2d: cost %.2f, gradient %.1e\n", m.iterations, m.value, m.gradient_norm); };
  const auto adjust = tn::least_squares(error_of, tn::levenberg_marquardt{.progress = report}, tn::robust::huber{.scale = 2});
  const auto start = std::chrono::steady_clock::now();
  const auto reached = adjust(tn::rows(p.cameras, p.camera_of), tn::rows(p.points, p.point_of), p.seen);
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::printf("cost %.2f after %d steps in %.0f ms\n", reached.value, reached.iterations, ms);

  const std::vector<double> after = histogram(p);
  examples::write_svg("bundle_adjustment.svg", {.title = "Errors of the observations", .x_label = "quarters of a pixel; the last: 15 pixels or more",
                                                .panels = {{"observations", {{"before", before}, {"after", after}}}}});
  double near = 0;
  for (std::size_t i = 0; i < 8; ++i) near += after[i];
  const double part = near / static_cast<double>(p.seen.extents()[0]);
  std::printf("%.1f %% of the errors are below 2 pixels\n", 100 * part);
  return reached.converged() && (is_given || part > 0.98) ? 0 : 1;
}

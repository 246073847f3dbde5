// SPDX-License-Identifier: BSL-1.0
// A charged particle flies past two charges, and w says where one of them stands. The w for which it hits the origin, by gradient descent. The name
// of a function has the mode of the derivatives of the descent and then that of the potential: f for forward, r for reverse.
#include "descent.hpp"
#include "tensors.hpp"

namespace {

using gradbench::mode;

/// The square of where the particle crosses the x axis.
template <mode Inner>
constexpr auto miss = [](auto w) {
  constexpr double dt = 0.1;
  const auto potential = [=](auto x, auto y) {
    const auto near = [](auto dx, auto dy) { return 1.0 / sqrt(dx * dx + dy * dy); };
    return near(x - 10.0, y - (10.0 - w)) + near(x - 10.0, y);
  };
  const auto is_above = [=](auto state) { return std::get<1>(state) + dt * std::get<3>(state) > 0.0; };
  const auto step = [=](auto state) {
    const auto [x, y, vx, vy] = state;
    const auto [ax, ay] = gradbench::gradient<Inner>(potential, x, y);
    return std::tuple{x + dt * vx, y + dt * vy, vx - dt * ax, vy - dt * ay};
  };
  const auto number = [=](double v) { return tn::full_like(w, v); };
  const std::tuple start{number(0), number(8), number(0.75), number(0)};
  // One step more, and from there along a line.
  const auto [x, y, vx, vy] = tn::while_loop(is_above, step, start);
  const auto below = y + dt * vy;
  return square(x + dt * vx - below / vy * vx);
};

template <mode Outer, mode Inner>
constexpr auto best = tn::compile([](auto w) { return std::get<0>(gradbench::lowest<Outer>(miss<Inner>, std::tuple{w})); });

template <mode Outer, mode Inner>
void argmin(const gradbench::input& in) {
  const double w = in.number("/w");
  gradbench::number found;
  gradbench::measure(in, [&] { gradbench::into(best<Outer, Inner>, found)(w); }, [&] { return gradbench::output_of(found); });
}

}  // namespace

int main(int argc, char** argv) {
  constexpr auto f = mode::forward, r = mode::reverse;
  return gradbench::run(argc, argv, {{"ff", argmin<f, f>}, {"fr", argmin<f, r>}, {"rf", argmin<r, f>}, {"rr", argmin<r, r>}});
}

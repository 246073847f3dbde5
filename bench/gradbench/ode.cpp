// SPDX-License-Identifier: BSL-1.0
// y0' = x0 and yi' = xi y(i-1), from 0 at time 0 to time 2, by s steps of the classical method of Runge and Kutta. The gradient is that of the last
// y.
#include "tensors.hpp"

namespace {

constexpr auto slope_of = [](auto x, auto y) {
  const auto before = tn::concat<0>(tn::ones_like(y[tn::range<0, 1>()]), y[tn::range<0, tn::end - 1>()]);
  return x * before;
};
/// `steps` has the length of each step.
constexpr auto solution = [](auto x, auto steps) {
  const auto iteration = [=](auto y, auto h) {
    const auto k1 = slope_of(x, y);
    const auto k2 = slope_of(x, y + 0.5 * h * k1);
    const auto k3 = slope_of(x, y + 0.5 * h * k2);
    const auto k4 = slope_of(x, y + h * k3);
    return std::tuple{y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), tn::nothing};
  };
  return std::get<0>(tn::scan(iteration, tn::zeros_like(x), steps));
};
constexpr auto value_of = tn::compile(solution);
/// The solution, and the gradient of the sum of its elements times those of `weights`.
constexpr auto gradient_of = tn::vjp<0>(solution);

auto steps_of(std::int64_t s) { return tn::full<double>(tn::shape<tn::dyn>{}, 2.0 / static_cast<double>(s), s); }

void primal(const gradbench::input& in) {
  const auto x = gradbench::numbers_of(in.at("/x"));
  const std::int64_t s = in.integer("/s");
  gradbench::numbers y(x.extent(0));
  gradbench::measure(in, [&] { gradbench::into(value_of, y)(x, steps_of(s)); }, [&] { return gradbench::output_of(y); });
}

void gradient(const gradbench::input& in) {
  const auto x = gradbench::numbers_of(in.at("/x"));
  const std::int64_t s = in.integer("/s");
  gradbench::numbers y(x.extent(0)), slope(x.extent(0)), last(x.extent(0));
  last.at(x.extent(0) - 1) = 1;
  gradbench::measure(in, [&] { gradbench::into(gradient_of, y, slope)(x, steps_of(s), last); }, [&] { return gradbench::output_of(slope); });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"primal", primal}, {"gradient", gradient}}); }

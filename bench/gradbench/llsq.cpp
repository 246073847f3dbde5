// SPDX-License-Identifier: BSL-1.0
// Half the sum of squares of sign(t) - x0 - x1 t - x2 t^2 - ... at n points t from -1 to 1.
#include "tensors.hpp"

namespace {

/// The polynomial with the coefficients x at all points, by Horner's rule.
constexpr auto polynomial = [](auto x, auto t) {
  const auto iteration = [=](auto sum, auto coefficient) { return std::tuple{sum * t + coefficient, tn::nothing}; };
  return std::get<0>(tn::scan(iteration, tn::zeros_like(t), x, {.reverse = true}));
};
constexpr auto misfit = [](auto x, auto t) { return 0.5 * sum(square(sign(t) - polynomial(x, t))); };
constexpr auto value_of = tn::compile(misfit);
constexpr auto gradient_of = tn::grad<0>(misfit);

auto points(std::int64_t n) { return tn::linspace<double>(tn::shape<tn::dyn>{}, -1, 1, n); }

void primal(const gradbench::input& in) {
  const auto x = gradbench::numbers_of(in.at("/x"));
  const std::int64_t n = in.integer("/n");
  gradbench::number y;
  gradbench::measure(in, [&] { gradbench::into(value_of, y)(x, points(n)); }, [&] { return gradbench::output_of(y); });
}

void gradient(const gradbench::input& in) {
  const auto x = gradbench::numbers_of(in.at("/x"));
  const std::int64_t n = in.integer("/n");
  gradbench::numbers slope(x.extent(0));
  gradbench::measure(in, [&] { gradbench::into(gradient_of, slope)(x, points(n)); }, [&] { return gradbench::output_of(slope); });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"primal", primal}, {"gradient", gradient}}); }

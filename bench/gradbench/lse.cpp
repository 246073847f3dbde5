// SPDX-License-Identifier: BSL-1.0
// log(sum(exp(x))).
#include "tensors.hpp"

namespace {

constexpr auto log_of_sum = [](auto x) { return logsumexp(x); };
constexpr auto value_of = tn::compile(log_of_sum);
constexpr auto gradient_of = tn::grad(log_of_sum);

void primal(const gradbench::input& in) {
  const auto x = gradbench::numbers_of(in.at("/x"));
  gradbench::number y;
  gradbench::measure(in, [&] { gradbench::into(value_of, y)(x); }, [&] { return gradbench::output_of(y); });
}

void gradient(const gradbench::input& in) {
  const auto x = gradbench::numbers_of(in.at("/x"));
  gradbench::numbers slope(x.extent(0));
  gradbench::measure(in, [&] { gradbench::into(gradient_of, slope)(x); }, [&] { return gradbench::output_of(slope); });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"primal", primal}, {"gradient", gradient}}); }

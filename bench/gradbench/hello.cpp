// SPDX-License-Identifier: BSL-1.0
// The square of a number, and its derivative.
#include "tensors.hpp"

namespace {

constexpr auto square_of = [](auto x) { return x * x; };

template <const auto& F>
void one_number(const gradbench::input& in) {
  const double x = in.number("");
  gradbench::number y;
  gradbench::measure(in, [&] { gradbench::into(F, y)(x); }, [&] { return gradbench::output_of(y); });
}

constexpr auto primal = tn::compile(square_of);
constexpr auto derivative = tn::grad(square_of);

}  // namespace

int main(int argc, char** argv) {
  return gradbench::run(argc, argv, {{"square", one_number<primal>}, {"double", one_number<derivative>}});
}

// SPDX-License-Identifier: BSL-1.0
// The determinant by expansion by minors, and its gradient. A set of columns is a number whose bits are the columns. The minors of the last r rows
// give those of the last r + 1 rows. So each minor is computed once, and a row is an iteration of a loop: n 2^n products, where the recursion has n!.
#include "tensors.hpp"

namespace {

/// minors[s] is the determinant of the rows so far with the columns of the set s. signs(j, s) is 0 where j is not in s, and without(j, s) is s
/// without j.
constexpr auto determinant = [](auto matrix, auto signs, auto without, auto empty) {
  const auto expand = [=](auto minors, auto row) {
    return std::tuple{sum(tn::unsqueeze<1>(row) * signs * gather<0>(minors, without), tn::axis<0>), tn::nothing};
  };
  return std::get<0>(tn::scan(expand, empty, matrix, {.reverse = true}));
};
constexpr auto minors_of = tn::compile(determinant);
constexpr auto gradient_of = tn::vjp<0>(determinant);

struct expansion {
  std::int64_t n, sets;
  gradbench::matrix a, signs;
  tn::tensor<std::int32_t, tn::shape<tn::dyn, tn::dyn>> without;
  gradbench::numbers empty, whole;  // the minor without columns is 1; the last set has all columns

  explicit expansion(const gradbench::input& in)
      : n(in.integer("/ell")), sets(std::int64_t{1} << n), a(gradbench::tensor_of<gradbench::matrix>(in.at("/A"), n, n)), signs(n, sets),
        without(n, sets), empty(sets), whole(sets) {
    empty.at(0) = whole.at(sets - 1) = 1;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t s = 0; s < sets; ++s) {
        int before = 0;
        for (std::int64_t k = 0; k < j; ++k) before += static_cast<int>(s >> k & 1);
        if (s >> j & 1) signs.at(j, s) = before % 2 == 0 ? 1 : -1, without.at(j, s) = static_cast<std::int32_t>(s - (std::int64_t{1} << j));
      }
  }
};

void primal(const gradbench::input& in) {
  const expansion e(in);
  gradbench::numbers minors(e.sets);
  const auto compute = [&] { gradbench::into(minors_of, minors)(e.a, e.signs, e.without, e.empty); };
  gradbench::measure(in, compute, [&] { return gradbench::output{{"", {{}, {minors(e.sets - 1)}, false}}}; });
}

void gradient(const gradbench::input& in) {
  const expansion e(in);
  gradbench::numbers minors(e.sets);
  gradbench::matrix slope(e.n, e.n);
  const auto compute = [&] { gradbench::into(gradient_of, minors, slope)(e.a, e.signs, e.without, e.empty, e.whole); };
  gradbench::measure(in, compute, [&] {
    gradbench::lists flat = gradbench::lists_of(slope);
    flat.extents = {e.n * e.n};
    return gradbench::output{{"", flat}};
  });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"primal", primal}, {"gradient", gradient}}); }

// SPDX-License-Identifier: BSL-1.0
// The x for which the largest value of f(x, y) over all y is smallest, and this y, by gradient descent within gradient descent. The name of a
// function has the mode of the derivatives of the outer descent and then that of the inner one: f for forward, r for reverse.
#include "descent.hpp"
#include "tensors.hpp"

namespace {

using gradbench::mode;

constexpr auto height = [](auto x1, auto x2, auto y1, auto y2) { return x1 * x1 + x2 * x2 - (y1 * y1 + y2 * y2); };

/// The highest y for an x, from a start.
template <mode Mode>
constexpr auto highest = [](auto x1, auto x2, auto s1, auto s2) {
  const auto depth = [=](auto y1, auto y2) { return -height(x1, x2, y1, y2); };
  const auto [y1, y2] = gradbench::lowest<Mode>(depth, std::tuple{s1, s2});
  return tn::stack(y1, y2);
};
/// There the slope is zero. The derivative of this y by x comes from that, and not from the iterations of the descent.
template <mode Mode>
constexpr auto level = [](auto y, auto x1, auto x2, auto, auto) {
  const auto [g1, g2] = gradbench::gradient<Mode>([=](auto y1, auto y2) { return height(x1, x2, y1, y2); }, y.at(0), y.at(1));
  return tn::stack(g1, g2);
};

template <mode Outer, mode Inner>
constexpr auto saddle = tn::compile([](auto start) {
  const auto s1 = start.at(0), s2 = start.at(1);
  const auto ridge = [=](auto x1, auto x2) {
    const auto y = tn::root(level<Inner>, highest<Inner>)(x1, x2, s1, s2);
    return height(x1, x2, y.at(0), y.at(1));
  };
  const auto [x1, x2] = gradbench::lowest<Outer>(ridge, std::tuple{s1, s2});
  const auto y = highest<Inner>(x1, x2, s1, s2);
  return tn::stack(x1, x2, y.at(0), y.at(1));
});

template <mode Outer, mode Inner>
void find(const gradbench::input& in) {
  const auto start = gradbench::tensor_of<gradbench::array<2>>(in.at("/start"));
  gradbench::array<4> found;
  gradbench::measure(in, [&] { gradbench::into(saddle<Outer, Inner>, found)(start); }, [&] { return gradbench::output_of(found); });
}

}  // namespace

int main(int argc, char** argv) {
  constexpr auto f = mode::forward, r = mode::reverse;
  return gradbench::run(argc, argv, {{"ff", find<f, f>}, {"fr", find<f, r>}, {"rf", find<r, f>}, {"rr", find<r, r>}});
}

// SPDX-License-Identifier: BSL-1.0
// An arm of seven joints: the position of its hand, the Jacobian of the position, and a damped step of inverse kinematics.
#include <tenure/tenure.hpp>

namespace {
namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

/// The frame of a joint by the parameters of Denavit and Hartenberg: its angle, and the row (distance, length, cos and sin of the twist).
constexpr auto frame = [](auto angle, auto row) {
  const auto c = cos(angle), s = sin(angle), zero = 0.0 * angle, one = zero + 1.0;
  return tn::stack<0>(tn::stack<0>(c, -s * row(2), s * row(3), row(1) * c), tn::stack<0>(s, c * row(2), -c * row(3), row(1) * s),
                      tn::stack<0>(zero, row(3) + zero, row(2) + zero, row(0) + zero), tn::stack<0>(zero, zero, zero, one));
};
constexpr auto hand = [](auto angles, auto rows) {
  auto t = frame(angles(0), rows[0]);
  const auto t1 = matmul(t, frame(angles(1), rows[1]));
  const auto t2 = matmul(t1, frame(angles(2), rows[2]));
  const auto t3 = matmul(t2, frame(angles(3), rows[3]));
  const auto t4 = matmul(t3, frame(angles(4), rows[4]));
  const auto t5 = matmul(t4, frame(angles(5), rows[5]));
  const auto t6 = matmul(t5, frame(angles(6), rows[6]));
  return tn::stack<0>(t6(0, 3), t6(1, 3), t6(2, 3), t6(0, 2), t6(1, 2), t6(2, 2));
};
constexpr auto slopes = tn::jacobian<0>(hand);
constexpr auto step = [](auto angles, auto rows, auto goal, auto damping) {
  const auto j = slopes(angles, rows);
  const auto square = matmul(j, transpose(j));
  const auto damped = square + where(tn::index_along<0>(square) == tn::index_along<1>(square), damping, 0.0);
  return angles + matmul(transpose(j), tn::solve(damped, goal - hand(angles, rows)));
};
}  // namespace

auto position(const array<7>& angles, const array<7, 4>& rows) { return tn::compile(hand)(angles, rows); }
auto jacobian(const array<7>& angles, const array<7, 4>& rows) { return slopes(angles, rows); }
auto inverse(const array<7>& angles, const array<7, 4>& rows, const array<6>& goal) { return tn::compile(step)(angles, rows, goal, 1e-3); }

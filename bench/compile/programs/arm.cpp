// SPDX-License-Identifier: BSL-1.0
// An arm of seven joints: the position of its hand, the Jacobian of the position, and a damped step of inverse kinematics.
#include "../../small/arm.hpp"

namespace {
namespace tn = tenure;
using arm_of_seven::hand;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;

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

// SPDX-License-Identifier: BSL-1.0
// The kinematics of an arm of seven joints: the position and an axis of its hand.
#pragma once

#include <tenure/tenure.hpp>

namespace arm_of_seven {

namespace tn = tenure;

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

}  // namespace arm_of_seven

// SPDX-License-Identifier: BSL-1.0
// An arm of seven joints, float64, one call at a time: the position and axis of its hand, and their Jacobian. By hand they are products of frames, and cross
// products of axes.
#include "arm.hpp"
#include "small.hpp"

#include <algorithm>
#include <cmath>

namespace {

using namespace bench::small;

constexpr auto position_of = tn::compile(arm_of_seven::hand);
constexpr auto slopes_of = tn::jacobian<0>(arm_of_seven::hand);

struct arm {
  array<7> angles;
  array<7, 4> rows;
  array<6> position;
  array<6, 7> slopes;
  struct {
    vector<7> angles;
    matrix<7, 4> rows;
    vector<6> position;
    matrix<6, 7> slopes;
  } hand;

  explicit arm(std::int64_t) {
    fill(1, angles, rows);
    for (int j = 0; j < 7; ++j) rows.at(j, 2) = std::cos(j * 0.7), rows.at(j, 3) = std::sin(j * 0.7);
    hand.angles = as<vector<7>>(angles), hand.rows = as<matrix<7, 4>>(rows);
    find_position(), find_slopes(), find_both_by_hand<true>();
    require_equal("position", position, hand.position), require_equal("slopes", slopes, hand.slopes);
  }
  std::int64_t items() const { return 1; }

  [[gnu::noinline]] void find_position() { position_of.into(position)(angles, rows); }
  [[gnu::noinline]] void find_slopes() { slopes_of.into(slopes)(angles, rows); }
  template <bool Slopes>
  [[gnu::noinline]] void find_both_by_hand() {
    using v3 = Eigen::Vector3d;
    Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
    v3 at = v3::Zero(), axis[7], origin[7];
    for (int j = 0; j < 7; ++j) {
      axis[j] = turn.col(2), origin[j] = at;
      const double c = std::cos(hand.angles(j)), s = std::sin(hand.angles(j)), cos_twist = hand.rows(j, 2), sin_twist = hand.rows(j, 3);
      Eigen::Matrix3d next;
      next << c, -s * cos_twist, s * sin_twist, s, c * cos_twist, -c * sin_twist, 0, sin_twist, cos_twist;
      at += turn * v3(hand.rows(j, 1) * c, hand.rows(j, 1) * s, hand.rows(j, 0));
      turn = (turn * next).eval();
    }
    hand.position << at, turn.col(2);
    if constexpr (Slopes)
      for (int j = 0; j < 7; ++j) {
        hand.slopes.block<3, 1>(0, j) = axis[j].cross(at - origin[j]);
        hand.slopes.block<3, 1>(3, j) = axis[j].cross(v3(turn.col(2)));
      }
  }
};

// Many arms: the positions have numbers in lanes, the Jacobians run for one arm after the other.
constexpr auto positions_of = tn::vmap<0, tn::unmapped>(arm_of_seven::hand);
constexpr auto slopes_of_all = tn::vmap<0, tn::unmapped>(slopes_of);

struct arms {
  static constexpr int count = 4096;
  arm one{0};
  array<count, 7> angles;
  array<count, 6> positions;
  array<count, 6, 7> slopes;

  explicit arms(std::int64_t) {
    fill(7, angles);
    find_positions(), find_slopes(), load(count - 1), one.find_both_by_hand<true>();
    require_equal("positions", positions[count - 1].clone(), one.hand.position), require_equal("all slopes", slopes[count - 1].clone(), one.hand.slopes);
  }
  std::int64_t items() const { return count; }

  void load(int i) {
    for (int j = 0; j < 7; ++j) one.hand.angles(j) = angles.data()[i * 7 + j];
  }
  [[gnu::noinline]] void find_positions() { positions_of.into(positions)(angles, one.rows); }
  [[gnu::noinline]] void find_slopes() { slopes_of_all.into(slopes)(angles, one.rows); }
  template <bool Slopes>
  [[gnu::noinline]] void find_all_by_hand() {
    for (int i = 0; i < count; ++i) {
      load(i), one.find_both_by_hand<Slopes>();
      std::copy_n(one.hand.position.data(), 6, bench::data_of(positions) + i * 6);
      if constexpr (Slopes) std::copy_n(one.hand.slopes.data(), 42, bench::data_of(slopes) + i * 42);
    }
  }
};

const bool registered = [] {
  bench::row<arms>("arms", "tenure", arms::count, [](arms& p) { p.find_positions(); });
  bench::row<arms>("arms", "hand", arms::count, [](arms& p) { p.find_all_by_hand<false>(); });
  bench::row<arms>("arms_jacobian", "tenure", arms::count, [](arms& p) { p.find_slopes(); });
  bench::row<arms>("arms_jacobian", "hand", arms::count, [](arms& p) { p.find_all_by_hand<true>(); });
  bench::row<arm>("arm", "tenure", 7, [](arm& p) { p.find_position(); });
  bench::row<arm>("arm", "hand", 7, [](arm& p) { p.find_both_by_hand<false>(); });
  bench::row<arm>("arm_jacobian", "tenure", 7, [](arm& p) { p.find_slopes(); });
  bench::row<arm>("arm_jacobian", "hand", 7, [](arm& p) { p.find_both_by_hand<true>(); });
  return true;
}();

}  // namespace

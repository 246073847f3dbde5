// SPDX-License-Identifier: BSL-1.0
// The functions of ht, also for bench/peers/gradbench_in_jax.py. A hand is a skeleton of 22 bones and a skin: each vertex moves with several
// bones. The skeleton is a wrist, five fingers of four bones each, and the forearm. A point corresponds to a vertex, or ("complicated") lies on a
// triangle, at two more parameters of its own.
#pragma once

#include <tenure/tenure.hpp>

namespace gradbench::ht {

namespace tn = tenure;

inline constexpr int bone_count = 22;
using bones = tn::tensor<double, tn::shape<bone_count, 4, 4>>;
template <std::int64_t... E>
using indices = tn::tensor<std::int32_t, tn::shape<E...>>;

/// The rotation about x, and then about z.
inline constexpr auto rotation_by_angles = [](auto x, auto z) {
  const auto cx = cos(x), sx = sin(x), cz = cos(z), sz = sin(z);
  return tn::stack(tn::stack(cz, -sz * cx, sz * sx), tn::stack(sz, cz * cx, -cz * sx), tn::stack(tn::zeros_like(sx), sx, cx));
};
/// The rotation about an axis by its length.
inline constexpr auto rotation_about = [](auto axis) {
  const auto square = sum(axis * axis);
  const auto turns = square >= 1e-8;
  const auto angle = sqrt(where(turns, square, 1.0));
  const auto x = axis.at(0) / angle, y = axis.at(1) / angle, z = axis.at(2) / angle, s = sin(angle), c = cos(angle), d = 1.0 - c;
  const auto entry = [=](auto value, double otherwise) { return where(turns, value, otherwise); };
  return tn::stack(tn::stack(entry(x * x * d + c, 1), entry(x * y * d - z * s, 0), entry(x * z * d + y * s, 0)),
                   tn::stack(entry(x * y * d + z * s, 0), entry(y * y * d + c, 1), entry(y * z * d - x * s, 0)),
                   tn::stack(entry(x * z * d - y * s, 0), entry(y * z * d + x * s, 0), entry(z * z * d + c, 1)));
};
/// A bone after it turned about its own joint.
inline constexpr auto turned = [](auto base, auto x, auto z) {
  const auto moved = matmul(base.at(tn::all, tn::range<0, 3>()), rotation_by_angles(x, z));
  return tn::concat<1>(moved, base.at(tn::all, tn::range<3, 4>()));
};

/// The transformations of the bones of a finger, transposed: [4 bones * 4, 3]. Its angles are two at the second bone, one at the third and
/// one at the fourth.
inline constexpr auto finger = [](auto angles, auto base, auto inverse, auto wrist) {
  const auto no_angle = tn::zeros_like(angles.at(0));
  const auto first = matmul(wrist, base[0]);
  const auto second = matmul(first, turned(base[1], angles.at(0), angles.at(1)));
  const auto third = matmul(second, turned(base[2], angles.at(2), no_angle));
  const auto fourth = matmul(third, turned(base[3], angles.at(3), no_angle));
  return tn::reshape<16, 3>(tn::permute<0, 2, 1>(matmul(tn::stack(first, second, third, fourth), inverse)));
};
inline constexpr auto fingers = tn::vmap<0, 0, 0, tn::unmapped>(finger);
/// The bones of the fingers: [5, 4, 4, 4].
inline constexpr auto of_fingers = [](auto bones) { return tn::reshape<5, 4, 4, 4>(bones[tn::range<1, 21>()]); };

/// What the parameters of the hand say.
inline constexpr auto rotation_of = [](auto theta) { return theta[tn::range<0, 3>()]; };
inline constexpr auto translation_of = [](auto theta) { return theta[tn::range<3, 6>()]; };
inline constexpr auto angles_of = [](auto theta) { return tn::reshape<5, 4>(theta[tn::range<6, 26>()]); };

inline constexpr auto wrist_of = [](auto rotation, auto base) { return matmul(rotation_about(rotation), base.at(0, tn::range<0, 3>())); };
/// The transformations of all bones, transposed, one below the other: [22 * 4, 3].
inline constexpr auto transforms = [](auto rotation, auto angles, auto model) {
  const auto [base, inverse, positions, weights] = model;
  const auto wrist = wrist_of(rotation, base);
  const auto forearm = matmul(matmul(wrist, base[bone_count - 1]), inverse[bone_count - 1]);
  const auto all_fingers = tn::reshape<80, 3>(fingers(angles, of_fingers(base), of_fingers(inverse), wrist));
  return tn::concat<0>(transpose(matmul(wrist, inverse[0])), all_fingers, transpose(forearm));
};

inline constexpr auto positions_of = [](auto model) { return std::get<2>(model); };
inline constexpr auto weights_of = [](auto model) { return std::get<3>(model); };
/// The weighted positions of vertices for each bone, whose product with the transformations are the vertices.
inline constexpr auto weighted = [](auto positions, auto weights) {
  return tn::reshape<tn::dyn, 4 * bone_count>(tn::unsqueeze<2>(weights) * tn::unsqueeze<1>(positions));
};
inline constexpr auto weighted_at = [](auto model, auto vertices) {
  return weighted(gather<0>(positions_of(model), vertices), gather<0>(weights_of(model), vertices));
};
/// The same for points on triangles: the mean of the three corners.
inline constexpr auto weighted_on = [](auto model, auto corners, auto us) {
  const auto mean = [](auto u, auto positions, auto weights) {
    const auto share = [&](auto part, int corner) { return tn::unsqueeze<1>(part * weights[corner]) * positions[corner]; };
    return tn::reshape<4 * bone_count>(share(u.at(0), 0) + share(u.at(1), 1) + share(1.0 - u.at(0) - u.at(1), 2));
  };
  return tn::vmap(mean)(us, gather<0>(positions_of(model), corners), gather<0>(weights_of(model), corners));
};

inline constexpr auto points_of = [](auto theta, auto model, auto rest) {
  return matmul(rest, transforms(rotation_of(theta), angles_of(theta), model)) + translation_of(theta);
};
/// The columns of the Jacobian of the errors of points that belong to the parameters of the hand. A point is linear in the transformations,
/// so its derivatives are products with theirs, which are small. The angles of a finger turn only the bones of this finger.
inline constexpr auto columns_of_hand = [](auto theta, auto model, auto rest) {
  const auto [base, inverse, positions, weights] = model;
  const auto rotation = rotation_of(theta);
  const auto angles = angles_of(theta);
  const auto transforms_by_rotation = tn::jacobian<0>(transforms)(rotation, angles, model);
  const auto each_finger = tn::vmap<0, 0, 0, tn::unmapped>(tn::jacobian<0>(finger));
  const auto fingers_by_angles = each_finger(angles, of_fingers(base), of_fingers(inverse), wrist_of(rotation, base));
  const auto by_rotation = tn::reshape<tn::dyn, 3, 3>(matmul(rest, -tn::reshape<4 * bone_count, 9>(transforms_by_rotation)));
  const auto by_translation = tn::zeros_like(by_rotation) - tn::jacobian<0>([](auto moved) { return moved; })(translation_of(theta));
  const auto by_finger = [&]<int F>(std::integral_constant<int, F>) {
    const auto of_finger = rest.at(tn::all, tn::range<4 + 16 * F, 20 + 16 * F>());
    return tn::reshape<tn::dyn, 3, 4>(matmul(of_finger, -tn::reshape<16, 12>(fingers_by_angles[F])));
  };
  return [&]<int... F>(std::integer_sequence<int, F...>) {
    return std::tuple{by_rotation, by_translation, by_finger(std::integral_constant<int, F>{})...};
  }(std::make_integer_sequence<int, 5>{});
};
inline constexpr auto interleaved = [](auto... columns) { return tn::concat<2>(columns...); };

/// The error of a point on a triangle.
inline constexpr auto error_on = [](auto corners, auto u, auto point) {
  return point - (u.at(0) * corners[0] + u.at(1) * corners[1] + (1.0 - u.at(0) - u.at(1)) * corners[2]);
};

inline constexpr auto simple_value = tn::compile([](auto theta, auto model, auto vertices, auto points) {
  return points - points_of(theta, model, weighted_at(model, vertices));
});
inline constexpr auto simple_jacobian = tn::compile([](auto theta, auto model, auto vertices, auto) {
  return std::apply(interleaved, columns_of_hand(theta, model, weighted_at(model, vertices)));
});
inline constexpr auto corners_of = [](auto theta, auto model, auto corners) {
  return gather<0>(points_of(theta, model, weighted(positions_of(model), weights_of(model))), corners);
};
inline constexpr auto value_of = tn::compile([](auto theta, auto us, auto model, auto corners, auto points) {
  return tn::vmap(error_on)(corners_of(theta, model, corners), us, points);
});
/// First the columns of a point's own parameters, then those of the hand.
inline constexpr auto jacobian_of = tn::compile([](auto theta, auto us, auto model, auto corners, auto points) {
  const auto by_own = tn::vmap(tn::jacobian<1>(error_on))(corners_of(theta, model, corners), us, points);
  return std::apply(interleaved, std::tuple_cat(std::tuple{by_own}, columns_of_hand(theta, model, weighted_on(model, corners, us))));
});

}  // namespace gradbench::ht

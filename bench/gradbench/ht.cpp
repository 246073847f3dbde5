// SPDX-License-Identifier: BSL-1.0
// Hand tracking: the errors of a hand, given by 26 angles and positions, at observed points, and the Jacobian. A hand is a skeleton of 22
// bones and a skin: each vertex moves with several bones. The skeleton is a wrist, five fingers of four bones each, and the forearm. A
// point corresponds to a vertex, or ("complicated") lies on a triangle, at two more parameters of its own.
#include "tensors.hpp"

namespace {

constexpr int bone_count = 22;
using bones = gradbench::array<bone_count, 4, 4>;
template <std::int64_t... E>
using indices = tn::tensor<std::int32_t, tn::shape<E...>>;

/// The rotation about x, and then about z.
constexpr auto rotation_by_angles = [](auto x, auto z) {
  const auto cx = cos(x), sx = sin(x), cz = cos(z), sz = sin(z);
  return tn::stack(tn::stack(cz, -sz * cx, sz * sx), tn::stack(sz, cz * cx, -cz * sx), tn::stack(tn::zeros_like(sx), sx, cx));
};
/// The rotation about an axis by its length.
constexpr auto rotation_about = [](auto axis) {
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
constexpr auto turned = [](auto base, auto x, auto z) {
  const auto moved = matmul(base.at(tn::all, tn::range<0, 3>()), rotation_by_angles(x, z));
  return tn::concat<1>(moved, base.at(tn::all, tn::range<3, 4>()));
};

/// The transformations of the bones of a finger, transposed: [4 bones * 4, 3]. Its angles are two at the second bone, one at the third and
/// one at the fourth.
constexpr auto finger = [](auto angles, auto base, auto inverse, auto wrist) {
  const auto no_angle = tn::zeros_like(angles.at(0));
  const auto first = matmul(wrist, base[0]);
  const auto second = matmul(first, turned(base[1], angles.at(0), angles.at(1)));
  const auto third = matmul(second, turned(base[2], angles.at(2), no_angle));
  const auto fourth = matmul(third, turned(base[3], angles.at(3), no_angle));
  return tn::reshape<16, 3>(tn::permute<0, 2, 1>(matmul(tn::stack(first, second, third, fourth), inverse)));
};
constexpr auto fingers = tn::vmap<0, 0, 0, tn::unmapped>(finger);
/// The bones of the fingers: [5, 4, 4, 4].
constexpr auto of_fingers = [](auto bones) { return tn::reshape<5, 4, 4, 4>(bones[tn::range<1, 21>()]); };

/// What the parameters of the hand say.
constexpr auto rotation_of = [](auto theta) { return theta[tn::range<0, 3>()]; };
constexpr auto translation_of = [](auto theta) { return theta[tn::range<3, 6>()]; };
constexpr auto angles_of = [](auto theta) { return tn::reshape<5, 4>(theta[tn::range<6, 26>()]); };

constexpr auto wrist_of = [](auto rotation, auto base) { return matmul(rotation_about(rotation), base.at(0, tn::range<0, 3>())); };
/// The transformations of all bones, transposed, one below the other: [22 * 4, 3].
constexpr auto transforms = [](auto rotation, auto angles, auto model) {
  const auto [base, inverse, positions, weights] = model;
  const auto wrist = wrist_of(rotation, base);
  const auto forearm = matmul(matmul(wrist, base[bone_count - 1]), inverse[bone_count - 1]);
  const auto all_fingers = tn::reshape<80, 3>(fingers(angles, of_fingers(base), of_fingers(inverse), wrist));
  return tn::concat<0>(transpose(matmul(wrist, inverse[0])), all_fingers, transpose(forearm));
};

constexpr auto positions_of = [](auto model) { return std::get<2>(model); };
constexpr auto weights_of = [](auto model) { return std::get<3>(model); };
/// The weighted positions of vertices for each bone, whose product with the transformations are the vertices.
constexpr auto weighted = [](auto positions, auto weights) {
  return tn::reshape<tn::dyn, 4 * bone_count>(tn::unsqueeze<2>(weights) * tn::unsqueeze<1>(positions));
};
constexpr auto weighted_at = [](auto model, auto vertices) {
  return weighted(gather<0>(positions_of(model), vertices), gather<0>(weights_of(model), vertices));
};
/// The same for points on triangles: the mean of the three corners.
constexpr auto weighted_on = [](auto model, auto corners, auto us) {
  const auto mean = [](auto u, auto positions, auto weights) {
    const auto share = [&](auto part, int corner) { return tn::unsqueeze<1>(part * weights[corner]) * positions[corner]; };
    return tn::reshape<4 * bone_count>(share(u.at(0), 0) + share(u.at(1), 1) + share(1.0 - u.at(0) - u.at(1), 2));
  };
  return tn::vmap(mean)(us, gather<0>(positions_of(model), corners), gather<0>(weights_of(model), corners));
};

constexpr auto points_of = [](auto theta, auto model, auto rest) {
  return matmul(rest, transforms(rotation_of(theta), angles_of(theta), model)) + translation_of(theta);
};
/// The columns of the Jacobian of the errors of points that belong to the parameters of the hand. A point is linear in the transformations,
/// so its derivatives are products with theirs, which are small. The angles of a finger turn only the bones of this finger.
constexpr auto columns_of_hand = [](auto theta, auto model, auto rest) {
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
constexpr auto interleaved = [](auto... columns) { return tn::concat<2>(columns...); };

/// The error of a point on a triangle.
constexpr auto error_on = [](auto corners, auto u, auto point) {
  return point - (u.at(0) * corners[0] + u.at(1) * corners[1] + (1.0 - u.at(0) - u.at(1)) * corners[2]);
};

constexpr auto simple_value = tn::compile([](auto theta, auto model, auto vertices, auto points) {
  return points - points_of(theta, model, weighted_at(model, vertices));
});
constexpr auto simple_jacobian = tn::compile([](auto theta, auto model, auto vertices, auto) {
  return std::apply(interleaved, columns_of_hand(theta, model, weighted_at(model, vertices)));
});
constexpr auto corners_of = [](auto theta, auto model, auto corners) {
  return gather<0>(points_of(theta, model, weighted(positions_of(model), weights_of(model))), corners);
};
constexpr auto value_of = tn::compile([](auto theta, auto us, auto model, auto corners, auto points) {
  return tn::vmap(error_on)(corners_of(theta, model, corners), us, points);
});
/// First the columns of a point's own parameters, then those of the hand.
constexpr auto jacobian_of = tn::compile([](auto theta, auto us, auto model, auto corners, auto points) {
  const auto by_own = tn::vmap(tn::jacobian<1>(error_on))(corners_of(theta, model, corners), us, points);
  return std::apply(interleaved, std::tuple_cat(std::tuple{by_own}, columns_of_hand(theta, model, weighted_on(model, corners, us))));
});

struct hand {
  gradbench::array<26> theta;
  bool is_simple;
  gradbench::array<tn::dyn, 2> us;
  std::tuple<bones, bones, gradbench::array<tn::dyn, 4>, gradbench::array<tn::dyn, bone_count>> model;
  indices<tn::dyn> vertices;    // of a point
  indices<tn::dyn, 3> corners;  // of the triangle of a point
  gradbench::array<tn::dyn, 3> points;

  explicit hand(const gradbench::input& in) : theta(gradbench::tensor_of<gradbench::array<26>>(in.at("/theta"))) {
    const auto of_model = [&](const char* name) { return in.at((std::string("/data/model/") + name).c_str()); };
    const gradbench::lists corresponding = in.at("/data/correspondences"), own = in.at("/us");
    const std::size_t n = corresponding.values.size();
    is_simple = own.values.empty();
    us = gradbench::tensor_of<decltype(us)>(is_simple ? gradbench::lists{{}, std::vector<double>(2 * n)} : own, n);
    points = gradbench::tensor_of<decltype(points)>(in.at("/data/points"), n);
    vertices = indices<tn::dyn>(n);
    corners = indices<tn::dyn, 3>(n);
    const gradbench::lists triangles = of_model("triangles");
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(corresponding.values[i]);
      if (is_simple) vertices.at(i) = static_cast<std::int32_t>(at);
      else for (std::size_t k = 0; k < 3; ++k) corners.at(i, k) = static_cast<std::int32_t>(triangles.values[3 * at + k]);
    }

    const gradbench::lists parents = of_model("parents");
    for (int i = 0; i < bone_count; ++i)
      if (parents.values.at(static_cast<std::size_t>(i)) != (i == 0 ? -1 : i % 4 == 1 ? 0 : i - 1))
        throw std::runtime_error("a skeleton other than a wrist, five fingers and the forearm is not there");

    auto& [base, inverse, positions, weights] = model;
    base = gradbench::tensor_of<bones>(of_model("base_relatives"));
    inverse = gradbench::tensor_of<bones>(of_model("inverse_base_absolutes"));
    const gradbench::lists skinned = of_model("base_positions");
    positions = gradbench::tensor_of<gradbench::array<tn::dyn, 4>>(skinned, skinned.extents[0]);
    weights = gradbench::tensor_of<gradbench::array<tn::dyn, bone_count>>(of_model("weights"), skinned.extents[0]);
    if (in.at("/data/model/is_mirrored").values[0] != 0) throw std::runtime_error("mirrored hands are not there");
  }
};

void objective(const gradbench::input& in) {
  const hand h(in);
  gradbench::array<tn::dyn, 3> e(h.points.extent(0));
  const auto compute = [&] {
    if (h.is_simple) gradbench::into(simple_value, e)(h.theta, h.model, h.vertices, h.points);
    else gradbench::into(value_of, e)(h.theta, h.us, h.model, h.corners, h.points);
  };
  gradbench::measure(in, compute, [&] {
    gradbench::lists flat = gradbench::lists_of(e);
    flat.extents = {e.size()};
    return gradbench::output{{"", flat}};
  });
}

template <std::int64_t Columns, class Compute>
void measure_jacobian(const gradbench::input& in, const hand& h, Compute compute) {
  gradbench::array<tn::dyn, 3, Columns> j(h.points.extent(0));
  gradbench::measure(in, [&] { compute(j); }, [&] {
    gradbench::lists rows = gradbench::lists_of(j);
    rows.extents = {3 * j.extent(0), Columns};
    return gradbench::output{{"", rows}};
  });
}

void jacobian(const gradbench::input& in) {
  const hand h(in);
  if (h.is_simple) measure_jacobian<26>(in, h, [&](auto& j) { gradbench::into(simple_jacobian, j)(h.theta, h.model, h.vertices, h.points); });
  else measure_jacobian<28>(in, h, [&](auto& j) { gradbench::into(jacobian_of, j)(h.theta, h.us, h.model, h.corners, h.points); });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"objective", objective}, {"jacobian", jacobian}}); }

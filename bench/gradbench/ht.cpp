// SPDX-License-Identifier: BSL-1.0
// Hand tracking: the errors of a hand, given by 26 angles and positions, at observed points, and the Jacobian. A hand is a skeleton of 22 bones and
// a skin: each vertex moves with several bones. A point corresponds to a vertex, or ("complicated") lies on a triangle, at two more parameters of
// its own.
#include "tensors.hpp"

namespace {

constexpr int bone_count = 22;
using bones = gradbench::array<bone_count, 4, 4>;
template <std::int64_t... E>
using indices = tn::tensor<std::int32_t, tn::shape<E...>>;

/// The rotation by three angles: first about x, then about y, then about z. They come in the order x, z, y.
constexpr auto rotation_by_angles = [](auto angles) {
  const auto x = angles.at(0), y = angles.at(2), z = angles.at(1);
  const auto cx = cos(x), sx = sin(x), cy = cos(y), sy = sin(y), cz = cos(z), sz = sin(z);
  return tn::stack(tn::stack(cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx),
                   tn::stack(sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx),
                   tn::stack(-sy, cy * sx, cy * cx));
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
constexpr auto turned = [](auto base, auto angles) {
  const auto moved = matmul(base.at(tn::all, tn::range<0, 3>()), rotation_by_angles(angles));
  return tn::concat<1>(moved, base.at(tn::all, tn::range<3, 4>()));
};

/// The vertices. `places` says which of the parameters are the angles of a bone; 26 stands for 0.
constexpr auto skin = [](auto theta, auto model) {
  const auto [places, parents, base, inverse, positions, weights] = model;
  const auto angles = gather<0>(tn::pad<0, 0, 1>(theta), places);
  const auto relative = tn::vmap(turned)(base, angles);
  // The transformation of a bone is that of its parent times its own. No bone is more than four bones away from the wrist, whose parent is the last
  // one.
  const auto unit = tn::full_like(base[tn::range<0, 1>()], 0.0) + where(tn::index_along<0>(base[0]) == tn::index_along<1>(base[0]), 1.0, 0.0);
  auto absolute = relative;
  for (int level = 0; level < 4; ++level) absolute = matmul(gather<0>(tn::concat<0>(absolute, unit), parents), relative);
  const auto transforms = matmul(absolute, inverse);
  // All bones at once: the transformations side by side, times the weighted positions of each vertex for each bone.
  const auto beside = tn::reshape<3, 4 * bone_count>(tn::permute<1, 0, 2>(transforms.at(tn::all, tn::range<0, 3>())));
  const auto weighted = tn::reshape<4 * bone_count, tn::dyn>(tn::unsqueeze<1>(transpose(weights)) * transpose(positions));
  return transpose(matmul(rotation_about(theta[tn::range<0, 3>()]), matmul(beside, weighted))) + theta[tn::range<3, 6>()];
};

/// The errors of points at vertices.
constexpr auto simple_errors = [](auto theta, auto model, auto vertices, auto points) { return points - gather<0>(skin(theta, model), vertices); };

/// The error of a point on a triangle.
constexpr auto error_on = [](auto corners, auto u, auto point) {
  return point - (u.at(0) * corners[0] + u.at(1) * corners[1] + (1.0 - u.at(0) - u.at(1)) * corners[2]);
};
constexpr auto errors = [](auto theta, auto us, auto model, auto corners, auto points) {
  return tn::vmap(error_on)(gather<0>(skin(theta, model), corners), us, points);
};

constexpr auto simple_value = tn::compile(simple_errors);
constexpr auto simple_jacobian = tn::jacobian<0>(simple_errors);
constexpr auto value_of = tn::compile(errors);
/// First the columns of a point's own parameters, then those of the hand.
constexpr auto jacobian_of = tn::compile([](auto theta, auto us, auto model, auto corners, auto points) {
  const auto by_own = tn::vmap(tn::jacobian<1>(error_on))(gather<0>(skin(theta, model), corners), us, points);
  return tn::concat<2>(by_own, tn::jacobian<0>(errors)(theta, us, model, corners, points));
});

struct hand {
  gradbench::array<26> theta;
  bool is_simple;
  gradbench::array<tn::dyn, 2> us;
  std::tuple<indices<bone_count, 3>, indices<bone_count>, bones, bones, gradbench::array<tn::dyn, 4>, gradbench::array<tn::dyn, bone_count>> model;
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

    auto& [places, parents, base, inverse, positions, weights] = model;
    for (auto& place : tn::as_span(places)) place = 26;
    std::int32_t next = 6;
    for (int finger = 0; finger < 5; ++finger)
      for (int joint = 0; joint < 3; ++joint) {
        const int bone = 2 + 4 * finger + joint;
        places.at(bone, 0) = next++;
        if (joint == 0) places.at(bone, 1) = next++;
      }
    const gradbench::lists given = of_model("parents");
    for (std::size_t i = 0; i < bone_count; ++i) parents.at(i) = static_cast<std::int32_t>(given.values.at(i) < 0 ? bone_count : given.values[i]);
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

// SPDX-License-Identifier: BSL-1.0
// Hand tracking: the errors of a hand, given by 26 angles and positions, at observed points, and the Jacobian.
#include "ht.hpp"
#include "tensors.hpp"

namespace {

using namespace gradbench::ht;

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

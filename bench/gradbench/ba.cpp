// SPDX-License-Identifier: BSL-1.0
// Bundle adjustment: where cameras see points, and the sparse Jacobian of the errors by cameras, points and weights, by rows.
#include "ba.hpp"
#include "tensors.hpp"

namespace {

using namespace gradbench::ba;

using places = tn::tensor<std::int32_t, tn::shape<tn::dyn>>;

struct scene {
  std::int64_t n, m, p;
  gradbench::array<tn::dyn, 11> cameras;
  gradbench::array<tn::dyn, 3> points;
  gradbench::numbers weights;
  gradbench::array<tn::dyn, 2> seen;
  places camera, point;

  /// The input has one camera, point and so on, to be repeated.
  explicit scene(const gradbench::input& in)
      : n(in.integer("/n")), m(in.integer("/m")), p(in.integer("/p")), cameras(n), points(m), weights(p), seen(p), camera(p), point(p) {
    const auto repeat = [](const gradbench::lists& from, auto& to) {
      std::size_t i = 0;
      for (double& v : tn::as_span(to)) v = from.values[i++ % from.values.size()];
    };
    repeat(in.at("/cam"), cameras);
    repeat(in.at("/x"), points);
    repeat(in.at("/w"), weights);
    repeat(in.at("/feat"), seen);
    for (std::int64_t i = 0; i < p; ++i) camera.at(i) = static_cast<std::int32_t>(i % n), point.at(i) = static_cast<std::int32_t>(i % m);
  }
};

void objective(const gradbench::input& in) {
  const scene s(in);
  gradbench::array<tn::dyn, 2> errors(s.p);
  gradbench::numbers of_weights(s.p);
  const auto compute = [&] { gradbench::into(errors_of, errors, of_weights)(s.cameras, s.points, s.weights, s.seen, s.camera, s.point); };
  gradbench::measure(in, compute, [&] {  // the first of the repeated elements
    return gradbench::output{{"/reproj_error/elements", {{2}, {errors(0, 0), errors(0, 1)}, false}},
                             {"/reproj_error/repeated", {{}, {static_cast<double>(s.p)}, true}},
                             {"/w_err/element", {{}, {of_weights(0)}, false}},
                             {"/w_err/repeated", {{}, {static_cast<double>(s.p)}, true}}};
  });
}

/// A sparse matrix, row by row: row i has the elements rows[i] to rows[i + 1].
struct sparse {
  std::vector<int> rows, columns;
  gradbench::array<tn::dyn, 2, 15> blocks;
  gradbench::numbers of_weights;

  explicit sparse(std::int64_t p) : blocks(p), of_weights(p) {}

  void place(const scene& s) {
    const auto p = static_cast<std::size_t>(s.p);
    rows.resize(3 * p + 1);
    columns.resize(31 * p);
    for (std::size_t i = 0; i <= 2 * p; ++i) rows[i] = static_cast<int>(15 * i);
    for (std::size_t i = 1; i <= p; ++i) rows[2 * p + i] = static_cast<int>(30 * p + i);
    const int points = static_cast<int>(11 * s.n), weights = points + static_cast<int>(3 * s.m);
    const auto camera = tn::as_span(s.camera), point = tn::as_span(s.point);
    for (std::size_t i = 0; i < p; ++i) {
      int* const to = columns.data() + 30 * i;
      for (int row = 0; row < 2; ++row) {
        for (int k = 0; k < 11; ++k) to[15 * row + k] = 11 * camera[i] + k;
        for (int k = 0; k < 3; ++k) to[15 * row + 11 + k] = points + 3 * point[i] + k;
        to[15 * row + 14] = weights + static_cast<int>(i);
      }
      columns[30 * p + i] = weights + static_cast<int>(i);
    }
  }
};

void jacobian(const gradbench::input& in) {
  const scene s(in);
  sparse j(s.p);
  const auto compute = [&] {
    gradbench::into(blocks_of, j.blocks, j.of_weights)(s.cameras, s.points, s.weights, s.seen, s.camera, s.point);
    j.place(s);
  };
  gradbench::measure(in, compute, [&] {  // the first 30 elements, and the last
    const auto ends = [](const std::vector<int>& from) {
      gradbench::lists made{{31}, {from.begin(), from.begin() + 30}, true};
      made.values.push_back(from.back());
      return made;
    };
    const auto blocks = tn::as_span(j.blocks);
    gradbench::lists values{{31}, {blocks.begin(), blocks.begin() + 30}};
    values.values.push_back(j.of_weights(s.p - 1));
    return gradbench::output{{"/rows", ends(j.rows)}, {"/cols", ends(j.columns)}, {"/vals", values}};
  });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"objective", objective}, {"jacobian", jacobian}}); }

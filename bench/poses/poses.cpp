// SPDX-License-Identifier: BSL-1.0
// The pose graph by least_squares. A pose is a rotation vector and a place; the error of a rotation is twice the vector of its quaternion, as in Ceres' example.
// A step is added to the rotation vector, whose derivative is singular at a whole turn only.
#include "problem.hpp"

#include <algorithm>
#include <tenure/sparse.hpp>
#include <tenure/tenure.hpp>

#include <benchmark/benchmark.h>

namespace {

namespace tn = tenure;
using namespace bench::poses;
template <std::int64_t... E>
using table = tn::tensor<double, tn::shape<tn::dyn, E...>>;
using row_index = tn::tensor<std::int32_t, tn::shape<tn::dyn>>;

/// The error of the measured motion (w, x, y, z, place) from pose a to pose b.
constexpr auto error_of = [](auto a, auto b, auto seen) {
  const auto turn_of_a = tn::quat_exp(-tn::slice<0, 0, 3>(a)), turn_of_b = tn::quat_exp(tn::slice<0, 0, 3>(b));
  const auto turn = tn::quat_mul(turn_of_a, turn_of_b);
  const auto place = tn::quat_rotate(turn_of_a, tn::slice<0, 3, 3>(b) - tn::slice<0, 3, 3>(a));
  const auto apart = tn::quat_mul(tn::slice<0, 0, 4>(seen), turn * tn::tensor<double, tn::shape<4>>{1, -1, -1, -1});
  return tn::concat<0>(2.0 * turn_weight * tn::slice<0, 1, 3>(apart), place_weight * (place - tn::slice<0, 4, 3>(seen)));
};

struct tables {
  table<6> poses = tn::zeros<double>(tn::shape<tn::dyn, 6>{}, static_cast<std::int64_t>(given().guess.size()));
  table<7> seen = tn::zeros<double>(tn::shape<tn::dyn, 7>{}, static_cast<std::int64_t>(given().seen.size()));
  row_index from = tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, static_cast<std::int64_t>(given().seen.size())), to = from.clone();

  tables() {
    std::copy(given().from.begin(), given().from.end(), tn::as_span(from).begin());
    std::copy(given().to.begin(), given().to.end(), tn::as_span(to).begin());
    double* at = tn::as_span(seen).data();
    for (const pose& m : given().seen) at = std::copy(m.place.begin(), m.place.end(), std::copy(m.turn.begin(), m.turn.end(), at));
    begin();
  }
  void begin() {
    double* at = tn::as_span(poses).data();
    for (const pose& p : given().guess) {
      const three v = vector_of(p.turn);
      at = std::copy(p.place.begin(), p.place.end(), std::copy(v.begin(), v.end(), at));
    }
  }
};

void solution(benchmark::State& state) {
  tables t;
  const auto adjust = tn::least_squares(error_of, tn::levenberg_marquardt{});
  for (auto _ : state) {
    state.PauseTiming();
    t.begin();
    state.ResumeTiming();
    const auto reached = adjust(tn::rows(t.poses, t.from), tn::rows(t.poses, t.to), t.seen);
    state.counters["cost"] = reached.value;
    state.counters["steps"] = reached.iterations;
    if (!reached.converged()) state.SkipWithError("it did not converge");
    require_cost(reached.value);
  }
}
BENCHMARK(solution)->Name("pose_graph/tenure/2500")->Unit(benchmark::kMillisecond);

}  // namespace

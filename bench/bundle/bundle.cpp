// SPDX-License-Identifier: BSL-1.0
// Bundle adjustment of 30,000 observations on one thread, beside Ceres: the Jacobian of all observations, and the whole solution from the same start to the same
// stopping rules. Both take three steps.
#include <benchmark/benchmark.h>

#include <tenure/sparse.hpp>

#include "problem.hpp"

namespace {

namespace tn = tenure;
using namespace bench::bundle;
template <std::int64_t... E>
using table = tn::tensor<double, tn::shape<tn::dyn, E...>>;
using row_index = tn::tensor<std::int32_t, tn::shape<tn::dyn>>;

constexpr auto error_of = [](auto camera, auto point, auto seen) {
  const auto place = matmul(tn::so3_exp(tn::slice<0, 0, 3>(camera)), point) + tn::slice<0, 3, 3>(camera);
  const auto p = -tn::slice<0, 0, 2>(place) / place[2];
  const auto r = sum(p * p);
  return camera[6] * (1.0 + r * (camera[7] + camera[8] * r)) * p - seen;
};
constexpr auto jacobians = tn::compile([](auto cameras, auto points, auto camera_of, auto point_of, auto seen) {
  return tn::vmap(tn::jacobian<0, 1>(error_of))(tn::gather<0>(cameras, camera_of), tn::gather<0>(points, point_of), seen);
});

struct tables {
  table<9> cameras;
  table<3> points;
  table<2> seen;
  row_index camera_of, point_of;

  tables()
      : cameras(tn::zeros<double>(tn::shape<tn::dyn, 9>{}, given().cameras)), points(tn::zeros<double>(tn::shape<tn::dyn, 3>{}, given().points)),
        seen(tn::zeros<double>(tn::shape<tn::dyn, 2>{}, static_cast<std::int64_t>(given().observations()))),
        camera_of(tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, static_cast<std::int64_t>(given().observations()))),
        point_of(tn::zeros<std::int32_t>(tn::shape<tn::dyn>{}, static_cast<std::int64_t>(given().observations()))) {
    std::copy(given().seen.begin(), given().seen.end(), tn::as_span(seen).begin());
    std::copy(given().camera_of.begin(), given().camera_of.end(), tn::as_span(camera_of).begin());
    std::copy(given().point_of.begin(), given().point_of.end(), tn::as_span(point_of).begin());
    begin();
  }
  void begin() {
    std::copy(given().camera.begin(), given().camera.end(), tn::as_span(cameras).begin());
    std::copy(given().point.begin(), given().point.end(), tn::as_span(points).begin());
  }
};

void jacobian(benchmark::State& state) {
  const tables t;
  auto found = jacobians(t.cameras, t.points, t.camera_of, t.point_of, t.seen);
  for (auto _ : state) {
    std::apply([&](auto&... to) { jacobians.into(to...)(t.cameras, t.points, t.camera_of, t.point_of, t.seen); }, found);
    benchmark::ClobberMemory();
  }
}
void solution(benchmark::State& state) {
  tables t;
  const auto adjust = tn::least_squares(error_of, tn::levenberg_marquardt{});
  for (auto _ : state) {
    state.PauseTiming();
    t.begin();
    state.ResumeTiming();
    const auto reached = adjust(tn::rows(t.cameras, t.camera_of), tn::rows(t.points, t.point_of), t.seen);
    state.counters["cost"] = reached.value;
    if (!reached.converged()) state.SkipWithError("it did not converge");
  }
}
BENCHMARK(jacobian)->Name("bundle_jacobian/tenure/30000")->Unit(benchmark::kMillisecond);
BENCHMARK(solution)->Name("bundle_solution/tenure/30000")->Unit(benchmark::kMillisecond);

}  // namespace

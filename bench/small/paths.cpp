// SPDX-License-Identifier: BSL-1.0
// The means of prices along random paths, float64: vmap of a scan over the steps of one path, with the steps along axis 0 or along the last axis of the random
// numbers. Beside it is the same scan written with vectors of all paths, and by hand a loop over packets of paths.
#include "small.hpp"

#include <vector>

namespace {

using namespace bench::small;

constexpr std::int64_t paths = 4096, steps = 64;

/// The mean of the prices along a path: a price that moves by a step of a variance that moves too.
constexpr auto mean_of_path = [](auto price, auto variance, auto normals) {
  const auto step = [](auto state, auto normal) {
    const auto [price, variance, total] = state;
    const auto moved = price * exp(sqrt(variance) * 0.125 * normal - variance * 0.0078125);
    return std::tuple{std::tuple{moved, variance + 0.03 * (0.04 - variance), total + moved}, tn::nothing};
  };
  return std::get<2>(std::get<0>(tn::scan(step, std::tuple{price, variance, 0.0 * price}, normals))) * (1.0 / steps);
};
constexpr auto by_columns = tn::compile(tn::vmap<0, 0, -1>(mean_of_path));
constexpr auto by_rows = tn::compile(tn::vmap<0, 0, 0>(mean_of_path));
constexpr auto by_vectors = tn::compile(mean_of_path);

struct market {
  array<paths> prices, variances, means;
  array<steps, paths> normals;
  array<paths, steps> turned;
  std::vector<double> hand;

  explicit market(std::int64_t) : hand(paths) {
    fill(1, normals);
    turned = normals.transpose();
    bench::fill_uniform(bench::data_of(prices), paths, 0.9, 1.1, 2), bench::fill_uniform(bench::data_of(variances), paths, 0.02, 0.06, 3);
    by_hand();
    const auto same = [&] { bench::require_agreement("paths", means.data(), hand.data(), paths, 1e-12); };
    columns(), same(), rows(), same(), vectors(), same();
  }
  std::int64_t items() const { return paths * steps; }

  void columns() { by_columns.into(means)(prices, variances, normals); }
  void rows() { by_rows.into(means)(prices, variances, turned); }
  void vectors() { by_vectors.into(means)(prices, variances, normals); }
  [[gnu::noinline]] void by_hand() {
    namespace m = tn::math;
    using packet = m::packet_of<double>;
    using some = m::lanes<packet>;
    constexpr int lanes = m::width<packet>, ways = 4;
    const double *const price_at = prices.data(), *const variance_at = variances.data(), *const normal_at = normals.data();
    for (std::int64_t i = 0; i < paths; i += ways * lanes) {
      some price[ways], variance[ways], total[ways];
      for (int j = 0; j < ways; ++j)
        price[j] = m::load<packet>(price_at + i + j * lanes), variance[j] = m::load<packet>(variance_at + i + j * lanes), total[j] = some(0);
      for (std::int64_t t = 0; t < steps; ++t)
        for (int j = 0; j < ways; ++j) {
          const some normal = m::load<packet>(normal_at + t * paths + i + j * lanes);
          price[j] = price[j] * some(m::exp((sqrt(variance[j]) * some(0.125) * normal - variance[j] * some(0.0078125)).value));
          variance[j] = variance[j] + some(0.03) * (some(0.04) - variance[j]);
          total[j] = total[j] + price[j];
        }
      for (int j = 0; j < ways; ++j) m::store<packet>(hand.data() + i + j * lanes, (total[j] * some(1.0 / steps)).value);
    }
  }
};

const bool registered = [] {
  bench::row<market>("paths", "tenure", steps, [](market& p) { p.columns(); });
  bench::row<market>("paths", "hand", steps, [](market& p) { p.by_hand(); });
  bench::row<market>("paths", "vectors", steps, [](market& p) { p.vectors(); });
  bench::row<market>("paths_by_rows", "tenure", steps, [](market& p) { p.rows(); });
  bench::row<market>("paths_by_rows", "hand", steps, [](market& p) { p.by_hand(); });
  return true;
}();

}  // namespace

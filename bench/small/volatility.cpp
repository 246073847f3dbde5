// SPDX-License-Identifier: BSL-1.0
// The implied volatilities of 10^4 prices of call options, float64: Newton's iteration for each price, by vmap(root(...)). By hand it is tiles of 8 prices, each
// with iterations of its own, with the vector math of this library.
#include "small.hpp"

#include <cmath>
#include <tuple>
#include <vector>

namespace {

using namespace bench::small;

/// The price of a call for the strike, with the spot price 1, and its slope by the volatility. The time is 1, without interest.
constexpr auto price = [](auto volatility, auto strike) {
  const auto d = (0.5 * square(volatility) - log(strike)) / volatility;
  return 0.5 * erfc(-0.7071067811865476 * d) - 0.5 * strike * erfc(0.7071067811865476 * (volatility - d));
};
/// The state has what is missed, so that an iteration computes one price.
constexpr auto newton = [](auto wanted, auto strike) {
  const auto goes_on = [](auto state) { return abs(std::get<1>(state)) > 1e-12; };
  const auto next = [=](auto state) {
    const auto [volatility, missed] = state;
    const auto d = (0.5 * square(volatility) - log(strike)) / volatility;
    const auto moved = volatility - missed / (0.3989422804014327 * exp(-0.5 * square(d)));
    return std::tuple{moved, price(moved, strike) - wanted};
  };
  const auto first = sqrt(2.0 * abs(log(strike))) + 0.05;  // near the steepest price: no iteration goes too far
  return std::get<0>(tn::while_loop(goes_on, next, std::tuple{first, price(first, strike) - wanted}));
};
constexpr auto volatilities = tn::compile(tn::vmap(tn::root([](auto volatility, auto wanted, auto strike) { return price(volatility, strike) - wanted; }, newton)));

constexpr std::int64_t options = 10000, tile = 8;

struct market {
  array<options> prices, strikes, found;
  std::vector<double> hand;

  explicit market(std::int64_t) : hand(options) {
    double *const p = bench::data_of(prices), *const k = bench::data_of(strikes);
    for (std::int64_t i = 0; i < options; ++i) {
      const double volatility = 0.1 + 0.5 * static_cast<double>(i * 7919 % options) / options;
      k[i] = 0.6 + 0.8 * static_cast<double>(i * 104729 % options) / options;
      const double d = (0.5 * volatility * volatility - std::log(k[i])) / volatility;
      p[i] = 0.5 * std::erfc(-d / std::sqrt(2.0)) - k[i] * 0.5 * std::erfc((volatility - d) / std::sqrt(2.0));
    }
    tenure(), by_hand();
    bench::require_agreement("volatility", found.data(), hand.data(), options, 1e-7);
  }
  std::int64_t items() const { return options; }

  void tenure() { volatilities.into(found)(prices, strikes); }
  [[gnu::noinline]] void by_hand() {
    namespace m = tn::math;
    using packet = m::packet_of<double>;
    using some = m::lanes<packet>;
    constexpr int lanes = m::width<packet>, packets = tile / lanes;
    const double *const prices_at = prices.data(), *const strikes_at = strikes.data();
    const some half(0.5), one_over_root(0.7071067811865476), over_root(0.3989422804014327), small(1e-12);
    for (std::int64_t i = 0; i < options; i += tile) {
      some wanted[packets], strike[packets], logarithm[packets], x[packets];
      for (int j = 0; j < packets; ++j) {
        wanted[j] = m::load<packet>(prices_at + i + j * lanes), strike[j] = m::load<packet>(strikes_at + i + j * lanes), logarithm[j] = m::log(strike[j].value);
        x[j] = sqrt(some(2) * abs(logarithm[j])) + some(0.05);
      }
      for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (int j = 0; j < packets; ++j) {
          const some d = (half * x[j] * x[j] - logarithm[j]) / x[j];
          const some stock = half * some(m::erfc((some(0) - one_over_root * d).value)), bond = half * strike[j] * some(m::erfc((one_over_root * (x[j] - d)).value));
          const some missed = stock - bond - wanted[j];
          const auto is_open = abs(missed) > small;
          if (!any(is_open)) continue;
          goes_on = true;
          x[j] = choose(is_open, x[j] - missed / (over_root * some(m::exp((some(0) - half * d * d).value))), x[j]);
        }
      }
      for (int j = 0; j < packets; ++j) m::store<packet>(hand.data() + i + j * lanes, x[j].value);
    }
  }
};

const bool registered = [] {
  bench::row<market>("volatility", "tenure", options, [](market& p) { p.tenure(); });
  bench::row<market>("volatility", "hand", options, [](market& p) { p.by_hand(); });
  return true;
}();

}  // namespace

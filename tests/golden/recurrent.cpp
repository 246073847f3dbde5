// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_recurrent.hpp"

using namespace golden;

namespace {

/// One step of an LSTM of three units: the new state and the new cell.
template <class X, class H, class... W>
constexpr std::tuple<H, H> lstm(const X& x, const H& h, const H& c, const W&... w) {
  const auto gates = [&](const auto& wi, const auto& wh, const auto& bi, const auto& bh) {
    return linear(x, wi, bi) + linear(h, wh, bh);
  }(w...);
  const auto input = sigmoid(slice<-1, 0, 3>(gates)), forget = sigmoid(slice<-1, 3, 3>(gates));
  const auto cell = forget * c + input * tanh(slice<-1, 6, 3>(gates));
  return {sigmoid(slice<-1, 9, 3>(gates)) * tanh(cell), cell};
}

}  // namespace

TEST_CASE("golden: recurrent cells") {
  check<p_lstm_cell, second_order::both>([](auto x, auto h, auto c, auto wi, auto wh, auto bi, auto bh) {
    const auto [hidden, cell] = lstm(x, h, c, wi, wh, bi, bh);
    return concat<-1>(hidden, cell);
  });
  check<p_gru_cell, second_order::both>([](auto x, auto h, auto wi, auto wh, auto bi, auto bh) {
    const auto input = linear(x, wi, bi), state = linear(h, wh, bh);
    const auto r = sigmoid(slice<-1, 0, 3>(input) + slice<-1, 0, 3>(state));
    const auto z = sigmoid(slice<-1, 3, 3>(input) + slice<-1, 3, 3>(state));
    const auto n = tanh(slice<-1, 6, 3>(input) + r * slice<-1, 6, 3>(state));
    return (1.0 - z) * n + z * h;
  });
}

TEST_CASE("golden: recurrence over time") {
  check<p_rnn>([](auto x, auto h, auto wx, auto wh, auto b) {
    const auto step = [&](const auto& now) { h = tanh(matmul(now, wx) + matmul(h, wh) + b); };
    step(select<0, 0>(x)), step(select<0, 1>(x)), step(select<0, 2>(x)), step(select<0, 3>(x));
    return h;
  });
  check<p_lstm>([](auto x, auto h, auto c, auto wi, auto wh, auto bi, auto bh) {
    const auto step = [&](const auto& now) {
      std::tie(h, c) = lstm(now, h, c, wi, wh, bi, bh);
      return h;
    };
    const auto first = step(select<0, 0>(x)), second = step(select<0, 1>(x)), third = step(select<0, 2>(x));
    return stack(first, second, third);
  });
}

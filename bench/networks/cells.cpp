// SPDX-License-Identifier: BSL-1.0
// Cells of audio models, one sample in a call, float32: GRU and LSTM with one input and so many states. Weights and gates stand as in PyTorch, (gates, in), or
// the weights are transposed. By hand it is Eigen with fixed sizes.
#include <small/small.hpp>

namespace {

using namespace bench::small;

/// x w^T + b of weights as PyTorch stores them, and of transposed ones.
struct as_stored {
  template <class X, class W, class B>
  constexpr auto operator()(const X& x, const W& w, const B& b) const { return linear(x, w, b); }
};
struct transposed {
  template <class X, class W, class B>
  constexpr auto operator()(const X& x, const W& w, const B& b) const { return matmul(x, w) + b; }
};

/// The state after one sample x [1]. The gates: reset, update, new.
template <int N, class Layer>
constexpr auto gru = tn::compile([](auto x, auto h, auto wx, auto wh, auto bx, auto bh) {
  const auto [xr, xz, xn] = split<0, N>(Layer{}(x, wx, bx));
  const auto [hr, hz, hn] = split<0, N>(Layer{}(h, wh, bh));
  const auto z = sigmoid(xz + hz), n = tanh(xn + sigmoid(xr + hr) * hn);
  return n + z * (h - n);
});
/// The state and the cell after one sample x [1]. The gates: input, forget, cell, output.
template <int N, class Layer>
constexpr auto lstm = tn::compile([](auto x, auto h, auto c, auto wx, auto wh, auto bx, auto bh) {
  const auto [in, forget, cell, out] = split<0, N>(Layer{}(x, wx, bx) + Layer{}(h, wh, bh));
  const auto next = sigmoid(forget) * c + sigmoid(in) * tanh(cell);
  return std::tuple{sigmoid(out) * tanh(next), next};
});

template <int N, int Gates>
struct cell {
  static constexpr int gates = Gates * N;
  template <std::int64_t... E>
  using floats = tn::tensor<float, tn::shape<E...>>;
  template <int R, int C>
  using fixed = Eigen::Matrix<float, R, C, (C == 1 ? Eigen::ColMajor : Eigen::RowMajor)>;

  floats<1> x;
  floats<N> h, c, next_h, next_c;
  floats<gates, 1> wx;
  floats<gates, N> wh;
  floats<1, gates> turned_wx;
  floats<N, gates> turned_wh;
  floats<gates> bx, bh;
  struct {
    float x;
    fixed<N, 1> h, c, next_h, next_c;
    fixed<gates, 1> wx, bx, bh;
    fixed<gates, N> wh;
    Eigen::Matrix<float, gates, N> turned_wh;  // by columns
  } hand;

  explicit cell(std::int64_t) {
    fill(1, x, h, c, wx, wh, bx, bh);
    turned_wx = wx.transpose(), turned_wh = wh.transpose();
    hand.x = x.data()[0], hand.h = as<fixed<N, 1>>(h), hand.c = as<fixed<N, 1>>(c);
    hand.wx = as<fixed<gates, 1>>(wx), hand.wh = as<fixed<gates, N>>(wh), hand.turned_wh = hand.wh, hand.bx = as<fixed<gates, 1>>(bx), hand.bh = as<fixed<gates, 1>>(bh);
    const auto same = [&] {
      bench::require_agreement("cell", next_h.data(), hand.next_h.data(), N, 1e-5);
      if (Gates == 4) bench::require_agreement("cell", next_c.data(), hand.next_c.data(), N, 1e-5);
    };
    by_hand(hand.wh), step(), same();
    by_hand(hand.turned_wh), step_transposed(), same();
  }
  std::int64_t items() const { return 1; }

  [[gnu::noinline]] void step() {
    if constexpr (Gates == 3) gru<N, as_stored>.into(next_h)(x, h, wx, wh, bx, bh);
    else lstm<N, as_stored>.into(next_h, next_c)(x, h, c, wx, wh, bx, bh);
  }
  [[gnu::noinline]] void step_transposed() {
    if constexpr (Gates == 3) gru<N, transposed>.into(next_h)(x, h, turned_wx, turned_wh, bx, bh);
    else lstm<N, transposed>.into(next_h, next_c)(x, h, c, turned_wx, turned_wh, bx, bh);
  }
  template <class W>
  [[gnu::noinline]] void by_hand(const W& wh) {
    const auto sigmoid = [](const auto& z) { return (1 + (-z).exp()).inverse(); };
    fixed<gates, 1> of_h = hand.bh;
    of_h.noalias() += wh * hand.h;
    if constexpr (Gates == 3) {
      const fixed<gates, 1> of_x = hand.x * hand.wx + hand.bx;
      const fixed<2 * N, 1> rz = sigmoid((of_x.template head<2 * N>() + of_h.template head<2 * N>()).array());
      const fixed<N, 1> n = (of_x.template tail<N>().array() + rz.template head<N>().array() * of_h.template tail<N>().array()).tanh();
      hand.next_h = n.array() + rz.template tail<N>().array() * (hand.h - n).array();
    } else {
      of_h += hand.x * hand.wx + hand.bx;
      const fixed<2 * N, 1> in_forget = sigmoid(of_h.template head<2 * N>().array());
      const fixed<N, 1> out = sigmoid(of_h.template tail<N>().array());
      hand.next_c = in_forget.template tail<N>().array() * hand.c.array() + in_forget.template head<N>().array() * of_h.template segment<N>(2 * N).array().tanh();
      hand.next_h = out.array() * hand.next_c.array().tanh();
    }
  }
};

template <int N, int Gates>
void rows(const std::string& name) {
  using all = cell<N, Gates>;
  bench::row<all>(name, "tenure", N, [](all& p) { p.step(); });
  bench::row<all>(name, "hand", N, [](all& p) { p.by_hand(p.hand.wh); });
  bench::row<all>(name + "_transposed", "tenure", N, [](all& p) { p.step_transposed(); });
  bench::row<all>(name + "_transposed", "hand", N, [](all& p) { p.by_hand(p.hand.turned_wh); });
}

const bool registered = [] {
  rows<8, 3>("gru_cell"), rows<16, 3>("gru_cell"), rows<32, 3>("gru_cell"), rows<64, 3>("gru_cell");
  rows<8, 4>("lstm_cell"), rows<16, 4>("lstm_cell"), rows<20, 4>("lstm_cell"), rows<32, 4>("lstm_cell"), rows<40, 4>("lstm_cell"), rows<64, 4>("lstm_cell");
  return true;
}();

}  // namespace

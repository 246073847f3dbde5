// SPDX-License-Identifier: BSL-1.0
// A WaveNet of 16 channels as in examples/audio: eight layers of three taps with distances from 1 to 128 samples, gates, float32. One sample a call, and 64. By hand it
// is Eigen with fixed sizes, a sample a column, over one array of what the layers have read.
#define EIGEN_STACK_ALLOCATION_LIMIT 0  // Eigen refuses large fixed sizes even where they stand on the heap

#include <small/small.hpp>

#include <string>
#include <type_traits>

namespace {

using namespace bench::small;

constexpr int channels = 16, taps = 3, layers = 8, width = layers * channels, before = 256, room = 1024;
template <std::int64_t... E>
using floats = tn::tensor<float, tn::shape<E...>>;
using history = floats<before + room, width>;

/// N samples x [N, 1]. Weights of the layers have a first axis for the layer.
template <int N>
constexpr auto wavenet = tn::compile([](auto position, auto past, auto x, auto w_in, auto b_in, auto w, auto b, auto w_next, auto b_next, auto w_out, auto b_out) {
  const auto through = [=]<int L>(const auto& self, std::integral_constant<int, L>, const auto& rows) {
    constexpr std::int64_t d = std::int64_t{1} << L;
    const auto earlier = [&]<std::int64_t Back>(std::integral_constant<std::int64_t, Back>) {
      constexpr auto of_layer = tn::range<L * channels, (L + 1) * channels>();
      if constexpr (N <= Back) return past.at(tn::window<N>(position + (before - Back)), of_layer);
      else return tn::concat<0>(past.at(tn::window<Back>(position + (before - Back)), of_layer), rows[tn::range<0, N - Back>()]);
    };
    const auto window = tn::concat<1>(earlier(std::integral_constant<std::int64_t, 2 * d>{}), earlier(std::integral_constant<std::int64_t, d>{}), rows);
    const auto [value, gate] = tn::chunk<2, -1>(matmul(window, tn::reshape<taps * channels, 2 * channels>(w[L])) + b[L]);
    const auto found = tanh(value) * sigmoid(gate);
    if constexpr (L + 1 == layers) {
      return std::tuple{found, rows};
    } else {
      const auto [others, later] = self(self, std::integral_constant<int, L + 1>{}, rows + matmul(found, w_next[L]) + b_next[L]);
      return std::tuple{found + others, tn::concat<-1>(rows, later)};
    }
  };
  const auto [found, rows] = through(through, std::integral_constant<int, 0>{}, matmul(x, w_in) + b_in);
  return std::tuple{sum(found * w_out, tn::axis<-1>, tn::keepdim) + b_out, tn::dynamic_update(past, rows, std::tuple{position + before, 0})};
});

template <int N>
struct by_hand {
  template <int R, int C>
  using fixed = Eigen::Matrix<float, R, C>;
  fixed<channels, 1> w_in, b_in, w_out;
  fixed<2 * channels, taps * channels> w[layers];
  fixed<2 * channels, 1> b[layers];
  fixed<channels, channels> w_next[layers];
  fixed<channels, 1> b_next[layers];
  float b_out;
  fixed<width, before + room> past = fixed<width, before + room>::Zero();
  fixed<1, N> x, y;

  [[gnu::noinline]] void step(int position) {
    fixed<channels, N> rows, skip, found;
    fixed<2 * channels, N> sums;
    rows.noalias() = w_in * x;
    rows.colwise() += b_in;
    skip.setZero();
    for (int l = 0; l < layers; ++l) {
      const int d = 1 << l;
      auto all = past.template middleRows<channels>(l * channels);
      all.template middleCols<N>(position + before) = rows;
      sums.noalias() = w[l].template leftCols<channels>() * all.template middleCols<N>(position + before - 2 * d);
      sums.noalias() += w[l].template middleCols<channels>(channels) * all.template middleCols<N>(position + before - d);
      sums.noalias() += w[l].template rightCols<channels>() * rows;
      sums.colwise() += b[l];
      found.array() = sums.template topRows<channels>().array().tanh() * (1 + (-sums.template bottomRows<channels>().array()).exp()).inverse();
      skip += found;
      if (l + 1 == layers) break;
      rows.noalias() += w_next[l] * found;
      rows.colwise() += b_next[l];
    }
    y.noalias() = w_out.transpose() * skip;
    y.array() += b_out;
  }
};

template <int N>
struct stream {
  floats<N, 1> x, y;
  floats<1, channels> w_in;
  floats<channels> b_in, w_out;
  floats<layers, taps, channels, 2 * channels> w;
  floats<layers, 2 * channels> b;
  floats<layers, channels, channels> w_next;
  floats<layers, channels> b_next;
  floats<1> b_out;
  history past = tn::zeros<float>(history::shape_type{});
  by_hand<N> hand;
  std::int64_t position = 0;
  int hand_position = 0;

  explicit stream(std::int64_t) {
    fill(1, x, w_in, b_in, w_out, w, b, w_next, b_next, b_out);
    std::copy_n(x.data(), N, hand.x.data());
    std::copy_n(w_in.data(), channels, hand.w_in.data());
    std::copy_n(b_in.data(), channels, hand.b_in.data());
    std::copy_n(w_out.data(), channels, hand.w_out.data());
    for (int l = 0; l < layers; ++l) {
      std::copy_n(w.data() + l * hand.w[l].size(), hand.w[l].size(), hand.w[l].data());  // by columns: transposed
      std::copy_n(b.data() + l * 2 * channels, 2 * channels, hand.b[l].data());
      std::copy_n(w_next.data() + l * channels * channels, channels * channels, hand.w_next[l].data());
      std::copy_n(b_next.data() + l * channels, channels, hand.b_next[l].data());
    }
    hand.b_out = b_out.data()[0];
    for (int i = 0; i < 600 / N; ++i) {
      step(), step_by_hand();
      bench::require_agreement("wavenet", y.data(), hand.y.data(), N, 1e-5);
    }
  }
  std::int64_t items() const { return N; }
  [[gnu::noinline]] void step() {
    if (position + N > room) position = 0;  // the rows before are those of another time, which takes as long
    wavenet<N>.into(y, past)(position, past, x, w_in, b_in, w, b, w_next, b_next, w_out, b_out);
    position += N;
  }
  void step_by_hand() {
    if (hand_position + N > room) hand_position = 0;
    hand.step(hand_position);
    hand_position += N;
  }
};

template <int N>
void rows() {
  bench::row<stream<N>>("wavenet", "tenure", N, [](stream<N>& s) { s.step(); });
  bench::row<stream<N>>("wavenet", "hand", N, [](stream<N>& s) { s.step_by_hand(); });
}

const bool registered = [] {
  rows<1>(), rows<64>();
  return true;
}();

}  // namespace

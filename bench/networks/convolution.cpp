// SPDX-License-Identifier: BSL-1.0
// Convolutions, float32: the value, and both gradients for a given cotangent. Images have their channels last, or first (PyTorch's order: _nchw). By
// Eigen, for channels last, a matrix of the windows of each image and products of Eigen's with it.
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <Eigen/Core>

#include <string>

namespace {

namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// N images of H x H with C channels, by K x K taps with O results.
template <std::int64_t N, std::int64_t H, std::int64_t C, std::int64_t K, std::int64_t O, std::int64_t Stride, std::int64_t Padding, bool ChannelsLast>
struct convolution {
  static constexpr tn::conv options{.stride = Stride, .padding = Padding, .layout = ChannelsLast ? tn::nhwc : tn::nchw};
  static constexpr auto value_of = tn::compile([](auto x, auto w) { return tn::conv2d<options>(x, w); });
  static constexpr auto both = tn::grad<0, 1>([](auto x, auto w, auto g) { return tn::sum(g * tn::conv2d<options>(x, w)); });
  static constexpr std::int64_t rows = (H + 2 * Padding - K) / Stride + 1;

  std::conditional_t<ChannelsLast, array<N, H, H, C>, array<N, C, H, H>> x, of_x;
  std::conditional_t<ChannelsLast, array<K, K, C, O>, array<O, C, K, K>> w, of_w;
  std::conditional_t<ChannelsLast, array<N, rows, rows, O>, array<N, O, rows, rows>> y, g;
  matrix windows, by_eigen, x_by_eigen, w_by_eigen, of_windows;

  explicit convolution(std::int64_t) : windows(rows * rows, K * K * C), by_eigen(N * rows * rows, O), x_by_eigen(N * H * H, C), w_by_eigen(K * K * C, O), of_windows(rows * rows, K * K * C) {
    bench::fill_uniform(bench::data_of(x), x.size(), -1, 1, 1);
    bench::fill_uniform(bench::data_of(w), w.size(), -1, 1, 2);
    bench::fill_uniform(bench::data_of(g), g.size(), -1, 1, 3);
    value(), gradients();
    if constexpr (ChannelsLast) {
      value_by_eigen(), gradients_by_eigen();
      bench::require_agreement("a convolution", y.data(), by_eigen.data(), y.size(), 1e-3);
      bench::require_agreement("the gradient of images", of_x.data(), x_by_eigen.data(), x.size(), 1e-3);
      bench::require_agreement("the gradient of taps", of_w.data(), w_by_eigen.data(), w.size(), 1e-3);
    }
  }
  std::int64_t items() const { return N; }

  [[gnu::noinline]] void value() { value_of.into(y)(x, w); }
  [[gnu::noinline]] void gradients() { both.into(of_x, of_w)(x, w, g); }

  void collect(std::int64_t n) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < rows; ++j)
        for (std::int64_t u = 0; u < K; ++u)
          for (std::int64_t v = 0; v < K; ++v) {
            const std::int64_t h = i * Stride + u - Padding, k = j * Stride + v - Padding;
            float* const to = windows.data() + (i * rows + j) * K * K * C + (u * K + v) * C;
            if (h < 0 || h >= H || k < 0 || k >= H) std::fill_n(to, C, 0.0f);
            else std::copy_n(x.data() + ((n * H + h) * H + k) * C, C, to);
          }
  }
  [[gnu::noinline]] void value_by_eigen() {
    const Eigen::Map<const matrix> taps(w.data(), K * K * C, O);
    for (std::int64_t n = 0; n < N; ++n) {
      collect(n);
      by_eigen.middleRows(n * rows * rows, rows * rows).noalias() = windows * taps;
    }
  }
  [[gnu::noinline]] void gradients_by_eigen() {
    const Eigen::Map<const matrix> taps(w.data(), K * K * C, O);
    w_by_eigen.setZero(), x_by_eigen.setZero();
    for (std::int64_t n = 0; n < N; ++n) {
      const Eigen::Map<const matrix> cotangent(g.data() + n * rows * rows * O, rows * rows, O);
      collect(n);
      w_by_eigen.noalias() += windows.transpose() * cotangent;
      of_windows.noalias() = cotangent * taps.transpose();
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < rows; ++j)
          for (std::int64_t u = 0; u < K; ++u)
            for (std::int64_t v = 0; v < K; ++v) {
              const std::int64_t h = i * Stride + u - Padding, k = j * Stride + v - Padding;
              if (h < 0 || h >= H || k < 0 || k >= H) continue;
              const float* const from = of_windows.data() + (i * rows + j) * K * K * C + (u * K + v) * C;
              float* const to = x_by_eigen.data() + ((n * H + h) * H + k) * C;
              for (std::int64_t c = 0; c < C; ++c) to[c] += from[c];
            }
    }
  }
};

const bool registered = [] {
  const auto rows = []<class Last, class First>(const std::string& name, std::int64_t size, std::type_identity<Last>, std::type_identity<First>) {
    bench::row<Last>(name, "tenure", size, [](Last& c) { c.value(); });
    bench::row<Last>(name, "eigen", size, [](Last& c) { c.value_by_eigen(); });
    bench::row<Last>(name + "_gradients", "tenure", size, [](Last& c) { c.gradients(); });
    bench::row<Last>(name + "_gradients", "eigen", size, [](Last& c) { c.gradients_by_eigen(); });
    bench::row<First>(name + "_nchw", "tenure", size, [](First& c) { c.value(); });
    bench::row<First>(name + "_nchw_gradients", "tenure", size, [](First& c) { c.gradients(); });
  };
  // images, rows and columns, channels, taps, results, stride, padding; the size is the number of channels
  rows("conv2d", 32, std::type_identity<convolution<8, 30, 32, 3, 32, 1, 0, true>>{}, std::type_identity<convolution<8, 30, 32, 3, 32, 1, 0, false>>{});
  rows("conv2d", 64, std::type_identity<convolution<1, 56, 64, 3, 64, 1, 1, true>>{}, std::type_identity<convolution<1, 56, 64, 3, 64, 1, 1, false>>{});
  rows("conv2d", 256, std::type_identity<convolution<1, 14, 256, 3, 256, 1, 1, true>>{}, std::type_identity<convolution<1, 14, 256, 3, 256, 1, 1, false>>{});
  rows("conv2d_strided", 64, std::type_identity<convolution<1, 56, 64, 3, 128, 2, 1, true>>{}, std::type_identity<convolution<1, 56, 64, 3, 128, 2, 1, false>>{});
  return true;
}();

}  // namespace

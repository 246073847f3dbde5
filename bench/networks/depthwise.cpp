// SPDX-License-Identifier: BSL-1.0
// Convolutions of each channel by itself, float32: the value, and both gradients for a given cotangent. Images have their channels last, or first (PyTorch's order:
// _nchw). "hand": loops over positions and taps, with the channels of a position as the innermost loop, which compilers vectorize; for channels last.
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace {

namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;

/// One image of H x H with C channels, by 3 x 3 taps with one zero around the image.
template <std::int64_t H, std::int64_t C, std::int64_t Stride, bool ChannelsLast>
struct depthwise {
  static constexpr std::int64_t taps = 3, rows = (H - 1) / Stride + 1;
  static constexpr tn::conv options{.stride = Stride, .padding = 1, .groups = C, .layout = ChannelsLast ? tn::nhwc : tn::nchw};
  static constexpr auto value_of = tn::compile([](auto x, auto w) { return tn::conv2d<options>(x, w); });
  static constexpr auto both = tn::grad<0, 1>([](auto x, auto w, auto g) { return tn::sum(g * tn::conv2d<options>(x, w)); });

  std::conditional_t<ChannelsLast, array<1, H, H, C>, array<1, C, H, H>> x, of_x;
  std::conditional_t<ChannelsLast, array<taps, taps, 1, C>, array<C, 1, taps, taps>> w, of_w;
  std::conditional_t<ChannelsLast, array<1, rows, rows, C>, array<1, C, rows, rows>> y, g;
  std::vector<float> by_hand = std::vector<float>(rows * rows * C), x_by_hand = std::vector<float>(H * H * C), w_by_hand = std::vector<float>(taps * taps * C);

  explicit depthwise(std::int64_t) {
    bench::fill_uniform(bench::data_of(x), x.size(), -1, 1, 1);
    bench::fill_uniform(bench::data_of(w), w.size(), -1, 1, 2);
    bench::fill_uniform(bench::data_of(g), g.size(), -1, 1, 3);
    value(), gradients();
    if constexpr (ChannelsLast) {
      value_by_hand(), gradients_by_hand();
      bench::require_agreement("a depthwise convolution", y.data(), by_hand.data(), y.size(), 1e-4);
      bench::require_agreement("the gradient of images", of_x.data(), x_by_hand.data(), x.size(), 1e-4);
      bench::require_agreement("the gradient of taps", of_w.data(), w_by_hand.data(), w.size(), 1e-3);
    }
  }
  std::int64_t items() const { return rows * rows * C * taps * taps; }

  [[gnu::noinline]] void value() { value_of.into(y)(x, w); }
  [[gnu::noinline]] void gradients() { both.into(of_x, of_w)(x, w, g); }

  /// Calls f(element of x, tap, element of y) for the first channel of each.
  template <class F>
  static void for_each_term(const F& f) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < rows; ++j)
        for (std::int64_t u = 0; u < taps; ++u)
          for (std::int64_t v = 0; v < taps; ++v) {
            const std::int64_t h = i * Stride + u - 1, k = j * Stride + v - 1;
            if (h >= 0 && h < H && k >= 0 && k < H) f((h * H + k) * C, (u * taps + v) * C, (i * rows + j) * C);
          }
  }
  [[gnu::noinline]] void value_by_hand() {
    std::fill(by_hand.begin(), by_hand.end(), 0.0f);
    float* const to = by_hand.data();
    for_each_term([&, images = x.data(), tap = w.data()](std::int64_t a, std::int64_t b, std::int64_t at) {
      for (std::int64_t c = 0; c < C; ++c) to[at + c] += images[a + c] * tap[b + c];
    });
  }
  [[gnu::noinline]] void gradients_by_hand() {
    std::fill(x_by_hand.begin(), x_by_hand.end(), 0.0f);
    std::fill(w_by_hand.begin(), w_by_hand.end(), 0.0f);
    float *const to_x = x_by_hand.data(), *const to_w = w_by_hand.data();
    for_each_term([&, images = x.data(), tap = w.data(), cotangent = g.data()](std::int64_t a, std::int64_t b, std::int64_t at) {
      for (std::int64_t c = 0; c < C; ++c) {
        to_x[a + c] += cotangent[at + c] * tap[b + c];
        to_w[b + c] += cotangent[at + c] * images[a + c];
      }
    });
  }
};

const bool registered = [] {
  const auto rows = []<class Last, class First>(const std::string& name, std::type_identity<Last>, std::type_identity<First>) {
    bench::row<Last>(name, "tenure", 64, [](Last& c) { c.value(); });
    bench::row<Last>(name, "hand", 64, [](Last& c) { c.value_by_hand(); });
    bench::row<Last>(name + "_gradients", "tenure", 64, [](Last& c) { c.gradients(); });
    bench::row<Last>(name + "_gradients", "hand", 64, [](Last& c) { c.gradients_by_hand(); });
    bench::row<First>(name + "_nchw", "tenure", 64, [](First& c) { c.value(); });
    bench::row<First>(name + "_nchw_gradients", "tenure", 64, [](First& c) { c.gradients(); });
  };
  rows("depthwise", std::type_identity<depthwise<56, 64, 1, true>>{}, std::type_identity<depthwise<56, 64, 1, false>>{});
  rows("depthwise_strided", std::type_identity<depthwise<56, 64, 2, true>>{}, std::type_identity<depthwise<56, 64, 2, false>>{});
  return true;
}();

}  // namespace

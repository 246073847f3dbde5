// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_convolution.hpp"
#include "data_model.hpp"

#include <tenure/ops/convolution.hpp>
#include <tenure/ops/pooling.hpp>
#include <tenure/ops/rearrangement.hpp>

using namespace golden;

namespace {

/// A convolution as one matrix product, in the words of the library: each window is a row.
template <int Stride, class X, class W, class B>
constexpr auto convolve(const X& x, const W& w, const B& b) {
  using I = typename X::shape_type;
  using K = typename W::shape_type;
  constexpr std::int64_t n = I::value[0], outputs = K::value[0], taps = K::value[1] * K::value[2] * K::value[3];
  const auto patches = windows<3, K::value[3], Stride>(windows<2, K::value[2], Stride>(x));  // n, channel, y, x, ky, kx
  using P = typename std::remove_const_t<decltype(patches)>::shape_type;
  constexpr std::int64_t height = P::value[2], width = P::value[3];
  const auto rows = reshape<n * height * width, taps>(permute<0, 2, 3, 1, 4, 5>(patches));
  const auto result = linear(rows, reshape<outputs, taps>(w), b);
  return permute<0, 3, 1, 2>(reshape<n, height, width, outputs>(result));
}

}  // namespace

TEST_CASE("golden: convolution and pooling") {
  check<p_conv2d>([](auto x, auto w, auto b) { return convolve<1>(x, w, b); });
  check<p_conv2d_stride_pad>([](auto x, auto w, auto b) { return convolve<2>(pad<2, 1>(pad<3, 1>(x)), w, b); });
  check<p_conv1d>([](auto x, auto w, auto b) {
    return reshape<2, 3, 6>(convolve<1>(unsqueeze<2>(pad<2, 1>(x)), unsqueeze<2>(w), b));
  });
  check<p_conv2d>([](auto x, auto w, auto b) { return conv2d(x, w, b); });
  check<p_conv2d_stride_pad>([](auto x, auto w, auto b) { return conv2d<conv{.stride = 2, .padding = 1}>(x, w, b); });
  check<p_conv1d>([](auto x, auto w, auto b) { return conv1d<conv{.padding = 1}>(x, w, b); });
  check<p_avg_pool2d>([](auto x) { return avg_pool2d<2>(x); });
  check<p_max_pool2d>([](auto x) { return max_pool2d<2>(x); });
  check<p_cnn>([](auto x, auto w1, auto b1, auto w2, auto t) { return cross_entropy(matmul(mean(relu(conv2d(x, w1, b1)), axes<2, 3>), w2), t); });
  check<p_avg_pool2d>([](auto x) { return mean(reshape<1, 2, 2, 2, 2, 2>(x), axes<3, 5>); });
  check<p_max_pool2d>([](auto x) { return amax(reshape<1, 2, 2, 2, 2, 2>(x), axes<3, 5>); });
  check<p_cnn>([](auto x, auto w1, auto b1, auto w2, auto t) {
    return cross_entropy(matmul(mean(relu(convolve<1>(x, w1, b1)), axes<2, 3>), w2), t);
  });
}

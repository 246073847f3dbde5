// SPDX-License-Identifier: BSL-1.0
// Convolutions with every option, transposed ones, pools, and images of another size: values, gradients and Hessian-vector products of PyTorch.
#include "../catch.hpp"
#include "data_images.hpp"

#include <tenure/ops/adaptive_pooling.hpp>
#include <tenure/ops/convolution.hpp>
#include <tenure/ops/interpolation.hpp>
#include <tenure/ops/pooling.hpp>
#include <tenure/ops/trigonometric.hpp>

using namespace golden;

TEST_CASE("golden: convolutions with strides, paddings, dilations and groups") {
  check<t_conv2d_options>([](auto x, auto w, auto b) { return conv2d<conv{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}}>(x, w, b); });
  check<t_conv2d_groups>([](auto x, auto w, auto b) { return conv2d<conv{.padding = 1, .groups = 2}>(x, w, b); });
  check<t_conv2d_depthwise>([](auto x, auto w) { return conv2d<conv{.stride = 2, .padding = 1, .groups = 3}>(x, w); });
  check<t_conv2d_same>([](auto x, auto w) { return sin(conv2d<conv{.padding = same}>(x, w)); });
  check<t_conv2d_one>([](auto x, auto w, auto b) { return conv2d(x, w, b); });
  check<t_conv1d_dilated>([](auto x, auto w, auto b) { return sin(conv1d<conv{.padding = causal, .dilation = 2}>(x, w, b)); });
}

TEST_CASE("golden: transposed convolutions") {
  check<t_transpose2d>([](auto x, auto w, auto b) { return sin(conv_transpose2d<conv{.stride = {2, 3}, .padding = 1, .output_padding = {1, 0}}>(x, w, b)); });
  check<t_transpose2d_groups>([](auto x, auto w) { return conv_transpose2d<conv{.stride = 2, .dilation = 2, .groups = 2}>(x, w); });
  check<t_transpose1d>([](auto x, auto w, auto b) { return conv_transpose1d<conv{.stride = 2, .padding = 1}>(x, w, b); });
}

TEST_CASE("golden: pools") {
  check<t_max_pool2d>([](auto x) { return sin(max_pool2d<pool{.size = 3, .stride = 2, .padding = 1}>(x)); });
  check<t_max_pool2d_ties>([](auto x) { return max_pool2d<2>(x - stop_gradient(x)); });
  check<t_max_pool2d_sizes>([](auto x) { return max_pool2d<pool{.size = {3, 2}, .stride = {1, 2}}>(x); });
  check<t_avg_pool2d>([](auto x) { return sin(avg_pool2d<pool{.size = 3, .stride = 2, .padding = 1}>(x)); });
  check<t_max_pool1d>([](auto x) { return max_pool1d<pool{.size = 3, .stride = 2}>(x); });
  check<t_avg_pool1d>([](auto x) { return avg_pool1d<pool{.size = 4, .stride = 2, .padding = 1}>(x); });
}

TEST_CASE("golden: pools with a given number of results") {
  check<t_adaptive_avg>([](auto x) { return sin(adaptive_avg_pool2d<adaptive{.size = {3, 2}}>(x)); });
  check<t_adaptive_avg_one>([](auto x) { return sin(adaptive_avg_pool2d<1>(x)); });
  check<t_adaptive_avg_more>([](auto x) { return sin(adaptive_avg_pool2d<adaptive{.size = {5, 3}}>(x)); });
  check<t_adaptive_max>([](auto x) { return sin(adaptive_max_pool2d<adaptive{.size = {3, 2}}>(x)); });
  check<t_adaptive_max_ties>([](auto x) { return adaptive_max_pool2d<adaptive{.size = {2, 3}}>(x - stop_gradient(x)); });
  check<t_adaptive_max_all_ties>([](auto x) { return adaptive_max_pool2d<1>(x - stop_gradient(x)); });
  check<t_adaptive_avg1d>([](auto x) { return sin(adaptive_avg_pool1d<4>(x)); });
  check<t_adaptive_max1d>([](auto x) { return adaptive_max_pool1d<3>(x); });
}

TEST_CASE("golden: images of another size") {
  check<t_interpolate_factor>([](auto x) { return sin(interpolate<resize{.factor = {2, 3}}>(x)); });
  check<t_interpolate_nearest>([](auto x) { return sin(interpolate<resize{.size = {5, 3}}>(x)); });
  check<t_interpolate_bilinear>([](auto x) { return sin(interpolate<resize{.factor = 2, .mode = bilinear}>(x)); });
  check<t_interpolate_smaller>([](auto x) { return sin(interpolate<resize{.size = {4, 3}, .mode = bilinear}>(x)); });
  check<t_interpolate_corners>([](auto x) { return sin(interpolate<resize{.size = {7, 1}, .mode = bilinear, .align_corners = true}>(x)); });
}

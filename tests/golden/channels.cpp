// SPDX-License-Identifier: BSL-1.0
// Normalisation of channels, and convolutions of volumes: values, gradients and Hessian-vector products of PyTorch.
#include "../catch.hpp"
#include "data_channels.hpp"

#include <tenure/ops/convolution.hpp>
#include <tenure/ops/normalization.hpp>
#include <tenure/ops/trigonometric.hpp>

using namespace golden;

TEST_CASE("golden: batch_norm, with the statistics of the batch and with given ones") {
  check<t_batch_norm>([](auto x, auto g, auto b) { return sin(batch_norm(x, g, b)); });
  check<t_batch_norm_rows>([](auto x, auto g, auto b) { return sin(batch_norm(x, g, b, 0.1)); });
  check<t_batch_norm_given>([](auto x, auto g, auto b, auto mean, auto variance) { return sin(batch_norm(x, mean, variance, g, b)); });
}

TEST_CASE("golden: group_norm and instance_norm") {
  check<t_group_norm>([](auto x, auto g, auto b) { return sin(group_norm<2>(x, g, b)); });
  check<t_group_norm_rows>([](auto x, auto g, auto b) { return sin(group_norm<3>(x, g, b)); });
  check<t_instance_norm>([](auto x, auto g, auto b) { return sin(instance_norm(x, g, b)); });
  check<t_instance_norm1d>([](auto x, auto g, auto b) { return sin(instance_norm(x, g, b, 0.1)); });
}

TEST_CASE("batch_norm, group_norm, instance_norm: the number of images may be known at run time only") {
  const auto x = linspace<double>(shape<3 * 4 * 2 * 2>{}, -1.0, 2.0).reshape<3, 4, 2, 2>();
  const auto g = linspace<double>(shape<4>{}, 0.5, 2.0), b = linspace<double>(shape<4>{}, -1.0, 1.0);
  constexpr auto all = [](auto image, auto gain, auto bias) {
    return sum(sin(batch_norm(image, gain, bias) * group_norm<2>(image, gain, bias) + instance_norm(image, gain, bias) * batch_norm(image, bias, gain, bias, gain)));
  };
  const tensor<double, shape<dyn, 4, 2, 2>> y = x.clone();
  const auto [known, dx] = value_and_grad<0>(all)(x, g, b);
  const auto [run_time, dy] = value_and_grad<0>(all)(y, g, b);
  CHECK(run_time.item() == Approx(known.item()));
  for (std::size_t i = 0; i < as_span(dx).size(); ++i) CHECK(as_span(dy)[i] == Approx(as_span(dx)[i]).margin(1e-12));
}

TEST_CASE("golden: conv3d") {
  check<t_conv3d>([](auto x, auto w, auto b) { return sin(conv3d<conv{.stride = {2, 1, 2}, .padding = {1, 0, 2}, .dilation = {1, 2, 1}}>(x, w, b)); });
  check<t_conv3d_groups>([](auto x, auto w) { return conv3d<conv{.padding = 1, .groups = 2}>(x, w); });
}

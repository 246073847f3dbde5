// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_normalization.hpp"

#include <tenure/ops/normalization.hpp>

using namespace golden;

TEST_CASE("golden: normalization") {
  check<p_softmax, second_order::both>([](auto x) { return softmax(x); });
  check<p_log_softmax, second_order::both>([](auto x) { return log_softmax(x); });
  check<p_softmax_t>([](auto x) { return softmax(x / 0.5, axis<0>); });
  check<p_layer_norm, second_order::both>([](auto x, auto g, auto b) { return layer_norm(x, g, b, 1e-5); });
  check<p_rms_norm, second_order::both>([](auto x, auto g) { return rms_norm(x, g); });
  check<p_batch_norm, second_order::both>([](auto x, auto g, auto b) {
    return (x - mean(x, axis<0>, keepdim)) / sqrt(var<0>(x, axis<0>, keepdim) + 1e-5) * g + b;
  });
}

// SPDX-License-Identifier: BSL-1.0
// Attention over some rows, and with a mask: values, gradients and Hessian-vector products of PyTorch.
#include "../catch.hpp"
#include "data_attention_rows.hpp"

#include <tenure/ops/comparison.hpp>
#include <tenure/transform/attention_rows.hpp>

using namespace golden;

TEST_CASE("golden: attention over the first rows, from a position, over the last rows") {
  check<t_attention_first, second_order::both>([](auto q, auto k, auto v) { return tenure::attention(q, k, v, tenure::first_rows(4)); });
  check<t_attention_from, second_order::both>([](auto q, auto k, auto v) { return tenure::attention(q, k, v, tenure::causal.from(2)); });
  check<t_attention_window, second_order::both>([](auto q, auto k, auto v) { return tenure::attention(q, k, v, tenure::causal.last<2>().from(3)); });
}

TEST_CASE("golden: attention with a mask") {
  check<t_attention_mask, second_order::both>([](auto q, auto k, auto v, auto mask) { return tenure::attention(q, k, v, mask != 0); });
  check<t_attention_bias, second_order::both>([](auto q, auto k, auto v, auto bias) { return tenure::attention(q, k, v, bias); });
}

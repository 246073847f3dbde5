// SPDX-License-Identifier: BSL-1.0
// sort, topk and median against numbers of PyTorch (torch_items.py).
#include "../catch.hpp"
#include "data_order.hpp"

#include <tenure/ops/order.hpp>

using namespace golden;

TEST_CASE("golden: order along an axis") {
  check<t_sort, second_order::both>([](auto x) { return sort(x) * x; });
  check<t_sort_descending>([](auto x) { return exp(sort(x, axis<0>, descending)); });
  check<t_topk>([](auto x) { return square(topk<2>(x)); });
  check<t_median>([](auto x) { return exp(median(x, axis<1>)); });
}

// SPDX-License-Identifier: BSL-1.0
// Parts, reductions and movements along several axes, against numbers of PyTorch that torch_items.py writes.
#include "../catch.hpp"
#include "data_parts.hpp"

#include <tenure/ops/accumulation.hpp>
#include <tenure/ops/normalization.hpp>
#include <tenure/ops/parts.hpp>
#include <tenure/ops/position.hpp>
#include <tenure/ops/rearrangement.hpp>

using namespace golden;

TEST_CASE("golden: parts") {
  check<t_unbind, second_order::both>([](auto x) {
    const auto [a, b, c] = unbind<1>(x);
    return a * b * sin(c) + a;
  });
  check<t_split>([](auto x) {
    const auto [a, b, c] = split<1, 2>(x);
    return exp(a) * b * sum(c, axis<1>, keepdim);
  });
  check<t_split_sizes>([](auto x) {
    const auto [a, b] = split<0, 1, 3>(x);
    return sum(a, axis<0>) * sum(exp(b), axis<0>);
  });
  check<t_chunk>([](auto x) {
    const auto [a, b, c] = chunk<3>(x);
    return a * b + sum(c);
  });
}

TEST_CASE("golden: extrema and products along several axes") {
  check<t_max_keepdim>([](auto x) { return exp(x - max(x, axis<1>, keepdim)); });
  check<t_max_axes>([](auto x) { return sin(max(x, axes<0, 2>) * min(x, axes<0, 2>)); });
  check<t_max_all>([](auto x) { return max(x) * min(x) * x; });
  check<t_prod_all>([](auto x) { return prod(x); });
  check<t_prod_axes>([](auto x) { return exp(prod(x, axes<0, 2>, keepdim)); });
}

TEST_CASE("golden: movement along several axes, with values and offsets") {
  check<t_flip_axes>([](auto x) { return flip(x, axes<0, 2>) * x; });
  check<t_roll_axes>([](auto x) { return roll<1, -2>(x, axes<0, 1>) * x; });
  check<t_pad_value>([](auto x) { return square(pad<-1, 1, 2>(x, 3.0)); });
  check<t_diagonal_above>([](auto x) { return diagonal<1>(x) * sin(select<0, 0>(diagonal<-1>(x))); });
  check<t_diag_below>([](auto x, auto y) { return matmul(diag<-1>(x), y); });
}

// SPDX-License-Identifier: BSL-1.0
// overlap_add in terms of views. A window is cut into blocks of `step` elements. Block k of window i belongs to block i + k of the axis, so block j of the axis is the sum
// of the blocks k of windows j - k. Windows of zeros before the first and behind the last make all these sums equally long.
// Cost: the windows are written between the zeros, and read once.
#pragma once

#include <tenure/passes/costs.hpp>
#include <tenure/passes/rules/positions.hpp>

namespace TENURE_NAMESPACE::passes::rules {

/// x [..., windows, elements]: the sums of blocks [..., windows + blocks - 1, step].
constexpr value sums_of_blocks(value x, std::int64_t blocks, std::int64_t step) {
  using kind = ir::symbol::kind;
  ir::builder& g = *x.graph;
  const int last = x.shape().rank - 1, first = last - 1;
  if (const std::int64_t elements = x.shape()[last]; elements != blocks * step) x = ops::padded(x, last, 0, blocks * step, 1);
  if (blocks == 1) return x;
  const std::int64_t count = x.shape()[first], sums = g.derived(kind::sum, count, blocks - 1), all = g.derived(kind::sum, sums, blocks - 1);
  if (blocks <= costs::overlapping_terms) {
    const auto between_zeros = [&](value y) { return ops::padded(y, first, blocks - 1, all, 1); };
    const bool are_columns = step == 1;  // columns between zeros of their own have neighbours in memory
    if (!are_columns) x = between_zeros(x);
    value sum;
    for (std::int64_t k = 0; k < blocks; ++k) {
      value term = ops::sliced(x, last, k * step, step, 1);
      if (are_columns) term = between_zeros(ops::reshape_to(term, ops::without_axes(term.shape(), std::int64_t{1} << last)));
      term = ops::sliced(term, first, blocks - 1 - k, sums, 1);
      sum = k == 0 ? term : sum + term;
    }
    return are_columns ? ops::reshape_to(sum, tenure::detail::with_axis(sum.shape(), last, 1)) : sum;
  }
  // In a column of all blocks, with `blocks` for each window, those of one sum are blocks - 1 apart, and the next sum begins `blocks` later.
  x = ops::padded(x, first, blocks - 1, all, 1);
  extents rows = x.shape();
  rows[first] = g.derived(kind::product, all, blocks), rows[last] = step;
  const std::int64_t reach = (blocks - 1) * (blocks - 1) + 1, from_first = g.derived(kind::difference, rows[first], blocks - 1);
  x = ops::windowed(ops::sliced(ops::reshape_to(x, rows), first, blocks - 1, from_first, 1), first, reach, blocks);
  return ops::reduced(ops::sliced(x, last + 1, 0, blocks, blocks - 1), std::int64_t{1} << (last + 1), ir::reduction::sum);
}

constexpr node_id overlap_added(ir::builder& g, const ir::node& n) {
  using kind = ir::symbol::kind;
  value x{g, n.in[0]};
  const int axis = static_cast<int>(n.attr), last = x.shape().rank - 1;
  const std::int64_t step = n.step, blocks = (x.shape()[last] + step - 1) / step;
  const extents to = g.shape(n.shape);
  if (x.shape().rank == max_rank) {  // the axes before and behind become one each, to make room for an axis of blocks
    extents s{4, {1, x.shape()[axis], 1, x.shape()[last]}}, less{3, {1, to[axis], 1}};
    for (int a = 0; a < last; ++a)
      if (a != axis) s[a < axis ? 0 : 2] = less[a < axis ? 0 : 2] = g.derived(kind::product, s[a < axis ? 0 : 2], to[a]);
    return ops::reshape_to(ops::overlap_added(ops::reshape_to(x, s), 1, less[1], step), to).id;
  }
  const int along = last - 1;
  x = sums_of_blocks(ops::moved_axis(x, axis, along), blocks, step);
  // The sums may end before the axis does, and behind it. Of run-time extents one block more always ends behind it.
  const bool is_known = is_static(x.shape()[along]) && is_static(to[axis]);
  if (!is_known) x = ops::padded(x, along, 0, g.derived(kind::sum, x.shape()[along], 1), 1);
  extents rows = ops::without_axes(x.shape(), std::int64_t{1} << last);
  rows[along] = g.derived(kind::product, x.shape()[along], step);
  x = ops::reshape_to(x, rows);
  if (is_known && rows[along] < to[axis]) x = ops::padded(x, along, 0, to[axis], 1);
  else if (rows[along] != to[axis]) x = ops::sliced(x, along, 0, to[axis], 1);
  return ops::moved_axis(x, along, axis).id;
}

}  // namespace tenure::passes::rules

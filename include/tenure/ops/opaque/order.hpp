// SPDX-License-Identifier: BSL-1.0
// The positions of the elements of each row in sorted order. sort, topk and median read the elements at these positions. The backends have a step of their
// own for it.
#pragma once

#include <algorithm>
#include <vector>

#include <tenure/ops/opaque/operation.hpp>

namespace TENURE_NAMESPACE::ops {

struct order_options {
  bool descending = false;
};

namespace nodes {
/// For each row along the last axis, the first k positions of its elements in ascending or descending order. Equal elements stay in the order of their
/// positions. NaN is above every number.
struct order : sample_operation<order, 1, 1, order_options> {
  static constexpr const char* name = "order";
  static constexpr signature takes = "(n)->(k)";
  static constexpr const char* option_names[1] = {"descending"};
  static constexpr dtype result_type(dtype) { return dtype::int64; }
  static constexpr bool takes_type(dtype) { return true; }

  template <class V>
  static constexpr V pull(V, int, V g) { return g; }
  static constexpr std::int64_t flops_of_sample(const sample_sizes&) { return 0; }
  static constexpr void verify(rule_check& c) {
    sample_operation::verify(c);
    if (!c.found.ok()) return;
    const std::int64_t count = c.shape()[c.shape().rank - 1], length = c.shape_of(0)[c.shape().rank - 1];
    c.expect(!is_static(count) || !is_static(length) || count <= length, "more positions than elements", count, length);
  }

  template <class T>
  static void reference(const sample_sizes& sizes, const T* const* operand, std::int64_t* to, order_options o) {
    const T* const row = operand[0];
    const auto below = [&](std::int64_t i, std::int64_t j) { return row[i] < row[j] || (row[j] != row[j] && row[i] == row[i]); };
    std::vector<std::int64_t> all(static_cast<std::size_t>(sizes[0]));
    for (std::int64_t i = 0; i < sizes[0]; ++i) all[static_cast<std::size_t>(i)] = i;
    // Equal elements stay in the order of their positions. (clang 19 reports the std::stable_sort of libstdc++ 12 as deprecated.)
    const auto before = [&](std::int64_t i, std::int64_t j) { return o.descending ? below(j, i) : below(i, j); };
    std::sort(all.begin(), all.end(), [&](std::int64_t i, std::int64_t j) { return before(i, j) || (i < j && !before(j, i)); });
    std::copy(all.begin(), all.begin() + sizes[1], to);
  }
};
}  // namespace nodes

constexpr value ordered(value x, bool descending, std::int64_t count) {
  extents to = x.shape();
  to[to.rank - 1] = count;
  return nodes::order::with_shape({descending}, &to, x);
}

}  // namespace tenure::ops

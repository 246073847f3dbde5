// SPDX-License-Identifier: BSL-1.0
// The parameters of observations as rows of tables: rows(cameras, camera_of), rows(points, point_of).
#pragma once

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE {
namespace optim::detail {

/// Parameters of observations: observation i has row index(i) of the table.
template <class Table, class Index>
struct rows_of {
  Table* table;
  const Index* index;
};
template <class X>
inline constexpr bool is_rows = false;
template <class Table, class Index>
inline constexpr bool is_rows<rows_of<Table, Index>> = true;

/// Whether each rows() comes before all data.
template <class... X>
constexpr bool rows_come_first() {
  constexpr bool are[] = {is_rows<X>..., false};
  bool ended = false, first = true;
  for (const bool is : are) first = first && !(ended && is), ended = ended || !is;
  return first;
}

}  // namespace optim::detail

/// The parameters of observations of least_squares and residual_blocks: observation i has row index(i) of the table, which the fit changes. A table may be in several rows().
template <class Table, class Index>
constexpr optim::detail::rows_of<Table, Index> rows(Table& table, const Index& index) { return {&table, &index}; }

}  // namespace tenure

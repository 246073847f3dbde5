// SPDX-License-Identifier: BSL-1.0
// What a user calls, for records with one matrix as operand: the checks of the operand, and one result of the node.
#pragma once

#include <tenure/expr/apply.hpp>
#include <tenure/ops/opaque/operation.hpp>

namespace TENURE_NAMESPACE::ops {

/// Result number Result of Record, for matrices a. Record::accepts<is_matrix, floats>() says in static_asserts what does not fit: once, so for result Says alone.
template <class Record, int Result = 0, int Says = 0>
struct of_matrix : rounds_once {
  static constexpr const char* name = Record::name;

  template <class X>
  static constexpr auto trace(const X& a) {
    using S = typename X::shape_type;
    constexpr bool square = Record::takes.operand(0).letter[0] == Record::takes.operand(0).letter[1];
    constexpr bool is_matrix = square ? is_square<S> : S::rank >= 2, floats = is_floating(dtype_v<typename X::element_type>);
    if constexpr (Result == Says) Record::template accepts<is_matrix, floats>();
    if constexpr (is_matrix && floats) {
      if constexpr (square) {
        const extents s = value(a).shape();
        const std::int16_t shape = a.graph->intern(s);
        a.graph->unify(s[s.rank - 1], s[s.rank - 2], name, shape, shape);
      }
      using to = shape_from<sample_shape<Record, Result, S>>;
      return traced<typename X::element_type, to>{a.graph, Record::template of<Result>({}, value(a)).id};
    } else {
      return a;
    }
  }
};

}  // namespace tenure::ops

// SPDX-License-Identifier: BSL-1.0
// Blocks at positions that are known only when the program runs: dynamic_slice reads a block, dynamic_update replaces one.
// Errors: a block that does not lie inside its axes throws index_error before any result is written.
// Cost: a read copies the block. With two or more starts that are not constants, it also computes one index for each row of the block. An update
// copies the operand, or writes the block in place if nothing reads the operand afterwards: in a loop that carries the operand, and with into() if
// the operand is the target. A block of one element along each of its axes, with constant starts, is selected in one pass over the operand. With
// starts along two or more axes an update also copies the rows of one axis in which the block lies, unless is_piece() is true.
#pragma once

#include <tenure/ops/comparison.hpp>
#include <tenure/ops/indexing.hpp>

namespace TENURE_NAMESPACE::ops {

/// The part of one axis that is in a block: `length` elements from the scalar integer `start` on. Without a start the part is the whole axis.
struct block_axis {
  value start{};
  std::int64_t length = 0;

  constexpr bool is_whole() const { return start.id == ir::none; }
};
/// A block of a value, by axes. A dynamic_slice puts no constant start into a block: it takes a slice instead.
struct block {
  ir::array<block_axis> axes;
  int last = -1;       // the last axis that is not whole
  int positioned = 0;  // the number of axes that are not whole

  constexpr int first() const {
    int a = 0;
    while (axes[a].is_whole()) ++a;
    return a;
  }
  constexpr void add(const block_axis& a) {
    axes.push_back(a);
    if (a.is_whole()) return;
    last = axes.size() - 1;
    ++positioned;
  }
};

/// Requires that the axis has the elements at ... at + length - 1.
constexpr void require_constant_inside(value x, int axis, std::int64_t at, std::int64_t length, const char* call) {
  ir::builder& g = *x.graph;
  const std::int64_t extent = x.shape()[axis], end = at + length;
  if (at < 0 || (is_static(extent) && end > extent)) g.refuse({ir::diagnostic::kind::index, at < 0 ? at : end - 1, is_static(extent) ? extent : 0});
  else g.require_at_least(extent, end, call);
}

/// Requires the block to lie inside its axes. The start is checked when it is known: a constant here, an argument when the call begins.
constexpr void require_block_inside(value x, const block& b, const char* call) {
  ir::builder& g = *x.graph;
  for (int a = 0; a < b.axes.size(); ++a) {
    if (b.axes[a].is_whole()) continue;
    const std::int64_t extent = g.canonical(x.shape()[a]), length = b.axes[a].length;
    if (const ir::node n = b.axes[a].start.node(); n.op == ir::opcode::constant) {
      require_constant_inside(x, a, n.attr, length, call);
      continue;
    }
    // A single element is checked only where it is read, because a loop may have no iterations.
    if (length > 1) g.require_at_least(extent, length, call);
    g.check_bound(bound_of_starts(b.axes[a].start, extent, length, call));
  }
}

/// A scalar, broadcast to a shape.
constexpr value stretched_to(value scalar, std::int16_t shape) { return broadcast_along(scalar, shape, 0); }

/// The positions of the elements of a block if the axes 0 ... last are one axis in row-major order.
constexpr value positions_of(value x, const block& b) {
  ir::builder& g = *x.graph;
  extents to;
  for (int a = 0; a <= b.last; ++a) to.push_back(b.axes[a].is_whole() ? x.shape()[a] : b.axes[a].length);
  const std::int16_t shape = g.intern(to);
  const auto position = [&](int a) {
    if (a > b.last) return value();
    const value along = counting(g, dtype::int64, shape, a);
    return b.axes[a].is_whole() ? along : along + stretched_to(cast_to(b.axes[a].start, dtype::int64), shape);
  };
  return row_major_place(g, dtype::int64, x.shape(), shape, position).place;
}

/// x with its positioned axes as one axis, and the positions along that axis. gather and scatter take both.
struct positioned_block {
  extents flat;  // the shape of x with the axes of the positions as one axis
  int axis = 0;
  value positions;
};
constexpr positioned_block positioned(value x, const block& b, const char* call) {
  ir::builder& g = *x.graph;
  positioned_block p;
  if (b.positioned == 1) {
    const block_axis& along = b.axes[b.last];
    return {x.shape(), b.last, positions_from(along.start, along.length, x.shape()[b.last], call)};
  } else {
    p.flat.push_back(elements_along(g, x.shape(), all_axes(b.last + 1)));
    for (int a = b.last + 1; a < x.shape().rank; ++a) p.flat.push_back(x.shape()[a]);
    p.positions = positions_of(x, b);
  }
  g.check_bound({p.positions.id, p.flat[p.axis], call, true});  // they lie inside if the starts do
  return p;
}

/// The elements of x in a block.
constexpr value read_block(value x, const block& b, const char* call) {
  if (b.positioned == 0) return x;
  require_block_inside(x, b, call);
  const positioned_block p = positioned(x, b, call);
  return gathered(reshape_to(x, p.flat), p.positions, p.axis);
}

/// Whether each element of a shape lies in a block. Positions are computed in the type of the elements, T, where it is exact.
template <class T>
constexpr value inside_of(ir::builder& g, std::int16_t shape, const block& b, const char* call) {
  value mask;
  const auto take = [&](value inside) { mask = mask.id == ir::none ? inside : pointwise_value<logical_and>(mask, inside); };
  for (int a = 0; a < b.axes.size(); ++a) {
    const block_axis& along = b.axes[a];
    if (along.is_whole()) continue;
    const std::int64_t extent = g.shape(shape)[a];
    const dtype type = position_dtype<T>(g, extent, call);
    const value at = counting(g, type, shape, a), first = stretched_to(cast_to(along.start, type), shape);
    if (along.length == 1) {
      take(pointwise_value<equal>(at, first));
    } else {
      take(pointwise_value<greater_equal>(at, first));
      take(pointwise_value<less>(at - first, stretched_to(number_of_extent(g, type, along.length), shape)));
    }
  }
  return mask;
}

/// An array of zeros with y at the block. The starts of the block are constants.
constexpr value padded_to(value y, const extents& shape, const block& b) {
  for (int a = 0; a < b.axes.size(); ++a)
    if (!b.axes[a].is_whole()) y = padded(y, a, b.axes[a].start.node().attr, shape[a], 1);
  return y;
}

/// An array of this shape. Inside the block it has the elements of y, and outside of it any elements of y. y must have elements.
constexpr value looked_up_in(value y, const extents& shape, const block& b) {
  ir::builder& g = *y.graph;
  extents first_axes, of_block{1, {elements_along(g, y.shape(), all_axes(b.last + 1))}};
  for (int a = 0; a <= b.last; ++a) first_axes.push_back(shape[a]);
  for (int a = b.last + 1; a < shape.rank; ++a) of_block.push_back(shape[a]);
  const std::int16_t places = g.intern(first_axes);
  const value in_block = row_major_place(g, dtype::int64, y.shape(), places, [&](int a) {
    if (a > b.last) return value();
    const value along = counting(g, dtype::int64, places, a);
    if (b.axes[a].is_whole()) return along;
    const value from_start = along - stretched_to(cast_to(b.axes[a].start, dtype::int64), places);
    return pointwise_value<minimum>(pointwise_value<maximum>(from_start, along.like(0)), along.like(static_cast<double>(b.axes[a].length - 1)));
  }).place;
  g.check_bound({in_block.id, of_block[0], "dynamic_update", true});
  return gathered(reshape_to(y, of_block), in_block, 0);
}

/// An array of at most this many elements is replaced as a whole, in one kernel with the operations around it. That takes no longer than a step that
/// writes only the block.
inline constexpr std::int64_t max_replaced = 64;

/// Whether the block has extent 1 along each axis from its first positioned axis to the last but one. This includes whole axes between them.
constexpr bool is_piece(const block& b, const extents& of_block) {
  bool is = true;
  for (int a = b.first(); a < b.last; ++a) is = is && of_block[a] == 1;
  return is;
}

/// x with y written from `start` on. The start was checked, or follows from starts that were checked.
constexpr value updated_inside(value x, value y, value start, int axis) {
  know_starts(start, x.shape()[axis], y.shape()[axis]);
  return updated(x, y, start, axis);
}

/// The first axis with a start that is known only when the program runs, or -1.
constexpr int first_unknown(const block& b) {
  for (int a = 0; a < b.axes.size(); ++a)
    if (!b.axes[a].is_whole() && b.axes[a].start.node().op != ir::opcode::constant) return a;
  return -1;
}

/// x with y in the place of a block that lies inside x, by steps that write only the block. A piece (see is_piece()) is written along one axis that
/// joins its axes. Any other block is written to a copy of the rows of one axis, and the rows to x. The start of a step is never a constant: constant
/// starts become a `where`.
template <class T>
constexpr value write_pieces(value x, value y, const block& b) {
  ir::builder& g = *x.graph;
  const extents shape = x.shape(), of_block = y.shape();
  const int first = b.first(), unknown = first_unknown(b);
  if (unknown < 0) return pointwise_value<where>(inside_of<T>(g, x.node().shape, b, "dynamic_update"), padded_to(y, shape, b), x);
  if (!is_piece(b, of_block)) {
    const block_axis& rows = b.axes[unknown];
    block within;
    for (int a = 0; a < shape.rank; ++a) within.add(a == unknown ? block_axis{} : b.axes[a]);
    const value read = gathered(x, positions_from(rows.start, rows.length, shape[unknown], "dynamic_update"), unknown);
    return updated_inside(x, write_pieces<T>(read, y, within), rows.start, unknown);
  }
  extents flat, piece;
  value start;
  std::int64_t stride = 1;
  for (int a = b.last; a >= first; --a) {
    if (!b.axes[a].is_whole()) {
      const value at = cast_to(b.axes[a].start, dtype::int64), moved = stride == 1 ? at : at * number_of_extent(g, dtype::int64, stride);
      start = start.id == ir::none ? moved : start + moved;
    }
    stride = g.derived(ir::symbol::kind::product, stride, shape[a]);
  }
  for (int a = 0; a < shape.rank; ++a) {
    if (a >= first && a < b.last) continue;
    flat.push_back(a == b.last ? stride : shape[a]);
    piece.push_back(of_block[a]);
  }
  if (first == b.last) return updated_inside(x, y, b.axes[first].start, first);
  return reshape_to(updated_inside(reshape_to(x, flat), reshape_to(y, piece), start, first), shape);
}

/// x with y in the place of a block. y has the shape of the block. Elements are copied and not added or multiplied, so -0.0, infinity and NaN stay.
template <class T>
constexpr value write_block(value x, value y, const block& b) {
  const char* const call = "dynamic_update";
  if (b.positioned == 0) return y;
  ir::builder& g = *x.graph;
  require_block_inside(x, b, call);
  const bool is_small = all_static(x.shape()) && count(x.shape()) <= max_replaced;
  bool is_one_long = true, is_empty = false;
  for (int a = 0; a < b.axes.size(); ++a) {
    if (b.axes[a].is_whole()) continue;
    is_one_long = is_one_long && b.axes[a].length == 1;
    is_empty = is_empty || b.axes[a].length == 0;
  }
  const bool is_known = first_unknown(b) < 0, is_in_one = is_piece(b, y.shape());
  const std::int16_t shape = x.node().shape;
  value placed;
  if (is_one_long && (is_small || is_known)) placed = broadcast_to(y, shape);
  else if (is_small && !is_known && !is_in_one && !is_empty) placed = looked_up_in(y, x.shape(), b);
  else return write_pieces<T>(x, y, b);
  return pointwise_value<where>(inside_of<T>(g, shape, b, call), placed, x);
}

/// The block of x that begins at the starts and has the extents Lengths. Constant starts give a view.
template <class Lengths>
struct dynamic_slice {
  template <class X, class... Start>
  static constexpr auto trace(const X& x, const Start&... start) {
    value v = x;
    block b;
    int axis = 0;
    const auto take = [&](const value& at) {
      const std::int64_t length = Lengths::value[axis];
      if (at.node().op == ir::opcode::constant) {
        const std::int64_t first = at.node().attr;
        require_constant_inside(v, axis, first, length, "dynamic_slice");
        if (first != 0 || length != v.shape()[axis]) v = sliced(v, axis, first > 0 ? first : 0, length, 1);
        b.add({});
      } else {
        b.add({at, length});
      }
      ++axis;
    };
    (take(value(start)), ...);
    return traced<typename X::element_type, Lengths>{x.graph, read_block(v, b, "dynamic_slice").id};
  }
};

/// x with y in the place of the block that begins at the starts.
struct dynamic_update {
  template <class X, class Y, class... Start>
  static constexpr X trace(const X& x, const Y& y, const Start&... start) {
    block b;
    const auto take = [&](const value& at) {
      const int axis = b.axes.size();
      const std::int64_t length = y.shape()[axis];
      const bool is_whole = at.node().op == ir::opcode::constant && at.node().attr == 0 && length == x.shape()[axis];
      b.add(is_whole ? block_axis{} : block_axis{at, length});
    };
    (take(value(start)), ...);
    return X{x.graph, write_block<typename X::element_type>(x, y, b).id};
  }
};

}  // namespace tenure::ops

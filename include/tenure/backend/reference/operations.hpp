// SPDX-License-Identifier: BSL-1.0
// The meaning of each operation, for the reference backend: one scalar at a time, with the functions of libm. A sum is computed in the next
// wider type. This backend is slow.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include <tenure/backend/reference/narrow.hpp>
#include <tenure/backend/reference/pointwise.hpp>
#include <tenure/backend/reference/symbols.hpp>
#include <tenure/ops/structural/registry.hpp>

namespace TENURE_NAMESPACE::reference {

/// How sums and matrix products are added up. wide: in the next wider type. rounded: every product and partial sum is rounded to the type
/// of the result, so it overflows where a loop in this type would. any_order: as rounded, but NaN if another order of terms could overflow.
enum class sums { wide, rounded, any_order };

namespace detail {

template <class T>
struct accumulator { using type = std::conditional_t<std::is_same_v<T, float>, double, long double>; };
template <std::integral T>
struct accumulator<T> { using type = std::uint64_t; };  // wraps around
/// The type in which a sum over elements of type T is computed.
template <class T>
using accumulator_t = typename accumulator<T>::type;

template <class T>
constexpr T identity_of(ir::reduction kind) {
  using limits = std::numeric_limits<T>;
  if (kind == ir::reduction::sum) return T(0);
  if constexpr (std::is_floating_point_v<T>) return kind == ir::reduction::min ? limits::infinity() : -limits::infinity();
  else return kind == ir::reduction::min ? limits::max() : limits::lowest();
}

/// The larger or smaller of two values. If one is NaN, the result is NaN.
template <class T>
constexpr T extremum(ir::reduction kind, T a, T b) {
  if (a != a || b != b) return a != a ? a : b;
  return (kind == ir::reduction::min ? b < a : a < b) ? b : a;
}

/// A partial sum.
template <class T>
class running_sum {
 public:
  void add(sums how, accumulator_t<T> term) {
    if (how == sums::wide) {
      total_ += term;
      return;
    }
    const accumulator_t<T> t = rounded(term);
    total_ = rounded(total_ + t);
    if constexpr (std::is_floating_point_v<T>) {
      if (how != sums::any_order) return;
      has_infinite_ = has_infinite_ || !std::isfinite(t);
      magnitude_ = rounded(magnitude_ + std::fabs(t));
    }
  }
  T get() const {
    if constexpr (std::is_floating_point_v<T>)
      if (!has_infinite_ && !std::isfinite(magnitude_)) return std::numeric_limits<T>::quiet_NaN();
    return static_cast<T>(total_);
  }

 private:
  static accumulator_t<T> rounded(accumulator_t<T> x) { return static_cast<accumulator_t<T>>(static_cast<T>(x)); }

  accumulator_t<T> total_ = 0, magnitude_ = 0;
  bool has_infinite_ = false;
};

/// Computes the value of a node from the values of earlier nodes.
class operations {
 protected:
  operations(const ir::graph_view& g, sums how, std::vector<std::int64_t> symbols) : g_(g), how_(how), symbols_(std::move(symbols)) {}

  /// The value of an operand. While a node computes, operands of narrow types are in lanes.
  const array& value(ir::node_id id) const {
    const array& x = values_[static_cast<std::size_t>(id)];
    if (!in_lanes_ || lane_of(x.type) == x.type) return x;
    return widened_.try_emplace(id, converted(x, lane_of(x.type))).first->second;
  }
  static void copy_element(array& to, std::int64_t at, const array& from, std::int64_t i) {
    const std::size_t bytes = static_cast<std::size_t>(size_of(to.type));
    std::memcpy(to.data.data() + static_cast<std::size_t>(at) * bytes, from.data.data() + static_cast<std::size_t>(i) * bytes, bytes);
  }

  array compute(const ir::node& n) const {
    if (moves_only(n.op)) return computed(n);
    ir::node wide = n;
    wide.type = lane_of(n.type);
    widened_.clear();
    in_lanes_ = true;
    array y = computed(wide);
    in_lanes_ = false;
    if (wide.type == n.type) return y;
    if (n.op == ir::opcode::cast && is_floating(values_[static_cast<std::size_t>(n.in[0])].type)) saturate(y, n.type);
    return converted(y, n.type);
  }

  /// A floating number becomes the nearest integer of a byte.
  static void saturate(array& of_lanes, dtype type) {
    visit_dtype(type, [&]<class T>(element_tag<T>) {
      if constexpr (std::is_integral_v<T> && number::is_narrow<T>)
        for (std::int64_t i = 0; i < of_lanes.size(); ++i)
          of_lanes.as<number::lane_t<T>>()[i] = std::clamp<number::lane_t<T>>(of_lanes.as<number::lane_t<T>>()[i], std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    });
  }

  ir::graph_view g_;
  sums how_;
  std::vector<std::int64_t> symbols_;  // the run-time extents
  std::vector<array> values_;          // of the nodes so far

 private:
  mutable bool in_lanes_ = false;
  mutable std::map<ir::node_id, array> widened_;  // the operands of the node that computes

  static bool moves_only(ir::opcode op) {
    using enum ir::opcode;
    for (const ir::opcode x : {update, concat, gather, pad, broadcast, permute, slice, reshape, stop_gradient, instead, barrier, copy, check})
      if (op == x) return true;
    return false;
  }

  array computed(const ir::node& n) const {
    using ir::opcode;
    array y(n.type, known(g_.shapes[n.shape], symbols_));
    if (ops::is_pointwise(n.op)) return pointwise(n, y);
    if (ops::is_opaque(n.op)) return opaque(n, y);
    switch (n.op) {
      case opcode::constant: return is_floating(n.type) ? fill(y, ir::value_of(n)) : fill(y, n.attr);
      case opcode::iota: return count_up(n, y);
      case opcode::extent: return fill(y, known(n.attr, symbols_));
      case opcode::cast: return cast(n, y);
      case opcode::reduce: return reduce(n, y);
      case opcode::matmul: return matmul(n, y);
      case opcode::scatter: return scatter(n, y);
      case opcode::overlap_add: return overlap_add(n, y);
      case opcode::index_add: return index_add(n, y);
      case opcode::update: return update(n);
      case opcode::concat: return concat(n, y);
      case opcode::gather: return gather(n, y);
      case opcode::pad: {
        const array& x = value(n.in[0]);
        for_each_index(x.shape, [&](extents i) {
          const std::int64_t from = position_of(x.shape, i);
          i[static_cast<int>(n.attr)] = stepped(n, i, y.shape);
          copy_element(y, position_of(y.shape, i), x, from);
        });
        return y;
      }
      case opcode::broadcast:
      case opcode::permute:
      case opcode::slice:
      case opcode::windows:
      case opcode::reshape:
      case opcode::stop_gradient:
      case opcode::instead:
      case opcode::barrier:
      case opcode::copy:
      case opcode::check: return move(n, y);
      case opcode::neg:
      case opcode::add:
      case opcode::sub:
      case opcode::mul:
      case opcode::div:
      case opcode::exp:
      case opcode::opaque: break;  // pointwise, and operations on samples
      case opcode::input:
      case opcode::tuple:
      case opcode::control_flow:
      case opcode::result: break;  // run.hpp
    }
    // There is no default, so compilers warn of an operation that is missing here.
    throw error(tenure::detail::message("reference") << "there is no rule for the operation " << ops::structural_record_of(n.op).name);
  }

  /// The position of index i, along the axis of a slice or a pad, in the longer of the two shapes.
  static std::int64_t stepped(const ir::node& n, const extents& i, const extents& within) {
    const int axis = static_cast<int>(n.attr);
    const std::int64_t at = n.start + i[axis] * n.step;
    if (at < 0 || at >= within[axis])
      throw index_error(tenure::detail::message("reference") << "a slice reaches " << at << " of an axis of " << within[axis]);
    return at;
  }

  /// Operations that move elements: every element of y is a copy of one element of x.
  array move(const ir::node& n, array& y) const {
    using ir::opcode;
    const array& x = value(n.in[0]);
    const bool keeps_order = n.op != opcode::broadcast && n.op != opcode::permute && n.op != opcode::slice && n.op != opcode::windows;
    std::int64_t at = 0;
    for_each_index(y.shape, [&](const extents& i) {
      extents from = i;
      from.rank = x.shape.rank;
      switch (n.op) {
        case opcode::broadcast:
          for (int a = 0; a < x.shape.rank; ++a) from[a] = g_.shape_of(n.in[0])[a] == 1 ? 0 : i[ir::unpack_axis(n.attr, a)];
          break;
        case opcode::permute:
          for (int a = 0; a < x.shape.rank; ++a) from[ir::unpack_axis(n.attr, a)] = i[a];
          break;
        case opcode::slice: from[static_cast<int>(n.attr)] = stepped(n, i, x.shape); break;
        case opcode::windows: from[static_cast<int>(n.attr)] = i[static_cast<int>(n.attr)] * n.step + i[x.shape.rank]; break;
        default: break;  // in the order of the operand
      }
      copy_element(y, at, x, keeps_order ? at : position_of(x.shape, from));
      ++at;
    });
    return y;
  }

  array pointwise(const ir::node& n, array& y) const {
    const scalar_function f = function_of(n.op, ops::record_of(n.op).types == ops::typing::comparison ? value(n.in[0]).type : n.type);
    if (f == nullptr) throw error("tenure: reference: an operation on a type that it has no meaning for");
    const std::byte* x[3] = {};
    std::int64_t step[3] = {};
    for (int k = 0; k < n.arity; ++k) {
      x[k] = value(n.in[k]).data.data();
      step[k] = size_of(value(n.in[k]).type);
    }
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const void* operand[3] = {};
      for (int k = 0; k < n.arity; ++k) operand[k] = x[k] + i * step[k];
      f(operand, y.data.data() + i * size_of(y.type));
    }
    return y;
  }

  template <class V>
  static array fill(array& y, V v) {
    visit_computed(y.type, [&]<class T>(element_tag<T>) {
      for (std::int64_t i = 0; i < y.size(); ++i) y.as<T>()[i] = number::convert<T>(v);
    });
    return y;
  }

  array count_up(const ir::node& n, array& y) const {
    visit_computed(y.type, [&]<class T>(element_tag<T>) {
      std::int64_t at = 0;
      for_each_index(y.shape, [&](const extents& i) { y.as<T>()[at++] = static_cast<T>(i[static_cast<int>(n.attr)]); });
    });
    return y;
  }

  array cast(const ir::node& n, array& y) const {
    const array& x = value(n.in[0]);
    visit_computed(x.type, [&]<class From>(element_tag<From>) {
      visit_computed(y.type, [&]<class To>(element_tag<To>) {
        for (std::int64_t i = 0; i < y.size(); ++i) y.as<To>()[i] = number::convert<To>(x.as<From>()[i]);
      });
    });
    return y;
  }

  array reduce(const ir::node& n, array& y) const {
    const array& x = value(n.in[0]);
    const auto kind = static_cast<ir::reduction>(n.start);
    visit_computed(y.type, [&]<class T>(element_tag<T>) {
      std::vector<running_sum<T>> total(static_cast<std::size_t>(y.size()));
      T* best = y.as<T>();
      for (std::int64_t i = 0; i < y.size(); ++i) best[i] = identity_of<T>(kind);
      std::int64_t at = 0;
      for_each_index(x.shape, [&](const extents& i) {
        extents kept;
        for (int a = 0; a < x.shape.rank; ++a)
          if (!((n.attr >> a) & 1)) kept.push_back(i[a]);
        const std::int64_t to = position_of(y.shape, kept);
        const T v = x.as<T>()[at++];
        if (kind == ir::reduction::sum) total[static_cast<std::size_t>(to)].add(how_, static_cast<accumulator_t<T>>(v));
        else best[to] = extremum(kind, best[to], v);
      });
      if (kind == ir::reduction::sum)
        for (std::int64_t i = 0; i < y.size(); ++i) best[i] = total[static_cast<std::size_t>(i)].get();
    });
    return y;
  }

  /// Computes one sample after the other with the function of the record. Of several results it keeps the one of the node.
  array opaque(const ir::node& n, array& y) const {
    ops::opaque_operations::visit(n.op, [&]<class Record>() {
      const ops::sample_sizes sizes = Record::sizes_of([&](int k) -> const extents& { return k < Record::arity ? value(n.in[k]).shape : y.shape; });
      const std::int64_t of_result = Record::elements_of_result(sizes, static_cast<int>(n.start)), samples = of_result == 0 ? 0 : y.size() / of_result;
      visit_computed(value(n.in[0]).type, [&]<class T>(element_tag<T>) {
        if constexpr (Record::takes_type(dtype_v<T>)) {
          using R = element_of_t<Record::result_type(dtype_v<T>)>;
          for (std::int64_t s = 0; s < samples; ++s) {
            const T* operands[Record::arity];
            for (int k = 0; k < Record::arity; ++k) {
              const array& x = value(n.in[k]);
              operands[k] = reinterpret_cast<const T*>(x.data.data() + s * Record::elements_of_operand(k, sizes) * size_of(x.type));
            }
            if constexpr (Record::results == 1) {
              Record::reference(sizes, operands, y.as<R>() + s * of_result, Record::options_of(n.attr));
            } else {
              std::vector<R> all[Record::results];
              R* to[Record::results];
              for (int r = 0; r < Record::results; ++r) all[r].resize(static_cast<std::size_t>(Record::elements_of_result(sizes, r)) + 1), to[r] = all[r].data();
              Record::reference(sizes, operands, to, Record::options_of(n.attr));
              std::copy_n(to[n.start], of_result, y.as<R>() + s * of_result);
            }
          }
        }
      });
    });
    return y;
  }

  array matmul(const ir::node& n, array& y) const {
    const array &a = value(n.in[0]), &b = value(n.in[1]);
    const int rank = y.shape.rank;
    const std::int64_t depth = a.shape[rank - 1];
    visit_computed(y.type, [&]<class T>(element_tag<T>) {
      std::int64_t at = 0;
      for_each_index(y.shape, [&](const extents& i) {
        running_sum<T> total;
        extents left = i, right = i;
        for (std::int64_t k = 0; k < depth; ++k) {
          left[rank - 1] = right[rank - 2] = k;
          total.add(how_, static_cast<accumulator_t<T>>(a.as<T>()[position_of(a.shape, left)]) *
                              static_cast<accumulator_t<T>>(b.as<T>()[position_of(b.shape, right)]));
        }
        y.as<T>()[at++] = total.get();
      });
    });
    return y;
  }

  array concat(const ir::node& n, array& y) const {
    const int axis = static_cast<int>(n.attr);
    std::int64_t before = 0;
    for (int k = 0; k < 2; ++k) {
      const array& x = value(n.in[k]);
      for_each_index(x.shape, [&](extents i) {
        const std::int64_t from = position_of(x.shape, i);
        i[axis] += before;
        copy_element(y, position_of(y.shape, i), x, from);
      });
      before += x.shape[axis];
    }
    return y;
  }

  /// For an index into the result of gather (or the updates of scatter): the index of the same element in the table.
  static extents looked_up(const extents& i, int axis, const array& indices, const array& table) {
    extents at, which;
    which.rank = indices.shape.rank;
    for (int a = 0; a < which.rank; ++a) which[a] = i[axis + a];
    const std::int64_t row = indices.index(position_of(indices.shape, which));
    if (row < 0 || row >= table.shape[axis])
      tenure::detail::throw_outside("reference", row, table.shape[axis]);
    for (int a = 0; a < table.shape.rank; ++a) at.push_back(a < axis ? i[a] : a == axis ? row : i[a + which.rank - 1]);
    return at;
  }

  array gather(const ir::node& n, array& y) const {
    const array &x = value(n.in[0]), &indices = value(n.in[1]);
    std::int64_t at = 0;
    for_each_index(y.shape, [&](const extents& i) { copy_element(y, at++, x, position_of(x.shape, looked_up(i, static_cast<int>(n.attr), indices, x))); });
    return y;
  }

  array update(const ir::node& n) const {
    array y = value(n.in[1]);
    const array& block = value(n.in[0]);
    const array& starts = value(n.in[2]);
    std::int64_t at = 0;
    for_each_index(block.shape, [&](extents i) {
      std::int64_t& position = i[static_cast<int>(n.attr)];
      position += starts.index(starts.shape.rank == 0 ? 0 : i[0]);
      if (position < 0 || position >= y.shape[static_cast<int>(n.attr)]) tenure::detail::throw_outside("reference", position, y.shape[static_cast<int>(n.attr)]);
      copy_element(y, position_of(y.shape, i), block, at++);
    });
    return y;
  }

  array scatter(const ir::node& n, array& y) const { return add_at(n, value(n.in[0]), value(n.in[1]), nullptr, y); }
  array index_add(const ir::node& n, array& y) const { return add_at(n, value(n.in[2]), value(n.in[0]), &value(n.in[1]), y); }
  /// Element e of window i of an axis belongs to element i * step + e of the axis.
  array overlap_add(const ir::node& n, array& y) const {
    const array& x = value(n.in[0]);
    const int axis = static_cast<int>(n.attr), last = y.shape.rank;
    visit_computed(y.type, [&]<class T>(element_tag<T>) {
      std::vector<running_sum<T>> total(static_cast<std::size_t>(y.size()));
      std::int64_t at = 0;
      for_each_index(x.shape, [&](const extents& i) {
        extents to = i;
        to.rank = last;
        to[axis] = i[axis] * n.step + i[last];
        total[static_cast<std::size_t>(position_of(y.shape, to))].add(how_, static_cast<accumulator_t<T>>(x.as<T>()[at++]));
      });
      for (std::int64_t i = 0; i < y.size(); ++i) y.as<T>()[i] = total[static_cast<std::size_t>(i)].get();
    });
    return y;
  }
  /// Adds the updates in order. Each sum starts with the element of `first` at its place, if `first` is not null.
  array add_at(const ir::node& n, const array& indices, const array& updates, const array* first, array& y) const {
    visit_computed(y.type, [&]<class T>(element_tag<T>) {
      std::vector<running_sum<T>> total(static_cast<std::size_t>(y.size()));
      for (std::int64_t i = 0; first != nullptr && i < y.size(); ++i) total[static_cast<std::size_t>(i)].add(how_, static_cast<accumulator_t<T>>(first->as<T>()[i]));
      std::int64_t at = 0;
      for_each_index(updates.shape, [&](const extents& i) {
        const std::int64_t to = position_of(y.shape, looked_up(i, static_cast<int>(n.attr), indices, y));
        total[static_cast<std::size_t>(to)].add(how_, static_cast<accumulator_t<T>>(updates.as<T>()[at++]));
      });
      for (std::int64_t i = 0; i < y.size(); ++i) y.as<T>()[i] = total[static_cast<std::size_t>(i)].get();
    });
    return y;
  }
};

}  // namespace detail
}  // namespace tenure::reference

// SPDX-License-Identifier: BSL-1.0
// Rewrites a sum of pads as a few concats. The gradient of a function that picks elements, columns or slices of an array is such a sum: each pick
// puts its cotangent back between zeros. Pads at the same place become one pad of a sum. Pads at different places become a concat of their
// operands, with constants in the gaps. Kernels compute the operands of a concat in its memory (materialize.hpp), so each element is written once.
// Law: assemble keeps the meaning. Only the order of sums and the sign of zero may change.
// Cost: n log n for n picks. Picks that overlap are split into layers without overlap, and each layer costs at most n more.
#pragma once

#include <tenure/passes/costs.hpp>
#include <tenure/passes/sliced_operations.hpp>

namespace TENURE_NAMESPACE::passes {

class assembly {
 public:
  using value = ops::value;

  /// Sets `sum` to the sum of these pads. Returns whether it has another form than the pads added up.
  constexpr bool find(const ir::array<value>& pads) {
    sum = sum_of_pads(pads);
    return changes_;
  }
  value sum;

 private:
  struct slot {
    value part;
    std::int64_t start = 0;

    constexpr std::int64_t extent(int axis) const { return part.shape()[axis]; }
    constexpr bool is_at(const slot& x) const { return start == x.start && part.node().shape == x.part.node().shape; }
  };
  /// The array that the pads make: zeros, with the parts between them.
  struct whole {
    extents shape;
    int axis = 0;
    std::int64_t step = 1;

    constexpr std::int64_t length() const { return shape[axis]; }
  };

  static constexpr value plus(const value& a, const value& b) { return a.graph == nullptr || a.id == ir::none ? b : a + b; }
  static constexpr value memory_of(const value& x) { return {*x.graph, below_reshapes(*x.graph, x.id)}; }
  /// Whether a kernel can compute x in the memory of a concat.
  static constexpr bool is_computed(const value& x) {
    const value from = memory_of(x);
    return same_but_ones(from.shape(), x.shape()) && stores_by_strides(from.node().op);
  }

  constexpr value sum_of_pads(const ir::array<value>& pads) {
    ir::array<char> is_done(pads.size(), 0);
    value all;
    for (int i = 0; i < pads.size(); ++i) {
      if (is_done[i]) continue;
      const ir::node first = pads[i].node();
      ir::array<slot> slots;
      for (int j = i; j < pads.size(); ++j) {
        const ir::node n = pads[j].node();
        if (is_done[j] || n.shape != first.shape || n.attr != first.attr || n.step != first.step) continue;
        is_done[j] = 1;
        slots.push_back({ops::operand_of(pads[j], 0), n.start});
      }
      all = plus(all, of_one_axis(slots, {pads[i].shape(), static_cast<int>(first.attr), first.step}));
    }
    return all;
  }

  /// The sum of values of one shape. If all are reshapes of pads, as picks of elements give them, the pads are added below one reshape.
  constexpr value sum_of(const ir::array<value>& terms) {
    if (terms.size() == 1) return terms[0];
    const auto shape_below = [](const value& x) { return x.node().op == ir::opcode::reshape ? ops::operand_of(x, 0).node().shape : std::int16_t{-1}; };
    bool are_reshapes = shape_below(terms[0]) >= 0;
    for (const value& t : terms) are_reshapes = are_reshapes && shape_below(t) == shape_below(terms[0]);
    if (are_reshapes) {
      ir::array<value> below;
      for (const value& t : terms) below.push_back(ops::operand_of(t, 0));
      const value added = sum_of(below);  // before reshape_to(), because this call may move the table of shapes
      return ops::reshape_to(added, extents(terms[0].shape()));
    }
    ir::array<value> pads;
    value all;
    for (const value& t : terms)
      if (t.node().op == ir::opcode::pad) pads.push_back(t);
      else all = plus(all, t);
    return pads.size() == 0 ? all : plus(all, sum_of_pads(pads));
  }

  static constexpr bool is_before(const slot& a, const slot& b) {
    return a.start != b.start ? a.start < b.start : a.part.node().shape < b.part.node().shape;
  }
  /// Sorts the slots by their places. Derivatives give them in this order or in the reverse order, and then n comparisons suffice.
  static constexpr void sort(ir::array<slot>& slots) {
    const int n = slots.size();
    if (n > 1 && slots[n - 1].start < slots[0].start)
      for (int i = 0; i < n / 2; ++i) {
        const slot x = slots[i];
        slots[i] = slots[n - 1 - i];
        slots[n - 1 - i] = x;
      }
    bool is_sorted = true;
    for (int i = 1; i < n && is_sorted; ++i) is_sorted = !is_before(slots[i], slots[i - 1]);
    if (is_sorted) return;
    ir::array<slot> merged(n);
    for (int run = 1; run < n; run *= 2) {
      for (int first = 0; first < n; first += 2 * run) {
        const int middle = first + run < n ? first + run : n, end = middle + run < n ? middle + run : n;
        for (int at = first, a = first, b = middle; at < end; ++at)
          merged[at] = a < middle && (b == end || !is_before(slots[b], slots[a])) ? slots[a++] : slots[b++];
      }
      for (int i = 0; i < n; ++i) slots[i] = merged[i];
    }
  }

  constexpr value of_one_axis(ir::array<slot>& slots, const whole& to) {
    sort(slots);
    ir::array<slot> places;  // one slot for each place
    for (int i = 0; i < slots.size();) {
      const slot first = slots[i];
      ir::array<value> here;
      for (; i < slots.size() && first.is_at(slots[i]); ++i) here.push_back(slots[i].part);
      changes_ = changes_ || here.size() > 1;
      places.push_back({sum_of(here), first.start});
    }
    if (to.step == 1) return of_places(places, to);
    return interleaves(places, to) ? interleaved(places, to) : padded(places, to);
  }

  static constexpr value padded(const ir::array<slot>& places, const whole& to) {
    value all;
    for (const slot& x : places) all = plus(all, ops::padded(x.part, to.axis, x.start, to.length(), to.step));
    return all;
  }

  /// Whether the pads have a step and interleave, such as the even and the odd elements. Then each is a slot of one element along a new axis.
  constexpr bool interleaves(const ir::array<slot>& places, const whole& to) const {
    bool fits = is_static(to.length()) && to.length() % to.step == 0 && to.shape.rank < max_rank && places.size() > 1;
    for (const slot& x : places) fits = fits && x.start < to.step && x.extent(to.axis) * to.step == to.length();
    return fits;
  }
  constexpr value interleaved(ir::array<slot>& places, const whole& to) {
    const auto with_new_axis = [&](std::int64_t extent) {
      extents s;
      for (int a = 0; a < to.shape.rank; ++a) {
        s.push_back(a == to.axis ? to.length() / to.step : to.shape[a]);
        if (a == to.axis) s.push_back(extent);
      }
      return s;
    };
    for (slot& x : places) x.part = ops::reshape_to(x.part, with_new_axis(1));
    return ops::reshape_to(of_places(places, {with_new_axis(to.step), to.axis + 1, 1}), to.shape);
  }

  /// The first place from position `from` on that begins at `start` or later.
  static constexpr int first_at(const ir::array<slot>& places, int from, std::int64_t start) {
    int end = places.size();
    if (from < end && places[from].start >= start) return from;
    while (from < end) {
      const int middle = from + (end - from) / 2;
      if (places[middle].start < start) from = middle + 1;
      else end = middle;
    }
    return from;
  }

  /// The sum of sorted slots, which may overlap. Splits them into layers of slots that do not overlap.
  constexpr value of_places(const ir::array<slot>& places, const whole& to) {
    ir::array<char> is_done(places.size(), 0);
    value all;
    for (int i = 0; i < places.size(); ++i) {
      if (is_done[i]) continue;
      ir::array<slot> layer;
      std::int64_t end = places[i].start;
      for (int j = i; j < places.size(); j = first_at(places, j + 1, end)) {
        if (is_done[j]) continue;
        const std::int64_t extent = places[j].extent(to.axis);
        if (!is_static(extent) && j > i) continue;
        is_done[j] = 1;
        layer.push_back(places[j]);
        if (!is_static(extent)) break;
        end = places[j].start + extent;
      }
      all = plus(all, of_layer(layer, to));
    }
    return all;
  }

  /// The number of zeros after a slot, on an axis of run-time extent, or -1 if this number is not known.
  static constexpr std::int64_t behind(const slot& x, const whole& to) {
    const ir::builder& g = *x.part.graph;
    const std::int64_t n = x.extent(to.axis), length = to.length();
    if (is_static(n) || is_static(length)) return -1;
    if (n == length) return 0;
    const ir::symbol s = g.view().symbols[ir::symbol_of_extent(n)];
    return s.what == ir::symbol::kind::difference && s.a == length && is_static(s.b) && s.b >= x.start ? s.b - x.start : -1;
  }
  /// Whether the part covers all but a few elements of an axis of run-time extent, and has zeros on one side only. With zeros on both sides, the
  /// first concat would have a new run-time extent, and a body cannot have one.
  static constexpr bool is_filled_at_run_time(const slot& x, const whole& to) {
    const std::int64_t after = behind(x, to);
    const bool has_known_extents = x.start == 0 || after == 0, is_thin = after >= 0 && x.start + after > 0 && x.start + after <= costs::units_of_gap;
    return is_thin && has_known_extents && x.part.type() != dtype::boolean && is_computed(x.part);
  }
  static constexpr value filled_at_run_time(const slot& x, const whole& to) {
    ir::builder& g = *x.part.graph;
    const std::int64_t after = behind(x, to), gap = x.start + after;
    extents s = to.shape;
    s[to.axis] = gap;
    const value zeros{g, g.constant(x.part.type(), g.intern(s), 0)};
    return after == 0 ? ops::concatenated(zeros, x.part, to.axis) : ops::concatenated(x.part, zeros, to.axis);
  }

  /// The sum of sorted slots that do not overlap.
  constexpr value of_layer(ir::array<slot>& layer, const whole& to) {
    for (slot& x : layer) x.part = sliced_operations::of(x.part);
    if (!is_static(layer[0].extent(to.axis))) {
      if (!is_filled_at_run_time(layer[0], to)) return padded(layer, to);
      changes_ = true;
      return filled_at_run_time(layer[0], to);
    }
    if (is_filled(layer, to)) {
      changes_ = true;
      return filled(layer, to);
    }
    value all, run;
    std::int64_t start = 0, end = 0;
    for (const slot& x : layer) {
      const bool continues = run.graph != nullptr && x.start == end;
      if (!continues && run.graph != nullptr) all = plus(all, ops::padded(run, to.axis, start, to.length(), 1));
      changes_ = changes_ || continues;
      run = continues ? ops::concatenated(run, x.part, to.axis) : x.part;
      if (!continues) start = x.start;
      end = x.start + x.extent(to.axis);
    }
    return plus(all, ops::padded(run, to.axis, start, to.length(), 1));
  }

  /// The gaps of a layer. Short gaps are filled with a constant for each unit, which the kernel of the parts can store. If this would need many more constants
  /// than parts, they are filled with constants of 1, 2, 4, 8 and 16 units. Then at most 5 kernels fill all short gaps, and at most 4 constants fill one gap.
  struct gaps {
    std::int64_t unit = 1;
    bool are_slots = false;     // all slots have the extent `unit`, and it divides the axis
    bool by_unit = true;        // fill short gaps with one constant for each unit
    std::int64_t covered = 0;   // the elements of the axis that slots cover
    int runs = 0;               // the number of runs: slots without a gap between them
    std::int64_t units = 0;     // the units of all short gaps
    int others = 0;             // the number of different extents of long gaps
    std::int64_t other[costs::different_gaps + 1] = {};

    constexpr bool is_short(std::int64_t gap) const { return gap <= costs::units_of_gap * unit; }
    constexpr void see(std::int64_t gap) {
      if (is_short(gap)) {
        units += gap / unit;
        return;
      }
      bool known = others > costs::different_gaps;
      for (int i = 0; i < others && !known; ++i) known = other[i] == gap;
      if (!known) other[others++] = gap;
    }
    /// The extent of the first constant of a gap.
    constexpr std::int64_t piece(std::int64_t gap) const {
      if (!is_short(gap)) return gap;
      std::int64_t n = unit;
      while (!by_unit && 2 * n <= gap) n *= 2;
      return n;
    }
  };
  static constexpr gaps gaps_of(const ir::array<slot>& layer, const whole& to) {
    gaps found;
    const std::int64_t n = layer[0].extent(to.axis);
    found.are_slots = n > 0 && to.length() % n == 0;
    for (const slot& x : layer) found.are_slots = found.are_slots && x.extent(to.axis) == n && x.start % n == 0;
    if (found.are_slots) found.unit = n;
    std::int64_t end = 0;
    for (const slot& x : layer) {
      found.runs += x.start != end || found.runs == 0;
      found.see(x.start - end);
      end = x.start + x.extent(to.axis);
      found.covered += x.extent(to.axis);
    }
    found.see(to.length() - end);
    found.by_unit = found.units <= 2 * std::int64_t{layer.size()} + costs::units_of_constants;
    return found;
  }

  /// Whether constants in the gaps cost less than pads. Each pad writes the whole array.
  static constexpr bool is_filled(const ir::array<slot>& layer, const whole& to) {
    if (!is_static(to.length()) || layer[0].part.type() == dtype::boolean) return false;
    const gaps g = gaps_of(layer, to);
    if (g.covered == to.length() && layer.size() > 1) return true;
    if (g.others > costs::different_gaps) return false;
    if (g.runs > 1) return true;
    const bool is_row_of_slots = g.are_slots && g.others == 0 && g.by_unit;
    const bool is_thin = costs::elements_of_thin * (to.length() - g.covered) <= to.length(), is_small = all_static(to.shape) && count(to.shape) <= costs::small_array;
    bool are_computed = true;
    for (const slot& x : layer) are_computed = are_computed && is_computed(x.part);
    // An argument is copied to its place. A pad would write zeros there before; but it copies a permuted argument faster than a kernel.
    const bool is_argument = layer.size() == 1 && layer[0].part.node().op == ir::opcode::input, is_large = all_static(to.shape) && count(to.shape) >= costs::filled_argument;
    return (are_computed && (is_row_of_slots || is_thin || is_small)) || (is_argument && is_thin && is_large);
  }

  static constexpr value filled(const ir::array<slot>& layer, const whole& to) {
    ir::builder& g = *layer[0].part.graph;
    const dtype type = layer[0].part.type();
    const gaps between = gaps_of(layer, to);
    value all;
    const auto append = [&](const value& part) { all = ops::concatenated(all, part, to.axis); };
    const auto zeros = [&](std::int64_t extent) {
      extents s = to.shape;
      s[to.axis] = extent;
      const value like = memory_of(layer[0].part);
      const std::int16_t shape = g.intern(s);
      if (!between.are_slots || extent != between.unit || !same_but_ones(like.shape(), s)) return value{g, g.constant(type, shape, 0)};
      // The constant has the shape of the kernel that computes the parts. It is appended without rewriting, because the algebra would remove the reshape.
      const ir::node_id zero = g.constant(type, like.node().shape, 0);
      if (like.node().shape == shape) return value{g, zero};
      return value{g, g.append({.op = ir::opcode::reshape, .type = type, .arity = 1, .shape = shape, .in = {zero, ir::none, ir::none}})};
    };
    value last;
    std::int64_t last_zeros = 0;
    const auto fill = [&](std::int64_t gap, bool is_in_front = false) {
      while (gap > 0) {
        const std::int64_t n = between.piece(gap);
        if (n != last_zeros) last = zeros(n), last_zeros = n;
        if (is_in_front) all = ops::concatenated(last, all, to.axis);
        else append(last);
        gap -= n;
      }
    };
    // The first concat contains the first part: cse would merge a concat of zeros only with those of other layers, and it would be copied to each.
    std::int64_t end = 0;
    for (const slot& x : layer) {
      if (all.graph != nullptr) fill(x.start - end), append(x.part);
      else all = x.part, fill(x.start, true);
      end = x.start + x.extent(to.axis);
    }
    fill(to.length() - end);
    return all;
  }

  bool changes_ = false;
};

}  // namespace tenure::passes

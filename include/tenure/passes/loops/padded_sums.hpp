// SPDX-License-Identifier: BSL-1.0
// Sums of pads over the iterations of a scan. If an iteration reads rows of a weight, its cotangent of the weight is a sum of pads, one for each row.
// All iterations pad a row at the same place, so the rows are summed over the iterations first, and padded once after the loop. Each row is a carry.
// The iteration is then elementwise: it runs as one kernel, and the carries stay in registers.
#pragma once

#include <tenure/passes/loops/derived_body.hpp>
#include <tenure/passes/loops/sum_of_others.hpp>

namespace TENURE_NAMESPACE::passes {

class padded_sums {
 public:
  constexpr padded_sums(ir::builder& g, derived_body& body) : g_(g), body_(body) {}

  /// Removes pads from the sum `sum`, the cotangent of a capture. Returns the other terms, or none if no term is left.
  constexpr ir::node_id take(int capture, ir::node_id sum) {
    return sum_of_others(g_, body_.first(), sum, [&](ir::node_id term) { return takes(capture, term); });
  }

  /// Appends a carry for each part: its input to `carries`, and its next value to `next`. Call this function before the body is outlined.
  constexpr void add_carries(id_list& carries, id_list& next) {
    for (int i = 0; i < parts_.size(); ++i) {
      const ir::node_id carry = body_.input(parts_[i].type, parts_[i].shape);
      carries.push_back(carry);
      next.push_back((ops::value(g_, carry) + ops::value(g_, parts_[i].part)).id);
      for (ir::node_id id = parts_[i].sum; is_view(g_[id].op); id = g_[id].in[0]) views_.push_back(g_[id]), view_of_.push_back(i);
    }
  }
  /// Appends the start values of these carries.
  constexpr void add_zeros(id_list& operands) {
    for (const one& p : parts_) operands.push_back(g_.constant(p.type, p.shape, 0));
  }
  /// Pads the sum of each part and calls accumulate(capture, cotangent). next_result() returns the final values of the carries, one for each call.
  template <class Result, class Accumulate>
  constexpr void finish(Result next_result, Accumulate accumulate) {
    for (int i = 0; i < parts_.size(); ++i) {
      ir::node_id y = next_result();
      for (int v = views_.size() - 1; v >= 0; --v)
        if (view_of_[v] == i) {
          ir::node n = views_[v];
          n.in[0] = y;
          y = g_.emit(n);
        }
      accumulate(parts_[i].capture, y);
    }
  }

 private:
  struct one {
    int capture;
    ir::node_id sum, part;  // the padded term, and its part without the pads
    dtype type;
    std::int16_t shape;
  };

  constexpr bool takes(int capture, ir::node_id term) {
    ir::node_id part = term;
    bool is_padded = false;
    for (; part >= body_.first() && is_view(g_[part].op); part = g_[part].in[0]) is_padded = is_padded || g_[part].op == ir::opcode::pad;
    if (!is_padded || part < body_.first() || !is_row(part) || parts_.size() == costs::padded_parts) return false;
    for (one& other : parts_)
      if (other.capture == capture && have_one_place(other.sum, term)) {
        other.part = (ops::value(g_, other.part) + ops::value(g_, part)).id;
        return true;
      }
    parts_.push_back({capture, term, part, g_[part].type, g_[part].shape});
    return true;
  }

  static constexpr bool is_view(ir::opcode op) { return op == ir::opcode::pad || op == ir::opcode::reshape; }
  constexpr bool is_row(ir::node_id id) const {
    std::int64_t elements = 1;
    const extents& e = g_.shape_of(id);
    for (int a = 0; a < e.rank; ++a) {
      if (!is_static(e[a])) return true;
      elements *= e[a];
    }
    return elements >= costs::min_padded_elements && elements <= costs::max_padded_elements;
  }
  constexpr bool have_one_place(ir::node_id a, ir::node_id b) const {
    for (; is_view(g_[a].op) && is_view(g_[b].op); a = g_[a].in[0], b = g_[b].in[0]) {
      const ir::node &x = g_[a], &y = g_[b];
      if (x.op != y.op || x.shape != y.shape || x.attr != y.attr || x.start != y.start || x.step != y.step) return false;
    }
    return !is_view(g_[a].op) && !is_view(g_[b].op) && g_[a].shape == g_[b].shape;
  }

  ir::builder& g_;
  derived_body& body_;
  ir::array<one> parts_;
  ir::array<ir::node> views_;
  ir::array<int> view_of_;
};

}  // namespace tenure::passes

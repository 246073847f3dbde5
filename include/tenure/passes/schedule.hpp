// SPDX-License-Identifier: BSL-1.0
// Clusters become steps: buffers for what must be in memory, instructions for the rest, loop dimensions merged where
// every access allows it.
#pragma once

#include <tenure/passes/fuse.hpp>

namespace tenure::passes {

class scheduler {
 public:
  constexpr scheduler(const ir::graph_view& g, const clusters_view& c)
      : g_(g), clusters_(c), in_memory_(g.count, 0), buffer_of_(g.count, -1), slot_(g.count, -1), slot_of_kernel_(g.count, -1), root_(g.count, ir::none), row_major_(g.shape_count), elements_(g.shape_count, number{-1, 0}) {
    for (ir::node_id id = 0; id < g.count; ++id) root_[id] = is_view(g[id].op) ? root_[g[id].in[0]] : id;
  }

  constexpr plan_builder run() {
    find_memory();
    make_buffers();
    const int positions = clusters_.count;
    ir::array<ir::node_id> head(positions, ir::none), next(g_.count, ir::none);
    for (ir::node_id id = g_.count - 1; id >= 0; --id)
      if (const int p = clusters_.of[id]; p >= 0) {
        next[id] = head[p];
        head[p] = id;
      }
    for (int p = positions - 1; p >= 0; --p) {
      if (clusters_.at[p].opaque != ir::none) write_opaque(clusters_.at[p].opaque);
      else write_kernel(p, head[p], next);
    }
    note_lifetimes();
    return static_cast<plan_builder&&>(plan_);
  }

 private:
  /// What another step reads, or the caller, has memory.
  constexpr void find_memory() {
    for (int i = 0; i < g_.output_count; ++i) in_memory_[root_[g_.outputs[i]]] = 1;
    for (ir::node_id id = 0; id < g_.count; ++id) {
      const int p = clusters_.of[id];
      if (p < 0) continue;
      for (int k = 0; k < g_[id].arity; ++k)
        if (const ir::node_id root = root_[g_[id].in[k]]; clusters_.of[root] != p) in_memory_[root] = 1;
    }
  }

  constexpr void make_buffers() {
    for (ir::node_id id = 0; id < g_.count; ++id) {
      const ir::node& n = g_[id];
      const bool computed = clusters_.of[id] >= 0 && in_memory_[id];
      if (n.op != ir::opcode::input && !computed) continue;
      buffer b{.type = n.type, .index = -1, .elements = {1, 0}};
      number& elements = elements_[n.shape];
      if (elements.factor < 0) {
        const extents& s = g_.shape_of(id);
        elements = {1, 0};
        for (int a = 0; a < s.rank; ++a) elements = elements * number_of(s[a]);
      }
      b.elements = elements;
      if (n.op == ir::opcode::input) {
        b.where = buffer::place::argument;
        b.index = static_cast<int>(n.attr);
      }
      buffer_of_[id] = plan_.buffers.push_back(b);
    }
    for (int i = 0; i < g_.output_count; ++i) {
      buffer& b = plan_.buffers[buffer_of_[root_[g_.outputs[i]]]];
      b.where = buffer::place::result;
      b.index = i;
    }
  }

  constexpr access access_of(ir::node_id id) {
    const ir::node& n = g_[id];
    const bool plain = is_source(n.op) ? n.op == ir::opcode::input && n.start == 0 : !is_view(n.op);
    access a;
    if (plain) {
      // Row-major strides are computed once a shape.
      access& known = row_major_[n.shape];
      if (known.root == ir::none) known = row_major(0, g_.shapes[n.shape]);
      a = known;
      a.root = id;
    } else {
      a = layout_of(g_, id);
    }
    a.type = g_[a.root].type;
    a.rank = static_cast<std::int8_t>(g_.shapes[n.shape].rank);
    const bool counts = g_[a.root].op == ir::opcode::iota || g_[a.root].op == ir::opcode::extent;
    if (!counts) a.buffer = static_cast<std::int16_t>(buffer_of_[a.root]);
    return a;
  }

  constexpr void write_opaque(ir::node_id id) {
    const ir::node& n = g_[id];
    step s{.node = id, .first_access = plan_.accesses.size(), .access_count = n.arity + 1};
    s.what = n.op == ir::opcode::matmul    ? step::kind::matmul
             : n.op == ir::opcode::gather  ? step::kind::gather
             : n.op == ir::opcode::scatter ? step::kind::scatter
             : n.op == ir::opcode::pad     ? step::kind::pad
             : n.op == ir::opcode::check   ? step::kind::check
                                           : step::kind::concat;
    for (int k = 0; k < n.arity; ++k) plan_.accesses.push_back(access_of(n.in[k]));
    plan_.accesses.push_back(access_of(id));
    plan_.steps.push_back(s);
  }

  // ---- one fused kernel ----

  /// An access along the axes of the kernel's space: of a value per element, or of a value per row.
  constexpr access along_space(const cluster& c, ir::node_id id) {
    access from = access_of(id), a = from;
    const extents& space = g_.shapes[c.space];
    const extents& s = g_.shape_of(id);
    a.rank = static_cast<std::int8_t>(space.rank);
    if (g_[id].shape == c.space) return a;
    for (int d = 0; d < from.rank || d < space.rank; ++d) a.stride[d] = {};
    for (int d = 0, i = 0; d < space.rank; ++d) {
      if (((c.inner >> d) & 1) || space[d] == 1) continue;
      while (i < s.rank && s[i] == 1) ++i;
      a.stride[d] = from.stride[i++];
    }
    return a;
  }

  constexpr int add_instruction(const instruction& i) { return plan_.instructions.push_back(i) - first_; }
  constexpr instruction& at(int slot) { return plan_.instructions[first_ + slot]; }
  constexpr int add_access(const access& a) { return plan_.accesses.push_back(a) - first_access_; }

  constexpr bool is_per_row(const cluster& c, const access& a) const {
    for (int d = 0; d < a.rank; ++d)
      if (((c.inner >> d) & 1) && a.stride[d].factor != 0 && g_.shapes[c.space][d] != 1) return false;
    return true;
  }

  /// The slot that holds an operand: computed here, or loaded now.
  constexpr int operand(int p, ir::node_id id) {
    const cluster& c = clusters_.at[p];
    if (slot_of_kernel_[id] == p) return slot_[id];
    const ir::node_id root = root_[id];
    int slot = -1;
    if (clusters_.of[root] == p) {
      slot = slot_[root];
    } else if (g_[root].op == ir::opcode::constant) {
      slot = add_instruction({.what = instruction::kind::constant, .is_mask = g_[root].type == dtype::boolean, .row = true, .bits = g_[root].attr});
      if (!is_floating(g_[root].type) && is_floating(c.lane) && g_[root].type != dtype::boolean)
        at(slot).bits = ir::bits_of(c.lane, ir::value_of(g_[root]));
    } else {
      const access a = along_space(c, id);
      slot = add_instruction({.what = instruction::kind::load, .is_mask = a.buffer >= 0 && a.type == dtype::boolean, .row = is_per_row(c, a),
                              .access = static_cast<std::int16_t>(add_access(a))});
    }
    slot_[id] = slot;
    slot_of_kernel_[id] = p;
    return slot;
  }

  constexpr void write_kernel(int p, ir::node_id head, const ir::array<ir::node_id>& next) {
    const cluster& c = clusters_.at[p];
    const extents& space = g_.shapes[c.space];
    first_ = plan_.instructions.size();
    first_access_ = plan_.accesses.size();
    bool free = true;  // no result depends on what is a row and what is not
    for (ir::node_id id = head; id != ir::none; id = next[id]) {
      const ir::node& n = g_[id];
      instruction i{.op = n.op, .is_mask = n.type == dtype::boolean, .row = true};
      for (int k = 0; k < n.arity; ++k) {
        i.in[k] = static_cast<std::int16_t>(operand(p, n.in[k]));
        const instruction& from = at(i.in[k]);
        i.row = i.row && from.row;
        i.phase = from.phase > i.phase ? from.phase : i.phase;
      }
      int slot;
      if (n.op == ir::opcode::reduce) {
        const bool over_rows_results = g_[n.in[0]].shape != c.space;
        const bool along_row = !over_rows_results && n.attr == c.inner, over_all = over_rows_results || n.attr == whole(space.rank);
        i.what = along_row ? instruction::kind::reduce_row : over_all ? instruction::kind::reduce_all : instruction::kind::reduce_columns;
        i.bits = n.start;
        i.row = along_row || over_rows_results;
        if (along_row) ++i.phase;
        else i.access = static_cast<std::int16_t>(add_access(along_row ? access{} : result_access(c, id, over_all)));
        slot = add_instruction(i);
        free = free && i.what == instruction::kind::reduce_all && !over_rows_results;
        if (along_row && in_memory_[id]) add_store(c, id, slot, true);
      } else {
        const bool per_row = n.shape != c.space;
        free = free && !per_row;
        slot = add_instruction(i);
        if (in_memory_[id]) add_store(c, id, slot, per_row);
      }
      slot_[id] = slot;
      slot_of_kernel_[id] = p;
    }
    kernel k{.lane = c.lane, .first_instruction = first_, .instruction_count = plan_.instructions.size() - first_,
             .first_access = first_access_, .access_count = plan_.accesses.size() - first_access_};
    k.passes = assign_passes();
    arrange_dimensions(c, k, free);
    plan_.steps.push_back({.what = step::kind::fused, .kernel = plan_.kernels.push_back(k)});
  }

  /// Where a reduction over all elements (rank 0) or over the rows (one value a column) accumulates.
  constexpr access result_access(const cluster& c, ir::node_id id, bool over_all) {
    access a = access_of(id);
    const extents& space = g_.shapes[c.space];
    const access from = a;
    for (int d = 0; d < max_rank; ++d) a.stride[d] = {};
    a.rank = static_cast<std::int8_t>(space.rank);
    if (!over_all)
      for (int d = 0, i = 0; d < space.rank; ++d)
        if ((c.inner >> d) & 1) a.stride[d] = from.stride[i++];
    return a;
  }

  constexpr void add_store(const cluster& c, ir::node_id id, int slot, bool per_row) {
    add_instruction({.what = instruction::kind::store, .is_mask = g_[id].type == dtype::boolean, .row = per_row, .phase = at(slot).phase,
                     .in = {static_cast<std::int16_t>(slot), -1, -1}, .access = static_cast<std::int16_t>(add_access(along_space(c, id)))});
  }

  /// Marks each per-element instruction with the passes over the row that need it; gives the number of passes.
  constexpr std::uint8_t assign_passes() {
    int passes = 0;
    for (int s = plan_.instructions.size() - first_ - 1; s >= 0; --s) {
      instruction& i = at(s);
      const bool sink = i.what == instruction::kind::reduce_row || i.what == instruction::kind::reduce_columns ||
                        (i.what == instruction::kind::reduce_all && !i.row) || (i.what == instruction::kind::store && !i.row);
      if (sink) {
        const int pass = at(i.in[0]).phase;
        i.passes = static_cast<std::uint16_t>(1 << pass);
        passes = pass + 1 > passes ? pass + 1 : passes;
      } else if (i.row) {
        continue;
      }
      for (int k = 0; k < 3 && i.in[k] >= 0; ++k)
        if (instruction& from = at(i.in[k]); !from.row) from.passes = static_cast<std::uint16_t>(from.passes | i.passes);
    }
    return static_cast<std::uint8_t>(passes);
  }

  constexpr void arrange_dimensions(const cluster& c, kernel& k, bool free) {
    const extents& space = g_.shapes[c.space];
    int axis[max_rank] = {}, n = 0, outer = 0;
    for (int half = 0; half < 2; ++half) {
      for (int d = 0; d < space.rank; ++d) {
        const bool inner = (c.inner >> d) & 1;
        if (space[d] != 1 && (free ? half == 0 : inner == (half == 1))) axis[n++] = d;
      }
      if (half == 0) outer = free ? 0 : n;
    }
    // Merge neighbours of a block where walking one after the other is walking one long dimension.
    number extent[max_rank];
    for (int i = 0; i < n; ++i) extent[i] = number_of(space[axis[i]]);
    const int accesses = k.access_count;
    bool moved = n != space.rank;
    for (int d = 0; d < n; ++d) moved = moved || axis[d] != d;
    for (int a = 0; moved && a < accesses; ++a) {
      access& x = plan_.accesses[first_access_ + a];
      const access from = x;
      for (int d = 0; d < space.rank; ++d) x.stride[d] = d < n ? from.stride[axis[d]] : number{};
    }
    for (int i = n - 2; i >= 0; --i) {
      if (!free && i + 1 == outer) continue;
      bool merges = true;
      for (int a = 0; merges && a < accesses; ++a) {
        const access& x = plan_.accesses[first_access_ + a];
        merges = x.stride[i] == x.stride[i + 1] * extent[i + 1];
      }
      if (!merges) continue;
      extent[i] = extent[i] * extent[i + 1];
      for (int d = i + 1; d + 1 < n; ++d) extent[d] = extent[d + 1];
      for (int a = 0; a < accesses; ++a) {
        access& x = plan_.accesses[first_access_ + a];
        for (int d = i; d + 1 < n; ++d) x.stride[d] = x.stride[d + 1];
        x.stride[n - 1] = {};
      }
      --n;
      if (i < outer) --outer;
    }
    if (free) outer = n > 0 ? n - 1 : 0;
    if (n == outer) {  // a row of one element
      extent[n] = {1, 0};
      for (int s = 0; s < k.instruction_count; ++s) {
        const instruction& i = at(s);
        const bool moves = i.access >= 0 && !i.row && i.what != instruction::kind::reduce_all;
        if (moves) plan_.accesses[first_access_ + i.access].stride[n] = {1, 0};
      }
      ++n;
    }
    k.outer = static_cast<std::int8_t>(outer);
    k.inner = static_cast<std::int8_t>(n - outer);
    for (int d = 0; d < n; ++d) k.extent[d] = extent[d];
    if (n != space.rank)
      for (int a = 0; a < accesses; ++a) plan_.accesses[first_access_ + a].rank = static_cast<std::int8_t>(n);
  }

  /// When a workspace buffer is first written and last read.
  constexpr void note_lifetimes() {
    for (buffer& b : plan_.buffers) b.first = plan_.steps.size();
    for (int s = 0; s < plan_.steps.size(); ++s) {
      const step& t = plan_.steps[s];
      const bool fused = t.what == step::kind::fused;
      const int from = fused ? plan_.kernels[t.kernel].first_access : t.first_access;
      const int count = fused ? plan_.kernels[t.kernel].access_count : t.access_count;
      for (int a = from; a < from + count; ++a)
        if (const int b = plan_.accesses[a].buffer; b >= 0) {
          if (s < plan_.buffers[b].first) plan_.buffers[b].first = s;
          plan_.buffers[b].last = s;
        }
    }
  }

  ir::graph_view g_;
  clusters_view clusters_;
  ir::array<char> in_memory_;
  ir::array<std::int32_t> buffer_of_;
  ir::array<std::int32_t> slot_, slot_of_kernel_;
  ir::array<ir::node_id> root_;     // below the views
  ir::array<access> row_major_;  // shape -> strides
  ir::array<number> elements_;   // shape -> count
  plan_builder plan_;
  int first_ = 0, first_access_ = 0;
};

constexpr plan_builder schedule(const ir::graph_view& g, const clusters_view& c) { return scheduler(g, c).run(); }

constexpr plan_builder schedule(const ir::graph_view& g) {
  const clusters c = fuse(g);
  return schedule(g, c.view());
}

}  // namespace tenure::passes

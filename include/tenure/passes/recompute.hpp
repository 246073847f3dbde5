// SPDX-License-Identifier: BSL-1.0
// Chooses which values of earlier kernels a kernel reads and which it computes again. A value that one kernel computes and another reads costs a
// write and a read of memory. In a gradient it also needs the memory from the forward half to the backward half. If a few cheap operations on
// values that the second kernel reads anyway give the value, the second kernel computes it again. So the residuals of a gradient are matrix
// products, reductions and functions like tanh, and not the cheap values between them.
// A function, a division or a reduction is never computed twice, because this takes longer than reading its result. Random bits are an exception:
// they are computed again from their key, so that a mask of dropout needs no memory between the two halves.
// A value that is selected by a bool is computed again from the bool, which takes an eighth of the memory of a double.
// Law: recompute keeps the meaning, and the steps read and write no more bytes than before.
// Cost: a constant time for each operand of each kernel, because work_for_a_read limits the work for one value.
#pragma once

#include <tenure/passes/fuse.hpp>

namespace TENURE_NAMESPACE::passes {

class recomputer {
 public:
  constexpr recomputer(const ir::graph_view& g, const fusion_groups_view& c) : g_(g), groups_(c) {
    ir::array<char> has_candidates(c.count, 0);
    bool is_any = false;
    for (ir::node_id id = 0; id < g.count; ++id) {
      const ir::node& n = g.nodes[id];
      const int p = c.of[id];
      if (p < 0 || c.at[p].alone != ir::none) continue;
      for (int k = 0; k < n.arity; ++k)
        if (is_cheap(n.in[k], p)) has_candidates[p] = is_any = true;
    }
    if (!is_any) return;
    collect();
    for (int p = 0; p < c.count; ++p)
      if (has_candidates[p]) choose(p);
  }

  /// Whether any kernel computes something again.
  constexpr bool any() const { return copies_.size() > 0; }

  constexpr ir::builder run() {
    ir::builder out(g_);
    ir::array<ir::node_id> renamed(g_.count, ir::none);
    for (ir::node_id id = 0; id < g_.count; ++id) {
      ir::node n = with_renamed_operands(g_[id], renamed.data());
      if (groups_.of[id] >= 0 && !reads_memory(g_, g_[id]))
        for (int k = 0; k < n.arity; ++k)
          if (const int c = copy_in(groups_.of[id], g_[id].in[k]); c >= 0) n.in[k] = emit(c, renamed, out);
      renamed[id] = out.emit(n);
    }
    finish(g_, renamed, out);
    return out;
  }

 private:
  static constexpr int nobody = -1, several = -2;
  // The nodes that a value needs and that the kernel does not read: no node, one node (its id), or more nodes.
  static constexpr ir::node_id nothing = -1, too_much = -2;

  /// The data of a node for one kernel, `of`.
  struct note {
    int of = -1;          // the kernel for which `missing` and `work` are known
    int read_by = -1;     // the last kernel that was found to read the node
    int stays_for = -1;   // the last kernel that must read the node from memory: through a view, or to copy it
    int chosen_in = -1;   // the last kernel that computes the node again
    ir::node_id missing = nothing;
    int work = 0;         // the number of operations to compute the node again
    // For a missing node: if kernel counted_in reads it, so many bytes of reads and writes (saves) and of memory (frees) are saved for an element.
    int saves = 0, frees = 0, counted_in = -1;
    int copies = -1;      // head of the list of copies of the node in copies_
  };
  /// A node that a kernel computes again.
  struct copy {
    ir::node_id id;
    int kernel;
    int next;  // a copy of the same node in another kernel
    ir::node_id emitted = ir::none;
  };

  /// Collects the nodes of each kernel, and the reader of each node.
  constexpr void collect() {
    next_.resize(g_.count, ir::none), head_.resize(groups_.count, ir::none), reader_.resize(g_.count, nobody);
    all_notes_.resize(g_.count);
    notes_ = all_notes_.data();
    for (ir::node_id id = g_.count - 1; id >= 0; --id) {
      const int p = groups_.of[id];
      if (p < 0) continue;
      next_[id] = head_[p];
      head_[p] = id;
      const auto note_reader = [&](ir::node_id operand) {
        const ir::node_id root = groups_.root[operand];
        if (groups_.of[root] != p) reader_[root] = reader_[root] == nobody || reader_[root] == p ? p : several;
      };
      for (int k = 0; k < g_.nodes[id].arity; ++k) ir::for_each_operand(g_.nodes, g_.nodes[id].in[k], note_reader);
    }
    for (int i = 0; i < groups_.concat_count; ++i)
      for (int k = 0; k < 2; ++k) reader_[groups_.root[g_.nodes[groups_.concats[i]].in[k]]] = several;
    for (int i = 0; i < g_.output_count; ++i) reader_[groups_.root[g_.outputs[i]]] = several;
  }

  constexpr void choose(int p) {
    ir::array<ir::node_id> reads;
    for (ir::node_id id = head_[p]; id != ir::none; id = next_[id]) {
      const bool from_memory = reads_memory(g_, g_.nodes[id]);
      for (int k = 0; k < g_.nodes[id].arity; ++k) {
        const ir::node_id operand = g_.nodes[id].in[k], root = groups_.root[operand];
        if (groups_.of[root] == p || is_number(root)) continue;
        if (from_memory || operand != root) notes_[root].stays_for = p;
        if (from_memory || notes_[operand].read_by == p) continue;
        notes_[operand].read_by = p;
        reads.push_back(operand);
      }
    }
    if (reads.size() > costs::reads_per_kernel / 2) return;
    bool is_any = false;
    for (const ir::node_id id : reads) {
      if (!is_cheap(id, p) || notes_[id].stays_for == p) continue;
      const ir::node_id missing = missing_for(id, p);
      if (missing == too_much || notes_[id].work > costs::work_for_a_read) continue;
      is_any = true;
      if (missing == nothing) {
        notes_[id].chosen_in = p;
        continue;
      }
      note& leaf = notes_[missing];
      if (leaf.counted_in != p) leaf.counted_in = p, leaf.saves = leaf.frees = 0;
      const bool is_only_reader = reader_[id] == p;
      leaf.saves += (is_only_reader ? 2 : 1) * bytes_of(id);
      leaf.frees += is_only_reader ? bytes_of(id) : 0;
    }
    if (!is_any) return;
    // A missing node costs a read, and a write if the node is not in memory. A missing result of a step that is no kernel is not used if only one kernel reads
    // it: such a product may never reach memory (epilogue.hpp).
    int nodes = groups_.at[p].nodes;
    for (const ir::node_id id : reads) {
      if (notes_[id].chosen_in == p || notes_[id].of != p || notes_[id].missing < 0 || notes_[id].work > costs::work_for_a_read) continue;
      const ir::node_id missing = notes_[id].missing, root = groups_.root[missing];
      const bool is_in_memory = groups_.of[root] < 0 || groups_.in_memory[root];
      if (is_step(g_[root].op) && reader_[root] >= 0) continue;
      const note& leaf = notes_[missing];
      const bool gains = is_in_memory ? leaf.saves > bytes_of(missing) : leaf.saves > 2 * bytes_of(missing) && leaf.frees >= bytes_of(missing);
      if (gains) notes_[id].chosen_in = p;
    }
    for (const ir::node_id id : reads)
      if (notes_[id].chosen_in == p) nodes += notes_[id].work;
    if (nodes > costs::nodes_per_kernel / 2) return;
    for (const ir::node_id id : reads)
      if (notes_[id].chosen_in == p) add_copies(id, p);
  }

  constexpr int bytes_of(ir::node_id id) const { return static_cast<int>(size_of(g_.nodes[id].type)); }
  constexpr bool is_number(ir::node_id root) const { return is_source(g_.nodes[root].op) && g_.nodes[root].op != ir::opcode::input; }

  /// Whether another kernel computes the node by a cheap operation, in the lanes and over the elements of kernel p.
  constexpr bool is_cheap(ir::node_id id, int p) const {
    const ir::node& n = g_.nodes[id];
    return groups_.of[id] != p && n.op >= ir::opcode::pointwise && groups_.of[id] >= 0 && n.shape == groups_.at[p].space &&
           cost_of_recomputing(n.op) <= recomputing::random_bits && lane_of(g_, id) == groups_.at[p].lane;
  }
  /// Whether x repeats a smaller value, such as a bias or the mean of a row. Such a value costs little to read.
  constexpr bool is_small(ir::node_id id) const {
    const ir::node& n = g_.nodes[id];
    if (n.op != ir::opcode::broadcast) return false;
    return !same_but_ones(g_.shapes[n.shape], g_.shape_of(n.in[0]));
  }

  /// Returns the node that kernel p does not read and needs to compute the node again, or `nothing` or `too_much`. Sets the work.
  constexpr ir::node_id missing_for(ir::node_id id, int p) {
    note& n = notes_[id];
    if (n.of == p) return n.missing;
    n.of = p;
    n.missing = nothing;
    n.work = 1;
    for (int k = 0; k < g_.nodes[id].arity && n.missing != too_much; ++k) {
      const ir::node_id x = g_.nodes[id].in[k];
      if (is_at_hand(x, p)) continue;
      ir::node_id missing = x;
      if (is_cheap(x, p)) {
        const ir::node_id below = missing_for(x, p);
        const bool is_read = below != nothing && bytes_of(x) < bytes_of(id);  // a bool takes less memory than the values from which it is computed
        if (!is_read) missing = below, n.work += notes_[x].work;
      }
      if (missing == nothing) continue;
      n.missing = n.missing == nothing || n.missing == missing ? missing : too_much;
      if (n.work > costs::work_for_a_read) n.missing = too_much;
    }
    return n.missing;
  }
  constexpr bool is_at_hand(ir::node_id x, int p) const { return is_number(groups_.root[x]) || notes_[x].read_by == p || is_small(x); }

  constexpr int copy_in(int p, ir::node_id id) const {
    int c = copies_.size() == 0 ? -1 : notes_[id].copies;
    while (c >= 0 && copies_[c].kernel != p) c = copies_[c].next;
    return c;
  }
  constexpr void add_copies(ir::node_id id, int p) {
    if (copy_in(p, id) >= 0) return;
    notes_[id].copies = copies_.push_back({id, p, notes_[id].copies});
    for (int k = 0; k < g_.nodes[id].arity; ++k) {
      const ir::node_id x = g_.nodes[id].in[k];
      if (is_at_hand(x, p) ? notes_[x].chosen_in == p : x != notes_[id].missing && is_cheap(x, p)) add_copies(x, p);
    }
  }
  constexpr ir::node_id emit(int c, const ir::array<ir::node_id>& renamed, ir::builder& out) {
    if (copies_[c].emitted != ir::none) return copies_[c].emitted;
    const ir::node_id id = copies_[c].id;
    ir::node n = with_renamed_operands(g_[id], renamed.data());
    for (int k = 0; k < n.arity; ++k)
      if (const int x = copy_in(copies_[c].kernel, g_[id].in[k]); x >= 0) n.in[k] = emit(x, renamed, out);
    return copies_[c].emitted = out.emit(n);
  }

  ir::graph_view g_;
  fusion_groups_view groups_;
  ir::array<ir::node_id> next_, head_;  // the nodes of each kernel
  ir::array<int> reader_;               // for each root: the other kernel that reads it, nobody, or several
  ir::array<note> all_notes_;
  note* notes_ = nullptr;
  ir::array<copy> copies_;
};

constexpr bool recomputes(const ir::graph_view& g, const fusion_groups_view& c) { return recomputer(g, c).any(); }
constexpr ir::builder recompute(const ir::graph_view& g, const fusion_groups_view& c) { return recomputer(g, c).run(); }
constexpr ir::builder recompute(const ir::graph_view& g) { return recompute(g, fuse(g).view()); }

}  // namespace tenure::passes

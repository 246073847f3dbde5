// SPDX-License-Identifier: BSL-1.0
// Makes the steps of a plan from fusion groups. Values that must be in memory get buffers, and each computed value becomes an instruction. Loop
// dimensions are merged where every access allows it. Steps with equal instructions and strides share one kernel: 200 equal steps of an unrolled loop
// have one kernel. Cost: a constant time for each node, and for each kernel.
#pragma once

#include <tenure/ir/index.hpp>
#include <tenure/passes/fuse.hpp>
#include <tenure/passes/overwrite.hpp>

namespace TENURE_NAMESPACE::passes {

class scheduler {
 public:
  constexpr scheduler(const ir::graph_view& g, const fusion_groups_view& c) : g_(g), groups_(c), all_notes_(g.count), notes_(all_notes_.data()), of_shape_(g.shape_count) {}

  constexpr plan_builder run() {
    make_buffers();
    ir::array<ir::node_id> head(groups_.count, ir::none);
    for (ir::node_id id = g_.count - 1; id >= 0; --id)
      if (const int p = groups_.of[id]; p >= 0) {
        notes_[id].next = head.data()[p];
        head.data()[p] = id;
      }
    for (int p = groups_.count - 1; p >= 0; --p) {
      if (groups_.at[p].alone != ir::none) write_alone(groups_.at[p].alone, head[p]);
      else write_kernel(p, head[p]);
    }
    note_lifetimes();
    reuse_temporaries(plan_);
    return static_cast<plan_builder&&>(plan_);
  }

 private:
  /// The data that the scheduler keeps for a node.
  struct note {
    ir::node_id next = ir::none;  // in the same fusion group
    int buffer = -1;
    int slot = -1, slot_group = -1;  // the number of the instruction in its kernel that gives the value, and the fusion group of this kernel
    bool row = false;                  // row and phase are copies from this instruction
    int phase = 0;
    int strides = -1;  // for a view or a part of a concat
    ir::node_id whole = ir::none;  // for a part of a concat: the node whose memory contains the part
    symbolic_size offset{};               // for a part of a concat: its offset in this memory
  };
  /// The data of a shape, which is computed once: the row-major strides and the number of elements.
  struct shape_note {
    int strides = -1;
    symbolic_size elements{};
  };
  /// The data of a kernel before arrange_dimensions(). A search for an equal kernel compares this data and the instructions.
  struct kernel_note {
    std::int16_t space = 0;
    std::int64_t inner = 0;
    bool free = false;
    int first_walk = 0, accesses = 0;  // the strides of the accesses, in walks_. Accesses to row_memory() come later and do not count
  };

  constexpr const shape_note& note_of_shape(std::int16_t id) {
    shape_note& known = of_shape_.data()[id];
    if (known.strides >= 0) return known;
    const extents& s = g_.shapes[id];
    known.strides = id_of(row_major(0, s).stride);
    known.elements = {1, 0};
    for (int a = 0; a < s.rank; ++a) known.elements = known.elements * symbolic_size_of(s[a]);
    return known;
  }

  /// Sets the places of the parts of concats in memory. A concat gets its place before the concats that are its parts.
  constexpr void place_parts() {
    for (int i = 0; i < groups_.concat_count; ++i) {
      const ir::node_id id = groups_.concats[i];
      note& whole = notes_[id];
      if (whole.whole == ir::none) whole.whole = id, whole.strides = note_of_shape(g_[id].shape).strides;
      const int axis = static_cast<int>(g_[id].attr);
      symbolic_size start{};
      for (int k = 0; k < 2; ++k) {
        const ir::node_id operand = g_[id].in[k], computed = groups_.root[operand];
        note& part = notes_[computed];
        part.whole = whole.whole;
        part.strides = computed == operand ? whole.strides : strides_below(computed, whole.strides, g_[operand].shape);
        part.offset = start.factor == 0 ? whole.offset : symbolic_size{whole.offset.factor + start.factor, start.symbols};
        start = symbolic_size_of(g_.shape_of(g_[id].in[k])[axis]) * plan_.strides[whole.strides][axis];
      }
    }
  }

  /// The strides `from`, which belong to `shape`, for the axes of node `id`, which is reshaped to it. If more than axes of extent 1 differ, the memory is
  /// one row-major piece.
  constexpr int strides_below(ir::node_id id, int from, std::int16_t shape) {
    const extents &s = g_.shapes[shape], &own = g_.shape_of(id);
    if (!same_but_ones(own, s)) return note_of_shape(g_[id].shape).strides;
    const strides given = plan_.strides[from];
    strides along;
    for (int a = 0, i = 0; a < own.rank; ++a) {
      if (own[a] == 1) continue;
      while (s[i] == 1) ++i;
      along[a] = given[i++];
    }
    return id_of(along);
  }

  constexpr int changed_operand(ir::node_id id) const {
    const ir::opcode op = g_.nodes[id].op;
    return op < ir::opcode::pointwise ? ops::structural_record_of(op).changes : -1;
  }
  /// Marks each update of an array that this plan computes and that nothing else reads. The result gets the memory of the array, and the step
  /// writes only the changed elements.
  constexpr ir::array<char> changes_in_place() const {
    bool any = false;
    for (ir::node_id id = 0; id < g_.count && !any; ++id) any = changed_operand(id) >= 0;
    if (!any) return {};
    ir::array<char> marks(g_.count, 0);
    ir::array<int> readers(g_.count, 0);
    for (ir::node_id id = 0; id < g_.count; ++id)
      for (int k = 0; k < g_.nodes[id].arity; ++k) ++readers[g_.nodes[id].in[k]];
    for (int i = 0; i < g_.output_count; ++i) ++readers[g_.outputs[i]];
    for (ir::node_id id = 0; id < g_.count; ++id) {
      const int changed = changed_operand(id);
      if (changed < 0) continue;
      ir::node_id x = g_.nodes[id].in[changed];
      bool is_read_here_only = readers[x] == 1;
      for (; g_.nodes[x].op == ir::opcode::reshape; is_read_here_only = is_read_here_only && readers[x] == 1) x = g_.nodes[x].in[0];
      const bool has_memory = !is_source(g_.nodes[x].op) && !is_view(g_.nodes[x].op) && notes_[x].whole == ir::none && notes_[id].whole == ir::none;
      marks[id] = has_memory && is_read_here_only;
    }
    return marks;
  }

  constexpr void make_buffers() {
    place_parts();
    const ir::array<char> in_place = changes_in_place();
    for (ir::node_id id = 0; id < g_.count; ++id) {
      const ir::node& n = g_.nodes[id];
      if (n.op < ir::opcode::pointwise && is_view(n.op)) layouts_.enter(g_, id, layout_below(n.in[0]));
      const bool is_input = n.op == ir::opcode::input;
      const bool is_computed = notes_[id].whole == ir::none ? groups_.of[id] >= 0 && groups_.in_memory[id] : notes_[id].whole == id;
      if (in_place.size() > 0 && in_place[id]) notes_[id].buffer = notes_[below_reshapes(g_, n.in[changed_operand(id)])].buffer;
      else if (is_input || is_computed)
        notes_[id].buffer = plan_.buffers.push_back({.where = is_input ? buffer::place::argument : buffer::place::workspace,
                                                     .type = n.type,
                                                     .index = is_input ? static_cast<int>(n.attr) : -1,
                                                     .elements = note_of_shape(n.shape).elements});
    }
    for (int i = 0; i < g_.output_count; ++i) {
      buffer& b = plan_.buffers[notes_[groups_.root[g_.outputs[i]]].buffer];
      b.where = buffer::place::result;
      b.index = i;
    }
  }

  // ---- strides ----

  /// Equal strides have equal ids.
  constexpr int id_of(const strides& s) {
    std::uint64_t hash = 0;
    for (int d = 0; d < max_rank; ++d) hash = (hash ^ static_cast<std::uint64_t>(s.along[d].factor) ^ (s.along[d].factor == 0 ? 0 : s.along[d].symbols << 24)) * odd_;
    const int known = strides_.find(hash, [&](int i) { return plan_.strides.data()[i] == s; });
    if (known >= 0) return known;
    strides_.enter(hash, plan_.strides.size());
    return plan_.strides.push_back(s);
  }

  constexpr int none_moved() { return none_moved_ >= 0 ? none_moved_ : none_moved_ = id_of({}); }

  static constexpr bool is_plain(const ir::node& n) {
    return n.op >= ir::opcode::pointwise || (is_source(n.op) ? n.op == ir::opcode::input && n.start == 0 : !is_view(n.op));
  }
  constexpr layout layout_below(ir::node_id id) {
    const ir::node& n = g_.nodes[id];
    if (const note& known = notes_[id]; known.whole != ir::none) return {known.whole, known.offset, plan_.strides[known.strides]};
    if (is_plain(n)) return {id, {}, plan_.strides[note_of_shape(n.shape).strides]};
    return is_view(n.op) ? layouts_.of(id) : layout_of_root(g_, id);
  }

  constexpr access access_of(ir::node_id id) {
    const ir::node& n = g_.nodes[id];
    note& known = notes_[id];
    access a{.buffer = known.buffer, .type = n.type, .rank = static_cast<std::int8_t>(g_.shapes[n.shape].rank)};
    if (is_plain(n) && known.whole == ir::none) {
      a.strides = note_of_shape(n.shape).strides;
      return a;
    }
    const layout l = layout_below(id);
    if (known.strides < 0) known.strides = id_of(l.stride);
    a.strides = known.strides;
    a.offset = l.offset;
    const ir::node& root = g_.nodes[l.root];
    const bool counts = root.op == ir::opcode::iota || root.op == ir::opcode::extent;
    a.buffer = counts ? access::counting : notes_[l.root].buffer;
    return a;
  }

  /// The step of node `id`. Its results are in the list of its fusion group, which begins at `head`.
  constexpr void write_alone(ir::node_id id, ir::node_id head) {
    const ir::node& n = g_[id];
    step s{.node = id, .op = n.op, .first_access = plan_.accesses.size()};
    for (int k = 0; k < n.arity; ++k) ir::for_each_operand(g_.nodes, n.in[k], [&](ir::node_id operand) { plan_.accesses.push_back(access_of(operand)); });
    if (const ir::found_control_flow c = g_.find_control_flow(id)) write_results(head, g_.results_of(*c));
    else if (const int count = ops::result_count(n.op); count > 1) write_results(head, count);
    else plan_.accesses.push_back(access_of(id));
    s.access_count = plan_.accesses.size() - s.first_access;
    plan_.steps.push_back(s);
  }

  /// One access for each of several results, in order. A result that nothing reads has no memory.
  constexpr void write_results(ir::node_id head, int count) {
    const int first = plan_.accesses.size();
    plan_.accesses.resize(first + count, {.buffer = access::nowhere});
    for (ir::node_id r = head; r != ir::none; r = notes_[r].next) {
      const ir::node& n = g_[r];
      const int number = static_cast<int>(is_result(n.op) ? n.attr : n.start);
      if (g_.find_control_flow(r) == nullptr && notes_[r].buffer >= 0) plan_.accesses[first + number] = access_of(r);
    }
  }

  // ---- one fused kernel ----

  constexpr int add_instruction(const instruction& i) {
    hash_ = (((hash_ ^ static_cast<std::uint64_t>(i.what) << 40 ^ static_cast<std::uint64_t>(i.op) << 32 ^ std::uint64_t{i.is_mask} << 48 ^ std::uint64_t{i.row} << 49 ^
               static_cast<std::uint64_t>(i.phase) << 50 ^ static_cast<std::uint64_t>(i.access + 1)) * odd_) ^
             static_cast<std::uint64_t>(i.in[0] + 1) ^ static_cast<std::uint64_t>(i.in[1] + 1) << 16 ^ static_cast<std::uint64_t>(i.in[2] + 1) << 32 ^ static_cast<std::uint64_t>(i.bits) << 7) * odd_;
    return plan_.instructions.push_back(i) - first_;
  }
  constexpr instruction& at(int slot) { return plan_.instructions.data()[first_ + slot]; }

  constexpr int add_access(const access& a) {
    hash_ = (hash_ ^ static_cast<std::uint64_t>(a.strides) << 8 ^ static_cast<std::uint64_t>(a.type) << 1 ^ static_cast<std::uint64_t>(a.buffer < 0)) * odd_;
    return plan_.accesses.push_back(a) - first_access_;
  }

  /// The strides `from` of a value with fewer axes, along the axes of the space of the kernel. The value has one element for each row or each column.
  constexpr int spread(const fusion_group& c, int from, const extents& s, std::int64_t along) {
    const extents& space = g_.shapes[c.space];
    const strides old = plan_.strides[from];
    strides spread;
    for (int d = 0, i = 0; d < space.rank; ++d) {
      if (!((along >> d) & 1) || space[d] == 1) continue;
      while (i < s.rank && s[i] == 1) ++i;
      spread[d] = old[i++];
    }
    return id_of(spread);
  }

  /// An access along the axes of the space of the kernel, to a value per element or per row.
  constexpr access along_space(const fusion_group& c, ir::node_id id) {
    access a = access_of(id);
    if (const std::int16_t shape = g_.nodes[id].shape; shape != c.space) a.strides = spread(c, a.strides, g_.shapes[shape], ~c.inner);
    a.rank = static_cast<std::int8_t>(g_.shapes[c.space].rank);
    return a;
  }

  /// The access to the accumulators of a reduction over all elements (one accumulator) or over the rows (one accumulator for each column).
  constexpr access result_access(const fusion_group& c, ir::node_id id, bool over_all) {
    access a = access_of(id);
    a.strides = over_all ? none_moved() : spread(c, a.strides, g_.shape_of(id), c.inner);
    a.rank = static_cast<std::int8_t>(g_.shapes[c.space].rank);
    return a;
  }

  constexpr bool is_per_row(const fusion_group& c, const access& a) const {
    const strides& s = plan_.strides.data()[a.strides];
    for (int d = 0; d < a.rank; ++d)
      if (((c.inner >> d) & 1) && s.along[d].factor != 0 && g_.shapes[c.space].extent[d] != 1) return false;
    return true;
  }

  /// The number of a floating constant as its type stores it.
  static constexpr double in_memory(const ir::node& constant) {
    double value = ir::value_of(constant);
    visit_floating(constant.type, [&]<class T>(element_tag<T>) { value = static_cast<double>(static_cast<T>(value)); });
    return value;
  }

  constexpr void hold(note& n, int p, const instruction& i) { n.slot = add_instruction(i), n.slot_group = p, n.row = i.row, n.phase = i.phase; }

  /// The note of an operand, which has a slot in kernel p. If the kernel does not compute the operand, appends a load or a constant.
  constexpr const note& operand(int p, const fusion_group& c, ir::node_id id) {
    note& known = notes_[id];
    if (known.slot_group == p) return known;
    if (const ir::node_id below = groups_.root[id]; groups_.of[below] == p) return notes_[below];
    const ir::node& root = g_.nodes[groups_.root[id]];
    if (root.op == ir::opcode::constant) {
      const bool converts = root.type != c.lane && root.type != dtype::boolean && is_floating(c.lane);
      // An int64 beyond 2^53 is rounded only once: directly to the type of the lane.
      const double in_lane = is_floating(root.type) ? in_memory(root)
                             : c.lane == dtype::float32 ? static_cast<double>(static_cast<float>(root.attr)) : static_cast<double>(root.attr);
      hold(known, p, {.what = instruction::kind::constant, .is_mask = root.type == dtype::boolean, .row = true, .bits = converts ? ir::bits_of(c.lane, in_lane) : root.attr});
    } else {
      const access a = along_space(c, id);
      hold(known, p, {.what = instruction::kind::load, .is_mask = a.buffer >= 0 && a.type == dtype::boolean, .row = is_per_row(c, a), .access = add_access(a)});
    }
    return known;
  }

  constexpr void write_kernel(int p, ir::node_id head) {
    const fusion_group& c = groups_.at[p];
    first_ = plan_.instructions.size();
    first_access_ = plan_.accesses.size();
    hash_ = static_cast<std::uint64_t>(c.inner) << 16 ^ static_cast<std::uint64_t>(c.space);
    bool free = true;  // whether no result depends on the split into outer and inner dimensions
    for (ir::node_id id = head; id != ir::none; id = notes_[id].next) {
      const ir::node& n = g_.nodes[id];
      instruction i{.op = n.op, .is_mask = n.type == dtype::boolean, .row = true};
      for (int k = 0; k < n.arity; ++k) {
        const note& from = operand(p, c, n.in[k]);
        i.in[k] = from.slot, i.row = i.row && from.row, i.phase = from.phase > i.phase ? from.phase : i.phase;
      }
      bool stores = groups_.in_memory[id], per_row = n.shape != c.space;
      if (n.op == ir::opcode::cast && lane_of(n.type) != n.type) i.bits = static_cast<std::int64_t>(n.type);
      if (n.op == ir::opcode::reduce) {
        const bool over_rows_results = g_.nodes[n.in[0]].shape != c.space;
        const bool along_row = !over_rows_results && n.attr == c.inner, over_all = over_rows_results || n.attr == whole(g_.shapes[c.space].rank);
        i.what = along_row ? instruction::kind::reduce_row : over_all ? instruction::kind::reduce_all : instruction::kind::reduce_columns;
        i.bits = n.start;
        i.row = along_row || over_rows_results;
        if (along_row) ++i.phase;
        else i.access = add_access(result_access(c, id, over_all));
        free = free && i.what == instruction::kind::reduce_all && !over_rows_results;
        stores = stores && along_row;
        per_row = true;
      } else {
        free = free && !per_row;
      }
      hold(notes_[id], p, i);
      if (stores)
        add_instruction({.what = instruction::kind::store, .is_mask = i.is_mask, .row = per_row, .phase = i.phase,
                         .in = {notes_[id].slot, -1, -1}, .access = add_access(along_space(c, id))});
    }
    plan_.steps.push_back({.kernel = finish_kernel(c, free), .first_access = first_access_, .access_count = plan_.accesses.size() - first_access_});
  }

  /// Returns the kernel with the instructions just written: an existing equal kernel, or a new kernel.
  constexpr int finish_kernel(const fusion_group& c, bool free) {
    const int known = kernels_.find(hash_, [&](int k) { return is_like(k, c, free); });
    if (known < 0) return new_kernel(c, free);
    const kernel& k = plan_.kernels[known];
    const int accesses = kernel_notes_[known].accesses;
    access *const here = plan_.accesses.data() + first_access_, *const there = plan_.accesses.data() + k.first_access;
    for (int a = 0; a < accesses; ++a) here[a].strides = there[a].strides, here[a].rank = there[a].rank;
    for (int a = accesses; a < k.access_count; ++a) {
      access row = plan_.accesses[k.first_access + a];
      const buffer same = plan_.buffers[row.buffer];  // a copy, because the array may grow
      row.buffer = plan_.buffers.push_back(same);
      plan_.accesses.push_back(row);
    }
    plan_.instructions.resize(first_);
    return known;
  }

  constexpr bool is_like(int known, const fusion_group& c, bool free) const {
    const kernel& k = plan_.kernels[known];
    const kernel_note& noted = kernel_notes_[known];
    if (k.lane != c.lane || noted.space != c.space || noted.inner != c.inner || noted.free != free) return false;
    if (k.instruction_count != plan_.instructions.size() - first_ || noted.accesses != plan_.accesses.size() - first_access_) return false;
    const instruction* const x = plan_.instructions.data();
    for (int i = 0; i < k.instruction_count; ++i)
      if (!x[first_ + i].does_as(x[k.first_instruction + i])) return false;
    const access *const here = plan_.accesses.data() + first_access_, *const there = plan_.accesses.data() + k.first_access;
    const int* const walk = walks_.data() + noted.first_walk;
    for (int i = 0; i < noted.accesses; ++i)
      if (here[i].strides != walk[i] || here[i].type != there[i].type || (here[i].buffer < 0) != (there[i].buffer < 0)) return false;
    return true;
  }

  constexpr int new_kernel(const fusion_group& c, bool free) {
    kernel_notes_.push_back({c.space, c.inner, free, walks_.size(), plan_.accesses.size() - first_access_});
    kernel k{.lane = c.lane, .first_instruction = first_, .instruction_count = plan_.instructions.size() - first_,
             .first_access = first_access_, .access_count = plan_.accesses.size() - first_access_};
    for (int a = 0; a < k.access_count; ++a) walks_.push_back(plan_.accesses[first_access_ + a].strides);
    k.passes = assign_passes(c);
    k.access_count = plan_.accesses.size() - first_access_;
    arrange_dimensions(c, k, free);
    kernels_.enter(hash_, plan_.kernels.size());
    return plan_.kernels.push_back(k);
  }

  /// Sets `passes` of each instruction that runs for each element: the passes over the row that need the value. Returns the number of passes. If
  /// several passes need a costly value, the first of them computes it, and memory of one row, which stays in cache, keeps it for the others.
  constexpr std::uint8_t assign_passes(const fusion_group& c) {
    int passes = 0;
    for (int s = plan_.instructions.size() - first_ - 1; s >= 0; --s) {
      instruction& i = at(s);
      const bool is_reduction = i.what == instruction::kind::reduce_row || i.what == instruction::kind::reduce_columns ||
                        (i.what == instruction::kind::reduce_all && !i.row) || (i.what == instruction::kind::store && !i.row);
      if (is_reduction) {
        const int pass = at(i.in[0]).phase;
        i.passes = 1u << pass;
        passes = pass + 1 > passes ? pass + 1 : passes;
      } else if (i.row) {
        continue;
      }
      unsigned computed_in = i.passes;
      if (const unsigned first = computed_in & (0u - computed_in); first != computed_in && is_costly(i)) {
        i.access = plan_.accesses.push_back(row_memory(c)) - first_access_;
        computed_in = first;
      }
      for (int k = 0; k < 3 && i.in[k] >= 0; ++k)
        if (instruction& from = at(i.in[k]); !from.row) from.passes |= computed_in;
    }
    return static_cast<std::uint8_t>(passes);
  }

  /// Whether an instruction costs more than a store and a load.
  static constexpr bool is_costly(const instruction& i) {
    return i.what == instruction::kind::compute && !i.is_mask && cost_of_recomputing(i.op) > recomputing::arithmetic;
  }

  /// An access to new memory for the elements of one row. All rows use the same memory.
  constexpr access row_memory(const fusion_group& c) {
    const extents& space = g_.shapes[c.space];
    strides along;
    symbolic_size elements{1, 0};
    for (int d = space.rank - 1; d >= 0; --d) {
      if (!((c.inner >> d) & 1)) continue;
      if (space[d] != 1) along[d] = elements;
      elements = elements * symbolic_size_of(space[d]);
    }
    const int memory = plan_.buffers.push_back({.type = c.lane, .index = -1, .elements = elements});
    return {.buffer = memory, .type = c.lane, .rank = static_cast<std::int8_t>(space.rank), .strides = id_of(along)};
  }

  /// Removes dimensions of extent 1, puts outer dimensions before inner ones, and merges neighbours where all accesses allow it.
  constexpr void arrange_dimensions(const fusion_group& c, kernel& k, bool free) {
    const extents& space = g_.shapes[c.space];
    int axis[max_rank] = {}, n = 0, outer = 0;
    for (int half = 0; half < 2; ++half) {
      for (int d = 0; d < space.rank; ++d) {
        const bool inner = (c.inner >> d) & 1;
        if (space[d] != 1 && (free ? half == 0 : inner == (half == 1))) axis[n++] = d;
      }
      if (half == 0) outer = free ? 0 : n;
    }
    ir::array<strides> walks(k.access_count);
    for (int a = 0; a < k.access_count; ++a) {
      const strides& from = plan_.strides[plan_.accesses[k.first_access + a].strides];
      for (int d = 0; d < n; ++d) walks[a][d] = from[axis[d]];
    }
    for (int d = 0; d < n; ++d) k.extent[d] = symbolic_size_of(space[axis[d]]);
    for (int i = n - 2; i >= 0; --i) {
      if (!free && i + 1 == outer) continue;
      bool merges = true;
      for (const strides& s : walks) merges = merges && s[i] == s[i + 1] * k.extent[i + 1];
      if (!merges) continue;
      k.extent[i] = k.extent[i] * k.extent[i + 1];
      for (int d = i + 1; d < n; ++d) k.extent[d] = d + 1 < n ? k.extent[d + 1] : symbolic_size{};
      for (strides& s : walks)
        for (int d = i; d < n; ++d) s[d] = d + 1 < n ? s[d + 1] : symbolic_size{};
      --n;
      if (i < outer) --outer;
    }
    if (free) outer = n > 0 ? n - 1 : 0;
    if (n == outer) {  // a row of one element
      k.extent[n] = {1, 0};
      for (int s = 0; s < k.instruction_count; ++s) {
        const instruction& i = at(s);
        const bool moves = i.access >= 0 && !i.row && i.what != instruction::kind::reduce_all;
        if (moves) walks[i.access][n] = {1, 0};
      }
      ++n;
    }
    k.outer = static_cast<std::int8_t>(outer);
    k.inner = static_cast<std::int8_t>(n - outer);
    for (int a = 0; a < k.access_count; ++a) {
      access& x = plan_.accesses[k.first_access + a];
      x.strides = id_of(walks[a]);
      x.rank = static_cast<std::int8_t>(n);
    }
  }

  constexpr void note_lifetimes() {
    buffer* const buffers = plan_.buffers.data();
    const access* const accesses = plan_.accesses.data();
    const int steps = plan_.steps.size();
    for (buffer& b : plan_.buffers) b.first = steps;
    for (int s = 0; s < steps; ++s) {
      const step& t = plan_.steps.data()[s];
      for (int a = t.first_access; a < t.first_access + t.access_count; ++a)
        if (const int b = accesses[a].buffer; b >= 0) buffers[b].first = s < buffers[b].first ? s : buffers[b].first, buffers[b].last = s;
    }
  }

  static constexpr std::uint64_t odd_ = 0x9E3779B97F4A7C15u;

  ir::graph_view g_;
  fusion_groups_view groups_;
  ir::array<note> all_notes_;
  note* notes_;
  ir::array<shape_note> of_shape_;
  layouts layouts_;
  ir::index strides_, kernels_;
  ir::array<kernel_note> kernel_notes_;
  ir::array<int> walks_;
  plan_builder plan_;
  int none_moved_ = -1;  // the id of the strides that are all 0
  int first_ = 0, first_access_ = 0;
  std::uint64_t hash_ = 0;
};

constexpr plan_builder schedule(const ir::graph_view& g, const fusion_groups_view& c) { return scheduler(g, c).run(); }

constexpr plan_builder schedule(const ir::graph_view& g) {
  const fusion_groups c = fuse(g);
  return schedule(g, c.view());
}

}  // namespace tenure::passes

// SPDX-License-Identifier: BSL-1.0
// Finds the steps of a plan that run together, a few rows at a time, so that the rows are read from a cache: a kernel that reads the rows of a product
// (its epilogue) or of gathers, and products whose sums run over the rows that the kernel writes. So a bias and activation, a softmax over the rows or
// an update of weights needs no second read of the product, and the gradient X^T f(X w) of a linear model reads X once. A convolution is a product too: its
// record says which axes of the result may be cut (axes_of_piece), and the rows are the indices of these. A normalization and a residual are its epilogue.
// Law: an epilogue has the bits of one step after the other, on any number of threads. So have gathers that wait. Only sums over rows can differ, because
// their blocks differ. Only shapes decide the blocks.
// Cost: a walk over the accesses of the steps after each product and each gather. Steps stay apart if their arrays are small: they are in a cache anyway.
#pragma once

#include <tenure/passes/costs.hpp>
#include <tenure/passes/overwrite.hpp>

namespace TENURE_NAMESPACE::passes {

/// Whether a body of the control-flow operation may refuse an index, or a function of the user may throw.
constexpr bool may_refuse(const ir::graph_view& g, const ir::control_flow& c) {
  if (c.what == ir::control_flow::kind::external) return c.function.may_throw;
  for (const int b : c.bodies) {
    if (b < 0) continue;
    const ir::graph_view body = g.body_at(b);
    for (int i = 0; i < body.bound_count; ++i)
      if (!body.bounds[i].is_checked) return true;
    for (int i = 0; i < body.count; ++i)
      if (const ir::found_control_flow inner = body.find_control_flow(i); inner != nullptr && may_refuse(g, *inner)) return true;
  }
  return false;
}
/// The last step that may refuse an index or throw, or -1 if no step does.
constexpr int last_check(const plan_view& p) {
  const ir::graph_view& g = p.graph;
  int s = g.bound_count > 0 || g.inner.bound_count > 0 || g.inner.control_flow_count > 0 ? p.step_count - 1 : -1;
  const auto refuses = [&](const step& x) {
    const ir::found_control_flow c = g.find_control_flow(x.node);
    return x.op == ir::opcode::check || (c != nullptr && may_refuse(g, *c));
  };
  while (s >= 0 && !refuses(p.steps[s])) --s;
  return s;
}

// ---- how many rows ----

/// The rows of a block of a group of a product, and of one round: a block computes these rows, runs the kernel on them, and passes them to the products over
/// the rows. 0 rows: no group, because separate steps are as fast, or the rows cannot be cut well.
struct row_cut {
  std::int64_t rows_of_block = 0, rows_at_once = 0;
  bool has_consumers = false;
};

/// Whether a product of only `rows` rows uses another algorithm than the whole product, with other bits: a single row is a GEMV, and a short column is
/// a few loops.
constexpr bool is_another_product(std::int64_t rows, std::int64_t n, std::int64_t k) { return rows == 1 || (n == 1 && rows > 0 && rows * k <= costs::short_column); }

/// The number of rows of one round, of m rows. The last round uses the same algorithm (is_another_product). 0 if there is no such number.
constexpr std::int64_t rows_without_rest(std::int64_t wanted, std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t unit = costs::row_unit;
  std::int64_t rows = wanted < unit ? unit : wanted / unit * unit;
  if (is_another_product(m % rows, n, k)) rows += unit;
  return is_another_product(m % rows, n, k) || rows >= m ? 0 : rows;
}

/// The cut for an m x n x k product in a call with these run-time extents.
constexpr row_cut cut_of_rows(const row_group& e, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t element_size, int instructions, const std::int64_t* symbols) {
  constexpr std::int64_t unit = costs::row_unit;
  if (m < costs::min_rows_of_group || n < 1 || k < 1) return {};
  if (e.reduces_columns && m * n * instructions < costs::column_blocks_work) return {};
  std::int64_t row_bytes = (n + k) * element_size;  // of all matrices that are read twice
  for (const product_over_rows* x = e.consumers; x != e.consumers + e.consumer_count; ++x)
    row_bytes += (value_of(x->row, symbols) + (x->shares_factor ? 0 : value_of(x->other_row, symbols))) * element_size;
  const std::int64_t min_per_block = e.reduces ? (m + costs::blocks_of_group - 1) / costs::blocks_of_group : 0;
  if (e.consumer_count > 0 && m * row_bytes >= 2 * costs::group_bytes && unit * row_bytes <= 4 * costs::twice_read_bytes) {
    const std::int64_t fitting = costs::twice_read_bytes / row_bytes;
    const bool is_whole = e.reduces_columns && fitting < min_per_block;  // a block with sums of columns is not cut again
    const std::int64_t rows = rows_without_rest(is_whole ? min_per_block + unit - 1 : fitting, m, n, k);
    return {rows > 0 && !is_whole && rows < min_per_block ? (min_per_block + rows - 1) / rows * rows : rows, rows, rows > 0};
  }
  if (n < 2 || m * n * element_size < costs::group_bytes) return {};
  const std::int64_t fitting = costs::group_bytes / 4 / (n * element_size) / unit * unit;
  const std::int64_t wanted = fitting < min_per_block ? min_per_block + unit - 1 : fitting < unit ? unit : fitting;
  if (k > costs::steps_of_group_row * wanted) return {};
  const std::int64_t rows = rows_without_rest(wanted, m, n, k);
  return {rows, rows, false};
}
/// The cut for an operation that is no matmul, whose result has so many elements, in rows of `row` elements. A block has whole images of `image` elements, if
/// it has room for one.
constexpr row_cut cut_of_pieces(const row_group& e, std::int64_t elements, std::int64_t image, std::int64_t row, std::int64_t element_size, int instructions) {
  const std::int64_t row_bytes = row * element_size;
  if (row_bytes < 1 || row_bytes > costs::group_bytes || elements * element_size < costs::cut_result_bytes) return {};
  if (e.reduces_columns && elements * instructions < costs::column_blocks_work) return {};
  const std::int64_t rows = elements / row, inner = image > row ? image / row : 1;
  const std::int64_t min_per_block = e.reduces ? (rows + costs::blocks_of_group - 1) / costs::blocks_of_group : 1, fitting = costs::piece_bytes / row_bytes;
  std::int64_t wanted = fitting < min_per_block ? min_per_block : fitting;
  if (wanted >= inner) wanted = wanted / inner * inner;
  else wanted = (inner + (inner + wanted - 1) / wanted - 1) / ((inner + wanted - 1) / wanted);  // blocks of about the same size
  if (wanted < min_per_block) wanted = min_per_block;
  return wanted >= rows ? row_cut{} : row_cut{wanted, wanted, false};
}
/// The rows of a block of a kernel, if the rows that gathers compute for it have so many bytes.
constexpr std::int64_t gathered_rows(std::int64_t row_bytes) {
  constexpr std::int64_t unit = costs::gathered_row_unit;
  const std::int64_t fitting = costs::gathered_block_bytes / row_bytes / unit * unit;
  return fitting < unit ? unit : fitting;
}

// ---- which steps ----

class row_grouper {
 public:
  constexpr explicit row_grouper(const plan_view& p) : p_(p), last_check_(p.graph.is_body ? -1 : last_check(p)) {}

  constexpr row_group of_product(int s) const {
    row_group e;
    if (s + 1 >= p_.step_count || p_.steps[s].is_fused() || axes_of_piece(p_.steps[s]) < 0) return e;
    const step &product = p_.steps[s], &next = p_.steps[s + 1];
    const dtype type = p_.graph[product.node].type;
    if (!next.is_fused() || !is_floating(type) || next.access_count > max_accesses) return e;
    const bool is_matmul = product.op == ir::opcode::matmul;
    const extents& shape = p_.graph.shape_of(product.node);
    // Convolutions in bodies stay alone: the memory of their tasks would be a part of that of the loop.
    if (is_matmul ? shape.rank != 2 : p_.graph.is_body) return e;
    const int row_axes = shape.rank - axes_of_piece(product);
    e.row = elements_along(shape, row_axes, shape.rank);
    const symbolic_size elements = elements_along(shape, 0, row_axes) * e.row, inner = is_matmul ? symbolic_size_of(p_.graph.shape_of(p_.graph[product.node].in[0])[1]) : e.row;
    for (int t = s + 2; is_matmul && t < p_.step_count && e.consumer_count < max_products_over_rows; ++t, ++e.consumer_count)
      if (p_.steps[t].is_fused() || p_.graph[p_.steps[t].node].type != type || !reads_rows(s + 1, t, symbolic_size_of(shape[0]), e.row, e.consumers[e.consumer_count])) break;
    const bool is_small = elements.is_static() && elements.factor * size_of(type) < (is_matmul ? costs::group_bytes : costs::cut_result_bytes);
    if (is_small && e.consumer_count == 0) return e;

    const access& c = p_.accesses[product.first_access + product.access_count - 1];
    const kernel& k = p_.kernels[next.kernel];
    const symbolic_size step_of_kernel = step_along(next, k, c.buffer);
    if (k.outer + k.inner == 0 || !(k.extent[0] * step_of_kernel == elements) || (is_matmul && !(elements_of(k) == elements))) return e;
    if (is_multiple(e.row, step_of_kernel)) {
      if (!(e.row == step_of_kernel)) e.per_row = {e.row.factor / step_of_kernel.factor, e.row.symbols};
    } else if (!is_matmul && is_multiple(step_of_kernel, e.row)) {
      e.row = step_of_kernel;
    } else {
      return e;
    }

    const buffer& of_product = p_.buffers[c.buffer];
    e.is_passed_on = of_product.is_passed_on;
    for (int i = 0; i < e.consumer_count; ++i)
      if (p_.buffers[e.consumers[i].buffer].in_place_of == c.buffer) e.passed_to = i;
    e.is_read_later = of_product.where != buffer::place::workspace || of_product.last > s + 1 || !(of_product.elements == elements);
    for (int a = 0; a < next.access_count; ++a) {
      const access& x = p_.accesses[next.first_access + a];
      if (x.buffer != c.buffer) continue;
      if (!reads_within(k, p_.strides[x.strides], x.offset, step_of_kernel)) return e;
      e.accesses |= std::uint64_t{1} << a;
    }
    bool may_be_cut = k.outer > 0 || k.inner == 1;
    for (int i = 0; i < k.instruction_count; ++i) {
      using kind = instruction::kind;
      const instruction& x = p_.instructions[k.first_instruction + i];
      e.reduces_columns = e.reduces_columns || x.what == kind::reduce_columns;
      e.reduces = e.reduces || e.reduces_columns || x.what == kind::reduce_all || (x.what == kind::reduce_row && k.outer + k.inner == 1);
      const bool needs_whole_row = x.what == kind::reduce_columns || (x.what == kind::reduce_all && x.row) || (x.what == kind::reduce_row && k.passes > 1);
      may_be_cut = may_be_cut && (k.outer > 0 || !needs_whole_row);
      if (x.what == kind::load || x.access < 0) continue;
      e.writes |= std::uint64_t{1} << x.access;
      const int stored = p_.accesses[next.first_access + x.access].buffer;
      if (x.what == kind::store && !x.row && !e.is_read_later && p_.buffers[stored].elements == elements && overwrites_elementwise(p_, next, c.buffer, stored) &&
          (!of_product.is_passed_on || p_.buffers[stored].in_place_of == c.buffer))
        e.overwritten_by = x.access;
      const int over = p_.buffers[stored].in_place_of;  // a factor is read until the last row is computed
      for (int a = 0; a + 1 < product.access_count; ++a) may_be_cut = may_be_cut && (over < 0 || over != buffer_of(product, a));
    }
    bool is_one = may_be_cut && e.accesses != 0 && (e.accesses & e.writes) == 0;
    bool is_known = elements.is_static() && inner.is_static();
    for (int i = 0; i < e.consumer_count; ++i) is_known = is_known && e.consumers[i].row.is_static() && e.consumers[i].other_row.is_static();
    const symbolic_size walked = elements_of(k);
    is_one = is_one && (!walked.is_static() || walked.factor * k.instruction_count >= costs::min_group_work);
    if (is_one && is_known)
      e.rows_at_once = is_matmul ? cut_of_rows(e, elements_along(shape, 0, row_axes).factor, e.row.factor, inner.factor, size_of(type), k.instruction_count, nullptr).rows_at_once
                                 : cut_of_pieces(e, elements.factor, elements_along(shape, row_axes - 1, shape.rank).factor, e.row.factor, size_of(type), k.instruction_count).rows_at_once;
    if (is_one && (!is_known || e.rows_at_once > 0)) e.what = row_group::kind::product, e.kernel = s + 1;
    return e;
  }

  /// The group of a gather along the first axis of an argument by a list of indices, if the only step that reads the rows is a kernel that walks the rows
  /// and reduces nothing. `is_epilogue` says whether this kernel is the epilogue of a product.
  template <class IsEpilogue>
  constexpr row_group of_gather(int s, const IsEpilogue& is_epilogue) const {
    const step& gather = p_.steps[s];
    if (p_.graph.is_body || gather.is_fused() || gather.op != ir::opcode::gather) return {};
    const ir::node& node = p_.graph[gather.node];
    if (node.attr != 0 || p_.graph.shape_of(node.in[1]).rank != 1) return {};
    const int rows = buffer_of(gather, 2), t = p_.buffers[rows].last;
    const auto is_argument = [&](int a) { return p_.buffers[buffer_of(gather, a)].where == buffer::place::argument; };
    const bool is_checked_between = s <= last_check_ && t > last_check_;
    if (p_.buffers[rows].where != buffer::place::workspace || !is_argument(0) || !is_argument(1) || t <= s || is_checked_between) return {};
    const step& reader = p_.steps[t];
    if (!reader.is_fused() || reader.access_count > max_accesses || is_epilogue(t)) return {};
    for (int between = s + 1; between < t; ++between)
      for (int a = 0; a < p_.steps[between].access_count; ++a)
        if (buffer_of(p_.steps[between], a) == rows) return {};

    const extents& shape = p_.graph.shape_of(gather.node);
    std::int64_t length = 1;
    for (int d = 1; d < shape.rank; ++d) {
      if (!is_static(shape[d])) return {};
      length *= shape[d];
    }
    const bool is_small = is_static(shape[0]) && shape[0] * length * size_of(node.type) < costs::waiting_gather_bytes;
    const kernel& k = p_.kernels[reader.kernel];
    if (is_small || k.outer + k.inner != 1 || !(k.extent[0] == symbolic_size_of(shape[0]))) return {};
    if (is_static(shape[0]) && shape[0] * k.instruction_count < costs::min_group_work) return {};
    for (int i = 0; i < k.instruction_count; ++i)
      if (p_.instructions[k.first_instruction + i].reduces()) return {};
    row_group found{.what = row_group::kind::gather, .kernel = t, .row_bytes = is_static(shape[0]) ? length * size_of(node.type) : 0};
    for (int a = 0; a < reader.access_count; ++a) {
      const access& x = p_.accesses[reader.first_access + a];
      if (x.buffer != rows) continue;
      const bool is_of_row = x.offset.is_static() && x.offset.factor >= 0 && x.offset.factor < length;
      if (!is_of_row || !(p_.strides[x.strides][0] == symbolic_size{length})) return {};
      found.accesses |= std::uint64_t{1} << a;
    }
    return found;
  }

 private:
  static constexpr int max_accesses = 64;  // a bit for each access

  constexpr int buffer_of(const step& s, int a) const { return p_.accesses[s.first_access + a].buffer; }
  static constexpr int axes_of_piece(const step& s) { return ops::structural_record_of(s.op).axes_of_piece; }
  static constexpr symbolic_size elements_along(const extents& s, int first, int last) {
    symbolic_size n{1};
    for (int a = first; a < last; ++a) n = n * symbolic_size_of(s[a]);
    return n;
  }
  static constexpr symbolic_size elements_of(const kernel& k) {
    symbolic_size n{1};
    for (int d = 0; d < k.outer + k.inner; ++d) n = n * k.extent[d];
    return n;
  }
  /// The elements of a buffer from one index of the leading dimension of a kernel to the next, in the accesses that read it.
  constexpr symbolic_size step_along(const step& s, const kernel& k, int buffer) const {
    for (int a = 0; a < s.access_count; ++a)
      if (const access& x = p_.accesses[s.first_access + a]; x.buffer == buffer && k.outer + k.inner > 0) return p_.strides[x.strides].along[0];
    return {};
  }
  /// Whether the elements that an access reads with one index of the leading dimension lie between those of its neighbours, which are `step` elements away:
  /// in the order of memory, or within so many elements in any order, as a permuted image or the slices of a pool.
  static constexpr bool reads_within(const kernel& k, const strides& along, const symbolic_size& offset, const symbolic_size& step) {
    symbolic_size dense{1};
    bool is_dense = offset.factor == 0, is_known = offset.is_static() && offset.factor >= 0 && step.is_static();
    std::int64_t last = offset.factor;
    for (int d = k.outer + k.inner - 1; d > 0; --d) {
      is_dense = is_dense && along.along[d] == dense;
      dense = dense * k.extent[d];
      is_known = is_known && along.along[d].is_static() && k.extent[d].is_static() && along.along[d].factor >= 0;
      last += (k.extent[d].factor - 1) * along.along[d].factor;
    }
    return along.along[0] == step && ((is_dense && dense == step) || (is_known && last < step.factor));
  }
  static constexpr bool is_multiple(const symbolic_size& n, const symbolic_size& of) {
    return n == of || (of.is_static() && of.factor > 0 && n.factor > 0 && n.factor % of.factor == 0);
  }

  /// Whether step t is a product over rows that the kernel of step s writes. It must read nothing else that steps s to t - 1 write.
  constexpr bool reads_rows(int s, int t, const symbolic_size& rows, const symbolic_size& columns, product_over_rows& found) const {
    const step &writer = p_.steps[s], &product = p_.steps[t];
    if (product.op != ir::opcode::matmul) return false;
    const ir::node& node = p_.graph[product.node];
    const extents& sums = p_.graph.shapes[node.shape];
    if (sums.rank != 2 || !(symbolic_size_of(p_.graph.shape_of(node.in[0])[1]) == rows)) return false;
    const kernel& k = p_.kernels[writer.kernel];
    const auto is_written_between = [&](int buffer) {
      for (int i = 0; i < k.instruction_count; ++i) {
        const instruction& x = p_.instructions[k.first_instruction + i];
        if (x.what != instruction::kind::load && x.access >= 0 && buffer_of(writer, x.access) == buffer) return true;
      }
      for (int i = s + 1; i < t; ++i)
        if (buffer_of(p_.steps[i], 2) == buffer) return true;
      return false;
    };
    for (int factor = 0; factor < 2; ++factor) {
      const int other = buffer_of(product, 1 - factor);
      if (is_written_between(other)) continue;
      // The rows are contiguous, and nothing else is in their buffer.
      const access& read = p_.accesses[product.first_access + factor];
      const symbolic_size &from_row_to_row = p_.strides[read.strides][1 - factor], &in_row = p_.strides[read.strides][factor];
      const buffer& of_rows = p_.buffers[read.buffer];
      const auto is_one = [](const symbolic_size& n) { return n == symbolic_size{1}; };
      if (of_rows.type != node.type || p_.buffers[other].type != node.type || !(of_rows.elements == rows * from_row_to_row)) continue;
      if (!is_one(in_row) && !is_one(from_row_to_row)) continue;
      found = product_over_rows{factor, of_rows.where != buffer::place::workspace || of_rows.is_passed_on, other == buffer_of(p_.steps[s - 1], 0), read.buffer, 0,
                                from_row_to_row, symbolic_size_of(sums[1 - factor])};
      bool writes_all = false, is_plain = true;
      for (int i = 0; i < k.instruction_count; ++i) {
        const instruction& x = p_.instructions[k.first_instruction + i];
        if (x.access < 0 || buffer_of(writer, x.access) != read.buffer) continue;
        const access& written = p_.accesses[writer.first_access + x.access];
        const strides& along = p_.strides[written.strides];
        is_plain = is_plain && x.what == instruction::kind::store && written.offset == read.offset;
        if (k.outer + k.inner == 1) writes_all = !x.row && is_one(along[0]) && from_row_to_row == columns;
        else writes_all = along[0] == from_row_to_row && (x.row ? is_one(from_row_to_row) : is_one(along[1]) && from_row_to_row == columns);
        found.accesses |= std::uint64_t{1} << x.access;
      }
      if (writes_all && is_plain) {
        found.stays = found.stays || of_rows.last > t;
        return true;
      }
    }
    return false;
  }

  const plan_view& p_;
  int last_check_;
};

/// Calls f(step, group) for the groups of a plan: groups of products first, then those of gathers.
template <class F>
constexpr void for_each_group(const plan_view& p, const F& f) {
  const row_grouper find(p);
  ir::array<char> is_epilogue(p.step_count + 1, 0);
  for (int s = 0; s < p.step_count; ++s) {
    const row_group e = find.of_product(s);
    if (!e.is_of_product()) continue;
    f(s, e);
    is_epilogue[s + 1] = 1;
    if (e.rows_at_once > 0) s += e.consumer_count;  // they belong to this group in every call
  }
  for (int s = 0; s < p.step_count; ++s)
    if (const row_group e = find.of_gather(s, [&](int t) { return is_epilogue[t] != 0; }); e.is_of_gather()) f(s, e);
}

/// Holds what the steps of groups read until the kernels of the groups have run. So no call writes a result, or another temporary, over it before.
constexpr void hold_operands_of_groups(plan_builder& plan, const ir::graph_view& g) {
  for_each_group(plan.view(g), [&](int s, const row_group& e) {
    for (int k = 0; k + 1 < plan.steps[s].access_count; ++k) {
      int& held = plan.buffers[plan.accesses[plan.steps[s].first_access + k].buffer].held_until;
      held = held > e.kernel ? held : e.kernel;
    }
  });
}

/// The groups of a plan, by the step that computes the rows.
template <int Steps>
struct row_groups {
  row_group at[Steps + 1] = {};
  int products = 0, gathers = 0;

  constexpr bool any() const { return products + gathers > 0; }
  constexpr explicit row_groups(const plan_view& p) {
    for_each_group(p, [&](int s, const row_group& e) {
      at[s] = e;
      ++(e.is_of_product() ? products : gathers);
    });
    for (int s = 0; s < Steps && gathers > 0; ++s) {
      std::int64_t row_bytes = 0;  // of all gathers that the kernel waits for
      for (const row_group& x : at) row_bytes += x.is_of_gather() && x.kernel == at[s].kernel ? x.row_bytes : 0;
      if (at[s].row_bytes > 0) at[s].rows_at_once = gathered_rows(row_bytes);
    }
  }
};

}  // namespace tenure::passes

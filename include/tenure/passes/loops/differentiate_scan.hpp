// SPDX-License-Identifier: BSL-1.0
// Cotangents of scan: a second scan runs from the last iteration to the first. Its carries are the cotangents of the carries and the sums of the
// cotangents of the captures. The first scan stacks the residuals: the carries, products, sums and looked-up elements that the second scan reads.
// Other values are computed again, see derived_body::keep(). The cotangent of a matrix is often a product in each iteration. These products can
// be one product after the loop, see stacked_products. Pads in the cotangent of a capture move behind the loop, see padded_sums.
#pragma once

#include <tenure/passes/loops/padded_sums.hpp>
#include <tenure/passes/loops/reach.hpp>

namespace TENURE_NAMESPACE::passes {

/// The products in the cotangents of the captures of a scan. The sum over the iterations of L_t R_t, [k, m] x [m, n], is one product of the stacked factors,
/// [k, iterations * m] x [iterations * m, n]. In the loop each iteration reads and writes the whole sum, k n elements. After the loop the sum is written once,
/// but the factors of all iterations need memory: m k and m n elements for each iteration. A factor that is a carry, a slice or a residual anyway needs no more
/// memory. So a product moves behind the loop if its extents are static and its factors need at most k n elements more for each iteration. An example is a
/// weight with more rows than the batch: the gradient of an LSTM of width 64 with batch 16 took 1.5 times as long with all products in the loop.
class stacked_products {
 public:
  /// The first `own` values of `given` are the carries and slices in the body that is being written.
  constexpr stacked_products(ir::builder& g, const derived_body& body, const id_list& given, int own)
      : g_(g), body_(body), first_(body.first()), given_(given), own_(own) {
    const ir::graph_view written = g.view().body_at(body.written());
    for (int i = 0; i < written.count; ++i)
      if (const ir::found_control_flow x = written.find_control_flow(i); x != nullptr && x->what == ir::control_flow::kind::checkpoint) is_allowed_ = false;
  }

  /// Removes products from the sum `sum`, the cotangent of a capture. Returns the other terms, or none if no term is left.
  constexpr ir::node_id take(int capture, ir::node_id sum) {
    if (!is_allowed_) return sum;
    return sum_of_others(g_, first_, sum, [&](ir::node_id term) { return takes(capture, term); });
  }

  /// Appends the factors that are nodes of the derived body.
  constexpr void add_computed(id_list& list) const {
    for (int i = 0; i < products_.size(); ++i)
      for (const factor* f : {&products_[i].left, &products_[i].right})
        if (!f->is_stacked()) add(list, f->id);
  }
  /// Appends the factors that the derived body has to return. `residuals` are the inputs of the body that are residuals. Call this function before
  /// the body is outlined.
  constexpr void add_outputs(id_list& outputs, const id_list& residuals) {
    for (int i = 0; i < products_.size(); ++i)
      for (factor* f : {&products_[i].left, &products_[i].right}) {
        if (f->is_stacked()) continue;
        for (int k = 0; k < residuals.size(); ++k)
          if (residuals[k] == f->id) f->position = k;
        if (f->position < 0) f->output = add(outputs, f->id);
      }
    for (int i = 0; i < products_.size(); ++i)  // the views between a product and its place in the cotangent
      for (ir::node_id id = products_[i].sum; id != products_[i].product; id = g_[id].in[0]) views_.push_back(g_[id]), view_of_.push_back(i);
  }

  /// Appends the factors that the primal body has to return: carries, and nodes that are residuals.
  constexpr void add_residuals(const ir::graph_view& written, const ir::control_flow& c, id_list& residuals) {
    for (int i = 0; i < products_.size(); ++i)
      for (factor* f : {&products_[i].left, &products_[i].right}) {
        if (f->given >= 0 && f->given < c.carries) f->local = input_of_body(written, f->given);
        if (f->local >= 0) f->position = add(residuals, f->local);
      }
  }

  /// Calls accumulate(capture, cotangent) for each product. residual_result(i) is a result of the primal loop, stacked_result(i) of the derived loop.
  template <class Stacked, class Kept, class Accumulate>
  constexpr void finish(const id_list& operands, std::int64_t trip_count, Stacked stacked_result, Kept residual_result, Accumulate accumulate) {
    for (int i = 0; i < products_.size(); ++i) {
      const one p = products_[i];
      const std::int64_t rows = g_.derived(ir::symbol::kind::product, trip_count, p.inner);
      const auto stacked = [&](const factor& f, std::int64_t columns) {
        const ir::node_id all = f.output >= 0 ? stacked_result(f.output) : f.position >= 0 ? residual_result(f.position) : operands[f.given];
        return ops::reshape_to({g_, all}, {2, {rows, columns}});
      };
#if TENURE_PROFILE_LINES
      const ir::builder::location_scope of_product(g_, p.location);
#endif
      ops::value y = ops::matrix_product(ops::transposed(stacked(p.left, p.rows)), stacked(p.right, p.columns));
      for (int v = views_.size() - 1; v >= 0; --v)
        if (view_of_[v] == i) {
          ir::node n = views_[v];
          n.in[0] = y.id;
          y = {g_, g_.emit(n)};
        }
      accumulate(p.capture, y.id);
    }
  }

 private:
  /// A factor in an iteration: a carry or a slice (`given`: its position), a residual (`local`: its id in the primal body), or a node that the derived
  /// body has to return (`output`). Reshapes of a factor are ignored, because only the elements in row-major order matter.
  struct factor {
    ir::node_id id = ir::none;
    int given = -1, local = -1, position = -1, output = -1;

    constexpr bool is_stacked() const { return given >= 0 || local >= 0; }
  };
  struct one {
    int capture;
    ir::node_id sum, product;
    factor left, right;
    std::int64_t inner, rows, columns;
#if TENURE_PROFILE_LINES
    std::int32_t location = 0;
#endif
  };

  constexpr bool takes(int capture, ir::node_id term) {
    ir::node_id product = term;
    while (product >= first_ && (g_[product].op == ir::opcode::reshape || g_[product].op == ir::opcode::permute)) product = g_[product].in[0];
    if (product < first_ || g_[product].op != ir::opcode::matmul) return false;
    const ir::node& m = g_[product];
    factor left{m.in[0]}, right{m.in[1]};
    const extents a = g_.shape_of(left.id), b = g_.shape_of(right.id);
    if (a.rank != 2 || b.rank != 2 || !is_static(a[0]) || !is_static(a[1]) || !is_static(b[1])) return false;
    const std::int64_t k = a[0], inner = a[1], columns = b[1];
    const bool is_transposed = g_[left.id].op == ir::opcode::permute && left.id >= first_;
    if (is_transposed) left.id = g_[left.id].in[0];
    else if (inner != 1) left.id = ops::transposed({g_, left.id}).id;  // a column and a row have the same layout in memory
    find(left), find(right);
    if ((left.is_stacked() ? 0 : inner * k) + (right.is_stacked() ? 0 : inner * columns) > k * columns) return false;
    one taken{capture, term, product, left, right, inner, k, columns};
#if TENURE_PROFILE_LINES
    taken.location = g_[product].location;
#endif
    products_.push_back(taken);
    return true;
  }

  constexpr void find(factor& f) const {
    while (f.id >= first_ && g_[f.id].op == ir::opcode::reshape) f.id = g_[f.id].in[0];
    for (int i = 0; i < own_; ++i)
      if (given_[i] == f.id) f.given = i;
    f.local = body_.residual_node(f.id);
  }
  static constexpr int add(id_list& list, ir::node_id id) {
    for (int i = 0; i < list.size(); ++i)
      if (list[i] == id) return i;
    return list.push_back(id);
  }

  ir::builder& g_;
  const derived_body& body_;
  ir::node_id first_;
  const id_list& given_;
  int own_;
  bool is_allowed_ = true;  // false if the primal body has a checkpoint, because a checkpoint asks for less memory
  ir::array<one> products_;
  ir::array<ir::node> views_;
  ir::array<int> view_of_;
};

/// Whether all slices of a stack are equal, because the stack is a constant or a broadcast along axis 0.
constexpr bool is_same_in_each_iteration(const ir::graph_view& g, ir::node_id stack) {
  const ir::node& n = g[stack];
  if (n.op != ir::opcode::broadcast) return n.op == ir::opcode::constant;
  for (int a = 0; a < g.shape_of(n.in[0]).rank; ++a)
    if (ir::unpack_axis(n.attr, a) == 0) return false;
  return true;
}
/// Returns the slice of such a stack, or none for another stack. The cotangent of sum(ys) is such a stack. Without this function it would be
/// written to memory before the loop.
constexpr ir::node_id same_in_each_iteration(ir::builder& g, ir::node_id stack, std::int16_t slice) {
  if (!is_same_in_each_iteration(g.view(), stack)) return ir::none;
  ir::node n = g[stack];
  if (n.op == ir::opcode::constant) {
    n.shape = slice;
    return g.emit(n);
  }
  std::int64_t axes = 0;
  bool is_slice = g[n.in[0]].shape == slice;  // whether the operand of the broadcast is the slice, with the axes in the same order
  for (int a = 0; a < g.shape_of(n.in[0]).rank; ++a) {
    const int at = ir::unpack_axis(n.attr, a) - 1;
    axes = ir::pack_axis(axes, a, at);
    is_slice = is_slice && at == a;
  }
  return is_slice ? n.in[0] : ops::broadcast_along({g, n.in[0]}, slice, axes).id;
}

/// Calls accumulate(operand, cotangent) for the operands of a scan. `cotangents` are the cotangents of its results, or none. `r` says what they reach.
template <class Accumulate>
constexpr void pull_scan(ir::builder& g, ir::node_id id, const reach& r, const char* active, const id_list& cotangents, Accumulate accumulate) {
  const ir::control_flow c = g.control_flow_at(id);
  const mark_list& reached = r.of_first;
  const id_list operands = g.operands_of(id);
  const int own = c.own_operands(), first_capture = own + c.counts;
  const int results = cotangents.size();

  derived_body body(g, c.bodies[0]);
  id_list carry_cotangents(c.carries, ir::none), sums(c.captures[0], ir::none), stacked_cotangents(results, ir::none);
  id_list carries, scanned, carry_operands, scanned_operands;
  id_list given, wrt, values, arriving;
  mark_list marks;
  for (int i = 0; i < c.carries; ++i)
    if (r.outputs[i]) carries.push_back(carry_cotangents[i] = body.input_like(operands[i]));
  for (int j = 0; j < c.captures[0]; ++j)
    if (reached[first_capture + j]) sums[j] = body.input_like(operands[own + j]);
  for (int i = c.carries; i < results; ++i)
    if (r.outputs[i]) {
      const ir::graph_view written = g.view().body_at(c.bodies[0]);
      const ir::node n = written[written.outputs[i]];
      stacked_cotangents[i] = same_in_each_iteration(g, cotangents[i], n.shape);
      if (stacked_cotangents[i] != ir::none) continue;
      scanned.push_back(stacked_cotangents[i] = body.input(n.type, n.shape));
      scanned_operands.push_back(cotangents[i]);
    }
  for (int i = 0; i < own + c.counts; ++i) given.push_back(body.input_of(i));
  for (int j = 0; j < c.captures[0]; ++j) given.push_back(sums[j] != ir::none ? body.variable(operands[own + j]) : operands[own + j]);
  body.inline_body(given);

  for (int i = 0; i < results; ++i) {
    const ir::node_id arrives = i < c.carries ? carry_cotangents[i] : stacked_cotangents[i];
    if (arrives == ir::none) continue;
    values.push_back(body.output(i));
    arriving.push_back(arrives);
    marks.push_back(r.outputs[i]);
  }
  for (int i = 0; i < given.size(); ++i)
    if (reached[i]) wrt.push_back(given[i]);
  id_list gradients(wrt.size(), ir::none);
  reverse(g, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data(), marks.data());

  id_list next, slices;  // the outputs: carries, then the cotangents of scanned slices, then factors of products
  stacked_products products(g, body, given, own);
  padded_sums parts(g, body);
  int at = 0;
  for (int i = 0; i < given.size(); ++i) {
    const bool is_carry = i < c.carries;
    if (is_carry ? !r.outputs[i] : !reached[i]) continue;
    const ir::node_id found = reached[i] ? gradients[at++] : ir::none;
    if (is_carry) {
      next.push_back(found != ir::none ? found : body.zero_like(given[i]));
    } else if (i < own) {
      slices.push_back(found != ir::none ? found : body.zero_like(given[i]));
    } else {
      ir::node_id& sum = sums[i - first_capture];
      ir::node_id rest = found != ir::none ? products.take(i - first_capture, found) : ir::none;
      if (rest != ir::none) rest = parts.take(i - first_capture, rest);
      if (rest == ir::none) sum = ir::none;
      if (rest == ir::none) continue;
      carries.push_back(sum);
      next.push_back(sum_of_cotangents({g, sum}, {g, rest}).id);
    }
  }
  parts.add_carries(carries, next);
  id_list outputs = next, stacked = slices, read = next;  // stacked: a factor that is also the cotangent of a slice is stacked once
  for (const ir::node_id s : slices) read.push_back(s);
  products.add_computed(read);

  id_list residuals, residual_inputs;
  ir::array<char> is_read(own + c.counts + 1, 0);
  id_list before;
  for (int i = 0; i < own + c.counts; ++i) before.push_back(given[i]);
  body.keep(read, before, is_read, residuals, residual_inputs);
  products.add_outputs(stacked, residual_inputs);
  for (const ir::node_id s : stacked) outputs.push_back(s);
  for (int i = c.carries; i < own; ++i)
    if (is_read[i]) scanned.push_back(given[i]), scanned_operands.push_back(operands[i]);
  for (int i = 0; i < c.carries; ++i)
    if (is_read[i]) residuals.push_back(input_of_body(g.view().body_at(c.bodies[0]), i)), residual_inputs.push_back(given[i]);

  ir::control_flow back = c.derived(c.what, carries.size(), scanned.size() + residuals.size());
  back.reverse = !c.reverse;
  back.counts = c.counts && is_read[own];
  id_list inputs = carries, captured;
  for (const ir::node_id s : scanned) inputs.push_back(s);
  for (const ir::node_id s : residual_inputs) inputs.push_back(s);
  if (back.counts) inputs.push_back(given[own]);
  back.bodies[0] = body.outline(inputs, outputs, captured);
  back.captures[0] = captured.size();

  id_list all_residuals = residuals;
  products.add_residuals(g.view().body_at(c.bodies[0]), c, all_residuals);
  id_list more_results, residual_places;  // residual_places: in the results of the first loop, which may already stack some residuals
  {
    const ir::graph_view written = g.view().body_at(c.bodies[0]);
    for (const ir::node_id local : all_residuals) {
      int place = c.carries;
      while (place < written.output_count && written.outputs[place] != local) ++place;
      if (place == written.output_count) place += more_results.size(), more_results.push_back(local);
      residual_places.push_back(place);
    }
  }
  if (more_results.size() > 0) {
    ir::control_flow more = c;
    more.bodies[0] = g.extended(c.bodies[0], more_results);
    g.replace_control_flow(id, more);
  }
  id_list all;
  for (int i = 0; i < c.carries; ++i)
    if (r.outputs[i]) all.push_back(cotangents[i] != ir::none ? cotangents[i] : g.constant(g[operands[i]].type, g[operands[i]].shape, 0));
  for (int j = 0; j < c.captures[0]; ++j)
    if (sums[j] != ir::none) all.push_back(g.constant(g[operands[own + j]].type, g[operands[own + j]].shape, 0));
  parts.add_zeros(all);
  for (const ir::node_id s : scanned_operands) all.push_back(s);
  for (int k = 0; k < residuals.size(); ++k) all.push_back(g.result(id, residual_places[k]));
  for (const ir::node_id s : captured) all.push_back(s);
  const ir::node_id loop = g.add_control_flow(back, all);

  int result = 0;
  for (int i = 0; i < c.carries; ++i)
    if (r.outputs[i]) {
      if (active[operands[i]] && r.operands[i]) accumulate(operands[i], g.result(loop, result));
      ++result;
    }
  for (int j = 0; j < c.captures[0]; ++j)
    if (sums[j] != ir::none) accumulate(operands[own + j], g.result(loop, result++));
  parts.finish([&] { return g.result(loop, result++); }, [&](int capture, ir::node_id cotangent) { accumulate(operands[own + capture], cotangent); });
  const int first_stacked = result;
  for (int i = c.carries; i < own; ++i)
    if (reached[i]) accumulate(operands[i], g.result(loop, result++));
  products.finish(
      operands, c.length, [&](int i) { return g.result(loop, first_stacked + i); }, [&](int k) { return g.result(id, residual_places[k]); },
      [&](int capture, ir::node_id cotangent) { accumulate(operands[own + capture], cotangent); });
}

}  // namespace tenure::passes

// SPDX-License-Identifier: BSL-1.0
// Derivatives of loops and branches. Each gives another loop or branch with a body of its own.
// - Tangents: the body computes (carry, tangent of the carry) from the last one.
// - Cotangents of scan: a second scan runs from the last turn to the first. Its carry has the cotangents of the carry and the sums of the
//   cotangents of the captures. The first scan gets more results: what the second one reads of each turn. These are the carry, and the
//   products, sums and looked-up elements. Everything else is computed again. The cotangent of a matrix is often a product in each turn:
//   these products can be one product after the loop, see stacked_products.
// - Cotangents of cond: the same branch is taken again, and computes its result again.
#pragma once

#include <tenure/ops/derivative.hpp>
#include <tenure/passes/differentiate_annotation.hpp>

namespace TENURE_NAMESPACE::passes {

constexpr void reverse(ir::builder& g, const ir::node_id* outputs, const ir::node_id* cotangents, int output_count,
                       const ir::node_id* wrt, int wrt_count, ir::node_id* gradients);
constexpr void forward(ir::builder& g, const ir::node_id* wrt, const ir::node_id* tangents, int wrt_count,
                       const ir::node_id* outputs, int output_count, ir::node_id* results);

using id_list = ir::array<ir::node_id>;

/// Where a derivative flows through a construct: whether it reaches each input of a body, and each result.
struct flow {
  ir::array<char> of_first, of_second, results;

  constexpr ir::array<char>& inputs(int body) { return body == 0 ? of_first : of_second; }
  constexpr const ir::array<char>& inputs(int body) const { return body == 0 ? of_first : of_second; }
};

constexpr void mark_active(const ir::graph_view& g, char* active, ir::node_id first = 0);

/// Marks the inputs of a body, and returns the marks of all its nodes.
constexpr ir::array<char> marks_of_body(const ir::graph_view& body, const ir::array<char>& inputs) {
  ir::array<char> active(body.count + 1, 0);
  for (ir::node_id i = 0; i < body.count; ++i)
    if (body[i].op == ir::opcode::input) active[i] = inputs[static_cast<int>(body[i].attr)];
  mark_active(body, active.data());
  return active;
}

constexpr flow flow_through(const ir::graph_view& g, ir::node_id id, const char* active) {
  const ir::construct c = g.construct_of(g[id]);
  const bool branches = c.what == ir::construct::kind::cond, is_while = c.what == ir::construct::kind::while_loop;
  flow f;
  if (c.annotates()) {
    f.results = annotations::flow(g, id, active);
    return f;
  }
  f.results.resize(g.results_of(c), 0);
  id_list operands;
  ir::for_each_operand(g.nodes, g[id].in[0], [&](ir::node_id o) { operands.push_back(o); });
  const auto flows = [&](int i) { return static_cast<char>(active[operands[i]] != 0 && is_floating(g[operands[i]].type)); };
  if (c.what == ir::construct::kind::external) {
    bool any = false;
    for (int i = 0; i < operands.size(); ++i) any = any || flows(i);
    const ir::graph_view body = g.body_at(c.bodies[0]);
    for (int i = 0; i < f.results.size(); ++i) f.results[i] = any && is_floating(body[body.outputs[i]].type);
    return f;
  }
  int captured = c.own_operands();
  for (int b = 0; b < 2; ++b) {
    if (!branches)
      for (int i = 0; i < c.own_operands(); ++i) f.inputs(b).push_back(flows(i));
    if (c.counts) f.inputs(b).push_back(0);
    for (int i = 0; i < c.captures[b]; ++i) f.inputs(b).push_back(flows(captured++));
  }
  for (int b = is_while ? 1 : 0; b < (branches || is_while ? 2 : 1); ++b) {
    const ir::graph_view body = g.body_at(c.bodies[b]);
    for (bool again = true; again;) {
      again = false;
      const ir::array<char> marks = marks_of_body(body, f.inputs(b));
      for (int i = 0; i < f.results.size(); ++i) {
        if (!marks[body.outputs[i]] || !is_floating(body[body.outputs[i]].type)) continue;
        f.results[i] = 1;
        if (i < c.carries && !f.inputs(b)[i]) f.inputs(b)[i] = again = true;
      }
    }
    for (int i = 0; i < c.carries; ++i) f.results[i] = f.results[i] || f.inputs(b)[i];
  }
  return f;
}

/// Marks the nodes from `first` on that depend on marked nodes by a derivative.
constexpr void mark_active(const ir::graph_view& g, char* active, ir::node_id first) {
  for (ir::node_id id = first; id < g.count; ++id) {
    const ir::node& n = g.nodes[id];
    if (n.op == ir::opcode::result) {
      continue;  // its construct marks it
    } else if (n.op == ir::opcode::construct) {
      if (!active[n.in[0]]) continue;
      const flow f = flow_through(g, id, active);
      for (ir::node_id r = id + 1; r < g.count; ++r)
        if (g.nodes[r].op == ir::opcode::result && g.nodes[r].in[0] == id) active[r] = f.results[static_cast<int>(g.nodes[r].attr)];
    } else {
      for (int k = 0; k < n.arity; ++k)
        if (active[n.in[k]] && ops::flows_to(n, k, g.nodes[n.in[k]])) active[id] = 1;
    }
  }
}

/// A body of a derivative that is being written: inputs, then the nodes of the body that it is the derivative of.
class derived_body {
 public:
  constexpr derived_body(ir::builder& g, int which) : g_(g), first_(g.count()), which_(which) {}

  constexpr ir::node_id input(dtype type, std::int16_t shape) { return g_.body_input(type, shape); }
  constexpr ir::node_id input_like(ir::node_id x) { return g_.body_input(g_[x].type, g_[x].shape); }
  /// A value of the graph around the body, as a node of the body, so that a derivative stops here.
  constexpr ir::node_id variable(ir::node_id x) {
    return g_.append({.op = ir::opcode::cast, .type = g_[x].type, .arity = 1, .shape = g_[x].shape, .in = {x, ir::none, ir::none}});
  }
  constexpr ir::node_id zero_like(ir::node_id x) { return g_.constant(g_[x].type, g_[x].shape, 0); }

  /// Computes the body again. `inputs` are its inputs.
  constexpr void paste(const id_list& inputs) {
    first_pasted_ = g_.count();
    pasted_ = g_.paste(which_, inputs);
    end_pasted_ = g_.count();
  }
  constexpr ir::node_id output(int i) const {
    const ir::graph_view body = g_.view().body_at(which_);
    return pasted_[body.outputs[i]];
  }

  /// Makes an input of each pasted node that is kept from the first loop. Appends its id in the written body to `kept`, and the input to
  /// `inputs`. Sets is_read[i] if the written body reads before[i]. Products, sums and looked-up elements are always kept if they are read.
  /// Of the rest either nothing is kept, and it is computed again, or everything that the derivative reads is kept, where that takes no more
  /// memory: then what leads to it is neither kept nor computed again. An LSTM keeps its gates and not the two products that they come from.
  constexpr void keep(const id_list& outputs, const id_list& before, ir::array<char>& is_read, id_list& kept, id_list& inputs) {
    ir::array<char> of_fewest = needed(outputs, false), of_direct = needed(outputs, true);
    const bool keeps_direct = size_of_kept(of_direct, before, true) <= size_of_kept(of_fewest, before, false);
    const ir::array<char>& marks = keeps_direct ? of_direct : of_fewest;
    for (ir::node_id id = end_pasted_ - 1; id >= first_pasted_; --id) {
      if (!is_kept(marks, id, keeps_direct)) continue;
      kept.push_back(local_of(id));
      inputs.push_back(id);
      g_.become_body_input(id);
    }
    for (int i = 0; i < before.size(); ++i) is_read[i] = before[i] >= first_ && marks[before[i] - first_] != 0;
  }

  constexpr ir::node_id first() const { return first_; }
  constexpr int written() const { return which_; }
  /// The id in the written body of a pasted node that keep() would keep, or -1.
  constexpr int kept_node(ir::node_id id) const {
    return id >= first_pasted_ && id < end_pasted_ && is_kept(g_[id].op) ? local_of(id) : -1;
  }

  constexpr int cut(const id_list& inputs, const id_list& outputs, id_list& captured) { return g_.cut(first_, inputs, outputs, captured); }

 private:
  /// Kept from turn to turn: results of more than pointwise work.
  static constexpr bool is_kept(ir::opcode op) {
    return op == ir::opcode::matmul || op == ir::opcode::solve || op == ir::opcode::reduce || op == ir::opcode::gather || op == ir::opcode::scatter || op == ir::opcode::result;
  }

  enum : char { is_needed = 1, is_direct = 2 };  // direct: the derivative itself reads the pasted node

  constexpr bool is_kept(const ir::array<char>& marks, ir::node_id id, bool keeps_direct) const {
    const char m = marks[id - first_];
    return m != 0 && (is_kept(g_[id].op) || (keeps_direct && (m & is_direct) && ops::is_pointwise(g_[id].op)));
  }
  /// Marks the nodes of the body that the outputs need. A kept node does not need its operands.
  constexpr ir::array<char> needed(const id_list& outputs, bool keeps_direct) const {
    const int count = g_.count();
    ir::array<char> marks(count - first_, 0);
    const auto need = [&](ir::node_id id, char how) {
      if (id >= first_) marks[id - first_] = static_cast<char>(marks[id - first_] | how);
    };
    for (const ir::node_id id : outputs) need(id, is_needed | is_direct);
    for (ir::node_id id = count - 1; id >= first_; --id) {
      const bool is_pasted = id >= first_pasted_ && id < end_pasted_;
      if (!marks[id - first_] || (is_pasted && is_kept(marks, id, keeps_direct))) continue;
      for (int k = 0; k < g_[id].arity; ++k) need(g_[id].in[k], is_pasted ? is_needed : is_needed | is_direct);
    }
    return marks;
  }
  /// The elements that are kept for a turn, if run-time extents were 64. `before` are carries and slices; all count, though slices are there
  /// anyway: what reads them is computed again.
  constexpr double size_of_kept(const ir::array<char>& marks, const id_list& before, bool keeps_direct) const {
    double size = 0;
    const auto add = [&](ir::node_id id) {
      double elements = static_cast<double>(size_of(g_[id].type));
      for (int a = 0; a < g_.shape_of(id).rank; ++a) elements *= is_static(g_.shape_of(id)[a]) ? static_cast<double>(g_.shape_of(id)[a]) : 64;
      size += elements;
    };
    for (ir::node_id id = first_pasted_; id < end_pasted_; ++id)
      if (is_kept(marks, id, keeps_direct)) add(id);
    for (const ir::node_id id : before)
      if (id >= first_ && marks[id - first_]) add(id);
    return size;
  }
  constexpr int local_of(ir::node_id id) const {
    int local = 0;
    while (pasted_[local] != id) ++local;
    return local;
  }

  ir::builder& g_;
  ir::node_id first_, first_pasted_ = 0, end_pasted_ = 0;
  int which_;
  id_list pasted_;
};

/// The id in a body of its input i.
constexpr ir::node_id input_of_body(const ir::graph_view& body, int i) {
  ir::node_id at = 0;
  while (body[at].op != ir::opcode::input || body[at].attr != i) ++at;
  return at;
}

/// The products in the cotangents of the captures of a scan. The sum over the turns of L_t R_t, [k, m] x [m, n], is one product of the
/// stacked factors, [k, turns * m] x [turns * m, n]. In the loop each turn reads and writes the whole sum, k n elements. After the loop it is
/// written once, but the factors of all turns need memory: m n elements for a turn, and m k more unless the left factor is kept anyway,
/// as a carry or a slice is. So a product is taken out of the loop where these are static and not more than k n. That is a weight with
/// more rows than the batch: the gradient of an LSTM of width 64 with batch 16 took 1.5 times as long with all products in the loop.
class stacked_products {
 public:
  /// The first `own` of `given` are the carries and slices in the body that is being written.
  constexpr stacked_products(ir::builder& g, const derived_body& body, const id_list& given, int own) : g_(g), body_(body), first_(body.first()), given_(given), own_(own) {
    const ir::graph_view written = g.view().body_at(body.written());
    for (int i = 0; i < written.count; ++i)
      if (written[i].op == ir::opcode::construct && written.construct_of(written[i]).what == ir::construct::kind::checkpoint) is_allowed_ = false;
  }

  /// Takes products out of the cotangent `sum` of a capture, which is a sum. Returns the rest, or none.
  constexpr ir::node_id take(int capture, ir::node_id sum) {
    if (!is_allowed_) return sum;
    const ir::node n = g_[sum];
    if (n.op == ir::opcode::add && sum >= first_) {
      const ir::node_id a = take(capture, n.in[0]), b = take(capture, n.in[1]);
      if (a == n.in[0] && b == n.in[1]) return sum;
      if (a == ir::none || b == ir::none) return a == ir::none ? b : a;
      return (ops::value(g_, a) + ops::value(g_, b)).id;
    }
    ir::node_id product = sum;
    while (product >= first_ && (g_[product].op == ir::opcode::reshape || g_[product].op == ir::opcode::permute)) product = g_[product].in[0];
    if (product < first_ || g_[product].op != ir::opcode::matmul) return sum;
    const ir::node& m = g_[product];
    factor left{m.in[0]}, right{m.in[1]};
    const extents a = g_.shape_of(left.id), b = g_.shape_of(right.id);
    if (a.rank != 2 || b.rank != 2 || !is_static(a[0]) || !is_static(a[1]) || !is_static(b[1])) return sum;
    const std::int64_t k = a[0], inner = a[1], columns = b[1];
    const bool is_transposed = g_[left.id].op == ir::opcode::permute && left.id >= first_;
    if (is_transposed) left.id = g_[left.id].in[0];
    else if (inner != 1) left.id = ops::transposed({g_, left.id}).id;  // a column and a row have the same memory
    find(left), find(right);
    if ((left.is_stacked() ? 0 : inner * k) + (right.is_stacked() ? 0 : inner * columns) > k * columns) return sum;
    products_.push_back({capture, sum, product, left, right, inner, k, columns});
    return ir::none;
  }

  /// Appends the factors that the body computes.
  constexpr void add_computed(id_list& list) const {
    for (int i = 0; i < products_.size(); ++i)
      for (const factor* f : {&products_[i].left, &products_[i].right})
        if (!f->is_stacked()) add(list, f->id);
  }
  /// Appends those that the body has to return. `kept`: its inputs that are kept for each turn. Call it before the body is cut off.
  constexpr void add_outputs(id_list& outputs, const id_list& kept) {
    for (int i = 0; i < products_.size(); ++i)
      for (factor* f : {&products_[i].left, &products_[i].right}) {
        if (f->is_stacked()) continue;
        for (int k = 0; k < kept.size(); ++k)
          if (kept[k] == f->id) f->position = k;
        if (f->position < 0) f->output = add(outputs, f->id);
      }
    for (int i = 0; i < products_.size(); ++i)  // the views between a product and its place in the cotangent
      for (ir::node_id id = products_[i].sum; id != products_[i].product; id = g_[id].in[0]) views_.push_back(g_[id]), view_of_.push_back(i);
  }

  /// Appends the factors that the written body has to return: carries, and nodes that are kept.
  constexpr void add_kept(const ir::graph_view& written, const ir::construct& c, id_list& kept) {
    for (int i = 0; i < products_.size(); ++i)
      for (factor* f : {&products_[i].left, &products_[i].right}) {
        if (f->given >= 0 && f->given < c.carries) f->local = input_of_body(written, f->given);
        if (f->local >= 0) f->position = add(kept, f->local);
      }
  }

  /// Calls accumulate(capture, cotangent) for each product. stacked_result(i) and kept_result(i) are results of the two loops.
  template <class Stacked, class Kept, class Accumulate>
  constexpr void finish(const id_list& operands, std::int64_t turns, Stacked stacked_result, Kept kept_result, Accumulate accumulate) {
    for (int i = 0; i < products_.size(); ++i) {
      const one p = products_[i];
      const std::int64_t rows = g_.derived(ir::symbol::kind::product, turns, p.inner);
      const auto stacked = [&](const factor& f, std::int64_t columns) {
        const ir::node_id all = f.output >= 0 ? stacked_result(f.output) : f.position >= 0 ? kept_result(f.position) : operands[f.given];
        return ops::reshape_to({g_, all}, {2, {rows, columns}});
      };
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
  /// A factor in a turn: a carry or a slice (given), a kept node of the written body (local), or a node that the body has to return. Only
  /// its elements in row-major order count.
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
  };

  constexpr void find(factor& f) const {
    while (f.id >= first_ && g_[f.id].op == ir::opcode::reshape) f.id = g_[f.id].in[0];
    for (int i = 0; i < own_; ++i)
      if (given_[i] == f.id) f.given = i;
    f.local = body_.kept_node(f.id);
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
  bool is_allowed_ = true;  // a checkpoint in a turn asks for less memory
  ir::array<one> products_;
  ir::array<ir::node> views_;
  ir::array<int> view_of_;
};

/// Adds the cotangents of the operands of a scan. `cotangents` are those of its results, or none. accumulate(operand, cotangent) takes them.
template <class Accumulate>
constexpr void pull_scan(ir::builder& g, ir::node_id id, const char* active, const id_list& cotangents, Accumulate accumulate) {
  const ir::construct c = g.construct_at(id);
  const flow f = flow_through(g.view(), id, active);
  const id_list operands = g.operands_of(id);
  const int own = c.own_operands(), first_capture = own + c.counts;
  const int results = cotangents.size();

  derived_body body(g, c.bodies[0]);
  id_list carry_cotangents(c.carries, ir::none), sums(c.captures[0], ir::none), stacked_cotangents(results, ir::none);
  id_list carries, scanned, carry_operands, scanned_operands;
  id_list given, wrt, values, arriving;
  for (int i = 0; i < c.carries; ++i)
    if (f.inputs(0)[i]) carries.push_back(carry_cotangents[i] = body.input_like(operands[i]));
  for (int j = 0; j < c.captures[0]; ++j)
    if (f.inputs(0)[first_capture + j]) sums[j] = body.input_like(operands[own + j]);
  for (int i = c.carries; i < results; ++i)
    if (f.results[i] && cotangents[i] != ir::none) {
      const ir::graph_view written = g.view().body_at(c.bodies[0]);
      const ir::node n = written[written.outputs[i]];
      scanned.push_back(stacked_cotangents[i] = body.input(n.type, n.shape));
      scanned_operands.push_back(cotangents[i]);
    }
  for (int i = 0; i < own + c.counts; ++i) {
    const ir::graph_view written = g.view().body_at(c.bodies[0]);
    const ir::node n = written[input_of_body(written, i)];
    given.push_back(body.input(n.type, n.shape));
  }
  for (int j = 0; j < c.captures[0]; ++j) given.push_back(sums[j] != ir::none ? body.variable(operands[own + j]) : operands[own + j]);
  body.paste(given);

  for (int i = 0; i < results; ++i) {
    const ir::node_id arrives = i < c.carries ? carry_cotangents[i] : stacked_cotangents[i];
    if (arrives == ir::none || !f.results[i]) continue;
    values.push_back(body.output(i));
    arriving.push_back(arrives);
  }
  for (int i = 0; i < given.size(); ++i)
    if (f.inputs(0)[i]) wrt.push_back(given[i]);
  id_list gradients(wrt.size(), ir::none);
  reverse(g, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data());

  id_list next, slices;  // the outputs: carries, then the cotangents of scanned slices, then factors of products
  stacked_products products(g, body, given, own);
  int at = 0;
  for (int i = 0; i < given.size(); ++i) {
    if (!f.inputs(0)[i]) continue;
    const ir::node_id found = gradients[at++];
    if (i < c.carries) {
      next.push_back(found != ir::none ? found : body.zero_like(given[i]));
    } else if (i < own) {
      slices.push_back(found != ir::none ? found : body.zero_like(given[i]));
    } else {
      ir::node_id& sum = sums[i - first_capture];
      const ir::node_id rest = found != ir::none ? products.take(i - first_capture, found) : ir::none;
      if (rest == ir::none) sum = ir::none;
      if (rest == ir::none) continue;
      carries.push_back(sum);
      next.push_back((ops::value(g, sum) + ops::value(g, rest)).id);
    }
  }
  id_list outputs = next, factors;
  for (const ir::node_id s : slices) outputs.push_back(s);
  id_list read = outputs;
  products.add_computed(read);

  id_list kept, kept_inputs;
  ir::array<char> is_read(own + c.counts + 1, 0);
  id_list before;
  for (int i = 0; i < own + c.counts; ++i) before.push_back(given[i]);
  body.keep(read, before, is_read, kept, kept_inputs);
  products.add_outputs(factors, kept_inputs);
  for (const ir::node_id s : factors) outputs.push_back(s);
  for (int i = c.carries; i < own; ++i)
    if (is_read[i]) scanned.push_back(given[i]), scanned_operands.push_back(operands[i]);
  for (int i = 0; i < c.carries; ++i)
    if (is_read[i]) kept.push_back(input_of_body(g.view().body_at(c.bodies[0]), i)), kept_inputs.push_back(given[i]);

  ir::construct back{.what = ir::construct::kind::scan, .reverse = !c.reverse, .counts = c.counts && is_read[own], .carries = carries.size(), .scanned = scanned.size() + kept.size(), .length = c.length};
  id_list inputs = carries, captured;
  for (const ir::node_id s : scanned) inputs.push_back(s);
  for (const ir::node_id s : kept_inputs) inputs.push_back(s);
  if (back.counts) inputs.push_back(given[own]);
  back.bodies[0] = body.cut(inputs, outputs, captured);
  back.captures[0] = captured.size();

  id_list all_kept = kept;
  products.add_kept(g.view().body_at(c.bodies[0]), c, all_kept);
  if (all_kept.size() > 0) {
    ir::construct more = c;
    more.bodies[0] = g.extended(c.bodies[0], all_kept);
    g.replace_construct(id, more);
  }
  const int written_results = g.view().results_of(c);
  id_list all;
  for (int i = 0; i < c.carries; ++i)
    if (f.inputs(0)[i]) all.push_back(cotangents[i] != ir::none ? cotangents[i] : g.constant(g[operands[i]].type, g[operands[i]].shape, 0));
  for (int j = 0; j < c.captures[0]; ++j)
    if (sums[j] != ir::none) all.push_back(g.constant(g[operands[own + j]].type, g[operands[own + j]].shape, 0));
  for (const ir::node_id s : scanned_operands) all.push_back(s);
  for (int k = 0; k < kept.size(); ++k) all.push_back(g.result(id, written_results + k));
  for (const ir::node_id s : captured) all.push_back(s);
  const ir::node_id loop = g.add_construct(back, all);

  int result = 0;
  for (int i = 0; i < c.carries; ++i)
    if (f.inputs(0)[i]) {
      if (active[operands[i]]) accumulate(operands[i], g.result(loop, result));
      ++result;
    }
  for (int j = 0; j < c.captures[0]; ++j)
    if (sums[j] != ir::none) accumulate(operands[own + j], g.result(loop, result++));
  for (int i = c.carries; i < own; ++i)
    if (f.inputs(0)[i]) accumulate(operands[i], g.result(loop, result++));
  products.finish(
      operands, c.length, [&](int i) { return g.result(loop, result + i); }, [&](int k) { return g.result(id, written_results + k); },
      [&](int capture, ir::node_id cotangent) { accumulate(operands[own + capture], cotangent); });
}

/// The same for a branch.
template <class Accumulate>
constexpr void pull_cond(ir::builder& g, ir::node_id id, const char* active, const id_list& cotangents, Accumulate accumulate) {
  const ir::construct c = g.construct_at(id);
  const flow f = flow_through(g.view(), id, active);
  const id_list operands = g.operands_of(id);
  id_list all, wanted;
  all.push_back(operands[0]);
  for (int b = 0, k = 1; b < 2; ++b)
    for (int j = 0; j < c.captures[b]; ++j, ++k)
      if (f.inputs(b)[j]) wanted.push_back(operands[k]);
  ir::construct back{.what = ir::construct::kind::cond};
  int first_capture = 1, first_wanted = 0;
  for (int b = 0; b < 2; ++b) {
    derived_body body(g, c.bodies[b]);
    id_list given, wrt, values, arriving, outputs;
    for (int j = 0; j < c.captures[b]; ++j) {
      const ir::node_id operand = operands[first_capture + j];
      given.push_back(f.inputs(b)[j] ? body.variable(operand) : operand);
      if (f.inputs(b)[j]) wrt.push_back(given.back());
    }
    body.paste(given);
    for (int i = 0; i < cotangents.size(); ++i)
      if (cotangents[i] != ir::none && f.results[i]) values.push_back(body.output(i)), arriving.push_back(cotangents[i]);
    id_list gradients(wrt.size(), ir::none);
    reverse(g, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data());
    for (int k = 0; k < wanted.size(); ++k) {
      const bool is_here = first_wanted <= k && k < first_wanted + wrt.size();
      const ir::node_id found = is_here ? gradients[k - first_wanted] : ir::none;
      outputs.push_back(found != ir::none ? found : body.zero_like(wanted[k]));
    }
    const int before = all.size();
    back.bodies[b] = body.cut({}, outputs, all);
    back.captures[b] = all.size() - before;
    first_capture += c.captures[b];
    first_wanted += wrt.size();
  }
  const ir::node_id branch = g.add_construct(back, all);
  for (int k = 0; k < wanted.size(); ++k) accumulate(wanted[k], g.result(branch, k));
}

/// Adds the cotangents of the operands of a construct, given those of its results up to node `last`.
template <class Accumulate>
constexpr void pull_construct(ir::builder& g, ir::node_id id, ir::node_id last, const char* active, const id_list& adjoint, Accumulate accumulate) {
  const ir::construct c = g.construct_at(id);
  id_list cotangents(g.view().results_of(c), ir::none);
  bool any = false;
  for (ir::node_id r = id + 1; r <= last; ++r) {
    const ir::node n = g[r];
    if (n.op != ir::opcode::result || n.in[0] != id || adjoint[r] == ir::none) continue;
    ir::node_id& sum = cotangents[static_cast<int>(n.attr)];
    sum = sum == ir::none ? adjoint[r] : (ops::value(g, sum) + ops::value(g, adjoint[r])).id;
    any = true;
  }
  if (c.annotates()) return annotations::pull(g, id, active, cotangents, accumulate);
  if (!any) return;
  switch (c.what) {
    case ir::construct::kind::scan: return pull_scan(g, id, active, cotangents, accumulate);
    case ir::construct::kind::cond: return pull_cond(g, id, active, cotangents, accumulate);
    case ir::construct::kind::while_loop: return g.refuse({ir::refusal::kind::reverse_while});
    case ir::construct::kind::external: return g.refuse({ir::refusal::kind::reverse_extern});
    default: return;
  }
}

/// Sets the tangents of the results of a construct up to node `last`.
constexpr void push_construct(ir::builder& g, ir::node_id id, ir::node_id last, id_list& tangent) {
  const ir::construct c = g.construct_at(id);
  const bool branches = c.what == ir::construct::kind::cond, is_while = c.what == ir::construct::kind::while_loop;
  const id_list operands = g.operands_of(id);
  ir::array<char> active(g.count(), 0);
  bool any = false;
  for (const ir::node_id o : operands)
    if (o <= last && tangent[o] != ir::none) active[o] = 1, any = true;
  if (!any) return;
  if (c.annotates()) {
    const id_list tangents = annotations::push(g, id, tangent);
    for (ir::node_id r = id + 1; r <= last; ++r)
      if (g[r].op == ir::opcode::result && g[r].in[0] == id) tangent[r] = tangents[static_cast<int>(g[r].attr)];
    return;
  }
  const flow f = flow_through(g.view(), id, active.data());
  if (c.what == ir::construct::kind::external) {
    for (const char result : f.results)
      if (result) g.refuse({ir::refusal::kind::forward_extern});
    return;
  }
  const int own = c.own_operands(), results = f.results.size();
  const auto zero = [&](ir::node_id x) { return g.constant(g[x].type, g[x].shape, 0); };

  ir::construct both{.what = c.what, .reverse = c.reverse, .counts = c.counts, .length = c.length};
  const int differentiated = is_while ? 1 : 0;
  id_list all;
  if (branches) {
    all.push_back(operands[0]);
  } else {
    for (int i = 0; i < c.carries; ++i) all.push_back(operands[i]);
    for (int i = 0; i < c.carries; ++i)
      if (f.inputs(differentiated)[i]) all.push_back(active[operands[i]] ? tangent[operands[i]] : zero(operands[i]));
    both.carries = all.size();
    for (int i = c.carries; i < own; ++i) all.push_back(operands[i]);
    for (int i = c.carries; i < own; ++i)
      if (f.inputs(differentiated)[i]) all.push_back(tangent[operands[i]]);
    both.scanned = all.size() - both.carries;
  }
  int first_capture = own;
  for (int b = 0; b < (branches || is_while ? 2 : 1); ++b) {
    derived_body body(g, c.bodies[b]);
    id_list inputs, given(own + c.counts, ir::none), wrt, tangents, outputs;
    if (branches) given.resize(0);
    const auto take = [&](int from, int to) {
      const auto input = [&](int i) {
        const ir::graph_view written = g.view().body_at(c.bodies[b]);
        const ir::node n = written[input_of_body(written, i)];
        inputs.push_back(body.input(n.type, n.shape));
        return inputs.back();
      };
      for (int i = from; i < to; ++i) given[i] = input(i);
      for (int i = from; i < to; ++i)
        if (f.inputs(differentiated)[i]) wrt.push_back(given[i]), tangents.push_back(input(i));
    };
    if (!branches) {
      take(0, c.carries);
      take(c.carries, own);
      if (c.counts) take(own, own + 1);
    }
    for (int j = 0; j < c.captures[b]; ++j) {
      const ir::node_id operand = operands[first_capture + j];
      if (!active[operand]) {
        given.push_back(operand);
        continue;
      }
      given.push_back(body.variable(operand));
      wrt.push_back(given.back());
      tangents.push_back(tangent[operand]);
    }
    body.paste(given);
    if (is_while && b == 0) {
      outputs.push_back(body.output(0));
    } else {
      id_list values, found(results, ir::none);
      for (int i = 0; i < results; ++i) values.push_back(body.output(i));
      forward(g, wrt.data(), tangents.data(), wrt.size(), values.data(), results, found.data());
      const auto tangent_of = [&](int i) { return found[i] != ir::none ? found[i] : body.zero_like(values[i]); };
      for (int i = 0; i < c.carries; ++i) outputs.push_back(values[i]);
      for (int i = 0; i < results; ++i)
        if (f.results[i]) outputs.push_back(tangent_of(i));
    }
    const int before = all.size();
    both.bodies[b] = body.cut(inputs, outputs, all);
    both.captures[b] = all.size() - before;
    first_capture += c.captures[b];
  }
  const ir::node_id derived = g.add_construct(both, all);
  id_list position(results, -1);
  int at = c.carries;
  for (int i = 0; i < results; ++i)
    if (f.results[i]) position[i] = at++;
  for (ir::node_id r = id + 1; r <= last; ++r) {
    const ir::node n = g[r];
    if (n.op == ir::opcode::result && n.in[0] == id && position[static_cast<int>(n.attr)] >= 0) tangent[r] = g.result(derived, position[static_cast<int>(n.attr)]);
  }
}

}  // namespace tenure::passes

// reverse() and forward() go through constructs, and constructs through the nodes of their bodies: each header needs the other.
#include <tenure/passes/differentiate.hpp>

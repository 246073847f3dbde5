// SPDX-License-Identifier: BSL-1.0
// Random graphs with what a graph says about derivatives, too: checkpoints, rules of one's own, functions of C++, implicit functions, systems of
// equations; and with functions of functions in the middle of them: the derivatives of a random function, and a random function of each slice
// of an axis. All in each other. The rules are derivatives of the functions, so that differences can judge them.
#pragma once

#include <tenure/passes/loops/batch.hpp>
#include <tenure/passes/differentiate.hpp>

#include "random_graph.hpp"

namespace fuzz {

namespace passes = tenure::passes;

constexpr const char* name_of_part[parts] = {"scan", "while_loop", "reverse_while", "cond", "custom_jvp", "custom_vjp", "checkpoint", "linear_solve", "external", "update", "solve", "batch", "derivative"};

constexpr bool has_body(part p) { return p != part::external && p != part::update && p != part::solve; }

/// How many graphs contain each part, and each part in a body of each.
struct census {
  int graphs_with[parts] = {};
  int inside[parts][parts] = {};

  /// Counts what the outputs of a graph need, and what was made without a node.
  void add(const ir::graph_view& g, const made_parts& made) {
    made_parts found = made;
    look(g, -1, found);
    for (int a = 0; a < parts; ++a) {
      graphs_with[a] += found.any[a];
      for (int b = 0; b < parts; ++b) inside[a][b] += found.inside[a][b];
    }
  }
  std::string text() const {
    std::string s;
    for (int p = 0; p < parts; ++p) s += std::string(name_of_part[p]) + " " + std::to_string(graphs_with[p]) + (p + 1 < parts ? ", " : "");
    for (int a = 0; a < parts; ++a) {
      if (!has_body(static_cast<part>(a))) continue;
      s += std::string("\n  in ") + name_of_part[a] + ":";
      for (int b = 0; b < parts; ++b) s += std::string(" ") + name_of_part[b] + " " + std::to_string(inside[a][b]);
    }
    return s;
  }

  /// Notes what the outputs of a graph need, in a body of `outer`, or of none for -1.
  static void look(const ir::graph_view& g, int outer, made_parts& found) {
    static constexpr part of_kind[] = {part::scan, part::while_loop, part::reverse_while, part::cond, part::external, part::custom_jvp, part::custom_vjp, part::checkpoint,
                                       part::linear_solve};
    std::vector<char> live(static_cast<std::size_t>(g.count));
    for (int i = 0; i < g.output_count; ++i) live[static_cast<std::size_t>(g.outputs[i])] = 1;
    ir::mark_needed(g.nodes, g.count, live.data());
    for (ir::node_id id = 0; id < g.count; ++id) {
      if (!live[static_cast<std::size_t>(id)]) continue;
      const ir::node& n = g[id];
      if (ops::is_opaque(n.op) && tenure::is_floating(n.type)) found.note(outer, part::solve);
      if (n.op == ir::opcode::update) found.note(outer, part::update);
      if (n.op != ir::opcode::control_flow) continue;
      const ir::control_flow& c = g.control_flow_of(n);
      const part kind = of_kind[static_cast<int>(c.what)];
      found.note(outer, kind);
      for (const int body : c.bodies)
        if (body >= 0) look(g.body_at(body), static_cast<int>(kind), found);
    }
  }
};

class rule_generator : public generator {
 public:
  using generator::generator;

 private:
  /// A function is gone into `p`, which leaves no node.
  void note(part p, int body) {
    made.note(around_, p);
    made_parts in_body;
    census::look(graph().view().body_at(body), static_cast<int>(p), in_body);
    for (int b = 0; b < parts; ++b) made.inside[static_cast<int>(p)][b] |= in_body.inside[static_cast<int>(p)][b];
  }

  /// A random function of some values, which may read others too.
  struct function {
    int body = -1;
    ids captured;
    int results = 0;
  };
  function grow_function(part what, const std::vector<entry>& arguments, std::vector<double>& bounds, int* kept = nullptr) {
    ir::builder& g = graph();
    const ir::node_id first = g.count();
    ids inputs, outputs;
    std::vector<entry> own;
    for (const entry& e : arguments) {
      inputs.push_back(g.body_input(e.x.type(), e.x.node().shape));
      own.push_back({{g, inputs.back()}, e.bound});
    }
    if (own.empty()) own.push_back(recent());
    function f;
    grow_body(what, own, [&] {
      for (f.results = 1 + dice_.below(2); outputs.size() < f.results;) {
        const entry y = recent();
        outputs.push_back(y.x.id);
        bounds.push_back(bound_of_result(y));
      }
      for (ir::node_id id = first; kept != nullptr && id < g.count(); ++id) {
        const bool is_kept = g[id].op == ir::opcode::matmul || g[id].op == ir::opcode::reduce || g[id].op == ir::opcode::result;
        if (!is_kept || !tenure::is_floating(g[id].type) || dice_.chance(0.5)) continue;
        outputs.push_back(id);
        ++*kept;
      }
    });
    f.body = g.outline(first, inputs, outputs, f.captured);
    return f;
  }
  ids with(ids list, const ids& more) {
    for (const ir::node_id id : more) list.push_back(id);
    return list;
  }
  /// The nodes of f, and its results.
  struct call {
    ids nodes, results;
  };
  call called(const function& f, const ids& arguments, ir::builder::bounds how = ir::builder::bounds::as_written) {
    ir::builder& g = graph();
    call c{g.inline_body(f.body, with(arguments, f.captured), how), {}};
    const ir::graph_view body = g.view().body_at(f.body);
    for (int i = 0; i < body.output_count; ++i) c.results.push_back(c.nodes[body.outputs[i]]);
    return c;
  }
  bool is_floating(ir::node_id id) { return tenure::is_floating(graph()[id].type); }
  ir::node_id zero_like(ir::node_id id) { return graph().constant(graph()[id].type, graph()[id].shape, 0); }
  ids floating_of(const ids& all) {
    ids some;
    for (const ir::node_id id : all)
      if (is_floating(id)) some.push_back(id);
    return some;
  }
  ids inputs_like(const ids& all) {
    ids inputs;
    for (const ir::node_id id : all) inputs.push_back(graph().body_input(graph()[id].type, graph()[id].shape));
    return inputs;
  }
  void add_results(ir::node_id control_flow, const std::vector<double>& bounds) {
    for (std::size_t i = 0; i < bounds.size(); ++i) add({{graph(), graph().result(control_flow, static_cast<int>(i))}, bounds[i]});
  }
  std::vector<entry> some(int most) {
    std::vector<entry> found;
    for (int i = 1 + dice_.below(most); i > 0; --i)
      if (const entry e = recent(); elements(e.x.shape()) <= 300) found.push_back(e);
    return found;
  }
  static ids ids_of(const std::vector<entry>& all) {
    ids list;
    for (const entry& e : all) list.push_back(e.x.id);
    return list;
  }

  void rule_step() override {
    switch (dice_.below(6)) {
      case 0: return checkpoint();
      case 1: return o_.no_forward && dice_.chance(0.7) ? custom_vjp() : custom_jvp();
      case 2: return dice_.chance(0.4) ? external() : dice_.chance(0.5) ? implicit() : dice_.chance(0.4) ? linear_system() : custom_jvp_of_results();
      case 3: return solve();
      case 4: return batch_of_slices();
      default: return derivative();
    }
  }

  void make(part p) override {
    if (p == part::checkpoint) checkpoint();
    else if (p == part::custom_jvp) custom_jvp();
    else if (p == part::custom_vjp && o_.no_forward) custom_vjp();
    else if (p == part::linear_solve) linear_system();
    else if (p == part::external) external();
    else if (p == part::solve) solve();
    else if (p == part::batch) batch_of_slices();
    else if (p == part::derivative) derivative();
    else generator::make(p);
  }

  void checkpoint() {
    std::vector<double> bounds;
    int kept = 0;
    const function f = grow_function(part::checkpoint, {}, bounds, dice_.chance(0.5) ? &kept : nullptr);
    ir::control_flow c{.what = ir::control_flow::kind::checkpoint, .carries = f.results, .residuals = kept, .captures = {f.captured.size(), 0}, .bodies = {f.body, -1}};
    const ids operands = with(called(f, {}).results, f.captured);
    add_results(graph().add_control_flow(c, operands), bounds);
  }

  void custom_jvp() {
    ir::builder& g = graph();
    const std::vector<entry> arguments = some(2);
    if (arguments.empty()) return;
    std::vector<double> bounds;
    const function f = grow_function(part::custom_jvp, arguments, bounds);
    ids stopped;
    for (const entry& e : arguments) stopped.push_back(is_floating(e.x.id) ? ops::stopped(e.x).id : e.x.id);
    const ids values = called(f, stopped).results;
    ir::control_flow c{.what = ir::control_flow::kind::custom_jvp, .carries = f.results, .scanned = static_cast<int>(arguments.size())};
    ids operands = with(values, ids_of(arguments));
    const ir::node_id first = g.count();
    const ids x = inputs_like(ids_of(arguments)), wrt = floating_of(x), along = inputs_like(wrt), y = floating_of(called(f, x).results);
    ids outputs(y.size(), ir::none);
    passes::forward(g, wrt.data(), along.data(), wrt.size(), y.data(), y.size(), outputs.data());
    for (int i = 0; i < y.size(); ++i)
      if (outputs[i] == ir::none) outputs[i] = zero_like(y[i]);
    c.refused = g.take_refused_derivative();
    c.bodies[0] = g.outline(first, with(x, along), outputs, operands);
    c.captures[0] = operands.size() - c.own_operands();
    add_results(g.add_control_flow(c, operands), bounds);
  }

  /// z with a rule that reads it: tangent(z, x) * the tangent of x. The derivatives of the tangent go through the rule again.
  template <class Tangent>
  void add_with_rule_of_result(const value& z, const value& x, Tangent tangent) {
    ir::builder& g = graph();
    ir::control_flow c{.what = ir::control_flow::kind::custom_jvp, .of_results = true, .carries = 1, .scanned = 2};
    ids operands;
    for (const value& o : {ops::stopped(z), z, x}) operands.push_back(o.id);
    const ir::node_id first = g.count();
    const ids at = inputs_like(with({}, operands)), along = inputs_like(with({}, operands));
    ids inputs, outputs;
    for (const ir::node_id id : {at[1], at[2], along[1], along[2]}) inputs.push_back(id);
    outputs.push_back((tangent(value(g, at[1]), value(g, at[2])) * value(g, along[2])).id);
    c.bodies[0] = g.outline(first, inputs, outputs, operands);
    c.captures[0] = operands.size() - c.own_operands();
    add_results(g.add_control_flow(c, operands), {0});
  }
  /// The derivative of exp is its result.
  void custom_jvp_of_results() {
    const entry e = recent();
    if (!may_carry(e)) return;
    const value x = squashed(e.x);
    add_with_rule_of_result(apply<ops::exp>(ops::stopped(x)), x, [](const value& z, const value&) { return z; });
  }

  /// z with z - 0.3 sin(z) = x, by iterations of Newton's method which no derivative goes through, as root computes it.
  void implicit() {
    ir::builder& g = graph();
    const entry e = recent();
    if (!may_carry(e)) return;
    const value x = squashed(e.x);
    const auto slope = [&](const value& z) { return z.like(1) - z.like(0.3) * apply<ops::cos>(z); };
    ir::control_flow loop{.what = ir::control_flow::kind::scan, .carries = 1, .length = 5};
    ids operands, outputs;
    operands.push_back(ops::stopped(x).id);
    const value begin(g, operands[0]);
    const ir::node_id first = g.count();
    const ids inputs = inputs_like(with({}, operands));
    const value z(g, inputs[0]);
    outputs.push_back((z - (z - z.like(0.3) * apply<ops::sin>(z) - begin) / slope(z)).id);
    loop.bodies[0] = g.outline(first, inputs, outputs, operands);
    loop.captures[0] = operands.size() - 1;
    add_with_rule_of_result({g, g.result(g.add_control_flow(loop, operands), 0)}, x, [&](const value& at, const value&) { return at.like(1) / slope(at); });
  }

  /// x with (2 + a^2) x + a sum(x) / 1000 = sin(a), or without the sum, when the matrix is symmetric. Iterations which no derivative goes through find
  /// it, as linear_solve computes it. a is an argument of the system or a capture.
  void linear_system() {
    ir::builder& g = graph();
    const entry e = recent();
    if (!may_carry(e) || !tenure::is_floating(e.x.type())) return;
    const value a = squashed(e.x), b = apply<ops::sin>(a);
    const bool symmetric = dice_.chance(0.5), captured = dice_.chance(0.4);
    const auto total = [](const value& x) { return ops::broadcast_to(ops::reduced(x, ops::all_axes(x.shape().rank), ir::reduction::sum), x.node().shape) * 0.001; };
    const auto diagonal = [](const value& d) { return d.like(2) + d * d; };
    const auto beside = [&](const value& d, const value& u, bool transposed) { return transposed ? total(d * u) : d * total(u); };
    const auto applied = [&](const value& d, const value& u) { return symmetric ? diagonal(d) * u : diagonal(d) * u + beside(d, u, false); };
    const auto solved = [&](const value& d, const value& rhs, bool transposed) {
      if (symmetric) return rhs / diagonal(d);
      ir::control_flow loop{.what = ir::control_flow::kind::scan, .carries = 1, .length = 25};
      ids operands, outputs;
      operands.push_back(rhs.id);
      const ir::node_id first = g.count();
      const ids inputs = inputs_like(with({}, operands));
      outputs.push_back(((rhs - beside(d, value(g, inputs[0]), transposed)) / diagonal(d)).id);
      loop.bodies[0] = g.outline(first, inputs, outputs, operands);
      loop.captures[0] = operands.size() - 1;
      return value(g, g.result(g.add_control_flow(loop, operands), 0));
    };
    ir::control_flow c{.what = ir::control_flow::kind::linear_solve, .is_symmetric = symmetric, .carries = 1, .scanned = captured ? 1 : 2};
    ids operands, outputs, like;
    operands.push_back(ops::stopped(solved(ops::stopped(a), ops::stopped(b), false)).id);
    operands.push_back(b.id);
    if (!captured) operands.push_back(a.id);
    const ir::node_id first = g.count();
    for (int i = 0; i < (symmetric ? 2 : 3); ++i) like.push_back(b.id);
    if (!captured) like.push_back(a.id);
    const ids inputs = inputs_like(like);
    const value d = captured ? a : value(g, inputs[inputs.size() - 1]);
    outputs.push_back(applied(d, value(g, inputs[0])).id);
    outputs.push_back(solved(d, value(g, inputs[1]), false).id);
    if (!symmetric) outputs.push_back(solved(d, value(g, inputs[2]), true).id);
    c.bodies[0] = g.outline(first, inputs, outputs, operands);
    c.captures[0] = operands.size() - c.own_operands();
    add_results(g.add_control_flow(c, operands), {1});
  }

  template <class T, int Rank>
  static void write_sines(void* const* results, const void* const* arguments, const std::int64_t* extents) {
    std::int64_t n = 1;
    for (int a = 0; a < Rank; ++a) n *= extents[a];
    for (std::int64_t i = 0; i < n; ++i) static_cast<T*>(results[0])[i] = std::sin(static_cast<const T*>(arguments[0])[i]);
  }
  template <class T, std::size_t... Rank>
  static ir::external_function sines_of(int rank, std::index_sequence<Rank...>) {
    static constexpr decltype(ir::external_function::call) of_rank[] = {&write_sines<T, static_cast<int>(Rank)>...};
    return {.call = of_rank[rank]};
  }
  /// A function of C++, the sine, with its derivative. The rule is one for forward mode, or as extern_op has it.
  void external() {
    ir::builder& g = graph();
    const entry e = recent();
    if (!may_carry(e)) return;
    constexpr std::make_index_sequence<tenure::max_rank + 1> ranks;
    const int rank = e.x.shape().rank;
    const ir::external_function sines = e.x.type() == dtype::float32 ? sines_of<float>(rank, ranks) : sines_of<double>(rank, ranks);
    ir::control_flow called{.what = ir::control_flow::kind::external, .scanned = 1, .function = sines};
    ids arguments, stand_in;
    arguments.push_back(ops::stopped(e.x).id);
    ir::node_id first = g.count();
    const ids inputs = inputs_like(with({}, arguments));
    stand_in.push_back(zero_like(inputs[0]));
    called.bodies[0] = g.outline(first, inputs, stand_in, arguments);
    const value y(g, g.result(g.add_control_flow(called, arguments), 0));
    const bool in_reverse = o_.no_forward && dice_.chance(0.5);
    ir::control_flow rule{.what = ir::control_flow::kind::custom_jvp, .carries = 1, .scanned = 1};
    if (in_reverse) rule = {.what = ir::control_flow::kind::custom_vjp, .of_results = true, .carries = 1, .scanned = 1, .residuals = 2};
    ids operands, outputs;
    for (const value& o : in_reverse ? std::vector<value>{y, y, e.x, e.x, y} : std::vector<value>{y, e.x}) operands.push_back(o.id);
    first = g.count();
    ids read;
    for (const value& x : in_reverse ? std::vector<value>{e.x, y, y} : std::vector<value>{e.x, e.x}) read.push_back(x.id);
    const ids own = inputs_like(read);
    outputs.push_back((value(g, own[own.size() - 1]) * apply<ops::cos>(value(g, own[0]))).id);
    rule.bodies[0] = g.outline(first, own, outputs, operands);
    rule.captures[0] = operands.size() - rule.own_operands();
    add_results(g.add_control_flow(rule, operands), {0});
  }

  /// The residuals are the arguments, and a few values from within the function.
  void custom_vjp() {
    ir::builder& g = graph();
    const std::vector<entry> arguments = some(2);
    if (arguments.empty()) return;
    std::vector<double> bounds;
    const function f = grow_function(part::custom_vjp, arguments, bounds);
    const ids given = ids_of(arguments);
    ids stopped;
    for (const entry& e : arguments) stopped.push_back(is_floating(e.x.id) ? ops::stopped(e.x).id : e.x.id);
    const ids values = called(f, stopped).results;
    const call by_forward = called(f, given);
    ids kept;  // in the body
    {
      const ir::graph_view body = g.view().body_at(f.body);
      for (ir::node_id id = 0; id < body.count; ++id) {
        const bool is_value = body[id].op != ir::opcode::input && body[id].op != ir::opcode::tuple && body[id].op != ir::opcode::control_flow;
        if (is_value && tenure::is_floating(body[id].type) && dice_.chance(0.2)) kept.push_back(id);
      }
    }
    ids residuals = given;
    for (const ir::node_id id : kept) residuals.push_back(by_forward.nodes[id]);
    ir::control_flow c{.what = ir::control_flow::kind::custom_vjp, .carries = f.results, .scanned = given.size(), .residuals = residuals.size()};
    ids operands = with(with(with(values, by_forward.results), given), residuals);
    const ir::node_id first = g.count();
    const ids r = inputs_like(residuals), cotangents = inputs_like(floating_of(values));
    ids x, wrt;
    for (int i = 0; i < given.size(); ++i) x.push_back(r[i]);
    wrt = floating_of(x);
    const call again = called(f, x);
    const int end = g.count();
    const ids y = floating_of(again.results);
    ids outputs(wrt.size(), ir::none);
    passes::reverse(g, y.data(), cotangents.data(), y.size(), wrt.data(), wrt.size(), outputs.data());
    for (int i = 0; i < wrt.size(); ++i)
      if (outputs[i] == ir::none) outputs[i] = zero_like(wrt[i]);
    for (int k = 0; k < kept.size(); ++k) g.redirect(end, again.nodes[kept[k]], r[given.size() + k]);
    const bool is_refused = g.take_refused_derivative() != ir::diagnostic::kind::nothing;
    c.bodies[0] = g.outline(first, with(r, cotangents), outputs, operands);
    c.captures[0] = operands.size() - c.own_operands();
    if (!is_refused) add_results(g.add_control_flow(c, operands), bounds);
  }

  /// Systems and factors of matrices with a large diagonal: their condition is small, and where they are symmetric they are positive definite.
  void solve(void (rule_generator::*factor)(value) = nullptr) {
    ir::builder& g = graph();
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank < 2 || !may_carry(e)) return;
    const std::int64_t n = s[s.rank - 2];
    if (actual_of(n) > 9 || actual_of(n) == 0) return;
    extents matrix = s;
    matrix[s.rank - 1] = n;
    value a = input_like(e.x.type(), matrix);
    for (const entry& other : pool_)
      if (other.x.type() == a.type() && other.x.node().shape == a.node().shape && dice_.chance(0.5)) a = other.x;
    const value rows = ops::counting(g, a.type(), a.node().shape, s.rank - 2), columns = ops::counting(g, a.type(), a.node().shape, s.rank - 1);
    const value diagonal = apply<ops::where>(apply<ops::equal>(rows, columns), a.like(static_cast<double>(actual_of(n) + 1)), a.like(0));
    const value matrices = squashed(a) + diagonal;
    if (factor != nullptr) return (this->*factor)(matrices);
    const bool is_upper = dice_.chance(0.5), is_transposed = dice_.chance(0.5), has_unit_diagonal = dice_.chance(0.2);
    if (dice_.chance(0.35)) add({ops::nodes::solve::of({}, matrices, e.x), 0});
    else if (dice_.chance(0.4)) add({ops::nodes::solve_triangular::of({is_upper, is_transposed, has_unit_diagonal}, matrices, e.x), 0});
    else if (dice_.chance(0.5)) add({ops::nodes::cholesky::of({}, ops::symmetric_part(matrices)), 0});  // its derivative is that along symmetric directions
    else if (dice_.chance(0.4)) inverses(matrices);
    else if (dice_.chance(0.5)) spectra(matrices);
    else factors(matrices);
  }
  void inverses(value x) {
    const int which = dice_.below(3);
    if (which == 0) add({ops::nodes::inverse::of({}, x), 0});
    else if (which == 1) add({ops::nodes::slogdet::of<1>({}, x), 0});
    else add({ops::nodes::det::of({}, x * 0.2), 0});
  }
  void spectra(value x) {
    const int which = dice_.below(5);
    if (which == 4) return add_eigenvectors(x);
    if (which == 0) add({ops::nodes::eigvalsh::of({}, ops::symmetric_part(x)), 0});
    else if (which == 1) add({ops::nodes::svd::of<1>({}, x), 0});
    else if (which == 2) add({ops::nodes::pinv::of({}, x), 0});
    else add({ops::nodes::matrix_exp::of({}, x * 0.2), 0});
  }
  /// Of a matrix whose eigenvalues are apart, so that the vectors are smooth functions.
  void add_eigenvectors(value x) {
    const int last = x.shape().rank - 1;
    const value rows = ops::counting(graph(), x.type(), x.node().shape, last - 1), columns = ops::counting(graph(), x.type(), x.node().shape, last);
    const value apart = apply<ops::where>(apply<ops::equal>(rows, columns), rows * 3.0, x.like(0)) + ops::symmetric_part(x) * 0.2;
    const value w = ops::nodes::eigh::of<0>({}, apart);
    const int which = dice_.below(3);
    if (which < 2) add({ops::nodes::eigh::result_of(w, 1), 0});
    if (which > 0) add({w, 0});
  }
  /// p, l, u or some, of a matrix whose rows are often turned around, which are exchanged then.
  void add_triangles(value x) {
    const int last = x.shape().rank - 1;
    const std::int64_t n = x.shape()[last - 1];
    if (tenure::is_static(n) && dice_.chance(0.6)) x = ops::sliced(x, last - 1, n - 1, n, -1);
    const value p = ops::nodes::lu::of<0>({}, x);
    for (int r = 0; r < 3; ++r)
      if (dice_.chance(0.6)) add({ops::nodes::lu::result_of(p, r), 0});
  }
  /// q, r or both, of a square matrix, of some of its columns or of some of its rows.
  void factors(value x) {
    const int last = x.shape().rank - 1;
    const std::int64_t n = x.shape()[last];
    if (tenure::is_static(n) && n > 1 && dice_.chance(0.6)) x = ops::sliced(x, last - dice_.below(2), 0, n - 1, 1);
    if (dice_.chance(0.5)) return add_triangles(x);
    const int which = dice_.below(3);
    const value q = ops::nodes::qr::of<0>({}, x);
    if (which < 2) add({q, 0});
    if (which > 0) add({ops::nodes::qr::result_of(q, 1), 0});
  }

  /// A function of each slice along axis 0.
  void batch_of_slices() {
    ir::builder& g = graph();
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank == 0 || elements(s) > 300) return;
    const value x = actual_of(s[0]) > 5 ? ops::sliced(e.x, 0, 0, 1 + dice_.below(4), 1) : e.x;
    const std::int64_t samples = x.shape()[0];
    std::vector<entry> mapped{{x, e.bound}};
    for (const entry& other : pool_)
      if (other.x.shape().rank > 0 && other.x.shape()[0] == samples && elements(other.x.shape()) <= 300 && mapped.size() < 3 && dice_.chance(0.3)) mapped.push_back(other);
    const ir::node_id first = g.count();
    ids inputs, outputs, captured;
    std::vector<entry> own;
    for (const entry& m : mapped) {
      inputs.push_back(g.body_input(m.x.type(), g.intern(ops::without_axes(extents(m.x.shape()), 1))));
      own.push_back({{g, inputs.back()}, m.bound});
    }
    std::vector<double> bounds;
    grow_body(part::batch, own, [&] {
      for (int i = 1 + dice_.below(2); i > 0; --i) {
        const entry y = recent();
        const bool fits = y.x.shape().rank < tenure::max_rank && elements(y.x.shape()) * actual_of(samples) <= max_elements;
        outputs.push_back(fits ? y.x.id : inputs[0]);
        bounds.push_back(fits ? bound_of_result(y) : e.bound);
      }
    });
    const int body = g.outline(first, inputs, outputs, captured);
    ir::array<passes::batch_value> given;
    for (const entry& m : mapped) given.push_back({m.x.id, true});
    for (const ir::node_id id : captured) given.push_back({id, false});
    passes::batching over(g, samples);
    const auto found = over.outputs(body, given);
    for (int i = 0; i < found.size(); ++i) add({{g, over.over(found[i])}, bounds[static_cast<std::size_t>(i)]});
    note(part::batch, body);
  }

  void make_seldom(seldom what) override {
    if (what == seldom::gradient || what == seldom::hessian) derivative(what == seldom::hessian);
    else if (what == seldom::lu || what == seldom::eigenvectors) solve(what == seldom::lu ? &rule_generator::add_triangles : &rule_generator::add_eigenvectors);
    else generator::make_seldom(what);
  }

  /// Tangents or cotangents of a function; or tangents of its cotangents, which are products with its Hessian.
  void derivative(bool twice = false) {
    ir::builder& g = graph();
    std::vector<entry> arguments;
    for (const entry& e : some(2))
      if (is_floating(e.x.id)) arguments.push_back(e);
    if (arguments.empty()) return;
    std::vector<double> bounds;
    const function f = grow_function(part::derivative, arguments, bounds);
    ids wrt;
    for (const entry& e : arguments) wrt.push_back(passes::custom_derivatives::variable(g, e.x.id));
    const ids y = floating_of(called(f, wrt).results);
    if (y.size() == 0) return;
    const bool goes_forward = !twice && !o_.no_forward && dice_.chance(0.5);
    ids given, found;
    for (const ir::node_id id : goes_forward ? wrt : y) given.push_back(dice_.chance(0.3) ? value(g, id).like(1).id : squashed({g, id}).id);
    found.resize((goes_forward ? y : wrt).size(), ir::none);
    if (goes_forward) passes::forward(g, wrt.data(), given.data(), wrt.size(), y.data(), y.size(), found.data());
    else passes::reverse(g, y.data(), given.data(), y.size(), wrt.data(), wrt.size(), found.data());
    if (twice) {
      ids first, along, second;
      for (const ir::node_id id : found)
        if (id != ir::none) first.push_back(id);
      for (const ir::node_id id : wrt) along.push_back(squashed({g, id}).id);
      second.resize(first.size(), ir::none);
      passes::forward(g, wrt.data(), along.data(), wrt.size(), first.data(), first.size(), second.data());
      found = second;
    }
    if (g.take_refused_derivative() != ir::diagnostic::kind::nothing) return;
    for (const ir::node_id id : found)
      if (id != ir::none) add({dice_.chance(0.7) ? squashed({g, id}) : value(g, id), 0}), note(part::derivative, f.body);
  }
};

}  // namespace fuzz

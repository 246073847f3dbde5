// SPDX-License-Identifier: BSL-1.0
// verify finds what is broken, names the node, and carries the two numbers that disagree.
#include "../catch.hpp"

#include <cstring>
#include <initializer_list>
#include <vector>

#include <tenure/ir/graph.hpp>
#include <tenure/ops/derivative.hpp>
#include <tenure/passes/verify.hpp>

using namespace tenure;
using ir::opcode;
using passes::verdict;
using passes::verify;

namespace {

/// x : float32[2,3], y : float32[3], k : int32[4], b : bool[2,3].
struct inputs {
  ir::builder g;
  ir::node_id x = g.input(dtype::float32, {2, {2, 3}}), y = g.input(dtype::float32, {1, {3}}), k = g.input(dtype::int32, {1, {4}}), b = g.input(dtype::boolean, {2, {2, 3}});

  constexpr std::int16_t shape(const extents& s) { return g.intern(s); }
  constexpr verdict with(const ir::node& n) {
    g.emit(n);
    return verify(g.view());
  }
};

void check(const verdict& v, const char* what, ir::node_id node, std::int64_t lhs, std::int64_t rhs) {
  REQUIRE_FALSE(v.ok());
  CHECK(std::string(v.what) == what);
  CHECK(v.node == node);
  CHECK(v.lhs == lhs);
  CHECK(v.rhs == rhs);
}

constexpr verdict verdict_of_a_good_graph() {
  inputs i;
  const ops::value x{i.g, i.x}, y{i.g, i.y};
  const ops::value s = ops::reduced(x * ops::broadcast_to(y, x.node().shape), 2, ir::reduction::sum);
  i.g.output(s.id);
  return verify(i.g.view());
}
static_assert(verdict_of_a_good_graph().ok(), "verify runs in constant evaluation");

constexpr ir::node node(opcode op, dtype type, int arity, std::int16_t shape, ir::node_id a = ir::none, ir::node_id b = ir::none) {
  return {.op = op, .type = type, .arity = static_cast<std::int8_t>(arity), .shape = shape, .in = {a, b, ir::none}};
}

/// One control-flow operation with its bodies, whose records a test may change.
struct control_flow_graph {
  ir::builder g;
  const std::int16_t scalar = g.intern({}), row = g.intern({1, {2}});
  const ir::node_id number = g.input(dtype::float64, {}), flag = g.input(dtype::boolean, {}), rows = g.input(dtype::float64, {2, {5, 2}}), w = g.input(dtype::float64, {1, {2}});
  ir::node_id id = ir::none;
  std::vector<ir::node> nodes, body_nodes;
  std::vector<ir::node_id> body_outputs;
  std::vector<ir::body> bodies;
  std::vector<ir::control_flow> control_flows;

  ops::value input(std::int16_t shape) { return {g, g.body_input(dtype::float64, shape)}; }
  int outline(ir::node_id first, std::initializer_list<ops::value> inputs, std::initializer_list<ops::value> outputs, ir::array<ir::node_id>& captured) {
    ir::array<ir::node_id> in, out;
    for (const ops::value& v : inputs) in.push_back(v.id);
    for (const ops::value& v : outputs) out.push_back(v.id);
    return g.outline(first, in, out, captured);
  }
  void add(const ir::control_flow& c, const ir::array<ir::node_id>& operands, int results) {
    id = g.add_control_flow(c, operands);
    for (int i = 0; i < results; ++i) g.output(g.result(id, i));
    const ir::graph_view v = g.view();
    nodes.assign(v.nodes, v.nodes + v.count);
    body_nodes.assign(v.inner.nodes, v.inner.nodes + v.inner.node_count);
    body_outputs.assign(v.inner.outputs, v.inner.outputs + v.inner.output_count);
    bodies.assign(v.inner.bodies, v.inner.bodies + v.inner.count);
    control_flows.assign(v.inner.control_flows, v.inner.control_flows + v.inner.control_flow_count);
  }
  /// The verdict after `change` changed a record; the next call finds the records as they were.
  template <class F>
  verdict after(F change) {
    const auto n = nodes, b = body_nodes;
    const auto o = body_outputs;
    const auto bs = bodies;
    const auto cs = control_flows;
    change(*this);
    ir::graph_view v = g.view();
    v.nodes = nodes.data(), v.inner.nodes = body_nodes.data(), v.inner.outputs = body_outputs.data();
    v.inner.bodies = bodies.data(), v.inner.control_flows = control_flows.data();
    const verdict found = verify(v);
    nodes = n, body_nodes = b, body_outputs = o, bodies = bs, control_flows = cs;
    return found;
  }
};

/// (carry, row) -> (carry + sum(row * w), row * w), over 5 rows.
control_flow_graph scan_graph() {
  control_flow_graph s;
  const ir::node_id first = s.g.count();
  const ops::value carry = s.input(s.scalar), slice = s.input(s.row);
  const ops::value product = slice * ops::value{s.g, s.w};
  const ops::value next = carry + ops::reduced(product, 1, ir::reduction::sum);
  ir::array<ir::node_id> operands;
  operands.push_back(s.number);
  operands.push_back(s.rows);
  const int body = s.outline(first, {carry, slice}, {next, product}, operands);
  s.add({.what = ir::control_flow::kind::scan, .carries = 1, .scanned = 1, .captures = {1, 0}, .bodies = {body, -1}, .length = 5}, operands, 2);
  return s;
}
/// row -> row * number while a flag outside is true.
control_flow_graph while_graph() {
  control_flow_graph s;
  ir::array<ir::node_id> operands;
  operands.push_back(s.w);
  ir::node_id first = s.g.count();
  const ops::value unused = s.input(s.row), flag{s.g, s.flag};
  const int condition = s.outline(first, {unused}, {flag}, operands);
  first = s.g.count();
  const ops::value carry = s.input(s.row);
  const int step = s.outline(first, {carry}, {-carry}, operands);
  s.add({.what = ir::control_flow::kind::while_loop, .carries = 1, .captures = {1, 0}, .bodies = {condition, step}}, operands, 1);
  return s;
}
/// The cotangents of row -> row * row and of a number, some iterations back.
control_flow_graph reverse_while_graph() {
  control_flow_graph s;
  ir::array<ir::node_id> operands;
  for (const ir::node_id x : {s.w, s.number, s.w, s.g.input(dtype::int64, {})}) operands.push_back(x);
  ir::node_id first = s.g.count();
  const ops::value state = s.input(s.row);
  const int step = s.outline(first, {state}, {state * state}, operands);
  first = s.g.count();
  const ops::value cotangent = s.input(s.row), sum = s.input(s.scalar), before = s.input(s.row);
  const int pull = s.outline(first, {cotangent, sum, before}, {cotangent * before, sum + sum}, operands);
  s.add({.what = ir::control_flow::kind::reverse_while, .carries = 2, .scanned = 2, .bodies = {step, pull}}, operands, 2);
  return s;
}
/// flag ? -w : w + w.
control_flow_graph cond_graph() {
  control_flow_graph s;
  ir::array<ir::node_id> operands;
  operands.push_back(s.flag);
  const ops::value w{s.g, s.w};
  const ir::node_id first = s.g.count();
  const int yes = s.outline(first, {}, {-w}, operands), no = s.outline(first, {}, {w + w}, operands);
  s.add({.what = ir::control_flow::kind::cond, .captures = {1, 1}, .bodies = {yes, no}}, operands, 1);
  return s;
}

/// w * w, with a rule in which the tangent of w is scaled by a captured row.
control_flow_graph jvp_graph() {
  control_flow_graph s;
  const ops::value w{s.g, s.w}, y = w * w, factor = w + w;
  const ir::node_id first = s.g.count();
  const ops::value x = s.input(s.row), tangent = s.input(s.row);
  ir::array<ir::node_id> operands;
  operands.push_back(y.id);
  operands.push_back(s.w);
  const int rule = s.outline(first, {x, tangent}, {tangent * factor}, operands);
  s.add({.what = ir::control_flow::kind::custom_jvp, .carries = 1, .scanned = 1, .captures = {1, 0}, .bodies = {rule, -1}}, operands, 1);
  return s;
}
/// The number, and by forward the negated number. The residual is w.
control_flow_graph vjp_graph() {
  control_flow_graph s;
  const ops::value number{s.g, s.number}, forward = -number;
  const ir::node_id first = s.g.count();
  const ops::value residual = s.input(s.row), cotangent = s.input(s.scalar);
  ir::array<ir::node_id> operands;
  for (const ir::node_id id : {s.number, forward.id, s.number, s.w}) operands.push_back(id);
  const int backward = s.outline(first, {residual, cotangent}, {cotangent * ops::reduced(residual, 1, ir::reduction::sum)}, operands);
  s.add({.what = ir::control_flow::kind::custom_vjp, .carries = 1, .scanned = 1, .residuals = 1, .bodies = {backward, -1}}, operands, 1);
  return s;
}
/// sum(w * w), of which w * w is kept.
control_flow_graph checkpoint_graph() {
  control_flow_graph s;
  const ops::value w{s.g, s.w}, square = w * w, sum = ops::reduced(square, 1, ir::reduction::sum);
  const ir::node_id first = s.g.count();
  const ops::value again = w * w;
  ir::array<ir::node_id> operands;
  operands.push_back(sum.id);
  operands.push_back(square.id);
  const int body = s.outline(first, {}, {ops::reduced(again, 1, ir::reduction::sum), again}, operands);
  s.add({.what = ir::control_flow::kind::checkpoint, .carries = 1, .residuals = 1, .captures = {1, 0}, .bodies = {body, -1}}, operands, 1);
  return s;
}

}  // namespace

TEST_CASE("an operand comes before its user") {
  inputs i;
  check(i.with(node(opcode::neg, dtype::float32, 1, i.shape({2, {2, 3}}), 4)), "an operand does not come before its user", 4, 4, 4);
  inputs j;
  check(j.with(node(opcode::neg, dtype::float32, 1, j.shape({2, {2, 3}}), ir::none)), "an operand does not come before its user", 4, -1, 4);
}

TEST_CASE("arity is the operation's") {
  inputs i;
  check(i.with(node(opcode::add, dtype::float32, 1, i.shape({2, {2, 3}}), i.x)), "another number of operands than the operation has", 4, 1, 2);
  inputs j;
  check(j.with(node(opcode::neg, dtype::float32, 1, j.shape({2, {2, 3}}), j.x, j.x)), "an operand that the operation does not have", 4, 1, 0);
}

TEST_CASE("codes, types and shapes exist") {
  inputs i;
  const int codes = static_cast<int>(opcode::pointwise) + ops::records::count;
  check(i.with(node(static_cast<opcode>(codes), dtype::float32, 1, 0, i.x)), "no such operation", 4, codes, codes);
  inputs j;
  check(j.with(node(opcode::neg, dtype::float32, 1, 99, j.x)), "no such shape", 4, 99, j.g.view().shape_count);
}

TEST_CASE("pointwise operands have one shape and the types of the operation") {
  inputs i;
  check(i.with(node(opcode::add, dtype::float32, 2, i.g[i.x].shape, i.x, i.y)), "shapes differ", 4, i.g[i.y].shape, i.g[i.x].shape);
  inputs j;
  check(j.with(node(opcode::add, dtype::float64, 2, j.g[j.x].shape, j.x, j.x)), "element types differ", 4, static_cast<int>(dtype::float32), static_cast<int>(dtype::float64));
  inputs c;
  check(c.with(node(ops::code_of<ops::less>(), dtype::float32, 2, c.g[c.x].shape, c.x, c.x)), "another element type than the operation takes", 4, static_cast<int>(dtype::float32), 0);
  inputs w;
  ir::node where = node(ops::code_of<ops::where>(), dtype::float32, 3, w.g[w.x].shape, w.x, w.x);
  where.in[2] = w.x;
  check(w.with(where), "another element type than the operation takes", 4, static_cast<int>(dtype::float32), 0);
  inputs e;
  check(e.with(node(ops::code_of<ops::exp>(), dtype::int32, 1, e.g[e.k].shape, e.k)), "a floating operation on another type", 4, static_cast<int>(dtype::int32), 0);
}

TEST_CASE("movement keeps to its shapes") {
  inputs i;
  check(i.with(node(opcode::reshape, dtype::float32, 1, i.shape({1, {5}}), i.x)), "another number of elements", 4, 6, 5);
  inputs p;
  ir::node permute = node(opcode::permute, dtype::float32, 1, p.g[p.x].shape, p.x);
  permute.attr = ir::pack_axis(ir::pack_axis(0, 0, 1), 1, 0);
  check(p.with(permute), "another extent than the operation's rule gives", 4, 2, 3);
  inputs q;
  permute = node(opcode::permute, dtype::float32, 1, q.g[q.x].shape, q.x);  // axes (0, 0)
  check(q.with(permute), "an axis comes twice", 4, 1, 0);
  inputs b;
  ir::node broadcast = node(opcode::broadcast, dtype::float32, 1, b.g[b.x].shape, b.y);  // 3 into the axis of 2
  check(b.with(broadcast), "an extent that can not stretch", 4, 3, 2);
  inputs s;
  ir::node slice = node(opcode::slice, dtype::float32, 1, s.shape({2, {2, 2}}), s.x);
  slice.attr = 1;
  slice.start = 2;
  check(s.with(slice), "ends outside its axis", 4, 3, 3);
  inputs t;
  slice = node(opcode::slice, dtype::float32, 1, t.shape({2, {2, 2}}), t.x);
  slice.attr = 2;
  check(t.with(slice), "no such axis", 4, 2, 2);
  inputs c;
  ir::node concat = node(opcode::concat, dtype::float32, 2, c.shape({2, {5, 3}}), c.x, c.x);
  check(c.with(concat), "another extent than the operation's rule gives", 4, 5, 4);
}

TEST_CASE("the element type of an operand is the operation's") {
  struct operation {
    const char* name;
    ir::node good;  // of x : float32[2,3] or indices k : int32[4]
    int operand;
  };
  inputs shapes;
  const std::int16_t of_x = shapes.g[shapes.x].shape, of_k = shapes.g[shapes.k].shape, square = shapes.shape({2, {2, 2}}), turned = shapes.shape({2, {3, 2}});
  const auto with_attr = [](ir::node n, std::int64_t attr) {
    n.attr = attr;
    return n;
  };
  const ir::node_id x = shapes.x, k = shapes.k, x_turned = 4;  // x_turned : float32[3,2] is appended below
  const std::int64_t in_order = ir::pack_axis(0, 1, 1), swapped = ir::pack_axis(0, 0, 1);
  const operation all[] = {
      {"broadcast", with_attr(node(opcode::broadcast, dtype::float32, 1, of_x, x), in_order), 0},
      {"reshape", node(opcode::reshape, dtype::float32, 1, turned, x), 0},
      {"permute", with_attr(node(opcode::permute, dtype::float32, 1, turned, x), swapped), 0},
      {"slice", with_attr(node(opcode::slice, dtype::float32, 1, square, x), 1), 0},
      {"pad", with_attr(node(opcode::pad, dtype::float32, 1, shapes.shape({2, {2, 5}}), x), 1), 0},
      {"concat", node(opcode::concat, dtype::float32, 2, shapes.shape({2, {4, 3}}), x, x), 0},
      {"concat", node(opcode::concat, dtype::float32, 2, shapes.shape({2, {4, 3}}), x, x), 1},
      {"reduce", with_attr(node(opcode::reduce, dtype::float32, 1, shapes.shape({1, {2}}), x), 2), 0},
      {"matmul", node(opcode::matmul, dtype::float32, 2, square, x, x_turned), 0},
      {"matmul", node(opcode::matmul, dtype::float32, 2, square, x, x_turned), 1},
      {"gather", node(opcode::gather, dtype::float32, 2, shapes.shape({2, {4, 3}}), x, k), 0},
      {"scatter", node(opcode::scatter, dtype::float32, 2, shapes.shape({1, {7}}), k, k), 1},
      {"stop_gradient", node(opcode::stop_gradient, dtype::float32, 1, of_x, x), 0},
      {"instead", node(opcode::instead, dtype::float32, 2, of_x, x, x), 1},
      {"barrier", node(opcode::barrier, dtype::float32, 1, of_x, x), 0},
      {"copy", node(opcode::copy, dtype::float32, 1, of_x, x), 0},
      {"check", node(opcode::check, dtype::int32, 1, of_k, k), 0},
  };
  for (const operation& o : all) {
    CAPTURE(o.name, o.operand);
    inputs i = shapes;
    i.g.input(dtype::float32, {2, {3, 2}});
    i.g.check_bound({k, 2, "gather"});
    ir::node n = o.good;
    if (n.op == opcode::scatter) n.type = dtype::int32;  // its updates are the indices
    inputs good = i;
    const verdict fine = good.with(n);
    CAPTURE(fine.what == nullptr ? "" : fine.what, fine.lhs, fine.rhs);
    CHECK(fine.ok());
    const dtype other = i.g[n.in[o.operand]].type == dtype::int32 ? dtype::int64 : dtype::float64;
    const dtype own = n.type;
    n.in[o.operand] = i.g.input(other, i.g.shape_of(n.in[o.operand]));
    check(i.with(n), "element types differ", 6, static_cast<int>(other), static_cast<int>(own));
  }
}

TEST_CASE("a result has the shape and the type of the operand that it goes with") {
  inputs all;
  const ir::node_id corner = all.g.input(dtype::float32, {2, {1, 3}}), start = all.g.input(dtype::int64, {}), system = all.g.input(dtype::float32, {2, {2, 2}});
  all.g.check_bound({start, 2, "dynamic_update"});
  const std::int16_t of_x = all.g[all.x].shape, larger = all.shape({2, {2, 4}});
  ir::node update = node(opcode::update, dtype::float32, 3, of_x, corner, all.x);
  update.in[2] = start;
  const ir::node solve = node(ops::nodes::solve::code, dtype::float32, 2, of_x, system, all.x);
  ir::node index_add = node(opcode::index_add, dtype::float32, 3, of_x, corner, all.x);
  index_add.in[2] = all.g.input(dtype::int64, {1, {1}});
  all.g.check_bound({index_add.in[2], 2, "index_add"});
  for (ir::node n : {update, index_add, node(opcode::stop_gradient, dtype::float32, 1, of_x, all.x), node(opcode::instead, dtype::float32, 2, of_x, all.x, all.x), node(opcode::barrier, dtype::float32, 1, of_x, all.x),
                     node(opcode::copy, dtype::float32, 1, of_x, all.x), node(opcode::cast, dtype::int32, 1, of_x, all.x)}) {
    CAPTURE(static_cast<int>(n.op));
    inputs good = all, wrong = all;
    CHECK(good.with(n).ok());
    n.shape = larger;
    check(wrong.with(n), "shapes differ", 8, of_x, larger);
  }
  inputs of_system = all;
  CHECK(of_system.with(solve).ok());
  ir::node wide = solve;
  wide.shape = larger;
  inputs wrong_system = all;
  check(wrong_system.with(wide), "another extent than the operation's rule gives", 8, 4, 3);
  for (const ir::node& good : {update, index_add, solve})
    for (const int k : {0, 1}) {
      inputs i = all;
      ir::node n = good;
      n.in[k] = i.g.input(dtype::float64, extents(all.g.shape_of(n.in[k])));
      check(i.with(n), "element types differ", 9, static_cast<int>(dtype::float64), static_cast<int>(dtype::float32));
    }
}

TEST_CASE("index_add takes a block of the result for each index, and indices with a bound on the axis") {
  inputs i;
  const ir::node_id one = i.g.input(dtype::float32, {2, {1, 3}}), two = i.g.input(dtype::float32, {2, {2, 2}}), places = i.g.input(dtype::int64, {1, {1}});
  const auto with = [&](ir::node_id updates, ir::node_id indices, std::int64_t axis) {
    inputs j = i;
    ir::node n = node(opcode::index_add, dtype::float32, 3, i.g[i.x].shape, updates, i.x);
    n.in[2] = indices, n.attr = axis;
    return j.with(n);
  };
  check(with(one, places, 0), "indices that no bound speaks of", 7, places, 0);
  i.g.check_bound({places, 2, "index_add"});
  CHECK(with(one, places, 0).ok());
  check(with(two, places, 0), "another extent than the operation's rule gives", 7, 2, 1);
  check(with(one, places, 1), "another extent than the operation's rule gives", 7, 1, 2);
  check(with(one, places, 2), "no such axis", 7, 2, 2);
  check(with(one, i.y, 0), "indices are no integers", 7, static_cast<int>(dtype::float32), 0);
}

TEST_CASE("an update replaces a block of its operand, from one integer with a bound on") {
  inputs i;
  const ir::node_id block = i.g.input(dtype::float32, {2, {1, 3}}), column = i.g.input(dtype::float32, {2, {2, 1}}), start = i.g.input(dtype::int64, {});
  ir::node update = node(opcode::update, dtype::float32, 3, i.g[i.x].shape, block, i.x);
  update.in[2] = start;
  const auto with = [&](ir::node_id given, ir::node_id from, std::int64_t axis) {
    inputs j = i;
    ir::node n = update;
    n.in[0] = given, n.in[2] = from, n.attr = axis;
    return j.with(n);
  };
  check(with(block, start, 0), "indices that no bound speaks of", 7, start, 0);
  i.g.check_bound({start, 2, "dynamic_update"});
  CHECK(with(block, start, 0).ok());
  CHECK(with(column, start, 1).ok());
  check(with(column, start, 0), "another extent than the operation's rule gives", 7, 1, 3);
  check(with(block, start, 2), "no such axis", 7, 2, 2);
  check(with(block, i.k, 0), "a block along the axis of the samples", 7, 0, 1);
  check(with(block, i.y, 0), "indices are no integers", 7, static_cast<int>(dtype::float32), 0);
}

TEST_CASE("an update of samples takes one start for each sample") {
  inputs i;
  const ir::node_id column = i.g.input(dtype::float32, {2, {2, 1}}), two = i.g.input(dtype::int64, {1, {2}}), three = i.g.input(dtype::int64, {1, {3}});
  const ir::node_id table = i.g.input(dtype::int64, {2, {2, 1}});
  const auto with = [&](ir::node_id start) {
    inputs j = i;
    j.g.check_bound({start, 3, "dynamic_update"});
    ir::node update = node(opcode::update, dtype::float32, 3, j.g[j.x].shape, column, j.x);
    update.in[2] = start, update.attr = 1;
    return j.with(update);
  };
  CHECK(with(two).ok());
  check(with(three), "another extent than the operation's rule gives", 8, 3, 2);
  check(with(table), "another rank than the operation's rule gives", 8, 2, 1);
}

TEST_CASE("an order has at most as many positions as its rows have elements") {
  inputs i;
  const auto with = [&](dtype type, const extents& to) {
    inputs j = i;
    return j.with(node(ops::nodes::order::code, type, 1, j.g.intern(to), j.x));
  };
  CHECK(with(dtype::int64, {2, {2, 3}}).ok());
  CHECK(with(dtype::int64, {2, {2, 1}}).ok());
  check(with(dtype::int64, {2, {2, 4}}), "more positions than elements", 4, 4, 3);
  check(with(dtype::int64, {2, {1, 3}}), "another extent than the operation's rule gives", 4, 1, 2);
  check(with(dtype::int64, {1, {3}}), "another rank than the operation's rule gives", 4, 1, 2);
  check(with(dtype::int32, {2, {2, 3}}), "element types differ", 4, static_cast<int>(dtype::float32), static_cast<int>(dtype::int32));
}

TEST_CASE("slice and pad read and write within their axis") {
  struct step_of_axis {
    std::int64_t start, step, length;
    const char* what;  // nullptr: the slice is within the axis
    std::int64_t lhs = 0, rhs = 0;
  };
  const step_of_axis all[] = {
      {0, 1, 6, nullptr},
      {5, 1, 1, nullptr},
      {5, -1, 6, nullptr},
      {1, 2, 3, nullptr},
      {9, 1, 0, nullptr},
      {0, 0, 2, "a step of 0"},
      {-1, 1, 2, "starts outside its axis", -1, 6},
      {-1, 1, 0, "starts outside its axis", -1, 6},
      {6, -1, 2, "starts outside its axis", 6, 6},
      {0, 1, 7, "ends outside its axis", 6, 6},
      {0, 2, 4, "ends outside its axis", 6, 6},
      {5, -1, 7, "ends outside its axis", -1, 6},
  };
  for (const step_of_axis& s : all)
    for (const opcode op : {opcode::slice, opcode::pad}) {
      const bool is_slice = op == opcode::slice;
      CAPTURE(is_slice ? "slice" : "pad", s.start, s.step, s.length);
      ir::builder g;
      const extents whole{2, {3, 6}}, part{2, {3, s.length}};
      const ir::node_id x = g.input(dtype::float32, is_slice ? whole : part);
      ir::node n = node(op, dtype::float32, 1, g.intern(is_slice ? part : whole), x);
      n.attr = 1;
      n.start = s.start;
      n.step = s.step;
      g.emit(n);
      const verdict v = verify(g.view());
      CHECK(v.ok() == (s.what == nullptr));
      if (s.what != nullptr && !v.ok()) check(v, s.what, 1, s.lhs, s.rhs);
    }
  inputs other_axis, rank;
  check(other_axis.with(node(opcode::slice, dtype::float32, 1, other_axis.shape({2, {1, 2}}), other_axis.x)), "another extent than the operation's rule gives", 4, 2, 3);
  check(rank.with(node(opcode::slice, dtype::float32, 1, rank.shape({1, {1}}), rank.x)), "another rank than the operation's rule gives", 4, 1, 2);
}

TEST_CASE("reductions, products and indexing keep to their shapes") {
  inputs r;
  ir::node reduce = node(opcode::reduce, dtype::float32, 1, r.shape({1, {2}}), r.x);
  reduce.attr = 1;
  check(r.with(reduce), "another extent than the operation's rule gives", 4, 2, 3);
  inputs z;
  reduce = node(opcode::reduce, dtype::float32, 1, z.g[z.x].shape, z.x);
  check(z.with(reduce), "no such axes", 4, 0, 2);
  inputs m;
  check(m.with(node(opcode::matmul, dtype::float32, 2, m.shape({2, {2, 3}}), m.x, m.x)), "another extent than the operation's rule gives", 4, 2, 3);
  inputs g;
  check(g.with(node(opcode::gather, dtype::float32, 2, g.shape({2, {4, 3}}), g.x, g.y)), "indices are no integers", 4, static_cast<int>(dtype::float32), 0);
  inputs h;
  check(h.with(node(opcode::gather, dtype::float32, 2, h.shape({2, {4, 3}}), h.x, h.k)), "indices that no bound speaks of", 4, h.k, 0);
  inputs k;
  k.g.check_bound({k.k, 2, "gather"});
  CHECK(k.with(node(opcode::gather, dtype::float32, 2, k.shape({2, {4, 3}}), k.x, k.k)).ok());
}

TEST_CASE("a scan keeps to its body") {
  control_flow_graph s = scan_graph();
  REQUIRE(s.after([](auto&) {}).ok());
  const ir::node_id id = s.id, carries = id + 1, stacked = id + 2;
  const int f32 = static_cast<int>(dtype::float32), f64 = static_cast<int>(dtype::float64);
  const char* const extent = "another extent than the operation's rule gives";
  const char* const rank = "another rank than the operation's rule gives";
  const char* const type = "another element type than the operation takes";
  check(s.after([&](auto& r) { r.nodes[id].in[0] = r.w; }), "the operand of a control-flow operation is no tuple", id, 0, 0);
  check(s.after([&](auto& r) { r.nodes[id].attr = 1; }), "no such control-flow operation", id, 1, 1);
  check(s.after([&](auto& r) { r.nodes[id].attr = -1; }), "no such control-flow operation", id, -1, 1);
  check(s.after([&](auto& r) { r.control_flows[0].captures[0] = 2; }), "another number of operands than the control-flow operation has", id, 3, 4);
  check(s.after([&](auto& r) { r.control_flows[0].bodies[0] = 1; }), "no such body", id, 1, 1);
  check(s.after([&](auto& r) { r.control_flows[0].bodies[0] = -1; }), "no such body", id, -1, 1);
  check(s.after([&](auto& r) { r.control_flows[0].counts = true; }), "another number of inputs than the control-flow operation gives", id, 3, 4);
  for (int i = 0; i < 3; ++i) {
    CAPTURE(i);  // carry, slice, captured
    check(s.after([&](auto& r) { r.body_nodes[i].type = dtype::float32; }), type, id, f32, f64);
    check(s.after([&](auto& r) { r.body_nodes[i].shape = i == 0 ? r.row : r.scalar; }), rank, id, i == 0, i != 0);
  }
  check(s.after([](auto& r) { r.control_flows[0].length = 6; }), extent, id, 5, 6);
  check(s.after([](auto& r) { r.body_outputs[0] = 1; }), rank, id, 1, 0);
  check(s.after([](auto& r) { r.body_nodes[r.body_outputs[0]].type = dtype::float32; }), type, id, f32, f64);
  check(s.after([&](auto& r) { r.nodes[carries].in[0] = r.w; }), "a result of no control-flow operation", carries, s.w, 0);
  check(s.after([&](auto& r) { r.nodes[carries].attr = 2; }), "no such result", carries, 2, 2);
  check(s.after([&](auto& r) { r.nodes[carries].attr = -1; }), "no such result", carries, -1, 2);
  check(s.after([&](auto& r) { r.nodes[carries].type = dtype::float32; }), type, carries, f32, f64);
  check(s.after([&](auto& r) { r.nodes[carries].shape = r.row; }), rank, carries, 1, 0);
  check(s.after([&](auto& r) { r.nodes[stacked].shape = r.row; }), rank, stacked, 1, 2);
}

TEST_CASE("a while_loop, its reverse and a cond keep to their bodies") {
  const int f32 = static_cast<int>(dtype::float32), f64 = static_cast<int>(dtype::float64), flag = static_cast<int>(dtype::boolean);
  const char* const type = "another element type than the operation takes";
  control_flow_graph w = while_graph();
  REQUIRE(w.after([](auto&) {}).ok());
  check(w.after([](auto& r) { r.body_outputs[0] = 0; }), type, w.id, f64, flag);
  check(w.after([](auto& r) { r.bodies[0].output_count = 2; }), "another number of outputs than the control-flow operation takes", w.id, 2, 1);
  check(w.after([](auto& r) { r.control_flows[0].bodies[1] = 2; }), "no such body", w.id, 2, 2);
  check(w.after([](auto& r) { r.body_nodes[static_cast<std::size_t>(r.bodies[1].first_node) + 1].type = dtype::float32; }), type, w.id, f32, f64);

  // The last result of a while_loop that counts its iterations is a number.
  check(w.after([](auto& r) { r.control_flows[0].counts_iterations = true, r.nodes.back().attr = 1; }), type, w.id + 1, f64, static_cast<int>(dtype::int64));
  check(w.after([](auto& r) { r.control_flows[0].counts_iterations = true, r.nodes.back().attr = 1, r.nodes.back().type = dtype::int64; }), "another rank than the operation's rule gives", w.id + 1, 1, 0);

  control_flow_graph b = reverse_while_graph();
  REQUIRE(b.after([](auto&) {}).ok());
  check(b.after([](auto& r) { r.control_flows[0].bodies[0] = 2; }), "no such body", b.id, 2, 2);
  check(b.after([](auto& r) { r.bodies[0].input_count = 2; }), "another number of inputs than the control-flow operation gives", b.id, 2, 1);
  check(b.after([](auto& r) { r.bodies[1].input_count = 2; }), "another number of inputs than the control-flow operation gives", b.id, 2, 3);
  check(b.after([](auto& r) { r.bodies[0].output_count = 0; }), "another number of outputs than the control-flow operation takes", b.id, 0, 1);
  check(b.after([](auto& r) { r.bodies[1].output_count = 1; }), "another number of outputs than the control-flow operation takes", b.id, 1, 2);
  check(b.after([](auto& r) { r.body_nodes[1].shape = r.scalar; }), "another rank than the operation's rule gives", b.id, 0, 1);
  check(b.after([](auto& r) { r.nodes[4].type = dtype::float64; }), type, b.id, f64, static_cast<int>(dtype::int64));

  control_flow_graph c = cond_graph();
  REQUIRE(c.after([](auto&) {}).ok());
  const int last = static_cast<int>(c.body_nodes.size()) - 1;
  check(c.after([](auto& r) { r.nodes[r.flag].type = dtype::float64; }), type, c.id, f64, flag);
  check(c.after([](auto& r) { r.bodies[1].output_count = 0; }), "another number of outputs than the control-flow operation takes", c.id, 0, 1);
  check(c.after([&](auto& r) { r.body_nodes[last].type = dtype::float32; }), type, c.id, f32, f64);
  check(c.after([&](auto& r) { r.body_nodes[last].shape = r.scalar; }), "another rank than the operation's rule gives", c.id, 0, 1);
  check(c.after([](auto& r) { r.control_flows[0].captures[1] = 0; }), "another number of operands than the control-flow operation has", c.id, 3, 2);
}

TEST_CASE("custom derivatives keep to their bodies") {
  const int f32 = static_cast<int>(dtype::float32), f64 = static_cast<int>(dtype::float64);
  const char* const type = "another element type than the operation takes";
  const char* const rank = "another rank than the operation's rule gives";
  control_flow_graph all[] = {jvp_graph(), vjp_graph(), checkpoint_graph()};
  for (control_flow_graph& s : all) {
    CAPTURE(static_cast<int>(s.control_flows[0].what));
    const int inputs = s.bodies[0].input_count, outputs = s.bodies[0].output_count, operands = s.control_flows[0].operands();
    const verdict good = s.after([](auto&) {});
    CAPTURE(good.what == nullptr ? "" : good.what, good.node, good.lhs, good.rhs);
    REQUIRE(good.ok());
    check(s.after([](auto& r) { r.control_flows[0].bodies[0] = 1; }), "no such body", s.id, 1, 1);
    check(s.after([](auto& r) { r.control_flows[0].bodies[0] = -1; }), "no such body", s.id, -1, 1);
    check(s.after([](auto& r) { r.bodies[0].input_count += 1; }), "another number of inputs than the control-flow operation gives", s.id, inputs + 1, inputs);
    check(s.after([](auto& r) { r.bodies[0].output_count -= 1; }), "another number of outputs than the control-flow operation takes", s.id, outputs - 1, outputs);
    check(s.after([](auto& r) { r.control_flows[0].residuals += 1; }), "another number of operands than the control-flow operation has", s.id, operands, operands + 1);
    for (int i = 0; i < inputs; ++i) {
      CAPTURE(i);
      check(s.after([&](auto& r) { r.body_nodes[i].type = dtype::float32; }), type, s.id, f32, f64);
      const bool is_row = s.body_nodes[i].shape == s.row;
      check(s.after([&](auto& r) { r.body_nodes[i].shape = is_row ? r.scalar : r.row; }), rank, s.id, !is_row, is_row);
    }
    check(s.after([](auto& r) { r.body_nodes[r.body_outputs[0]].type = dtype::float32; }), type, s.id, f32, f64);
    check(s.after([&](auto& r) { r.nodes[s.id + 1].attr = 1; }), "no such result", s.id + 1, 1, 1);
    check(s.after([&](auto& r) { r.nodes[s.id + 1].type = dtype::float32; }), type, s.id + 1, f32, f64);
  }
  control_flow_graph& v = all[1];
  const ir::node_id first_tuple = v.nodes[v.nodes[v.id].in[0]].in[0];  // the value, the value by forward, the argument
  check(v.after([&](auto& r) { r.nodes[first_tuple].in[1] = r.w; }), rank, v.id, 1, 0);
  CHECK(v.after([](auto& r) { r.control_flows[0].is_taken = true; }).ok());
}

TEST_CASE("outputs and arguments exist") {
  inputs i;
  i.g.output(7);
  check(verify(i.g.view()), "an output is no node", ir::none, 7, 4);
  inputs j;
  ir::node again = node(opcode::input, dtype::float32, 0, j.g[j.x].shape);
  check(j.with(again), "two inputs read one argument", 4, 0, 0);
}

TEST_CASE("each axis of a broadcast is stretched into one of its own") {
  inputs i;
  const ir::node_id corner = i.g.input(dtype::float32, {2, {1, 1}});
  check(i.with(node(opcode::broadcast, dtype::float32, 1, i.g[i.x].shape, corner)), "two axes stretch into one", 5, 1, 0);  // axes (0, 0)
}

TEST_CASE("products, systems, orders and attention take matrices of numbers") {
  const int f32 = static_cast<int>(dtype::float32);
  inputs p;
  const ir::node_id bits = p.g.input(dtype::boolean, {2, {3, 2}});
  check(p.with(node(opcode::matmul, dtype::boolean, 2, p.shape({2, {2, 2}}), p.b, bits)), "a product of bool", 5, 0, 0);
  inputs q;
  check(q.with(node(opcode::matmul, dtype::float32, 2, q.shape({}), q.y, q.y)), "a product of less than matrices", 4, 0, 2);
  inputs s;
  const ir::node_id whole = s.g.input(dtype::int32, {2, {4, 4}}), column = s.g.input(dtype::int32, {2, {4, 1}});
  check(s.with(node(ops::nodes::solve::code, dtype::int32, 2, s.g[column].shape, whole, column)), "an operation on samples of integers or bool", 6, 0, 0);
  inputs t;
  check(t.with(node(ops::nodes::solve::code, dtype::float32, 2, t.g[t.y].shape, t.y, t.y)), "a sample of another shape", 4, 1, 2);
  inputs o;
  const ir::node_id scalar = o.g.input(dtype::float32, {});
  check(o.with(node(ops::nodes::order::code, dtype::int64, 1, o.g[scalar].shape, scalar)), "a sample of another shape", 5, 0, 1);
  inputs w;
  CHECK(w.with(node(ops::nodes::order::code, dtype::int64, 1, w.g[w.y].shape, w.y)).ok());

  // q, k, v : [3, 2]. Of the three results the last two have one number for each row.
  constexpr opcode attends = ops::nodes::attention::code, pulls = ops::nodes::attention_gradient::code;
  const auto attention_of = [&](dtype type, const extents& rows, const extents& of_v, const extents& to, opcode op, std::int64_t result) {
    inputs a;
    const ir::node_id k = a.g.input(type, rows), v = a.g.input(type, of_v);
    extents first = rows;
    if (op == pulls && first.rank > 0) first[first.rank - 1] += first[first.rank - 1] + 3;
    ir::node n = node(op, type, 3, a.shape(to), a.g.input(type, first), k);
    n.in[2] = v;
    n.start = result;
    return a.with(n);
  };
  const auto attention = [&](dtype type, const extents& rows, const extents& to, opcode op, std::int64_t result) { return attention_of(type, rows, rows, to, op, result); };
  const extents rows = {2, {3, 2}}, numbers = {1, {3}};
  CHECK(attention(dtype::float32, rows, rows, attends, 0).ok());
  for (const int r : {1, 2}) CHECK((attention(dtype::float32, rows, numbers, attends, r).ok() && !attention(dtype::float32, rows, rows, attends, r).ok()));
  CHECK(!attention_of(dtype::float32, rows, {3, {3, 3, 2}}, rows, attends, 0).ok());
  CHECK(!attention_of(dtype::float32, rows, numbers, rows, attends, 0).ok());
  CHECK(!attention_of(dtype::float32, rows, {2, {4, 2}}, rows, attends, 0).ok());
  check(attention(dtype::int32, rows, rows, attends, 0), "an operation on samples of integers or bool", 7, 0, 0);
  check(attention(dtype::float32, numbers, numbers, attends, 0), "a sample of another shape", 7, 1, 2);
  check(attention(dtype::float32, {2, {3, -1}}, rows, attends, 0), "an extent is no symbol", 0, -1, 0);
  for (const int r : {0, 1, 2}) CHECK(attention(dtype::float32, rows, rows, pulls, r).ok());
  CHECK(attention_of(dtype::float32, rows, {2, {3, 3}}, {2, {3, 3}}, attends, 0).ok());
  check(attention_of(dtype::float32, rows, {2, {3, 3}}, rows, pulls, 0), "another extent than the operation's rule gives", 7, 7, 8);  // a row has no place for g
  for (const std::int64_t r : {-1, 3}) check(attention(dtype::float32, rows, rows, pulls, r), "no such result", 7, r, 3);

  inputs r;
  ir::node reduce = node(opcode::reduce, dtype::float32, 1, r.shape({1, {3}}), r.x);
  reduce.attr = 1;
  CHECK(inputs(r).with(reduce).ok());
  for (const std::int64_t what : {std::int64_t{-1}, static_cast<std::int64_t>(ir::reduction::max_of_numbers) + 1}) {
    reduce.start = what;
    check(inputs(r).with(reduce), "no such reduction", 4, what, 0);
  }
  inputs y;
  check(y.with(node(opcode::neg, static_cast<dtype>(f32 + 100), 1, y.g[y.x].shape, y.x)), "no such element type", 4, f32 + 100, static_cast<int>(dtype::float64));
  inputs g;
  const ir::node_id many = g.g.input(dtype::float32, {6, {1, 1, 1, 1, 1, 1}}), where = g.g.input(dtype::int32, {4, {1, 1, 1, 1}});
  g.g.check_bound({where, 1, "gather"});
  check(g.with(node(opcode::gather, dtype::float32, 2, g.shape({1, {1}}), many, where)), "a shape of impossible rank", 6, 9, max_rank);
  inputs u;
  const ir::node_id pair = u.g.emit(node(opcode::tuple, dtype::float32, 2, u.shape({}), u.x, u.y));
  check(u.with(node(opcode::tuple, dtype::float32, 2, u.shape({}), u.x, pair)), "only the first operand of a tuple can be a tuple", 5, 1, 0);
  inputs n;
  ir::node extent = node(opcode::extent, dtype::int64, 0, n.shape({}));
  extent.attr = ir::extent_of_symbol(0);
  check(n.with(extent), "an extent is no symbol", 4, -1, 0);
  inputs a;
  ir::node argument = node(opcode::input, dtype::float32, 0, a.g[a.x].shape);
  for (const std::int64_t number : {-1, 4}) {
    argument.attr = number;
    check(inputs(a).with(argument), "no such argument", 4, number, 4);
  }
}

TEST_CASE("shapes, bounds and constraints speak of what exists") {
  inputs i;
  i.g.check_bound({i.k, 2, "gather"});
  const std::int64_t n = i.g.new_symbol({.a = 4}), m = i.g.new_symbol({.a = 5});
  i.g.input(dtype::float32, {1, {n}}), i.g.input(dtype::float32, {1, {m}});
  i.g.unify(n, m, "add", 0, 1);
  const ir::graph_view good = i.g.view();
  REQUIRE(verify(good).ok());
  REQUIRE(good.constraint_count == 1);

  ir::graph_view v = good;
  for (const ir::node_id id : {-1, 6}) {
    const ir::bound bound{id, 2, "gather"};
    v = good, v.bounds = &bound;
    check(verify(v), "a bound of no node", ir::none, id, 6);
  }
  const int shapes = good.shape_count;
  for (const bool left : {true, false}) {
    ir::constraint c = good.constraints[0];
    (left ? c.lhs : c.rhs) = static_cast<std::int16_t>(shapes);
    v = good, v.constraints = &c;
    check(verify(v), "a constraint of no shape", ir::none, c.lhs, c.rhs);
    c = good.constraints[0];
    (left ? c.a : c.b) = ir::extent_of_symbol(2);
    check(verify(v), "a constraint of no symbol", ir::none, c.a, c.b);
  }
  std::vector<extents> table(good.shapes, good.shapes + shapes);
  const auto after = [&](int at, const extents& s) {
    const extents before = table[static_cast<std::size_t>(at)];
    table[static_cast<std::size_t>(at)] = s;
    v = good, v.shapes = table.data();
    const verdict found = verify(v);
    table[static_cast<std::size_t>(at)] = before;
    return found;
  };
  extents odd = table[1];
  odd.rank = max_rank + 1;
  check(after(1, odd), "a shape of impossible rank", 0, max_rank + 1, max_rank);
  odd.rank = -1;
  check(after(1, odd), "a shape of impossible rank", 0, -1, max_rank);
  check(after(1, {1, {ir::extent_of_symbol(2)}}), "an extent is no symbol", 0, ir::extent_of_symbol(2), 2);
  check(after(1, table[0]), "one shape has two ids", 0, 0, 1);
}

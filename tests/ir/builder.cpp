// SPDX-License-Identifier: BSL-1.0
// The graph while it grows: shapes are interned, symbols unify, and both happen in constant evaluation too. The shape rules on it.
#include "../catch.hpp"

#include <tenure/ir/graph.hpp>
#include <tenure/ir/index.hpp>
#include <tenure/ops/opaque/list.hpp>
#include <tenure/ops/shapes.hpp>
#include <tenure/ops/structure.hpp>

using namespace tenure;

namespace {

constexpr int count_after_doubling() {
  ir::array<int> a;
  for (int i = 0; i < 100; ++i) a.push_back(i);
  ir::array<int> b = a;
  b.resize(120, 7);
  a = static_cast<ir::array<int>&&>(b);
  return a.size() + a[99] + a[119];
}
static_assert(count_after_doubling() == 120 + 99 + 7);

constexpr ir::builder two_inputs() {
  ir::builder g;
  const std::int64_t rows = g.new_symbol({ir::symbol::kind::argument, 0, 0, 0});
  g.input(dtype::float32, {2, {rows, 3}});
  const std::int64_t others = g.new_symbol({ir::symbol::kind::argument, 1, 0, 0});
  g.input(dtype::float32, {2, {others, 3}});
  g.unify(rows, others, "add", g.intern({2, {rows, 3}}), g.intern({2, {others, 3}}));
  g.output(1);
  g.canonicalize();
  return g;
}
static_assert(two_inputs().count() == 2);

struct sizes {
  static constexpr ir::graph_sizes value = ir::sizes_of(two_inputs().view());
};
struct one_node {
  static constexpr ir::graph_sizes value{.nodes = 1};
};

/// Appends a loop of three iterations, each of which multiplies its carry by `factor`. Gives the number of its body.
constexpr int add_loop(ir::builder& g, ir::node_id start, double factor, bool checks = false) {
  const ir::node_id first = g.body_input(dtype::float32, g[start].shape);
  const ir::node_id by = g.constant(dtype::float32, g[start].shape, factor);
  const ir::node_id product = g.append({.op = ir::opcode::mul, .type = dtype::float32, .arity = 2, .shape = g[start].shape, .in = {first, by, ir::none}});
  if (checks) g.check_bound({product, 3, "gather"});
  ir::array<ir::node_id> inputs, outputs, operands, captured;
  inputs.push_back(first), outputs.push_back(product), operands.push_back(start);
  ir::control_flow loop{.what = ir::control_flow::kind::scan, .carries = 1, .length = 3};
  loop.bodies[0] = g.outline(first, inputs, outputs, captured);
  g.output(g.result(g.add_control_flow(loop, operands), 0));
  return loop.bodies[0];
}

constexpr ir::builder loops(double factor, double other) {
  ir::builder g;
  const ir::node_id x = g.input(dtype::float32, {1, {4}});
  add_loop(g, x, factor);
  add_loop(g, x, other);
  return g;
}
struct sizes_with_bodies {
  static constexpr ir::graph_sizes value = ir::sizes_of(loops(2, 3).view());
};

}  // namespace

TEST_CASE("an element may be pushed from the array itself") {
  ir::array<int> a;
  for (int i = 0; i < 16; ++i) a.push_back(i);
  a.push_back(a[3]);
  CHECK(a[16] == 3);
}

TEST_CASE("equal shapes have equal ids") {
  ir::builder g;
  const std::int16_t a = g.intern({2, {3, 4}}), b = g.intern({2, {4, 3}}), c = g.intern({2, {3, 4}}), scalar = g.intern({});
  CHECK(a == c);
  CHECK(a != b);
  CHECK(g.intern({}) == scalar);
  for (std::int64_t i = 5; i < 200; ++i) CHECK(g.intern({2, {i, i % 7}}) == i - 2);
  CHECK(g.intern({2, {3, 4}}) == a);
  for (std::int64_t i = 5; i < 200; ++i) CHECK(g.intern({2, {i, i % 7}}) == i - 2);
  CHECK(g.view().shape_count == 198);
}

TEST_CASE("arithmetic on values of different extents ends the trace") {
  ir::builder g;
  const ops::value x{g, g.input(dtype::float32, {1, {3}})}, y{g, g.input(dtype::float32, {1, {4}})}, z{g, g.input(dtype::float32, {2, {3, 1}})};
  CHECK_THROWS_AS(x + y, const char*);
  CHECK_THROWS_AS(x * z, const char*);
  CHECK((x - x).shape() == x.shape());
}
TEST_CASE("symbols that must agree become one, and the run is asked") {
  const ir::builder g = two_inputs();
  const ir::graph_view v = g.view();
  CHECK(v[0].shape == v[1].shape);
  CHECK(v.shape_of(1)[0] == ir::extent_of_symbol(0));
  REQUIRE(v.constraint_count == 1);
  CHECK(v.constraints[0].a == ir::extent_of_symbol(0));
  CHECK(v.constraints[0].b == ir::extent_of_symbol(1));
  for (int i = 0; i < v.shape_count; ++i)
    for (int j = 0; j < i; ++j) CHECK_FALSE(v.shapes[i] == v.shapes[j]);
}

TEST_CASE("a symbol that meets a number becomes the number") {
  ir::builder g;
  const std::int64_t n = g.new_symbol({ir::symbol::kind::argument, 0, 0, 0});
  g.input(dtype::float32, {1, {n}});
  CHECK(g.unify(n, 5, "add", -1, -1) == 5);
  CHECK(g.canonical(n) == 5);
  g.canonicalize();
  CHECK(g.shape_of(0)[0] == 5);
}

TEST_CASE("a named extent is one symbol") {
  ir::builder g;
  const std::int64_t a = g.new_symbol({ir::symbol::kind::argument, 0, 0, dim("batch")});
  const std::int64_t b = g.new_symbol({ir::symbol::kind::argument, 1, 0, dim("batch")});
  CHECK(a == b);
  CHECK(g.view().constraint_count == 1);
  CHECK(g.new_symbol({ir::symbol::kind::argument, 2, 0, dim("width")}) != a);
}

TEST_CASE("derived extents fold where they can") {
  using kind = ir::symbol::kind;
  ir::builder g;
  const std::int64_t n = g.new_symbol({kind::argument, 0, 0, 0});
  CHECK(g.derived(kind::product, 3, 4) == 12);
  CHECK(g.derived(kind::sum, 3, 4) == 7);
  CHECK(g.derived(kind::quotient, 12, 4) == 3);
  CHECK(g.derived(kind::product, 1, n) == n);
  CHECK(g.derived(kind::quotient, n, 1) == n);
  const std::int64_t twice = g.derived(kind::product, n, 2);
  CHECK(ir::symbol_of_extent(twice) == 1);
  CHECK(g.derived(kind::product, n, 2) == twice);
  CHECK(g.derived(kind::difference, 7, 3) == 4);
  CHECK(g.derived(kind::difference, n, 0) == n);
  const std::int64_t less_one = g.derived(kind::difference, n, 1), less_three = g.derived(kind::difference, n, 3);
  CHECK(less_one != less_three);
  CHECK(g.derived(kind::difference, less_one, 2) == less_three);
  CHECK(g.derived(kind::sum, less_three, 2) == less_one);
  CHECK(g.derived(kind::sum, 1, less_one) == n);
  CHECK(g.derived(kind::sum, less_one, 3) == g.derived(kind::sum, n, 2));
}

TEST_CASE("positions are found by hash, whatever shares one") {
  ir::array<int> values;
  ir::index positions;
  const auto position_of = [&](int x) { return positions.find(static_cast<std::uint64_t>(x % 7), [&](int i) { return values[i] == x; }); };
  for (int x = 0; x < 100; ++x) {
    CHECK(position_of(x) == -1);
    positions.enter(static_cast<std::uint64_t>(x % 7), values.push_back(x));
  }
  for (int x = 0; x < 100; ++x) CHECK(position_of(x) == x);
  positions.clear();
  CHECK(position_of(0) == -1);
}

TEST_CASE("a frozen graph is its builder") {
  static constexpr ir::graph<sizes> frozen{two_inputs().view()};
  static_assert(frozen.view().count == 2 && frozen.view().outputs[0] == 1);
  static constexpr ir::graph<one_node> cut{two_inputs().view()};
  static_assert(cut.sizes == sizes::value && !(cut.sizes <= one_node::value) && sizes::value <= sizes::value);
  const ir::builder again(frozen.view());
  CHECK(again.count() == 0);
  CHECK(again.view().shape_count == sizes::value.shapes);
  CHECK(again.view().input_count == 2);
}

TEST_CASE("a frozen graph has its bodies, or refers to those of another") {
  static constexpr ir::graph_with_bodies<sizes_with_bodies> whole{loops(2, 3).view()};
  static constexpr ir::graph<sizes_with_bodies> part{whole.view()};
  static_assert(whole.view().inner.count == 2 && whole.view().body_at(1).count == 3 && whole.view().inner.control_flow_count == 2);
  CHECK(part.view().inner.nodes == whole.view().inner.nodes);
  CHECK(part.sizes == whole.sizes);
  CHECK(part.view().body_at(1)[1].attr == ir::bits_of(dtype::float32, 3));
}

TEST_CASE("equal bodies have one number, and equal control-flow operations one record") {
  const ir::builder same = loops(2, 2), different = loops(2, 3);
  CHECK(same.view().inner.count == 1);
  CHECK(same.view().inner.node_count == 3);
  CHECK(same.view().inner.output_count == 1);
  CHECK(same.view().inner.control_flow_count == 1);
  CHECK(different.view().inner.count == 2);
  CHECK(different.view().inner.node_count == 6);
  CHECK(different.view().inner.control_flow_count == 2);
  ir::builder g = loops(2, 3);
  ir::array<ir::node_id> more;
  more.push_back(1);
  const int extended = g.extended(0, more);
  CHECK(extended == 2);
  CHECK(g.extended(0, more) == extended);
  CHECK(g.extended(1, more) == 3);
  CHECK(g.view().inner.node_count == 6);
  CHECK(add_loop(g, 0, 2) == 0);
  // A body that checks indices names the operation in its message.
  CHECK(add_loop(g, 0, 2, true) == 4);
  CHECK(add_loop(g, 0, 2, true) == 5);
}

TEST_CASE("a pass leaves the bodies where they are; a graph that changes them has its own") {
  const ir::builder written = loops(2, 3);
  ir::builder g(written.view());
  CHECK(g.view().inner.nodes == written.view().inner.nodes);
  CHECK(g.view().inner.control_flow_count == 2);
  const ir::node_id x = g.input(dtype::float32, {1, {4}});
  CHECK(add_loop(g, x, 5) == 2);
  CHECK(g.view().inner.nodes != written.view().inner.nodes);
  CHECK(g.view().inner.node_count == 9);
  CHECK(g.view().inner.control_flow_count == 3);
  CHECK(written.view().inner.count == 2);
  CHECK(add_loop(g, x, 2) == 0);
}

TEST_CASE("a graph fits into memory of its sizes, and not where one of them is smaller") {
  using ir::graph_sizes;
  const graph_sizes all{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  CHECK(all <= all);
  const struct {
    const char* name;
    int graph_sizes::*size;
  } sizes[] = {{"nodes", &graph_sizes::nodes},
               {"shapes", &graph_sizes::shapes},
               {"symbols", &graph_sizes::symbols},
               {"constraints", &graph_sizes::constraints},
               {"bounds", &graph_sizes::bounds},
               {"outputs", &graph_sizes::outputs},
               {"nodes of bodies", &graph_sizes::body_nodes},
               {"outputs of bodies", &graph_sizes::body_outputs},
               {"bounds of bodies", &graph_sizes::body_bounds},
               {"bodies", &graph_sizes::bodies},
               {"control-flow operations", &graph_sizes::control_flows}};
  for (const auto& each : sizes) {
    CAPTURE(each.name);
    graph_sizes larger = all;
    ++(larger.*each.size);
    CHECK(all <= larger);
    CHECK_FALSE(larger <= all);
  }
}

TEST_CASE("axes are packed and unpacked") {
  std::int64_t axes = 0;
  for (int i = 0; i < max_rank; ++i) axes = ir::pack_axis(axes, i, max_rank - 1 - i);
  for (int i = 0; i < max_rank; ++i) CHECK(ir::unpack_axis(axes, i) == max_rank - 1 - i);
}

TEST_CASE("extents that a type does not tell apart may agree, and the one that tells more stays") {
  constexpr std::int64_t batch = dim("batch"), width = dim("width");
  struct pair {
    const char* name;
    std::int64_t a, b;
    bool may_agree;
    std::int64_t agreed = 0;  // where they may
  };
  const pair all[] = {{"3 and 3", 3, 3, true, 3},
                      {"3 and 4", 3, 4, false},
                      {"3 and dyn", 3, dyn, true, 3},
                      {"3 and a name", 3, batch, true, 3},
                      {"dyn and dyn", dyn, dyn, true, dyn},
                      {"dyn and a name", dyn, batch, true, batch},
                      {"a name and itself", batch, batch, true, batch},
                      {"two names", batch, width, false}};
  for (const pair& p : all) {
    CAPTURE(p.name);
    CHECK(ops::extents_may_agree(p.a, p.b) == p.may_agree);
    CHECK(ops::extents_may_agree(p.b, p.a) == p.may_agree);
    if (!p.may_agree) continue;
    CHECK(ops::agreed(p.a, p.b) == p.agreed);
    CHECK(ops::agreed(p.b, p.a) == p.agreed);
  }
}

TEST_CASE("shapes broadcast from the last axis, where only a static 1 stretches") {
  const extents matrix{2, {2, 3}}, row{1, {3}}, column{2, {2, 1}}, cube{3, {4, 1, 3}}, unknown{2, {dyn, 3}}, scalar{};
  const auto shape_of = [](const extents& a, const extents& b) { return ops::broadcast_with(a, b, ops::agreed); };
  CHECK(ops::broadcast_conflict(matrix, row) == -1);
  CHECK(ops::broadcast_conflict(cube, matrix) == -1);
  CHECK(ops::broadcast_conflict(scalar, cube) == -1);
  CHECK(ops::broadcast_conflict(unknown, matrix) == -1);
  CHECK(ops::broadcast_conflict(matrix, extents{1, {2}}) == 0);
  CHECK(ops::broadcast_conflict(extents{2, {5, 3}}, matrix) == 1);
  CHECK(ops::broadcast_conflict(row, extents{3, {7, 2, 4}}) == 0);
  CHECK(shape_of(matrix, row) == matrix);
  CHECK(shape_of(row, column) == matrix);
  CHECK(shape_of(cube, matrix) == extents{3, {4, 2, 3}});
  CHECK(shape_of(scalar, cube) == cube);
  CHECK(shape_of(unknown, matrix) == matrix);
  CHECK(shape_of(unknown, row) == unknown);

  STATIC_REQUIRE(ops::are_alike<shape<2, 3>, shape<2, 3>>);
  STATIC_REQUIRE(ops::are_alike<shape<2, dyn>, shape<2, 3>>);
  STATIC_REQUIRE(ops::are_alike<shape<dim("batch"), 3>, shape<dyn, 3>>);
  STATIC_REQUIRE(ops::are_alike<shape<1>, shape<1>>);
  STATIC_REQUIRE_FALSE(ops::are_alike<shape<2, 3>, shape<2, 4>>);
  STATIC_REQUIRE_FALSE(ops::are_alike<shape<2, 3>, shape<3>>);
  STATIC_REQUIRE_FALSE(ops::are_alike<shape<1>, shape<dyn>>);
  STATIC_REQUIRE_FALSE(ops::are_alike<shape<dyn>, shape<1>>);
}

TEST_CASE("nodes with four operands differ where only the last does") {
  const ir::node a{.op = ir::opcode::opaque, .arity = 4, .in = {0, 1, 2, 3}};
  ir::node b = a, c = a;
  b.in[3] = 4;
  c.start = 1;
  CHECK(a == a);
  CHECK(!(a == b));
  CHECK(ops::are_of_one_step(a, c));
  CHECK(!ops::are_of_one_step(a, b));
}

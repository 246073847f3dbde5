// SPDX-License-Identifier: BSL-1.0
// The judge judged: each operation of the reference backend against numbers worked out by hand, and what it refuses.
#include "../catch.hpp"

#include <cmath>
#include <limits>

#include <tenure/backend/reference/plan.hpp>
#include <tenure/ops/derivative.hpp>
#include <tenure/passes/verify.hpp>

using namespace tenure;
using ops::value;
using reference::array;

namespace {

array of(const extents& s, std::initializer_list<double> v) { return {s, std::data(v)}; }
array integers(const extents& s, std::initializer_list<std::int64_t> v) { return {s, std::data(v)}; }

/// A graph of one operation; inputs are made by the arrays' types and shapes.
struct call {
  ir::builder g;
  std::vector<array> arguments;

  value operator()(const array& a) {
    arguments.push_back(a);
    return {g, g.input(a.type, a.shape)};
  }
  array result(value y) {
    g.output(y.id);
    return reference::run(g.view(), arguments)[0];
  }
};

void check(const array& a, const extents& shape, std::initializer_list<double> v) {
  CHECK(a.shape == shape);
  REQUIRE(a.size() == static_cast<std::int64_t>(v.size()));
  for (std::int64_t i = 0; i < a.size(); ++i) {
    INFO("element " << i);
    CHECK(a[i] == std::data(v)[i]);
  }
}

}  // namespace

TEST_CASE("movement") {
  const array x = of({2, {2, 3}}, {1, 2, 3, 4, 5, 6});
  SECTION("permute") { call c; check(c.result(ops::transposed(c(x))), {2, {3, 2}}, {1, 4, 2, 5, 3, 6}); }
  SECTION("reshape") { call c; check(c.result(ops::reshape_to(c(x), {1, {6}})), {1, {6}}, {1, 2, 3, 4, 5, 6}); }
  SECTION("broadcast to a middle axis") {
    call c;
    const value y = ops::broadcast_along(c(x), c.g.intern({3, {2, 2, 3}}), ir::pack_axis(ir::pack_axis(0, 0, 0), 1, 2));
    check(c.result(y), {3, {2, 2, 3}}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  }
  SECTION("broadcast of an extent of 1") {
    call c;
    check(c.result(ops::broadcast_to(c(of({2, {2, 1}}, {7, 8})), c.g.intern({2, {2, 3}}))), {2, {2, 3}}, {7, 7, 7, 8, 8, 8});
  }
  SECTION("slice backwards") { call c; check(c.result(ops::sliced(c(x), 1, 2, 2, -2)), {2, {2, 2}}, {3, 1, 6, 4}); }
  SECTION("pad") { call c; check(c.result(ops::padded(c(of({1, {2}}, {7, 8})), 0, 1, 5, 2)), {1, {5}}, {0, 7, 0, 8, 0}); }
  SECTION("concat") { call c; const value a = c(x); check(c.result(ops::concatenated(a, ops::sliced(a, 1, 0, 1, 1), 1)), {2, {2, 4}}, {1, 2, 3, 1, 4, 5, 6, 4}); }
  SECTION("gather") {
    call c;
    const value a = c(x), i = c(integers({1, {2}}, {2, 0}));
    check(c.result(ops::gathered(a, i, 1)), {2, {2, 2}}, {3, 1, 6, 4});
  }
  SECTION("scatter adds up repeated indices") {
    call c;
    const value a = c(x), i = c(integers({1, {3}}, {1, 1, 0}));
    check(c.result(ops::scattered(i, a, 1, c.g.intern({2, {2, 4}}))), {2, {2, 4}}, {3, 3, 0, 0, 6, 9, 0, 0});
  }
  SECTION("index_add adds to what is there") {
    call c;
    const value onto = c(of({2, {2, 3}}, {10, 20, 30, 40, 50, 60})), updates = c(of({2, {2, 2}}, {1, 2, 3, 4})), i = c(integers({1, {2}}, {2, 2}));
    check(c.result(ops::added_at(onto, updates, i, 1)), {2, {2, 3}}, {10, 20, 33, 40, 50, 67});
  }
  SECTION("extent") {
    call c;
    const value x = c(of({2, {2, 0}}, {}));
    check(c.result(ops::number_of_extent(c.g, dtype::float64, x.shape()[0])), {}, {2});
    call d;
    d.arguments.push_back(of({1, {3}}, {1, 2, 3}));
    const std::int64_t n = d.g.new_symbol({ir::symbol::kind::argument, 0, 0, 0});
    d.g.input(dtype::float64, {1, {n}});
    check(d.result(ops::number_of_extent(d.g, dtype::int64, d.g.derived(ir::symbol::kind::product, n, 4))), {}, {12});
  }
  SECTION("iota") { call c; check(c.result(ops::counting(c.g, dtype::int32, c.g.intern({2, {2, 3}}), 1)), {2, {2, 3}}, {0, 1, 2, 0, 1, 2}); }
}

TEST_CASE("arithmetic by libm") {
  call c;
  const value x = c(of({1, {4}}, {0.5, -1, 2, 0}));
  const array y = c.result(ops::pointwise_value<ops::log1p>(ops::pointwise_value<ops::exp>(x)));
  for (std::int64_t i = 0; i < 4; ++i) CHECK(y[i] == std::log1p(std::exp(c.arguments[0][i])));
}

TEST_CASE("every pointwise operation has a function for the types it takes") {
  for (int i = 0; i < ops::records::count; ++i) {
    const ops::operation_record& r = ops::records::value[i];
    INFO(r.name);
    const auto code = static_cast<ir::opcode>(static_cast<int>(ir::opcode::pointwise) + i);
    for (const dtype type : {dtype::boolean, dtype::int32, dtype::int64, dtype::float32, dtype::float64}) {
      const bool is_bool = type == dtype::boolean;
      const bool wanted = r.types == ops::typing::logical      ? is_bool
                          : r.types == ops::typing::floating   ? is_floating(type)
                          : r.types == ops::typing::arithmetic ? !is_bool
                                                               : true;
      CHECK((reference::function_of(code, type) != nullptr) == wanted);
    }
  }
}

TEST_CASE("reductions") {
  const array x = of({2, {2, 3}}, {1, 2, 3, 4, 5, 6});
  SECTION("of rows") { call c; check(c.result(ops::reduced(c(x), 2, ir::reduction::sum)), {1, {2}}, {6, 15}); }
  SECTION("of columns") { call c; check(c.result(ops::reduced(c(x), 1, ir::reduction::max)), {1, {3}}, {4, 5, 6}); }
  SECTION("of all") { call c; check(c.result(ops::reduced(c(x), 3, ir::reduction::min)), {}, {1}); }
  SECTION("of nothing") {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const auto& [kind, wanted] : {std::pair{ir::reduction::sum, 0.0}, {ir::reduction::max, -infinity}, {ir::reduction::min, infinity}}) {
      call c;
      check(c.result(ops::reduced(c(array(dtype::float64, {2, {0, 2}})), 1, kind)), {1, {2}}, {wanted, wanted});
    }
  }
  SECTION("NaN wins") {
    call c;
    const array y = c.result(ops::reduced(c(of({1, {3}}, {1, std::nan(""), 5})), 1, ir::reduction::max));
    CHECK(std::isnan(y[0]));
  }
  SECTION("float32 is summed wider") {
    array many(dtype::float32, {1, {1 << 20}});
    for (int i = 0; i < 1 << 20; ++i) many.as<float>()[i] = 0.1f;
    call c;
    CHECK(c.result(ops::reduced(c(many), 1, ir::reduction::sum))[0] == static_cast<float>((1 << 20) * static_cast<double>(0.1f)));
  }
}

TEST_CASE("products") {
  call c;
  const value a = c(of({2, {2, 2}}, {1, 2, 3, 4})), b = c(of({2, {2, 3}}, {1, 0, 2, 0, 1, 3}));
  check(c.result(ops::matrix_product(a, b)), {2, {2, 3}}, {1, 2, 8, 3, 4, 18});
}

TEST_CASE("casts") {
  const array x = of({1, {4}}, {-1.75, 0, 0.5, 3.9});
  SECTION("truncate") { call c; check(c.result(ops::cast_to(c(x), dtype::int32)), {1, {4}}, {-1, 0, 0, 3}); }
  SECTION("to bool is not zero") { call c; check(c.result(ops::cast_to(c(x), dtype::boolean)), {1, {4}}, {1, 0, 1, 1}); }
  SECTION("round to float32") { call c; CHECK(c.result(ops::cast_to(c(of({}, {0.1})), dtype::float32))[0] == static_cast<double>(0.1f)); }
}

TEST_CASE("run-time extents") {
  ir::builder g;
  const std::int64_t n = g.new_symbol({ir::symbol::kind::argument, 0, 0, 0});
  const value x{g, g.input(dtype::float64, {2, {n, 2}})};
  const std::int64_t m = g.new_symbol({ir::symbol::kind::argument, 1, 0, 0});
  const value y{g, g.input(dtype::float64, {2, {m, 2}})};
  g.unify(n, m, "add", x.node().shape, y.node().shape);
  const std::int64_t all = g.derived(ir::symbol::kind::product, n, 2);
  g.output(ops::reshape_to(x + ops::broadcast_to(y, x.node().shape), {1, {all}}).id);
  g.canonicalize();
  const array a = of({2, {3, 2}}, {1, 2, 3, 4, 5, 6}), b = of({2, {2, 2}}, {1, 1, 1, 1});
  const std::vector<array> agree{a, a}, disagree{a, b};
  check(reference::run(g.view(), agree)[0], {1, {6}}, {2, 4, 6, 8, 10, 12});
  CHECK_THROWS_AS(reference::run(g.view(), disagree), shape_error);
}

TEST_CASE("what the reference refuses") {
  SECTION("an argument of another shape or type") {
    call c;
    const value x = c(of({1, {3}}, {1, 2, 3}));
    c.g.output((-x).id);
    const std::vector<array> shorter{of({1, {2}}, {1, 2})}, other{integers({1, {3}}, {1, 2, 3})};
    CHECK_THROWS_AS(reference::run(c.g.view(), shorter), shape_error);
    CHECK_THROWS_AS(reference::run(c.g.view(), other), shape_error);
  }
  SECTION("an index outside its axis") {
    call c;
    const value x = c(of({1, {3}}, {1, 2, 3})), i = c(integers({1, {2}}, {0, 3}));
    CHECK_THROWS_AS(c.result(ops::gathered(x, i, 0)), index_error);
  }
  SECTION("an index that nothing reads but a bound speaks of") {
    call c;
    const value i = c(integers({1, {2}}, {0, 3}));
    c.g.check_bound({i.id, 3, "pick"});
    CHECK_THROWS_WITH(c.result(i), "tenure: pick: index 3 is outside an axis of 3");
  }
  SECTION("a computed index, in a plan") {
    ir::builder g;
    const value x{g, g.input(dtype::float64, {1, {3}})}, i = value{g, g.input(dtype::int64, {1, {2}})} * 2.0;
    g.check_bound({i.id, 3, "gather"});
    g.output(ops::gathered(x, i, 0).id);
    const ir::builder m = passes::materialize(g.view());
    const passes::plan_builder plan = passes::schedule(m.view());
    CHECK(plan.steps.size() == 3);
    CHECK(passes::verify(m.view()).ok());
    const auto picked = [&](std::initializer_list<std::int64_t> indices) {
      const std::vector<array> arguments{of({1, {3}}, {1, 2, 3}), integers({1, {2}}, indices)};
      const std::vector<reference::argument> bound{reference::argument_of(arguments[0]), reference::argument_of(arguments[1])};
      return reference::run(plan.view(m.view()), bound)[0];
    };
    check(picked({1, 0}), {1, {2}}, {3, 1});
    CHECK_THROWS_WITH(picked({1, 2}), "tenure: gather: index 4 is outside an axis of 3");
  }
  SECTION("the start of a block, as an argument and computed in a plan") {
    const std::vector<array> arguments{of({1, {6}}, {1, 2, 3, 4, 5, 6}), of({1, {3}}, {7, 8, 9}), integers({}, {4})};
    const auto refusal = [&](bool is_computed) {
      ir::builder g;
      const value x{g, g.input(dtype::float64, {1, {6}})}, y{g, g.input(dtype::float64, {1, {3}})}, i{g, g.input(dtype::int64, {})};
      const value start = is_computed ? -(-i) : i;
      g.check_bound(ops::bound_of_starts(start, 6, 3, "dynamic_update"));
      g.output(ops::updated(x, y, start, 0).id);
      if (!is_computed) return reference::run(g.view(), arguments);
      const ir::builder m = passes::materialize(g.view());
      const passes::plan_builder plan = passes::schedule(m.view());
      std::vector<reference::argument> bound;
      for (const array& a : arguments) bound.push_back(reference::argument_of(a));
      return reference::run(plan.view(m.view()), bound);
    };
    CHECK_THROWS_WITH(refusal(false), "tenure: dynamic_update: a block of 3 at index 4 is outside an axis of 6");
    CHECK_THROWS_WITH(refusal(true), "tenure: dynamic_update: a block of 3 at index 4 is outside an axis of 6");
  }
}

TEST_CASE("a visitor sees and may change every value") {
  call c;
  const value x = c(of({1, {2}}, {1, 2}));
  c.g.output((x + 1.0).id);
  int nodes = 0;
  const auto doubled = reference::run(c.g.view(), c.arguments, [&](ir::node_id id, array& a) {
    ++nodes;
    if (id == 0)
      for (std::int64_t i = 0; i < a.size(); ++i) a.as<double>()[i] *= 2;
  });
  CHECK(nodes == c.g.count());
  check(doubled[0], {1, {2}}, {3, 5});
}

TEST_CASE("a plan is walked record by record") {
  // Softmax: three passes over each row in one kernel; a product afterwards, through the workspace.
  ir::builder g;
  const value x{g, g.input(dtype::float64, {2, {2, 3}})};
  const value e = ops::pointwise_value<ops::exp>(x - ops::stretched_like(ops::reduced(x, 2, ir::reduction::max), x, 2));
  const value s = e / ops::stretched_like(ops::reduced(e, 2, ir::reduction::sum), x, 2);
  g.output(ops::matrix_product(s, ops::transposed(s)).id);
  const std::vector<array> arguments{of({2, {2, 3}}, {1, 2, 3, 3, 2, 0})};
  const std::vector<reference::argument> bound{reference::argument_of(arguments[0])};
  const passes::plan_builder plan = passes::schedule(g.view());
  REQUIRE(plan.kernels.size() == 1);
  CHECK(plan.kernels[0].passes == 3);
  const array wanted = reference::run(g.view(), arguments)[0], got = reference::run(plan.view(g.view()), bound)[0];
  for (std::int64_t i = 0; i < 4; ++i) CHECK(got[i] == wanted[i]);

  passes::plan_builder broken = plan;
  broken.buffers[1].elements = {2, 0};
  CHECK_THROWS_AS(reference::run(broken.view(g.view()), bound), reference::plan_error);
}

// SPDX-License-Identifier: BSL-1.0
// The laws of the passes, on random graphs, against the reference backend.
#include "../catch.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <tenure/passes/axis_order.hpp>
#include <tenure/passes/components.hpp>
#include <tenure/passes/join.hpp>
#include <tenure/passes/legalize.hpp>
#include <tenure/passes/materialize.hpp>
#include <tenure/passes/recompute.hpp>
#include <tenure/passes/loops/all.hpp>
#include <tenure/passes/scalarize.hpp>
#include <tenure/passes/schedule.hpp>
#include <tenure/passes/verify.hpp>

#include "both_modes.hpp"
#include "judge.hpp"

using namespace fuzz;

namespace passes_tests {
namespace {

constexpr std::uint64_t graphs = 8000 / share;

bool same_nodes(const ir::graph_view& a, const ir::graph_view& b) {
  if (a.count != b.count || a.output_count != b.output_count) return false;
  for (int i = 0; i < a.count; ++i)
    if (!(a[i] == b[i])) return false;
  for (int i = 0; i < a.output_count; ++i)
    if (a.outputs[i] != b.outputs[i]) return false;
  return true;
}

// Law: every traced graph verifies. If a graph verifies, the result of each pass verifies too.
void require_valid(std::uint64_t seed, const char* after, const ir::graph_view& g) {
  const passes::verdict v = passes::verify(g);
  if (!v.ok())
    FAIL(report(seed, after, std::string(v.what) + ": %" + std::to_string(v.node) + " " + std::to_string(v.lhs) + " " + std::to_string(v.rhs), g));
}

options options_of(std::uint64_t seed) {
  return {.nodes = 4 + static_cast<int>(seed % 37), .symbols = seed % 3 == 0, .strided = seed % 2 == 0};
}

}  // namespace

TEST_CASE("Law: dead_code keeps the meaning, is idempotent, and never adds nodes") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = random_sample(seed, options_of(seed));
    const ir::graph_view g = s.graph.view();
    require_valid(seed, "tracing", g);
    const ir::builder once = passes::dead_code(g), twice = passes::dead_code(once.view());
    require_valid(seed, "dead_code", once.view());
    if (once.count() > g.count) FAIL(report(seed, "dead_code", "more nodes", g, once.view()));
    if (!same_nodes(once.view(), twice.view())) FAIL(report(seed, "dead_code", "not idempotent", once.view(), twice.view()));
    const std::string wrong = exact_difference(reference_of(seed, g, s.arguments), reference_of(seed, once.view(), s.arguments));
    if (!wrong.empty()) FAIL(report(seed, "dead_code", wrong, g, once.view()));
  }
}

TEST_CASE("Law: cse keeps the meaning, is idempotent, and never adds nodes") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = random_sample(seed, options_of(seed));
    const ir::graph_view g = s.graph.view();
    const ir::builder once = passes::cse(g), twice = passes::cse(once.view());
    require_valid(seed, "cse", once.view());
    if (once.count() > g.count) FAIL(report(seed, "cse", "more nodes", g, once.view()));
    if (!same_nodes(once.view(), twice.view())) FAIL(report(seed, "cse", "not idempotent", once.view(), twice.view()));
    const std::string wrong = exact_difference(reference_of(seed, g, s.arguments), reference_of(seed, once.view(), s.arguments));
    if (!wrong.empty()) FAIL(report(seed, "cse", wrong, g, once.view()));
  }
}

TEST_CASE("Law: legalize keeps every bit; afterwards only casts compute with a narrow type") {
  int narrow = 0;
  for (std::uint64_t seed = 0; seed < graphs / 2; ++seed) {
    options o = options_of(seed);
    o.narrow = true;
    o.extreme = seed % 4 == 0;
    const sample s = random_sample(seed, o);
    const ir::graph_view g = s.graph.view();
    const ir::builder legal = passes::legalize(g);
    require_valid(seed, "legalize", legal.view());
    narrow += passes::needs_legalize(g);
    for (ir::node_id id = 0; id < legal.count(); ++id) {
      const ir::node& n = legal[id];
      bool is_narrow = passes::is_narrow(n.type);
      for (int k = 0; k < n.arity; ++k) is_narrow = is_narrow || passes::is_narrow(legal[n.in[k]].type);
      const bool rounds = n.op == ir::opcode::cast && passes::is_narrow(n.type);  // only from its lanes
      const bool is_legal = rounds ? tenure::lane_of(n.type) == tenure::lane_of(legal[n.in[0]].type) : n.op == ir::opcode::cast || !passes::computes(n.op);
      if (is_narrow && !is_legal) FAIL(report(seed, "legalize", "node " + std::to_string(id) + " computes with a narrow type", g, legal.view()));
    }
    const std::string wrong = exact_difference(reference_of(seed, g, s.arguments), reference_of(seed, legal.view(), s.arguments));
    if (!wrong.empty()) FAIL(report(seed, "legalize", wrong, g, legal.view()));
  }
  CHECK(narrow > static_cast<int>(graphs / 4));
}

TEST_CASE("Law: algebra keeps infinities and NaN in their places, keeps values up to rounding, and is idempotent") {
  int excused = 0, extreme = 0;
  const auto check = [&](std::uint64_t seed, const sample& s) {
    const ir::graph_view g = s.graph.view();
    const ir::builder simple = passes::algebra(g), again = passes::algebra(passes::dead_code(simple.view()).view());
    require_valid(seed, "algebra", simple.view());
    if (again.count() > simple.count()) FAIL(report(seed, "algebra", "not idempotent", simple.view(), again.view()));
    extreme += holds_infinity(g, s.arguments);
    const judgement j = judge_extremes(g, s.arguments, simple.view());
    if (!j.wrong.empty()) FAIL(report(seed, "algebra", j.wrong, g, simple.view()));
    excused += j.excused;
  };
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    options o = options_of(seed);
    o.extreme = seed % 4 != 0;
    check(seed, random_sample(seed, o));
  }
  // Derivatives: most of what the algebra finds to do.
  for (std::uint64_t seed = 0; seed < graphs / 2; ++seed) {
    const both_modes m(seed, {.nodes = 4 + static_cast<int>(seed % 17), .floating = true, .symbols = seed % 3 == 0, .strided = false, .extreme = seed % 4 != 0});
    if (m.flows) check(seed, m.made);
  }
  CHECK(extreme > static_cast<int>(graphs / 10));
  CHECK(excused < static_cast<int>(graphs * 3 / 8));  // a quarter of all
}

/// The graph with a note that the first axis of each array is an axis of samples, as vmap notes it.
static ir::builder with_samples_noted(const ir::graph_view& g) {
  ir::builder noted = ir::copy_of(g);
  for (ir::node_id id = 0; id < noted.count(); ++id)
    if (noted.shape_of(id).rank > 1) noted.note_samples(noted.shape_of(id)[0]);
  return noted;
}

namespace {
/// A random graph with its arguments; of four graphs three have extreme arguments.
sample extreme_sample(std::uint64_t seed) {
  options o = options_of(seed);
  o.extreme = seed % 4 != 0;
  return random_sample(seed, o);
}
}  // namespace

TEST_CASE("Law: scalarize keeps infinities and NaN in their places, and keeps values up to rounding") {
  int excused = 0, changed = 0, moved = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = extreme_sample(seed);
    const ir::builder noted = with_samples_noted(s.graph.view());
    const ir::graph_view g = noted.view();
    const ir::builder after = passes::scalarize(g, 2);
    require_valid(seed, "scalarize", after.view());
    changed += after.count() > g.count;
    // Law: in_order_of_use keeps the meaning, and never adds nodes. Law: in_order_of_latency keeps the meaning, and never adds nodes.
    for (const auto& [name, order] : {std::pair("in_order_of_use", &passes::in_order_of_use), std::pair("in_order_of_latency", &passes::in_order_of_latency)}) {
      const ir::builder ordered = order(after.view(), g.samples.count > 0 ? g.samples.at[0] : 0);
      require_valid(seed, name, ordered.view());
      if (ordered.count() > after.count()) FAIL(report(seed, name, "more nodes", after.view(), ordered.view()));
      if (same_nodes(after.view(), ordered.view())) continue;
      moved += name == std::string("in_order_of_latency");
      const std::string wrong = exact_difference(reference_of(seed, after.view(), s.arguments), reference_of(seed, ordered.view(), s.arguments));
      if (!wrong.empty()) FAIL(report(seed, name, wrong, after.view(), ordered.view()));
    }
    const judgement j = judge_extremes(g, s.arguments, after.view());
    if (!j.wrong.empty()) FAIL(report(seed, "scalarize", j.wrong, g, after.view()));
    excused += j.excused;
  }
  CHECK(changed > static_cast<int>(graphs / 10));
  CHECK(moved > static_cast<int>(graphs / 100));
  CHECK(excused < static_cast<int>(graphs * 3 / 8));
}

TEST_CASE("scalarize keeps infinities and NaN in their places, and values up to rounding, where the whole function is one sample") {
  int changed = 0, excused = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = extreme_sample(seed);
    const ir::graph_view g = s.graph.view();
    if (g.samples.count > 0) continue;
    const ir::builder after = passes::scalarize(g);
    require_valid(seed, "scalarize", after.view());
    changed += passes::has_numbers_in_arrays(g);
    const judgement j = judge_extremes(g, s.arguments, after.view());
    if (!j.wrong.empty()) FAIL(report(seed, "scalarize", j.wrong, g, after.view()));
    excused += j.excused;
  }
  CHECK(changed > static_cast<int>(graphs / 10));
  CHECK(excused < static_cast<int>(graphs * 3 / 8));
}

TEST_CASE("Law: samples_in_turn keeps values up to rounding") {
  int excused = 0, loops = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = extreme_sample(seed);
    const ir::builder noted = with_samples_noted(s.graph.view());
    const ir::graph_view g = noted.view();
    const ir::builder after = passes::with_samples_in_turn(g, 0);
    require_valid(seed, "samples_in_turn", after.view());
    loops += after.view().inner.control_flow_count;
    const judgement j = judge_extremes(g, s.arguments, after.view());
    if (!j.wrong.empty()) FAIL(report(seed, "samples_in_turn", j.wrong, g, after.view()));
    excused += j.excused;
  }
  CHECK(loops > static_cast<int>(graphs / 20));
  CHECK(excused < static_cast<int>(graphs * 3 / 8));
}

TEST_CASE("Law: components keeps infinities and NaN in their places, and keeps values up to rounding") {
  int excused = 0, changed = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = extreme_sample(seed);
    const ir::graph_view g = s.graph.view();
    const ir::builder before = passes::dead_code(g), after = passes::components(before.view(), 0);
    require_valid(seed, "components", after.view());
    changed += !same_nodes(before.view(), after.view());
    const judgement j = judge_extremes(g, s.arguments, after.view());
    if (!j.wrong.empty()) FAIL(report(seed, "components", j.wrong, g, after.view()));
    excused += j.excused;
  }
  CHECK(changed > static_cast<int>(graphs / 4));
  CHECK(excused < static_cast<int>(graphs * 3 / 8));
}

TEST_CASE("Law: sliced_operations::of keeps the meaning, bit by bit") {
  int changed = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = random_sample(seed, options_of(seed));
    ir::builder whole = ir::copy_of(s.graph.view()), parts = ir::copy_of(s.graph.view());
    for (ir::node_id id = 0; id < s.graph.count(); ++id) {
      const tenure::extents shape = s.graph.shape_of(id);
      if (shape.rank == 0 || !tenure::is_static(shape[0]) || shape[0] < 2) continue;
      const ops::value x = ops::sliced({whole, id}, 0, 1, shape[0] - 1, 1), y = ops::sliced({parts, id}, 0, 1, shape[0] - 1, 1);
      const ops::value in_parts = passes::sliced_operations::of(y);
      changed += in_parts.id != y.id;
      whole.output(x.id);
      parts.output(in_parts.id);
    }
    require_valid(seed, "sliced_operations", parts.view());
    const std::string wrong = exact_difference(reference_of(seed, whole.view(), s.arguments), reference_of(seed, parts.view(), s.arguments));
    if (!wrong.empty()) FAIL(report(seed, "sliced_operations", wrong, whole.view(), parts.view()));
  }
  CHECK(changed > static_cast<int>(graphs / 100));
}

TEST_CASE("Law: order_axes keeps the meaning, up to the order of sums and the sign of zero") {
  int excused = 0, changed = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = random_sample(seed, options_of(seed));
    const ir::builder before = passes::dead_code(passes::algebra(s.graph.view()).view());
    const ir::graph_view g = before.view();
    const ir::builder after = passes::order_axes(g);
    require_valid(seed, "order_axes", after.view());
    const auto permutes = [](const ir::graph_view& x) {
      return std::count_if(x.nodes, x.nodes + x.count, [](const ir::node& n) { return n.op == ir::opcode::permute; });
    };
    changed += permutes(passes::cse(after.view()).view()) < permutes(passes::cse(g).view());
    const judgement j = judge(g, s.arguments, reference_of(seed, g, s.arguments), reference_of(seed, after.view(), s.arguments));
    if (!j.wrong.empty()) FAIL(report(seed, "order_axes", j.wrong, g, after.view()));
    excused += j.excused;
  }
  CHECK(changed > static_cast<int>(graphs / 100));
  CHECK(excused < static_cast<int>(graphs / 20));
}

TEST_CASE("Law: join keeps the meaning, up to the order of sums and the sign of zero") {
  int excused = 0, joined = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = random_sample(seed, options_of(seed));
    const ir::builder before = passes::algebra(s.graph.view());
    const ir::graph_view g = before.view();
    if (!passes::may_join(g)) continue;
    const ir::builder after = passes::join(g);
    require_valid(seed, "join", after.view());
    const auto concats = [](const ir::graph_view& x) {
      return std::count_if(x.nodes, x.nodes + x.count, [](const ir::node& n) { return n.op == ir::opcode::concat; });
    };
    joined += concats(after.view()) > concats(g);
    const judgement j = judge(g, s.arguments, reference_of(seed, g, s.arguments), reference_of(seed, after.view(), s.arguments));
    if (!j.wrong.empty()) FAIL(report(seed, "join", j.wrong, g, after.view()));
    excused += j.excused;
  }
  CHECK(joined > static_cast<int>(graphs / 100));
  CHECK(excused < static_cast<int>(graphs / 20));
}

TEST_CASE("Law: materialize keeps the meaning, and then every output has memory of its own") {
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = random_sample(seed, options_of(seed));
    const ir::builder before = passes::algebra(s.graph.view());
    const ir::graph_view g = before.view();
    const ir::builder after = passes::materialize(g);
    const ir::graph_view m = after.view();
    require_valid(seed, "materialize", m);
    const auto memory_of = [&](int output) {
      ir::node_id id = m.outputs[output];
      while (m[id].op == ir::opcode::reshape) id = m[id].in[0];
      return id;
    };
    for (int i = 0; i < m.output_count; ++i) {
      const ir::opcode op = m[memory_of(i)].op;
      bool own = !passes::is_view(op) && !passes::is_source(op);
      for (int k = 0; k < i; ++k) own = own && memory_of(k) != memory_of(i);
      if (!own) FAIL(report(seed, "materialize", "an output shares its memory", g, m));
    }
    const std::string wrong = exact_difference(reference_of(seed, g, s.arguments), reference_of(seed, m, s.arguments));
    if (!wrong.empty()) FAIL(report(seed, "materialize", wrong, g, m));
  }
}

namespace {

/// The bytes of the arrays that the kernels of a plan read and write. Each kernel counts each buffer once, and once more if it both reads and
/// writes it: these are two parts of a concat. An array that is stretched along an axis does not count: a bias, one value for each row.
std::int64_t traffic(const ir::graph_view& g) {
  const passes::plan_builder p = passes::schedule(g);
  std::int64_t total = 0;
  for (const passes::step& s : p.steps) {
    if (!s.is_fused()) continue;
    const passes::kernel& k = p.kernels[s.kernel];
    std::set<int> written_accesses;
    for (int i = 0; i < k.instruction_count; ++i)
      if (const passes::instruction& x = p.instructions[k.first_instruction + i]; x.what == passes::instruction::kind::store)
        written_accesses.insert(s.first_access + x.access);
    std::set<std::pair<bool, int>> buffers;  // written or read, and which
    for (int a = s.first_access; a < s.first_access + s.access_count; ++a) {
      bool is_stretched = p.accesses[a].buffer < 0;
      for (int d = 0; d < k.outer + k.inner; ++d) is_stretched = is_stretched || p.strides[p.accesses[a].strides][d].factor == 0;
      if (!is_stretched) buffers.insert({written_accesses.count(a) > 0, p.accesses[a].buffer});
    }
    std::int64_t walked = 1;
    for (int d = 0; d < k.outer + k.inner; ++d) walked *= k.extent[d].factor;
    for (const auto& [is_written, b] : buffers) total += walked * size_of(p.buffers[b].type);
  }
  return total;
}

}  // namespace

TEST_CASE("Law: recompute keeps the meaning, and the steps read and write no more bytes than before") {
  int changed = 0, less = 0;
  const auto check = [&](std::uint64_t seed, const sample& s) {
    const ir::builder simple = passes::algebra(passes::dead_code(s.graph.view()).view());
    const ir::builder unique = passes::cse(passes::dead_code(simple.view()).view()), before = passes::materialize(unique.view());
    const ir::builder after = passes::recompute(before.view());
    require_valid(seed, "recompute", after.view());
    if (after.count() == before.count()) return;
    ++changed;
    const std::string wrong = exact_difference(reference_of(seed, before.view(), s.arguments), reference_of(seed, after.view(), s.arguments));
    if (!wrong.empty()) FAIL(report(seed, "recompute", wrong, before.view(), after.view()));
    if (before.view().symbol_count > 0) return;
    const std::int64_t was = traffic(before.view()), is = traffic(after.view());
    if (is > was) FAIL(report(seed, "recompute", "more bytes: " + std::to_string(was) + " -> " + std::to_string(is), before.view(), after.view()));
    less += is < was;
  };
  for (std::uint64_t seed = 0; seed < graphs; ++seed) check(seed, random_sample(seed, options_of(seed)));
  for (std::uint64_t seed = 0; seed < graphs / 2; ++seed) {
    const both_modes m(seed, {.nodes = 4 + static_cast<int>(seed % 37), .floating = true, .symbols = seed % 3 == 0, .strided = false});
    if (m.flows) check(seed, m.made);
  }
  CHECK(changed > static_cast<int>(graphs / 100));
  CHECK(less > changed / 2);
}

}  // namespace passes_tests

// SPDX-License-Identifier: BSL-1.0
// Random graphs with loops, branches and rules in each other: the passes keep their meaning, their derivatives are those of differences and
// of each other, and a batch is what its samples are one by one. In half of the graphs are checkpoints, rules of one's own, functions of
// C++, systems of equations, derivatives and batches too. A quarter of the graphs ends with a certain pair of these, one in the other: each
// pair occurs.
#include "../catch.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <tenure/passes/loops/merge_loops.hpp>
#include <tenure/passes/join.hpp>
#include <tenure/passes/loops/hoist.hpp>
#include <tenure/passes/loops/strided_slices.hpp>
#include <tenure/passes/recompute.hpp>
#include <tenure/passes/schedule.hpp>
#include <tenure/passes/shared_factors.hpp>
#include <tenure/passes/loops/trip_count_one.hpp>
#include <tenure/passes/verify.hpp>

#include "both_modes.hpp"
#include "judge.hpp"
#include "random_rules.hpp"

using namespace fuzz;

namespace control_flow_tests {
namespace {

// In so few graphs some pairs of an operation and what stands in it are not met. goes_on() makes more graphs while one is not.
const std::uint64_t graphs = 10000 / share * times();
using both = both_modes_of<rule_generator>;

bool has_rules(std::uint64_t seed) { return seed % 2 == 1; }
/// A quarter of the graphs contain a certain pair, each in its iteration. Functions of C++ stand anywhere.
constexpr part outer_parts[] = {part::scan, part::while_loop, part::cond, part::custom_jvp, part::custom_vjp, part::checkpoint, part::batch,
                                part::derivative};
constexpr part inner_parts[] = {part::scan, part::while_loop, part::cond, part::custom_jvp, part::custom_vjp, part::checkpoint,
                                part::update, part::solve, part::batch, part::derivative};
constexpr part parts_of_pulls[] = {part::scan, part::while_loop, part::reverse_while, part::cond, part::custom_jvp, part::checkpoint,
                                   part::update};
int pair_of(std::uint64_t seed) {
  if (seed % 8 != 3 && seed % 8 != 5) return -1;
  const std::uint64_t outer = seed / 8 % std::size(outer_parts), inner = seed / 8 / std::size(outer_parts) % std::size(inner_parts);
  return static_cast<int>(outer_parts[outer]) * parts + static_cast<int>(inner_parts[inner]);
}
/// In one graph of three.
int seldom_of(std::uint64_t seed) { return seed % 3 == 0 ? static_cast<int>(seed / 3 % seldom_made) : -1; }
options options_of(std::uint64_t seed) {
  return {.nodes = 4 + static_cast<int>(seed % 19), .symbols = seed % 3 == 0, .strided = seed % 2 == 0, .control_flows = true, .whiles = true,
          .rules = has_rules(seed), .no_forward = seed % 4 == 1, .pair = pair_of(seed), .seldom = seldom_of(seed)};
}
void require_valid(std::uint64_t seed, const char* after, const ir::graph_view& g) {
  const passes::verdict v = passes::verify(g);
  if (!v.ok()) FAIL(report(seed, after, std::string(v.what) + ": %" + std::to_string(v.node) + " " + std::to_string(v.lhs) + " " + std::to_string(v.rhs), g));
}
bool has_control_flow(const ir::graph_view& g) {
  for (int i = 0; i < g.count; ++i)
    if (g[i].op == ir::opcode::control_flow) return true;
  return false;
}

/// Whether all operands of loops and branches that have elements are row-major in memory, since a control-flow operation gets only pointers to them.
bool reads_row_major(const ir::graph_view& g) {
  const passes::plan_builder p = passes::schedule(g);
  bool all = true;
  for (const passes::step& s : p.steps) {
    if (s.op != ir::opcode::control_flow) continue;
    int at = s.first_access;
    ir::for_each_operand(g.nodes, g[s.node].in[0], [&](ir::node_id operand) {
      const passes::access& read = p.accesses[at++];
      const tenure::extents& shape = g.shape_of(operand);
      const passes::strides found = p.strides[read.strides], wanted = passes::row_major(operand, shape).stride;
      for (int a = 0; a < shape.rank && tenure::count(shape) != 0; ++a) all = all && (shape[a] == 1 || found[a] == wanted[a]);
    });
  }
  return all;
}

/// Whether no graph has to contain the pair. A custom_jvp or a custom_vjp contains what the derivative of its function computes: forward
/// mode goes through no custom_vjp and writes out the rule of another custom_jvp, reverse mode leaves none and no checkpoint, and it reads few of the values.
bool is_rare(part outer, part inner) {
  if (outer == part::custom_jvp) return inner == part::custom_jvp || inner == part::custom_vjp || inner == part::checkpoint;
  return outer == part::custom_vjp && inner != part::scan && inner != part::batch && inner != part::derivative;
}
/// A part that is in none of the graphs, or a pair that is in none, one in the other; empty if each is in some. The parts `none` are never made. With
/// both modes the graphs have cotangents.
std::string lacks(const census& found, std::initializer_list<part> none, bool has_both_modes) {
  const auto is_made = [&](part p) { return std::find(none.begin(), none.end(), p) == none.end(); };
  const auto has = [&](part outer, part inner) { return found.inside[static_cast<int>(outer)][static_cast<int>(inner)] > 0; };
  const auto text = [](part outer, part inner) { return std::string(name_of_part[static_cast<int>(inner)]) + " in " + name_of_part[static_cast<int>(outer)]; };
  for (int p = 0; p < parts; ++p)
    if (is_made(static_cast<part>(p)) && found.graphs_with[p] == 0) return name_of_part[p];
  for (const part outer : outer_parts)
    for (const part inner : inner_parts)
      if (is_made(outer) && is_made(inner) && !is_rare(outer, inner) && !has(outer, inner)) return text(outer, inner);
  for (const part inner : parts_of_pulls)
    if (has_both_modes && !has(part::reverse_while, inner)) return text(part::reverse_while, inner);
  for (const part outer : {part::scan, part::cond})
    if (has_both_modes && !has(outer, part::reverse_while)) return text(outer, part::reverse_while);
  return "";
}
void require_each(const census& found, std::initializer_list<part> none, bool has_both_modes = false) {
  INFO(found.text());
  CHECK(lacks(found, none, has_both_modes) == "");
}
/// Whether there is one more graph: up to a number of them, and up to all while something is met in none.
bool goes_on(std::uint64_t seed, std::uint64_t number, const census& found, std::initializer_list<part> none, bool has_both_modes = false) {
  return seed < number || (seed < share * number && !lacks(found, none, has_both_modes).empty());
}

int leaner = 0;    // graphs that hoist changes
/// The graph after hoist, which has bodies of its own.
ir::builder lean(std::uint64_t seed, const ir::graph_view& g, const std::vector<array>& arguments, const results& wanted) {
  ir::builder once = passes::hoist(g);
  require_valid(seed, "hoist", once.view());
  const std::string wrong = exact_difference(wanted, reference_of(seed, once.view(), arguments));
  if (!wrong.empty()) FAIL(report(seed, "hoist", wrong, g, once.view()));
  if (passes::needs_hoist(once.view())) FAIL(report(seed, "hoist", "something is left to do", g, once.view()));
  const ir::builder live = passes::dead_code(once.view()), twice = passes::hoist(live.view());
  const bool is_idempotent = text_of(live.view()) == text_of(passes::dead_code(twice.view()).view());
  if (!is_idempotent) FAIL(report(seed, "hoist", "not idempotent", live.view(), twice.view()));
  leaner += passes::needs_hoist(g);
  return once;
}

int replaced = 0;  // graphs in which a loop gave way to its derived loop
int strided = 0;   // graphs with a scan that reads slices of a view
int unrolled = 0;  // graphs with a scan of one iteration
// Law: trip_count_one keeps the meaning, and leaves no scan of one iteration outside bodies.
// Law: merge_loops keeps the meaning, and a loop that it replaces has no results left.
void require_same_after_passes(std::uint64_t seed, const ir::graph_view& g, const std::vector<array>& arguments, const results& wanted) {
  const ir::builder whole_loops = passes::dead_code(g), live = passes::trip_count_one(whole_loops.view());
  require_valid(seed, "trip_count_one", live.view());
  if (!(ir::sizes_of(live.view()) <= passes::sizes_with_trip_count_one(whole_loops.view())))
    FAIL(report(seed, "trip_count_one", "the graph is larger than its guess", g, live.view()));
  if (passes::has_trip_count_one(live.view())) FAIL(report(seed, "trip_count_one", "a scan of one iteration is left", g, live.view()));
  unrolled += passes::has_trip_count_one(whole_loops.view());
  const ir::builder taken = passes::merge_loops(live.view()), rest = passes::dead_code(taken.view());
  replaced += rest.count() < live.count();
  const results merged_values = reference_of(seed, rest.view(), arguments);
  if (const std::string wrong = exact_difference(wanted, merged_values); !wrong.empty()) FAIL(report(seed, "merge_loops", wrong, g, rest.view()));
  const ir::builder less = lean(seed, rest.view(), arguments, merged_values);
  const ir::builder hoisted = passes::dead_code(less.view()), in_place = passes::strided_slices(hoisted.view(), true).run();
  require_valid(seed, "strided_slices", in_place.view());
  if (const std::string wrong = exact_difference(merged_values, reference_of(seed, in_place.view(), arguments)); !wrong.empty())
    FAIL(report(seed, "strided_slices", wrong, hoisted.view(), in_place.view()));
  strided += passes::strided_slices::finds(hoisted.view(), true);
  const ir::builder needed = passes::dead_code(in_place.view()), smaller = passes::algebra(needed.view());
  const ir::builder joined = passes::join(passes::dead_code(smaller.view()).view());
  ir::builder merged = passes::cse(joined.view());
  if (constexpr passes::rows_that_share always{0, 0}; passes::needs_shared_factors(merged.view(), always)) merged = passes::share_factors(merged.view(), always);
  const ir::builder whole = passes::materialize(merged.view()), last = passes::recompute(whole.view());
  require_valid(seed, "the passes", last.view());
  if (!reads_row_major(last.view())) FAIL(report(seed, "the passes", "a control-flow operation reads what is not row-major", g, last.view()));
  const judgement j = judge(g, arguments, wanted, reference_of(seed, last.view(), arguments));
  if (!j.wrong.empty()) FAIL(report(seed, "the passes", j.wrong, g, last.view()));
}

struct inner {
  double sum = 0, size = 0;
  void add(const array& a, const array& b) {
    for (std::int64_t i = 0; i < a.size(); ++i) sum += a[i] * b[i], size += std::fabs(a[i] * b[i]);
  }
};

}  // namespace

// Law: hoist keeps the bits of all values, also after no iteration; is idempotent; leaves no product of captures in an iteration.
TEST_CASE("Law: the passes keep the meaning of graphs with loops and branches") {
  int tried = 0;
  census found;
  const auto goes_on_for_strided = [&](std::uint64_t seed) { return strided == 0 && seed < share * graphs; };  // one graph of a thousand
  for (std::uint64_t seed = 0; goes_on(seed, graphs, found, {}) || goes_on_for_strided(seed); ++seed) {
    rule_generator gen(seed, options_of(seed));
    const sample s = grown(gen);
    const ir::graph_view g = s.graph.view();
    require_valid(seed, "tracing", g);
    tried += has_control_flow(passes::dead_code(g).view());
    found.add(g, gen.made);
    const results wanted = reference_of(seed, g, s.arguments);
    lean(seed, g, s.arguments, wanted);
    require_same_after_passes(seed, g, s.arguments, wanted);
  }
  CHECK(tried > static_cast<int>(graphs / 4));
  CHECK(unrolled > 0);
  CHECK(strided > 0);
  CHECK(leaner > static_cast<int>(graphs / 20));
  require_each(found, {});
}

TEST_CASE("the random graphs contain each special function, and each result of lu and eigh") {
  std::vector<std::string> lacking{"lu 1", "lu 2", "eigh 0", "eigh 1"};
  const auto is_drawn = [](const std::string& name) {  // the others are derivatives of these, and stand in the graphs of derivatives
    for (const char* const other : {"random", "tetragamma", "series", "slope"})
      if (name.find(other) != std::string::npos) return false;
    return true;
  };
  for (int i = rounding_operations; i < ops::records::count; ++i)
    if (const std::string name = ops::records::value[i].name; is_drawn(name)) lacking.push_back(name);
  for (std::uint64_t seed = 0; seed < 10000 && !lacking.empty(); ++seed) {
    rule_generator gen(2 * seed + 1, options_of(2 * seed + 1));
    const sample s = grown(gen);
    const ir::builder live = passes::dead_code(s.graph.view());
    for (ir::node_id id = 0; id < live.count(); ++id) {
      const ir::node& n = live[id];
      if (n.op == ops::nodes::lu::code || n.op == ops::nodes::eigh::code) std::erase(lacking, (n.op == ops::nodes::lu::code ? "lu " : "eigh ") + std::to_string(n.start));
      else if (ops::is_pointwise(n.op)) std::erase(lacking, ops::record_of(n.op).name);
    }
  }
  CHECK(lacking == std::vector<std::string>{});
}

/// Whether two systems have one matrix. Then sharing its factors keeps the meaning, and afterwards no two do.
static bool shares_factors(std::uint64_t seed, const ir::graph_view& g, const std::vector<array>& arguments, const results& wanted) {
  constexpr passes::rows_that_share always{0, 0};
  const ir::builder unique = passes::cse(g);
  if (!passes::needs_shared_factors(unique.view(), always)) return false;
  const ir::builder after = passes::share_factors(unique.view(), always);
  require_valid(seed, "share_factors", after.view());
  if (passes::needs_shared_factors(after.view(), always)) FAIL(report(seed, "share_factors", "something is left to do", unique.view(), after.view()));
  const judgement j = judge(g, arguments, wanted, reference_of(seed, after.view(), arguments));
  if (!j.wrong.empty()) FAIL(report(seed, "share_factors", j.wrong, unique.view(), after.view()));
  return true;
}

TEST_CASE("Law: <Jv, w> = <v, J'w> through loops and branches, and sharing factors keeps the meaning") {
  int tried = 0, shared = 0;
  census found;
  for (std::uint64_t seed = 0; goes_on(seed, graphs, found, {part::custom_vjp}, true); ++seed) {
    const both m(seed, {.nodes = 3 + static_cast<int>(seed % 13), .smooth = true, .floating = true, .symbols = seed % 3 == 0, .strided = false, .control_flows = true,
                        .whiles = has_rules(seed), .rules = has_rules(seed), .pair = pair_of(seed), .seldom = seldom_of(seed)});
    if (!m.flows || !has_control_flow(passes::dead_code(m.made.graph.view()).view())) continue;
    const ir::graph_view g = m.made.graph.view();
    require_valid(seed, "derivative", g);
    const results r = reference_of(seed, g, m.made.arguments);
    const auto argument = [&](int i) -> const array& { return m.made.arguments[static_cast<std::size_t>(i)]; };
    inner left, right;
    for (std::size_t i = 0; i < m.y_count; ++i) left.add(r[m.y_count + i], argument(m.w[i]));
    for (std::size_t i = 0; i < m.x.size(); ++i) right.add(argument(m.v[i]), r[2 * m.y_count + i]);
    const double size = left.size + right.size;
    if (!std::isfinite(size) || size > 1e8) continue;
    ++tried;
    found.add(g, m.parts_made);
    const bool has_floats = std::any_of(m.made.arguments.begin(), m.made.arguments.end(), [](const array& x) { return x.type == tenure::dtype::float32; });
    if (!(std::fabs(left.sum - right.sum) <= (has_floats ? 1e-5 : 1e-9) * size + 1e-13)) FAIL(report(seed, "adjoint", difference(0, 0, left.sum, right.sum), g));
    shared += shares_factors(seed, g, m.made.arguments, r);
    if (seed % 4 == 1) require_same_after_passes(seed, g, m.made.arguments, r);
  }
  CHECK(tried > static_cast<int>(graphs / 6));
  CHECK(shared > static_cast<int>(graphs / 100));
  require_each(found, {part::custom_vjp}, true);
  CHECK(replaced > 0);
}

TEST_CASE("Law: derivatives through loops and branches are the limits of differences") {
  int tried = 0, tried_cotangents = 0;
  census found;
  for (std::uint64_t seed = 0; goes_on(seed, graphs, found, {}, true); ++seed) {
    const bool no_forward = seed % 4 == 1;
    const both m(seed + 10000, {.nodes = 3 + static_cast<int>(seed % 9), .smooth = true, .floating = true, .symbols = false, .strided = false, .control_flows = true,
                                .whiles = has_rules(seed), .rules = has_rules(seed), .no_forward = no_forward, .steady = true,
                                .pair = pair_of(seed), .seldom = seldom_of(seed)});
    if (!m.flows || !has_control_flow(passes::dead_code(m.made.graph.view()).view())) continue;
    const auto is_double = [&](int k) { return m.made.arguments[static_cast<std::size_t>(k)].type == tenure::dtype::float64; };
    if (!std::all_of(m.x.begin(), m.x.end(), is_double)) continue;  // the differences of floats say too little
    const ir::graph_view g = m.made.graph.view();
    require_valid(seed, "derivative", g);
    const results r = reference_of(seed, g, m.made.arguments);
    const auto argument = [&](int i) -> const array& { return m.made.arguments[static_cast<std::size_t>(i)]; };
    const auto at = [&](double h) {
      std::vector<array> x = m.made.arguments;
      for (std::size_t k = 0; k < m.x.size(); ++k)
        for (std::int64_t i = 0; i < x[static_cast<std::size_t>(m.x[k])].size(); ++i)
          x[static_cast<std::size_t>(m.x[k])].as<double>()[i] += h * x[static_cast<std::size_t>(m.v[k])][i];
      return tenure::reference::run(g, x);
    };
    const results far[] = {at(2e-4), at(-2e-4)}, near[] = {at(1e-4), at(-1e-4)};
    // The cotangents: differences of <w, y> along v.
    inner back;
    double wide = 0, narrow = 0, size = 0, open = 0;
    for (std::size_t i = 0; i < m.x.size(); ++i) back.add(argument(m.v[i]), r[2 * m.y_count + i]);
    for (std::size_t o = 0; o < m.y_count; ++o)
      for (std::int64_t i = 0; i < r[o].size(); ++i) {
        const double a = (far[0][o][i] - far[1][o][i]) / 4e-4, b = (near[0][o][i] - near[1][o][i]) / 2e-4, w = argument(m.w[o])[i];
        wide += w * a, narrow += w * b, size += std::fabs(w * r[o][i]), open += std::fabs(w * (b - a));
        const double jv = r[m.y_count + o][i];
        if (no_forward || !std::isfinite(r[o][i]) || !std::isfinite(a) || std::fabs(r[o][i]) > 1e6) continue;
        const double best = (4 * b - a) / 3, unsure = std::fabs(b - a) + 1e-10 * std::fabs(r[o][i]) / 1e-4;
        ++tried;
        if (!(std::fabs(best - jv) <= unsure + 1e-7 * (1 + std::fabs(jv)))) FAIL(report(seed, "difference", difference(o, i, best, jv), g));
      }
    if (!std::isfinite(wide) || !std::isfinite(size) || size > 1e6) continue;
    ++tried_cotangents;
    found.add(g, m.parts_made);
    const double best = (4 * narrow - wide) / 3;
    if (!(std::fabs(best - back.sum) <= open + 1e-6 * size + 1e-7 * (1 + back.size))) FAIL(report(seed, "difference of cotangents", difference(0, 0, best, back.sum), g));
  }
  CHECK(tried > 2000 / static_cast<int>(share));
  CHECK(tried_cotangents > static_cast<int>(graphs / 8));
  require_each(found, {}, true);
}

TEST_CASE("Law: a batch is its samples, one by one") {
  int tried = 0, with_control_flow = 0;
  census parts_found;
  for (std::uint64_t seed = 0; goes_on(seed, 2 * graphs, parts_found, {}); ++seed) {
    options o = options_of(seed / 2);
    o.symbols = o.strided = false;
    o.control_flows = seed % 2 == 0;
    o.rules = o.floating = o.control_flows && has_rules(seed / 2);
    if (!o.control_flows) o.pair = -1;
    rule_generator gen(seed, o);
    const generator::batch b = gen.grow_batch();
    ir::builder& g = gen.graph();
    ir::array<passes::batch_value> inputs;
    for (std::size_t i = 0; i < b.operands.size(); ++i) inputs.push_back({b.operands[i], b.is_mapped[i] != 0});
    passes::batching samples(g, b.samples);
    const auto found = samples.outputs(b.body, inputs);
    for (int i = 0; i < found.size(); ++i) g.output(samples.over(found[i]));
    parts_found.add(g.view().body_at(b.body), gen.made);
    for (const ir::node_id id : b.operands) g.output(id);  // the reference runs the body on slices of them
    const sample s = gen.take();
    const ir::graph_view all = s.graph.view();
    require_valid(seed, "batch", all);
    const results r = reference_of(seed, all, s.arguments);
    const std::size_t count = static_cast<std::size_t>(found.size());
    with_control_flow += has_control_flow(all.body_at(b.body));
    for (std::int64_t k = 0; k < b.samples; ++k) {
      std::vector<array> one;
      for (std::size_t i = 0; i < b.operands.size(); ++i) {
        const array& x = r[count + i];
        if (!b.is_mapped[i]) {
          one.push_back(x);
          continue;
        }
        array slice(x.type, ops::without_axes(x.shape, 1));
        const auto bytes = static_cast<std::size_t>(slice.size() * tenure::size_of(x.type));
        if (bytes > 0) std::memcpy(slice.data.data(), x.data.data() + static_cast<std::size_t>(k) * bytes, bytes);
        one.push_back(slice);
      }
      const results y = tenure::reference::run(all.body_at(b.body), one);
      for (std::size_t o2 = 0; o2 < count; ++o2)
        for (std::int64_t i = 0; i < y[o2].size(); ++i) {
          const double wanted = y[o2][i], got = r[o2][k * y[o2].size() + i];
          ++tried;
          if (!both_nan(wanted, got) && wanted != got && !(std::fabs(wanted - got) <= 1e-5 * std::fabs(wanted) + 1e-12)) FAIL(report(seed, "batch", difference(o2, i, wanted, got), all.body_at(b.body), all));
        }
    }
  }
  CHECK(tried > 20000 / static_cast<int>(share));
  CHECK(with_control_flow > static_cast<int>(graphs / 6));
  require_each(parts_found, {});
}

}  // namespace control_flow_tests

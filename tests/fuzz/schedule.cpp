// SPDX-License-Identifier: BSL-1.0
// Random graphs through the whole pipeline: the plan, walked record by record, means what the graph means; buffers that
// are alive together share no bytes.
#include "../catch.hpp"

#include <algorithm>

#include <tenure/passes/join.hpp>
#include <tenure/passes/legalize.hpp>
#include <tenure/passes/overwrite.hpp>
#include <tenure/passes/recompute.hpp>
#include <tenure/passes/shared_factors.hpp>

#include "judge.hpp"
#include "spread.hpp"

using namespace fuzz;
namespace passes = tenure::passes;

namespace schedule_tests {
namespace {

constexpr std::uint64_t graphs = 16000 / share;

/// The graph that program.hpp schedules.
ir::builder finished(const ir::graph_view& traced) {
  const ir::builder legal = passes::legalize(traced), live = passes::dead_code(legal.view());
  const ir::builder simple = passes::algebra(live.view());
  const ir::builder small = passes::dead_code(simple.view());
  const ir::builder joined = passes::join(small.view());
  ir::builder unique = passes::cse(joined.view());
  if (constexpr passes::rows_that_share always{0, 0}; passes::needs_shared_factors(unique.view(), always)) unique = passes::share_factors(unique.view(), always);
  return passes::recompute(passes::materialize(unique.view()).view());
}

options options_of(std::uint64_t seed) {
  return {.nodes = 4 + static_cast<int>(seed % 37), .symbols = seed % 3 == 0, .strided = seed % 2 == 0, .narrow = seed % 4 == 3};
}

}  // namespace

TEST_CASE("Law: a plan means what its graph means") {
  int excused = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = random_sample(seed, options_of(seed));
    const ir::builder graph = finished(s.graph.view());
    const ir::graph_view g = graph.view();
    const passes::plan_builder plan = passes::schedule(g);
    const spread_arguments spread(s, dice(seed));
    results got;
    try {
      got = tenure::reference::run(plan.view(g), spread.bound);
    } catch (const tenure::reference::plan_error& e) {
      FAIL(report(seed, "plan", e.what(), g));
    }
    const judgement j = judge(g, s.arguments, reference_of(seed, g, s.arguments), got);
    if (!j.wrong.empty()) FAIL(report(seed, "plan", j.wrong, g));
    excused += j.excused;
  }
  CHECK(excused < static_cast<int>(graphs / 20));
}

TEST_CASE("Law: a result may be computed in the memory of an argument that it may overwrite") {
  int shared = 0, by_update = 0, by_index_add = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = random_sample(seed, options_of(seed));
    const ir::builder graph = finished(s.graph.view());
    const ir::graph_view g = graph.view();
    const passes::plan_builder plan = passes::schedule(g);
    const passes::plan_view walked = plan.view(g);
    const passes::overwrites found(walked, static_cast<int>(s.arguments.size()), g.output_count);
    for (int i = 0; i < walked.buffer_count; ++i)
      for (int j = 0; j < walked.buffer_count; ++j) {
        const passes::buffer &a = walked.buffers[i], &r = walked.buffers[j];
        if (a.where != passes::buffer::place::argument || r.where != passes::buffer::place::result) continue;
        const bool may = passes::may_overwrite(walked, i, j, passes::no_control_flow{}, passes::in_every_call{});
        if (found.view().may(a.index, r.index) != may) FAIL(report(seed, "overwritten arguments", may ? "a pair is missing" : "a pair is wrong", g));
      }
    const results wanted = reference_of(seed, g, s.arguments);
    std::vector<int> overwritten(wanted.size(), -1);
    for (std::size_t r = 0; r < wanted.size(); ++r)
      for (std::size_t a = 0; a < s.arguments.size() && overwritten[r] < 0; ++a) {
        const bool fits = !s.strided[a] && s.arguments[a].type == wanted[r].type && s.arguments[a].size() == wanted[r].size() && wanted[r].size() > 0;
        const bool is_free = std::find(overwritten.begin(), overwritten.end(), static_cast<int>(a)) == overwritten.end();
        if (fits && is_free && found.view().may(static_cast<int>(a), static_cast<int>(r))) overwritten[r] = static_cast<int>(a);
      }
    if (std::all_of(overwritten.begin(), overwritten.end(), [](int a) { return a < 0; })) continue;
    ++shared;
    for (const passes::step& t : plan.steps) {
      const bool changes = t.op == ir::opcode::update || t.op == ir::opcode::index_add;
      if (changes && plan.buffers[plan.accesses[t.first_access + 1].buffer].where == passes::buffer::place::argument) ++(t.op == ir::opcode::update ? by_update : by_index_add);
    }
    const spread_arguments spread(s, dice(seed));
    const results got = tenure::reference::run(plan.view(g), spread.bound, overwritten);
    const std::string wrong = exact_difference(tenure::reference::run(plan.view(g), spread.bound), got);
    if (!wrong.empty()) FAIL(report(seed, "overwritten arguments", wrong, g));
  }
  CHECK(shared > static_cast<int>(graphs / 40));
  CHECK(by_update > 0);
  CHECK(by_index_add > 0);
}

TEST_CASE("Law: buffers that are alive in the same step never share bytes, except one in place of another in the step that reads the one and writes the other") {
  int in_place = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const sample s = random_sample(seed, options_of(seed));
    const ir::builder graph = finished(s.graph.view());
    const passes::plan_builder p = passes::schedule(graph.view());
    const spread_arguments spread(s, dice(seed));
    const std::vector<std::int64_t> symbols = tenure::reference::bind_symbols(graph.view(), spread.bound);
    const int n = p.buffers.size();
    std::vector<std::int64_t> offset(static_cast<std::size_t>(n) + 1);
    const std::int64_t peak = tenure::reference::detail::placed(p.view(graph.view()), symbols, offset.data(), seed % 2 == 1);
    // When each buffer is used, told again from the steps alone.
    std::vector<int> first(static_cast<std::size_t>(n), p.steps.size()), last(static_cast<std::size_t>(n), -1);
    for (int i = 0; i < p.steps.size(); ++i) {
      const passes::step& t = p.steps[i];
      for (int a = t.first_access; a < t.first_access + t.access_count; ++a)
        if (p.accesses[a].buffer >= 0) {
          const auto b = static_cast<std::size_t>(p.accesses[a].buffer);
          first[b] = std::min(first[b], i);
          last[b] = std::max(last[b], i);
        }
    }
    const auto bytes = [&](int b) { return passes::value_of(p.buffers[b].elements, symbols.data()) * tenure::size_of(p.buffers[b].type); };
    for (int a = 0; a < n; ++a) {
      if (p.buffers[a].where != passes::buffer::place::workspace) continue;
      const auto x = static_cast<std::size_t>(a);
      if (offset[x] < 0 || offset[x] + bytes(a) > peak || offset[x] % passes::costs::buffer_alignment != 0) FAIL(report(seed, "memory", "outside the workspace", graph.view()));
      for (int b = 0; b < a; ++b) {
        if (p.buffers[b].where != passes::buffer::place::workspace) continue;
        const auto y = static_cast<std::size_t>(b);
        const bool together = first[x] <= last[y] && first[y] <= last[x];
        const bool meet = bytes(a) > 0 && bytes(b) > 0 && offset[x] < offset[y] + bytes(b) && offset[y] < offset[x] + bytes(a);
        if (!together || !meet) continue;
        const auto is_over = [&](int from, int to) {  // the pass looks at all buffers of a step at once, and this function at one pair
          const auto i = static_cast<std::size_t>(from), j = static_cast<std::size_t>(to);
          return last[i] == first[j] && offset[i] == offset[j] && bytes(from) == bytes(to) && p.steps[last[i]].is_fused() &&
                 passes::overwrites_elementwise(p.view(graph.view()), p.steps[last[i]], from, to);
        };
        if (!is_over(a, b) && !is_over(b, a)) FAIL(report(seed, "memory", "two live buffers share bytes", graph.view()));
        ++in_place;
      }
    }
  }
  CHECK(in_place > static_cast<int>(graphs / 40));
}

}  // namespace schedule_tests

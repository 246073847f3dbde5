// SPDX-License-Identifier: BSL-1.0
// What judges loops and branches: the reference backend, which runs the graph as it was written, and differences.
#pragma once

#include "../catch.hpp"

#include <cmath>
#include <vector>

#include <tenure/backend/reference/run.hpp>
#include <tenure/passes/verify.hpp>
#include <tenure/tenure.hpp>

namespace judged {

namespace tn = tenure;

/// Copies of the leaves of all arguments.
template <class... X>
std::vector<tn::reference::array> copies_of(const X&... x) {
  std::vector<tn::reference::array> copies;
  const auto add = [&]<class L>(const L& leaf) {
    if constexpr (tn::any_tensor<L>) copies.emplace_back(leaf.extents(), leaf.data());
    else copies.emplace_back(tn::extents{}, &leaf);
  };
  (tn::detail::for_each_leaf(x, add), ...);
  return copies;
}

/// The results of f by the reference backend. The graph is verified before and after the passes.
template <class F, class... X>
std::vector<tn::reference::array> by_reference(F, const X&... x) {
  using program = tn::program<tn::detail::source_of<F, X...>>;
  const tn::passes::verdict v = tn::passes::verify(program::traced.view());
  if (!v.ok()) FAIL(v.what << ": %" << v.node << " " << v.lhs << " " << v.rhs);
  const tn::passes::verdict after = tn::passes::verify(program::value.view());
  if (!after.ok()) FAIL("after the passes: " << after.what << ": %" << after.node << " " << after.lhs << " " << after.rhs);
  return tn::reference::run(program::traced.view(), copies_of(x...));
}

/// The results of a graph by the reference backend. The graph gives the same results after each pass.
inline std::vector<tn::reference::array> same_after_passes(const tn::ir::builder& traced, const std::vector<tn::reference::array>& arguments) {
  REQUIRE(traced.view().refused.what == tn::ir::diagnostic::kind::nothing);
  const auto run = [&](const char* stage, const tn::ir::builder& b) {
    const tn::passes::verdict v = tn::passes::verify(b.view());
    if (!v.ok()) FAIL(stage << ": " << v.what << ": %" << v.node << " " << v.lhs << " " << v.rhs);
    return tn::reference::run(b.view(), arguments);
  };
  const auto written = run("trace", traced);
  const tn::ir::builder needed = tn::passes::dead_code(traced.view()), unrolled = tn::passes::trip_count_one(needed.view());
  const tn::ir::builder taken = tn::passes::merge_loops(unrolled.view()), fewer = tn::passes::dead_code(taken.view());
  const tn::ir::builder in_turn = tn::passes::with_samples_in_turn(fewer.view(), 0);
  run("samples in turn", in_turn);
  const tn::ir::builder lean = tn::passes::hoist(in_turn.view());
  run("hoist", lean);
  const tn::ir::builder hoisted = tn::passes::dead_code(lean.view()), in_place = tn::passes::strided_slices(hoisted.view(), true).run();
  run("strided slices", in_place);
  const tn::ir::builder live = tn::passes::dead_code(in_place.view());
  const tn::ir::builder smaller = tn::passes::algebra(live.view());
  const tn::ir::builder scalar = tn::passes::scalarize(tn::passes::dead_code(smaller.view()).view(), 2);
  const tn::ir::builder split = tn::passes::components(scalar.view(), 0);
  const tn::ir::builder joined = tn::passes::join(split.view());
  const tn::ir::builder whole = tn::passes::materialize(tn::passes::cse(joined.view()).view());
  const auto after = run("recompute", tn::passes::recompute(whole.view()));
  REQUIRE(after.size() == written.size());
  for (std::size_t r = 0; r < after.size(); ++r)
    for (std::int64_t i = 0; i < after[r].size(); ++i) {
      INFO("after the passes, result " << r << " element " << i);
      CHECK(after[r][i] == Approx(written[r][i]).epsilon(1e-11).margin(1e-11));
    }
  return written;
}

/// The results of f by the reference backend, from a graph that is traced and rewritten at run time. It does not compile f, so that
/// large programs take seconds.
template <class F, class... X>
std::vector<tn::reference::array> interpreted(F, const X&... x) {
  return same_after_passes(tn::detail::source_of<F, X...>::trace(), copies_of(x...));
}

/// The results of a compiled function, as arrays. The quick tests take the graph as written by the reference backend, which saves a second of compilation:
/// for derivatives, whose rules are what is judged.
template <class F, class... X>
std::vector<tn::reference::array> results(tn::compiled<F> f, const X&... x) {
#ifdef TENURE_QUICK_TESTS
  static_cast<void>(f);
  return tn::reference::run(tn::program_detail::traced_graph<tn::detail::source_of<F, X...>>.view(), copies_of(x...));
#else
  return copies_of(f(x...));
#endif
}

/// Compares results with those of the reference backend. A NaN is equal to a NaN.
template <class Results>
void agree(const Results& found, const std::vector<tn::reference::array>& expected, double tolerance = 1e-12) {
  std::size_t at = 0;
  tn::detail::for_each_leaf(found, [&](const auto& leaf) {
    REQUIRE(at < expected.size());
    const tn::reference::array& e = expected[at++];
    REQUIRE(e.size() == leaf.size());
    REQUIRE(e.shape == leaf.extents());
    for (std::int64_t i = 0; i < e.size(); ++i) {
      const double x = static_cast<double>(leaf.data()[i]);
      if (x == e[i]) continue;  // a message for each element would take most of the time
      INFO("result " << at - 1 << " element " << i);
      if (std::isnan(e[i])) CHECK(std::isnan(x));
      else CHECK(x == Approx(e[i]).epsilon(tolerance).margin(tolerance));
    }
  });
}

/// Compares compiled results with those of the reference backend.
template <class F, class... X>
void agrees_with_reference(const char* what, F f, const X&... x) {
  INFO(what);
  const std::vector<tn::reference::array> before = copies_of(x...), expected = by_reference(f, x...);
  agree(tn::compile(f)(x...), expected);
  const std::vector<tn::reference::array> after = copies_of(x...);  // a call changes none of its arguments
  for (std::size_t k = 0; k < before.size(); ++k)
    for (std::int64_t i = 0; i < before[k].size(); ++i)
      if (before[k][i] == before[k][i] && after[k][i] != before[k][i]) {
        INFO("argument " << k << " element " << i);
        CHECK(after[k][i] == before[k][i]);
      }
}

}  // namespace judged

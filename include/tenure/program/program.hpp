// SPDX-License-Identifier: BSL-1.0
// From a traced function to compiled code: the function and the types of its arguments give a graph, the passes rewrite it, and the
// schedule becomes kernel codes. The list of the stages is in `program`. Tests run verify() between the stages.
#pragma once

#include <tenure/passes/algebra.hpp>
#include <tenure/passes/axis_order.hpp>
#include <tenure/passes/components.hpp>
#include <tenure/passes/join.hpp>
#include <tenure/passes/groups.hpp>
#include <tenure/passes/legalize.hpp>
#include <tenure/passes/loops/all.hpp>
#include <tenure/passes/memory.hpp>
#include <tenure/passes/narrow_factors.hpp>
#include <tenure/passes/recompute.hpp>
#include <tenure/passes/scalarize.hpp>
#include <tenure/passes/shared_factors.hpp>
#include <tenure/passes/widen.hpp>
#include <tenure/program/encode.hpp>
#include <tenure/program/stage.hpp>

namespace TENURE_NAMESPACE {
namespace program_detail {

/// The first stage of program<Source>.
template <class Source>
struct tracing {
  static constexpr ir::graph_sizes guess() { return {256, 32, 32, 32, 8, 32}; }
  static constexpr ir::builder (*run)() = Source::trace;  // a pointer: a function around trace() would add a line to error messages
};
template <class Source>
using attempted_trace = attempted_stage<ir::graph_with_bodies, tracing<Source>>;

/// The graph of a source as written.
template <class Source>
inline constexpr auto& traced_graph = frozen_stage<ir::graph_with_bodies, tracing<Source>>::value;

/// A body of a program, as the program stores it. If no value in the body has a run-time extent, the body has no symbols. Its memory is then a
/// constant, and its kernels can be expanded, even if the trip count is known only at run time.
struct body_graph {
  ir::graph_view graph;
  ir::graph_sizes sizes;

  constexpr body_graph(const ir::graph_view& whole, int body) : graph(whole.body_at(body)) {
    if (!reads_symbols(graph)) graph.symbol_count = 0;
    sizes = ir::sizes_of(graph);
  }
  constexpr ir::graph_view view() const { return graph; }

 private:
  static constexpr bool reads_symbols(const ir::graph_view& g) {
    for (int i = 0; g.symbol_count > 0 && i < g.bound_count; ++i)
      if (!is_static(g.bounds[i].extent)) return true;
    for (int i = 0; g.symbol_count > 0 && i < g.count; ++i) {
      const ir::node& n = g[i];
      const extents& s = g.shape_of(i);
      for (int a = 0; a < s.rank; ++a)
        if (!is_static(s[a])) return true;
      if (n.op == ir::opcode::extent && !is_static(n.attr)) return true;
      const ir::found_control_flow c = g.find_control_flow(i);
      if (c == nullptr) continue;
      if (!is_static(c->length)) return true;
      for (const int b : c->bodies)
        if (b >= 0 && reads_symbols(g.body_at(b))) return true;
    }
    return false;
  }
};

/// The source of a body. A body is a separate program with the shapes and run-time extents of the whole program. Bodies of bodies have the
/// same Program, so a body that several other bodies contain is compiled once.
template <class Program, int Body>
struct body_source {
  static constexpr body_graph graph{Program::value.view(), Body};
};
template <class Program, int Body>
inline constexpr auto& traced_graph<body_source<Program, Body>> = body_source<Program, Body>::graph;

/// The fusion groups of a graph of `Nodes` nodes, as a constant. The number of nodes bounds the number of fusion groups.
template <int Nodes>
struct frozen_fusion_groups {
  ir::frozen<passes::fusion_group, Nodes> at;
  ir::frozen<std::int32_t, Nodes> of;
  ir::frozen<ir::node_id, Nodes> root;
  ir::frozen<char, Nodes> in_memory;
  ir::frozen<ir::node_id, Nodes> concats;
  int count, concat_count;

  constexpr explicit frozen_fusion_groups(const passes::fusion_groups_view& c) : frozen_fusion_groups(c, c.of == nullptr ? 0 : Nodes) {}
  constexpr frozen_fusion_groups(const passes::fusion_groups_view& c, int nodes)
      : at(c.at, c.count), of(c.of, nodes), root(c.root, nodes), in_memory(c.in_memory, nodes), concats(c.concats, c.concat_count),
        count(c.count), concat_count(c.concat_count) {}
  constexpr passes::fusion_groups_view view() const { return {at, count, of, root, in_memory, concats, concat_count}; }
};

/// The nodes that share a kernel.
template <auto& Graph>
struct fused_kernels {
#if defined(__CUDACC__)
  struct fusing {
    static constexpr passes::fusion_groups run() { return passes::fuse(Graph.view()); }
  };
  static constexpr frozen_fusion_groups<Graph.count> value = frozen_apart<frozen_fusion_groups<Graph.count>, fusing>();
#else
  static constexpr frozen_fusion_groups<Graph.count> value{passes::fuse(Graph.view()).view()};
#endif
};

template <int N>
struct word_list {
  std::int64_t at[N] = {};
};
template <class Words, std::size_t... I>
auto code_from(std::index_sequence<I...>) -> code<Words::words.at[I]...>;

}  // namespace program_detail

/// The compiled form of Source: graph, schedule, codes and tables. Source has `static constexpr ir::builder trace()`, or is a body.
template <class Source>
struct program {
 private:
  // ---- what each stage does; the list of the stages is below ----

  // A derivative adds many zeros, which are not work of a sample. So algebra comes before the decision, and without a loop its graph is not used.
  struct reduction {
    static constexpr ir::graph_sizes guess() { return passes::sizes_with_trip_count_one(traced.view()); }
    static constexpr ir::builder run() {
      const ir::builder live = passes::fewer_loops(traced.view());
      return passes::algebra(live.view());
    }
  };
  struct turning {
    static constexpr ir::graph_sizes guess() {
      ir::graph_sizes s = reduced.sizes;
      s.shapes += s.shapes + 16, s.bodies += 2, s.control_flows += 2, s.body_nodes += s.nodes + 32, s.body_outputs += 32;
      return s;
    }
    static constexpr ir::builder run() { return passes::with_samples_in_turn(reduced.view()); }
  };

  // Bodies are changed here and not where they become programs, because a value that is hoisted out of a body can be hoisted out of the body around it as well.
  struct hoisting {
    static constexpr ir::graph_sizes guess() {
      ir::graph_sizes s = passes::sizes_with_trip_count_one(turned.view());
      s.nodes += 32, s.shapes += 8, s.bodies *= 2, s.control_flows *= 2, s.body_nodes *= 2, s.body_outputs *= 2, s.body_bounds *= 2;
      return s;
    }
    static constexpr ir::builder run() { return passes::smaller_loops(turned.view()); }
  };
  struct as_written {
    static constexpr auto& value = program_detail::traced_graph<Source>;
  };

  struct simplification {
    static constexpr ir::graph_sizes guess() { return hoists ? with_hoisting.sizes : passes::sizes_with_trip_count_one(turned.view()); }
    static constexpr ir::builder run() {
      if (hoists) return simplified(passes::dead_code(with_hoisting.view()));  // no `?:`, because g++ 12 then frees the graph too early
      return simplified(passes::fewer_loops(turned.view()));
    }

   private:
    static constexpr ir::builder simplified(const ir::builder& live) {
      if (!passes::needs_legalize(live.view())) return smaller(live.view());
      const ir::builder legal = passes::legalize(live.view());
      return smaller(legal.view());
    }
    static constexpr ir::builder smaller(const ir::graph_view& g) {
      const ir::builder found = passes::algebra(g);
      if (!passes::may_widen(found.view())) return passes::dead_code(found.view());
      const ir::builder wide = passes::widen(found.view());
      return passes::dead_code(wide.view());
    }
  };
  struct ordering {
    static constexpr ir::graph_sizes guess() {
      ir::graph_sizes s = simple.sizes;
      s.nodes += 64, s.shapes += 32;
      return s;
    }
    static constexpr ir::builder run() { return passes::order_axes(simple.view()); }
  };
  struct scalarization {
    static constexpr ir::graph_sizes guess() {
      ir::graph_sizes s = ordered.sizes;
      s.nodes += 1024, s.shapes += 64;
      return s;
    }
    static constexpr ir::builder run() { return passes::scalarize(ordered.view()); }
  };
  struct splitting {
    static constexpr ir::graph_sizes guess() {
      ir::graph_sizes s = scalar.sizes;
      s.nodes = s.nodes * 3 + 64, s.shapes *= 2;
      return s;
    }
    static constexpr ir::builder run() { return passes::components(scalar.view()); }
  };
  struct joining {
    static constexpr ir::graph_sizes guess() { return split.sizes; }
    static constexpr ir::builder run() { return passes::join(split.view()); }
  };
  struct materialization {
    static constexpr ir::graph_sizes guess() {
      ir::graph_sizes s = joined.sizes;
      s.nodes += s.outputs + 16;
      return s;
    }
    static constexpr ir::builder run() {
      ir::builder g = passes::cse(joined.view());
      if (passes::needs_shared_factors(g.view())) g = passes::share_factors(g.view());
      if (passes::needs_narrow_factors(g.view())) g = passes::narrow_factors(g.view());
      return passes::materialize(g.view());
    }
  };
  struct recomputation {
    static constexpr ir::graph_sizes guess() {
      ir::graph_sizes s = materialized.sizes;
      s.nodes += s.nodes / 4 + 16;
      return s;
    }
    static constexpr ir::builder run() { return passes::recompute(materialized.view(), written_kernels::value.view()); }
  };

  struct scheduling {
    // Guesses: one access for each result and operand. In large graphs many instructions, kernels and strides are equal.
    static constexpr passes::plan_sizes guess() { return {value.count, 64, 2 * value.count + 8, 256, 32, fused.count}; }
    static constexpr passes::plan_builder run() {
      passes::plan_builder p = passes::schedule(value.view(), fused.view());
      passes::hold_operands_of_groups(p, value.view());
      return p;
    }
  };
  struct encoding {
    static constexpr program_detail::table_sizes guess() {
      int words = 0;
      for (int i = 0; i < plan.sizes.kernels; ++i) {
        const passes::kernel& k = plan.kernels[i];
        words += 1 + (1 + k.access_count) * (2 + k.outer + k.inner) + 2 * k.instruction_count;
      }
      return {words, plan.sizes.kernels, words + 128, plan.sizes.accesses, plan.sizes.steps, plan.sizes.buffers};
    }
    static constexpr program_detail::encoder run() { return program_detail::encoder(plan.view(value.view())); }
  };

  template <bool Runs, class Stage, class Before>
  using stage_if = std::conditional_t<Runs, program_detail::frozen_stage<ir::graph, Stage>, Before>;

 public:
  // ---- the stages, in order: each stage reads the result of the stage before it; a stage with nothing to do is left out ----

  /// The trace: the graph as written, with the derivatives that a transform took (passes/differentiate.hpp).
  static constexpr auto& traced = as_written::value;

 private:
  /// The passes of passes/loops/all.hpp. A body skips these stages: it was changed together with its loop.
  template <bool Runs, class Stage, class Before>
  using loop_stage_if = std::conditional_t<Runs, program_detail::frozen_stage<ir::graph_with_bodies, Stage>, Before>;
  static constexpr bool reduces = passes::may_have_samples_in_turn(traced.view());
  static constexpr auto& reduced = loop_stage_if<reduces, reduction, as_written>::value;
  using turned_stage = loop_stage_if<reduces && passes::finds_samples_in_turn(reduced.view()), turning, as_written>;
  static constexpr auto& turned = turned_stage::value;
  static constexpr bool hoists = !traced.view().is_body && passes::has_smaller_loops(turned.view());
  using hoisting_stage = loop_stage_if<hoists, hoisting, turned_stage>;
  static constexpr auto& with_hoisting = hoisting_stage::value;
  /// Rewrites: algebra, the order of axes, scalarize, components, join.
  using simple_stage = program_detail::frozen_stage<ir::graph, simplification>;
  static constexpr auto& simple = simple_stage::value;
  using ordered_stage = stage_if<passes::may_order_axes(simple.view()), ordering, simple_stage>;
  static constexpr auto& ordered = ordered_stage::value;
  using scalar_stage = stage_if<passes::may_scalarize(ordered.view()), scalarization, ordered_stage>;
  static constexpr auto& scalar = scalar_stage::value;
  using split_stage = stage_if<passes::may_have_components(scalar.view()), splitting, scalar_stage>;
  static constexpr auto& split = split_stage::value;
  using joined_stage = stage_if<passes::may_join(split.view()), joining, split_stage>;
  static constexpr auto& joined = joined_stage::value;
  /// Kernels: cse, materialize and fuse. If kernels should compute some values again, also recompute and a second fuse.
  using materialized_stage = program_detail::frozen_stage<ir::graph, materialization>;
  static constexpr auto& materialized = materialized_stage::value;
  using written_kernels = program_detail::fused_kernels<materialized>;
  static constexpr bool recomputes = passes::recomputes(materialized.view(), written_kernels::value.view());

 public:
  /// The graph that is scheduled.
  static constexpr auto& value = stage_if<recomputes, recomputation, materialized_stage>::value;
  static_assert(value.refused.what != ir::diagnostic::kind::shapes, "tenure: trace: more different shapes in one function than a graph can hold (32767)");
  static_assert(value.symbol_count < 255, "tenure: trace: more than 254 run-time extents and strides in one function");

 private:
  static constexpr auto& fused = program_detail::fused_kernels<value>::value;

 public:
  /// The plan: schedule.
  static constexpr auto& plan = program_detail::frozen_stage<passes::frozen_plan, scheduling>::value;
  /// The codes and tables: encode.
  static constexpr auto& tables = program_detail::frozen_stage<program_detail::frozen_tables, encoding>::value;
  static constexpr int step_count = tables.sizes.steps, kernel_count = tables.sizes.codes, buffer_count = tables.sizes.buffers,
                       number_count = tables.sizes.numbers, binding_count = tables.sizes.bindings;
  static constexpr int symbol_count = value.symbol_count;
  static constexpr bool is_static = symbol_count == 0;
  /// The steps that run together, a few rows at a time.
  static constexpr passes::row_groups<step_count> groups{plan.view(value.view())};

 private:
  // A separate array for each kernel, because compilers need more than constant time to read an element of a large constant.
  template <int K>
  struct kernel_words {
    static constexpr int size = tables.first_word[K + 1] - tables.first_word[K];
    static constexpr auto words = [] {
      program_detail::word_list<size> w;
      for (int i = 0; i < size; ++i) w.at[i] = tables.words[tables.first_word[K] + i];
      return w;
    }();
  };

 public:
  /// The code of kernel K.
  template <int K>
  using code_of = decltype(program_detail::code_from<kernel_words<K>>(std::make_index_sequence<static_cast<std::size_t>(kernel_words<K>::size)>{}));
};

}  // namespace tenure

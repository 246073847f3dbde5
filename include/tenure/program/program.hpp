// SPDX-License-Identifier: BSL-1.0
// The one splice from values to types: a traced function over argument types becomes a graph, the graph goes through the
// passes, the schedule becomes kernel codes. Each result is a static constexpr of its own, evaluated once.
#pragma once

#include <tenure/ir/graph.hpp>
#include <tenure/passes/memory.hpp>
#include <tenure/program/encode.hpp>

namespace tenure {
namespace program_detail {

/// The arrays of an encoder, frozen at exactly their sizes.
template <int Words, int Kernels, int Bindings, int Numbers, int Steps, int Buffers>
struct tables {
  // No `= {}`: see ir::graph.
  std::int64_t words[Words + 1];
  int first_word[Kernels + 1];
  binding bindings[Bindings + 1];
  passes::number numbers[Numbers + 1];
  bound_step steps[Steps + 1];
  passes::buffer buffers[Buffers + 1];
  passes::kernel kernels[Kernels + 1];

  constexpr tables(const encoder& e, const passes::plan_view& p) {
    for (int i = 0; i < e.words.size(); ++i) words[i] = e.words[i];
    words[Words] = 0;
    for (int i = 0; i < e.first_word.size(); ++i) first_word[i] = e.first_word[i];
    for (int i = 0; i < e.bindings.size(); ++i) bindings[i] = e.bindings[i];
    for (int i = 0; i < e.numbers.size(); ++i) numbers[i] = e.numbers[i];
    for (int i = 0; i < e.steps.size(); ++i) steps[i] = e.steps[i];
    for (int i = 0; i < p.buffer_count; ++i) buffers[i] = p.buffers[i];
    for (int i = 0; i < p.step_count; ++i)
      if (p.steps[i].what == passes::step::kind::fused) kernels[e.steps[i].kernel] = p.kernels[p.steps[i].kernel];
  }
};

struct table_sizes {
  int words = 0, kernels = 0, bindings = 0, numbers = 0, steps = 0, buffers = 0;
};

template <int N>
struct word_list {
  std::int64_t at[N] = {};
};
template <class Words, std::size_t... I>
auto code_from(std::index_sequence<I...>) -> code<Words::words.at[I]...>;

}  // namespace program_detail

/// The compiled form of Source, which has `static constexpr ir::builder trace()`: graph, schedule, codes and tables.
template <class Source>
struct program {
  static constexpr ir::graph_sizes traced_sizes = ir::sizes_of(Source::trace().view());
  using graph_type = ir::graph<traced_sizes.nodes, traced_sizes.shapes, traced_sizes.symbols, traced_sizes.constraints, traced_sizes.bounds, traced_sizes.outputs>;

  /// The graph as written (with derivatives, if a transform took them).
  static constexpr graph_type traced{Source::trace().view()};
  static constexpr graph_type live{passes::dead_code(traced.view()).view()};

 private:
  // Simplification may leave operands behind that nothing uses, so its builder can outgrow the input until they are dropped.
  static constexpr ir::builder simplified() {
    const ir::builder smaller = passes::simplify(live.view());
    return passes::dead_code(smaller.view());
  }
  static constexpr ir::graph_sizes simplified_sizes = ir::sizes_of(simplified().view());
  using simplified_type = ir::graph<simplified_sizes.nodes, simplified_sizes.shapes, simplified_sizes.symbols, simplified_sizes.constraints, simplified_sizes.bounds, simplified_sizes.outputs>;
  static constexpr simplified_type simple{simplified().view()};

  static constexpr ir::builder finished() {
    const ir::builder unique = passes::cse(simple.view());
    return passes::materialize(unique.view());
  }
  static constexpr ir::graph_sizes final_sizes = ir::sizes_of(finished().view());

 public:
  static_assert(final_sizes.symbols < 255, "tenure: trace: more than 254 run-time extents and strides in one function");

  /// The graph that is scheduled.
  static constexpr ir::graph<final_sizes.nodes, final_sizes.shapes, final_sizes.symbols, final_sizes.constraints, final_sizes.bounds, final_sizes.outputs> value{finished().view()};

 private:
  // One evaluation a stage, each with the compiler's whole budget of constexpr steps.
  static constexpr int cluster_count = passes::fuse(value.view()).at.size();
  struct frozen_clusters {
    passes::cluster at[cluster_count + 1];
    std::int32_t of[final_sizes.nodes + 1];

    constexpr explicit frozen_clusters(const passes::clusters& c) {
      for (int i = 0; i < c.at.size(); ++i) at[i] = c.at[i];
      for (int i = 0; i < c.of.size(); ++i) of[i] = c.of[i];
      of[final_sizes.nodes] = -1;
    }
    constexpr passes::clusters_view view() const { return {at, cluster_count, of}; }
  };
  static constexpr frozen_clusters fused{passes::fuse(value.view())};

  static constexpr passes::plan_view count_plan() {
    const passes::plan_builder plan = passes::schedule(value.view(), fused.view());
    passes::plan_view counts;
    counts.buffer_count = plan.buffers.size(), counts.access_count = plan.accesses.size();
    counts.instruction_count = plan.instructions.size(), counts.kernel_count = plan.kernels.size(), counts.step_count = plan.steps.size();
    return counts;
  }
  static constexpr passes::plan_view plan_counts = count_plan();
  using plan_type = passes::frozen_plan<plan_counts.buffer_count, plan_counts.access_count, plan_counts.instruction_count, plan_counts.kernel_count, plan_counts.step_count>;
  static constexpr plan_type freeze_plan() {
    const passes::plan_builder plan = passes::schedule(value.view(), fused.view());
    return plan_type(plan.view(value.view()));
  }

 public:
  static constexpr plan_type plan = freeze_plan();

 private:
  static constexpr program_detail::table_sizes measure() {
    const program_detail::encoder e(plan.view(value.view()));
    return {e.words.size(), e.first_word.size() - 1, e.bindings.size(), e.numbers.size(), e.steps.size(), plan_counts.buffer_count};
  }
  static constexpr program_detail::table_sizes sizes = measure();
  using tables_type = program_detail::tables<sizes.words, sizes.kernels, sizes.bindings, sizes.numbers, sizes.steps, sizes.buffers>;
  static constexpr tables_type encode() { return tables_type(program_detail::encoder(plan.view(value.view())), plan.view(value.view())); }

 public:
  static constexpr tables_type tables = encode();
  static constexpr int step_count = sizes.steps, kernel_count = sizes.kernels, buffer_count = sizes.buffers, number_count = sizes.numbers,
                       binding_count = sizes.bindings;
  static constexpr int symbol_count = final_sizes.symbols;
  static constexpr bool is_static = symbol_count == 0;

 private:
  // An array of its own for each kernel: compilers look up an element of a large constant in more than constant time.
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

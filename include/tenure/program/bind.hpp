// SPDX-License-Identifier: BSL-1.0
// Binds a program to memory for one call: the places of its buffers, the pointers that a step reads, and the results that wait for a check. All
// backends use this header to run their step tables.
#pragma once

#include <tenure/core/config.hpp>
#include <tenure/program/bodies.hpp>
#include <tenure/program/kinds.hpp>
#include <tenure/program/operations.hpp>
#include <tenure/program/program.hpp>

namespace TENURE_NAMESPACE {
namespace program_detail {

/// The memory of one call: a pointer for each argument and each result, the workspace, and the run-time extents.
struct call_memory {
  const void* const* arguments;
  void* const* results;
  void* workspace;
  const std::int64_t* symbols;
};

/// The commit of a call whose results no other object can see yet. It does nothing. The commit of other calls raises version numbers.
struct no_commit {
  constexpr void operator()() const {}
};

/// Whether a program has temporaries: buffers that one step writes and a later step reads.
template <class Program>
inline constexpr bool has_workspace = [] {
  for (int i = 0; i < Program::buffer_count; ++i)
    if (Program::tables.buffers[i].where == passes::buffer::place::workspace) return true;
  return false;
}();

/// The places of the buffers of a program in its workspace, for given run-time extents. waits(step): whether the rows that a step of a group computes are
/// never in memory as a whole. They have no place.
template <class Program>
struct placement {
  std::int64_t offset[Program::buffer_count + 1] = {};
  std::int64_t bytes = 0;  // peak

  constexpr explicit placement(const std::int64_t* symbols) : placement(symbols, [](int) { return false; }) {}
  template <class Waits>
  constexpr placement(const std::int64_t* symbols, [[maybe_unused]] const Waits& waits) {
    if constexpr (has_workspace<Program>) {
      bool has_place[Program::buffer_count] = {};
      for (bool& x : has_place) x = true;
      if constexpr (Program::groups.any()) {  // nvcc does not read the braces of a for without these
        for (int s = 0; s < Program::step_count; ++s) {
          if (Program::groups.at[s].kernel < 0) continue;
          const bound_step& step = Program::tables.steps[s];
          const int rows = Program::tables.bindings[step.first_binding + step.binding_count - 1].buffer;
          has_place[rows] = Program::tables.buffers[rows].is_passed_on || !waits(s);  // another temporary needs memory that is passed on
        }
      }
      const auto place = [&](std::int64_t* offsets, bool backwards) {
        passes::placement_scratch<Program::buffer_count, Program::step_count> scratch;
        return passes::place_buffers(Program::tables.buffers, Program::buffer_count, Program::step_count, symbols, offsets, scratch, backwards, has_place);
      };
      bytes = place(offset, false);
      if constexpr (Program::is_static) {  // with run-time extents each call places its buffers, so there only one order is tried
        std::int64_t other[Program::buffer_count + 1] = {};
        if (const std::int64_t backwards = place(other, true); backwards < bytes) {
          bytes = backwards;
          for (int i = 0; i < Program::buffer_count; ++i) offset[i] = other[i];
        }
      }
    }
  }
};

template <class Program>
inline constexpr placement<Program> static_placement{nullptr};

template <class Program>
TENURE_INLINE char* base_of(const call_memory& m, const std::int64_t* offsets, int buffer) {
  const passes::buffer& b = Program::tables.buffers[buffer];
  switch (b.where) {
    case passes::buffer::place::argument: return static_cast<char*>(const_cast<void*>(m.arguments[b.index]));
    case passes::buffer::place::result: return static_cast<char*>(m.results[b.index]);
    default: return static_cast<char*>(m.workspace) + offsets[buffer];
  }
}

/// The address where an access begins. An access that counts positions has no address: its start is one of the step's numbers.
template <class Program>
TENURE_INLINE void* pointer_of(const call_memory& m, const std::int64_t* offsets, const binding& b) {
  if (b.buffer < 0) return nullptr;
  const std::int64_t offset = passes::value_of(b.offset, m.symbols);
  return base_of<Program>(m, offsets, b.buffer) + offset * size_of(Program::tables.buffers[b.buffer].type);
}

/// The largest number of bindings, or of numbers, of a step. It is at least 1.
template <class Program>
constexpr int max_count(int bound_step::*count) {
  int most = 1;
  for (int i = 0; i < Program::step_count; ++i)
    if (const int n = Program::tables.steps[i].*count; n > most) most = n;
  return most;
}

// What a call reads of its graph when it runs, as constants of a few bytes. Otherwise the object file would hold the whole graph, and the compiler would
// read the rules of all operations.

/// The bounds of computed indices.
template <class Program>
inline constexpr auto bounds_of = Program::value.bounds;

/// The extents of each result.
template <class Program>
inline constexpr auto output_extents = [] {
  struct {
    extents at[Program::value.output_count + 1] = {};
  } all;
  for (int i = 0; i < Program::value.output_count; ++i) all.at[i] = Program::value.shapes[Program::value.nodes[Program::value.outputs[i]].shape];
  return all;
}();

/// An argument, or a view of an argument, that holds indices. They must lie in [0, extent).
struct index_argument {
  ir::bound bound;
  dtype type = dtype::int64;
  int argument = 0, rank = 0;
  passes::symbolic_size extent{}, shape[max_rank] = {};
  passes::layout place{};
};
struct index_argument_list {
  const index_argument* at;
  int count;
};

template <class Program>
struct index_arguments_of {
  index_argument at[Program::value.bound_count + 1] = {};
  int count = 0;

  constexpr index_arguments_of() {
    const ir::graph_view g = Program::value.view();
    for (int i = 0; i < g.bound_count; ++i) {
      const ir::bound& b = g.bounds[i];
      const passes::layout l = passes::layout_of(g, b.indices);
      const ir::node& root = g[l.root];
      if (root.op != ir::opcode::input) continue;
      index_argument& x = at[count++];
      const extents& s = g.shape_of(b.indices);
      x.bound = b, x.type = root.type, x.argument = static_cast<int>(root.attr), x.rank = s.rank, x.extent = passes::symbolic_size_of(b.extent), x.place = l;
      for (int a = 0; a < s.rank; ++a) x.shape[a] = passes::symbolic_size_of(s[a]);
    }
  }
  constexpr operator index_argument_list() const { return {at, count}; }
};
template <class Program>
inline constexpr index_arguments_of<Program> index_arguments{};

/// Calls check(bound, type, first, indices, extent) for each of these arguments.
template <class Check>
void for_each_index_argument(const index_argument_list& list, const void* const* arguments, const std::int64_t* symbols, Check check) {
  for (int i = 0; i < list.count; ++i) {
    const index_argument& x = list.at[i];
    operand_view v;
    for (; v.rank < x.rank; ++v.rank) {
      v.extent[v.rank] = passes::value_of(x.shape[v.rank], symbols);
      v.stride[v.rank] = passes::value_of(x.place.stride[v.rank], symbols);
    }
    const auto* const first = static_cast<const char*>(arguments[x.argument]) + passes::value_of(x.place.offset, symbols) * size_of(x.type);
    check(x.bound, x.type, first, v, passes::value_of(x.extent, symbols));
  }
}

/// Whether a control-flow operation of a graph, or one in its bodies, calls a function of the user.
constexpr bool calls_function(const ir::graph_view& g) {
  for (int i = 0; i < g.count; ++i) {
    const ir::found_control_flow c = g.find_control_flow(i);
    if (c == nullptr) continue;
    if (c->what == ir::control_flow::kind::external) return true;
    for (const int b : c->bodies)
      if (b >= 0 && calls_function(g.body_at(b))) return true;
  }
  return false;
}
template <class Program>
inline constexpr bool calls_functions = calls_function(Program::value.view());

/// The last step that may refuse an index or throw, or -1 if no step does.
template <class Program>
inline constexpr int last_check = passes::last_check(Program::plan.view(Program::value.view()));

/// The results that are written before the last check has passed. They are written to separate memory of `total` bytes first.
template <class Program>
struct waiting_results {
  static constexpr int outputs = Program::value.output_count;
  std::int64_t bytes[outputs] = {}, offset[outputs] = {}, total = 0;  // 0 bytes: the result is written directly

  constexpr explicit waiting_results(const std::int64_t* symbols) {
    for (int i = 0; i < Program::buffer_count; ++i) {
      const passes::buffer& b = Program::tables.buffers[i];
      if (b.where != passes::buffer::place::result || b.first > last_check<Program>) continue;
      bytes[b.index] = passes::value_of(b.elements, symbols) * size_of(b.type);
      offset[b.index] = total;
      total += passes::padded_bytes(b, symbols);
    }
  }
  /// Calls run(written) with the memory into which the steps write. Then calls copy(to, from, bytes) for each result in separate memory.
  template <class Run, class Copy>
  void through(void* beside, void* const* results, Run run, Copy copy) const {
    void* written[outputs];
    for (int i = 0; i < outputs; ++i) written[i] = bytes[i] > 0 ? static_cast<char*>(beside) + offset[i] : results[i];
    run(written);
    for (int i = 0; i < outputs; ++i)
      if (bytes[i] > 0) copy(results[i], written[i], bytes[i]);
  }
};

}  // namespace program_detail
}  // namespace tenure

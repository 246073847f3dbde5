// SPDX-License-Identifier: BSL-1.0
// Binds a program to memory for one call: the places of its buffers, and the pointers and numbers that a step reads. All backends use
// this header to run their step tables.
#pragma once

#include <tenure/core/config.hpp>
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

/// The places of the buffers of a program in its workspace, for given run-time extents.
template <class Program>
struct placement {
  std::int64_t offset[Program::buffer_count + 1] = {};
  std::int64_t bytes = 0;  // peak

  constexpr explicit placement(const std::int64_t* symbols) {
    if constexpr (has_workspace<Program>) {
      const auto place = [&](std::int64_t* offsets, bool backwards) {
        passes::placement_scratch<Program::buffer_count, Program::step_count> scratch;
        return passes::place_buffers(Program::tables.buffers, Program::buffer_count, Program::step_count, symbols, offsets, scratch, backwards);
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

/// Whether two steps that are not kernels run the same code with other pointers and numbers: an operation on one element type, or one control-flow
/// operation.
constexpr bool is_like(const bound_step& a, const bound_step& b) { return a.op == b.op && a.type == b.type && a.control_flow == b.control_flow; }

/// A step of each kind that a program has, kernels apart. A kernel has its code.
template <class Program>
struct kinds_of_steps {
  int at[Program::step_count + 1] = {}, count = 0;
  bool has_control_flow = false, has_opaque = false;

  constexpr kinds_of_steps() {
    for (int i = 0; i < Program::step_count; ++i) {
      const bound_step& s = Program::tables.steps[i];
      bool is_new = !s.is_fused();
      for (int k = 0; is_new && k < count; ++k) is_new = !is_like(Program::tables.steps[at[k]], s);
      if (is_new) at[count++] = i, (s.is_opaque() ? has_opaque : has_control_flow) = true;
    }
  }
};
template <class Program>
inline constexpr kinds_of_steps<Program> kinds{};

/// Whether every step is a fused kernel.
template <class Program>
inline constexpr bool only_kernels = kinds<Program>.count == 0;

/// Calls f<S>() for the kind of a step that is not a kernel. S is a step of this kind. Code is compiled once for a kind.
template <class Program, class F>
TENURE_INLINE constexpr void visit_kind(const bound_step& s, const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    [[maybe_unused]] const auto runs = [&]<int S>() {
      const bool is_this = is_like(s, Program::tables.steps[S]);
      if (is_this) f.template operator()<S>();
      return is_this;
    };
    static_cast<void>((runs.template operator()<kinds<Program>.at[I]>() || ...));
  }(std::make_integer_sequence<int, kinds<Program>.count>{});
}

/// Calls f(operation, element_tag) with the operation and the element type of an opaque step, both as types.
template <class Program, class F>
TENURE_INLINE constexpr void visit_opaque(const bound_step& step, const F& f) {
  visit_kind<Program>(step, [&]<int S>() {
    constexpr bound_step s = Program::tables.steps[S];
    if constexpr (s.is_opaque()) f(std::integral_constant<ir::opcode, s.op>{}, element_tag<element_of_t<s.type>>{});
  });
}

/// Calls f(number) with the number of the step's control-flow operation as a type.
template <class Program, class F>
constexpr void visit_control_flow(const bound_step& step, const F& f) {
  visit_kind<Program>(step, [&]<int S>() {
    constexpr int c = Program::tables.steps[S].control_flow;
    if constexpr (c >= 0) f(std::integral_constant<int, c>{});
  });
}

/// Whether the program has an opaque step with this operation and element type.
template <class Program>
constexpr bool has_step(ir::opcode op, dtype type) {
  for (int i = 0; i < kinds<Program>.count; ++i)
    if (is_like(Program::tables.steps[kinds<Program>.at[i]], {.op = op, .type = type})) return true;
  return false;
}

/// The program of a body. A body number counts the bodies of the whole program, also if another body contains this body.
template <class Program>
struct whole_program { using type = Program; };
template <class Program, int Body>
struct whole_program<program<body_source<Program, Body>>> { using type = Program; };
template <class Program, int Body>
using body_program = program<body_source<typename whole_program<Program>::type, Body>>;

/// Control-flow operation C of a program, and the programs of its bodies.
template <class Program, int C>
struct control_flow_at {
  static constexpr ir::control_flow value = Program::value.bodies.control_flows[C];
  template <int B>
  using body = body_program<Program, value.bodies[B]>;
};

/// The sizes of the inputs and outputs of a body. A run reads these constants, so that the graph is not part of the executable.
template <class Body>
struct body_sizes {
  struct size {
    passes::symbolic_size elements{1, 0};
    std::int64_t bytes = 0;  // of an element
    dtype type = dtype::float32;
  };
  size input[Body::value.input_count + 1] = {}, output[Body::value.output_count + 1] = {};

  constexpr body_sizes() {
    const ir::graph_view g = Body::value.view();
    const auto size_of_node = [&](ir::node_id id) {
      size s{.bytes = size_of(g[id].type), .type = g[id].type};
      for (int a = 0; a < g.shape_of(id).rank; ++a) s.elements = s.elements * passes::symbolic_size_of(g.shape_of(id)[a]);
      return s;
    };
    for (int i = 0; i < g.count; ++i)
      if (g[i].op == ir::opcode::input) input[g[i].attr] = size_of_node(i);
    for (int i = 0; i < g.output_count; ++i) output[i] = size_of_node(g.outputs[i]);
  }
};
template <class Body>
inline constexpr body_sizes<Body> sizes_of_body{};

/// The number of bytes of input or output i of a body.
template <class Body>
constexpr std::int64_t bytes_of_input(int i, const std::int64_t* symbols) {
  return passes::value_of(sizes_of_body<Body>.input[i].elements, symbols) * sizes_of_body<Body>.input[i].bytes;
}
template <class Body>
constexpr std::int64_t bytes_of_output(int i, const std::int64_t* symbols) {
  return passes::value_of(sizes_of_body<Body>.output[i].elements, symbols) * sizes_of_body<Body>.output[i].bytes;
}

/// The shapes of an external function: the extents of each result, then of each argument; and the size of each result.
template <class Program, int C>
struct external_shapes {
  static constexpr ir::control_flow record = control_flow_at<Program, C>::value;
  static constexpr ir::graph_view body = Program::value.view().body_at(record.bodies[0]);
  static constexpr int results = body.output_count;
  static constexpr int count = [] {
    int n = 0;
    for (int i = 0; i < results; ++i) n += body.shape_of(body.outputs[i]).rank;
    for (int i = 0; i < record.operands(); ++i) n += body.shape_of(i).rank;  // outline() puts the inputs first
    return n;
  }();

  passes::symbolic_size extent[count + 1] = {}, elements[results + 1] = {};
  std::int64_t bytes[results + 1] = {};  // of an element

  constexpr external_shapes() {
    int at = 0;
    const auto add = [&](ir::node_id id) {
      passes::symbolic_size n{1, 0};
      for (int a = 0; a < body.shape_of(id).rank; ++a) n = n * (extent[at++] = passes::symbolic_size_of(body.shape_of(id)[a]));
      return n;
    };
    for (int i = 0; i < results; ++i) elements[i] = add(body.outputs[i]), bytes[i] = size_of(body[body.outputs[i]].type);
    for (int i = 0; i < record.operands(); ++i) add(i);
  }
};
template <class Program, int C>
inline constexpr external_shapes<Program, C> shapes_of_external{};

/// The scratch memory for results of an external function that nothing reads: the offset of each result, and the size of all.
template <class Program, int C>
struct unread_results {
  std::int64_t offset[shapes_of_external<Program, C>.results + 1] = {}, bytes = 0;

  constexpr unread_results(const bound_step& s, const std::int64_t* symbols) {
    constexpr const auto& shapes = shapes_of_external<Program, C>;
    for (int i = 0; i < shapes.results; ++i) {
      offset[i] = bytes;
      const bool is_read = Program::tables.bindings[s.first_binding + shapes.record.operands() + i].buffer != passes::access::nowhere;
      if (!is_read) bytes += (passes::value_of(shapes.elements[i], symbols) * shapes.bytes[i] + 63) / 64 * 64;
    }
  }
};

/// Shape and strides of one operand of an opaque step.
struct operand_view {
  int rank = 0;
  std::int64_t extent[max_rank] = {};
  std::int64_t stride[max_rank] = {};
};

/// The view of a row-major array with the extents of v.
constexpr operand_view row_major(operand_view v) {
  std::int64_t size = 1;
  for (int d = v.rank - 1; d >= 0; size *= v.extent[d--]) v.stride[d] = size;
  return v;
}
constexpr std::int64_t elements_of(const operand_view& v) {
  std::int64_t n = 1;
  for (int d = 0; d < v.rank; ++d) n *= v.extent[d];
  return n;
}

/// A step that is not a fused kernel, with all fields of its node. The encoder writes these fields as numbers (encode_opaque). Only this
/// struct reads the numbers.
struct opaque_operation {
  struct operand : operand_view {
    dtype type = dtype::float32;
  };
  /// A bound on computed indices: its position among the program's bounds, and its extent.
  struct index_bound {
    std::int64_t position, extent;
  };

  int axis = 0;
  std::int64_t start = 0, step = 1;
  operand in[3];
  operand_view out;

  constexpr opaque_operation() = default;
  constexpr opaque_operation(ir::opcode, const std::int64_t* numbers) : opaque_operation(numbers) {}
  constexpr explicit opaque_operation(const std::int64_t* numbers) : next_(numbers) {
    const auto operands = static_cast<int>(next());
    axis = static_cast<int>(next());
    start = next();
    step = next();
    for (int k = 0; k < operands; ++k) {
      in[k].type = static_cast<dtype>(next());
      read(in[k]);
    }
    read(out);
  }
  constexpr int bound_count() const { return static_cast<int>(*next_); }
  constexpr index_bound bound(int i) const { return {next_[1 + 2 * i], next_[2 + 2 * i]}; }

 private:
  constexpr std::int64_t next() { return *next_++; }
  constexpr void read(operand_view& v) {
    v.rank = static_cast<int>(next());
    for (int d = 0; d < v.rank; ++d) v.extent[d] = next();
    for (int d = 0; d < v.rank; ++d) v.stride[d] = next();
  }

  const std::int64_t* next_ = nullptr;  // the next number to read; after the constructor, the first number of the bounds
};

/// The different operations of the opaque steps of a program. Equal operations share their numbers (encode.hpp).
template <class Program>
struct different_operations {
  int first_number[Program::step_count + 1] = {}, of[Program::step_count + 1] = {}, count = 0;

  constexpr different_operations() {
    for (int i = 0; i < Program::step_count; ++i) {
      const bound_step& s = Program::tables.steps[i];
      if (!s.is_opaque()) continue;
      while (of[i] < count && first_number[of[i]] != s.first_number) ++of[i];
      if (of[i] == count) first_number[count++] = s.first_number;
    }
  }
};
template <class Program>
inline constexpr different_operations<Program> operations{};

/// The numbers of all steps for given run-time extents, and the operations that the numbers describe. This is the only place that decodes operations: once
/// for a static program, otherwise once for a call or for all iterations of a loop. In a loop that updates a row in each iteration, decoding took half
/// of the time. An Operation is made of an opcode and its numbers.
template <class Program, class Operation>
class decoded_steps {
 public:
  decoded_steps(const decoded_steps&) = delete;  // the operations point to the numbers
  constexpr explicit decoded_steps(const std::int64_t* symbols) {
    for (int i = 0; i < Program::number_count; ++i) number_[i] = passes::value_of(Program::tables.numbers[i], symbols);
    if constexpr (count > 0) {  // nvcc does not read the braces of a for without these
      for (int i = 0, next = 0; i < Program::step_count; ++i) {
        const bound_step& s = Program::tables.steps[i];
        if (s.is_opaque() && operations<Program>.of[i] == next) operation_.at[next++] = Operation(s.op, numbers_of(s));
      }
    }
  }
  constexpr const std::int64_t* numbers_of(const bound_step& s) const { return number_ + s.first_number; }
  /// The operation of step i.
  constexpr const Operation& operation(int i) const { return operation_.at[operations<Program>.of[i]]; }

 private:
  static constexpr int count = operations<Program>.count;
  struct list {
    Operation at[count > 0 ? count : 1] = {};
  };
  struct none {
    static constexpr Operation at[1] = {};
  };

  std::int64_t number_[Program::number_count + 1] = {};
  std::conditional_t<(count > 0), list, none> operation_;
};

/// Calls check(bound, type, first, indices, extent) for each argument, or view of an argument, that holds indices. Indices must lie in [0, extent).
template <class Check>
void for_each_index_argument(const ir::graph_view& g, const void* const* arguments, const std::int64_t* symbols, Check check) {
  const auto known = [&](std::int64_t e) { return passes::value_of(passes::symbolic_size_of(e), symbols); };
  for (int i = 0; i < g.bound_count; ++i) {
    const ir::bound& b = g.bounds[i];
    const passes::layout l = passes::layout_of(g, b.indices);
    const ir::node& root = g[l.root];
    if (root.op != ir::opcode::input) continue;
    operand_view v;
    for (const extents& s = g.shape_of(b.indices); v.rank < s.rank; ++v.rank) {
      v.extent[v.rank] = known(s[v.rank]);
      v.stride[v.rank] = passes::value_of(l.stride[v.rank], symbols);
    }
    const auto* const first = static_cast<const char*>(arguments[root.attr]) + passes::value_of(l.offset, symbols) * size_of(root.type);
    check(b, root.type, first, v, known(b.extent));
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

// SPDX-License-Identifier: BSL-1.0
// Each body of a loop, a branch or an external function is a program. This header finds it, and has the sizes of its inputs and outputs.
#pragma once

#include <tenure/program/program.hpp>

namespace TENURE_NAMESPACE::program_detail {

/// The program of a body. A body number counts the bodies of the whole program, also if another body contains this body.
template <class Program>
struct whole_program { using type = Program; };
template <class Program, int Body>
struct whole_program<program<body_source<Program, Body>>> { using type = Program; };
template <class Program, int Body>
using body_program = program<body_source<typename whole_program<Program>::type, Body>>;

/// The bytes of the arguments of a call with static extents. Of a body they are those of the whole call. Run-time extents do not count.
template <class Program>
inline constexpr std::int64_t argument_bytes = [] {
  constexpr auto& g = whole_program<Program>::type::value;
  std::int64_t bytes = 0;
  for (int i = 0; i < g.count; ++i) {
    const ir::node& n = g.nodes[i];
    if (n.op == ir::opcode::input && all_static(g.shapes[n.shape])) bytes += count(g.shapes[n.shape]) * size_of(n.type);
  }
  return bytes;
}();

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
    passes::symbolic_size step{1, 0};  // of an input: the elements from iteration to iteration, if it is scanned
    bool moves = false;  // ir::moving_axis()
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
      if (g[i].op == ir::opcode::input) {
        size& s = input[g[i].attr] = size_of_node(i);
        const int axis = ir::moving_axis(g[i]);
        s.step = s.elements, s.moves = axis >= 0;
        if (s.moves) s.step = passes::row_major(i, g.shape_of(i)).stride[axis];
      }
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
/// The number of bytes from iteration to iteration, if input i is scanned.
template <class Body>
constexpr std::int64_t step_of_input(int i, const std::int64_t* symbols) {
  return passes::value_of(sizes_of_body<Body>.input[i].step, symbols) * sizes_of_body<Body>.input[i].bytes;
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

}  // namespace tenure::program_detail

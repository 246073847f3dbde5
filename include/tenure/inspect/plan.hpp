// SPDX-License-Identifier: BSL-1.0
// The cost of a compiled function, as constants that a test can assert: using plan = decltype(step.plan(w, x));
// static_assert(plan::kernels() == 3). inspect/print.hpp prints and draws a plan.
#pragma once

#include <type_traits>

#include <tenure/backend/backend.hpp>
#include <tenure/passes/residuals.hpp>

namespace TENURE_NAMESPACE {

template <class Program, class Device>
struct plan {
  using program_type = Program;

  /// The number of steps that a call runs: loops, products and other operations.
  static constexpr int kernels() { return Program::step_count; }

  /// The number of arithmetic operations of a call. A pointwise operation counts one for each element of its result, even a transcendental
  /// function. A reduction counts one for each element of its operand. A matrix product counts 2mnk. A loop counts all its iterations, a while_loop
  /// one iteration, and a branch the larger side. The operations of an extern_op are not known and count 0.
  static constexpr std::int64_t flops() {
    require_static();
    const ir::graph_view g = Program::value.view();
    std::int64_t total = 0;
    for (int s = 0; s < Program::step_count; ++s) total += flops_of_control_flow(s);
    for (int i = 0; i < g.count; ++i) total += flops_of(g, i);
    return total;
  }
  /// The operations of a node, without those of the bodies of a control_flow.
  static constexpr std::int64_t flops_of(const ir::graph_view& g, ir::node_id id) {
    return ops::is_pointwise(g[id].op) ? count(g.shape_of(id)) : ops::structural_record_of(g[id].op).flops(g, id);
  }
  /// The operations of the loop or branch that is step s; 0 for other steps.
  static constexpr std::int64_t flops_of_control_flow(int s) {
    return in_control_flow(s, []<class Body, int Carries>(std::type_identity<Body>, std::integral_constant<int, Carries>) { return plan<Body, Device>::flops(); });
  }

  /// The number of bytes that the steps of a call read and write. Each buffer counts once for each step: a gather reads one row of its table for
  /// each index, but at most the table, and an update in place writes its block. Loops and branches count as in flops().
  static constexpr std::int64_t bytes() { return bytes_per_iteration<0>(); }
  /// bytes() for the body of a loop. Its first `Carries` inputs are carries: if the plan allows it, a new carry is written over the old one.
  template <int Carries>
  static constexpr std::int64_t bytes_per_iteration() {
    require_static();
    std::int64_t total = 0;
    for (int s = 0; s < Program::step_count; ++s) total += bytes_of_control_flow(s) + bytes_of_step<Carries>(s, Program::value.view(), nullptr);
    return total;
  }
  /// The bytes of the loop or branch that is step s; 0 for other steps.
  static constexpr std::int64_t bytes_of_control_flow(int s) {
    return in_control_flow(s, []<class Body, int Carries>(std::type_identity<Body>, std::integral_constant<int, Carries>) {
      return plan<Body, Device>::template bytes_per_iteration<Carries>();
    });
  }
  /// The bytes that step s reads and writes; 0 for a loop or a branch. `g` has run-time extents; `symbols` are their values, or null without them.
  template <int Carries = 0>
  static constexpr std::int64_t bytes_of_step(int s, const ir::graph_view& g, const std::int64_t* symbols) {
    const passes::plan_view p = Program::plan.view(g);
    const passes::step& step = p.steps[s];
    std::int64_t total = 0;
    if (Program::tables.steps[s].control_flow >= 0) return total;
    for (int a = step.first_access; a < step.first_access + step.access_count; ++a) {
      const int buffer = p.accesses[a].buffer;
      bool counted = buffer < 0;
      for (int b = step.first_access; b < a; ++b) counted = counted || p.accesses[b].buffer == buffer;
      if (counted) continue;
      std::int64_t elements = 0;  // of all parts of a buffer together, but at most the elements of the buffer
      for (int b = a; b < step.first_access + step.access_count; ++b)
        if (p.accesses[b].buffer == buffer) elements += elements_of<Carries>(p, step, b, symbols);
      const std::int64_t whole = passes::value_of(p.buffers[buffer].elements, symbols);
      total += (elements < whole ? elements : whole) * size_of(p.buffers[buffer].type);
    }
    return total;
  }

  /// The memory for intermediate results, in bytes. Buffers share bytes if they are not alive at the same time.
  static constexpr std::int64_t workspace_bytes() {
    require_static();
    return backend<Device>::template workspace_bytes<Program>();
  }

  /// The part of workspace_bytes() that holds residuals: values of the forward half that steps of the backward half read. 0 without reverse mode.
  /// print() lists these values.
  static constexpr std::int64_t kept_bytes() {
    require_static();
    const ir::graph_view g = Program::value.view();
    const passes::fusion_groups fused = passes::fuse(g);
    std::int64_t total = 0;
    for (const ir::node_id id : passes::residuals_of_backward(g, fused.view())) total += bytes_of(g, id);
    return total;
  }

  /// The bytes of the value of a node.
  static constexpr std::int64_t bytes_of(const ir::graph_view& g, ir::node_id id) { return count(g.shape_of(id)) * size_of(g[id].type); }

 private:
  /// The cost of the loop or branch that is step s, 0 for other steps. An external function counts 0. cost(body, carries) gives the cost of one
  /// iteration of a body.
  template <class Cost>
  static constexpr std::int64_t in_control_flow(int s, Cost cost) {
    std::int64_t total = 0;
    if (Program::tables.steps[s].control_flow < 0) return total;
    program_detail::visit_control_flow<Program>(Program::tables.steps[s], [&]<int C>(std::integral_constant<int, C>) {
      using kind = ir::control_flow::kind;
      using record = program_detail::control_flow_at<Program, C>;
      if constexpr (record::value.what != kind::external) {
        constexpr ir::control_flow control_flow = record::value;
        constexpr int carries = control_flow.what == kind::cond ? 0 : control_flow.carries;
        constexpr int of_results = control_flow.number_of_results_body();
        const std::int64_t first = cost(std::type_identity<typename record::template body<0>>{}, std::integral_constant<int, of_results == 0 ? carries : 0>{});
        if constexpr (record::value.what == kind::scan) {
          total += record::value.length * first;
        } else {
          const std::int64_t second = cost(std::type_identity<typename record::template body<1>>{}, std::integral_constant<int, of_results == 1 ? carries : 0>{});
          total += record::value.what != kind::cond ? first + second : first > second ? first : second;
        }
      }
    });
    return total;
  }
  /// The number of elements of its buffer that an access reads or writes.
  template <int Carries>
  static constexpr std::int64_t elements_of(const passes::plan_view& p, const passes::step& step, int a, const std::int64_t* symbols) {
    const passes::access& x = p.accesses[a];
    const int at = a - step.first_access;
    const bool is_fused = step.is_fused();
    const int results = is_fused ? 1 : ops::result_count(step.op);
    if (results > 1 && at >= step.access_count - results) return passes::value_of(p.buffers[x.buffer].elements, symbols);
    const ir::node_id node = is_fused ? ir::none : at < step.access_count - 1 ? p.graph[step.node].in[at] : step.node;
    std::int64_t n = 1;
    for (int d = 0; d < x.rank; ++d)
      if (p.stride(x, d).factor != 0) n *= is_fused ? passes::value_of(p.kernels[step.kernel].extent[d], symbols) : p.graph.shape_of(node)[d];
    if (is_fused) return n;
    // A gather reads one row of its table for each index. A step that changes an operand in place writes only the changes. An update does not read
    // the elements that it replaces.
    if (step.op == ir::opcode::gather && at == 0) {
      const std::int64_t rows = count(p.graph.shape_of(step.node));
      return rows < n ? rows : n;
    }
    if (ops::structural_record_of(step.op).changes == 1 && (at == 1 || at == 3) && is_in_place<Carries>(p, p.accesses + step.first_access))
      return at == 1 && step.op == ir::opcode::update ? 0 : count(p.graph.shape_of(p.graph[step.node].in[0]));
    return n;
  }
  /// Whether a step with the accesses {changes, x, positions, result} uses the same memory for x and the result.
  template <int Carries>
  static constexpr bool is_in_place(const passes::plan_view& p, const passes::access* a) {
    if (a[1].buffer == a[3].buffer) return true;
    if constexpr (Carries > 0) {
      const passes::buffer &x = p.buffers[a[1].buffer], &result = p.buffers[a[3].buffer];
      using place = passes::buffer::place;
      return x.where == place::argument && result.where == place::result && x.index == result.index && x.index < Carries &&
             program_detail::overwrites<Program>.may(x.index, x.index);
    } else {
      return false;
    }
  }
  static constexpr void require_static() {
    static_assert(Program::is_static, "tenure: plan: the cost of a call with run-time extents is known only when it runs");
  }
};

}  // namespace tenure

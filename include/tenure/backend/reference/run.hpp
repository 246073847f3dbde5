// SPDX-License-Identifier: BSL-1.0
// The reference backend: tests compare all other backends with it. It computes a graph node by node, without fusion and without views. Each node
// has its own array. operations.hpp defines what a node computes. This backend is slow.
#pragma once

#include <functional>
#include <map>

#include <tenure/backend/reference/operations.hpp>
#include <tenure/ir/refuse.hpp>

namespace TENURE_NAMESPACE::reference {

/// Called after each run of a body of a loop or a branch, with the control-flow operation, the number of the body, its inputs and its outputs.
using body_visit =
    std::function<void(ir::node_id control_flow, int body, const std::vector<array>& inputs, const std::vector<array>& outputs)>;

namespace detail {

/// Runs a graph node by node, and loops iteration by iteration. Each iteration has its own arrays.
class interpreter : operations {
 public:
  interpreter(const ir::graph_view& g, std::span<const array> arguments, sums how) : interpreter(g, arguments, how, symbols_for(g, arguments)) {}
  /// For a body: `symbols` are the run-time extents of the graph around it.
  interpreter(const ir::graph_view& body, std::span<const array> arguments, sums how, const std::vector<std::int64_t>& symbols)
      : operations(body, how, symbols), arguments_(arguments) {}

  void after_bodies(body_visit visit) { after_body_ = std::move(visit); }
  const std::vector<std::int64_t>& symbols() const { return symbols_; }

  template <class Visit>
  std::vector<array> run(Visit visit) {
    for (ir::node_id id = 0; id < g_.count; ++id) {
      values_.push_back(evaluate(id));
      visit(id, values_.back());
      check_bounds(id);
    }
    std::vector<array> results;
    for (int i = 0; i < g_.output_count; ++i) results.push_back(value(g_.outputs[i]));
    return results;
  }

 private:
  static std::vector<std::int64_t> symbols_for(const ir::graph_view& g, std::span<const array> arguments) {
    std::vector<argument> bound;
    for (const array& a : arguments) bound.push_back(argument_of(a));
    return bind_symbols(g, bound);
  }

  array evaluate(ir::node_id id) {
    const ir::node& n = g_[id];
    if (g_.find_control_flow(id) != nullptr) return run_control_flow(id), array(n.type, extents{});
    switch (n.op) {
      case ir::opcode::input: return input(n);
      case ir::opcode::tuple: return array(n.type, extents{});
      case ir::opcode::result: return control_flow_results_[static_cast<std::size_t>(n.in[0])][static_cast<std::size_t>(n.attr)];
      default: return compute(n);
    }
  }
  array input(const ir::node& n) const {
    const array& x = arguments_[static_cast<std::size_t>(n.attr)];
    if (x.type != n.type || !(x.shape == known(g_.shapes[n.shape], symbols_)))
      throw shape_error("tenure: reference: an argument has another type or shape than its input");
    return x;
  }

  void check_bounds(ir::node_id id) const {
    for (int i = 0; i < g_.bound_count; ++i) {
      const ir::bound& b = g_.bounds[i];
      if (b.indices != id) continue;
      const std::int64_t extent = known(b.extent, symbols_);
      for (std::int64_t at = 0; at < value(id).size(); ++at)
        if (const std::int64_t index = value(id).index(at); index < 0 || index >= extent)
          ir::refuse(b, index, extent, value(id).shape.rank == 0 ? -1 : at);
    }
  }

  // ---- loops and branches ----

  std::vector<array> run_body(ir::node_id control_flow, int which, const std::vector<array>& inputs) const {
    std::vector<array> outputs = interpreter(g_.body_at(which), inputs, how_, symbols_).run([](ir::node_id, const array&) {});
    if (after_body_) after_body_(control_flow, which, inputs, outputs);
    return outputs;
  }
  array slice_of(const array& x, std::int64_t iteration) const {
    extents s;
    for (int a = 1; a < x.shape.rank; ++a) s.push_back(x.shape[a]);
    array y(x.type, s);
    for (std::int64_t i = 0; i < y.size(); ++i) copy_element(y, i, x, iteration * y.size() + i);
    return y;
  }
  /// What an iteration sees of scanned operand x, which is input i of the body: a slice, or x from an element on. Elements behind the last are not read.
  array of_iteration(const ir::graph_view& body, int i, const array& x, std::int64_t iteration) const {
    int axis = -1;
    for (ir::node_id id = 0; id < body.count; ++id)
      if (body[id].op == ir::opcode::input && body[id].attr == i) axis = ir::moving_axis(body[id]);
    if (axis < 0) return slice_of(x, iteration);
    std::int64_t step = iteration;
    for (int a = axis + 1; a < x.shape.rank; ++a) step *= x.shape[a];
    array y(x.type, x.shape);
    for (std::int64_t e = 0; e + step < x.size(); ++e) copy_element(y, e, x, e + step);
    return y;
  }
  void run_control_flow(ir::node_id id) {
    using kind = ir::control_flow::kind;
    const ir::control_flow& c = g_.control_flow_of(g_[id]);
    std::vector<array> given;
    ir::for_each_operand(g_.nodes, g_[id].in[0], [&](ir::node_id operand) { given.push_back(value(operand)); });
    const auto captures = [&](int body) {
      const auto first = given.begin() + c.own_operands() + (body == 1 ? c.captures[0] : 0);
      return std::vector<array>(first, first + c.captures[body]);
    };
    const auto with_captures = [](std::vector<array> own, const std::vector<array>& more) {
      own.insert(own.end(), more.begin(), more.end());
      return own;
    };
    std::vector<array> results;
    if (c.is_custom_derivative()) {
      for (int i = 0; i < c.carries; ++i) results.push_back(given[static_cast<std::size_t>(c.operand_of_result(i))]);
    } else if (c.what == kind::external) {
      results = call_function(c, given);
    } else if (c.what == kind::cond) {
      const int taken = given[0].as<bool>()[0] ? 0 : 1;
      results = run_body(id, c.bodies[taken], captures(taken));
    } else {
      std::vector<array> carry(given.begin(), given.begin() + c.carries);
      if (c.what == kind::while_loop) {
        std::int64_t trip_count = 0;
        const auto goes_on = [&] { return run_body(id, c.bodies[0], with_captures(carry, captures(0)))[0].as<bool>()[0]; };
        for (; goes_on(); ++trip_count) carry = run_body(id, c.bodies[1], with_captures(carry, captures(1)));
        results = carry;
        if (c.counts_iterations) results.emplace_back(extents{}, &trip_count);
      } else if (c.what == kind::reverse_while) {  // keeps the state before each iteration
        const auto first_state = given.begin() + c.carries;
        const std::int64_t trip_count = first_state[c.states()].as<std::int64_t>()[0];
        std::vector<std::vector<array>> states{{first_state, first_state + c.states()}};
        while (static_cast<std::int64_t>(states.size()) < trip_count) states.push_back(run_body(id, c.bodies[0], with_captures(states.back(), captures(0))));
        for (std::int64_t iteration = trip_count - 1; iteration >= 0; --iteration) {
          const std::vector<array> own = with_captures(carry, states[static_cast<std::size_t>(iteration)]);
          carry = run_body(id, c.bodies[1], with_captures(own, captures(1)));
        }
        results = carry;
      } else {
        const ir::graph_view body = g_.body_at(c.bodies[0]);
        const std::int64_t trip_count = known(c.length, symbols_);
        std::vector<array> stacked;
        for (int i = c.carries; i < body.output_count; ++i) {
          extents s{1, {trip_count}};
          for (const std::int64_t e : dimensions(known(body.shape_of(body.outputs[i]), symbols_))) s.push_back(e);
          stacked.emplace_back(body[body.outputs[i]].type, s);
        }
        for (std::int64_t k = 0; k < trip_count; ++k) {
          const std::int64_t iteration = c.reverse ? trip_count - 1 - k : k;
          std::vector<array> inputs = carry;
          for (int i = 0; i < c.scanned; ++i) inputs.push_back(of_iteration(body, c.carries + i, given[static_cast<std::size_t>(c.carries + i)], iteration));
          if (c.counts) inputs.emplace_back(extents{}, &iteration);
          const std::vector<array> outputs = run_body(id, c.bodies[0], with_captures(inputs, captures(0)));
          carry.assign(outputs.begin(), outputs.begin() + c.carries);
          for (std::size_t i = 0; i < stacked.size(); ++i) {
            const array& y = outputs[static_cast<std::size_t>(c.carries) + i];
            for (std::int64_t e = 0; e < y.size(); ++e) copy_element(stacked[i], iteration * y.size() + e, y, e);
          }
        }
        results = carry;
        results.insert(results.end(), stacked.begin(), stacked.end());
      }
    }
    control_flow_results_[static_cast<std::size_t>(id)] = results;
  }
  /// Calls a function of the user. It writes to new arrays.
  std::vector<array> call_function(const ir::control_flow& c, const std::vector<array>& given) const {
    const ir::graph_view body = g_.body_at(c.bodies[0]);
    std::vector<array> results;
    std::vector<void*> to;
    std::vector<const void*> from;
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < body.output_count; ++i) results.emplace_back(body[body.outputs[i]].type, known(body.shape_of(body.outputs[i]), symbols_));
    const auto add = [&](const extents& s) { sizes.insert(sizes.end(), s.extent, s.extent + s.rank); };
    for (array& r : results) add(r.shape), to.push_back(r.data.data());
    for (const array& x : given) add(x.shape), from.push_back(x.data.data());
    if (c.function.takes_samples && sizes[0] == 0) return results;
    c.function.call(to.data(), from.data(), sizes.data());
    return results;
  }
  static std::vector<std::int64_t> dimensions(const extents& s) { return {s.extent, s.extent + s.rank}; }

  std::span<const array> arguments_;
  std::map<std::size_t, std::vector<array>> control_flow_results_;
  body_visit after_body_;
};

}  // namespace detail

/// Returns the outputs of a graph for given arguments. Throws shape_error and index_error as compiled functions do.
/// `visit(node, value)` is called with the value of each node after it was computed, and may change the value.
template <class Visit>
std::vector<array> run(const ir::graph_view& g, std::span<const array> arguments, Visit visit, sums how = sums::wide) {
  return detail::interpreter(g, arguments, how).run(visit);
}
inline std::vector<array> run(const ir::graph_view& g, std::span<const array> arguments) {
  return run(g, arguments, [](ir::node_id, const array&) {});
}

}  // namespace tenure::reference

// SPDX-License-Identifier: BSL-1.0
// checkpoint(f): a function of which reverse mode keeps only the inputs. When the backward pass needs another value of f, it computes the value
// again. Law: checkpoint changes no value and no gradient but for rounding. Cost: the time of f once more for each gradient through it.
// Source: the meaning of jax.checkpoint.
#pragma once

#include <tenure/transform/control_flow.hpp>

namespace TENURE_NAMESPACE {

/// Besides the inputs, checkpoint keeps the results of matrix products, attention and reductions. It computes elementwise operations again.
struct save_products_policy {};
inline constexpr save_products_policy save_products{};

namespace detail {

template <class F, bool KeepsProducts>
struct checkpoint_of {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() { return gives_traced<F, X...>(); }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr (!accepts<X...>()) return refused_in_trace<checkpoint_of>(x...);
    else return annotated(graph_of_arguments(x...), x...);
  }

 private:
  template <class... X>
  constexpr auto annotated(ir::builder& g, const X&... x) const {
    using result = result_of<F, X...>;
    const ir::node_id first = g.count();
    ir::array<ir::node_id> outputs, captured;
    append_leaves(outputs, f(x...));
    ir::control_flow kept{.what = ir::control_flow::kind::checkpoint, .carries = tree<result>::leaves};
    for (ir::node_id id = first; KeepsProducts && id < g.count(); ++id) {
      const ir::node n = g[id];
      const bool is_kept = n.op == ir::opcode::matmul || ops::is_attention(n.op) || n.op == ir::opcode::reduce;
      if (!is_kept || !is_floating(n.type)) continue;
      outputs.push_back(id);
      ++kept.residuals;
    }
    kept.bodies[0] = g.outline_written(first, {}, outputs, captured);
    kept.captures[0] = captured.size();
    // For the backward pass the body stays outlined. Here its nodes are also inlined into the function around it.
    const ir::array<ir::node_id> here = g.inline_body(kept.bodies[0], captured, ir::builder::bounds::as_written);
    ir::array<ir::node_id> operands;
    {
      const ir::graph_view written = g.view().body_at(kept.bodies[0]);
      for (int i = 0; i < written.output_count; ++i) operands.push_back(here[written.outputs[i]]);
    }
    for (const ir::node_id id : captured) operands.push_back(id);
    return results_as<result>(g, kept, operands);
  }
};

}  // namespace detail

/// checkpoint(f)(x...) is f(x...). Reverse mode keeps no value from inside f for the backward pass.
template <class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto checkpoint(F f, Execution on = {}) {
  return detail::compiled_on(detail::checkpoint_of<decltype(detail::traced_function(f)), false>{detail::traced_function(f)}, on);
}
/// checkpoint(f, save_products) keeps the results of matrix products, attention and reductions.
template <class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto checkpoint(F f, save_products_policy, Execution on = {}) {
  return detail::compiled_on(detail::checkpoint_of<decltype(detail::traced_function(f)), true>{detail::traced_function(f)}, on);
}

// Values in place of a function or beside it. They do not compile and give a message.
template <class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto checkpoint(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: checkpoint: it takes a function and gives a function: write checkpoint(f)(x)");
  return after_error();
}

}  // namespace tenure

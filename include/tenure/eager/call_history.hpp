// SPDX-License-Identifier: BSL-1.0
// The history of a call of a compiled function with tracked arguments. The results that depend on tracked arguments are nodes, and backward() runs
// the compiled gradient of the whole function. Other results are constants.
// Law: the gradients are those of the same function written with expressions. A saved value that was overwritten makes backward() throw.
// Cost: the gradient computes the function again from its arguments, except the results that it reads. All results of a call share one history.
#pragma once

#include <tenure/tensor/later.hpp>
#include <tenure/eager/evaluate.hpp>

namespace TENURE_NAMESPACE::detail {

/// A call of F as an operation on the leaves of its arguments. `Arguments` are the types of the arguments as traced trees.
template <class F, class Arguments, class... Operand>
class call_expression;
template <class F, class... Traced, class... Operand>
class call_expression<F, std::tuple<Traced...>, Operand...> {
 public:
  using device_type = typename device_of_bits<(0u | ... | Operand::devices)>::type;

  explicit call_expression(Operand... x) : operands_(std::move(x)...) {}

  const std::tuple<Operand...>& operands() const { return operands_; }
  std::tuple<Operand...>& operands() { return operands_; }

 private:
  std::tuple<Operand...> operands_;
};

template <class F, class Arguments, class... Operand>
inline constexpr int operand_count<call_expression<F, Arguments, Operand...>> = sizeof...(Operand);
template <class F, class Arguments, class... Operand>
inline constexpr std::int64_t bytes_of_operands<call_expression<F, Arguments, Operand...>> = (std::int64_t{0} + ... + bytes_of_operands<Operand>);
template <class F, class Arguments, class... Operand>
inline constexpr int tracked_count<call_expression<F, Arguments, Operand...>> = (0 + ... + is_tracked_operand<Operand>);

template <class F, class... Traced, class... Operand>
struct lowering<call_expression<F, std::tuple<Traced...>, Operand...>> {
  static constexpr result_of<F, Traced...> lower(ir::builder& g, ir::array<ir::node_id>& tracked) {
    ir::array<ir::node_id> ids;
    const auto append = [&](ir::node_id id) { ids.push_back(id); };
    (append(lowering<Operand>::lower(g, tracked).id), ...);
    int i = 0;
    const auto leaf = [&]<class L>(element_tag<L>) { return L{&g, ids[i++]}; };
    const called call{build_tree<Traced>(leaf)...};
    return call.results;
  }

 private:
  // Braces evaluate the arguments in order.
  struct called {
    result_of<F, Traced...> results;
    constexpr explicit called(const Traced&... x) : results(F{}(x...)) {}
  };
};

/// Which results of a call depend on tracked arguments. Source is the source of the call's program.
template <class Source, class... X>
struct tracked_results {
  static constexpr int count = tree<typename Source::result_type>::leaves;
  struct marks {
    bool at[count + 1] = {};
    int number = 0;
  };
  static constexpr marks found = [] {
    constexpr int leaves = (0 + ... + tree<X>::leaves);
    leaf_description arguments[leaves + 1];
    leaf_description* end = arguments;
    (tree<X>::describe(end), ...);
    const ir::graph_view g = program<Source>::traced.view();
    ir::array<char> active(g.count, 0);
    for (ir::node_id i = 0; i < g.count; ++i)
      if (g[i].op == ir::opcode::input) active[i] = arguments[g[i].attr].is_tracked;
    passes::mark_active(g, active.data());
    marks m;
    for (int i = 0; i < count; ++i) {
      m.at[i] = active[g.outputs[i]] && is_floating(g[g.outputs[i]].type);
      m.number += m.at[i];
    }
    return m;
  }();
};

// ---- the types of the results --------------------------------------------------------------------------------------

/// Nodes for the floating leaves of a tree.
template <class Device>
struct nodes_on {
  template <class T, class S>
  using type = tensor<T, S, ownership::owning, is_floating(dtype_v<T>) ? role::node : role::constant, access::read_write, Device>;
};

/// The types of the results of a call: nodes for what depends on tracked arguments. An array or a model is all nodes if one of its leaves is.
template <class R, class Tracked, int First, class Device>
struct recorded {
  static constexpr bool any_tracked = [] {
    bool any = false;
    for (int i = 0; i < tree<R>::leaves; ++i) any = any || Tracked::found.at[First + i];
    return any;
  }();
  using type = rebind_kind_t<R, std::conditional_t<any_tracked, nodes_on<Device>, values_on<Device>>>;
};
template <class... Part, class Tracked, int First, class Device>
struct recorded<std::tuple<Part...>, Tracked, First, Device> {
  static constexpr int leaves_before(std::size_t part) {
    const int leaves[] = {tree<Part>::leaves..., 0};
    int before = 0;
    for (std::size_t i = 0; i < part; ++i) before += leaves[i];
    return before;
  }
  template <std::size_t... I>
  static auto parts_of(std::index_sequence<I...>) -> std::tuple<typename recorded<Part, Tracked, First + leaves_before(I), Device>::type...>;
  using type = decltype(parts_of(std::index_sequence_for<Part...>{}));
};
template <class A, class B, class Tracked, int First, class Device>
struct recorded<std::pair<A, B>, Tracked, First, Device> {
  using type = std::pair<typename recorded<A, Tracked, First, Device>::type, typename recorded<B, Tracked, First + tree<A>::leaves, Device>::type>;
};

template <std::size_t... I, class X>
auto parts_as_operands(std::index_sequence<I...>, const X& x);
/// The leaves of an argument, as operands.
template <class X>
auto leaves_as_operands(const X& x) {
  if constexpr (any_tensor<X>) return std::tuple{captured_for<true, X>(x)};
  else if constexpr (scalar<X>) return std::tuple{number_operand<typename leaf_type<X>::element_type>{static_cast<typename leaf_type<X>::element_type>(x)}};
  else return parts_as_operands(part_indices<X>{}, x);
}
template <std::size_t... I, class X>
auto parts_as_operands(std::index_sequence<I...>, const X& x) { return std::tuple_cat(leaves_as_operands(part<I>(x))...); }

template <class F, class... X>
auto call_expression_of(const X&... x) {
  return std::apply([](const auto&... operand) { return call_expression<F, std::tuple<rebind_kind_t<X, tracing>...>, std::remove_cvref_t<decltype(operand)>...>(operand...); },
                    std::tuple_cat(leaves_as_operands(x)...));
}

/// Calls run(), which computes F(x...), and gives a history to the results that depend on tracked arguments.
template <class F, class Run, class... X>
auto record_call(later_phase, element_tag<F>, Run run, const X&... x) {
  using source = source_of<F, X...>;
  using tracked = tracked_results<source, X...>;
  if constexpr (tracked::found.number == 0) {
    return run();
  } else {
    using call_type = decltype(call_expression_of<F>(x...));
    using history_type = expression_history<call_type, tracked>;
    using result_type = typename recorded<typename source::result_type, tracked, 0, typename call_type::device_type>::type;
    if constexpr (!is_traceable<cotangent_source<call_type, tracked>>()) {
      return run();
    } else {
      const auto check = [](const auto& leaf) {
        using L = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (any_tensor<L>) tensor_access::check_alive(leaf, "call");
        if constexpr (tree<L>::tracked) check_current(leaf, "call");
      };
      (for_each_leaf(x, check), ...);
      const auto values = run();
      history_type* const history = is_recording() ? new history_type(call_expression_of<F>(x...)) : nullptr;
      const accumulator_handle call(history);
      int leaf = 0, result = 0;
      const auto record = [&]<class L, class V>(element_tag<L>, const V& value) {
        const bool is_tracked = tracked::found.at[leaf++];
        const extents s = value.extents();
        if constexpr (!requires_grad_v<L>) {
          return tensor_access::make<L>(tensor_access::storage(value), tensor_access::fresh(value), s, value.strides());
        } else {
          if (!call) return with_history<L>(value, unrecorded<L>(s));
          if (!is_tracked) return with_history<L>(value, accumulator_handle(new ended_history(dtype_v<element_t<L>>, s, device_operations_of<device_of_t<L>>())));
          history->save_result(result, value);
          if constexpr (history_type::is_accumulator) return with_history<L>(value, call);
          else return with_history<L>(value, accumulator_handle(new result_accumulator<history_type>(dtype_v<element_t<L>>, s, result++, call)));
        }
      };
      return build_tree<result_type>(record, values);
    }
  }
}

}  // namespace tenure::detail

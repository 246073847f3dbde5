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

  /// Traces the function. Sets `tracked` to the inputs of tracked operands.
  static constexpr result_of<F, Traced...> trace(ir::builder& g, ir::array<ir::node_id>& tracked) {
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

  std::tuple<Operand...> operands_;
};

template <class F, class Arguments, class... Operand>
inline constexpr bool is_lazy<call_expression<F, Arguments, Operand...>> = true;
template <class F, class Arguments, class... Operand>
inline constexpr int operand_count<call_expression<F, Arguments, Operand...>> = sizeof...(Operand);
template <class F, class Arguments, class... Operand>
inline constexpr int tracked_count<call_expression<F, Arguments, Operand...>> = (0 + ... + is_tracked_operand<Operand>);

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

/// The program of the gradients of a call. Its inputs are the arguments, the cotangents of the tracked results, and the tracked results.
template <class Call, class Tracked>
struct call_gradient_source {
  static constexpr ir::builder trace() {
    ir::builder g;
    ir::array<ir::node_id> tracked, outputs, cotangents, results;
    int i = 0;
    for_each_leaf(Call::trace(g, tracked), [&](const auto& leaf) {
      if (Tracked::found.at[i++]) outputs.push_back(leaf.id);
    });
    for (const ir::node_id y : outputs) cotangents.push_back(g.input(g[y].type, extents(g.shape_of(y))));
    for (const ir::node_id y : outputs) results.push_back(g.input(g[y].type, extents(g.shape_of(y))));
    const int forward_end = g.count();
    ir::array<ir::node_id> gradients(tracked.size(), ir::none);
    passes::reverse(g, outputs.data(), cotangents.data(), outputs.size(), tracked.data(), tracked.size(), gradients.data());
    for (int k = 0; k < tracked.size(); ++k) g.output(gradients[k] != ir::none ? gradients[k] : ops::value(g, tracked[k]).like(0).id);
    for (int k = 0; k < outputs.size(); ++k)
      if (g[outputs[k]].op != ir::opcode::input) g.redirect(forward_end, outputs[k], results[k]);
    g.drop_other_bounds();  // indices that only the value reads may be gone
    g.canonicalize();
    return g;
  }
};

/// The part of the history that all results of a call share.
template <class Call, class Tracked>
class call_history final : public gradient_accumulator {
  using program_type = program<call_gradient_source<Call, Tracked>>;
  using device_type = typename Call::device_type;
  static constexpr int operands = operand_count<Call>, results = Tracked::found.number, inputs = operands + 2 * results;
  using reads_type = inputs_read<program_type, inputs>;
  static constexpr reads_type reads{};

 public:
  explicit call_history(const Call& call) : gradient_accumulator(dtype::float32, {}, device_operations_of<device_type>()), operands_(call) {}

  /// Adds tracked result i. Call it once for each result, after the result was written.
  template <class T>
  void add_result(int i, const extents& s, const storage_handle& memory, const T* data) {
    results_[i].type = dtype_v<T>;
    results_[i].shape = s;
    if (!reads.at[operands + results + i]) return;
    results_[i].data = data;
    results_[i].saved = saved_storage(memory);
  }
  /// Takes the cotangent of result i. A result that gets none has the cotangent zero.
  void take(int i, storage_handle cotangent) { results_[i].cotangent = std::move(cotangent); }

  bool is_node() const override { return true; }

  void check(backward_queue& queue) const override {
    if (is_freed_) throw_freed();
    operands_.check();
    for (const result& r : results_) {
      if (r.saved && !r.saved.intact()) throw_overwritten(r.saved);
      r.cotangent = {};  // left by a backward() that threw
    }
    reach_operands(operands_.expression(), queue);
  }

  void propagate(backward_queue& queue) override {
    leaf_argument arguments[inputs];
    const void* pointers[inputs];
    leaf_argument* at = arguments;
    collect_operands(operands_.expression(), at);
    storage_handle cotangents[results];
    for (int i = 0; i < results; ++i) {
      cotangents[i] = std::exchange(results_[i].cotangent, {});
      if (!cotangents[i]) cotangents[i] = zeros_like(results_[i]);
      *at++ = {cotangents[i].data(), results_[i].shape, row_major(results_[i].shape)};
    }
    for (const result& r : results_) {
      if constexpr (!std::is_same_v<device_type, cpu_device>) r.saved.storage().note_use();
      *at++ = {r.data, r.shape, row_major(r.shape)};
    }
    constexpr int tracked = tracked_count<Call>;
    accumulation accumulations[tracked];
    accumulation* to = accumulations;
    add_accumulations(operands_.expression(), to);
    [[maybe_unused]] const auto numbers = place_operand_numbers<device_type>(operands_.expression(), arguments);
    call_bound<program_type, device_type>(arguments, inputs, pointers, [&](void** gradients, const std::int64_t*) {
      for (int i = 0; i < tracked; ++i) gradients[i] = accumulations[i].begin(queue);
      return 0;
    });
    for (accumulation& d : accumulations) d.finish(queue);
  }

  void release() noexcept override {
    bool any = operands_.saves();
    for (result& r : results_) {
      any = any || r.saved;
      r.saved = saved_storage();
    }
    operands_.release();
    is_freed_ = any;  // backward() can run again over a graph that saved nothing, as in PyTorch
  }

 private:
  struct result {
    dtype type = dtype::float32;
    extents shape{};
    const void* data = nullptr;
    saved_storage saved{};
    mutable storage_handle cotangent{};
  };

  static storage_handle zeros_like(const result& r) {
    const std::size_t bytes = checked_bytes(r.shape, static_cast<std::size_t>(size_of(r.type)));
    storage_handle zero = device_memory<device_type>::allocate(bytes);
    device_memory<device_type>::clear(zero.data(), bytes);
    return zero;
  }

  saved_operands<Call, reads_type, device_type> operands_;
  result results_[results];
  bool is_freed_ = false;
};

/// The history of one result of a call.
template <class History>
class call_result final : public gradient_accumulator {
 public:
  call_result(dtype of, const extents& s, int position, const accumulator_handle& call)
      : gradient_accumulator(of, s, call->device), position_(position), call_(call) {}

  bool is_node() const override { return true; }
  void check(backward_queue& queue) const override { queue.reach(call_); }
  void propagate(backward_queue& queue) override {
    queue.push(call_);
    static_cast<History&>(*call_).take(position_, arriving);
  }

 private:
  int position_;
  accumulator_handle call_;
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

template <std::size_t... I, class X>
auto parts_as_operands(std::index_sequence<I...>, const X& x);
/// The leaves of an argument, as operands.
template <class X>
auto leaves_as_operands(const X& x) {
  if constexpr (any_tensor<X>) return std::tuple{to_operand<true, X>(x)};
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
    using history_type = call_history<call_type, tracked>;
    using result_type = typename recorded<typename source::result_type, tracked, 0, typename call_type::device_type>::type;
    if constexpr (!is_traceable<call_gradient_source<call_type, tracked>>()) {
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
          history->add_result(result, s, tensor_access::storage(value), tensor_access::fresh(value));
          return with_history<L>(value, accumulator_handle(new call_result<history_type>(dtype_v<element_t<L>>, s, result++, call)));
        }
      };
      return build_tree<result_type>(record, values);
    }
  }
}

}  // namespace tenure::detail

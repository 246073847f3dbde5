// SPDX-License-Identifier: BSL-1.0
// compile(f): a traced function as compiled code. A call binds the arguments to buffers, and runs the steps. Before it writes anything, it checks
// what is known only at run time (extents, labels). A call with traced values calls f itself, so transforms compose.
// Cost: a call allocates only its results; into(results...) allocates nothing.
#pragma once

#include <tenure/tensor/later.hpp>
#include <tenure/transform/call.hpp>
#include <tenure/transform/call_rules.hpp>
#include <tenure/transform/into.hpp>
#include <tenure/transform/source.hpp>

namespace TENURE_NAMESPACE {

template <class F, class Execution = inherited>
struct compiled;
/// The cost of a compiled function, see plan.hpp.
template <class Program, class Device>
struct plan;

/// Memory that a caller gives to calls, see in_workspace.hpp.
template <std::int64_t Bytes>
struct workspace;
namespace detail {
template <class F, class... X>
struct call_in_memory;
template <class F, std::int64_t Bytes>
class function_in_memory;
/// Whether F is a transform like grad. A direct call of F returns values, without a history.
template <class F>
inline constexpr bool returns_derivatives = requires { F::gives_derivatives; };

/// A transform like grad inside compile(): its results join the history, as the results of any other function do.
template <class F>
struct derivative_in_history {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = F::template results<Arguments>;
  template <class... X>
  static constexpr bool accepts() { return F::template accepts<X...>(); }

  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... x) const { return f(x...); }
};
}  // namespace detail

/// A traced function. Each call compiles it for the types of the arguments. `execution` says on which threads a call runs.
template <class F, class Execution>
struct compiled {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() { return detail::gives_traced<F, X...>(); }

  [[no_unique_address]] F function{};
  [[no_unique_address]] Execution execution{};

  /// With tensors, numbers and models the results are new and owning: constants, or nodes if they depend on tracked arguments, see
  /// call_history.hpp. With traced values it calls f inside the graph of the other function.
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr ((detail::is_after_error<X> || ...)) {
      return detail::refused_call<F>(x...);
    } else if constexpr ((detail::tree<X>::traces || ...)) {
      if constexpr (!(detail::is_argument<true, X>() && ...)) return detail::refused_in_trace<F>(x...);
      else return within(detail::graph_of_arguments(x...), x...);
    } else if constexpr (!detail::is_compilable<F, X...>()) {
      return detail::refused_call<F>(x...);
    } else if constexpr (!detail::is_callable<(0u | ... | detail::tree<X>::devices)>()) {
      return detail::refused_call<F>(x...);
    } else if constexpr (!detail::is_traceable<detail::source_of_call<F, X...>>()) {
      return detail::refused_call<F>(x...);
    } else {
      [[maybe_unused]] const auto scope = execution.scope();
      if constexpr ((detail::tree<X>::tracked || ...) && !detail::returns_derivatives<F>)
        return record_call(detail::later_phase{}, element_tag<F>{}, [&] { return call(x...); }, x...);
      else return call(x...);
    }
  }

  /// The plan for arguments of these types: using plan = decltype(f.plan(x...)).
  template <class... X>
  constexpr auto plan(const X&...) const {
    if constexpr (detail::is_compilable<F, X...>()) return tenure::plan<program<detail::source_of_call<F, X...>>, detail::device_of_tree<X...>>{};
    else return tenure::plan<program<detail::refused_source<F>>, cpu_device>{};
  }

  /// f.into(r...)(x...) computes into existing tensors and allocates nothing: tensors that own their memory, views of them, and tensors over
  /// foreign memory. A target may be an argument or overlap one; two targets may not overlap. f.into(r...).copied_bytes(x...) is the number of
  /// bytes that are copied because of strides and overlaps, see into_call.
  template <class... R>
  auto into(R&&... r) const { return detail::into_call<F, Execution, R...>(execution, static_cast<R&&>(r)...); }

  /// f.in(workspace).into(r...)(x...) is a call in memory that the caller gives, see in_workspace.hpp.
  template <std::int64_t Bytes>
  constexpr auto in(workspace<Bytes>& memory) const { return detail::function_in_memory<F, Bytes>(memory.bytes); }
  /// The bytes of workspace that such a call needs.
  template <class... X>
  static constexpr std::int64_t workspace_bytes(const X&...) { return detail::call_in_memory<F, X...>::bytes; }

 private:
  template <class... X>
  constexpr auto within(ir::builder& g, const X&... x) const {
    if constexpr (detail::gives_traced<F, detail::rebind_kind_t<X, tracing>...>()) return function(detail::as_traced(g, x)...);
    else return detail::refused_in_trace<F>(x...);
  }

  template <class... X>
  static auto call(const X&... x) {
    using source = detail::source_of_call<F, X...>;
    using program_type = program<source>;
    using device_type = detail::device_of_tree<X...>;
    using result_type = detail::rebind_kind_t<typename source::result_type, detail::results_on<device_type>>;
    return detail::call_program<program_type, device_type>(
        [](void** results, const std::int64_t* symbols) {
          int i = 0;
          auto make = [&]<class L>(element_tag<L>) {
            L leaf = detail::tensor_access::allocate<L>(detail::output_extents<program_type>(i, symbols));
            results[i++] = detail::tensor_access::fresh(leaf);
            return leaf;
          };
          return detail::build_tree<result_type>(make);
        },
        detail::as_argument(x)...);
  }
};

namespace detail {

/// The function to trace. Of a compiled function, it is the function without the execution.
template <class F>
constexpr F traced_function(F f) { return f; }
template <class F, class Execution>
constexpr F traced_function(const compiled<F, Execution>& f) { return f.function; }
template <class F, class Execution>
constexpr F traced_function(const compiled<derivative_in_history<F>, Execution>& f) { return f.function.f; }

template <class Wrapper, class Execution>
constexpr compiled<Wrapper, Execution> compiled_on(Wrapper f, Execution on) { return {f, on}; }

template <class F, class Execution>
constexpr auto compiled_with_history(F f, Execution on) {
  if constexpr (returns_derivatives<F>) return compiled_on(derivative_in_history<F>{f}, on);
  else return compiled_on(f, on);
}

}  // namespace detail

namespace detail {
/// X is a tensor, an expression, a number or a traced value, and so neither a function nor an execution.
template <class X>
concept any_value = any_tensor<X> || expression<X> || scalar<X> || is_traced_v<std::remove_cvref_t<X>>;
template <class X>
concept any_execution = requires(const X& x) { x.scope(); };
}  // namespace detail

/// Compiles a function. With tracked arguments its results join the history, also for compile(grad(f)). A call of grad(f) records no history.
/// Every transform that compiles takes an execution as its last argument: a thread_pool or sequential.
template <class F, class Execution = inherited>
  requires(!detail::any_value<F> && !detail::any_value<Execution>)
constexpr auto compile(F f, Execution on = {}) { return detail::compiled_with_history(detail::traced_function(f), on); }
// Values in place of a function or beside it. They do not compile and give a message.
template <class F, class... X>
  requires(detail::any_value<F> || (detail::any_value<X> || ...))
constexpr auto compile(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: compile: it takes a function and gives a function: write compile(f)(x)");
  return after_error();
}

}  // namespace tenure

// SPDX-License-Identifier: BSL-1.0
// A traced function with its derivatives as functions of another language: what each of them computes, their signature, and the list of those that a
// library exports. A door (xla_ffi.hpp) gives them the entries that the other language calls.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <tenure/inspect/plan.hpp>
#include <tenure/interop/foreign_call.hpp>
#include <tenure/interop/signature.hpp>
#include <tenure/transform/gradient.hpp>

namespace TENURE_NAMESPACE {

/// The type of an argument that gets no derivative, such as an observation: TENURE_XLA_FFI(f, state, tn::constant_argument<data>). The vjp then costs less,
/// and a derivative with respect to it is an error in Python. Arguments that hold integers or bool are constants without it.
template <class X>
struct constant_argument {};

/// The type of an argument that the samples of a batch share, such as the weights of a network: TENURE_XLA_FFI(f, tn::shared_argument<network>, input). A batch
/// with one such argument is computed as vmap<tn::unmapped, 0>(f), by products of matrices, and its cotangent is summed there. A batch of such arguments
/// is right too, and computed one by one.
template <class X>
struct shared_argument {};

namespace detail::exports {

template <class X>
struct declared {
  static constexpr bool is_type = tree<X>::is_tree && !tree<X>::traces;
  static_assert(is_type, "tenure: TENURE_XLA_FFI, TENURE_TORCH: the type of an argument is no tensor, number, tuple, array or model: write tn::tensor<float, tn::shape<3>>");
  using type = std::conditional_t<is_type, X, float>;
  static constexpr bool is_shared = false, is_variable = are_all_floating<type>();
};
template <class X>
struct declared<constant_argument<X>> : declared<X> {
  static constexpr bool is_variable = false;
};
template <class X>
struct declared<shared_argument<X>> : declared<X> {
  static constexpr bool is_shared = true;
};
template <class X>
using operand_of = operand<typename declared<X>::type, declared<X>::is_shared>;
template <class X>
using tangent_of = operand<typename declared<X>::type, declared<X>::is_shared, true>;

/// The positions of the arguments that get a derivative.
template <class... X>
inline constexpr auto variable_positions = [] {
  std::array<int, (0 + ... + int{declared<X>::is_variable})> at{};
  int n = 0, i = 0;
  ((declared<X>::is_variable ? void(at[static_cast<std::size_t>(n++)] = i) : void(), ++i), ...);
  return at;
}();

/// The tangents of the results, from (x..., tangents of the variables...).
template <class F, int... I>
struct tangents_of {
  constexpr auto operator()(const auto&... x) const { return std::get<1>(jvp<I...>(F{})(x...)); }
};
/// The cotangents of the variables, from (x..., cotangent of the results).
template <class F, int... I>
struct cotangents_of {
  constexpr auto operator()(const auto&... x) const {
    return std::apply([](const auto&, const auto&... cotangent) { return std::tuple{cotangent...}; }, vjp<I...>(F{})(x...));
  }
};

/// The directions of a derivative share a value of so many operations or more. Each direction of a shorter one computes it again, with all numbers of a sample in
/// registers: two cotangents of an error of 120 operations, 20,000 samples, in a third of the time of sharing (AVX2); 16 tangents of a loop of 3,200 operations, 500
/// samples, in six times the time.
inline constexpr std::int64_t shared_operations = 1000;

/// Whether the directions of a derivative share the value, which this program computes: it has many operations, or an unknown number of them.
template <class Program>
constexpr bool is_worth_sharing() {
  if constexpr (Program::is_static) {
    using kind = ir::control_flow::kind;
    const ir::graph_view g = Program::value.view();
    for (int i = 0; i < g.inner.control_flow_count; ++i)
      if (const kind k = g.inner.control_flows[i].what; k == kind::while_loop || k == kind::external) return true;
    return plan<Program, cpu_device>::flops() >= shared_operations;
  } else {
    return true;
  }
}

/// What an exported function consists of, for its arguments as declared. K are numbers of variables.
template <class F, class Variables, class... X>
struct function_parts;
template <class F, std::size_t... K, class... X>
struct function_parts<F, std::index_sequence<K...>, X...> {
 private:
  static constexpr auto& positions = variable_positions<X...>;
  using result = rebind_kind_t<result_of<F, rebind_kind_t<typename declared<X>::type, tracing>...>, values>;
  template <std::size_t At>
  using variable = tangent_of<std::tuple_element_t<static_cast<std::size_t>(positions[At]), std::tuple<X...>>>;
  using value = operand<result, false>;
  using tangent = operand<result, false, true>;
  template <class Operand>
  static constexpr int axis = Operand::is_shared ? unmapped : 0;
  template <class Operand>
  static constexpr int direction_axis = Operand::is_linear ? 0 : unmapped;
  using batch = vmap_of<F, axis<operand_of<X>>...>;
  using jvp_single = tangents_of<F, positions[K]...>;
  /// Directions are the outer axis: the cotangent of a shared argument is a sum over the samples, once for each direction.
  template <class Batch, class... Operand>
  using in_directions = std::conditional_t<is_worth_sharing<program<source_of_call<F, read_alone<operand_of<X>>...>>>(), vmap_of<Batch, direction_axis<Operand>...>, void>;
  template <class... Operand>
  using jvp_of = call_of<jvp_single, vmap_of<jvp_single, axis<Operand>...>, in_directions<vmap_of<jvp_single, axis<Operand>...>, Operand...>, std::tuple<tangent>, Operand...>;
  template <class... Operand>
  using vjp_of = call_of<cotangents_of<F, positions[K]...>, cotangents_of<batch, positions[K]...>, in_directions<cotangents_of<batch, positions[K]...>, Operand...>,
                         std::tuple<variable<K>...>, Operand...>;

 public:
  static constexpr bool has_derivatives = sizeof...(K) > 0 && are_all_floating<result>();
  /// The value, from (x...).
  using value_call = call_of<F, batch, void, std::tuple<value>, operand_of<X>...>;
  /// The tangent of the result, from (x..., tangents of the variables...).
  using jvp_call = jvp_of<operand_of<X>..., variable<K>...>;
  /// The cotangents of the variables, from (x..., cotangent of the result).
  using vjp_call = vjp_of<operand_of<X>..., tangent>;

  static const char* signature() {
    static const signature_text text =
        signature_of<F, result, typename declared<X>::type...>({declared<X>::is_variable...}, {declared<X>::is_shared...}, has_derivatives);
    return text.c_str();
  }
};
template <class F, class... X>
using function_of = function_parts<F, std::make_index_sequence<variable_positions<X...>.size()>, X...>;

/// F as a type of one library. Tag is a type of one source file. Without it the code for an inline function of two libraries would be one in a process, though the
/// functions differ: g++ makes the static variables of templates unique, also across libraries that are loaded apart.
template <class F, class Tag>
struct of_library : F {};
/// A function of plain C++, which is refused.
template <class F, class Tag>
  requires(!std::is_class_v<F>)
struct of_library<F, Tag> { using not_traceable = F; };

/// Whether F takes one argument for each type, and gives values. If not, a static_assert gives the reason.
template <class F, class... Traced>
constexpr bool is_exportable() {
  constexpr bool is_plain = requires { typename F::not_traceable; }, any = sizeof...(Traced) > 0;
  static_assert(!is_plain, "tenure: TENURE_XLA_FFI, TENURE_TORCH: a plain C++ function cannot be traced: give a lambda, [](auto x) { ... }");
  static_assert(is_plain || any, "tenure: TENURE_XLA_FFI, TENURE_TORCH: the types of the arguments are missing: TENURE_XLA_FFI(f, tn::tensor<float, tn::shape<3>>)");
  if constexpr (is_plain || !any || !is_known_by_type<F>()) {
    return false;
  } else if constexpr (transform<F>) {
    return gives_traced<F, Traced...>();
  } else {
    constexpr bool takes = requires(const F& f, const Traced&... x) { f(x...); };
    static_assert(takes, "tenure: TENURE_XLA_FFI, TENURE_TORCH: the function does not take one argument for each type: its name is followed by as many types as it has parameters, and these are auto");
    if constexpr (takes) return gives_traced<F, Traced...>();
    else return false;
  }
}

/// The record of an exported function, which the other language reads. The entries are those of the value, the jvp and the vjp; null: there is none.
template <class Entry>
struct record {
  const char* name;
  Entry* entries[3];
  const char* (*signature)();
  const record* next;
};
/// The functions of this library. Hidden: each library has its own list.
template <class Entry>
__attribute__((visibility("hidden"))) inline const record<Entry>* first_record = nullptr;

/// Exports F on arguments of the types X. Door<Call>::run is the entry of a call.
template <template <class> class Door, class Entry, class F, class... X>
struct exported : record<Entry> {
  using function = function_of<F, X...>;

  explicit exported([[maybe_unused]] const char* written) : record<Entry>{} {
    // A function that is refused has given its message.
    if constexpr (is_exportable<F, rebind_kind_t<typename declared<X>::type, tracing>...>()) {
      static_cast<record<Entry>&>(*this) = {written, {Door<typename function::value_call>::run, jvp(), vjp()}, function::signature, first_record<Entry>};
      first_record<Entry> = this;
    }
  }
  exported(const exported&) = delete;

 private:
  static constexpr Entry* jvp() {
    if constexpr (function::has_derivatives) return Door<typename function::jvp_call>::run;
    else return nullptr;
  }
  static constexpr Entry* vjp() {
    if constexpr (function::has_derivatives) return Door<typename function::vjp_call>::run;
    else return nullptr;
  }
};

}  // namespace detail::exports
}  // namespace tenure

// The object that exports a function, and a type of this source file.
#define TENURE_EXPORTED_AS(door, function, tag, object, ...) \
  namespace {                                               \
  struct tag;                                               \
  }                                                         \
  static const decltype(::tenure::detail::exports::door<tag __VA_OPT__(, ) __VA_ARGS__>(function)) object(#function)
#define TENURE_EXPORTED_NAMED(door, function, number, ...) \
  TENURE_EXPORTED_AS(door, function, tenure_tag_##number, tenure_exported_##number __VA_OPT__(, ) __VA_ARGS__)
#define TENURE_EXPORTED(door, function, number, ...) TENURE_EXPORTED_NAMED(door, function, number __VA_OPT__(, ) __VA_ARGS__)

// SPDX-License-Identifier: BSL-1.0
// A traced function with the types of its arguments: the source of a program.
#pragma once

#include <tenure/ir/builder.hpp>
#include <tenure/transform/call_rules.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Appends an input. Its run-time extents become symbols. If the input may have any strides, the strides become symbols too.
template <class T, class S>
constexpr traced<T, S> new_input(ir::builder& g, bool strided) {
  const int index = g.view().input_count;
  extents e = S::value;
  for (int a = 0; a < e.rank; ++a)
    if (!is_static(e[a])) e[a] = g.new_symbol({ir::symbol::kind::argument, index, a, is_named(e[a]) ? e[a] : 0});
  const ir::node_id id = g.input(dtype_v<T>, e, strided);
  if (strided)
    for (int a = 0; a < e.rank; ++a) g.new_symbol({ir::symbol::kind::stride, index, a, 0});
  return {&g, id};
}

/// A traced function with the types of its arguments, from which a program is compiled. If bit i of Strided is set, argument i may have
/// any strides. `InTurn`: a large function under vmap may run for one sample after the other.
template <class F, std::uint64_t Strided, bool InTurn, class... Traced>
struct source {
  using result_type = result_of<F, Traced...>;

  static constexpr ir::builder trace() {
    ir::builder g;
    if constexpr (InTurn) g.let_samples_run_in_turn();
    int argument = 0;
    const auto make = [&]<class X>(element_tag<X>) {
      const bool strided = (Strided >> (argument++ & 63)) & 1;
      auto leaf = [&]<class L>(element_tag<L>) { return new_input<typename L::element_type, typename L::shape_type>(g, strided); };
      return build_tree<X>(leaf);
    };
    const called call{make(element_tag<Traced>{})...};
    for_each_leaf(call.results, [&](const auto& r) { g.output(r.id); });
    g.canonicalize();
    return g;
  }

 private:
  // Braces evaluate the arguments in order. A std::tuple would cost 10 ms of compile time, and std::apply would add five calls to each compiler
  // message from within F.
  struct called {
    result_type results;
    constexpr explicit called(const Traced&... x) : results(F{}(x...)) {}
  };
};

/// A bit for each argument that may have any strides. `KnowsRowMajor`: small views are read as row-major arrays.
template <class... X, bool KnowsRowMajor = false>
constexpr std::uint64_t strided_arguments(std::bool_constant<KnowsRowMajor> = {}) {
  static_assert(sizeof...(X) <= 64, "tenure: trace: a function has at most 64 arguments: hand over several as one tuple or one model");
  std::uint64_t mask = 0;
  int i = 0;
  ((mask |= std::uint64_t{!(KnowsRowMajor ? tree<X>::row_major : tree<X>::contiguous)} << (i++ & 63)), ...);
  return mask;
}

/// Whether all arguments are in the memory of the CPU. A GPU runs all samples at once.
template <class... X>
inline constexpr bool is_for_cpu = std::is_same_v<typename device_of_bits<(0u | ... | tree<X>::devices)>::type, cpu_device>;

template <class F, class... X>
using source_of = source<F, strided_arguments<X...>(), is_for_cpu<X...>, rebind_kind_t<X, tracing>...>;
/// The same for a call that reads small views as row-major arrays (row_major.hpp).
template <class F, class... X>
using source_of_call = source<F, strided_arguments<X...>(std::bool_constant<true>{}), is_for_cpu<X...>, rebind_kind_t<X, tracing>...>;

}  // namespace detail
}  // namespace tenure

// SPDX-License-Identifier: BSL-1.0
// The programs that are compiled for an expression. One computes its value. One computes value and gradients of a single element in one graph. One
// computes the gradients from the cotangent and the result. The inputs are in the order in which for_each_operand visits the operands.
#pragma once

#include <tenure/expr/lazy.hpp>
#include <tenure/eager/backward.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/gradient.hpp>

namespace TENURE_NAMESPACE::detail {

/// The bytes of the copy that an evaluation may make of an operand, a view with few static extents. Its program reads the view as a row-major array, as a call
/// does (transform/row_major.hpp). -1: the operand owns its memory, or the program has its strides as run-time numbers.
template <class X>
inline constexpr std::int64_t bytes_of_operand = -1;
template <class T, class S, bool Tracked, class Device>
inline constexpr std::int64_t bytes_of_operand<captured<T, S, true, Tracked, Device>> = bytes_of_copy<T, S, Device>();

template <class X>
inline constexpr std::int64_t bytes_of_operands = bytes_of_operand<X> < 0 ? 0 : bytes_of_operand<X>;
template <class Operation, class... Operand>
inline constexpr std::int64_t bytes_of_operands<lazy<Operation, Operand...>> = (std::int64_t{0} + ... + bytes_of_operands<Operand>);

template <class X>
struct lowering {
  static constexpr auto lower(ir::builder& g, ir::array<ir::node_id>& tracked) {
    if constexpr (is_captured<X>) {
      const auto x = new_input<typename X::element_type, typename X::shape_type>(g, X::is_strided && bytes_of_operand<X> < 0);
      if constexpr (X::is_tracked) tracked.push_back(x.id);
      return x;
    } else {
      return new_input<typename X::element_type, typename X::shape_type>(g, false);
    }
  }
};
template <class Operation, class... Operand>
struct lowering<lazy<Operation, Operand...>> {
  static constexpr auto lower(ir::builder& g, ir::array<ir::node_id>& tracked) {
    const std::tuple<traced_operand<Operand>...> x{lowering<Operand>::lower(g, tracked)...};
    return std::apply([](const auto&... part) { return called<Operation, traced_operand<Operand>...>::trace(part...); }, x);
  }
};

/// Appends the gradients of wrt, given the cotangents of the results, and makes them outputs. A gradient without a path to a result is zero.
constexpr void output_gradients(ir::builder& g, const ir::node_id* results, const ir::node_id* cotangents, int count, const ir::array<ir::node_id>& wrt) {
  ir::array<ir::node_id> gradients(wrt.size(), ir::none);
  passes::reverse(g, results, cotangents, count, wrt.data(), wrt.size(), gradients.data());
  for (int i = 0; i < wrt.size(); ++i) g.output(gradients[i] != ir::none ? gradients[i] : ops::value(g, wrt[i]).like(0).id);
}

/// Whether e can be computed on the device of its operands. If not, a static_assert gives the reason.
template <class E>
constexpr bool is_evaluable() {
  constexpr bool runs = backend<device_of_t<E>>::is_included;
  static_assert(runs, "tenure: eval: expressions on a device need its header: #include <tenure/cuda.hpp>, and for the CPU in a .cu file <tenure/cpu.hpp>");
  return runs;
}

/// The program of the value.
template <class E>
struct value_source {
  static constexpr ir::builder trace() {
    ir::builder g;
    ir::array<ir::node_id> tracked;
    g.output(lowering<E>::lower(g, tracked).id);
    g.canonicalize();
    return g;
  }
};

/// The program of the value and the gradients of an expression with a single element, in one graph.
template <class E>
struct backward_source {
  static constexpr ir::builder trace() {
    ir::builder g;
    ir::array<ir::node_id> tracked;
    const auto y = lowering<E>::lower(g, tracked);
    g.output(y.id);
    const ir::node_id result = y.id, one = ops::value(y).like(1).id;
    output_gradients(g, &result, &one, 1, tracked);
    g.canonicalize();
    return g;
  }
};

/// Which results of an expression or a call depend on tracked operands: the only result of an expression.
struct one_result {
  static constexpr struct {
    bool at[1];
    int number;
  } found{{true}, 1};
};

/// The program of the gradients. The cotangents of the tracked results and these results are more inputs. If the derivative uses the node of a result,
/// it reads this input instead. So the results and the operands that only the results need are not computed again.
template <class E, class Results = one_result>
struct cotangent_source {
  static constexpr ir::builder trace() {
    ir::builder g;
    ir::array<ir::node_id> tracked, outputs, cotangents, results;
    int i = 0;
    for_each_leaf(lowering<E>::lower(g, tracked), [&](const auto& leaf) {
      if (Results::found.at[i++]) outputs.push_back(leaf.id);
    });
    for (const ir::node_id y : outputs) cotangents.push_back(g.input(g[y].type, extents(g.shape_of(y))));
    for (const ir::node_id y : outputs) results.push_back(g.input(g[y].type, extents(g.shape_of(y))));
    const int forward_end = g.count();
    output_gradients(g, outputs.data(), cotangents.data(), outputs.size(), tracked);
    for (int k = 0; k < outputs.size(); ++k)
      if (g[outputs[k]].op != ir::opcode::input) g.redirect(forward_end, outputs[k], results[k]);
    g.drop_other_bounds();  // indices that only the value reads may be gone
    g.canonicalize();
    return g;
  }
};

/// The inputs that a program reads to compute the outputs from number `first` on. With first = 0, also the inputs whose indices the program checks.
template <class Program, int Inputs>
struct inputs_read {
  bool at[Inputs + 1] = {};

  constexpr explicit inputs_read(int first = 0) {
    const ir::graph_view g = Program::value.view();
    ir::array<char> needed(g.count, 0);
    for (int i = first; i < g.output_count; ++i) needed[g.outputs[i]] = 1;
    for (int i = 0; first == 0 && i < g.bound_count; ++i) needed[g.bounds[i].indices] = 1;
    ir::mark_needed(g.nodes, g.count, needed.data());
    for (int i = 0; i < g.count; ++i)
      if (needed[i] && g[i].op == ir::opcode::input && g[i].attr < Inputs) at[g[i].attr] = true;
  }
};

/// In place of copies_of_views, where only the extents of operands are read.
struct no_copies {
  template <class S, class T>
  const void* read(const T* data, const extents&) const { return data; }
};

/// Appends the operands of e. `copies` has memory for those that are read as row-major arrays.
template <class E, class Copies = const no_copies>
TENURE_INLINE void collect_operands(const E& e, leaf_argument*& at, Copies& copies = no_copies{}) {
  for_each_operand(e, [&](const auto& x) {
    using X = std::remove_cvref_t<decltype(x)>;
    if constexpr (is_captured<X>) {
      if constexpr (X::devices != device_bit<cpu_device>) x.storage.note_use();
      constexpr bool is_row_major = !std::is_same_v<Copies, const no_copies> && bytes_of_operand<X> >= 0;
      if constexpr (is_row_major) *at++ = {copies.template read<typename X::shape_type>(x.data, x.strides()), {}, {}};
      else *at++ = {x.data, x.shape(), x.strides()};
    } else {
      *at++ = {&x.value, {}, {}};
    }
  });
}

/// Moves the plain numbers of an expression to its device. The returned object owns their memory.
template <class Device, class E>
auto place_operand_numbers(const E& e, leaf_argument* arguments) {
  if constexpr (std::is_same_v<Device, cpu_device>) {
    return 0;
  } else {
    numbers_on<Device, operand_count<E>> numbers;
    int i = 0;
    for_each_operand(e, [&](const auto& x) {
      if constexpr (!is_captured<std::remove_cvref_t<decltype(x)>>) numbers.keep(i, x.value);
      ++i;
    });
    return numbers.upload([&](int at, const void* there) { arguments[at].data = there; });
  }
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_changed_operand(const char* call, bool was_moved) {
  throw ownership_error(message(call) << (was_moved ? "the expression is empty: it was moved from"
                                                    : "an operand was written after the expression was made: take tn::eval() of it before the write"));
}
/// Throws if an operand was written after the expression was made, or if the expression was moved from.
void check_versions(const auto& e, const char* call) {
  for_each_operand(e, [&](const auto& x) {
    if constexpr (is_captured<std::remove_cvref_t<decltype(x)>>)
      if (!x.storage || (TENURE_VERSION_COUNTERS && x.storage.version() != x.version)) [[unlikely]]
        throw_changed_operand(call, !x.storage);
  });
}

void add_accumulations(const auto& e, accumulation*& at) {
  for_each_operand(e, [&](const auto& x) {
    if constexpr (is_tracked_operand<std::remove_cvref_t<decltype(x)>>) (at++)->accumulator = x.accumulator.handle;
  });
}
void reach_operands(const auto& e, backward_queue& queue) {
  for_each_operand(e, [&](const auto& x) {
    if constexpr (is_tracked_operand<std::remove_cvref_t<decltype(x)>>) queue.reach(x.accumulator.handle);
  });
}
template <class X>
inline constexpr int tracked_count = is_tracked_operand<X>;
template <class Operation, class... Operand>
inline constexpr int tracked_count<lazy<Operation, Operand...>> = (0 + ... + tracked_count<Operand>);

}  // namespace tenure::detail

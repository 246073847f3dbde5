// SPDX-License-Identifier: BSL-1.0
// Evaluating expressions over live tensors: into new memory, into a tensor that exists, in place. Right sides are whole
// values: where the target is also read other than element by element, they are computed into a temporary first.
#pragma once

#include <tenure/ops/movement.hpp>
#include <tenure/transform/history.hpp>

namespace tenure {
namespace ops {

/// x in memory of its own.
struct clone {
  template <class X>
  static constexpr auto trace(const X& x) {
    return X{x.graph, x.graph->emit({.op = ir::opcode::copy, .type = dtype_v<typename X::element_type>, .arity = 1, .shape = (*x.graph)[x.id].shape, .in = {x.id, ir::none, ir::none}})};
  }
};

/// y stretched to the shape of x and converted to its type: what x.copy_(y) leaves in x.
template <class T, class S>
struct assigned {
  template <class Y>
  static constexpr auto trace(const Y& y) {
    return traced<T, S>{y.graph, y.id};
  }
};

}  // namespace ops

namespace detail {

/// Computes e into memory that `make(shape)` gives after every check. Row-major.
template <class E, class Make>
void evaluate_into(const E& e, Make make) {
  using program_type = program<value_source<E>>;
  check_versions(e, "eval");
  constexpr int n = operand_count<E>;
  leaf_argument arguments[n];
  const void* pointers[n];
  leaf_argument* at = arguments;
  collect_operands(e, at);
  call_bound<program_type>(arguments, n, pointers, [&](void** results, const std::int64_t* symbols) {
    results[0] = make(output_extents(program_type::value.view(), 0, symbols));
    return 0;
  });
}

template <class E>
typename E::element_type evaluate_item(hook, const E& e) {
  typename E::element_type value{};
  evaluate_into(e, [&](const extents& s) {
    if (count(s) != 1) throw shape_error("tenure: item: an expression of shape " + spell(s) + " does not have exactly one element");
    return &value;
  });
  return value;
}

/// An owning constant with the value of e.
template <class E>
auto evaluate_constant(const E& e) {
  using result = tensor<typename E::element_type, typename E::shape_type>;
  result made = tensor_access::make<result>({}, nullptr, {}, {});
  evaluate_into(e, [&](const extents& s) {
    made = tensor_access::allocate<result>(s);
    return tensor_access::fresh(made);
  });
  return made;
}

/// The tensor that e evaluates to: a constant, or a node with the history of e.
template <class E>
auto evaluate(const E& e) {
  auto value = evaluate_constant(e);
  if constexpr (!E::is_tracked) {
    return value;
  } else {
    auto* const history = new expression_history<E>(e, value.extents());
    sink_handle sink(history);
    history->save_result(tensor_access::storage(value), tensor_access::fresh(value));
    return tensor_access::make<typename E::tensor_type>(tensor_access::storage(value), tensor_access::fresh(value), value.extents(), value.strides(), std::move(sink));
  }
}

template <class X, class E>
void construct_from(hook, X& empty, const E& e) {
  static_assert(requires_grad_v<X> == E::is_tracked || !E::is_tracked, "tenure: tensor: a tracked expression into a constant: detach it first");
  static_assert(std::is_same_v<element_t<X>, typename E::element_type>, "tenure: tensor: the expression has another element type");
  static_assert(std::is_same_v<shape_of_t<X>, typename E::shape_type> || !shape_of_t<X>::is_static || !E::shape_type::is_static, "tenure: tensor: the expression has another shape");
  if constexpr (E::is_tracked == requires_grad_v<X>) {
    auto made = evaluate(e);
    if constexpr (std::is_same_v<X, decltype(made)>) {
      tensor_access::rebind(empty, std::move(made));
    } else {
      check_extents<shape_of_t<X>>(made.extents());
      if constexpr (requires_grad_v<X>)
        tensor_access::rebind(empty, tensor_access::make<X>(tensor_access::storage(made), tensor_access::fresh(made), made.extents(), made.strides(), tensor_access::sink(made)));
      else
        tensor_access::rebind(empty, tensor_access::make<X>(tensor_access::storage(made), tensor_access::fresh(made), made.extents(), made.strides()));
    }
  }
}

/// Throws shape_error where a target of a static or partly static shape cannot hold these extents.
template <class S>
void check_extents(const extents& s) {
  for (int a = 0; a < s.rank; ++a)
    if (is_static(S::value[a]) && S::value[a] != s[a]) throw shape_error("tenure: tensor: an expression of shape " + spell(s) + " for a tensor of shape " + spell(S::value));
}

/// May the program write its result over input i while it reads it? Only where one kernel reads element j and writes element j.
template <class Program>
constexpr bool reads_elementwise(int input) {
  const ir::graph_view g = Program::value.view();
  const passes::plan_builder plan = passes::schedule(g);
  if (plan.steps.size() != 1 || plan.steps[0].what != passes::step::kind::fused || plan.kernels[0].passes != 1) return false;
  const passes::kernel& k = plan.kernels[0];
  passes::access written{};
  for (int i = 0; i < k.instruction_count; ++i) {
    const passes::instruction& x = plan.instructions[k.first_instruction + i];
    if (x.what == passes::instruction::kind::store && !x.row) written = plan.accesses[k.first_access + x.access];
    else if (x.what != passes::instruction::kind::load && x.what != passes::instruction::kind::compute && x.what != passes::instruction::kind::constant) return false;
  }
  for (int a = 0; a < k.access_count; ++a) {
    const passes::access& x = plan.accesses[k.first_access + a];
    if (x.buffer < 0) continue;
    const passes::buffer& b = plan.buffers[x.buffer];
    if (b.where != passes::buffer::place::argument || b.index != input) continue;
    if (x.offset.factor != 0 || x.type != plan.buffers[written.buffer].type) return false;
    for (int d = 0; d < k.outer + k.inner; ++d)
      if (!(x.stride[d] == written.stride[d])) return false;
  }
  return true;
}

/// Writes the value of e into x's memory. Extents must be x's, or broadcast to them.
template <class X, class E>
void write_value(X& x, const E& e, const char* call) {
  using program_type = program<value_source<E>>;
  constexpr bool fits = std::is_same_v<element_t<X>, typename E::element_type> && ownership_of_v<X> == ownership::owning && shape_of_t<X>::rank == E::shape_type::rank;
  if constexpr (fits) {
    bool in_place = true;
    int i = 0;
    constexpr auto elementwise = [] {
      struct { bool at[operand_count<E> + 1] = {}; } r;
      for (int j = 0; j < operand_count<E>; ++j) r.at[j] = reads_elementwise<program_type>(j);
      return r;
    }();
    for_each_operand(e, [&](const auto& operand) {
      if constexpr (requires { operand.storage; })
        if (operand.storage == tensor_access::storage(x) && !(elementwise.at[i] && static_cast<const void*>(operand.data) == tensor_access::fresh(x))) in_place = false;
      ++i;
    });
    if (in_place) {
      bool same = true;
      tensor<element_t<X>, typename E::shape_type> other = tensor_access::make<tensor<element_t<X>, typename E::shape_type>>({}, nullptr, {}, {});
      evaluate_into(e, [&](const extents& s) -> element_t<X>* {
        same = s == x.extents();
        if (same) return tensor_access::write(x, call);
        other = tensor_access::allocate<decltype(other)>(s);
        return tensor_access::fresh(other);
      });
      if (!same) copy_into(x, other, call);
      return;
    }
  }
  const auto value = evaluate_constant(e);
  copy_into(x, value, call);
}

template <class X, class E>
void assign_from(hook, X& x, const E& e) {
  if constexpr (any_tensor<E>) {
    const auto source = e.detach();
    copy_into(x, source, "operator=");
  } else {
    static_assert(requires_grad_v<X> || !E::is_tracked, "tenure: operator=: a tracked expression into a constant: detach it first");
    if constexpr (requires_grad_v<X>) {
      // A node owns its history with its value: the new value brings its own.
      auto made = evaluate(e);
      static_assert(std::is_same_v<X, decltype(made)>, "tenure: operator=: the expression has another element type, shape or role");
      if constexpr (std::is_same_v<X, decltype(made)>) tensor_access::rebind(x, std::move(made));
    } else if constexpr (!E::is_tracked) {
      write_value(x, e, "operator=");
    }
  }
}

template <class X, class E>
void copy_from(hook, X& x, const E& e) {
  if constexpr (requires_grad_v<X> || !E::is_tracked) write_value(x, e, "copy_");
}

template <class Op>
struct in_place_operation;
template <>
struct in_place_operation<add_in_place> { using type = ops::add; };
template <>
struct in_place_operation<subtract_in_place> { using type = ops::sub; };
template <>
struct in_place_operation<multiply_in_place> { using type = ops::mul; };
template <>
struct in_place_operation<divide_in_place> { using type = ops::div; };

/// x op= e on a constant.
template <class Op, class X, class E>
void update_from(hook, Op, X& x, const E& e) {
  using operation = typename in_place_operation<Op>::type;
  constexpr bool tracked = !scalar<E> && [] { if constexpr (scalar<E>) return false; else return requires_grad_v<E>; }();
  static_assert(!tracked, "tenure: in-place: a tracked operand changes the target's type: write std::move(target).add_(x), or detach() the operand");
  if constexpr (!tracked) {
    const auto updated = apply<operation>(x, e);
    static_assert(is_floating(dtype_v<element_t<X>>) || !is_floating(dtype_v<typename decltype(updated)::element_type>), "tenure: in-place: the result is floating, the target holds integers");
    static_assert(std::is_same_v<shape_of_t<X>, typename decltype(updated)::shape_type> || !shape_of_t<X>::is_static, "tenure: in-place: the result would be larger than the target");
    write_value(x, updated, "in-place");
  }
}

template <class X>
auto clone_tracked(hook, const X& x) { return evaluate(apply<ops::clone>(x)); }

template <class U, class X>
auto convert_tracked(hook, element_tag<U>, const X& x) { return evaluate(apply<ops::cast<U>>(x)); }

/// backward of an expression that is no single element: its cotangent is given.
template <class E, class C>
void backward_with(hook, const E& e, const C& cotangent, bool retain_graph) {
  auto y = evaluate(e);
  if (!(y.extents() == cotangent.extents()))
    throw shape_error("tenure: backward: a cotangent of shape " + spell(cotangent.extents()) + " for a value of shape " + spell(y.extents()));
  run_backward(retain_graph, [&] {
    delivery d{tensor_access::sink(y)};
    auto* const to = static_cast<element_t<C>*>(d.begin());
    copy_elements(to, row_major(cotangent.extents()), tensor_access::read(cotangent, "backward"), cotangent.strides(), cotangent.extents());
    d.finish();
  });
}

}  // namespace detail

/// Computes an expression once: a constant, or a node where an operand is tracked.
template <expression E>
auto eval(const E& e) { return detail::evaluate(e); }

}  // namespace tenure

// SPDX-License-Identifier: BSL-1.0
// A traced value. Element type and shape are in its type. The value is a node of a graph. Operations on it append nodes, and ordinary
// C++ code runs while tracing. It has the same members as a tensor, and they call the operations of ops/.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <tuple>

#include <tenure/expr/movement_members.hpp>
#include <tenure/ir/builder.hpp>
#include <tenure/tensor/concepts.hpp>
#include <tenure/tensor/indexing.hpp>
#include <tenure/tensor/later.hpp>
#include <tenure/tensor/members/reductions.hpp>

namespace TENURE_NAMESPACE {

namespace detail {
template <class I>
concept traced_integer = traces<I> && std::is_integral_v<typename I::element_type> && I::shape_type::rank == 0;

/// The std::tuple_size of a traced value or an expression. auto [a, b] = x asks for it.
template <class X>
struct is_one_value {
  static_assert(never<X>, "tenure: auto [a, b]: there is one value here: topk gives elements and argtopk positions, value_and_grad gives a pair, rows are x[0], x[1]");
  static const std::size_t value;  // not a constant, so that the compiler does not go on to look for get()
};
}

/// The extents of a traced value with run-time axes. The graph knows such an extent by a negative number, which no user may compute with.
struct traced_extents {
  const extents& all;
  ir::builder* graph;
  int rank;

  constexpr operator const extents&() const { return all; }
  constexpr std::int64_t operator[](int axis) const {
    if (!is_static(all[axis])) graph->refuse({ir::diagnostic::kind::extent});
    return all[axis];
  }
};

template <element T, class Shape>
struct traced : movement_members<traced<T, Shape>>, reduction_members<traced<T, Shape>> {
  using element_type = T;
  using shape_type = Shape;
  struct traced_tag {};

  ir::builder* graph = nullptr;
  ir::node_id id = ir::none;

  traced() = default;
  constexpr traced(ir::builder* g, ir::node_id i) : graph(g), id(i) {}
  traced(const traced&) = default;
  /// Does not compile: a number has no graph. It gives the message.
  template <scalar U>
    requires(Shape::rank == 0)
  constexpr explicit traced(U) {
    static_assert(detail::never<U>, "tenure: trace: T(0.0) of a traced scalar T has no graph: templated C++ is called by tn::as_numbers(f), with a number T that has one; in a trace a variable begins with tn::zeros_like(x)");
  }

  /// shape()[axis] and extent(axis) compile only for axes of static extent. tn::extent<A>(x) is a traced number for every axis.
  constexpr decltype(auto) shape() const {
    if constexpr (Shape::is_static) return graph->shape_of(id);
    else return traced_extents{graph->shape_of(id), graph, Shape::rank};
  }
  constexpr std::int64_t extent(int axis) const { return shape()[axis]; }
  /// The number of elements. It compiles only where all extents are static.
  constexpr std::int64_t size() const {
    if constexpr (Shape::is_static) return Shape::size;
    else return graph->refuse({ir::diagnostic::kind::extent}), 1;
  }

  /// One index, range<I, J>(), window or all for each of the first axes; integers may come from a C++ loop, or be traced.
  constexpr auto at(const auto&... index) const { return subscript(detail::later_phase{}, *this, index...); }
  constexpr auto operator[](const auto& index) const { return subscript(detail::later_phase{}, *this, index); }
  /// The element at an index for each axis, as a traced number. An index may be traced too.
  template <class... I>
    requires((std::integral<I> || detail::traced_integer<I>) && ...)
  constexpr auto operator()(I... index) const {
    static_assert(sizeof...(I) == Shape::rank, "tenure: operator(): one index is needed for each axis");
    if constexpr (sizeof...(I) == Shape::rank) return subscript(detail::later_phase{}, *this, index...);
    else return *this;
  }
  template <class... I>
    requires(detail::part_of_axis<I> || ...)
  constexpr after_error operator()(const I&...) const {
    static_assert(detail::never<I...>, "tenure: operator(): it reads one element: a row, a column or a range is x.at(tn::all, i)");
    return after_error();
  }
  template <class... I>
    requires(detail::is_floating_index<I> || ...)
  constexpr after_error operator()(const I&...) const {
    static_assert(detail::never<I...>, "tenure: operator(): an index is floating: indices are integers, and tn::cast<std::int64_t>(i) makes one of a traced number");
    return after_error();
  }

  /// The value itself: nothing is written in a trace, so there is nothing to copy.
  constexpr traced clone() const { return *this; }

  // ---- members that do not compile: a traced value is neither a known number nor memory -------------------------------

  constexpr explicit operator bool() const {
    static_assert(detail::never<T>, "tenure: trace: cannot branch on a traced value; use where(condition, a, b)");
    return false;
  }
  constexpr operator double() const {  // only one conversion, so that std::exp(x) is not ambiguous and gives this message
    static_assert(detail::never<T>, "tenure: trace: a traced value is no number yet: compute with the value itself, by tn::sin(x) in place of std::sin(x); a variable of one is auto, and a sum begins with tn::full_like(x, 0.0)");
    return 0;
  }
  constexpr detail::no_iterator<traced> begin() const {
    static_assert(detail::never<T>, "tenure: begin: a traced value is not a range: loop over indices, x[i]");
    return {this};
  }
  constexpr detail::no_iterator<traced> end() const { return {this}; }
  constexpr auto item() const {
    static_assert(detail::never<T>, "tenure: item: a traced value is no number yet: compute with the value itself");
    return *this;
  }
  constexpr auto detach() const {
    static_assert(detail::never<T>, "tenure: detach: in a trace call stop_gradient(x)");
    return *this;
  }
  constexpr auto backward() const {
    static_assert(detail::never<T>, "tenure: backward: in a trace call grad(f)(x)");
  }

  /// A variable can get another value of its type. Elements cannot be assigned. (The result type is not deduced, because std::tuple checks
  /// whether its elements are assignable.)
  constexpr traced& operator=(const traced&) & = default;
  template <class E>
  constexpr traced& operator=(const E&) & {
    static_assert(detail::never<E>, "tenure: operator=: a traced variable keeps its element type and shape");
    return *this;
  }
  constexpr const traced& operator=(const auto& e) const& {
    unwritten(e);
    return *this;
  }
  constexpr auto operator+=(const auto& e) const { return unwritten(e); }
  constexpr auto operator-=(const auto& e) const { return unwritten(e); }
  constexpr auto operator*=(const auto& e) const { return unwritten(e); }
  constexpr auto operator/=(const auto& e) const { return unwritten(e); }
  constexpr auto add_(const auto& e) const { return unwritten(e); }
  constexpr auto sub_(const auto& e) const { return unwritten(e); }
  constexpr auto mul_(const auto& e) const { return unwritten(e); }
  constexpr auto div_(const auto& e) const { return unwritten(e); }
  constexpr auto copy_(const auto& e) const { return unwritten(e); }
  constexpr auto fill_(const auto& e) const { return unwritten(e); }

 private:
  template <class E>
  constexpr auto unwritten(const E&) const {
    static_assert(detail::never<E>, "tenure: trace: a traced value is not written: make a new one, x = x + y; for a part of it, dynamic_update(x, part, position...); for elements, stack(...) and block<R, C>(...)");
    return *this;
  }
};

template <class T, class Shape>
constexpr auto& operator<<(std::ostream& out, const traced<T, Shape>&) {
  static_assert(detail::never<T>, "tenure: operator<<: a traced value has no elements yet: print what the function returns");
  return out;
}

namespace detail {
template <class T, class S>
struct tensor_traits<traced<T, S>> {
  static constexpr bool is_tensor = false;
  using element_type = T;
  using shape_type = S;
};
template <class T, class S>
struct tensor_traits<tensor<traced_element<T>, S>> : tensor_traits<after_error> {};
template <class T, class S>
inline constexpr bool is_after_error_type<tensor<traced_element<T>, S>> = true;
}  // namespace detail
/// Does not compile: tn::tensor h = x of a traced x, and tn::tensor{x(0), x(1)}. It gives the message.
template <class T, class S>
class tensor<detail::traced_element<T>, S> : public after_error {
  static constexpr bool is_one = !std::is_same_v<T, detail::undeduced>;
  static_assert(!is_one, "tenure: tensor: a traced value has no memory: write auto h = tn::eval(x), in a trace and with tensors");
  static_assert(is_one, "tenure: tensor: traced numbers in braces: in a trace write tn::stack(a, b), and tn::block<2, 2>(a, b, c, d) for a matrix");

 public:
  template <class... X>
  constexpr tensor(const X&...) {}
  constexpr tensor& operator=(const auto&) { return *this; }
};
template <class T, class S>
tensor(traced<T, S>) -> tensor<detail::traced_element<T>, S>;

template <class X>
inline constexpr bool is_traced_v = false;
template <class T, class S>
inline constexpr bool is_traced_v<traced<T, S>> = true;

}  // namespace tenure

template <class T, class Shape>
struct std::tuple_size<tenure::traced<T, Shape>> : tenure::detail::is_one_value<T> {};

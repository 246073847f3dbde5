// SPDX-License-Identifier: BSL-1.0
// Arguments and results of functions are trees. A leaf is a tensor, a traced value or a number. A branch is a tuple, a pair, an array, or a model
// (a Boost.Hana struct, see model.hpp). The leaves of a tree have a fixed order, and graphs number them in this order.
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include <tenure/expr/apply.hpp>
#include <tenure/tensor/tensor.hpp>
#include <tenure/tensor/writable.hpp>

namespace TENURE_NAMESPACE {

namespace detail {

struct plus {
  constexpr auto operator()(const auto& a, const auto& b) const { return a + b; }
};
struct minus {
  constexpr auto operator()(const auto& a, const auto& b) const { return a - b; }
};
struct times {
  constexpr auto operator()(const auto& a, const auto& b) const { return a * b; }
};
struct over {
  constexpr auto operator()(const auto& a, const auto& b) const { return a / b; }
};
struct negated {
  constexpr auto operator()(const auto& a) const { return -a; }
};
template <class X>
constexpr bool is_branch_type();
template <class X>
inline constexpr bool is_branch = is_branch_type<X>();
template <class Operation, class... X>
constexpr auto on_leaves(const X&... x);  // tree_map.hpp

/// The arithmetic of models, leaf by leaf. A number or a single tensor goes to every leaf. A kind is a template argument of a model, so
/// argument-dependent lookup finds these operators for models and not for tensors.
struct arithmetic_of_models {
  template <class A, class B> requires(is_branch<A> || is_branch<B>) friend constexpr auto operator+(const A& a, const B& b) { return on_leaves<plus>(a, b); }
  template <class A, class B> requires(is_branch<A> || is_branch<B>) friend constexpr auto operator-(const A& a, const B& b) { return on_leaves<minus>(a, b); }
  template <class A, class B> requires(is_branch<A> || is_branch<B>) friend constexpr auto operator*(const A& a, const B& b) { return on_leaves<times>(a, b); }
  template <class A, class B> requires(is_branch<A> || is_branch<B>) friend constexpr auto operator/(const A& a, const B& b) { return on_leaves<over>(a, b); }
  template <class A> requires is_branch<A> friend constexpr auto operator-(const A& a) { return on_leaves<negated>(a); }
  /// The operators of tensors leave these models to the ones above.
  template <class A> requires is_branch<A> friend constexpr void has_own_arithmetic(const A&) {}
};

}  // namespace detail

// Kinds of leaves. A kind decides the type of param<Kind, float, shape<3>> in a model.

/// Traced values, the leaves while a function is traced.
struct tracing : detail::arithmetic_of_models {
  template <class T, class S>
  using type = traced<T, S>;
};
/// Tensors that own their memory and carry no gradient: the leaves of models, results and gradients.
struct values : detail::arithmetic_of_models {
  template <class T, class S>
  using type = tensor<T, S>;
};

/// As `values`, in the memory of a device.
template <class Device>
struct values_on : detail::arithmetic_of_models {
  template <class T, class S>
  using type = tensor<T, S, ownership::owning, role::constant, access::read_write, Device>;
};

struct init_by_rank;

namespace detail {

/// Declarations, the leaves of a model from which init() reads the initializers.
struct declarations {
  template <class T, class S, class Start = init_by_rank>
  struct type {
    using start = Start;
  };
};
/// The base of kinds of traced values whose shape differs from the shape in their type: slices, stacks. shape<S> is the changed shape.
struct shape_change {};
template <class Kind>
inline constexpr bool changes_shape = std::is_base_of_v<shape_change, Kind>;

/// Whether the change Outer of a shape undoes the change Inner.
template <class Outer, class Inner>
inline constexpr bool undoes = false;

struct shape_itself {
  template <class, class S>
  using type = S;
};
/// The kind of leaves of kind Base with changed shapes. `Change...` are the changes, the last change first.
template <class Base, class... Change>
struct with_changes;
template <class Base, class Change>
struct with_changes<Base, Change> {
  template <class T, class S>
  using type = typename Base::template type<T, typename Change::template shape<S>>;
};
template <class Base, class Change, class Next, class... Rest>
struct with_changes<Base, Change, Next, Rest...> {
  template <class T, class S>
  using type = typename with_changes<Base, Change>::template type<T, typename with_changes<shape_itself, Next, Rest...>::template type<T, S>>;
};

/// Kind with one more change, which is applied before the others.
template <class Kind, class Change>
struct changed { using type = with_changes<Kind, Change>; };
template <class Base, class... Later, class Change>
struct changed<with_changes<Base, Later...>, Change> { using type = with_changes<Base, Later..., Change>; };

template <class S>
struct without_first;
template <std::int64_t First, std::int64_t... Rest>
struct without_first<shape<First, Rest...>> { using type = shape<Rest...>; };
template <>
struct without_first<shape<>> { using type = shape<>; };  // scan refuses it with a message
template <std::int64_t First, class S>
struct with_first;
template <std::int64_t First, std::int64_t... Rest>
struct with_first<First, shape<Rest...>> { using type = shape<First, Rest...>; };

/// The kind of one slice of traced values along axis 0.
struct slices : shape_change {
  template <class S>
  using shape = typename without_first<S>::type;
  template <class T, class S>
  using type = traced<T, shape<S>>;
};
/// The kind of N traced values as a single one: they are stacked along a new axis 0.
template <std::int64_t N>
struct stacks : shape_change {
  template <class S>
  using shape = typename with_first<N, S>::type;
  template <class T, class S>
  using type = traced<T, shape<S>>;
};
template <std::int64_t N>
inline constexpr bool undoes<slices, stacks<N>> = true;

/// The initializer of an array of rows. Start makes each row.
template <class Start, class Row>
struct init_each;

template <class Kind, class T, class S, class Start>
struct parameter { using type = typename Kind::template type<T, S>; };
template <class T, class S, class Start>
struct parameter<declarations, T, S, Start> { using type = declarations::type<T, S, Start>; };
template <class... Change, class T, class S, class Start>
struct parameter<with_changes<declarations, Change...>, T, S, Start> { using type = declarations::type<T, S, init_each<Start, S>>; };

}  // namespace detail

/// The kind of N layers of a model as one: each parameter has a new axis 0 of extent N. block<tn::stacked<Kind, 12>, ...> is a member of a
/// model, and tn::scan(f, x, model.layers) computes the layers. Compile time does not depend on N, and no parameter is copied.
template <class Kind, std::int64_t N>
using stacked = typename detail::changed<Kind, detail::stacks<N>>::type;

/// A parameter of a model. Start is its initializer for init(), see init.hpp: init_ones for a gain, init_linear for the weights of
/// linear().
template <class Kind, class T, class S, class Start = init_by_rank>
using param = typename detail::parameter<Kind, T, S, Start>::type;

namespace detail {

/// Specialised for Boost.Hana structs in model.hpp.
template <class X>
struct model_traits {
  static constexpr bool is_model = false;
};

template <class X>
inline constexpr bool is_tree_leaf = is_traced_v<X> || any_tensor<X> || scalar<X>;

/// X has its elements in the object, see fixed.hpp.
template <class X>
inline constexpr bool is_fixed = false;

template <class X>
struct leaf_type {};
template <class T, class S>
struct leaf_type<traced<T, S>> {
  using element_type = T;
  using shape_type = S;
};
template <any_tensor X>
struct leaf_type<X> {
  using element_type = element_t<X>;
  using shape_type = shape_of_t<X>;
};
template <scalar X>
struct leaf_type<X> {
  using element_type = std::conditional_t<element<X>, X, std::conditional_t<std::is_floating_point_v<X>, double, std::int64_t>>;
  using shape_type = shape<>;
};

// ---- visiting ------------------------------------------------------------------------------------------------------

template <std::size_t I, class First, class... Rest>
constexpr const auto& argument(const First& first, const Rest&... rest) {
  if constexpr (I == 0) return first;
  else return argument<I - 1>(rest...);
}

/// The types of the parts of a branch. For a model it is a tuple of the types of its members.
template <class X, class = void>
struct parts { using type = X; };
template <class X>
struct parts<X, std::enable_if_t<model_traits<X>::is_model>> { using type = typename model_traits<X>::members; };
template <class X>
using part_indices = std::make_index_sequence<std::tuple_size<typename parts<X>::type>::value>;

template <std::size_t I, class X>
constexpr auto& part(X& x) {
  using branch = std::remove_const_t<X>;
  if constexpr (model_traits<branch>::is_model) return model_traits<branch>::template member<I>(x);
  else return std::get<I>(x);
}

template <class X, class F>
constexpr void for_each_leaf(X&& x, F&& f);
template <class X, class F, std::size_t... I>
constexpr void for_each_part(X& x, F& f, std::index_sequence<I...>) { (for_each_leaf(part<I>(x), f), ...); }

template <class X, class F>
constexpr void for_each_leaf(X&& x, F&& f) {
  using tree = std::remove_cvref_t<X>;
  if constexpr (is_tree_leaf<tree>) f(x);
  else if constexpr (has_tuple_parts<typename parts<tree>::type>) for_each_part(x, f, part_indices<tree>{});
  else static_assert(never<X>, "tenure: call: an argument is neither a tensor, a number, a tuple, an array nor a model");
}

// ---- types ---------------------------------------------------------------------------------------------------------

template <class X, class Kind, class = void>
struct rebind_kind {
  using type = typename Kind::template type<typename leaf_type<X>::element_type, typename leaf_type<X>::shape_type>;
};
template <class... X, class Kind>
struct rebind_kind<std::tuple<X...>, Kind> { using type = std::tuple<typename rebind_kind<X, Kind>::type...>; };
template <class First, class Second, class Kind>
struct rebind_kind<std::pair<First, Second>, Kind> { using type = std::pair<typename rebind_kind<First, Kind>::type, typename rebind_kind<Second, Kind>::type>; };
template <class X, std::size_t N, class Kind>
struct rebind_kind<std::array<X, N>, Kind> { using type = std::array<typename rebind_kind<X, Kind>::type, N>; };

/// The kind of a model of kind From after its leaves get kind To. The type of a model states the shapes of its parameters, so a model whose shapes
/// changed keeps the changes in its kind.
template <class To, class From>
struct rebound { using type = std::conditional_t<changes_shape<To>, with_changes<tracing, To>, To>; };
template <class To, class Base, class Last, class... Change>
struct rebound<To, with_changes<Base, Last, Change...>> {
  using type = std::conditional_t<changes_shape<To>, with_changes<tracing, To, Last, Change...>, with_changes<To, Last, Change...>>;
};
template <class To, class Base, class Last, class... Change>
  requires undoes<To, Last>
struct rebound<To, with_changes<Base, Last, Change...>> {
  using type = std::conditional_t<sizeof...(Change) == 0, tracing, with_changes<tracing, Change...>>;
};
template <class X, class Kind>
struct rebind_kind<X, Kind, std::enable_if_t<model_traits<X>::is_model>> {
  using type = typename model_traits<X>::template rebind<Kind>;
};

/// The type of tree X with leaves of kind Kind.
template <class X, class Kind>
using rebind_kind_t = typename rebind_kind<std::remove_cvref_t<X>, Kind>::type;

struct leaf_description {
  dtype type = dtype::boolean;
  extents shape{};
  bool is_tracked = false, is_leaf = false, is_view = false, is_reference = false;  // of a tensor
};

/// The most bytes of a view that a call may copy (row_major.hpp). The program of a call with a larger view has its strides as run-time numbers, which costs
/// little for so many elements.
inline constexpr std::int64_t most_copied_bytes = 4096;

/// The bytes of the copy of a view that is read as a row-major array, on its own cache lines. -1 if the program has its strides as run-time numbers.
template <class T, class S, class Device>
constexpr std::int64_t bytes_of_copy() {
  if constexpr (!std::is_same_v<Device, cpu_device> || !S::is_static) return -1;
  else if constexpr (count(S::value) * static_cast<std::int64_t>(sizeof(T)) > most_copied_bytes) return -1;
  else return (count(S::value) * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
}
/// Whether L is a view that a call reads as a row-major array: it has few static extents.
template <class L>
constexpr bool reads_row_major() {
  if constexpr (!any_tensor<L>) return false;
  else return ownership_of_v<L> != ownership::owning && bytes_of_copy<element_t<L>, shape_of_t<L>, device_of_t<L>>() >= 0;
}

/// The properties of X as a tree. is_tree tells whether X is a tree. Other members tell whether any leaf is a traced value, a tensor, a number, of
/// floating type, or tracked, and whether all leaves are contiguous.
template <class X, class = void>
struct tree_properties {
  static constexpr bool is_tree = is_tree_leaf<X>;
  static constexpr bool traces = is_traced_v<X>, lives = any_tensor<X>, has_numbers = scalar<X>;
  static constexpr bool in_memory = lives && !may_be_constant<X>;  // in a trace, a factory's tensor is a constant
  // Whether no leaf is a number of a type that tensors cannot have. long long has 64 bits and is read as int64.
  static constexpr bool has_elements = !scalar<X> || element<X> || (std::is_integral_v<X> && std::is_signed_v<X> && sizeof(X) == sizeof(std::int64_t));
  static constexpr bool has_floats = [] {
    if constexpr (is_tree) return is_floating(dtype_v<typename leaf_type<X>::element_type>);
    else return false;
  }();
  static constexpr int leaves = 1;
  static constexpr bool contiguous = [] {
    if constexpr (any_tensor<X>) return ownership_of_v<X> == ownership::owning;
    else return true;
  }();
  /// Whether a call reads all leaves as row-major arrays, and the bytes of the copies that it may need for this, each on its own cache line.
  static constexpr bool row_major = contiguous || reads_row_major<X>();
  static constexpr std::int64_t copied_bytes = [] {
    if constexpr (reads_row_major<X>()) return bytes_of_copy<element_t<X>, shape_of_t<X>, device_of_t<X>>();
    else return std::int64_t{0};
  }();
  static constexpr unsigned devices = [] {
    if constexpr (any_tensor<X>) return device_bit<device_of_t<X>>;
    else return 0u;
  }();
  static constexpr bool tracked = [] {
    if constexpr (any_tensor<X>) return requires_grad_v<X>;
    else return false;
  }();
  /// Writes a description of every leaf to `at`.
  static constexpr void describe(leaf_description*& at) {
    leaf_description d{dtype_v<typename leaf_type<X>::element_type>, leaf_type<X>::shape_type::value, tracked};
    if constexpr (any_tensor<X>) {
      d.is_leaf = is_leaf_v<X>;
      d.is_view = ownership_of_v<X> != ownership::owning;
      d.is_reference = std::is_reference_v<X>;
    }
    *at++ = d;
  }
};
template <class... X>
struct tree_properties<std::tuple<X...>> {
  static constexpr bool is_tree = (tree_properties<X>::is_tree && ...);
  static constexpr bool traces = (tree_properties<X>::traces || ...), lives = (tree_properties<X>::lives || ...), in_memory = (tree_properties<X>::in_memory || ...);
  static constexpr bool has_numbers = (tree_properties<X>::has_numbers || ...), has_floats = (tree_properties<X>::has_floats || ...);
  static constexpr bool has_elements = (tree_properties<X>::has_elements && ...);
  static constexpr bool tracked = (tree_properties<X>::tracked || ...);
  static constexpr int leaves = (0 + ... + tree_properties<X>::leaves);
  static constexpr bool contiguous = (tree_properties<X>::contiguous && ...), row_major = (tree_properties<X>::row_major && ...);
  static constexpr std::int64_t copied_bytes = (std::int64_t{0} + ... + tree_properties<X>::copied_bytes);
  static constexpr unsigned devices = (0u | ... | tree_properties<X>::devices);
  static constexpr void describe(leaf_description*& at) { (tree_properties<X>::describe(at), ...); }
};
template <class First, class Second>
struct tree_properties<std::pair<First, Second>> : tree_properties<std::tuple<First, Second>> {};
template <class X, std::size_t N>
struct tree_properties<std::array<X, N>> : tree_properties<X> {
  static constexpr int leaves = static_cast<int>(N) * tree_properties<X>::leaves;
  static constexpr std::int64_t copied_bytes = static_cast<std::int64_t>(N) * tree_properties<X>::copied_bytes;
  static constexpr void describe(leaf_description*& at) {
    for (std::size_t i = 0; i < N; ++i) tree_properties<X>::describe(at);
  }
};
template <class X>
struct tree_properties<X, std::enable_if_t<model_traits<X>::is_model>> : tree_properties<typename model_traits<X>::members> {};

template <class X>
using tree = tree_properties<std::remove_cvref_t<X>>;

template <class X>
constexpr bool is_branch_type() { return !is_tree_leaf<X> && tree<X>::is_tree; }

/// Whether every leaf of an lvalue of type X may be written. A tuple of references is writable if the objects are to which they refer.
template <class X>
constexpr bool are_leaves_writable() {
  using branch = std::remove_const_t<X>;
  if constexpr (any_tensor<branch>) return is_writable<X>;
  else if constexpr (has_tuple_parts<typename parts<branch>::type>)
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (are_leaves_writable<std::remove_reference_t<decltype(part<I>(std::declval<X&>()))>>() && ...);
    }(part_indices<branch>{});
  else return !std::is_const_v<X>;
}

/// Whether X is a model with a member that is a number whatever its kind: a trace would have no place for it. (Numbers of a tuple become traced values.)
template <class X>
inline constexpr bool has_plain_member = [] {
  if constexpr (is_tree_leaf<X> || !tree<X>::is_tree) return false;
  else return tree<rebind_kind_t<X, tracing>>::has_numbers;
}();

// ---- building ------------------------------------------------------------------------------------------------------

/// A tree of type To. Each leaf is the result of f(element_tag<Leaf>{}, leaves...), and f is called in the order of the leaves. `leaves`
/// are the leaves at the same place in the trees `from`. With one tree it is a map over this tree.
template <class To, class F, class... From>
constexpr To build_tree(F& f, const From&... from);

template <class To, std::size_t I, class F, class... From>
constexpr auto build_part(F& f, const From&... from) { return build_tree<std::tuple_element_t<I, typename parts<To>::type>>(f, part<I>(from)...); }
template <class To, class F, std::size_t... I, class... From>
constexpr To build_parts(std::index_sequence<I...>, F& f, const From&... from) { return To{build_part<To, I>(f, from...)...}; }

template <class To, class F, class... From>
constexpr To build_tree(F& f, const From&... from) {
  if constexpr (is_tree_leaf<To>) return f(element_tag<To>{}, from...);
  else return build_parts<To>(part_indices<To>{}, f, from...);
}

}  // namespace detail
}  // namespace tenure

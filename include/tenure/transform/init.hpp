// SPDX-License-Identifier: BSL-1.0
// init<mlp>(engine): a new model. The declaration of a parameter names its initializer: param<Kind, float, shape<64>, init_ones>. By
// default the rank decides: vectors and scalars start at zero, other parameters use init_matmul.
// An initializer of your own is a struct with template <class T, class S> static auto make(S shape, engine&), which gives a tensor<T, S>.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include <tenure/tensor/random.hpp>
#include <tenure/transform/model.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Uniform values between -1 / sqrt(fan in) and 1 / sqrt(fan in). The fan in is the product of all extents except the extent of OutputAxis.
template <class T, int OutputAxis, class S>
tensor<T, S> uniform_for_inputs(S shape, engine& random) {
  constexpr bool has_axes = S::rank > 0;
  static_assert(has_axes, "tenure: init: a scalar has no fan in: use init_zeros or init_ones");
  constexpr std::int64_t outputs = has_axes ? S::value[OutputAxis] : 1, inputs = outputs > 0 ? S::size / outputs : 0;
  const double bound = inputs > 0 ? 1 / std::sqrt(static_cast<double>(inputs)) : 1;
  return uniform<T>(shape, random, -bound, bound);
}

}  // namespace detail

/// For biases.
struct init_zeros {
  template <class T, class S>
  static auto make(S shape, engine&) { return zeros<T>(shape); }
};
/// For the gains of layer_norm and rms_norm.
struct init_ones {
  template <class T, class S>
  static auto make(S shape, engine&) { return ones<T>(shape); }
};
/// Uniform between -1 / sqrt(fan in) and 1 / sqrt(fan in), as PyTorch's Linear. For weights of matmul(x, w): the last axis is the outputs.
struct init_matmul {
  template <class T, class S>
  static auto make(S shape, engine& random) { return detail::uniform_for_inputs<T, (S::rank > 0 ? S::rank - 1 : 0)>(shape, random); }
};
/// As init_matmul, for weights of linear(x, w): the first axis is the outputs, as in PyTorch.
struct init_linear {
  template <class T, class S>
  static auto make(S shape, engine& random) { return detail::uniform_for_inputs<T, 0>(shape, random); }
};
struct init_by_rank {
  template <class T, class S>
  static auto make(S shape, engine& random) {
    if constexpr (S::rank < 2) return zeros<T>(shape);
    else return init_matmul::make<T>(shape, random);
  }
};

namespace detail {

template <class Start, class Row>
struct init_each {
  template <class T, class S>
  static auto make(S shape, engine& random) {
    auto all = zeros<T>(shape);
    T* at = tensor_access::fresh(all);
    for (std::int64_t left = Row::size > 0 ? S::size / Row::size : 0; left > 0; --left) {
      const auto row = Start::template make<T>(Row{}, random);
      at = std::copy_n(row.data(), Row::size, at);
    }
    return all;
  }
};

/// Whether the type of every parameter states all its extents.
template <class Model>
inline constexpr bool has_static_extents = [] {
  leaf_description leaf[tree<Model>::leaves + 1], *end = leaf;
  tree<Model>::describe(end);
  for (const leaf_description* at = leaf; at != end; ++at)
    if (!all_static(at->shape)) return false;
  return true;
}();

template <class Start, class L>
concept makes = requires(engine& random) {
  { Start::template make<element_t<L>>(shape_of_t<L>{}, random) } -> std::same_as<L>;
};

/// The initializer of a leaf. A leaf that is declared as a tensor and not as a param has init_by_rank.
template <class Declared>
struct start_of { using type = init_by_rank; };
template <class Declared>
  requires requires { typename Declared::start; }
struct start_of<Declared> { using type = typename Declared::start; };

template <class Model, class Declarations>
Model initialized(engine& random) {
  static_assert(has_static_extents<Model>, "tenure: init: a parameter needs static extents");
  auto make = [&]<class L, class D>(element_tag<L>, const D&) -> L {
    using start = typename start_of<D>::type;
    if constexpr (!shape_of_t<L>::is_static) {
      return L();
    } else {
      constexpr bool fits = makes<start, L>;
      static_assert(fits, "tenure: init: the initializer of a parameter has no static make<T>(shape, engine) that gives a tensor<T, shape>");
      if constexpr (fits) return start::template make<element_t<L>>(shape_of_t<L>{}, random);
      else return L();
    }
  };
  return build_tree<Model>(make, Declarations{});
}

}  // namespace detail

/// A new model with owning parameters. V are the value template arguments after Kind.
template <template <class, auto...> class Model, auto... V>
auto init(engine& random) {
  constexpr bool has_values = requires { typename Model<values, V...>; };
  static_assert(has_values, "tenure: init: the template arguments after Kind are missing or do not fit: init<dense, 784, 10>(engine) of template <class Kind, auto Inputs, auto Outputs> struct dense");
  if constexpr (!has_values) {
    return after_error();
  } else {
    constexpr bool is_model = detail::tree<Model<values, V...>>::is_tree;
    constexpr bool is_named = !is_model && detail::names_fault<Model<values, V...>>();
    static_assert(is_model || is_named, "tenure: init: a member is neither a parameter, a model nor an array of them: BOOST_HANA_DEFINE_STRUCT names members, and a std::vector has no fixed number of layers, as std::array and tn::stacked have");
    constexpr bool has_numbers = is_model && detail::has_plain_member<Model<values, V...>>;
    constexpr bool is_number_named = detail::names_plain_member<Model<values, V...>>();
    static_assert(!has_numbers || is_number_named, "tenure: init: a member of the model is a plain number: declare it as tn::param<Kind, float, tn::shape<>>; a number that never changes is a static constexpr member, not listed in BOOST_HANA_DEFINE_STRUCT");
    if constexpr (is_model && !has_numbers) return detail::initialized<Model<values, V...>, Model<detail::declarations, V...>>(random);
    else return Model<values, V...>();
  }
}
template <class Model, std::same_as<engine> Engine>  // declared second: within the body of a model its name is also a type
Model init(Engine&) {
  static_assert(detail::never<Model>, "tenure: init: the template is named, not a type of it: init<mlp>(engine), where template <class Kind> struct mlp");
  __builtin_unreachable();
}

}  // namespace tenure

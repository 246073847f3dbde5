// SPDX-License-Identifier: BSL-1.0
// Normalisation: layer_norm, rms_norm. The shape of the gain chooses the axes: a gain of rank n normalises over the last n axes, and has
// their extents. The bias has the shape of the gain. Without a gain the call names the axes.
#pragma once

#include <tenure/ops/exponential.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE::ops {

template <int... A>
struct standardize;

namespace detail {
template <class S, int N>
struct last_extents {
  static constexpr extents value = [] {
    extents s;
    for (int i = S::rank < N ? 0 : S::rank - N; i < S::rank; ++i) s.push_back(S::value[i]);
    return s;
  }();
};
template <class Shape, class Gain>
struct gain_fits {
  static constexpr bool value = Gain::rank > 0 && Gain::rank <= Shape::rank && are_alike<last_extents<Shape, Gain::rank>, Gain>;
};
template <class Gain, class Bias>
struct bias_fits {
  static constexpr bool value = are_alike<Gain, Bias>;
};

/// The operations over the last N axes. They keep these axes with extent 1.
template <class Indices>
struct over_last;
template <std::size_t... I>
struct over_last<std::index_sequence<I...>> {
  using average = mean<true, (-1 - static_cast<int>(I))...>;
  using standard = standardize<(-1 - static_cast<int>(I))...>;
};

/// Requires the extents of `of` to equal the last extents of x, where extents are known only at run time.
template <class X, class G>
constexpr void require_last_extents(const X& x, const G& of, const char* call) {
  if constexpr (!X::shape_type::is_static || !G::shape_type::is_static) {
    ir::builder& g = *x.graph;
    const extents all = x.shape(), last = of.shape();
    const std::int16_t lhs = g.intern(all), rhs = g.intern(last);
    for (int i = 0; i < last.rank; ++i) g.unify(all[all.rank - last.rank + i], last[i], call, lhs, rhs);
  }
}
}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon), over the axes A.
template <int... A>
struct standardize : rounds_once {
  template <int Axis, int Rank>
  static constexpr void has_axis() { static_assert(-Rank <= Axis && Axis < Rank, "tenure: layer_norm: an axis lies outside the tensor's rank"); }
  template <bool Holds, int...>
  static constexpr void has_each_once() { static_assert(Holds, "tenure: layer_norm: an axis is named twice"); }
  template <class X, class E>
  static constexpr auto trace(const X& x, const E& epsilon) {
    using mask = axis_mask<standardize, X::shape_type::rank, A...>;
    if constexpr (!mask::is_valid) {
      return x;
    } else {
      const value count = reduced_count(x, mask::value);
      const auto from = detail::deviations_along<true, A...>(x, count);
      const auto variance = div::trace(from.squares, traced<typename X::element_type, shape<>>{x.graph, count.id});
      return mul::trace(sub::trace(from.from_near, from.rest), rsqrt::trace(add::trace(variance, epsilon)));
    }
  }
};

/// (x - mean) / sqrt(variance + epsilon) * gain + bias, with or without the bias.
struct layer_norm : rounds_once {
  template <class X, class G, class E>
  static constexpr auto trace(const X& x, const G& gain, const E& epsilon) {
    using of_gain = detail::gain_fits<typename X::shape_type, typename G::shape_type>;
    static_assert(of_gain::value, "tenure: layer_norm: the gain does not have the extents of the last axes of x, over which it normalises");
    if constexpr (of_gain::value) {
      using standard = typename detail::over_last<std::make_index_sequence<G::shape_type::rank>>::standard;
      detail::require_last_extents(x, gain, "layer_norm");
      return mul::trace(standard::trace(x, epsilon), gain);
    } else {
      return x;
    }
  }
  template <class X, class G, class B, class E>
  static constexpr auto trace(const X& x, const G& gain, const B& bias, const E& epsilon) {
    using of_gain = detail::gain_fits<typename X::shape_type, typename G::shape_type>;
    using of_bias = detail::bias_fits<typename G::shape_type, typename B::shape_type>;
    static_assert(!of_gain::value || of_bias::value, "tenure: layer_norm: the bias has other extents than the gain");
    const auto scaled = trace(x, gain, epsilon);
    if constexpr (of_gain::value && of_bias::value) {
      detail::require_last_extents(x, bias, "layer_norm");
      return add::trace(scaled, bias);
    } else {
      return scaled;
    }
  }
};

/// x / sqrt(mean square + epsilon) * gain (Zhang and Sennrich, 2019).
struct rms_norm : rounds_once {
  template <class X, class G, class E>
  static constexpr auto trace(const X& x, const G& gain, const E& epsilon) {
    using of_gain = detail::gain_fits<typename X::shape_type, typename G::shape_type>;
    static_assert(of_gain::value, "tenure: rms_norm: the gain does not have the extents of the last axes of x, over which it normalises");
    if constexpr (of_gain::value) {
      using average = typename detail::over_last<std::make_index_sequence<G::shape_type::rank>>::average;
      detail::require_last_extents(x, gain, "rms_norm");
      const auto mean_square = average::trace(mul::trace(x, x));
      return mul::trace(mul::trace(x, rsqrt::trace(add::trace(mean_square, epsilon))), gain);
    } else {
      return x;
    }
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// (x - mean) / sqrt(variance + epsilon) * gain + bias, with the variance divided by n. Mean and variance are over the last axes of x, as
/// many as gain has. gain and bias have the extents of these axes. x must be floating.
template <operand_or_scalar X, class G, class B>
constexpr auto layer_norm(const X& x, const G& gain, const B& bias, double epsilon = 1e-5) {
  constexpr bool are_tensors = !scalar<G> && !scalar<B>;
  static_assert(are_tensors, "tenure: layer_norm: gain and bias must be tensors, epsilon is the number after them");
  if constexpr (!are_tensors) return apply<ops::mul>(x, x);
  else return apply<ops::layer_norm>(x, gain, bias, epsilon);
}
/// Without a bias, or without gain and bias. In the second case axes<A, B> names the axes, by default the last one. Another gain or bias is
/// arithmetic: layer_norm(x, axis<1>) * gain.
template <operand_or_scalar X, class G>
constexpr auto layer_norm(const X& x, const G& gain) {
  constexpr bool is_tensor = !scalar<G>;
  static_assert(is_tensor, "tenure: layer_norm: the gain must be a tensor: write layer_norm(x, axis<-1>, epsilon)");
  if constexpr (!is_tensor) return apply<ops::mul>(x, x);
  else return apply<ops::layer_norm>(x, gain, 1e-5);
}
template <operand_or_scalar X, int... A>
constexpr auto layer_norm(const X& x, const axis_list<A...>&, double epsilon = 1e-5) { return apply<ops::standardize<A...>>(x, epsilon); }
template <operand_or_scalar X>
constexpr auto layer_norm(const X& x) { return apply<ops::standardize<-1>>(x, 1e-5); }
/// x / sqrt(mean of x^2 + epsilon) * gain. The mean is over the last axes of x, as many as gain has. x must be floating.
template <operand_or_scalar X, class G>
constexpr auto rms_norm(const X& x, const G& gain, double epsilon = 1e-6) {
  constexpr bool is_tensor = !scalar<G>;
  static_assert(is_tensor, "tenure: rms_norm: the gain must be a tensor, epsilon is the number after it");
  if constexpr (!is_tensor) return apply<ops::mul>(x, x);
  else return apply<ops::rms_norm>(x, gain, epsilon);
}

}  // namespace tenure

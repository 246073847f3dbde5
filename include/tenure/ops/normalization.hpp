// SPDX-License-Identifier: BSL-1.0
// Normalisation: layer_norm, rms_norm. The shape of the gain chooses the axes: a gain of rank n normalises over the last n axes, and has
// their extents. The bias has the shape of the gain. Without a gain the call names the axes.
// batch_norm, group_norm, instance_norm: images [n, channels, ...], whose gain and bias are a number for each channel.
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
      return mul::trace(scaled<average>(x, epsilon), gain);
    } else {
      return x;
    }
  }
  template <class X, class E>
  static constexpr auto trace(const X& x, const E& epsilon) { return scaled<mean<true, -1>>(x, epsilon); }

 private:
  template <class Average, class X, class E>
  static constexpr auto scaled(const X& x, const E& epsilon) {
    return mul::trace(x, rsqrt::trace(add::trace(Average::trace(mul::trace(x, x)), epsilon)));
  }
};

namespace detail {
/// The extents of numbers of channels beside x: [channels, 1, ...].
template <class Channels, int Rank>
struct beside_axes {
  static constexpr extents value = [] {
    extents s;
    s.push_back(Channels::value[0]);
    for (int i = 2; i < Rank; ++i) s.push_back(1);
    return s;
  }();
};
/// [n, groups, elements of a group]
template <class S, int Groups>
struct in_channel_groups {
  static constexpr extents value = [] {
    extents s;
    s.push_back(S::value[0]);
    s.push_back(Groups);
    std::int64_t elements = 1;
    for (int i = 1; i < S::rank; ++i) elements *= S::value[i];
    s.push_back(elements / Groups);
    return s;
  }();
  static constexpr bool are_static = [] {
    bool all = true;
    for (int i = 1; i < S::rank; ++i) all = all && is_static(S::value[i]);
    return all;
  }();
};
template <class S, int LeastRank, class... Of>
constexpr bool have_channels = [] {
  if constexpr (S::rank < LeastRank) return false;
  else return is_static(S::value[1]) && ((Of::rank == 1 && Of::value[0] == S::value[1]) && ...);
}();

/// y * gain + bias, both a number for each channel.
template <class C, class Y>
constexpr auto as_channels(const C& of, const Y&) {
  using to = shape_from<beside_axes<typename C::shape_type, Y::shape_type::rank>>;
  return traced<typename C::element_type, to>{of.graph, reshape_to(of, to::value).id};
}
template <class Y, class G, class B>
constexpr auto scaled_by_channels(const Y& y, const G& gain, const B& bias) { return add::trace(mul::trace(y, as_channels(gain, y)), as_channels(bias, y)); }

template <class X, class E, std::size_t... I>
constexpr auto standard_of_batch(const X& x, const E& epsilon, std::index_sequence<I...>) {
  return standardize<(I == 0 ? 0 : static_cast<int>(I) + 1)...>::trace(x, epsilon);
}
template <class X, class E, std::size_t... I>
constexpr auto standard_of_images(const X& x, const E& epsilon, std::index_sequence<I...>) {
  return standardize<(static_cast<int>(I) + 2)...>::trace(x, epsilon);
}
}  // namespace detail

/// (x - mean) / sqrt(variance + epsilon) * gain + bias for each channel, with the statistics of the batch or with given ones.
struct batch_norm : rounds_once {
  template <class X, class G, class B, class E>
  static constexpr auto trace(const X& x, const G& gain, const B& bias, const E& epsilon) {
    constexpr bool fits = detail::have_channels<typename X::shape_type, 2, typename G::shape_type, typename B::shape_type>;
    static_assert(fits, "tenure: batch_norm: x is [n, channels, ...] with static channels, and each other array has one number for each channel");
    if constexpr (!fits) return x;
    else return detail::scaled_by_channels(detail::standard_of_batch(x, epsilon, std::make_index_sequence<X::shape_type::rank - 1>()), gain, bias);
  }
  template <class X, class M, class V, class G, class B, class E>
  static constexpr auto trace(const X& x, const M& mean, const V& variance, const G& gain, const B& bias, const E& epsilon) {
    constexpr bool fits =
        detail::have_channels<typename X::shape_type, 2, typename M::shape_type, typename V::shape_type, typename G::shape_type, typename B::shape_type>;
    static_assert(fits, "tenure: batch_norm: x is [n, channels, ...] with static channels, and each other array has one number for each channel");
    if constexpr (!fits) return x;
    else return detail::scaled_by_channels(sub::trace(x, detail::as_channels(mean, x)), mul::trace(gain, rsqrt::trace(add::trace(variance, epsilon))), bias);
  }
};

/// The same over the channels of a group and all axes behind them, for each image.
template <int Groups>
struct group_norm : rounds_once {
  template <class X, class G, class B, class E>
  static constexpr auto trace(const X& x, const G& gain, const B& bias, const E& epsilon) {
    using S = typename X::shape_type;
    constexpr bool fits = detail::have_channels<S, 2, typename G::shape_type, typename B::shape_type>;
    static_assert(fits, "tenure: group_norm: x is [n, channels, ...] with static channels, and gain and bias have one number for each channel");
    if constexpr (!fits) {
      return x;
    } else {
      constexpr bool divides = Groups > 0 && S::value[1] % (Groups > 0 ? Groups : 1) == 0;
      using grouped = detail::in_channel_groups<S, divides ? Groups : 1>;
      static_assert(divides, "tenure: group_norm: the number of groups does not divide the channels");
      static_assert(grouped::are_static, "tenure: group_norm: only the number of images may be known at run time");
      if constexpr (!divides || !grouped::are_static) {
        return x;
      } else {
        using T = typename X::element_type;
        const extents all = x.shape();
        extents to = grouped::value;
        to[0] = all[0];
        const auto standard = standardize<-1>::trace(traced<T, shape_from<grouped>>{x.graph, reshape_to(x, to).id}, epsilon);
        return detail::scaled_by_channels(traced<T, S>{x.graph, reshape_to(standard, all).id}, gain, bias);
      }
    }
  }
};

/// The same for each channel of each image.
struct instance_norm : rounds_once {
  template <class X, class G, class B, class E>
  static constexpr auto trace(const X& x, const G& gain, const B& bias, const E& epsilon) {
    constexpr bool fits = detail::have_channels<typename X::shape_type, 3, typename G::shape_type, typename B::shape_type>;
    static_assert(fits, "tenure: instance_norm: x is [n, channels, axes] with static channels, and gain and bias have one number for each channel");
    if constexpr (!fits) return x;
    else return detail::scaled_by_channels(detail::standard_of_images(x, epsilon, std::make_index_sequence<X::shape_type::rank - 2>()), gain, bias);
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
/// x / sqrt(mean of x^2 + epsilon) * gain. The mean is over the last axes of x, as many as gain has. x must be floating. rms_norm(x) has no gain, and its mean is
/// over the last axis.
template <operand_or_scalar X, class G>
constexpr auto rms_norm(const X& x, const G& gain, double epsilon = 1e-6) {
  constexpr bool is_tensor = !scalar<G>;
  static_assert(is_tensor, "tenure: rms_norm: the gain must be a tensor, epsilon is the number after it");
  if constexpr (!is_tensor) return apply<ops::mul>(x, x);
  else return apply<ops::rms_norm>(x, gain, epsilon);
}
template <operand_or_scalar X>
constexpr auto rms_norm(const X& x) { return apply<ops::rms_norm>(x, 1e-6); }

/// (x - mean) / sqrt(variance + epsilon) * gain + bias for each channel of x [n, channels, ...]. gain and bias have one number for each channel. The statistics are those
/// of the batch, with the variance divided by the count, as in training, torch.nn.functional.batch_norm(x, None, None, gain, bias, True); or given ones, as after
/// training. x must be floating. Without gain and bias: layer_norm(x, tn::axes<0, 2, 3>).
template <operand_or_scalar X, operand G, operand B>
constexpr auto batch_norm(const X& x, const G& gain, const B& bias, double epsilon = 1e-5) { return apply<ops::batch_norm>(x, gain, bias, epsilon); }
template <operand_or_scalar X, operand M, operand V, operand G, operand B>
constexpr auto batch_norm(const X& x, const M& mean, const V& variance, const G& gain, const B& bias, double epsilon = 1e-5) {
  return apply<ops::batch_norm>(x, mean, variance, gain, bias, epsilon);
}
/// The same with the statistics of each image and of each of Groups groups of neighbouring channels: torch.nn.functional.group_norm.
template <int Groups, operand_or_scalar X, operand G, operand B>
constexpr auto group_norm(const X& x, const G& gain, const B& bias, double epsilon = 1e-5) { return apply<ops::group_norm<Groups>>(x, gain, bias, epsilon); }
/// The same with the statistics of each channel of each image: torch.nn.functional.instance_norm. Without gain and bias: layer_norm(x, tn::axes<2, 3>).
template <operand_or_scalar X, operand G, operand B>
constexpr auto instance_norm(const X& x, const G& gain, const B& bias, double epsilon = 1e-5) { return apply<ops::instance_norm>(x, gain, bias, epsilon); }

}  // namespace tenure

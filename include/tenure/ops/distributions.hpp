// SPDX-License-Identifier: BSL-1.0
// Random numbers of other distributions from a key, in a trace and with tensors: exponential, laplace, cauchy, log_normal, categorical. Their densities are those
// of tn::log_density, with the same parameters, and the numbers are those of jax.random, to a few ulp. Law: a number is a quantile of its distribution at a
// uniform number of the key, and no uniform number gives an infinity or NaN. So a gradient flows to the parameters, and none to the key.
#pragma once

#include <tenure/ops/position.hpp>
#include <tenure/ops/random.hpp>
#include <tenure/ops/trigonometric.hpp>

// Not in ops, where log and tan are records and not functions.
namespace TENURE_NAMESPACE::distributions {

template <class U>
inline constexpr auto epsilon_of = std::numeric_limits<typename U::element_type>::epsilon();

// The quantiles at a number u in [0, 1) that is a multiple of epsilon.

struct exponential {
  static constexpr const char* name = "exponential_like";
  static constexpr auto trace(const auto& u) { return -log1p(-u); }
};
struct laplace {
  static constexpr const char* name = "laplace_like";
  /// The logarithm of a number in (0, 1]: u - 1/2 is moved by a quarter of the distance of two values, so that its magnitude is below 1/2.
  template <class U>
  static constexpr auto trace(const U& u) {
    const auto x = 2.0 * u - (1.0 - static_cast<double>(epsilon_of<U>) / 2);
    const auto size = log1p(-abs(x));
    return where(x > 0.0, size, -size);
  }
};
struct cauchy {
  static constexpr const char* name = "cauchy_like";
  /// tan(pi (v - 1/2)) for v in [epsilon, 1). Near 0 and 1 it is -1 / tan of a small angle, because pi (v - 1/2) has no digits left beside the pole.
  template <class U>
  static constexpr auto trace(const U& u) {
    const double epsilon = static_cast<double>(epsilon_of<U>), pi = 3.14159265358979323846;
    const auto v = u * (1.0 - epsilon) + epsilon, middle = v - 0.5;
    const auto is_near = abs(middle) < 0.25;
    const auto t = tan(pi * where(is_near, middle, where(middle < 0.0, v, v - 1.0)));
    return where(is_near, t, -1.0 / where(is_near, 1.0, t));
  }
};
/// Without a location: -log(-log(v)) for v in [the smallest normal number, 1).
struct gumbel {
  static constexpr const char* name = "categorical";
  template <class U>
  static constexpr auto trace(const U& u) {
    constexpr double least = static_cast<double>(std::numeric_limits<typename U::element_type>::min());
    return -log(-log(maximum(u, least)));
  }
};

/// The quantile in a static shape, or in the shape of x. A narrow type has the numbers of its lanes, rounded once.
template <class Quantile, class T, class S>
struct from_key {
  static constexpr auto trace(const auto& key) {
    return ops::cast<T>::trace(Quantile::trace(ops::random_numbers<ops::random_unit, number::lane_t<T>, S>::trace(key)));
  }
};
template <class Quantile>
struct like_from_key : ops::rounds_once {
  static constexpr bool reaches(int) { return false; }
  template <class X>
  static constexpr auto trace(const X& x, const auto& key) {
    using T = typename X::element_type;
    return Quantile::trace(ops::detail::random_numbers<ops::random_unit, T, typename X::shape_type>(key, ops::value(x).node().shape, Quantile::name));
  }
};

/// exp of a normal number: rounded once.
struct log_normal : ops::rounds_once {
  static constexpr auto trace(const auto& z, const auto& mean, const auto& deviation) { return exp(mean + deviation * z); }
};

template <class S, std::int64_t Classes>
struct with_classes {
  static constexpr extents value = tenure::detail::with_axis(S::value, S::rank, Classes);
};
/// The largest of logits plus numbers of Gumbel's distribution, which is class k with probability softmax(logits)[k]. The index has the axes S.
/// Source: C. Maddison, D. Tarlow and T. Minka, A* sampling, 2014, arXiv:1411.0030.
template <class S>
struct categorical : ops::rounds_once {
  static constexpr bool reaches(int) { return false; }
  template <class K, class L>
  static constexpr auto trace(const K& key, const L& logits) {
    using T = typename L::element_type;
    constexpr int rank = L::shape_type::rank;
    static_assert(rank > 0, "tenure: categorical: the logits have no axis: the classes lie along their last axis");
    if constexpr (rank > 0) {
      using drawn = shape_from<with_classes<S, L::shape_type::value[rank - 1]>>;
      using together = ops::broadcast_of<drawn, typename L::shape_type>;
      constexpr bool fits = together::exists && std::is_same_v<typename together::type, drawn>;
      static_assert(fits, "tenure: categorical: the axes of the logits before the last one do not broadcast to the shape");
      if constexpr (fits) {
        ir::builder& g = *key.graph;
        const extents s = tenure::detail::with_axis(S::value, S::rank, ops::value(logits).shape()[rank - 1]);
        const auto u = ops::detail::random_numbers<ops::random_unit, T, drawn>(key, g.intern(s), gumbel::name);
        return argmax(gumbel::trace(u) + logits, axis<-1>);
      } else {
        return logits;
      }
    } else {
      return logits;
    }
  }
};
template <>
struct categorical<void> : ops::rounds_once {
  static constexpr bool reaches(int) { return false; }
  template <class K, class L>
  static constexpr auto trace(const K& key, const L& logits) {
    constexpr int rank = L::shape_type::rank;
    static_assert(rank > 0, "tenure: categorical: the logits have no axis: the classes lie along their last axis");
    if constexpr (rank > 0) return argmax(like_from_key<gumbel>::trace(logits, key) + logits, axis<-1>);
    else return logits;
  }
};

template <class Quantile, class T, class S, class K>
constexpr auto draw(const K& key) {
  static_assert(S::is_static, "tenure: exponential, laplace, cauchy: the shape has a run-time extent: call exponential_like(x, key), laplace_like or cauchy_like");
  if constexpr (S::is_static && tenure::detail::require_floating<T>() && tenure::detail::require_key<K>()) return apply<from_key<Quantile, T, S>>(key);
  else return after_error();
}
template <class Quantile, class X, class K>
constexpr auto draw_like(const X& x, const K& key) {
  if constexpr (tenure::detail::require_floating<element_t<X>>() && tenure::detail::require_key<K>()) return apply<like_from_key<Quantile>>(x, key);
  else return after_error();
}

}  // namespace tenure::distributions

namespace TENURE_NAMESPACE {

/// Independent values with the exponential distribution of this rate, which is 1 / mean, by default 1. The largest value of rate 1 is 15.9 (double: 36). T is a
/// floating type. The shape is static; exponential_like(x, key) has the shape and the element type of x, and rate 1. A parameter is a number or an array that
/// broadcasts with the shape, and the gradient flows to it. A parameter outside of its domain is not refused.
template <element T = float, any_shape S, operand K>
constexpr auto exponential(S, const K& key) { return distributions::draw<distributions::exponential, T, S>(key); }
template <element T = float, any_shape S, operand K, class R>
constexpr auto exponential(S s, const K& key, const R& rate) { return exponential<T>(s, key) / rate; }
template <operand X, class K>
constexpr auto exponential_like(const X& x, const K& key) { return distributions::draw_like<distributions::exponential>(x, key); }

/// Independent values with the Laplace distribution of this location and scale, by default 0 and 1. The largest magnitude is then 16.6 (double: 36.7). The rest:
/// as exponential.
template <element T = float, any_shape S, operand K>
constexpr auto laplace(S, const K& key) { return distributions::draw<distributions::laplace, T, S>(key); }
template <element T = float, any_shape S, operand K, class M, class D>
constexpr auto laplace(S s, const K& key, const M& location, const D& scale) { return location + scale * laplace<T>(s, key); }
template <operand X, class K>
constexpr auto laplace_like(const X& x, const K& key) { return distributions::draw_like<distributions::laplace>(x, key); }

/// Independent values with the Cauchy distribution of this location and scale, by default 0 and 1. The largest magnitude is then 2.7e6 (double: 1.4e15). The
/// rest: as exponential.
template <element T = float, any_shape S, operand K>
constexpr auto cauchy(S, const K& key) { return distributions::draw<distributions::cauchy, T, S>(key); }
template <element T = float, any_shape S, operand K, class M, class D>
constexpr auto cauchy(S s, const K& key, const M& location, const D& scale) { return location + scale * cauchy<T>(s, key); }
template <operand X, class K>
constexpr auto cauchy_like(const X& x, const K& key) { return distributions::draw_like<distributions::cauchy>(x, key); }

/// exp of independent normal values with this mean and standard deviation, by default 0 and 1. Of a run-time shape: exp(mean + deviation * normal_like(x, key)).
/// The rest: as exponential.
template <element T = float, any_shape S, operand K, class M, class D>
constexpr auto log_normal(S s, const K& key, const M& mean, const D& deviation) {
  static_assert(S::is_static, "tenure: log_normal: the shape has a run-time extent: write exp(mean + deviation * normal_like(x, key))");
  if constexpr (S::is_static) return apply<distributions::log_normal>(normal<T>(s, key), mean, deviation);
  else return after_error();
}
template <element T = float, any_shape S, operand K>
constexpr auto log_normal(S s, const K& key) { return log_normal<T>(s, key, 0, 1); }

// A key is missing, or a number stands in its place. They do not compile and give a message.
namespace distributions {
template <class... Seed>
inline constexpr bool lack_key = true;
template <operand K, class... Rest>
inline constexpr bool lack_key<K, Rest...> = false;
template <class S>
constexpr after_error refused_no_key() {
  static_assert(detail::never<S>, "tenure: exponential, laplace, cauchy, log_normal: no key behind the shape; write exponential(shape, tn::random_key(42)), and the parameters behind the key");
  return {};
}
}  // namespace distributions
template <element T = float, any_shape S, class... N> requires distributions::lack_key<N...> constexpr auto exponential(S, const N&...) { return distributions::refused_no_key<S>(); }
template <element T = float, any_shape S, class... N> requires distributions::lack_key<N...> constexpr auto laplace(S, const N&...) { return distributions::refused_no_key<S>(); }
template <element T = float, any_shape S, class... N> requires distributions::lack_key<N...> constexpr auto cauchy(S, const N&...) { return distributions::refused_no_key<S>(); }
template <element T = float, any_shape S, class... N> requires distributions::lack_key<N...> constexpr auto log_normal(S, const N&...) { return distributions::refused_no_key<S>(); }
template <operand X> constexpr auto exponential_like(const X&) { return detail::refused_like<X>(); }
template <operand X> constexpr auto laplace_like(const X&) { return detail::refused_like<X>(); }
template <operand X> constexpr auto cauchy_like(const X&) { return detail::refused_like<X>(); }

/// Independent int64 indices of classes: k with the probability softmax(logits)[k] along the last axis of the logits, which have a floating element type. With a
/// shape, which is static, the other axes of the logits broadcast to it; without one the indices have the shape of these axes. A class of the logit -inf is
/// never drawn, except that a row of nothing but -inf gives 0; of a row with a NaN it is the position of the first, both as in JAX. In float32 events of a probability below 1e-7 are drawn too rarely or too often: convert the logits to double, where that is 1e-16.
template <operand K, operand L>
constexpr auto categorical(const K& key, const L& logits) {
  if constexpr (detail::require_key<K>() && detail::require_floating<element_t<L>>()) return apply<distributions::categorical<void>>(key, logits);
  else return after_error();
}
template <any_shape S, operand K, operand L>
constexpr auto categorical(S, const K& key, const L& logits) {
  static_assert(S::is_static, "tenure: categorical: the shape has a run-time extent: categorical(key, logits) has that of the logits");
  if constexpr (S::is_static && detail::require_key<K>() && detail::require_floating<element_t<L>>()) return apply<distributions::categorical<S>>(key, logits);
  else return after_error();
}

namespace detail {
template <class... X>
constexpr after_error without_key() {
  static_assert(never<X...>, "tenure: categorical: a key comes before the logits: categorical(tn::random_key(42), logits), and with a shape categorical(shape, key, logits)");
  return after_error();
}
}  // namespace detail
// Without a key, or with a seed or an engine in its place. They do not compile and give a message.
template <operand L>
constexpr auto categorical(const L&) { return detail::without_key<L>(); }
template <class K, operand L>
  requires(!operand<K>)
constexpr auto categorical(const K&, const L&) { return detail::without_key<K, L>(); }
template <any_shape S, class K, operand L>
  requires(!operand<K>)
constexpr auto categorical(S, const K&, const L&) { return detail::without_key<S, K, L>(); }

}  // namespace tenure

// SPDX-License-Identifier: BSL-1.0
// Random numbers from a key, in a trace and with tensors: uniform, normal, bernoulli, dropout, and new keys by fold_in and split_key. A key is two
// int32, and random_key(seed) makes one. The numbers are a function of the key and of the position of an element in row-major order. They are those
// of jax.random (the keys: for seeds from 0 to 2^31 - 1, and fold_in of i >= 0). Law: the same key gives the same bits, in each backend, in a loop
// and in vmap (normal: to a few ulp). split_key<n>(k)[i] is fold_in(k, i). Cost: the kernel that reads the numbers computes them, and they take no
// memory. The gradient of dropout computes its mask again from the key. An array of float32 with more than 2^23 elements goes through memory.
#pragma once

#include <tenure/ops/indexing.hpp>
#include <tenure/ops/like.hpp>
#include <tenure/ops/movement.hpp>
#include <tenure/ops/subscript.hpp>

namespace TENURE_NAMESPACE {

namespace detail {

template <class K>
inline constexpr bool is_key = false;
template <operand K>
inline constexpr bool is_key<K> = std::is_same_v<element_t<K>, std::int32_t> && std::is_same_v<shape_of_t<K>, shape<2>>;

/// Whether K is a key. If not, a static_assert says so.
template <class K>
constexpr bool require_key() {
  static_assert(
      is_key<K> || is_after_error<K>,
      "tenure: uniform, normal, exponential, laplace, cauchy, log_normal, categorical, bernoulli, dropout, fold_in, split_key: this is no key: make one by random_key(seed), and others of it by fold_in(key, i)");
  return is_key<K>;
}
template <class T>
constexpr bool require_floating() {
  static_assert(number::is_floating<T>, "tenure: uniform, normal, exponential, laplace, cauchy, log_normal, categorical, dropout: only floating-point elements have random numbers of these kinds");
  return number::is_floating<T>;
}

/// Refuses a plain number p outside [0, 1]. A variable of which the trace does not know the value is not read here: apply() refuses it.
template <class X, class P, class K>
constexpr void require_part([[maybe_unused]] const X& x, [[maybe_unused]] const P& p, [[maybe_unused]] const K& key) {
  if constexpr (scalar<P>) {
    if (std::is_constant_evaluated() && !__builtin_constant_p(p)) return;
    if (0 <= static_cast<double>(p) && static_cast<double>(p) <= 1) return;
    if constexpr (is_traced_v<X>) x.graph->refuse({ir::diagnostic::kind::part});
    else if constexpr (is_traced_v<K>) key.graph->refuse({ir::diagnostic::kind::part});
    else TENURE_THROW(error("tenure: dropout: p is the part of the elements that become zero: 0 <= p <= 1"));
  }
}

}  // namespace detail

namespace ops {
namespace detail {

/// The two words of a key, in the bits of an element of T.
template <class T, class K>
constexpr std::pair<value, value> words_of(const K& key) {
  if constexpr (std::is_integral_v<T>) {
    const auto wide = cast<T>::trace(key);
    return {wide[0], wide[1]};
  } else {
    // float32 cannot hold every word exactly, but it can hold the two halves of a word.
    const traced<std::int32_t, shape<>> half{key.graph, key.graph->constant_bits(dtype::int32, key.graph->intern({}), 65536)};
    const auto high = cast<T>::trace(floor_divide::trace(key, half)), low = cast<T>::trace(remainder::trace(key, half));
    return {random_word::trace(high[0], low[0]), random_word::trace(high[1], low[1])};
  }
}

/// Random bits in lanes of T, at the positions of a shape. `size` becomes the number of positions.
template <class T, class K>
constexpr value bits_at_positions(const K& key, std::int16_t shape, std::int64_t& size) {
  ir::builder& g = *key.graph;
  const extents s = g.shape(shape);  // a copy: the graph grows
  auto [position, count] = row_major_place(g, dtype_v<T>, s, shape, [&](int a) { return counting(g, dtype_v<T>, shape, a); });
  size = count;
  if (position.id == ir::none) position = {g, g.constant_bits(dtype_v<T>, shape, 0)};
  const auto [first, second] = words_of<T>(key);
  return pointwise_value<random_bits>(position, broadcast_to(first, shape), broadcast_to(second, shape));
}

/// Random bits for elements of T, in its lanes.
template <class T, class S, class K>
constexpr value bits_for(const K& key, std::int16_t shape, const char* call) {
  constexpr std::int64_t size = [] {
    std::int64_t n = 1;
    for (int a = 0; a < S::rank; ++a) n = is_static(S::value[a]) && n >= 0 ? n * S::value[a] : -1;
    return n;
  }();
  static_assert(size <= math::random_positions<double> && (sizeof(T) == 8 || size <= math::random_positions<std::int32_t>),
                "tenure: random numbers from a key: more than 2^31 elements of float32");
  std::int64_t elements = 0;
  if constexpr (size <= math::random_positions<T>) {
    const value bits = bits_at_positions<T>(key, shape, elements);
    if (!is_static(elements)) key.graph->require_at_least(math::random_positions<T>, elements, call);
    return bits;
  } else {
    // float32 does not hold the positions exactly, but int32 does. So the bits are computed in int32 and converted in halves.
    const value bits = bits_at_positions<std::int32_t>(key, shape, elements), half = bits.like(65536);
    return pointwise_value<random_word>(cast_to(pointwise_value<floor_divide>(bits, half), dtype_v<T>),
                                        cast_to(pointwise_value<remainder>(bits, half), dtype_v<T>));
  }
}

/// A narrow type has the numbers of its lanes. Uniform ones are rounded down, so that 1 is none of them and all values have one probability.
template <class Op, class T, class S, class K>
constexpr traced<T, S> random_numbers(const K& key, std::int16_t shape, const char* call) {
  value x = pointwise_value<Op>(bits_for<number::lane_t<T>, S>(key, shape, call));
  if constexpr (number::is_narrow<T> && std::is_same_v<Op, random_unit>) {
    constexpr double count = 1 << std::numeric_limits<T>::digits;
    x = pointwise_value<floor>(x * count) / count;
  }
  return {key.graph, cast_to(x, dtype_v<T>).id};
}

}  // namespace detail

/// Op of random bits in a static shape, or in the shape of x.
template <class Op, class T, class S>
struct random_numbers {
  static constexpr auto trace(const auto& key) {
    return detail::random_numbers<Op, T, S>(key, key.graph->intern(S::value), Op::name);
  }
};
template <class Op>
struct random_numbers_like {
  static constexpr const char* call = std::is_same_v<Op, random_unit> ? "uniform_like, dropout" : "normal_like";
  static constexpr bool reaches(int) { return false; }
  template <class X, class K>
  static constexpr auto trace(const X& x, const K& key) {
    return detail::random_numbers<Op, typename X::element_type, typename X::shape_type>(key, value(x).node().shape, call);
  }
};

/// low + (high - low) * u, and low where the sum rounds up to high.
struct uniform_between {
  static constexpr auto trace(const auto& u, const auto& low, const auto& high) {
    const auto x = add::trace(low, mul::trace(sub::trace(high, low), u));
    return where::trace(less::trace(x, high), x, low);
  }
};
/// uniform_between for bounds that only the call knows: where high - low overflows, it computes with half of each bound. (Halving all bounds would
/// lose a bit of the smallest numbers.) Bounds that are plain numbers are checked instead, because this takes 15 % of the time of the draws.
struct uniform_between_far {
  template <class U, class L, class H>
  static constexpr auto trace(const U& u, const L& low, const H& high) {
    using T = typename U::element_type;
    if constexpr (std::is_integral_v<typename L::element_type>) return trace(u, cast<T>::trace(low), high);
    else if constexpr (std::is_integral_v<typename H::element_type>) return trace(u, low, cast<T>::trace(high));
    else {
      const auto fits = isfinite::trace(sub::trace(high, low));
      const auto choice = [&](double yes, double no) {
        const auto constant = [&](double c) { return traced<T, shape<>>{u.graph, u.graph->constant(dtype_v<T>, u.graph->intern({}), c)}; };
        return where::trace(fits, constant(yes), constant(no));
      };
      const auto scale = choice(1, 0.5);
      return mul::trace(uniform_between::trace(u, mul::trace(low, scale), mul::trace(high, scale)), choice(1, 2));
    }
  }
};

struct dropout : rounds_once {
  template <class X, class P, class K>
  static constexpr auto trace(const X& x, const P& p, const K& key) {
    using T = typename X::element_type;
    const traced<T, shape<>> zero{x.graph, x.graph->constant(dtype_v<T>, x.graph->intern({}), 0)},
        one{x.graph, x.graph->constant(dtype_v<T>, x.graph->intern({}), 1)};
    const auto keep = sub::trace(one, cast<T>::trace(p));
    const auto keeps_some = greater::trace(keep, zero);
    // The inner `where` prevents a division by 0: 0 times the derivative of that would be NaN.
    const auto scale = where::trace(keeps_some, div::trace(one, where::trace(keeps_some, keep, one)), zero);
    const auto u = random_numbers_like<random_unit>::trace(x, key);
    return where::trace(less::trace(u, keep), mul::trace(x, scale), zero);
  }
};

/// A key for each element of data, along a new last axis.
struct fold_in {
  template <class K, class D>
  static constexpr auto trace(const K& key, const D& data) {
    ir::builder& g = *key.graph;
    using element = typename D::element_type;
    static_assert(std::is_integral_v<element> && !std::is_same_v<element, bool>, "tenure: fold_in: the data are integers");
    const auto [first, second] = detail::words_of<std::int64_t>(key);
    const std::int16_t shape = value(data).node().shape;
    const traced<std::int64_t, typename D::shape_type> bits{
        &g, pointwise_value<random_bits>(cast_to(data, dtype::int64), broadcast_to(first, shape), broadcast_to(second, shape)).id};
    const auto both = stack<-1>::unsqueeze(bits);
    const traced<std::int64_t, tenure::shape<2>> place{&g, counting(g, dtype::int64, g.intern(tenure::shape<2>::value), 0).id};
    const auto constant = [&](std::int64_t c) {
      return traced<std::int64_t, tenure::shape<>>{&g, g.constant_bits(dtype::int64, g.intern({}), c)};
    };
    const auto upper = floor_divide::trace(both, constant(std::int64_t{1} << 32));
    return cast<std::int32_t>::trace(where::trace(equal::trace(place, constant(0)), upper, both));
  }
};

template <std::int64_t N>
struct split_key {
  static constexpr auto trace(const auto& key) {
    ir::builder& g = *key.graph;
    return fold_in::trace(key, traced<std::int64_t, shape<N>>{&g, counting(g, dtype::int64, g.intern(shape<N>::value), 0).id});
  }
};

}  // namespace ops

/// The key of a seed: two int32, the upper and the lower word of the seed. It may be called in a trace, with a constant.
template <std::integral Seed>
constexpr auto random_key(Seed seed) {
  const auto bits = static_cast<std::uint64_t>(seed);
  const auto high = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 32)),
             low = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
  if (std::is_constant_evaluated())
    return detail::constant_counted<tensor<std::int32_t, shape<2>>>(static_cast<double>(high),
                                                                    static_cast<double>(low) - static_cast<double>(high));
  return tensor<std::int32_t, shape<2>>{high, low};
}
/// Does not compile: a seed is an integer, and the message says so.
template <class Seed>
  requires(!std::integral<Seed>)
constexpr auto random_key(const Seed&) {
  static_assert(detail::never<Seed>, "tenure: random_key: the seed is an integer of C++, as in random_key(42): an integer of a trace or of a tensor is a key by fold_in(key, i)");
  return after_error();
}
/// A new key from a key and an integer: a step, a layer. An array of integers gives an array of keys, with a new last axis of extent 2. Keys from
/// different integers are independent of each other. They are independent of the numbers of `key` only if nothing draws from `key` itself.
template <class K, class D>
constexpr auto fold_in(const K& key, const D& data) {
  if constexpr (detail::require_key<K>()) return apply<ops::fold_in>(key, data);
  else return after_error();
}
/// N independent keys, int32[N, 2]: split_key<N>(key)[i] is fold_in(key, i).
template <std::int64_t N, class K>
constexpr auto split_key(const K& key) {
  if constexpr (detail::require_key<K>()) return apply<ops::split_key<N>>(key);
  else return after_error();
}
/// Does not compile: the number is a template argument, and the message says so.
template <class K, class... N>
constexpr auto split_key(const K&, const N&...) {
  static_assert(detail::never<K>, "tenure: split_key: the number of keys is a template argument, split_key<2>(key): for a run-time number, fold_in(key, i) is key i");
  return after_error();
}

/// Independent values with the uniform distribution on [low, high), by default [0, 1), in multiples of 2^-23 (double: 2^-52, bfloat16: 2^-8) of high - low. The shape
/// is static; uniform_like(x, key) has the shape and the element type of x. No gradient flows to x. Errors: if the bounds are numbers and low > high,
/// a bound is NaN, or high - low is not finite in T, it throws tenure::error, or does not compile in a trace. Arrays as bounds are not checked.
template <element T = float, any_shape S, operand K>
constexpr auto uniform(S, const K& key) {
  static_assert(S::is_static, "tenure: uniform: the shape has a run-time extent: call uniform_like(x, key)");
  if constexpr (S::is_static && detail::require_floating<T>() && detail::require_key<K>())
    return apply<ops::random_numbers<ops::random_unit, T, S>>(key);
  else return after_error();
}
template <element T = float, any_shape S, operand K, class L, class H>
constexpr auto uniform(S s, const K& key, const L& low, const H& high) {
  if constexpr (scalar<L> && scalar<H>) {
    detail::require_bounds<T>(static_cast<double>(low), static_cast<double>(high));
    return apply<ops::uniform_between>(uniform<T>(s, key), number::convert<T>(low), number::convert<T>(high));
  } else {
    return apply<ops::uniform_between_far>(uniform<T>(s, key), low, high);
  }
}
/// Does not compile: run-time extents after a key, and the message says so.
template <element T = float, any_shape S, operand K, class L, class H, class N, class... Rest>
constexpr auto uniform(S, const K&, const L&, const H&, const N&, const Rest&...) {
  static_assert(detail::never<N>, "tenure: uniform: with a key a shape has no run-time extents: uniform_like(x, key), and with an engine uniform(shape, engine, low, high, extents...)");
  return after_error();
}
template <operand X, class K>
constexpr auto uniform_like(const X& x, const K& key) {
  if constexpr (detail::require_floating<element_t<X>>() && detail::require_key<K>())
    return apply<ops::random_numbers_like<ops::random_unit>>(x, key);
  else return after_error();
}

/// Independent values with the normal distribution of this mean and standard deviation, by default 0 and 1. The largest magnitude is 5.5
/// (double: 8.3). Shapes: as uniform.
template <element T = float, any_shape S, operand K>
constexpr auto normal(S, const K& key) {
  static_assert(S::is_static, "tenure: normal: the shape has a run-time extent: call normal_like(x, key)");
  if constexpr (S::is_static && detail::require_floating<T>() && detail::require_key<K>())
    return apply<ops::random_numbers<ops::random_normal, T, S>>(key);
  else return after_error();
}
template <element T = float, any_shape S, operand K, class M, class D>
constexpr auto normal(S s, const K& key, const M& mean, const D& deviation) {
  return mean + deviation * normal<T>(s, key);
}
/// Does not compile: run-time extents after a key, and the message says so.
template <element T = float, any_shape S, operand K, class M, class D, class N, class... Rest>
constexpr auto normal(S, const K&, const M&, const D&, const N&, const Rest&...) {
  static_assert(detail::never<N>, "tenure: normal: with a key a shape has no run-time extents: normal_like(x, key), and with an engine normal(shape, engine, mean, deviation, extents...)");
  return after_error();
}
template <operand X, class K>
constexpr auto normal_like(const X& x, const K& key) {
  if constexpr (detail::require_floating<element_t<X>>() && detail::require_key<K>())
    return apply<ops::random_numbers_like<ops::random_normal>>(x, key);
  else return after_error();
}

/// bool, true with probability p, which is a number or broadcasts with the shape: where uniform<T> is below p. So float32 rounds the probability up to a multiple
/// of 2^-23, and bernoulli<double> to one of 2^-52. It is never true of p = 0 and NaN, and always of p = 1.
template <element T = float, any_shape S, operand K, class P>
constexpr auto bernoulli(S s, const K& key, const P& p) {
  return uniform<T>(s, key) < p;
}

/// Does not compile: a key or the probability is missing, or a number stands in place of the key, and the message says so.
template <element T = float, any_shape S, class... P>
  requires(sizeof...(P) < 2)
constexpr auto bernoulli(S, const P&...) {
  static_assert(detail::never<S>, "tenure: bernoulli: fewer than three arguments: the shape, a key and the probability; write bernoulli(shape, tn::random_key(42), p)");
  return after_error();
}
template <element T = float, any_shape S, scalar Seed, class P>
constexpr auto bernoulli(S, Seed, const P&) {
  static_assert(detail::never<S>, "tenure: bernoulli: a number stands in place of the key; write bernoulli(shape, tn::random_key(42), p)");
  return after_error();
}
namespace detail {
template <class X>
constexpr after_error refused_like() {
  static_assert(never<X>, "tenure: normal_like, uniform_like, exponential_like, laplace_like, cauchy_like: no key; write normal_like(x, tn::random_key(42))");
  return {};
}
}  // namespace detail
template <operand X>
constexpr auto uniform_like(const X&) { return detail::refused_like<X>(); }
template <operand X>
constexpr auto normal_like(const X&) { return detail::refused_like<X>(); }

/// Sets each element of x to 0 with probability p, as the key decides, and divides the others by 1 - p, so that the mean stays. p is a number or a
/// traced number from 0 to 1; 0 gives x. A plain number outside this range throws, or does not compile in a trace. The value of a traced p, or of a
/// tensor, is not checked. Also a NaN or an infinity in x can become 0. The gradient computes the same mask again from the key.
template <operand X, class P, class K>
constexpr auto dropout(const X& x, const P& p, const K& key) {
  if constexpr (detail::require_floating<element_t<X>>() && detail::require_key<K>()) {
    detail::require_part(x, p, key);
    return apply<ops::dropout>(x, p, key);
  } else {
    return after_error();
  }
}
/// Does not compile: a key is missing, and the message says so.
template <operand X, class P>
constexpr auto dropout(const X&, const P&) {
  static_assert(detail::never<X>, "tenure: dropout: a key decides which elements become zero: dropout(x, p, tn::random_key(42)), with another key in each step, fold_in(key, step)");
  return after_error();
}

}  // namespace TENURE_NAMESPACE

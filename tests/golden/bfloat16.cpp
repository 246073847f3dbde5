// SPDX-License-Identifier: BSL-1.0
// bfloat16 against PyTorch: values, types of results and gradients, eager and compiled. Arithmetic, comparisons, casts and sums have its bits.
// docs/pytorch.md lists where they differ.
#include <bit>
#include <cmath>
#include <cstdlib>

#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "data_bfloat16.hpp"

namespace tn = tenure;
namespace wanted = golden_bfloat16;
using tn::bfloat16;

namespace {
template <class Shape, class T, int N>
auto tensor_of(const wanted::values<T, N>& from) {
  tn::tensor<T, Shape> x(tn::uninitialized);
  static_assert(Shape::size <= N);
  std::int64_t i = 0;
  for (T& to : tn::as_span(x)) to = std::bit_cast<T>(from.bits[i++]);
  return x;
}
template <class T, int N>
auto tensor_of(const wanted::values<T, N>& from) { return tensor_of<tn::shape<N>>(from); }

/// How many numbers of their type lie between both; 0 only for equal bits, or two NaN.
template <class T>
std::int64_t distance(T x, T y) {
  if constexpr (tn::number::is_floating<T>) {
    if (std::isnan(static_cast<double>(x)) && std::isnan(static_cast<double>(y))) return 0;
    using word = std::make_signed_t<wanted::word<sizeof(T)>>;
    const auto place = [](word bits) { return std::int64_t{bits < 0 ? static_cast<word>(std::numeric_limits<word>::min() - bits - 1) : bits}; };
    return std::abs(place(std::bit_cast<word>(x)) - place(std::bit_cast<word>(y)));
  } else {
    return std::abs(static_cast<std::int64_t>(x) - static_cast<std::int64_t>(y));
  }
}

/// Each element is that of PyTorch, or one of `most` neighbours, or as near to the exact one, where this is known.
template <class X, class Expected>
void check(std::int64_t most, const X& got, const Expected& expected) {
  using T = tn::element_t<X>;
  constexpr int count = static_cast<int>(std::extent_v<decltype(Expected::bits)>);
  STATIC_REQUIRE(std::is_base_of_v<wanted::values<T, count>, Expected>);
  REQUIRE(got.size() == count);
  for (std::size_t i = 0; i < std::size_t{count}; ++i) {
    const T x = tn::as_span(got)[i], theirs = std::bit_cast<T>(expected.bits[i]);
    if (distance(x, theirs) <= most) continue;
    if constexpr (requires { expected.exact; }) {
      const T exact = std::bit_cast<T>(expected.exact[i]);
      if (distance(x, exact) <= distance(theirs, exact)) continue;
      UNSCOPED_INFO("exact: " << static_cast<double>(exact));
    }
    UNSCOPED_INFO(expected.expression << ", element " << i << ": " << static_cast<double>(x) << " where PyTorch has " << static_cast<double>(theirs));
    CHECK(distance(x, theirs) <= most);
    return;
  }
}

/// The results of f are `expected`, up to `most` neighbours of their type: eager ones, and those of compiled code.
template <class F, class Arguments, class... Expected>
void check_all(std::int64_t most, F f, const Arguments& x, const Expected&... expected) {
  std::apply([&](const auto&... result) { (check(most, tn::eval(result), expected), ...); }, std::apply(f, x));
  std::apply([&](const auto&... result) { (check(most, result, expected), ...); }, std::apply(tn::compile(f), x));
}

/// The gradients of f at x... are `expected`.
template <class F, class Arguments, class... Expected>
void check_gradients(std::int64_t most, F f, const Arguments& x, const Expected&... expected) {
  const auto of = [&](const auto&... argument) {
    using result = decltype(tn::eval(f(argument...)));
    const auto cotangent = tn::eval(tn::cast<tn::element_t<result>>(tensor_of<tn::shape_of_t<result>>(wanted::cotangent)));
    const auto all = tn::vjp(f)(argument..., cotangent);
    [&]<std::size_t... I>(std::index_sequence<I...>) { (check(most, std::get<1 + I>(all), expected), ...); }(std::index_sequence_for<Expected...>{});
  };
  std::apply(of, x);
}

const auto a = tensor_of(wanted::a);
const auto b = tensor_of(wanted::b);
const auto u = tensor_of(wanted::u);
const auto p = tensor_of(wanted::p);
const auto x = tensor_of<tn::shape<6, 24>>(wanted::x);
const auto y = tensor_of<tn::shape<6, 24>>(wanted::y);
const auto m = tensor_of<tn::shape<5, 24>>(wanted::m);
const auto w = tensor_of<tn::shape<24, 7>>(wanted::w);
const auto bias = tensor_of(wanted::bias);
const auto gain = tensor_of(wanted::gain);
const auto bias_row = tensor_of(wanted::bias_row);
const auto labels = tensor_of(wanted::labels);
}  // namespace

TEST_CASE("arithmetic and comparisons of bfloat16 have the bits of PyTorch") {
  check_all(0, [](const auto& x, const auto& y) {
    return std::tuple{x + y, x - y, x * y, x / y, x * y + x, -x, abs(x), maximum(x, y), minimum(x, y), floor(x), round(x), sqrt(abs(x)), square(x), reciprocal(x), relu(x), where(x < y, x, y)};
  }, std::tie(a, b), wanted::sum, wanted::difference, wanted::product, wanted::quotient, wanted::product_and_sum, wanted::negative, wanted::magnitude, wanted::larger, wanted::smaller,
            wanted::whole, wanted::nearest, wanted::root, wanted::squared, wanted::inverse, wanted::positive, wanted::chosen);
  check_all(0, [](const auto& x, const auto& y) { return std::tuple{x < y, x <= y, x == y, x != y, x > y, x >= y, isnan(x)}; }, std::tie(a, b), wanted::less, wanted::at_most,
            wanted::equal, wanted::different, wanted::more, wanted::at_least, wanted::is_nan);
}

TEST_CASE("numbers and scalars beside bfloat16 are rounded to it where PyTorch rounds them") {
  check_all(0, [](const auto& x, const auto& y, const auto& u, const auto& p) {
    return std::tuple{x * 0.1, x / 0.3, x * 257, x > 0.1, x == -0.1, clamp(x, -0.3, 0.3), leaky_relu(x, 0.1), lerp(u, p, 0.3), where(x < y, x, 0.1), x + 0.1, u + 257, 1.1 - u};
  }, std::tie(a, b, u, p), wanted::times, wanted::divided, wanted::whole_times, wanted::above, wanted::same, wanted::within, wanted::leaky, wanted::between, wanted::number_chosen, wanted::plus,
            wanted::whole_plus, wanted::minus);
  check_all(1, [](const auto& p) { return std::tuple{pow(p, 0.3), 0.1 / p}; }, std::tie(p), wanted::power, wanted::divides);
  const auto f = tensor_of(wanted::f);
  const auto d = tensor_of(wanted::d);
  const auto i = tensor_of(wanted::i);
  const auto s = tensor_of<tn::shape<>>(wanted::scalar);
  const auto t = tensor_of<tn::shape<>>(wanted::double_scalar);
  check_all(0, [](const auto& x, const auto& f, const auto& d, const auto& i, const auto& s, const auto& t) {
    const auto one = x[0][0];
    return std::tuple{x * f, x + d, x * i, x * s, x * t, x + s, one * s, one * 0.1, x * (x > 0), i * 0.5 + x[0]};
  }, std::tie(x, f, d, i, s, t), wanted::with_float, wanted::with_double, wanted::with_int64, wanted::with_scalar, wanted::with_double_scalar, wanted::plus_scalar, wanted::scalars,
            wanted::scalar_and_number, wanted::with_bool, wanted::int_and_half);
}

TEST_CASE("casts of bfloat16 have the bits of PyTorch") {
  const auto halves = tensor_of(wanted::halves);
  const auto doubles = tensor_of(wanted::doubles);
  const auto longs = tensor_of(wanted::longs);
  const auto small = tensor_of(wanted::small);
  check_all(0, [](const auto& f, const auto& d, const auto& i, const auto& x, const auto& y, const auto& s) {
    return std::tuple{tn::cast<bfloat16>(f), tn::cast<bfloat16>(d), tn::cast<bfloat16>(i), tn::cast<bfloat16>(x < y), tn::cast<float>(x), tn::cast<double>(x), tn::cast<std::int32_t>(s),
                      tn::cast<std::int64_t>(s), tn::cast<bool>(s)};
  }, std::tie(halves, doubles, longs, a, b, small), wanted::from_float, wanted::from_double, wanted::from_int64, wanted::from_bool, wanted::to_float, wanted::to_double, wanted::to_int32,
            wanted::to_int64, wanted::to_bool);
}

TEST_CASE("functions of bfloat16 are those of PyTorch") {
  check_all(1, [](const auto& u, const auto& p) {
    return std::tuple{exp(u), log(p), tanh(u), sin(u), cos(u), sigmoid(u), erf(u), gelu(u * 0.5), silu(u), softplus(u), expm1(u), log1p(p), rsqrt(p), elu(u), atan2(u, p), pow(p, u)};
  }, std::tie(u, p), wanted::exponential, wanted::logarithm, wanted::hyperbolic, wanted::sine, wanted::cosine, wanted::logistic, wanted::error, wanted::gaussian, wanted::silu,
            wanted::softplus, wanted::exponential_less_1, wanted::logarithm_plus_1, wanted::inverse_root, wanted::elu, wanted::angle, wanted::to_power);
}

TEST_CASE("sums, normalizations, products and losses of bfloat16 are those of PyTorch") {
  check_all(0, [](const auto& x) {
    return std::tuple{sum(x), sum(x, tn::axis<1>), sum(x, tn::axis<0>), mean(x), mean(x, tn::axis<1>), amax(x, tn::axis<1>), amin(x, tn::axis<0>), var(x, tn::axis<1>), logsumexp(x, tn::axis<1>),
                      cumsum(x, tn::axis<1>)};
  }, std::tie(x), wanted::total, wanted::row_sums, wanted::column_sums, wanted::average, wanted::row_means, wanted::largest, wanted::least, wanted::variance, wanted::log_sum, wanted::running);
  check_all(1, [](const auto& x, const auto& g, const auto& c) { return std::tuple{softmax(x, tn::axis<1>), log_softmax(x, tn::axis<1>), layer_norm(x), layer_norm(x, g, c), rms_norm(x, g)}; },
            std::tie(x, gain, bias_row), wanted::softmax, wanted::log_softmax, wanted::layer, wanted::layer_gain, wanted::root_mean);
  check_all(0, [](const auto& m, const auto& w, const auto& c, const auto& g) { return std::tuple{matmul(m, w), linear(m, transpose(w), c), matmul(m, g)}; }, std::tie(m, w, bias, gain),
            wanted::matrix, wanted::linear, wanted::vector);
  check_all(0, [](const auto& x, const auto& y, const auto& l) { return std::tuple{mse(x, y), cross_entropy(x, l), huber(x, y), bce_with_logits(x, sigmoid(y))}; }, std::tie(x, y, labels),
            wanted::squares, wanted::entropy, wanted::huber, wanted::binary);
}

TEST_CASE("gradients of bfloat16 are those of PyTorch") {
  check_gradients(1, [](const auto& u) { return exp(u); }, std::tie(u), wanted::d_exponential_u);
  check_gradients(1, [](const auto& u) { return tanh(u); }, std::tie(u), wanted::d_hyperbolic_u);
  check_gradients(1, [](const auto& u) { return sigmoid(u); }, std::tie(u), wanted::d_logistic_u);
  check_gradients(1, [](const auto& u) { return gelu(u * 0.5); }, std::tie(u), wanted::d_gaussian_u);
  check_gradients(1, [](const auto& u) { return silu(u); }, std::tie(u), wanted::d_silu_u);
  check_gradients(0, [](const auto& x, const auto& y) { return x * y; }, std::tie(x, y), wanted::d_product_x, wanted::d_product_y);
  check_gradients(1, [](const auto& x, const auto& y) { return x / y; }, std::tie(x, y), wanted::d_quotient_x, wanted::d_quotient_y);
  check_gradients(0, [](const auto& x) { return x * 0.1; }, std::tie(x), wanted::d_times_x);
  check_gradients(0, [](const auto& x) { return sum(x, tn::axis<1>); }, std::tie(x), wanted::d_sum_x);
  check_gradients(0, [](const auto& x) { return mean(x, tn::axis<1>); }, std::tie(x), wanted::d_mean_x);
  check_gradients(0, [](const auto& x) { return amax(x, tn::axis<1>); }, std::tie(x), wanted::d_largest_x);
  check_gradients(1, [](const auto& x) { return softmax(x, tn::axis<1>); }, std::tie(x), wanted::d_softmax_x);
  check_gradients(1, [](const auto& x) { return log_softmax(x, tn::axis<1>); }, std::tie(x), wanted::d_log_softmax_x);
  check_gradients(1, [](const auto& x, const auto& g, const auto& c) { return layer_norm(x, g, c); }, std::tie(x, gain, bias_row), wanted::d_layer_x, wanted::d_layer_gain,
                  wanted::d_layer_bias_row);
  check_gradients(0, [](const auto& m, const auto& w) { return matmul(m, w); }, std::tie(m, w), wanted::d_matrix_m, wanted::d_matrix_w);
  check_gradients(0, [](const auto& m, const auto& w, const auto& c) { return linear(m, transpose(w), c); }, std::tie(m, w, bias), wanted::d_linear_m, wanted::d_linear_w, wanted::d_linear_bias);
  check_gradients(0, [](const auto& x, const auto& y) { return mse(x, y); }, std::tie(x, y), wanted::d_squares_x, wanted::d_squares_y);
}

// SPDX-License-Identifier: BSL-1.0
// Laws of the derivatives of pointwise operations and losses.
#include "adjoint.hpp"

using namespace laws;

namespace {

// Each for static extents, and in double for run-time ones.
template <class T, class F>
void of_one(F f, double lo, double hi) {
  derivatives_agree<T>(f, filled<T>(shape<3, 5>{}, 31, lo, hi));
  if constexpr (std::is_same_v<T, double>) derivatives_agree_at_run_time<T>(f, filled<T>(shape<dyn, 5>{}, 32, lo, hi, 3));
}
template <class T, class F>
void of_two(F f, double lo, double hi) {
  derivatives_agree<T>(f, filled<T>(shape<3, 5>{}, 33, lo, hi), filled<T>(shape<3, 1>{}, 34, lo, hi));
  if constexpr (std::is_same_v<T, double>) derivatives_agree_at_run_time<T>(f, filled<T>(shape<dyn, 5>{}, 35, lo, hi, 3), filled<T>(shape<dyn, 5>{}, 36, lo, hi, 3));
}

}  // namespace

TEMPLATE_TEST_CASE("derivatives of functions of any number", "", TENURE_LAW_TYPES) {
  of_one<TestType>([](auto x) { return std::tuple{exp(x), expm1(x), sin(x), cos(x), sinh(x), cosh(x), atan(x), erf(x), -x, square(x), exp2(x), asinh(x), erfc(x), normal_cdf(x), log_normal_cdf(x)}; }, -2, 2);
  of_one<TestType>([](auto x) { return std::tuple{tanh(x), sigmoid(x), softplus(x), silu(x), gelu(x), gelu_tanh(x), mish(x), log_sigmoid(x), softsign(x)}; }, -3, 3);
  of_one<TestType>(
      [](auto x) {
        return std::tuple{abs(x), relu(x), leaky_relu(x, 0.1), elu(x, 1.5), selu(x), hardtanh(x, -1.5, 1.25), sign(x), floor(x), round(x), ceil(x), trunc(x), clamp(x, -0.75, 0.5)};
      },
      -2, 2);
}

TEMPLATE_TEST_CASE("derivatives of functions of positive numbers", "", TENURE_LAW_TYPES) {
  of_one<TestType>([](auto x) { return std::tuple{log(x), log1p(x), log2(x), sqrt(x), rsqrt(x), reciprocal(x), pow(x, 1.75), 2.0 / x, 3.0 - x, log10(x), lgamma(x), digamma(x), tn::polygamma<1>(x), erfcx(x), sinc(x), i0e(x), i1e(x)}; }, 0.25, 3);
  of_one<TestType>([](auto x) { return std::tuple{tan(x), asin(x), acos(x), atanh(x), acosh(x + 1.0), logit(x), log1mexp(x), erfinv(x), normal_icdf(x)}; }, 0.0625, 0.875);
  of_two<TestType>([](auto x, auto y) { return std::tuple{pow(x, y), x / y, atan2(x, y), lerp(x, y, 0.25), lerp(x, y, x), xlogy(x, y), fmod(x, y), logaddexp(x, y), hypot(x, y), gammainc(x, y), gammaincc(x, y), betainc(x, y, 0.375)}; }, 0.25, 3);
}

TEMPLATE_TEST_CASE("derivatives of functions of two", "", TENURE_LAW_TYPES) {
  of_two<TestType>(
      [](auto x, auto y) {
        return std::tuple{x + y, x - y, x * y, maximum(x, y), minimum(x, y), where(x > y, x * y, y), clamp_min(x, y), clamp_max(x, y), x * 2.0 + y, fmax(x, y), fmin(x, y), remainder(x, y), floor_divide(x, y)};
      },
      -2, 2);
}

TEMPLATE_TEST_CASE("derivatives of losses", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const auto losses = [](auto x, auto y) { return std::tuple{mse(x, y), l1(x, y), huber(x, y, 0.75), smooth_l1(x, y, 0.5), bce_with_logits(x, y)}; };
  derivatives_agree<T>(losses, filled<T>(shape<4, 3>{}, 41), filled<T>(shape<4, 3>{}, 42));
  derivatives_agree_at_run_time<T>(losses, filled<T>(shape<dyn, 3>{}, 43, -2.0, 2.0, 4), filled<T>(shape<dyn, 3>{}, 44, -2.0, 2.0, 4));
  derivatives_agree<T>([](auto p, auto y) { return bce(p, y); }, filled<T>(shape<6>{}, 45, 0.125, 0.875), filled<T>(shape<6>{}, 46, 0.125, 0.875));
  const auto of_classes = [](auto x, auto labels) { return std::tuple{cross_entropy(x, labels), nll(x, labels)}; };
  derivatives_agree<T>(of_classes, filled<T>(shape<4, 3>{}, 47), filled<std::int64_t>(shape<4>{}, 48, 0.0, 3.0));
  derivatives_agree_at_run_time<T>(of_classes, filled<T>(shape<dyn, 3>{}, 49, -2.0, 2.0, 4), filled<std::int32_t>(shape<dyn>{}, 50, 0.0, 3.0, 4));
}

TEMPLATE_TEST_CASE("derivatives of functions of trees", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const auto f = [](const auto& model, auto x) {
    const auto& [layers, scale] = model;
    auto y = x;
    for (int i = 0; i < 2; ++i) y = tanh(matmul(y, layers[static_cast<std::size_t>(i)]));
    return std::tuple{std::array{y, y * scale}, sum(y)};
  };
  const std::tuple model{std::array{filled<T>(shape<3, 3>{}, 51), filled<T>(shape<3, 3>{}, 52)}, filled<T>(shape<>{}, 53)};
  derivatives_agree<T>(f, model, filled<T>(shape<2, 3>{}, 54));
  derivatives_agree_at_run_time<T>(f, model, filled<T>(shape<dyn, 3>{}, 55, -2.0, 2.0, 2));
  derivatives_agree<float>([](auto x) { return std::tuple{tn::cast<double>(sin(x)), tn::cast<float>(x) * 0.5, stop_gradient(x) * x}; }, filled<float>(shape<4>{}, 56));
}

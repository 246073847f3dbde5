// SPDX-License-Identifier: BSL-1.0
// Plain numbers in the functions of tensors: alone they give plain numbers, also in a trace; beside tensors they are constants.
#include "../catch.hpp"

#include <cmath>
#include <type_traits>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

// Generic code, in which each argument is a number or a tensor.
constexpr auto wave = [](const auto& a, const auto& x) { return tn::square(a) + tn::exp(x) * tn::where(true, 1.0f, a); };

// Called with numbers and with tensors of one element, every function gives the same.
constexpr auto every_function = [](const auto& x, const auto& y) {
  using tn::where, tn::maximum, tn::minimum, tn::clamp, tn::clamp_min, tn::clamp_max, tn::lerp, tn::pow, tn::atan2, tn::fmax, tn::fmin, tn::fmod, tn::remainder, tn::floor_divide, tn::xlogy;
  return std::tuple{tn::exp(x), tn::expm1(x), tn::log(y), tn::log1p(y), tn::log2(y), tn::sqrt(y), tn::rsqrt(y), tn::sin(x), tn::cos(x), tn::atan(x), tn::sinh(x),
                    tn::cosh(x), tn::tanh(x), tn::erf(x), tn::square(x), tn::reciprocal(x), tn::abs(x), tn::sign(x), tn::floor(x), tn::round(x), tn::relu(x),
                    tn::sigmoid(x), tn::softplus(x), tn::log_sigmoid(x), tn::silu(x), tn::mish(x), tn::softsign(x), tn::leaky_relu(x), tn::elu(x), tn::selu(x),
                    tn::hardtanh(x), tn::relu6(x), tn::gelu(x), tn::gelu_tanh(x), tn::sum(x), tn::mean(x), tn::amax(x), tn::amin(x), tn::norm(x),
                    tn::stop_gradient(x), tn::cast<double>(x), maximum(x, y), minimum(x, y), clamp(x, -1.0, y), clamp_min(x, y), clamp_max(x, y), lerp(x, y, 0.25),
                    pow(y, x), atan2(x, y), where(false, x, y), tn::ceil(x), tn::trunc(x), fmax(x, y), fmin(x, y), fmod(x, y), remainder(x, y), floor_divide(x, y),
                    xlogy(x, y), tn::exp2(x), tn::log10(y), tn::tan(x), tn::asin(x), tn::acos(x), tn::asinh(x), tn::acosh(y), tn::atanh(x), tn::erfc(x), tn::lgamma(x), tn::digamma(x), tn::polygamma<1>(x), tn::polygamma<2>(y), tn::logaddexp(x, y), tn::hypot(x, y), tn::logit(x), tn::log1mexp(x), tn::normal_cdf(x), tn::log_normal_cdf(x), tn::erfinv(x), tn::normal_icdf(x), tn::gammainc(y, 1.5), tn::betainc(y, 2.0, 0.25), tn::gammaincc(y, 0.5), tn::erfcx(x), tn::sinc(y), tn::i0e(x), tn::i1e(y)};
};

}  // namespace

TEST_CASE("the functions of plain numbers give the numbers that the functions of tensors give") {
  const auto compare = [](double x, double y) {
    const tn::tensor<double, tn::shape<>> tx = x, ty = y;
    const auto numbers = every_function(x, y);
    const auto tensors = every_function(tx, ty);
    int i = 0;
    const auto one = [&](auto a, const auto& b) {
      static_assert(std::is_same_v<decltype(a), double>);
      INFO("function " << i++ << " of " << x << " and " << y);
      if constexpr (tn::expression<decltype(b)>) {
        if (std::isfinite(b.item()) && b.item() != 0) CHECK(std::fabs(a - b.item()) <= 1e-14 * std::fabs(a));
        else CHECK((a == b.item() || (a != a && b.item() != b.item())));
      }
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) { (one(std::get<I>(numbers), std::get<I>(tensors)), ...); }(std::make_index_sequence<std::tuple_size_v<decltype(numbers)>>{});
  };
  compare(0.3, 1.7);
  compare(-2.5, 0.4);
  compare(21.5, 2.0);
  compare(-2.0, 2.0);
  const double infinite = INFINITY;
  for (const double x : {infinite, -infinite, 0.0, -0.0, std::nan("")}) compare(x, 2.0), compare(0.5, x), compare(x, x);
}

// Law: the result is a plain number.
TEST_CASE("functions of numbers keep floating types, take integers as double, and are constants") {
  static_assert(std::is_same_v<decltype(tn::exp(1.0f)), float> && std::is_same_v<decltype(tn::exp(1)), double> && std::is_same_v<decltype(tn::square(3)), int>);
  static_assert(std::is_same_v<decltype(tn::maximum(1, 2.5f)), float> && std::is_same_v<decltype(tn::abs(-3)), int> && std::is_same_v<decltype(tn::floor(2.5f)), float>);
  static_assert(tn::sqrt(2.0) == 1.4142135623730951 && tn::abs(-3) == 3 && tn::maximum(1, 2.5f) == 2.5f && tn::exp(1000.0) > 1e308);
  CHECK(tn::round(2.5) == 2);
  CHECK(std::signbit(tn::abs(-0.0)) == false);
  CHECK(tn::maximum(1.0, std::nan("")) != tn::maximum(1.0, std::nan("")));
}

TEST_CASE("plain numbers beside traced values and tensors") {
  const tn::tensor<float, tn::shape<2>> x{0, 1};
  const float plain = wave(0.5f, 1.0f);
  CHECK(std::fabs(plain - (0.25f + std::exp(1.0f))) < 1e-6f);
  const auto traced = tn::compile([](auto v) { return wave(0.5f, v) + tn::sqrt(2.0) * tn::sin(1.0f); })(x);
  CHECK(std::fabs(traced(1) - (0.25f + std::exp(1.0f) + std::sqrt(2.0f) * std::sin(1.0f))) < 1e-5f);
  const auto parameter = tn::compile([](auto a) { return wave(a, 1.0f); })(x);
  CHECK(std::fabs(parameter(1) - (1 + std::exp(1.0f))) < 1e-5f);
  const tn::tensor eager = wave(x, 1.0f);
  CHECK(std::fabs(eager(1) - (1 + std::exp(1.0f))) < 1e-5f);
  CHECK(tn::compile([](auto a) { return tn::where(false, 1.0f, a); })(x)(1) == 1);
  CHECK(tn::compile([](auto a) { return tn::where(true, 5, a); })(x)(0) == 5);
}

TEST_CASE("a gradient goes through generic code in which an argument is a number") {
  const tn::tensor<double, tn::shape<2>> x{0, 1};
  const auto g = tn::grad([](auto v) { return sum(tn::where(true, v, 2.0) * tn::exp(0.5)); })(x);
  CHECK(g(0) == std::exp(0.5));
  auto w = tn::variable<double, tn::shape<>>(2.0);
  auto y = tn::where(true, w * 3.0, w);
  y.backward();
  CHECK(w.grad().item() == 3);
}

// The largest unsigned number has the bits of -1.
TEST_CASE("quotients of unsigned numbers by the largest one") {
  STATIC_REQUIRE(tn::fmod(5u, 4294967295u) == 5u);
  STATIC_REQUIRE(tn::remainder(5u, 4294967295u) == 5u);
  STATIC_REQUIRE(tn::floor_divide(5u, 4294967295u) == 0u);
}

// Law: a stack of plain numbers is a vector of them, also as a row beside traced ones.
TEST_CASE("plain numbers are stacked") {
  const auto row = tn::stack(1.5, 2);
  STATIC_REQUIRE(std::is_same_v<tn::element_t<decltype(row)>, double>);
  STATIC_REQUIRE(std::is_same_v<tn::shape_of_t<decltype(row)>, tn::shape<2>>);
  CHECK(row(0) == 1.5);
  CHECK(row(1) == 2);
  CHECK(tn::stack<-1>(7)(0) == 7);
  constexpr auto of_factor = [](auto q) {
    const auto l = tn::stack(tn::stack(1.0, 0.0), tn::stack(q(0), q(1)));
    return sum(tn::matmul(l, transpose(l)) * tn::stack(2.0, 3.0));
  };
  const tn::tensor<double, tn::shape<2>> q{2, 3};
  CHECK(tn::compile(of_factor)(q).item() == 2 + 3 * 2 + 2 * 2 + 3 * (2 * 2 + 3 * 3));
  CHECK(tn::grad(of_factor)(q)(0) == 3 + 2 + 3 * 2 * 2);
}

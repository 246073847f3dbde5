// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_activation.hpp"

using namespace golden;

TEST_CASE("golden: activations") {
  check<p_tanh, second_order::both>([](auto x) { return tanh(x); });
  check<p_sigmoid, second_order::both>([](auto x) { return sigmoid(x); });
  check<p_softplus, second_order::both>([](auto x) { return softplus(x); });
  check<p_gelu_erf, second_order::both>([](auto x) { return gelu(x); });
  check<p_gelu_tanh>([](auto x) { return gelu_tanh(x); });
  check<p_silu, second_order::both>([](auto x) { return silu(x); });
  check<p_erf>([](auto x) { return erf(x); });
  check<p_logsigmoid, second_order::both>([](auto x) { return log_sigmoid(x); });
  check<p_mish>([](auto x) { return mish(x); });
  check<p_softsign>([](auto x) { return softsign(x); });
  check<p_relu>([](auto x) { return relu(x); });
  check<p_leaky_relu>([](auto x) { return leaky_relu(x, 0.1); });
  check<p_elu>([](auto x) { return elu(x, 1.0); });
  check<p_relu6>([](auto x) { return relu6(x); });
  check<p_hardtanh>([](auto x) { return hardtanh(x); });
  check<p_selu>([](auto x) { return selu(x); });
}

TEST_CASE("golden: exponential and trigonometric functions") {
  check<p_exp, second_order::both>([](auto x) { return exp(x); });
  check<p_expm1>([](auto x) { return expm1(x); });
  check<p_sin>([](auto x) { return sin(x); });
  check<p_cos>([](auto x) { return cos(x); });
  check<p_sinh>([](auto x) { return sinh(x); });
  check<p_cosh>([](auto x) { return cosh(x); });
  check<p_atan>([](auto x) { return atan(x); });
}

TEST_CASE("golden: arithmetic of one operand") {
  check<p_square>([](auto x) { return x * x; });
  check<p_neg>([](auto x) { return -x; });
  check<p_abs>([](auto x) { return abs(x); });
  check<p_clamp>([](auto x) { return clamp(x, -0.5, 0.8); });
  check<p_clamp_min>([](auto x) { return clamp_min(x, 0.25); });
  check<p_clamp_max>([](auto x) { return clamp_max(x, -0.1); });
  check<p_sign>([](auto x) { return sign(x); });
}

// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_pointwise.hpp"

using namespace golden;

TEST_CASE("golden: roots, logarithms and powers") {
  check<p_log, second_order::both>([](auto x) { return log(x); });
  check<p_sqrt, second_order::both>([](auto x) { return sqrt(x); });
  check<p_rsqrt>([](auto x) { return rsqrt(x); });
  check<p_reciprocal>([](auto x) { return reciprocal(x); });
  check<p_pow_scalar, second_order::both>([](auto x) { return pow(x, 2.5); });
  check<p_pow_half>([](auto x) { return pow(x, 0.5); });
  check<p_log1p>([](auto x) { return log1p(x); });
  check<p_log2>([](auto x) { return log2(x); });
  check<p_pow_int, second_order::both>([](auto x) { return pow(x, 3); });
  check<p_pow_tensor, second_order::both>([](auto x, auto y) { return pow(x, y); });
  check<p_pow_base>([](auto x) { return pow(2.0, x); });
}

TEST_CASE("golden: operations of several operands") {
  check<p_where>([](auto x, auto y, auto m) { return where(m, x, y); });
  check<p_maximum>([](auto x, auto y) { return maximum(x, y); });
  check<p_minimum>([](auto x, auto y) { return minimum(x, y); });
  check<p_atan2>([](auto x, auto y) { return atan2(x, y); });
  check<p_lerp>([](auto x, auto y, auto w) { return lerp(x, y, w); });
  check<p_addcmul>([](auto x, auto y, auto z) { return x + 0.5 * y * z; });
}

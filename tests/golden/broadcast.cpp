// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_broadcast.hpp"

using namespace golden;

TEST_CASE("golden: broadcasting") {
  check<p_b_add_0>([](auto x, auto y) { return x + y; });
  check<p_b_sub_0>([](auto x, auto y) { return x - 2.0 * y; });
  check<p_b_mul_0, second_order::both>([](auto x, auto y) { return x * y; });
  check<p_b_div_0, second_order::both>([](auto x, auto y) { return x / y; });
  check<p_b_add_1>([](auto x, auto y) { return x + y; });
  check<p_b_sub_1>([](auto x, auto y) { return x - 2.0 * y; });
  check<p_b_mul_1>([](auto x, auto y) { return x * y; });
  check<p_b_div_1>([](auto x, auto y) { return x / y; });
  check<p_b_add_2>([](auto x, auto y) { return x + y; });
  check<p_b_sub_2>([](auto x, auto y) { return x - 2.0 * y; });
  check<p_b_mul_2>([](auto x, auto y) { return x * y; });
  check<p_b_div_2>([](auto x, auto y) { return x / y; });
  check<p_b_maximum>([](auto x, auto y) { return maximum(x, y); });
  check<p_b_where>([](auto x, auto y) { return where(x > y, x * y, x - y); });
  check<p_b_expand>([](auto x, auto y) { return expand<2, 3, 4>(x) * y; });
}

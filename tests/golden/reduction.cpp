// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_reduction.hpp"

#include <tenure/ops/norm.hpp>

using namespace golden;

TEST_CASE("golden: reductions to one number") {
  check<p_sum_all>([](auto x) { return sum(x); });
  check<p_mean_all>([](auto x) { return mean(x); });
  check<p_amax_all>([](auto x) { return amax(x); });
  check<p_amin_all>([](auto x) { return amin(x); });
  check<p_logsumexp_all, second_order::both>([](auto x) { return logsumexp(x); });
  check<p_var_all, second_order::both>([](auto x) { return var(x); });
  check<p_std_all>([](auto x) { return stddev<0>(x); });
  check<p_norm2_all>([](auto x) { return norm(x); });
  check<p_norm1_all>([](auto x) { return norm<1>(x); });
}

TEST_CASE("golden: reductions of the first axis") {
  check<p_sum_0>([](auto x) { return sum(x, axis<0>, keepdim); });
  check<p_mean_0>([](auto x) { return mean(x, axis<0>, keepdim); });
  check<p_amax_0>([](auto x) { return amax(x, axis<0>, keepdim); });
  check<p_amin_0>([](auto x) { return amin(x, axis<0>, keepdim); });
  check<p_logsumexp_0>([](auto x) { return logsumexp(x, axis<0>, keepdim); });
  check<p_var_0>([](auto x) { return var<0>(x, axis<0>, keepdim); });
  check<p_std_0>([](auto x) { return stddev(x, axis<0>, keepdim); });
  check<p_norm2_0>([](auto x) { return norm(x, axis<0>, keepdim); });
  check<p_norm1_0>([](auto x) { return norm<1>(x, axis<0>, keepdim); });
}

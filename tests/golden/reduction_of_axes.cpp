// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_reduction.hpp"

#include <tenure/ops/accumulation.hpp>
#include <tenure/ops/norm.hpp>
#include <tenure/ops/position.hpp>
#include <tenure/ops/rearrangement.hpp>

using namespace golden;

TEST_CASE("golden: reductions of the last axis") {
  check<p_sum_m1>([](auto x) { return sum(x, axis<-1>); });
  check<p_mean_m1>([](auto x) { return mean(x, axis<-1>); });
  check<p_amax_m1>([](auto x) { return amax(x, axis<-1>); });
  check<p_amin_m1>([](auto x) { return amin(x, axis<-1>); });
  check<p_logsumexp_m1>([](auto x) { return logsumexp(x, axis<-1>); });
  check<p_var_m1>([](auto x) { return var(x, axis<-1>); });
  check<p_std_m1>([](auto x) { return stddev<0>(x, axis<-1>); });
  check<p_norm2_m1, second_order::both>([](auto x) { return norm(x, axis<-1>); });
  check<p_norm1_m1>([](auto x) { return norm<1>(x, axis<-1>); });
}

TEST_CASE("golden: reductions of two axes") {
  check<p_sum_02>([](auto x) { return sum(x, axes<0, 2>, keepdim); });
  check<p_mean_02>([](auto x) { return mean(x, axes<0, 2>, keepdim); });
  check<p_amax_02>([](auto x) { return amax(x, axes<0, 2>, keepdim); });
  check<p_amin_02>([](auto x) { return amin(x, axes<0, 2>, keepdim); });
  check<p_logsumexp_02>([](auto x) { return logsumexp(x, axes<0, 2>, keepdim); });
  check<p_var_02>([](auto x) { return var(x, axes<0, 2>, keepdim); });
  check<p_std_02>([](auto x) { return stddev<0>(x, axes<0, 2>, keepdim); });
  check<p_norm2_02>([](auto x) { return norm(x, axes<0, 2>, keepdim); });
  check<p_norm1_02>([](auto x) { return norm<1>(x, axes<0, 2>, keepdim); });
}

TEST_CASE("golden: products, running totals and others") {
  check<p_prod, second_order::both>([](auto x) { return prod(x, axis<1>); });
  check<p_norm3>([](auto x) { return norm<3>(x, axis<-1>); });
  check<p_max_dim>([](auto x) { return max(x, axis<1>); });
  check<p_cumsum>([](auto x) { return cumsum(x, axis<1>); });
  check<p_cumprod>([](auto x) { return cumprod(x, axis<-1>); });
  check<p_trace>([](auto x) { return sum(diagonal(x)); });
  check<p_var_mean_chain, second_order::both>(
      [](auto x) { return (x - mean(x, axis<-1>, keepdim)) / stddev(x, axis<-1>, keepdim); });
}

// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_edge.hpp"

#include <tenure/ops/accumulation.hpp>
#include <tenure/ops/norm.hpp>
#include <tenure/ops/position.hpp>

using namespace golden;

TEST_CASE("golden: edges of the domain") {
  check<p_edge_exp>([](auto x) { return exp(x); });
  check<p_edge_log>([](auto x) { return log(x); });
  check<p_edge_log1p>([](auto x) { return log1p(x); });
  check<p_edge_expm1>([](auto x) { return expm1(x); });
  check<p_edge_tanh>([](auto x) { return tanh(x); });
  check<p_edge_sigmoid>([](auto x) { return sigmoid(x); });
  check<p_edge_softplus>([](auto x) { return softplus(x, 1.0, 20.0); });  // PyTorch has the threshold by default
  check<p_edge_relu>([](auto x) { return relu(x); });
  check<p_edge_abs>([](auto x) { return abs(x); });
  check<p_edge_sqrt>([](auto x) { return sqrt(x); });
  check<p_edge_leaky>([](auto x) { return leaky_relu(x, 0.01); });
  check<p_edge_elu>([](auto x) { return elu(x); });
  check<p_edge_clamp>([](auto x) { return clamp(x, -1.0, 1.0); });
  check<p_edge_pow2>([](auto x) { return pow(x, 2); });
  check<p_edge_pow0>([](auto x) { return pow(x, 0); });
  check<p_edge_gelu>([](auto x) { return gelu(x); });
  check<p_edge_div>([](auto x, auto y) { return x / y; });
}

TEST_CASE("golden: ties, zeros and infinities") {
  check<p_edge_maximum_ties>([](auto x, auto y) { return maximum(x, y); });
  check<p_edge_amax_ties>([](auto x) { return amax(x, axis<1>); });
  check<p_edge_softmax>([](auto x) { return softmax(x); });
  check<p_edge_logsumexp>([](auto x) { return logsumexp(x, axis<-1>); });
  check<p_edge_norm0>([](auto x) { return norm(x, axis<1>); });
  check<p_edge_prod0>([](auto x) { return prod(x, axis<1>); });
  check<p_edge_max_dim_ties>([](auto x) { return max(x, axis<1>); });
}

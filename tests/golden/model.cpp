// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_model.hpp"

#include <tenure/ops/norm.hpp>
#include <tenure/ops/rearrangement.hpp>

using namespace golden;

namespace {

constexpr auto mlp = [](auto x, auto w1, auto b1, auto w2, auto b2) {
  return matmul(tanh(matmul(x, w1) + b1), w2) + b2;
};

}  // namespace

TEST_CASE("golden: models and their losses") {
  check<p_mlp_mse, second_order::both>(
      [](auto x, auto w1, auto b1, auto w2, auto b2, auto y) { return mse(mlp(x, w1, b1, w2, b2), y); });
  check<p_mlp_ce>([](auto x, auto w1, auto b1, auto w2, auto b2, auto t) {
    return cross_entropy(mlp(x, w1, b1, w2, b2), t) + 0.01 * (sum(square(w1)) + sum(square(w2)));
  });
  check<p_logreg, second_order::both>(
      [](auto x, auto w, auto b, auto t) { return mean(softplus(-t * (matmul(x, w) + b))); });
  check<p_info_nce>([](auto a, auto b) {
    const auto u = a / norm(a, axis<-1>, keepdim), v = b / norm(b, axis<-1>, keepdim);
    return -mean(diagonal(log_softmax(matmul(u, transpose(v)) / 0.5)));
  });
  check<p_elbo>([](auto mu, auto logvar, auto w, auto eps, auto x) {
    const auto logits = matmul(mu + exp(0.5 * logvar) * eps, w);
    return sum(softplus(logits) - logits * x) - 0.5 * sum(1.0 + logvar - square(mu) - exp(logvar));
  });
  check<p_gaussian_nll, second_order::both>(
      [](auto x, auto mu, auto lv) { return 0.5 * sum(lv + square(x - mu) / exp(lv)); });
  check<p_glu_ffn, second_order::both>(
      [](auto x, auto w1, auto w2, auto w3) { return matmul(silu(matmul(x, w1)) * matmul(x, w2), w3); });
}

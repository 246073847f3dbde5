// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_model.hpp"

#include <tenure/ops/norm.hpp>
#include <tenure/ops/rearrangement.hpp>

using namespace golden;

namespace {

constexpr auto mlp = [](auto x, auto w1, auto b1, auto w2, auto b2) { return matmul(tanh(matmul(x, w1) + b1), w2) + b2; };

}  // namespace

TEST_CASE("golden: models and their losses") {
  check<p_mlp_mse, second_order::both>([](auto x, auto w1, auto b1, auto w2, auto b2, auto y) { return mse(mlp(x, w1, b1, w2, b2), y); });
  check<p_mlp_ce>([](auto x, auto w1, auto b1, auto w2, auto b2, auto t) {
    return cross_entropy(mlp(x, w1, b1, w2, b2), t) + 0.01 * (sum(square(w1)) + sum(square(w2)));
  });
  check<p_logreg, second_order::both>([](auto x, auto w, auto b, auto t) { return mean(softplus(-t * (matmul(x, w) + b))); });
  check<p_info_nce>([](auto a, auto b) {
    const auto u = a / norm(a, axis<-1>, keepdim), v = b / norm(b, axis<-1>, keepdim);
    return -mean(diagonal(log_softmax(matmul(u, transpose(v)) / 0.5)));
  });
  check<p_elbo>([](auto mu, auto logvar, auto w, auto eps, auto x) {
    const auto logits = matmul(mu + exp(0.5 * logvar) * eps, w);
    return sum(softplus(logits) - logits * x) - 0.5 * sum(1.0 + logvar - square(mu) - exp(logvar));
  });
  check<p_gaussian_nll, second_order::both>([](auto x, auto mu, auto lv) { return 0.5 * sum(lv + square(x - mu) / exp(lv)); });
  check<p_glu_ffn, second_order::both>([](auto x, auto w1, auto w2, auto w3) { return matmul(silu(matmul(x, w1)) * matmul(x, w2), w3); });
}

TEST_CASE("golden: numerical programs") {
  check<p_horner, second_order::both>([](auto x, auto c) {
    return ((select<0, 0>(c) * x + select<0, 1>(c)) * x + select<0, 2>(c)) * x + select<0, 3>(c);
  });
  check<p_rk4>([](auto y, auto a) {
    const auto f = [&](const auto& u) { return tanh(matmul(u, a)); };
    const double h = 0.1;
    for (int i = 0; i < 3; ++i) {
      const auto k1 = f(y), k2 = f(y + 0.5 * h * k1), k3 = f(y + 0.5 * h * k2), k4 = f(y + h * k3);
      y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return y;
  });
  check<p_pairwise>([](auto a, auto b) {
    return sum(square(a), axis<-1>, keepdim) + sum(square(b), axis<-1>) - 2 * matmul(a, transpose(b));
  });
  check<p_rosenbrock, second_order::both>([](auto x) {
    const auto now = slice<0, 0, 3>(x), next = slice<0, 1, 3>(x);
    return sum(100 * square(next - square(now)) + square(1.0 - now));
  });
  check<p_fanout, second_order::both>([](auto x) { return x * sum(x) + matmul(x, x) * x; });
  check<p_stopgrad>([](auto x, auto y) { return stop_gradient(x * x) * x + stop_gradient(x) * y; });
  check<p_ste>([](auto x) { return x + stop_gradient(round(x) - x); });
}

// SPDX-License-Identifier: BSL-1.0
#include "../catch.hpp"
#include "data_loss.hpp"

#include <tenure/ops/norm.hpp>

using namespace golden;

TEST_CASE("golden: cross entropy of labels") {
  check<p_cross_entropy_mean, second_order::both>([](auto x, auto t) { return cross_entropy(x, t); });
  check<p_cross_entropy_sum>([](auto x, auto t) { return -sum(pick(log_softmax(x), t)); });
  check<p_cross_entropy_none>([](auto x, auto t) { return -pick(log_softmax(x), t); });
  check<p_nll>([](auto x, auto t) { return nll(x, t); });
  check<p_cross_entropy_smooth>([](auto x, auto t) { return 0.9 * cross_entropy(x, t) - 0.1 * mean(log_softmax(x)); });
  check<p_cross_entropy_weight>([](auto x, auto t, auto w) {
    const auto row_weight = gather(w, t);
    return -sum(row_weight * pick(log_softmax(x), t)) / sum(row_weight);
  });
  check<p_cross_entropy_ignore>([](auto x, auto t) {
    const auto counts = t != -100;
    const auto likelihood = pick(log_softmax(x), where(counts, t, 0));
    return -sum(where(counts, likelihood, 0.0)) / sum(cast<double>(counts));
  });
}

TEST_CASE("golden: other losses") {
  check<p_mse_mean>([](auto x, auto y) { return mse(x, y); });
  check<p_mse_sum>([](auto x, auto y) { return sum(square(x - y)); });
  check<p_mse_none>([](auto x, auto y) { return square(x - y); });
  check<p_l1>([](auto x, auto y) { return l1(x, y); });
  check<p_huber>([](auto x, auto y) { return huber(x, y, 1.0); });
  check<p_smooth_l1>([](auto x, auto y) { return smooth_l1(x, y, 1.0); });
  check<p_bce_logits>([](auto x, auto t) { return bce_with_logits(x, t); });
  check<p_bce>([](auto x, auto t) { return bce(x, t); });
  check<p_kl, second_order::both>([](auto p, auto q) { return sum(softmax(p) * (log_softmax(p) - log_softmax(q))); });
  check<p_cosine>([](auto x, auto y) { return sum(x * y, axis<-1>) / (norm(x, axis<-1>) * norm(y, axis<-1>)); });
}

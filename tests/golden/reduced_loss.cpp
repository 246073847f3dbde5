// SPDX-License-Identifier: BSL-1.0
// Losses with their options, softplus with its own, and layer_norm without gain or bias, against numbers of PyTorch (torch_items.py).
#include "../catch.hpp"
#include "data_parts.hpp"
#include "data_reduced_loss.hpp"

#include <tenure/ops/normalization.hpp>

using namespace golden;

TEST_CASE("golden: losses with a reduction") {
  check<t_mse_sum>([](auto x, auto y) { return mse(x, y, reduction::sum); });
  check<t_huber_none>([](auto x, auto y) { return huber(x, y, 0.5, reduction::none); });
  check<t_bce_none>([](auto x, auto y) { return bce_with_logits(x, y, reduction::none); });
}

TEST_CASE("golden: class weights, ignored labels and label smoothing") {
  check<t_nll_weighted>([](auto x, auto t, auto w) { return nll(x, t, class_weights(w), ignore_index<2>); });
  check<t_ce_sum>([](auto x, auto t) { return cross_entropy(x, t, label_smoothing(0.1), reduction::sum); });
  check<t_ce_none>([](auto x, auto t, auto w) { return cross_entropy(x, t, reduction::none, label_smoothing(0.1), ignore_index<2>, class_weights(w)); });
  check<t_ce_ignored, second_order::both>([](auto x, auto t) { return cross_entropy(x, t, ignore_index<2>, label_smoothing(0.2)); });
  check<t_ce_weights>([](auto x, auto t, auto w) { return cross_entropy(x, t, class_weights(w), ignore_index<2>, label_smoothing(0.2)); });
}

TEST_CASE("golden: softplus with a slope, and normalisation without gain or bias") {
  check<t_softplus>([](auto x) { return softplus(x, 2.0, 1.0); });
  check<t_layer_norm>([](auto x) { return layer_norm(x, axes<-2, -1>); });
  check<t_layer_norm_gain>([](auto x, auto g) { return layer_norm(x, g); });
}

// SPDX-License-Identifier: BSL-1.0
// What normalises rows, forward and backward, 1024x1024 float32: softmax, layer_norm, cross_entropy.
#include <harness.hpp>
#include <workloads.hpp>

#include "hand.hpp"

namespace {

namespace tn = tenure;

constexpr int n = 1024;
using matrix = tn::tensor<float, tn::shape<n, n>>;
using line = tn::tensor<float, tn::shape<n>>;

struct workload {
  matrix x, w, dx, hand_dx;
  line gain, bias, dgain, dbias, hand_dgain, hand_dbias;
  tn::tensor<std::int32_t, tn::shape<n>> labels;
  tn::tensor<float, tn::shape<>> value;

  explicit workload(std::int64_t) {
    bench::fill_uniform(bench::data_of(x), n * n, -3, 3, 1);
    bench::fill_uniform(bench::data_of(w), n * n, -1, 1, 2);
    bench::fill_uniform(bench::data_of(gain), n, 0.5, 1.5, 3);
    bench::fill_uniform(bench::data_of(bias), n, -1, 1, 4);
    for (int i = 0; i < n; ++i) bench::data_of(labels)[i] = i * 37 % n;
    const auto same = [&](const char* who, float by_hand, double tolerance) {
      bench::require_agreement(who, value.data(), &by_hand, 1, tolerance);
      bench::require_agreement(who, dx.data(), hand_dx.data(), n * n, 1e-4);
    };
    tenure_softmax(), same("softmax", hand_softmax(), 1e-3);
    tenure_cross_entropy(), same("cross_entropy", hand_cross_entropy(), 1e-4);
    tenure_layer_norm(), same("layer_norm", hand_layer_norm(), 1e-1);  // a sum of a million terms of both signs
    bench::require_agreement("layer_norm gain", dgain.data(), hand_dgain.data(), n, 1e-3);
    bench::require_agreement("layer_norm bias", dbias.data(), hand_dbias.data(), n, 1e-3);
  }
  std::int64_t items() const { return n * n; }

  void tenure_softmax() { workloads::softmax_step.into(value, dx)(x, w); }
  void tenure_cross_entropy() { workloads::cross_entropy_step.into(value, dx)(x, labels); }
  void tenure_layer_norm() { workloads::layer_norm_step.into(value, dx, dgain, dbias)(x, gain, bias, w); }
  float hand_softmax() { return hand::softmax(n, n, x.data(), w.data(), bench::data_of(hand_dx)); }
  float hand_cross_entropy() { return hand::cross_entropy(n, n, x.data(), labels.data(), bench::data_of(hand_dx)); }
  float hand_layer_norm() {
    return hand::layer_norm(n, n, x.data(), gain.data(), bias.data(), w.data(), bench::data_of(hand_dx), bench::data_of(hand_dgain),
                            bench::data_of(hand_dbias));
  }
};

const bool registered = [] {
  bench::keep_heap_warm();
  bench::row<workload>("softmax", "tenure", n, [](workload& p) { p.tenure_softmax(); });
  bench::row<workload>("softmax", "hand", n, [](workload& p) { benchmark::DoNotOptimize(p.hand_softmax()); });
  bench::row<workload>("layer_norm", "tenure", n, [](workload& p) { p.tenure_layer_norm(); });
  bench::row<workload>("layer_norm", "hand", n, [](workload& p) { benchmark::DoNotOptimize(p.hand_layer_norm()); });
  bench::row<workload>("cross_entropy", "tenure", n, [](workload& p) { p.tenure_cross_entropy(); });
  bench::row<workload>("cross_entropy", "hand", n, [](workload& p) { benchmark::DoNotOptimize(p.hand_cross_entropy()); });
  return true;
}();

}  // namespace

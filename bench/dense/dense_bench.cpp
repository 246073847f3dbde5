// SPDX-License-Identifier: BSL-1.0
// A layer of a perceptron, 65,536 samples, 64 wide, float32, by the number of inputs: few make its bias and activation matter.
#include <harness.hpp>
#include <workloads.hpp>

#include <Eigen/Core>

namespace {

namespace tn = tenure;

constexpr int samples = 65536, width = 64;

struct workload {
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  static constexpr int panel = 512;  // 128 KB of the result; 64 to 1024 rows take as long

  std::int64_t inputs;
  tn::tensor<float, tn::shape<samples, tn::dyn>> x;
  tn::tensor<float, tn::shape<tn::dyn, width>> w;
  tn::tensor<float, tn::shape<width>> bias;
  tn::tensor<float, tn::shape<samples, width>> out;
  matrix x_by_hand, w_by_hand, by_hand;
  Eigen::RowVectorXf bias_by_hand;

  explicit workload(std::int64_t n)
      : inputs(n), x(tn::zeros(tn::shape<samples, tn::dyn>{}, n)), w(tn::zeros(tn::shape<tn::dyn, width>{}, n)), x_by_hand(samples, n), w_by_hand(n, width),
        by_hand(samples, width), bias_by_hand(width) {
    bench::fill_uniform(bench::data_of(x), x.size(), -1, 1, 1);
    bench::fill_uniform(bench::data_of(w), w.size(), -1, 1, 2);
    bench::fill_uniform(bench::data_of(bias), width, -1, 1, 3);
    std::copy_n(x.data(), x.size(), x_by_hand.data());
    std::copy_n(w.data(), w.size(), w_by_hand.data());
    std::copy_n(bias.data(), width, bias_by_hand.data());
    tenure(), panels();
    bench::require_agreement("dense", out.data(), by_hand.data(), out.size(), 1e-5);
    whole();
    bench::require_agreement("dense", out.data(), by_hand.data(), out.size(), 1e-5);
  }
  std::int64_t items() const { return samples; }

  void tenure() { workloads::dense.into(out)(x, w, bias); }
  void panels() {
    for (int i = 0; i < samples; i += panel) {
      auto rows = by_hand.middleRows<panel>(i);
      rows.noalias() = x_by_hand.middleRows<panel>(i) * w_by_hand;
      rows = (rows.rowwise() + bias_by_hand).cwiseMax(0.f);
    }
  }
  void whole() {
    by_hand.noalias() = x_by_hand * w_by_hand;
    by_hand = (by_hand.rowwise() + bias_by_hand).cwiseMax(0.f);
  }
};

const bool registered = [] {
  bench::keep_heap_warm();
  for (const int inputs : {2, 16, 64}) {
    bench::row<workload>("dense", "tenure", inputs, [](workload& p) { p.tenure(); });
    bench::row<workload>("dense", "hand", inputs, [](workload& p) { p.panels(); });
    bench::row<workload>("dense", "eigen", inputs, [](workload& p) { p.whole(); });
  }
  return true;
}();

}  // namespace

// SPDX-License-Identifier: BSL-1.0
// A training step of the perceptron 784-128-10: forward, softmax cross entropy, backward, momentum SGD; float32, batch 1, 32, 256.
#include <harness.hpp>
#include <workloads.hpp>

#include <tenure/core/flush_denormals.hpp>
#include <tenure/optim/sgd.hpp>
#include <tenure/threads.hpp>

#include <vector>

namespace {

namespace tn = tenure;

constexpr float rate = workloads::mlp_rate, momentum = workloads::mlp_momentum;

/// Column-major, a sample a column, as Eigen likes it best; products write where they accumulate.
struct by_hand {
  using matrix = Eigen::MatrixXf;
  int batch;
  matrix w1, v1, w2, v2, x, z, h, p, d2, d1;
  Eigen::VectorXf b1, vb1, b2, vb2;
  std::vector<int> labels;
  float value = 0;

  void step() {
    if (batch == 1) z.col(0).noalias() = w1 * x.col(0);
    else z.noalias() = w1 * x;
    h = (z.colwise() + b1).cwiseMax(0.f);
    p.noalias() = w2 * h;
    p.colwise() += b2;
    value = 0;
    for (int j = 0; j < batch; ++j) {
      const float most = p.col(j).maxCoeff();
      p.col(j) = (p.col(j).array() - most).exp();
      const float sum = p.col(j).sum();
      p.col(j) /= sum;
      value -= std::log(p(labels[static_cast<std::size_t>(j)], j));
    }
    value /= static_cast<float>(batch);
    d2 = p;
    for (int j = 0; j < batch; ++j) d2(labels[static_cast<std::size_t>(j)], j) -= 1.f;
    d2 *= 1.f / static_cast<float>(batch);
    d1.noalias() = w2.transpose() * d2;
    d1 = (h.array() > 0.f).select(d1, 0.f);
    if (batch == 1) {  // outer products, each read and written once
      for (int c = 0; c < 784; ++c) {
        auto v = v1.col(c);
        v = momentum * v + d1.col(0) * x(c, 0);
        w1.col(c) -= rate * v;
      }
      for (int c = 0; c < 128; ++c) {
        auto v = v2.col(c);
        v = momentum * v + d2.col(0) * h(c, 0);
        w2.col(c) -= rate * v;
      }
    } else {
      v1 *= momentum;
      v1.noalias() += d1 * x.transpose();
      w1 -= rate * v1;
      v2 *= momentum;
      v2.noalias() += d2 * h.transpose();
      w2 -= rate * v2;
    }
    vb1 = momentum * vb1 + d1.rowwise().sum();
    b1 -= rate * vb1;
    vb2 = momentum * vb2 + d2.rowwise().sum();
    b2 -= rate * vb2;
  }
};

template <std::int64_t Batch>
struct workload {
  workloads::mlp<tn::values> model;
  tn::tensor<float, tn::shape<Batch, 784>> x;
  tn::tensor<std::int32_t, tn::shape<Batch>> labels;
  tn::optim::sgd rule{.learning_rate = rate, .momentum = momentum};
  decltype(rule.init(model)) state = rule.init(model);
  decltype(tn::train_step(workloads::mlp_loss, rule)) step = tn::train_step(workloads::mlp_loss, rule);
  decltype(tn::train_step(workloads::mlp_loss, rule, tn::thread_pool(2))) step_on_two = tn::train_step(workloads::mlp_loss, rule, tn::thread_pool(2));
  by_hand hand;

  explicit workload(std::int64_t) {
    fill(model.w1, 0.035, 1), fill(model.b1, 0.035, 2), fill(model.w2, 0.085, 3), fill(model.b2, 0.085, 4);
    bench::fill_uniform(bench::data_of(x), x.size(), 0, 1, 5);
    for (int i = 0; i < Batch; ++i) bench::data_of(labels)[i] = i * 7 % 10;
    start_hand();
    for (int turn = 0; turn < 2; ++turn) {
      const auto value = step(model, state, x, labels);
      hand.step();
      bench::require_agreement("mlp_step loss", value.data(), &hand.value, 1, 1e-4);
    }
    bench::require_agreement("mlp_step b1", model.b1.data(), hand.b1.data(), 128, 1e-4);
    bench::require_agreement("mlp_step w1", model.w1.data(), hand.w1.data(), 128 * 784, 1e-4);  // (784, 128) by rows is (128, 784) by columns
    bench::require_agreement("mlp_step w2", model.w2.data(), hand.w2.data(), 1280, 1e-4);
  }
  std::int64_t items() const { return Batch; }
  void tenure() { benchmark::DoNotOptimize(step(model, state, x, labels)); }
  void tenure_2_threads() { benchmark::DoNotOptimize(step_on_two(model, state, x, labels)); }

 private:
  template <class P>
  static void fill(P& p, double bound, unsigned seed) { bench::fill_uniform(bench::data_of(p), p.size(), -bound, bound, seed); }

  void start_hand() {
    using map = Eigen::Map<const Eigen::MatrixXf>;
    using line = Eigen::Map<const Eigen::VectorXf>;
    hand.batch = static_cast<int>(Batch);
    hand.w1 = map(model.w1.data(), 128, 784), hand.w2 = map(model.w2.data(), 10, 128), hand.x = map(x.data(), 784, Batch);
    hand.b1 = line(model.b1.data(), 128), hand.b2 = line(model.b2.data(), 10);
    hand.labels.assign(labels.data(), labels.data() + Batch);
    hand.v1.setZero(128, 784), hand.v2.setZero(10, 128), hand.vb1.setZero(128), hand.vb2.setZero(10);
    hand.z.resize(128, Batch), hand.h = hand.d1 = hand.z, hand.p.resize(10, Batch), hand.d2 = hand.p;
  }
};

template <std::int64_t Batch>
void rows() {
  using w = workload<Batch>;
  // Momenta decay into denormals, which some processors compute twenty times as slowly. The scope costs a row some 10 ns.
  const auto row = [](const char* name, auto run) {
    bench::row<w>("mlp_step", name, Batch, [run](w& p) {
      const tn::flush_denormals scope;
      run(p);
    });
  };
  row("tenure", [](w& p) { p.tenure(); });
  row("tenure_2_threads", [](w& p) { p.tenure_2_threads(); });
  row("hand", [](w& p) { p.hand.step(); });
}

const bool registered = [] {
  bench::keep_heap_warm();
  rows<1>(), rows<32>(), rows<256>();
  return true;
}();

}  // namespace

// SPDX-License-Identifier: BSL-1.0
// The same workloads over libtorch, eager, one thread, in the environment where it is fastest: OpenBLAS's and its own AVX-512
// kernels, and a warm heap. Of two ways to write a step the faster stands here: updates by hand inside NoGradGuard, not
// optim::SGD; addmm, not nn::Linear; nn::LSTM, not its equations. Every result is compared with Tenure's before it is timed.
#include <harness.hpp>
#include <workloads.hpp>

#include <tenure/core/flush_denormals.hpp>
#include <tenure/optim/sgd.hpp>

#include <torch/torch.h>

#include <unistd.h>

#include <array>

namespace {

namespace tn = tenure;

template <class T>
constexpr auto type_of = std::is_same_v<T, double> ? torch::kFloat64 : std::is_same_v<T, float> ? torch::kFloat32 : torch::kInt32;

/// A copy of a tensor of ours.
template <class X>
torch::Tensor copy_of(const X& x) {
  using T = tn::element_t<X>;
  std::vector<std::int64_t> extents;
  for (int axis = 0; axis < tn::shape_of_t<X>::rank; ++axis) extents.push_back(x.extent(axis));
  return torch::from_blob(const_cast<T*>(x.data()), extents, type_of<T>).clone();
}
template <class X>
torch::Tensor leaf_of(const X& x) { return copy_of(x).requires_grad_(); }

template <class X>
void compare(const char* who, const torch::Tensor& got, const X& wanted, double tolerance) {
  const torch::Tensor same = got.detach().contiguous();
  bench::require_agreement(who, same.data_ptr<tn::element_t<X>>(), wanted.data(), wanted.size(), tolerance);
}

void forget_gradients(std::initializer_list<torch::Tensor*> leaves) {
  for (torch::Tensor* leaf : leaves) leaf->mutable_grad().reset();
}
template <class X>
void fill(X& x, double bound, unsigned seed) { bench::fill_uniform(bench::data_of(x), x.size(), -bound, bound, seed); }

// ---- elementwise -----------------------------------------------------------------------------------------------------

template <class T>
struct gradient {
  std::int64_t n;
  torch::Tensor a, b, c, x;

  explicit gradient(std::int64_t size) : n(size) {
    const auto pa = bench::uniform_array<T>(n, -1, 1, 1), pb = bench::uniform_array<T>(n, -1, 1, 2), pc = bench::uniform_array<T>(n, -1, 1, 3);
    const auto px = bench::uniform_array<T>(n, -2, 2, 4);
    a = leaf_of(pa), b = leaf_of(pb), c = leaf_of(pc), x = copy_of(px);
    const auto [value, da, db, dc] = workloads::gradient(pa, pb, pc, px);
    run();
    const double tolerance = sizeof(T) == 8 ? 1e-12 : 2e-5;
    compare("gradient da", a.grad(), da, tolerance), compare("gradient db", b.grad(), db, tolerance);
    compare("gradient dc", c.grad(), dc, tolerance);
  }
  std::int64_t items() const { return n; }
  void run() {
    forget_gradients({&a, &b, &c});
    (torch::sigmoid(a * x + b) * torch::log1p(torch::exp(c * x))).sum().backward();
  }
};

template <class T>
struct forward {
  std::int64_t n;
  torch::Tensor x, a, b, c, y;

  explicit forward(std::int64_t size) : n(size) {
    const auto px = bench::uniform_array<T>(n, -2, 2, 1), pa = bench::uniform_array<T>(n, -1, 1, 2), pb = bench::uniform_array<T>(n, -3, 3, 3);
    const auto pc = bench::uniform_array<T>(n, -1, 1, 4);
    x = copy_of(px), a = copy_of(pa), b = copy_of(pb), c = copy_of(pc);
    run();
    compare("forward", y, workloads::forward(px, pa, pb, pc), sizeof(T) == 8 ? 1e-13 : 2e-6);
  }
  std::int64_t items() const { return n; }
  void run() {
    const torch::NoGradGuard guard;
    y = torch::exp(-x * x) * a + torch::tanh(b) * c;
  }
};

// ---- rows that normalise ---------------------------------------------------------------------------------------------

struct rows {
  static constexpr int n = 1024;
  tn::tensor<float, tn::shape<n, n>> px, pw;
  tn::tensor<float, tn::shape<n>> pgain, pbias;
  tn::tensor<std::int32_t, tn::shape<n>> plabels;
  torch::Tensor x, w, gain, bias, labels;

  explicit rows(std::int64_t) {
    fill(px, 3, 1), fill(pw, 1, 2), fill(pgain, 1, 3), fill(pbias, 1, 4);
    for (int i = 0; i < n; ++i) bench::data_of(plabels)[i] = i * 37 % n;
    x = leaf_of(px), w = copy_of(pw), gain = leaf_of(pgain), bias = leaf_of(pbias), labels = copy_of(plabels).to(torch::kInt64);
    softmax(), compare("softmax", x.grad(), std::get<1>(workloads::softmax_step(px, pw)), 1e-4);
    cross_entropy(), compare("cross_entropy", x.grad(), std::get<1>(workloads::cross_entropy_step(px, plabels)), 1e-4);
    layer_norm(), compare("layer_norm", x.grad(), std::get<1>(workloads::layer_norm_step(px, pgain, pbias, pw)), 1e-4);
  }
  std::int64_t items() const { return n * n; }
  void softmax() { forget_gradients({&x}), (torch::softmax(x, 1) * w).sum().backward(); }
  void cross_entropy() { forget_gradients({&x}), torch::cross_entropy_loss(x, labels).backward(); }
  void layer_norm() { forget_gradients({&x, &gain, &bias}), (torch::layer_norm(x, {n}, gain, bias) * w).sum().backward(); }
};

// ---- small static shapes ---------------------------------------------------------------------------------------------

template <std::int64_t... E>
using matrix = tn::tensor<double, tn::shape<E...>>;

struct tiny_step {
  torch::Tensor w1, b1, w2, b2, x, y;

  explicit tiny_step(std::int64_t) {
    matrix<2, 8> pw1;
    matrix<8> pb1;
    matrix<8, 1> pw2;
    matrix<1> pb2;
    matrix<4, 2> px;
    matrix<4, 1> py;
    fill(pw1, 0.5, 1), fill(pb1, 0.5, 2), fill(pw2, 0.5, 3), fill(pb2, 0.5, 4), fill(px, 0.5, 5), fill(py, 0.5, 6);
    w1 = leaf_of(pw1), b1 = leaf_of(pb1), w2 = leaf_of(pw2), b2 = leaf_of(pb2), x = copy_of(px), y = copy_of(py);
    run();
    const auto [value, to_w1, to_b1, to_w2, to_b2] = workloads::tiny_step(pw1, pb1, pw2, pb2, px, py);
    compare("tiny_step w1", w1, to_w1, 1e-12), compare("tiny_step b1", b1, to_b1, 1e-12);
    compare("tiny_step w2", w2, to_w2, 1e-12), compare("tiny_step b2", b2, to_b2, 1e-12);
  }
  std::int64_t items() const { return 1; }
  void run() {
    forget_gradients({&w1, &b1, &w2, &b2});
    torch::mse_loss(torch::addmm(b2, torch::tanh(torch::addmm(b1, x, w1)), w2), y).backward();
    const torch::NoGradGuard guard;
    for (torch::Tensor* p : {&w1, &b1, &w2, &b2}) p->sub_(p->grad(), workloads::tiny_rate);
  }
};

struct chain4 {
  torch::Tensor a, b, c, d;

  explicit chain4(std::int64_t) {
    matrix<4, 4> pa, pb, pc, pd;
    fill(pa, 0.5, 1), fill(pb, 0.5, 2), fill(pc, 0.5, 3), fill(pd, 0.5, 4);
    a = leaf_of(pa), b = leaf_of(pb), c = leaf_of(pc), d = leaf_of(pd);
    run();
    const auto [value, da, db, dc, dd] = workloads::chain4(pa, pb, pc, pd);
    compare("chain4 da", a.grad(), da, 1e-12), compare("chain4 db", b.grad(), db, 1e-12);
    compare("chain4 dc", c.grad(), dc, 1e-12), compare("chain4 dd", d.grad(), dd, 1e-12);
  }
  std::int64_t items() const { return 1; }
  void run() {
    forget_gradients({&a, &b, &c, &d});
    torch::mm(torch::mm(torch::mm(a, b), c), d).sum().backward();
  }
};

// ---- training steps --------------------------------------------------------------------------------------------------

template <std::int64_t Batch>
struct mlp_step {
  torch::Tensor x, labels;
  std::array<torch::Tensor, 4> parameters, velocities;  // weights (out, in), as nn::Linear keeps them

  explicit mlp_step(std::int64_t) {
    workloads::mlp<tn::values> model;
    tn::tensor<float, tn::shape<Batch, 784>> px;
    tn::tensor<std::int32_t, tn::shape<Batch>> plabels;
    fill(model.w1, 0.035, 1), fill(model.b1, 0.035, 2), fill(model.w2, 0.085, 3), fill(model.b2, 0.085, 4), fill(px, 1, 5);
    for (int i = 0; i < Batch; ++i) bench::data_of(plabels)[i] = i * 7 % 10;
    x = copy_of(px), labels = copy_of(plabels).to(torch::kInt64);
    const auto transposed = [](const auto& w) { return copy_of(w).t().contiguous().requires_grad_(); };
    parameters = {transposed(model.w1), leaf_of(model.b1), transposed(model.w2), leaf_of(model.b2)};
    for (int i = 0; i < 4; ++i) velocities[i] = torch::zeros_like(parameters[i]);

    const tn::optim::sgd rule{.learning_rate = workloads::mlp_rate, .momentum = workloads::mlp_momentum};
    auto state = rule.init(model);
    auto step = tn::train_step(workloads::mlp_loss, rule);
    for (int turn = 0; turn < 2; ++turn) step(model, state, px, plabels), run();
    compare("mlp_step w1", parameters[0].t(), model.w1, 1e-4), compare("mlp_step b1", parameters[1], model.b1, 1e-4);
    compare("mlp_step w2", parameters[2].t(), model.w2, 1e-4), compare("mlp_step b2", parameters[3], model.b2, 1e-4);
  }
  std::int64_t items() const { return Batch; }
  void run() {
    const tn::flush_denormals scope;
    auto& [w1, b1, w2, b2] = parameters;
    forget_gradients({&w1, &b1, &w2, &b2});
    torch::cross_entropy_loss(torch::addmm(b2, torch::relu(torch::addmm(b1, x, w1.t())), w2.t()), labels).backward();
    const torch::NoGradGuard guard;
    for (int i = 0; i < 4; ++i) {
      velocities[i].mul_(workloads::mlp_momentum).add_(parameters[i].grad());
      parameters[i].sub_(velocities[i], workloads::mlp_rate);
    }
  }
};

struct lstm {
  static constexpr int width = workloads::lstm_width;
  torch::nn::LSTM layer{torch::nn::LSTMOptions(width, width)};
  torch::Tensor x;

  explicit lstm(std::int64_t) {
    tn::tensor<float, tn::shape<width, 4 * width>> wx, wh;
    tn::tensor<float, tn::shape<4 * width>> bias;
    tn::tensor<float, tn::shape<workloads::lstm_steps, workloads::lstm_batch, width>> px;
    fill(wx, 0.125, 1), fill(wh, 0.125, 2), fill(bias, 0.125, 3), fill(px, 1, 4);
    x = copy_of(px);
    auto named = layer->named_parameters();
    {
      const torch::NoGradGuard guard;
      named["weight_ih_l0"].copy_(copy_of(wx).t()), named["weight_hh_l0"].copy_(copy_of(wh).t());
      named["bias_ih_l0"].copy_(copy_of(bias)), named["bias_hh_l0"].zero_();
    }
    run();
    const auto [value, dwx, dwh, dbias] = workloads::lstm(wx, wh, bias, px);
    compare("lstm dwx", named["weight_ih_l0"].grad().t(), dwx, 1e-4), compare("lstm dwh", named["weight_hh_l0"].grad().t(), dwh, 1e-4);
    compare("lstm dbias", named["bias_ih_l0"].grad(), dbias, 1e-4);
  }
  std::int64_t items() const { return workloads::lstm_steps * workloads::lstm_batch; }
  void run() {
    layer->zero_grad();
    std::get<0>(layer->forward(x))[workloads::lstm_steps - 1].square().mean().backward();
  }
};

template <class Problem>
void row(const char* workload, std::int64_t size) {
  bench::row<Problem>(workload, "libtorch", size, [](Problem& p) { p.run(); });
}

void register_rows() {
  for (const std::int64_t n : bench::sizes) {
    row<gradient<double>>("gradient", n), row<gradient<float>>("gradient_f32", n);
    row<forward<double>>("forward", n), row<forward<float>>("forward_f32", n);
  }
  bench::row<rows>("softmax", "libtorch", rows::n, [](rows& p) { p.softmax(); });
  bench::row<rows>("layer_norm", "libtorch", rows::n, [](rows& p) { p.layer_norm(); });
  bench::row<rows>("cross_entropy", "libtorch", rows::n, [](rows& p) { p.cross_entropy(); });
  row<tiny_step>("tiny_step", 4), row<chain4>("chain4", 4), row<lstm>("lstm", workloads::lstm_steps);
  row<mlp_step<1>>("mlp_step", 1), row<mlp_step<32>>("mlp_step", 32), row<mlp_step<256>>("mlp_step", 256);
}

/// OpenBLAS reads its choice before main runs, so the program starts itself again with it.
void enter_best_environment(char** arguments) {
  if (std::getenv("OPENBLAS_NUM_THREADS") != nullptr) return;
  setenv("OPENBLAS_NUM_THREADS", "1", 1), setenv("OMP_NUM_THREADS", "1", 1);
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0), setenv("ATEN_CPU_CAPABILITY", "avx512", 0);
  }
  execv("/proc/self/exe", arguments);
}

}  // namespace

int main(int count, char** arguments) {
  enter_best_environment(arguments);
  bench::keep_heap_warm();
  at::set_num_threads(1);
  register_rows();
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}

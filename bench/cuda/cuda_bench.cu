// SPDX-License-Identifier: BSL-1.0
// What Tenure takes on a GPU: rows <workload>/<implementation>/<size> with milliseconds, and the fraction of the copy bandwidth or of the
// matrix peak (cuBLAS at 8192, float32) measured in the same run. scripts/bench.sh --cuda runs it, and peers.py beside it where Python
// has torch; report.py puts both in a table.
#include <tenure/cuda.hpp>

#include <workloads.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

#include <boost/hana/define_struct.hpp>

namespace tn = tenure;

namespace cuda_bench {

/// The median of 20 runs after 3, each timed on the device.
template <class F>
double milliseconds(F f) {
  using tn::cuda_detail::check;
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  for (int i = 0; i < 23; ++i) {
    check(cudaEventRecord(begin, tn::cuda_detail::current_stream()), "cudaEventRecord");
    f();
    check(cudaEventRecord(end, tn::cuda_detail::current_stream()), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (i >= 3) times.push_back(ms);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return times[times.size() / 2];
}

double copy_bandwidth = 0;  // gigabytes a second
double matrix_peak = 0;     // teraflops

/// What products bound.
void product_row(const char* name, long long size, double ms, double flops) {
  const double rate = flops / ms * 1e-9;
  std::printf("{\"name\": \"%s/tenure/%lld\", \"milliseconds\": %.4f, \"teraflops\": %.2f, \"of_matrix_peak\": %.3f}\n", name, size, ms, rate,
              matrix_peak > 0 ? rate / matrix_peak : 1);
}

/// What memory bounds.
void row(const char* name, long long size, double ms, double bytes) {
  const double rate = bytes / ms * 1e-6;
  std::printf("{\"name\": \"%s/tenure/%lld\", \"milliseconds\": %.4f, \"gigabytes_per_second\": %.1f, \"of_copy_bandwidth\": %.3f}\n", name, size, ms, rate,
              copy_bandwidth > 0 ? rate / copy_bandwidth : 1);
}

template <class S, class... N>
auto filled(S, unsigned seed, N... n) {
  tn::engine random{seed};
  return tn::uniform<float>(S{}, random, -1.f, 1.f, n...).to(tn::cuda);
}

void forward(std::int64_t n) {
  using vector = tn::shape<tn::dyn>;
  const auto x = filled(vector{}, 1, n), a = filled(vector{}, 2, n), b = filled(vector{}, 3, n), c = filled(vector{}, 4, n);
  auto y = workloads::forward(x, a, b, c);
  row("forward_f32", n, milliseconds([&] { workloads::forward.into(y)(x, a, b, c); }), 5.0 * 4 * static_cast<double>(n));
}

void gradient(std::int64_t n) {
  using vector = tn::shape<tn::dyn>;
  const auto a = filled(vector{}, 1, n), b = filled(vector{}, 2, n), c = filled(vector{}, 3, n), x = filled(vector{}, 4, n);
  auto [value, da, db, dc] = workloads::gradient(a, b, c, x);
  const double ms = milliseconds([&] { workloads::gradient.into(value, da, db, dc)(a, b, c, x); });
  row("gradient_f32", n, ms, 7.0 * 4 * static_cast<double>(n));
}

template <std::int64_t Columns>
void rows(std::int64_t n) {
  using table = tn::shape<tn::dyn, Columns>;
  const auto x = filled(table{}, 1, n), w = filled(table{}, 2, n);
  const auto gain = filled(tn::shape<Columns>{}, 3), bias = filled(tn::shape<Columns>{}, 4);
  const double elements = static_cast<double>(n * Columns);
  constexpr auto softmax_of = tn::compile([](auto v) { return softmax(v); });
  auto y = softmax_of(x);
  row("softmax", Columns, milliseconds([&] { softmax_of.into(y)(x); }), 2 * 4 * elements);
  auto [value, dx] = workloads::softmax_step(x, w);
  row("softmax_gradient", Columns, milliseconds([&] { workloads::softmax_step.into(value, dx)(x, w); }), 3 * 4 * elements);
  auto [v, dn, dg, db] = workloads::layer_norm_step(x, gain, bias, w);
  row("layer_norm_gradient", Columns, milliseconds([&] { workloads::layer_norm_step.into(v, dn, dg, db)(x, gain, bias, w); }), 3 * 4 * elements);
}

/// n x n by n x n, and the first product of the perceptron.
void products() {
  constexpr auto product = tn::compile([](auto a, auto b) { return matmul(a, b); });
  const auto time = [&](const auto& a, const auto& b) {
    auto c = product(a, b);
    return milliseconds([&] { product.into(c)(a, b); });
  };
  using table = tn::shape<tn::dyn, tn::dyn>;
  for (const std::int64_t n : {8192, 1024}) {
    const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n), ms = time(filled(table{}, 1, n, n), filled(table{}, 2, n, n));
    if (matrix_peak == 0) matrix_peak = flops / ms * 1e-9;
    product_row("matmul_f32", n, ms, flops);
  }
  product_row("matmul_784x128_f32", 4096, time(filled(tn::shape<4096, 784>{}, 1), filled(tn::shape<784, 128>{}, 2)), 2.0 * 4096 * 784 * 128);
}

template <class Kind>
struct mlp {
  BOOST_HANA_DEFINE_STRUCT(mlp, (tn::param<Kind, float, tn::shape<784, 128>>, w1), (tn::param<Kind, float, tn::shape<128>>, b1),
                           (tn::param<Kind, float, tn::shape<128, 10>>, w2), (tn::param<Kind, float, tn::shape<10>>, b2));
  constexpr auto operator()(auto x) const { return matmul(relu(matmul(x, w1) + b1), w2) + b2; }
};
/// Targets are probabilities, so that no label has to be checked and the step is one launch.
inline constexpr auto loss = [](auto model, auto x, auto y) { return -mean(sum(y * log_softmax(model(x)), tn::axis<1>)); };

template <std::int64_t Batch>
void mlp_step() {
  tn::engine random{1};
  auto model = to(tn::init<mlp>(random), tn::cuda);
  const auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 1e-3, .momentum = 0.9});
  auto state = step.rule.init(model);
  const auto x = filled(tn::shape<Batch, 784>{}, 2);
  const auto y = filled(tn::shape<Batch, 10>{}, 3);
  const double ms = milliseconds([&] { static_cast<void>(step(model, state, x, y)); });
  product_row("mlp_step", Batch, ms, 2.0 * Batch * (2 * 784 * 128 + 3 * 128 * 10));  // forward, weights, and the hidden layer's cotangent
}

}  // namespace cuda_bench

int main() try {
  using namespace cuda_bench;
  const std::int64_t n = std::int64_t{1} << 27;
  {
    const auto from = filled(tn::shape<tn::dyn>{}, 1, n);
    auto to = from.clone();
    const double bytes = 2.0 * 4 * static_cast<double>(n), ms = milliseconds([&] { to.copy_(from); });
    row("copy", n, ms, bytes);
    copy_bandwidth = bytes / ms * 1e-6;
  }
  products();
  for (const std::int64_t size : {n >> 10, n >> 5, n}) forward(size);
  for (const std::int64_t size : {n >> 10, n >> 5, n}) gradient(size);
  rows<1024>(1 << 15);
  rows<8192>(1 << 12);
  mlp_step<32>();
  mlp_step<256>();
  mlp_step<4096>();
} catch (const std::exception& e) {
  std::fprintf(stderr, "cuda_bench: %s\n", e.what());
  return 1;
}

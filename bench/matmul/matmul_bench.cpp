// SPDX-License-Identifier: BSL-1.0
// The matrix products of a 784-128-10 perceptron's training step, of an LSTM cell and of squares, beside Eigen's; bench/limits has
// the core's peak. Rows: matmul_f32/<tenure|eigen|blas>/<MxNxK> and a layout suffix, t where A or B is transposed; blas with
// TENURE_BLAS, on one thread by that library's own setting, for what it is given.
#include <harness.hpp>

#include <tenure/backend/cpu/matmul.hpp>
#if TENURE_BLAS
#include <tenure/backend/cpu/blas.hpp>
#endif

#include <Eigen/Core>

#include <vector>

namespace {

namespace backend = tenure::cpu_backend;
using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using column_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic>;

struct product {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
  const char* what;

  std::string name(const char* implementation) const {
    std::string text = std::string("matmul_f32/") + implementation + "/";
    text += std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    if (a_transposed || b_transposed) text += std::string("_") + "nt"[a_transposed] + "nt"[b_transposed];
    return text;
  }
};

constexpr product products[] = {
  {1, 128, 784, false, false, "forward, batch 1"},
  {1, 128, 784, false, true, "forward, batch 1, weights stored (out, in)"},
  {32, 128, 784, false, false, "forward, batch 32"},
  {256, 128, 784, false, false, "forward, batch 256"},
  {256, 128, 784, false, true, "forward, batch 256, weights stored (out, in)"},
  {32, 10, 128, false, false, "logits, batch 32"},
  {256, 10, 128, false, false, "logits, batch 256"},
  {32, 128, 10, false, true, "gradient of the hidden layer, batch 32"},
  {256, 128, 10, false, true, "gradient of the hidden layer, batch 256"},
  {784, 128, 1, true, false, "gradient of the weights, batch 1"},
  {784, 128, 32, true, false, "gradient of the weights, batch 32"},
  {784, 128, 256, true, false, "gradient of the weights, batch 256"},
  {128, 10, 256, true, false, "gradient of the last weights, batch 256"},
  {16, 256, 64, false, false, "LSTM gates, batch 16, hidden 64"},
  {16, 64, 256, false, true, "LSTM gradient of the state"},
  {64, 256, 16, true, false, "LSTM gradient of the weights"},
  {64, 64, 64, false, false, "square"},
  {100, 100, 100, false, false, "square, ragged"},
  {512, 512, 512, false, false, "square"},
  {1024, 1024, 1024, false, false, "square"},
};

struct operands {
  std::vector<float> a, b, c;

  explicit operands(const product& p)
      : a(static_cast<std::size_t>(p.m * p.k)), b(static_cast<std::size_t>(p.k * p.n)), c(static_cast<std::size_t>(p.m * p.n)) {
    bench::fill_uniform(a.data(), p.m * p.k, -0.5, 0.5, 1);
    bench::fill_uniform(b.data(), p.k * p.n, -0.5, 0.5, 2);
  }
};

void report(benchmark::State& state, const product& p) {
  bench::report_rate(state, "GFLOP/s", 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k));
  state.SetLabel(p.what);
}

backend::matrix_ref<float> left_of(const operands& o, const product& p) {
  return {o.a.data(), p.a_transposed ? 1 : p.k, p.a_transposed ? p.m : 1};
}

backend::matrix_ref<float> right_of(const operands& o, const product& p) {
  return {o.b.data(), p.b_transposed ? 1 : p.n, p.b_transposed ? p.k : 1};
}

void tenure_row(benchmark::State& state, const product& p) {
  operands o(p);
  std::vector<char> workspace(static_cast<std::size_t>(backend::matmul_workspace<float>(p.m, p.n, p.k)) + 1);
  for (auto _ : state) {
    backend::matmul<float>(p.m, p.n, p.k, left_of(o, p), right_of(o, p), o.c.data(), p.n, false, workspace.data());
    benchmark::ClobberMemory();
  }
  report(state, p);
}

#if TENURE_BLAS
void blas_row(benchmark::State& state, const product& p) {
  operands o(p);
  for (auto _ : state) {
    if (!backend::detail::matmul_by_blas<float>(p.m, p.n, p.k, left_of(o, p), right_of(o, p), o.c.data())) return state.SkipWithError("not for the BLAS");
    benchmark::ClobberMemory();
  }
  report(state, p);
}
#endif

template <class A, class B>
void eigen_row(benchmark::State& state, const product& p) {
  operands o(p);
  const Eigen::Map<const A> a(o.a.data(), p.m, p.k);
  const Eigen::Map<const B> b(o.b.data(), p.k, p.n);
  Eigen::Map<row_major> c(o.c.data(), p.m, p.n);
  for (auto _ : state) {
    if (p.m == 1) c.row(0).noalias() = a.row(0) * b;  // Eigen picks GEMV by static extents
    else c.noalias() = a * b;
    benchmark::ClobberMemory();
  }
  report(state, p);
}

const bool registered = [] {
  bench::keep_heap_warm();
  for (const product& p : products) {
    benchmark::RegisterBenchmark(p.name("tenure").c_str(), [&p](benchmark::State& s) { tenure_row(s, p); });
#if TENURE_BLAS
    benchmark::RegisterBenchmark(p.name("blas").c_str(), [&p](benchmark::State& s) { blas_row(s, p); });
#endif
    const auto eigen = p.a_transposed   ? eigen_row<column_major, row_major>
                       : p.b_transposed ? eigen_row<row_major, column_major>
                                        : eigen_row<row_major, row_major>;
    benchmark::RegisterBenchmark(p.name("eigen").c_str(), [&p, eigen](benchmark::State& s) { eigen(s, p); });
  }
  return true;
}();

}  // namespace

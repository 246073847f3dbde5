// SPDX-License-Identifier: BSL-1.0
// The matrix products of a 784-128-10 perceptron's training step, of an LSTM cell and of squares,
// beside Eigen's and the FMA peak of the core. Rows: matmul_f32/<tenure|eigen>/<MxNxK> and a layout suffix, t where A or B is transposed.
// Eigen's packing buffers come from a warm heap: the thresholds below keep glibc from returning them to the system.
#include <tenure/backend/eigen/matmul.hpp>

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace {

namespace backend = tenure::eigen_backend;
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
        : a(static_cast<std::size_t>(p.m * p.k)),
          b(static_cast<std::size_t>(p.k * p.n)),
          c(static_cast<std::size_t>(p.m * p.n)) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 13) / 13 - 0.5f;
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 11) / 11 - 0.5f;
    }
};

void report(benchmark::State& state, const product& p) {
    const double flops = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    state.counters["GFLOP/s"] = benchmark::Counter(flops * static_cast<double>(state.iterations()) / 1e9,
                                                   benchmark::Counter::kIsRate);
    state.SetLabel(p.what);
}

void tenure_row(benchmark::State& state, const product& p) {
    operands o(p);
    const backend::matrix_ref<float> a{o.a.data(), p.a_transposed ? 1 : p.k, p.a_transposed ? p.m : 1};
    const backend::matrix_ref<float> b{o.b.data(), p.b_transposed ? 1 : p.n, p.b_transposed ? p.k : 1};
    std::vector<char> workspace(static_cast<std::size_t>(backend::matmul_workspace<float>(p.m, p.n, p.k)) + 1);
    for (auto _ : state) {
        backend::matmul<float>(p.m, p.n, p.k, a, b, o.c.data(), p.n, false, workspace.data());
        benchmark::ClobberMemory();
    }
    report(state, p);
}

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

/// What the core can do: twelve independent chains of fused multiply-adds, no memory.
void fma_peak(benchmark::State& state) {
    namespace packets = Eigen::internal;
    using packet = packets::packet_traits<float>::type;
    constexpr int chains = 12, lanes = packets::packet_traits<float>::size;
    packet x[chains];
    for (packet& each : x) each = packets::pset1<packet>(1.0f);
    packet by = packets::pset1<packet>(0.999f), plus = packets::pset1<packet>(0.001f);
    benchmark::DoNotOptimize(by), benchmark::DoNotOptimize(plus);
    for (auto _ : state) {
        packet sum[chains];
#pragma GCC unroll 16
        for (int i = 0; i < chains; ++i) sum[i] = x[i];
#pragma GCC unroll 1
        for (int step = 0; step < 1000; ++step)
#pragma GCC unroll 16
            for (int i = 0; i < chains; ++i) sum[i] = packets::pmadd(sum[i], by, plus);
#pragma GCC unroll 16
        for (int i = 0; i < chains; ++i) x[i] = sum[i];
        benchmark::DoNotOptimize(x);
    }
    const double flops = 2.0 * 1000 * chains * lanes;
    state.counters["GFLOP/s"] = benchmark::Counter(flops * static_cast<double>(state.iterations()) / 1e9,
                                                   benchmark::Counter::kIsRate);
}

using m4 = Eigen::Matrix<double, 4, 4>;

/// L = sum(A B C D) and its four gradients, as an Eigen user writes them.
struct eigen_chain {
    m4 a, b, c, d, da, db, dc, dd;
    double value;

    [[gnu::noinline]] void run() {
        const m4 ab = a.lazyProduct(b), abc = ab.lazyProduct(c), all = abc.lazyProduct(d), one = m4::Ones();
        value = all.sum();
        dd = abc.transpose().lazyProduct(one);
        const m4 left = one.lazyProduct(d.transpose());
        dc = ab.transpose().lazyProduct(left);
        const m4 next = left.lazyProduct(c.transpose());
        db = a.transpose().lazyProduct(next);
        da = next.lazyProduct(b.transpose());
    }
};

struct tenure_chain {
    using matrix = double[16];
    matrix a, b, c, d, da, db, dc, dd;
    double value;

    static void nn(const matrix& x, const matrix& y, matrix& to) {
        backend::matmul_small<double, 4, 4, 4, 4, 1, 4, 1, 4>(x, y, to);
    }
    static void tn(const matrix& x, const matrix& y, matrix& to) {
        backend::matmul_small<double, 4, 4, 4, 1, 4, 4, 1, 4>(x, y, to);
    }
    static void nt(const matrix& x, const matrix& y, matrix& to) {
        backend::matmul_small<double, 4, 4, 4, 4, 1, 1, 4, 4>(x, y, to);
    }
    [[gnu::noinline]] void run() {
        matrix ab, abc, all, one, left, next;
        double sums[4] = {};
        for (double& x : one) x = 1;
        nn(a, b, ab), nn(ab, c, abc), nn(abc, d, all);
        for (int i = 0; i < 16; ++i) sums[i % 4] += all[i];
        value = sums[0] + sums[1] + sums[2] + sums[3];
        tn(abc, one, dd), nt(one, d, left), tn(ab, left, dc), nt(left, c, next), tn(a, next, db), nt(next, b, da);
    }
};

double* first(m4& m) { return m.data(); }
double* first(double (&m)[16]) { return m; }

template <class Chain>
void chain_row(benchmark::State& state) {
    Chain chain;
    double* const inputs[] = {first(chain.a), first(chain.b), first(chain.c), first(chain.d)};
    for (int m = 0; m < 4; ++m)
        for (int i = 0; i < 16; ++i) inputs[m][i] = std::sin(1.3 * (16 * m + i));
    for (auto _ : state) {
        chain.run();
        benchmark::DoNotOptimize(chain);
        benchmark::ClobberMemory();
    }
}

const bool registered = [] {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    benchmark::RegisterBenchmark("fma_peak/hand/1", fma_peak);
    for (const product& p : products) {
        benchmark::RegisterBenchmark(p.name("tenure").c_str(), [&p](benchmark::State& s) { tenure_row(s, p); });
        const auto eigen = p.a_transposed   ? eigen_row<column_major, row_major>
                           : p.b_transposed ? eigen_row<row_major, column_major>
                                            : eigen_row<row_major, row_major>;
        benchmark::RegisterBenchmark(p.name("eigen").c_str(), [&p, eigen](benchmark::State& s) { eigen(s, p); });
    }
    benchmark::RegisterBenchmark("matmul_chain_f64/tenure/4x4", chain_row<tenure_chain>);
    benchmark::RegisterBenchmark("matmul_chain_f64/eigen/4x4", chain_row<eigen_chain>);
    return true;
}();

}  // namespace

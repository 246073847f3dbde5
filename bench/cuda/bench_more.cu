// SPDX-License-Identifier: BSL-1.0
// What cuda_bench.cu does not measure: attention, products with an epilogue, sums, transposes, scans, iterations of loops, launches.
// Each row is one line of JSON; a row that throws prints its error and the next one runs. Usage: bench_more [substring of rows]
#include <tenure/cuda.hpp>
#include <tenure/tenure.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

namespace tn = tenure;

namespace {

const char* only = "";

template <class F>
double milliseconds(F& f, int runs = 11) {
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  std::vector<float> t;
  for (int i = 0; i < runs + 2; ++i) {
    cudaEventRecord(a, 0);
    f();
    cudaEventRecord(b, 0);
    tn::cuda_detail::check(cudaEventSynchronize(b), "cudaEventSynchronize");
    float ms = 0;
    cudaEventElapsedTime(&ms, a, b);
    if (i >= 2) t.push_back(ms);
  }
  cudaEventDestroy(a);
  cudaEventDestroy(b);
  std::nth_element(t.begin(), t.begin() + t.size() / 2, t.end());
  return t[t.size() / 2];
}

/// `make` returns the call to time, `bytes` and `flops` are what it must move and compute.
template <class Make>
void row(const char* name, double bytes, double flops, Make make, int runs = 11) {
  if (std::strstr(name, only) == nullptr) return;
  try {
    auto call = make();
    const double ms = milliseconds(call, runs);
    std::printf("{\"name\": \"%s\", \"by\": \"tenure\", \"ms\": %.4f, \"GB_s\": %.0f, \"TFLOP_s\": %.3f}\n", name, ms, bytes / ms * 1e-6, flops / ms * 1e-9);
  } catch (const std::exception& e) {
    std::printf("{\"name\": \"%s\", \"by\": \"tenure\", \"error\": \"%s\"}\n", name, e.what());
  }
  std::fflush(stdout);
}

template <class T, std::int64_t... E>
auto filled(unsigned seed) {
  tn::engine random{seed};
  return tn::uniform<T>(tn::shape<E...>{}, random, T(-1), T(1)).to(tn::cuda);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) only = argv[1];
  constexpr std::int64_t n = std::int64_t{1} << 26;

  // ---- sums: one and two launches (memset + kernel [+ fold]) ----
  row("sum_all_2^26", 4.0 * n, n, [] {
    return [x = filled<float, n>(1), f = tn::compile([](auto v) { return sum(v); })] { static_cast<void>(f(x)); };
  });
  row("sum_columns_8192x8192", 4.0 * n, n, [] {
    return [x = filled<float, 8192, 8192>(1), f = tn::compile([](auto v) { return sum(v, tn::axis<0>); })] { static_cast<void>(f(x)); };
  });
  row("sum_rows_8192x8192", 4.0 * n, n, [] {
    return [x = filled<float, 8192, 8192>(1), f = tn::compile([](auto v) { return sum(v, tn::axis<1>); })] { static_cast<void>(f(x)); };
  });
  row("sum_rows_64x1048576", 4.0 * n, n, [] {
    return [x = filled<float, 64, 1048576>(1), f = tn::compile([](auto v) { return sum(v, tn::axis<1>); })] { static_cast<void>(f(x)); };
  });
  row("sum_small_1024", 4.0 * 1024, 1024, [] {
    return [x = filled<float, 1024>(1), f = tn::compile([](auto v) { return sum(v); })] { static_cast<void>(f(x)); };
  }, 101);
  // ---- layouts ----
  row("add_2^26", 12.0 * n, n, [] {
    return [x = filled<float, n>(1), y = filled<float, n>(2), f = tn::compile([](auto a, auto b) { return a + b; })] { static_cast<void>(f(x, y)); };
  });
  row("add_transposed_8192", 12.0 * n, n, [] {
    return [x = filled<float, 8192, 8192>(1), y = filled<float, 8192, 8192>(2), f = tn::compile([](auto a, auto b) { return a + transpose(b); })] { static_cast<void>(f(x, y)); };
  });
  row("add_misaligned_rows_8191x8191", 12.0 * 8191 * 8191, 8191.0 * 8191, [] {
    return [x = filled<float, 8191, 8191>(1), y = filled<float, 8191>(2), f = tn::compile([](auto a, auto b) { return a + b; })] { static_cast<void>(f(x, y)); };
  });
  row("softmax_65536x64", 8.0 * 65536 * 64, 0, [] {
    return [x = filled<float, 65536, 64>(1), f = tn::compile([](auto v) { return softmax(v); })] { static_cast<void>(f(x)); };
  });
  row("softmax_2048x32768", 8.0 * 2048 * 32768, 0, [] {
    return [x = filled<float, 2048, 32768>(1), f = tn::compile([](auto v) { return softmax(v); })] { static_cast<void>(f(x)); };
  });
  row("cumsum_64x65536", 8.0 * 64 * 65536, 0, [] {
    return [x = filled<float, 64, 65536>(1), f = tn::compile([](auto v) { return tn::cumsum(v, tn::axis<1>); })] { static_cast<void>(f(x)); };
  });
  // ---- products and their epilogues ----
  row("matmul_4096", 0, 2.0 * 4096 * 4096 * 4096, [] {
    return [x = filled<float, 4096, 4096>(1), w = filled<float, 4096, 4096>(2), f = tn::compile([](auto a, auto b) { return matmul(a, b); })] { static_cast<void>(f(x, w)); };
  });
  row("matmul_bias_gelu_4096", 0, 2.0 * 4096 * 4096 * 4096, [] {
    return [x = filled<float, 4096, 4096>(1), w = filled<float, 4096, 4096>(2), b = filled<float, 4096>(3),
            f = tn::compile([](auto a, auto m, auto v) { return gelu(matmul(a, m) + v); })] { static_cast<void>(f(x, w, b)); };
  });
  row("matmul_f64_4096", 0, 2.0 * 4096 * 4096 * 4096, [] {
    return [x = filled<double, 4096, 4096>(1), w = filled<double, 4096, 4096>(2), f = tn::compile([](auto a, auto b) { return matmul(a, b); })] { static_cast<void>(f(x, w)); };
  });
  row("matmul_batched_256x64x64x64", 0, 2.0 * 256 * 64 * 64 * 64, [] {
    return [x = filled<float, 256, 64, 64>(1), w = filled<float, 256, 64, 64>(2), f = tn::compile([](auto a, auto b) { return matmul(a, b); })] { static_cast<void>(f(x, w)); };
  }, 101);
  // ---- rows by indices ----
  row("gather_1M_rows_of_64", 8.0 * 64 * (1 << 20), 0, [] {
    auto i = tn::tensor<std::int64_t, tn::shape<1 << 20>>();
    unsigned s = 1;
    for (auto& e : tn::as_span(i)) s = s * 1664525u + 1013904223u, e = static_cast<std::int64_t>(s >> 16);
    return [x = filled<float, 65536, 64>(1), i = i.to(tn::cuda), f = tn::compile([](auto t, auto k) { return gather(t, k); })] { static_cast<void>(f(x, i)); };
  });
  row("index_add_1M_rows_of_64", 4.0 * 64 * (1 << 20), 0, [] {
    auto i = tn::tensor<std::int64_t, tn::shape<1 << 20>>();
    unsigned s = 1;
    for (auto& e : tn::as_span(i)) s = s * 1664525u + 1013904223u, e = static_cast<std::int64_t>(s >> 16);
    return [x = filled<float, 65536, 64>(1), u = filled<float, 1 << 20, 64>(2), i = i.to(tn::cuda), f = tn::compile([](auto t, auto k, auto v) { return tn::index_add<0>(t, k, v); })] { static_cast<void>(f(x, i, u)); };
  }, 5);
  row("sort_1024x1024", 8.0 * 1024 * 1024, 0, [] {
    return [x = filled<float, 1024, 1024>(1), f = tn::compile([](auto v) { return sort(v); })] { static_cast<void>(f(x)); };
  });
  // ---- loops: microseconds of an iteration ----
  row("scan_256_iterations_of_1024", 0, 0, [] {
    return [x = filled<float, 256, 1024>(1), h = filled<float, 1024>(2),
            f = tn::compile([](auto c, auto xs) { return tn::scan([](auto s, auto v) { return std::tuple{tanh(s + v), s * v}; }, c, xs); })] { static_cast<void>(f(h, x)); };
  });
  row("while_100_iterations", 0, 0, [] {
    return [x = filled<float, 1024>(1), f = tn::compile([](auto v) {
              return tn::while_loop([](auto s) { return std::get<1>(s) < 100; }, [](auto s) { return std::tuple{tanh(std::get<0>(s)), std::get<1>(s) + 1}; }, std::tuple{v, 0});
            })] { static_cast<void>(f(x)); };
  });
  row("add_small_1024", 0, 0, [] {
    return [x = filled<float, 1024>(1), y = filled<float, 1024>(2), f = tn::compile([](auto a, auto b) { return a + b; })] { static_cast<void>(f(x, y)); };
  }, 101);
  // ---- attention: 16 heads, 64 columns (small first: one thread has a row) ----
  row("attention_16x512x64", 0, 4.0 * 16 * 512 * 512 * 64, [] {
    return [q = filled<float, 16, 512, 64>(1), k = filled<float, 16, 512, 64>(2), v = filled<float, 16, 512, 64>(3),
            f = tn::compile([](auto a, auto b, auto c) { return tn::attention(a, b, c, tn::causal); })] { static_cast<void>(f(q, k, v)); };
  }, 3);
  row("attention_64x2048x64", 0, 4.0 * 64 * 2048.0 * 2048 * 64, [] {
    return [q = filled<float, 64, 2048, 64>(1), k = filled<float, 64, 2048, 64>(2), v = filled<float, 64, 2048, 64>(3),
            f = tn::compile([](auto a, auto b, auto c) { return tn::attention(a, b, c, tn::causal); })] { static_cast<void>(f(q, k, v)); };
  }, 2);
  row("attention_gradient_16x512x64", 0, 10.0 * 16 * 512 * 512 * 64, [] {
    return [q = filled<float, 16, 512, 64>(1), k = filled<float, 16, 512, 64>(2), v = filled<float, 16, 512, 64>(3),
            f = tn::grad<0, 1, 2>([](auto a, auto b, auto c) { return sum(tn::attention(a, b, c, tn::causal)); })] { static_cast<void>(f(q, k, v)); };
  }, 2);
  // ---- one system of equations, one thread ----
  row("solve_one_256", 0, 2.0 / 3 * 256 * 256 * 256, [] {
    return [a = filled<float, 256, 256>(1), b = filled<float, 256, 1>(2), f = tn::compile([](auto m, auto v) { return tn::solve(m, v); })] { static_cast<void>(f(a, b)); };
  }, 1);
}

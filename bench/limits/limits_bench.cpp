// SPDX-License-Identifier: BSL-1.0
// What the core can do: fused multiply-adds without memory, and a stream that reads four arrays and writes one.
#include <harness.hpp>

namespace {

namespace m = tenure::math;

/// Twelve independent chains: enough for two units with a latency of four to six cycles.
template <class T>
void fma_peak(benchmark::State& state) {
  using packet = m::packet_of<T>;
  constexpr int chains = 12, steps = 1000;
  T start = T(1), by = T(0.999), plus = T(0.001);
  benchmark::DoNotOptimize(start), benchmark::DoNotOptimize(by), benchmark::DoNotOptimize(plus);
  for (auto _ : state) {
    packet x[chains];
#pragma GCC unroll 16
    for (int c = 0; c < chains; ++c) x[c] = m::set1<packet>(start + static_cast<T>(c));
#pragma GCC unroll 1
    for (int s = 0; s < steps; ++s)
#pragma GCC unroll 16
      for (int c = 0; c < chains; ++c) x[c] = m::fma(x[c], m::set1<packet>(by), m::set1<packet>(plus));
    packet sum = x[0];
    for (int c = 1; c < chains; ++c) sum = m::add(sum, x[c]);
    T lane[m::width<packet>];
    m::store<packet>(lane, sum);
    benchmark::DoNotOptimize(lane[0]);
  }
  const double flops = 2.0 * steps * chains * m::width<packet>;
  state.counters["GFLOP/s"] = benchmark::Counter(flops * static_cast<double>(state.iterations()) / 1e9, benchmark::Counter::kIsRate);
}

template <class T>
void bandwidth(benchmark::State& state, std::int64_t n) {
  auto a = bench::uniform_array<T>(n, -1, 1, 1), b = a.clone(), c = a.clone(), d = a.clone(), y = a.clone();
  T* const out[1] = {bench::data_of(y)};
  for (auto _ : state) {
    bench::stream<1, T>(n, out, a.data(), b.data(), c.data(), d.data());
    benchmark::ClobberMemory();
  }
  const double bytes = 5.0 * static_cast<double>(n) * sizeof(T);
  state.counters["GB/s"] = benchmark::Counter(bytes * static_cast<double>(state.iterations()) / 1e9, benchmark::Counter::kIsRate);
}

const bool registered = [] {
  benchmark::RegisterBenchmark("limit_fma_f32/limit/1", fma_peak<float>);
  benchmark::RegisterBenchmark("limit_fma_f64/limit/1", fma_peak<double>);
  for (const std::int64_t n : {1000, 100000, 10000000})
    benchmark::RegisterBenchmark(("limit_stream_f32/limit/" + bench::spell(n)).c_str(), [n](benchmark::State& s) { bandwidth<float>(s, n); });
  return true;
}();

}  // namespace

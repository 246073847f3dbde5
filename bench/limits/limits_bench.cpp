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
  bench::report_rate(state, "GFLOP/s", 2.0 * steps * chains * m::width<packet>);
}

using stream_function = void(std::int64_t, float*, const float*, const float*, const float*, const float*);

void plain_stream(std::int64_t n, float* y, const float* a, const float* b, const float* c, const float* d) {
  bench::stream_through_caches<1, float>(n, {y}, a, b, c, d);
}

#if TENURE_SSE
/// Stores that pass the caches by, so that a line is not read before it is written.
void streaming_stores(std::int64_t n, float* y, const float* a, const float* b, const float* c, const float* d) {
  bench::stream_by<m::packet_of<float>, true, 1, float>(n, {y}, a, b, c, d);
}
#endif

void bandwidth(benchmark::State& state, std::int64_t n, stream_function* run) {
  auto a = bench::uniform_array<float>(n, -1, 1, 1), b = a.clone(), c = a.clone(), d = a.clone(), y = a.clone();
  float* const to = bench::data_of(y);
  for (auto _ : state) {
    run(n, to, a.data(), b.data(), c.data(), d.data());
    benchmark::ClobberMemory();
  }
  bench::report_rate(state, "GB/s", 5.0 * static_cast<double>(n) * sizeof(float));
}

void stream_rows(const char* implementation, stream_function* run) {
  for (const std::int64_t n : bench::sizes)
    benchmark::RegisterBenchmark(("limit_stream_f32/" + std::string(implementation) + "/" + bench::spell(n)).c_str(),
                                 [n, run](benchmark::State& s) { bandwidth(s, n, run); });
}

const bool registered = [] {
  benchmark::RegisterBenchmark("limit_fma_f32/limit/1", fma_peak<float>);
  benchmark::RegisterBenchmark("limit_fma_f64/limit/1", fma_peak<double>);
  stream_rows("limit", plain_stream);
#if TENURE_SSE
  stream_rows("streaming_stores", streaming_stores);
#endif
  return true;
}();

}  // namespace

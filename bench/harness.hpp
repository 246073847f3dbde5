// SPDX-License-Identifier: BSL-1.0
// What the benchmark programs share: a heap that keeps its memory for every row, filled arrays, a check that all
// implementations of a workload agree before any is timed, and the memory floor.
#pragma once

#include <benchmark/benchmark.h>
#include <tenure/backend/cpu/blocks.hpp>
#include <tenure/math/packet.hpp>
#include <tenure/tensor/factories.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace bench {

namespace tn = tenure;

/// An array whose length only the run knows: every implementation of a workload reads and writes the same ones.
template <class T>
using array = tn::tensor<T, tn::shape<tn::dyn>>;

/// glibc gives large blocks back to the system and pays page faults for them, up to half of the time of what allocates
/// temporaries. Told so, it keeps them, for all rows alike.
inline void keep_heap_warm() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

/// Where a tensor's elements lie. Taken once a workload, before the timing.
template <class X>
auto* data_of(X& x) { return tn::detail::tensor_access::fresh(x); }

template <class T>
void fill_uniform(T* x, std::int64_t n, double low, double high, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(uniform(engine));
}

template <class T>
array<T> uniform_array(std::int64_t n, double low, double high, unsigned seed) {
  array<T> x(tn::uninitialized, n);
  fill_uniform(data_of(x), n, low, high, seed);
  return x;
}

/// Ends the program where an implementation computed something else than the first: a time of a wrong result is worth nothing.
/// The tolerance is relative to the largest value.
template <class A, class B>
void require_agreement(const std::string& who, const A* x, const B* expected, std::int64_t n, double tolerance) {
  double scale = 0, worst = 0;
  for (std::int64_t i = 0; i < n; ++i) scale = std::fmax(scale, std::fabs(static_cast<double>(expected[i])));
  for (std::int64_t i = 0; i < n; ++i) {
    const double error = std::fabs(static_cast<double>(x[i]) - static_cast<double>(expected[i]));
    if (!(error <= worst)) worst = error;  // NaN counts
  }
  if (worst <= tolerance * scale) return;
  std::fprintf(stderr, "%s: off by %g where the largest value is %g\n", who.c_str(), worst, scale);
  std::exit(1);
}

inline std::string spell(std::int64_t n) {
  int zeros = 0;
  while (n >= 1000 && n % 10 == 0) n /= 10, ++zeros;
  while (n % 10 == 0 && zeros > 0) n /= 10, ++zeros;
  return zeros > 0 ? std::to_string(n) + "e" + std::to_string(zeros) : std::to_string(n);
}

/// Data of one workload and size, made (and checked) when the first row that needs it runs, then shared by all its rows.
template <class Problem>
Problem& problem(std::int64_t n) {
  static std::map<std::int64_t, std::unique_ptr<Problem>> made;
  auto& p = made[n];
  if (!p) p = std::make_unique<Problem>(n);
  return *p;
}

/// What a workload over arrays is measured at: from L1 to memory.
inline constexpr std::int64_t sizes[] = {1000, 10000, 100000, 1000000, 10000000};

/// How much of a unit goes through in a second, in billions: what one iteration does is known, its time is measured.
inline void report_rate(benchmark::State& state, const char* unit, double an_iteration) {
  state.counters[unit] = benchmark::Counter(an_iteration * static_cast<double>(state.iterations()) / 1e9, benchmark::Counter::kIsRate);
}

/// Registers <workload>/<implementation>/<size>, which calls run(problem). A problem that knows its operations gets a rate too.
template <class Problem, class Run>
void row(const std::string& workload, const std::string& implementation, std::int64_t n, Run run) {
  benchmark::RegisterBenchmark((workload + "/" + implementation + "/" + spell(n)).c_str(), [n, run](benchmark::State& state) {
    Problem& p = problem<Problem>(n);
    run(p);  // once, so that caches and pages are warm
    for (auto _ : state) {
      run(p);
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * p.items());
    if constexpr (requires { p.flops(); }) report_rate(state, "GFLOP/s", p.flops());
  });
}

template <class Packet, bool PastCaches, int Outputs, class T, class... In>
void stream_by(std::int64_t n, T* const (&out)[Outputs], const T* first, const In*... in) {
  namespace m = tn::math;
  constexpr int lanes = m::width<Packet>, unrolled = 4;
  T* to[Outputs];
  for (int o = 0; o < Outputs; ++o) to[o] = out[o];
  std::int64_t i = 0;
  for (; i + unrolled * lanes <= n; i += unrolled * lanes) {
    Packet sum[unrolled];
    for (int u = 0; u < unrolled; ++u) sum[u] = m::load<Packet>(first + i + u * lanes);
    const auto add = [&](const T* x) {
      for (int u = 0; u < unrolled; ++u) sum[u] = m::add(sum[u], m::load<Packet>(x + i + u * lanes));
    };
    (add(in), ...);
    for (int o = 0; o < Outputs; ++o)
      for (int u = 0; u < unrolled; ++u)
        if constexpr (PastCaches) m::stream<Packet>(to[o] + i + u * lanes, sum[u]);
        else m::store<Packet>(to[o] + i + u * lanes, sum[u]);
  }
  for (; i < n; ++i) {
    T sum = first[i];
    ((sum += in[i]), ...);
    for (int o = 0; o < Outputs; ++o) to[o][i] = sum;
  }
  if constexpr (PastCaches) m::end_of_streams();
}

/// Stores through the caches. In half a register beyond them, where that was a tenth faster (Zen 4).
template <int Outputs, class T, class... In>
void stream_through_caches(std::int64_t n, T* const (&out)[Outputs], const T* first, const In*... in) {
  using packet = tn::math::packet_of<T>;
  const bool fits_in_cache = n * static_cast<std::int64_t>(sizeof(T)) <= 1 << 20;
  if (fits_in_cache) stream_by<packet, false>(n, out, first, in...);
  else stream_by<tenure::math::half_of<packet>, false>(n, out, first, in...);
}

/// The memory floor: each input read once, each output written once, next to no arithmetic; past the caches where Tenure stores so.
template <int Outputs, class T, class... In>
void stream(std::int64_t n, T* const (&out)[Outputs], const T* first, const In*... in) {
  using packet = tn::math::packet_of<T>;
  constexpr int arrays = Outputs + 1 + static_cast<int>(sizeof...(In));
  if constexpr (tn::math::can_stream<packet>)
    if (n * arrays * static_cast<std::int64_t>(sizeof(T)) >= tn::cpu_backend::costs::cached_bytes) return stream_by<packet, true>(n, out, first, in...);
  stream_through_caches(n, out, first, in...);
}

}  // namespace bench

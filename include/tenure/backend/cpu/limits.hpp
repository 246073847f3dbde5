// SPDX-License-Identifier: BSL-1.0
// The limits of one core of this processor, measured at the first call: no step of a plan can be faster.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <tenure/math/packet.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

struct limits {
  double bytes_per_second = 0;  // reads and writes of arrays of 96 MiB; 0 if there is no memory for them
  double flops_per_second = 0;  // a fused multiply-add counts two
};

/// The least seconds of several runs.
template <class F>
double seconds_of(int runs, F f) {
  double best = 1e30;
  for (int i = 0; i < runs; ++i) {
    const auto since = std::chrono::steady_clock::now();
    f();
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
    best = s < best ? s : best;
  }
  return best;
}

/// Products and sums in registers: twelve chains, enough for two units with a latency of four or five cycles.
template <class T, int... Chain>
double max_flops_per_second(std::integer_sequence<int, Chain...>) {
  using P = math::packet_of<T>;
  constexpr int rounds = 200'000;
  T sum = 0;
  const double s = seconds_of(5, [&] {
    P at[] = {math::set1<P>(static_cast<T>(Chain))...};
    P factor = math::set1<P>(T(0.999)), term = math::set1<P>(T(0.001));
    math::stay_in_register(factor);
    math::stay_in_register(term);
    for (int r = 0; r < rounds; ++r) ((at[Chain] = math::fma(at[Chain], factor, term)), ...);
    T lanes[math::width<P>];
    ((math::store<P>(lanes, at[Chain]), sum += lanes[0]), ...);
  });
  volatile T used = sum;
  static_cast<void>(used);
  return 2.0 * sizeof...(Chain) * rounds * math::width<P> / s;
}

/// y = a + b over 3 x 32 MiB.
inline double max_bytes_per_second() {
  using P = math::packet_of<float>;
  constexpr std::size_t n = std::size_t(8) << 20;
  try {
    std::vector<float> a(n, 1.0f), b(n, 2.0f), y(n);
    const auto add = [&](std::size_t i) { return math::add(math::load<P>(a.data() + i), math::load<P>(b.data() + i)); };
    constexpr auto width = static_cast<std::size_t>(math::width<P>);
    const std::size_t first = (sizeof(P) - reinterpret_cast<std::uintptr_t>(y.data()) % sizeof(P)) % sizeof(P) / sizeof(float);
    const double s = seconds_of(3, [&] {
      for (std::size_t i = first; i + width <= n; i += width) {
        if constexpr (math::can_stream<P>) math::stream<P>(y.data() + i, add(i));  // as kernels of this size do
        else math::store<P>(y.data() + i, add(i));
      }
      math::end_of_streams();
    });
    return 3.0 * n * sizeof(float) / s;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

/// The limits for float, measured once in a process. The first call takes some 50 ms.
inline const limits& measured_limits() {
  static const limits found{max_bytes_per_second(), max_flops_per_second<float>(std::make_integer_sequence<int, 12>{})};
  return found;
}

}  // namespace tenure::cpu_backend

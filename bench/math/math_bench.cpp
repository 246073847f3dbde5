// SPDX-License-Identifier: BSL-1.0
// Time of 1024 values in L1 and the largest error seen. Rows <function>_<f32|f64>/<tenure|libm|libmvec|eigen|sleef>/1024.
#include "libmvec.hpp"
#include "sleef.hpp"

#include <benchmark/benchmark.h>
#include <tenure/math/math.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

constexpr int count = libmvec::count;
namespace m = tenure::math;

template <class T>
struct buffers {
  alignas(64) T x[count];
  alignas(64) T y[count];
};

/// The range that is timed.
struct range {
  double low, high;
};

/// The largest error in ulp of a result, over the timed range and over arguments of all sizes, where the result is a normal number.
/// A sample: it can show that a function exceeds a bound, not that it keeps one. The reference is the C library's in the next type.
template <class T, class Loop, class Scalar>
double largest_error(range r, const Loop& loop, const Scalar& scalar) {
  using wide = std::conditional_t<sizeof(T) == 8, long double, double>;
  constexpr int blocks = 256, digits = std::numeric_limits<T>::digits;
  static buffers<T> b;
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> timed(r.low, r.high), exponent(-40, 40);
  double worst = 0;
  for (int block = 0; block < blocks; ++block) {
    for (T& x : b.x) {
      const bool is_of_any_size = block % 2 == 1;
      x = static_cast<T>(is_of_any_size ? std::exp2(exponent(engine)) : timed(engine));
      if (is_of_any_size && r.low < 0 && engine() % 2 == 0) x = -x;
    }
    loop(b.x, b.y);
    for (int i = 0; i < count; ++i) {
      const wide wanted = scalar(static_cast<wide>(b.x[i])), size = std::fabs(wanted);
      if (!(size >= std::numeric_limits<T>::min() && size <= std::numeric_limits<T>::max())) continue;
      const wide ulp = std::ldexp(wide(1), std::ilogb(size) - digits + 1);
      const auto error = static_cast<double>(std::fabs(static_cast<wide>(b.y[i]) - wanted) / ulp);
      if (!(error <= worst)) worst = error;  // NaN counts
    }
  }
  return std::fmin(worst, 1e6);  // JSON has no infinity
}

template <class T, class Loop, class Scalar>
void row(const std::string& name, const char* peer, range r, Loop loop, Scalar scalar) {
  const std::string full = name + (sizeof(T) == 8 ? "_f64/" : "_f32/") + peer + "/1024";
  benchmark::RegisterBenchmark(full.c_str(), [=](benchmark::State& state) {
    static buffers<T> b;
    unsigned seed = 1;  // in random order, or a branch predictor would learn the values
    for (T& x : b.x) {
      seed = seed * 1664525u + 1013904223u;
      x = static_cast<T>(r.low + (r.high - r.low) * (seed >> 8) * 0x1p-24);
    }
    for (auto _ : state) {
      loop(b.x, b.y);
      benchmark::ClobberMemory();
    }
    static const double error = largest_error<T>(r, loop, scalar);
    state.counters["ulp"] = error;
  });
}

template <class T, class Packet>
auto over_packets(Packet packet) {
  return [packet](const T* x, T* y) {
    using P = m::packet_of<T>;
    for (int i = 0; i < count; i += m::width<P>) m::store<P>(y + i, packet(m::load<P>(x + i)));
  };
}

// One function of every peer; Packet maps a packet, Scalar a number, Mvec both pointers.
template <class T, class Packet, class Scalar, class Mvec>
void rows_of(const std::string& name, range r, Packet packet, Scalar scalar, Mvec mvec) {
  row<T>(name, "tenure", r, over_packets<T>(packet), scalar);
  row<T>(name, "libm", r, [=](const T* x, T* y) { for (int i = 0; i < count; ++i) y[i] = scalar(x[i]); }, scalar);
  row<T>(name, "libmvec", r, [=](const T* x, T* y) { mvec(x, y); }, scalar);
}
template <class Packet, class Scalar, class Mvec>
void both(const std::string& name, range r, Packet packet, Scalar scalar, Mvec mvec) {
  rows_of<float>(name, r, packet, scalar, mvec);
  rows_of<double>(name, r, packet, scalar, mvec);
}

template <class T, class Array, class Scalar>
void eigen(const std::string& name, range r, Array array, Scalar scalar) {
  row<T>(name, "eigen", r, [=](const T* x, T* y) {
    using vector = Eigen::Array<T, Eigen::Dynamic, 1>;
    Eigen::Map<vector, Eigen::Aligned64> out(y, count);
    array(Eigen::Map<const vector, Eigen::Aligned64>(x, count), out);
  }, scalar);
}

#if BENCH_SLEEF
template <class Packet, class Scalar>
void sleef_rows(const std::string& name, range r, Packet packet, Scalar scalar) {
  row<float>(name, "sleef", r, over_packets<float>(packet), scalar);
  row<double>(name, "sleef", r, over_packets<double>(packet), scalar);
}
#endif

#define SCALAR(expression) [](auto x) { return decltype(x)(expression); }
#define PEERS(f) [](auto x) { return m::f(x); }, SCALAR(std::f(x)), [](auto* x, auto* y) { libmvec::f(x, y); }
#define PEERS_AS(f, plain) [](auto x) { return m::f(x); }, SCALAR(plain), [](auto* x, auto* y) { libmvec::f(x, y); }
#define EIGEN(T, f, r) eigen<T>(#f, r, [](const auto& x, auto& y) { y = x.f(); }, SCALAR(std::f(x)))
#define SLEEF(f, r) sleef_rows(#f, r, [](auto x) { return sleef::f(x); }, SCALAR(std::f(x)))

const bool registered = [] {
  constexpr range exp_range{-20, 20}, expm1_range{-3, 3}, log_range{1e-3, 100}, log1p_range{-0.9, 10}, circle{-100, 100};
  constexpr range bend{-4, 4}, sigmoid_range{-10, 10}, erf_range{-3, 3}, positive{0.1, 10}, unit{-1, 1}, above_one{1, 10};
  both("exp", exp_range, PEERS(exp));
  both("expm1", expm1_range, PEERS(expm1));
  both("log", log_range, PEERS(log));
  both("log1p", log1p_range, PEERS(log1p));
  both("log2", log_range, PEERS(log2));
  both("sin", circle, PEERS(sin));
  both("cos", circle, PEERS(cos));
  both("tanh", bend, PEERS(tanh));
  both("sigmoid", sigmoid_range, PEERS_AS(sigmoid, 1 / (1 + std::exp(-x))));
  both("softplus", sigmoid_range, PEERS_AS(softplus, std::log1p(std::exp(x))));
  both("erf", erf_range, PEERS(erf));
  both("rsqrt", positive, PEERS_AS(rsqrt, 1 / std::sqrt(x)));
  both("sinh", bend, PEERS(sinh));
  both("cosh", bend, PEERS(cosh));
  both("atan", bend, PEERS(atan));
  both("exp2", exp_range, PEERS(exp2));
  both("log10", log_range, PEERS(log10));
  both("tan", circle, PEERS(tan));
  both("asin", unit, PEERS(asin));
  both("acos", unit, PEERS(acos));
  both("asinh", bend, PEERS(asinh));
  both("acosh", above_one, PEERS(acosh));
  both("atanh", unit, PEERS(atanh));
  both("erfc", bend, PEERS(erfc));
  both("pow_xx", positive, [](auto x) { return m::pow(x, x); }, SCALAR(std::pow(x, x)), [](auto* x, auto* y) { libmvec::pow(x, y); });
  EIGEN(float, exp, exp_range), EIGEN(double, exp, exp_range), EIGEN(float, log, log_range), EIGEN(double, log, log_range);
  EIGEN(float, log1p, log1p_range), EIGEN(double, log1p, log1p_range), EIGEN(float, tanh, bend), EIGEN(float, sin, circle);
  EIGEN(float, cos, circle);
#if BENCH_SLEEF
  SLEEF(exp, exp_range), SLEEF(expm1, expm1_range), SLEEF(log, log_range), SLEEF(log1p, log1p_range), SLEEF(log2, log_range);
  SLEEF(sin, circle), SLEEF(cos, circle), SLEEF(tanh, bend), SLEEF(erf, erf_range), SLEEF(sinh, bend), SLEEF(cosh, bend);
  SLEEF(atan, bend);
  sleef_rows("pow_xx", positive, [](auto x) { return sleef::pow(x, x); }, SCALAR(std::pow(x, x)));
#endif
  return true;
}();

}  // namespace

// SPDX-License-Identifier: BSL-1.0
// Time of 1024 values in L1. Rows <function>_<f32|f64>/<tenure|libm|libmvec|eigen>/1024.
#include "libmvec.hpp"

#include <benchmark/benchmark.h>
#include <tenure/math/math.hpp>

#include <Eigen/Core>
#include <cmath>
#include <string>

namespace {

constexpr int count = libmvec::count;
namespace m = tenure::math;

template <class T>
struct buffers {
  alignas(64) T x[count];
  alignas(64) T y[count];
};

template <class T, class Loop>
void row(const std::string& name, const char* peer, double lo, double hi, Loop loop) {
  const std::string full = name + (sizeof(T) == 8 ? "_f64/" : "_f32/") + peer + "/1024";
  benchmark::RegisterBenchmark(full.c_str(), [=](benchmark::State& state) {
    static buffers<T> b;
    unsigned seed = 1;  // in random order, or a branch predictor would learn the values
    for (T& x : b.x) {
      seed = seed * 1664525u + 1013904223u;
      x = static_cast<T>(lo + (hi - lo) * (seed >> 8) * 0x1p-24);
    }
    for (auto _ : state) {
      loop(b.x, b.y);
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * count);
  });
}

// One function of every peer; Packet maps a packet, Scalar a number, Mvec both pointers.
template <class T, class Packet, class Scalar, class Mvec>
void rows_of(const std::string& name, double lo, double hi, Packet packet, Scalar scalar, Mvec mvec) {
  row<T>(name, "tenure", lo, hi, [=](const T* x, T* y) {
    using P = m::packet_of<T>;
    for (int i = 0; i < count; i += m::width<P>) m::store<P>(y + i, packet(m::load<P>(x + i)));
  });
  row<T>(name, "libm", lo, hi, [=](const T* x, T* y) {
    for (int i = 0; i < count; ++i) y[i] = scalar(x[i]);
  });
  row<T>(name, "libmvec", lo, hi, [=](const T* x, T* y) { mvec(x, y); });
}

template <class Packet, class Scalar, class Mvec>
void both(const std::string& name, double lo, double hi, Packet packet, Scalar scalar, Mvec mvec) {
  rows_of<float>(name, lo, hi, packet, scalar, mvec);
  rows_of<double>(name, lo, hi, packet, scalar, mvec);
}

template <class T, class Array>
void eigen(const std::string& name, double lo, double hi, Array array) {
  row<T>(name, "eigen", lo, hi, [=](const T* x, T* y) {
    using vector = Eigen::Array<T, Eigen::Dynamic, 1>;
    Eigen::Map<vector, Eigen::Aligned64> out(y, count);
    array(Eigen::Map<const vector, Eigen::Aligned64>(x, count), out);
  });
}

#define PEERS(f) [](auto x) { return m::f(x); }, [](auto x) { return std::f(x); }, [](auto* x, auto* y) { libmvec::f(x, y); }
#define PEERS_AS(f, plain) [](auto x) { return m::f(x); }, [](auto x) { return plain; }, [](auto* x, auto* y) { libmvec::f(x, y); }

const bool registered = [] {
  both("exp", -20, 20, PEERS(exp));
  both("expm1", -3, 3, PEERS(expm1));
  both("log", 1e-3, 100, PEERS(log));
  both("log1p", -0.9, 10, PEERS(log1p));
  both("log2", 1e-3, 100, PEERS(log2));
  both("sin", -100, 100, PEERS(sin));
  both("cos", -100, 100, PEERS(cos));
  both("tanh", -4, 4, PEERS(tanh));
  both("sigmoid", -10, 10, PEERS_AS(sigmoid, 1 / (1 + std::exp(-x))));
  both("softplus", -10, 10, PEERS_AS(softplus, std::log1p(std::exp(x))));
  both("erf", -3, 3, PEERS(erf));
  both("rsqrt", 0.1, 10, PEERS_AS(rsqrt, 1 / std::sqrt(x)));
  both("sinh", -4, 4, PEERS(sinh));
  both("cosh", -4, 4, PEERS(cosh));
  both("atan", -4, 4, PEERS(atan));
  both("pow_xx", 0.1, 10, [](auto x) { return m::pow(x, x); }, [](auto x) { return std::pow(x, x); },
       [](auto* x, auto* y) { libmvec::pow(x, y); });
  eigen<float>("exp", -20, 20, [](const auto& x, auto& y) { y = x.exp(); });
  eigen<double>("exp", -20, 20, [](const auto& x, auto& y) { y = x.exp(); });
  eigen<float>("log", 1e-3, 100, [](const auto& x, auto& y) { y = x.log(); });
  eigen<double>("log", 1e-3, 100, [](const auto& x, auto& y) { y = x.log(); });
  eigen<float>("log1p", -0.9, 10, [](const auto& x, auto& y) { y = x.log1p(); });
  eigen<double>("log1p", -0.9, 10, [](const auto& x, auto& y) { y = x.log1p(); });
  eigen<float>("tanh", -4, 4, [](const auto& x, auto& y) { y = x.tanh(); });
  eigen<float>("sin", -100, 100, [](const auto& x, auto& y) { y = x.sin(); });
  return true;
}();

}  // namespace

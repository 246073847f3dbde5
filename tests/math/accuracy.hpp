// SPDX-License-Identifier: BSL-1.0
// The table of functions, references, sampled ranges and allowed errors, for one packet type.
#pragma once

#include "../catch.hpp"
#include "ulp.hpp"

namespace math_test {

inline void report(const char* name, const char* kind, const worst& w, double allowed) {
  std::printf("%-9s %-10s %.3f ulp  at %.17g %.17g\n", name, kind, w.ulp, w.x, w.y);
  INFO(name << " of " << w.x << ", " << w.y << " gives " << w.got << ", wanted " << w.want);
  CHECK(w.ulp <= allowed);
}

// Visits (name, packet function, reference, lo, hi).
template <class P, class Visit>
void each_function(Visit visit) {
  using T = m::scalar_of<P>;
  using W = wider<T>;
  constexpr bool wide = sizeof(T) == 8;
  visit("exp", [](P x) { return m::exp(x); }, [](W x) { return std::exp(x); }, wide ? -750.0 : -105.0, wide ? 711.0 : 90.0);
  visit("exp2", [](P x) { return m::exp2(x); }, [](W x) { return std::exp2(x); }, wide ? -1080.0 : -152.0, wide ? 1025.0 : 129.0);
  visit("expm1", [](P x) { return m::expm1(x); }, [](W x) { return std::expm1(x); }, -3.0, 3.0);
  visit("sigmoid", [](P x) { return m::sigmoid(x); }, [](W x) { return x < -100 ? std::exp(x) : 1 / (1 + std::exp(-x)); }, -40.0, 40.0);
  visit("tanh", [](P x) { return m::tanh(x); }, [](W x) { return std::tanh(x); }, -3.0, 3.0);
  visit("sinh", [](P x) { return m::sinh(x); }, [](W x) { return std::sinh(x); }, -30.0, 30.0);
  visit("cosh", [](P x) { return m::cosh(x); }, [](W x) { return std::cosh(x); }, -30.0, 30.0);
  visit("log", [](P x) { return m::log(x); }, [](W x) { return std::log(x); }, 0.5, 2.0);
  visit("log2", [](P x) { return m::log2(x); }, [](W x) { return std::log2(x); }, 0.5, 2.0);
  visit("log10", [](P x) { return m::log10(x); }, [](W x) { return std::log10(x); }, 0.5, 2.0);
  visit("log1p", [](P x) { return m::log1p(x); }, [](W x) { return std::log1p(x); }, -1.0, 2.0);
  visit("softplus", [](P x) { return m::softplus(x); },
        [](W x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, -40.0, 40.0);
  visit("sin", [](P x) { return m::sin(x); }, [](W x) { return std::sin(x); }, -100.0, 100.0);
  visit("cos", [](P x) { return m::cos(x); }, [](W x) { return std::cos(x); }, -100.0, 100.0);
  visit("tan", [](P x) { return m::tan(x); }, [](W x) { return std::tan(x); }, -100.0, 100.0);
  visit("erf", [](P x) { return m::erf(x); }, [](W x) { return std::erf(x); }, -4.0, 4.0);
  visit("erfc", [](P x) { return m::erfc(x); }, [](W x) { return std::erfc(x); }, wide ? -6.0 : -4.0, wide ? 27.3 : 10.2);
  visit("atan", [](P x) { return m::atan(x); }, [](W x) { return std::atan(x); }, -3.0, 3.0);
  visit("asin", [](P x) { return m::asin(x); }, [](W x) { return std::asin(x); }, -1.0, 1.0);
  visit("acos", [](P x) { return m::acos(x); }, [](W x) { return std::acos(x); }, -1.0, 1.0);
  visit("asinh", [](P x) { return m::asinh(x); }, [](W x) { return std::asinh(x); }, -3.0, 3.0);
  visit("acosh", [](P x) { return m::acosh(x); }, [](W x) { return std::acosh(x); }, 1.0, 3.0);
  visit("atanh", [](P x) { return m::atanh(x); }, [](W x) { return std::atanh(x); }, -1.0, 1.0);
  visit("rsqrt", [](P x) { return m::rsqrt(x); }, [](W x) { return 1 / std::sqrt(x); }, 0.0, 4.0);
  visit("sqrt", [](P x) { return m::sqrt(x); }, [](W x) { return std::sqrt(x); }, 0.0, 4.0);
}

template <class P>
void check_accuracy(const char* kind, int count) {
  using T = m::scalar_of<P>;
  using W = wider<T>;
  constexpr bool wide = sizeof(T) == 8;
  each_function<P>([&](const char* name, auto f, auto truth, double lo, double hi) {
    report(name, kind, measure<P>(f, truth, samples<T>(lo, hi, count)), 2.0);
  });
  // pow: results all over the range, then x near 1 with a large y, then anything.
  random_bits bits{7};
  std::vector<T> xs, ys;
  const double top = wide ? 745.0 : 104.0;
  for (int i = 0; i < count; ++i) {
    const T x = static_cast<T>(std::exp((bits.unit() - 0.5) * (wide ? 1400.0 : 170.0)));
    xs.push_back(x);
    ys.push_back(static_cast<T>((2 * bits.unit() - 1) * top / std::log(static_cast<double>(x))));
    const T near = static_cast<T>(1 + (bits.unit() - 0.5) * std::ldexp(1.0, -static_cast<int>(bits() % 20)));
    xs.push_back(near);
    ys.push_back(static_cast<T>((2 * bits.unit() - 1) * top / std::log(static_cast<double>(near))));
  }
  report("pow", kind, measure2<P>([](P x, P y) { return m::pow(x, y); }, [](W x, W y) { return std::pow(x, y); }, xs, ys), 2.0);
  const std::vector<T> a = samples<T>(-3, 3, count), b = samples<T>(-3, 3, count + 1);
  report("pow", kind, measure2<P>([](P x, P y) { return m::pow(x, y); }, [](W x, W y) { return std::pow(x, y); }, a, b), 2.0);
  report("atan2", kind, measure2<P>([](P x, P y) { return m::atan2(x, y); }, [](W x, W y) { return std::atan2(x, y); }, a, b), 2.0);
}

}  // namespace math_test
